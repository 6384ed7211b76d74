"""The question of a plan: checked, complete and frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np

from advisor.errors import InputError, listed
from advisor.question.central import Guarantee
from advisor.question.fitting import fitting_methods, fitting_metrics, fitting_protocols
from advisor.question.frequencies import Frequencies
from advisor.question.metric_settings import MetricValues
from advisor.question.question import Question
from advisor.question.rules import USERS_LOW
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import N_MAX, Menu, Simulation
from knowledge.deployments import DEPLOYED
from simulator import PROTOCOLS, frequency_oracles
from simulator.protocols import EPSILON_MAX, StandardProtocol
from simulator.ranking import Pair
from simulator.shuffler import Shuffler

PLACES = np.geomspace(1e3, 1e9, 7)  # numbers of users between which a first answer is interpolated linearly


@lru_cache(maxsize=4096)
def _local(epsilon: float, delta: float, k: int, protocol: str, n: int) -> float:
    """Return the largest budget of a protocol whose shuffled reports of n users keep a promise."""
    return Shuffler(n, delta).local(epsilon, {protocol: PROTOCOLS[protocol]}, k)[protocol]


EPSILON_LOW = 0.001
DETECTION = "detection"
RANGES = {"n": (float(USERS_LOW), float(N_MAX)), "epsilon": (EPSILON_LOW, EPSILON_MAX)}
NAMED = 12  # up to this number, all named pairs are simulated


@dataclass(frozen=True, eq=False)  # `frequencies` holds an array
class PlanQuestion:
    """A complete question for a plan."""

    frequencies: Frequencies  # frequencies of the future collection
    # metric, target: the error to reach. For a detection the metric is ``"detection"`` and the target is the
    # frequency.
    metric: str
    target: float
    # epsilon, n: budget of one report and number of users; None for the unknown
    epsilon: float | None
    n: int | None
    # protocols, methods: the menu, in table order; methods are none for a detection
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    metric_values: MetricValues  # settings of the metric
    simulation: Simulation
    # The named pairs, by protocol; empty if a part of the pair was left open
    named: tuple[Pair, ...] = ()
    restricted: bool = False  # whether the menu was restricted
    shuffled: Guarantee | None = None  # the promise of shuffled reports, instead of a budget; n is then the unknown

    @property
    def unknown(self) -> str:
        """``"n"`` or ``"epsilon"``."""
        return "n" if self.n is None else "epsilon"

    @property
    def sign(self) -> str:
        """``"n"`` or ``"ε"``."""
        return "n" if self.n is None else "ε"

    @property
    def detects(self) -> bool:
        """Whether the goal is to detect a frequency, instead of to reach an error."""
        return self.metric == DETECTION

    @property
    def range(self) -> tuple[float, float]:
        """Range of values of the unknown."""
        return RANGES[self.unknown]

    def users(self, x: float) -> int:
        """Return the number of users with the unknown at x."""
        return round(x) if self.n is None else self.n

    def budget(self, protocol: str, x: float, *, near: bool = False) -> float:
        """Return the budget of one report with the unknown at x.

        near: use the fast approximation, for a first answer.
        """
        if self.shuffled is None:
            return x if self.epsilon is None else self.epsilon
        promise = self.shuffled.epsilon, self.shuffled.delta, self.frequencies.k, protocol
        if not near:
            return _local(*promise, min(round(x), N_MAX))
        budgets = [_local(*promise, round(place)) for place in PLACES.tolist()]
        return float(np.exp(np.interp(np.log(x), np.log(PLACES), np.log(budgets))))  # linear between logarithms

    def oracle(self, protocol: str, x: float) -> StandardProtocol:
        """Return a protocol with the unknown at x."""
        return PROTOCOLS[protocol](self.frequencies.k, self.budget(protocol, x))

    def unrestricted(self) -> PlanQuestion:
        """Return the same question over the whole menu."""
        methods = fitting_methods(Menu(), (self.metric,), self.frequencies.ordered, k=self.frequencies.k)
        protocols = fitting_protocols(Menu(), self.frequencies.ordered)
        return replace(self, protocols=protocols, methods=methods, named=(), restricted=False)


def plan_question(question: Question, frequencies: Frequencies | None = None) -> PlanQuestion:
    """Return the plan question of a question; its data are read unless the frequencies are given.

    Raises InputError if the data are invalid, or the metric or a named method does not fit them.
    """
    goal, menu, terms = question.goal, question.menu, question.terms
    detects = goal.detect is not None
    if frequencies is None:
        frequencies = simulated_frequencies(question, () if detects else (terms.one_metric("plan"),))
    ordered = frequencies.ordered
    values = question.terms.metric_settings.resolved(frequencies.k, frequencies.labels)
    metric, methods = DETECTION, tuple[str, ...]()
    if not detects:
        (metric,), notes = fitting_metrics(terms, ordered)
        methods = fitting_methods(menu, (metric,), ordered, k=frequencies.k)
        assumed = (*frequencies.assumptions, *notes, *values.assumptions((metric,)))
        frequencies = replace(frequencies, assumptions=assumed)
    protocols = _protocols(question, ordered=ordered, detects=detects)
    pairs = tuple(product(protocols, methods)) if menu.protocol and menu.method else ()
    return PlanQuestion(
        frequencies=frequencies,
        metric=metric,
        target=float(goal.target or goal.detect or 0),
        epsilon=terms.epsilon,
        n=terms.n,
        protocols=protocols,
        methods=methods,
        named=pairs if len(pairs) <= NAMED else (),
        restricted=bool(menu.protocol or menu.method or question.limits.deployable),
        metric_values=values,
        simulation=question.simulation,
        shuffled=question.promise.guarantee,
    )


def _protocols(question: Question, *, ordered: bool, detects: bool) -> tuple[str, ...]:
    """Return the protocols of the question.

    Raises InputError if a named protocol does not fit the domain, or cannot detect a single frequency, or if none of
    them is in use and has to be.
    """
    named, deployable = question.menu.protocol, question.limits.deployable
    protocols = fitting_protocols(question.menu, ordered)
    able = frequency_oracles() if detects else PROTOCOLS
    strangers = [name for name in protocols if name not in able]
    if named and strangers:
        raise InputError(
            f"--detect is about single categories, and {listed(strangers)} is for a distribution as a whole: leave it "
            f"out, or give --protocol one of {listed(able)}"
        )
    kept = tuple(name for name in protocols if name in able and (name in DEPLOYED or not deployable))
    if not kept:
        raise InputError(
            f"--deployable keeps {listed(DEPLOYED)}, and the menu has {listed(protocols)}: leave out --deployable or "
            "--protocol"
        )
    return kept
