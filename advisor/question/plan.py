"""What is asked of a plan: checked, complete and frozen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import ClassVar

from advisor.checks import real, share
from advisor.errors import InputError, listed
from advisor.question.central import CentralPromise
from advisor.question.fitting import fitting_methods, fitting_metrics, fitting_protocols
from advisor.question.frequencies import Frequencies, from_shape
from advisor.question.metric_settings import MetricSettings, MetricValues
from advisor.question.option import Settings, option, refuse, require
from advisor.question.plan_shuffled import Shuffled
from advisor.question.settings import N_MAX, Categories, Limits, Menu, Question, Shape, Simulation
from knowledge.implementations import DEPLOYED
from simulator import PROTOCOLS, frequency_oracles
from simulator.protocols import EPSILON_MAX, StandardProtocol
from simulator.ranking import Pair

EPSILON_LOW, USERS_LOW = 0.001, 10
ROUNDING = 1e-9  # users: 0.07 times 100 is not 7 to the last digit
DETECTION = "detection"
RANGES = {"n": (float(USERS_LOW), float(N_MAX)), "epsilon": (EPSILON_LOW, EPSILON_MAX)}
PRECISION, MAX_REPETITIONS = 0.0075, 2000
NAMED = 12  # so many named pairs are all settled by simulation


@dataclass(frozen=True, kw_only=True)
class Goal(Settings):
    """What a plan is to reach."""

    panel: ClassVar[str] = "Question"

    target: float | None = option("--target", read=real(above=0), metavar="X", help="mean error to be reached")
    detect: float | None = option(
        "--detect", read=share, metavar="F", help="frequency to detect among all k: power 0.8"
    )


@dataclass(frozen=True)
class PlanSettings:
    """The options of a plan that are not about its frequencies.

    Raises InputError if something is missing or does not go together; see `check`.
    """

    question: Question
    goal: Goal
    metric_settings: MetricSettings = field(default_factory=MetricSettings)
    menu: Menu = field(default_factory=Menu)
    simulation: Simulation = field(default_factory=Simulation)
    limits: Limits = field(default_factory=Limits)  # of which a plan keeps `deployable`
    promise: CentralPromise = field(default_factory=CentralPromise)

    @property
    def metric(self) -> str:
        """The metric of the error; the first of the table for a detection, which has none."""
        return self.question.one_metric("plan")

    def check(self, *, has_data: bool) -> None:
        """Refuse what is missing, and what does not go together.

        has_data: whether there is a sample, or the size of a domain.

        Raises InputError for all that is missing, or the first that does not fit: no unknown left, more than one
        metric.
        """
        question, goal, central = self.question, self.goal, self.promise.central_epsilon
        if central is not None:
            refuse(
                question.given("epsilon", "n"),
                "does not go with --central-eps: how many users keep the promise and reach the error is the answer",
            )
        require(
            (
                "--target",
                goal.target if goal.detect is None else goal.detect,
                "the error to reach, for example --target 0.1 (or --detect with a frequency to be detected)",
            ),
            (
                "--eps or --n",
                central or (question.n if question.epsilon is None else question.epsilon),
                "--eps to get the number of users, or --n to get ε",
            ),
            (
                "SAMPLE",
                has_data or None,
                "a file with public, synthetic or pilot data, - for standard input, or --k without a file",
            ),
        )
        if goal.target is not None and goal.detect is not None:
            raise InputError("give either --target or --detect, not both")
        if question.epsilon is not None and question.n is not None:
            raise InputError("no unknown is left: --eps and --n are both given; leave out the one that is asked for")
        if question.n is not None and question.n < USERS_LOW:
            raise InputError(f"n must be at least {USERS_LOW}, got {question.n}")
        self.metric_settings.refuse_unused(question, self.metric)
        if goal.detect is not None:
            flags = [*question.given("metric"), *self.menu.given("method"), *self.metric_settings.given()]
            refuse(flags, "goes with --target: a detection is by the raw estimate of one value")
            if question.n is not None and goal.detect * question.n < 1 - ROUNDING:
                raise InputError(f"a frequency of {goal.detect:g} is less than one of {question.n:,} users")


@dataclass(frozen=True, eq=False)  # `frequencies` holds an array
class PlanQuestion:
    """A plan that can be made."""

    frequencies: Frequencies  # those of the collection to come
    # metric, target: error that is to be reached. For a detection the metric is ``"detection"`` and the target the
    # frequency.
    metric: str
    target: float
    # epsilon, n: budget of one report and number of users; None for the one that is asked for
    epsilon: float | None
    n: int | None
    # protocols, methods: the menu, in table order; methods are none for a detection
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    # The pairs that were named, protocol by protocol, or none where a part of the pair was left open
    named: tuple[Pair, ...]
    restricted: bool  # whether the menu was cut down at all
    # seed, precision, max_repetitions: of the simulation: relative standard error of the mean error at the answer, and
    # most repetitions
    seed: int
    precision: float
    max_repetitions: int
    metric_values: MetricValues  # settings of the metric
    shuffled: Shuffled | None = None  # the promise of shuffled reports, instead of a budget; n is then the unknown

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
        """Whether a frequency is to be detected, not an error to be reached."""
        return self.metric == DETECTION

    @property
    def range(self) -> tuple[float, float]:
        """Values of the unknown that are looked at."""
        return RANGES[self.unknown]

    def users(self, x: float) -> int:
        """Return the number of users with the unknown at x."""
        return round(x) if self.n is None else self.n

    def budget(self, protocol: str, x: float, *, near: bool = False) -> float:
        """Return the budget of one report with the unknown at x.

        near: for a first answer, at once.
        """
        if self.shuffled is not None:
            return self.shuffled.near(protocol, x) if near else self.shuffled.local(protocol, round(x))
        return x if self.epsilon is None else self.epsilon

    def oracle(self, protocol: str, x: float) -> StandardProtocol:
        """Return a protocol with the unknown at x."""
        return PROTOCOLS[protocol](self.frequencies.k, self.budget(protocol, x))

    def unrestricted(self) -> PlanQuestion:
        """Return the same question over the whole menu."""
        methods = fitting_methods(Menu(), (self.metric,), self.frequencies.ordered)
        protocols = fitting_protocols(Menu(), self.frequencies.ordered)
        return replace(self, protocols=protocols, methods=methods, named=(), restricted=False)


def shape_frequencies(settings: PlanSettings, domain: Categories, shape: Shape) -> Frequencies:
    """Return the frequencies of a plan without a sample.

    Raises InputError if k is missing, or the shape is wrong.
    """
    if domain.k is None:
        raise InputError("--k is missing: give a sample, or the number of categories, for example --k 256")
    metrics = () if settings.goal.detect is not None else (settings.metric,)
    seed = settings.simulation.seed
    return from_shape(domain.k, shape, ordered=domain.ordered, metrics=metrics, seed=seed)


def build_question(settings: PlanSettings, frequencies: Frequencies) -> PlanQuestion:
    """Join checked settings and the frequencies.

    Raises InputError if the metric or a method that was named does not fit the domain.
    """
    goal, menu, ordered = settings.goal, settings.menu, frequencies.ordered
    values = settings.metric_settings.resolved(frequencies.k)
    metric, methods = DETECTION, tuple[str, ...]()
    if goal.detect is None:
        (metric,), notes = fitting_metrics(settings.question, ordered)
        methods = fitting_methods(menu, (metric,), ordered)
        assumed = (*frequencies.assumptions, *notes, *values.assumptions((metric,)))
        frequencies = replace(frequencies, assumptions=assumed)
    protocols = _protocols(menu, ordered, detects=goal.detect is not None)
    if settings.limits.deployable:
        protocols = _deployable(protocols)
    pairs = tuple(product(protocols, methods)) if menu.protocol and menu.method else ()
    most = settings.simulation.max_repetitions
    return PlanQuestion(
        frequencies=frequencies,
        metric=metric,
        target=float(goal.target or goal.detect or 0),
        epsilon=settings.question.epsilon,
        n=settings.question.n,
        protocols=protocols,
        methods=methods,
        named=pairs if len(pairs) <= NAMED else (),
        restricted=bool(menu.protocol or menu.method or settings.limits.deployable),
        seed=settings.simulation.seed,
        precision=PRECISION,
        max_repetitions=MAX_REPETITIONS if most is None else most,
        metric_values=values,
        shuffled=_shuffled(settings.promise, frequencies.k),
    )


def _shuffled(promise: CentralPromise, k: int) -> Shuffled | None:
    if promise.central_epsilon is None or promise.delta is None:
        return None
    return Shuffled(promise.central_epsilon, promise.delta, k)


def _protocols(menu: Menu, ordered: bool, *, detects: bool) -> tuple[str, ...]:
    """Return the protocols that are asked about.

    Raises InputError if one that was named does not fit the domain, or cannot tell a single frequency from 0.
    """
    protocols = fitting_protocols(menu, ordered)
    if not detects:
        return protocols
    able = frequency_oracles()
    strangers = [name for name in protocols if name not in able]
    if menu.protocol and strangers:
        raise InputError(
            f"--detect is about single categories, and {listed(strangers)} is for a distribution as a whole: leave it "
            f"out, or give --protocol one of {listed(able)}"
        )
    return tuple(name for name in protocols if name in able)


def _deployable(protocols: tuple[str, ...]) -> tuple[str, ...]:
    """Return the protocols that run in products.

    Raises InputError if none of them does.
    """
    kept = tuple(name for name in protocols if name in DEPLOYED)
    if not kept:
        raise InputError(
            f"--deployable keeps {listed(DEPLOYED)}, and the menu has {listed(protocols)}: leave out --deployable or "
            "--protocol"
        )
    return kept
