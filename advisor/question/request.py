"""The request for a ranking: checked, complete and frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.errors import listed
from advisor.inputs.bins import Bins
from advisor.question.central import Central
from advisor.question.metric_settings import MetricValues
from advisor.question.plurality import BudgetUse
from simulator import PROTOCOLS, Observed, Protocol
from simulator.channels import FixedChannel
from simulator.domain import Attackers, Domain
from simulator.places import Places
from simulator.poisoning import draw_targets
from simulator.ranking import Cost, Pair


class Removal(NamedTuple):
    """Protocols and methods that a constraint removed from the menu.

    Attributes
    ----------
    constraint, bound
        Its name on the command line, without leading hyphens, and its bound (None without a bound).
    protocols, methods
        The removed members; another constraint may have removed the same members.
    least
        The least bound that would have kept a protocol, if none was kept.
    """

    constraint: str
    bound: float | None
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    least: float | None = None


def removal_sentences(removals: Iterable[Removal]) -> list[str]:
    """Return a sentence per constraint with the members that it removed.

    >>> removal_sentences([Removal("max-bits", 9, ("oue", "rappor"), ())])
    ['Constraint --max-bits 9 removed the protocols oue, rappor.']
    """
    return [f"Constraint {_named(removal)} removed {_what(removal)}." for removal in removals]


def nothing_left_sentence(removals: Iterable[Removal]) -> str:
    """Return the statement that nothing is left, with its reasons."""
    return f"Nothing is left to rank: {nothing_left_reasons(removals)}"


def nothing_left_reasons(removals: Iterable[Removal]) -> str:
    """Return what each constraint excluded: names where they are few."""
    kinds = [(_named(one), one.protocols, "protocols") for one in removals]
    kinds += [(_named(one), one.methods, "methods") for one in removals]
    return "; ".join(f"{name} excludes {_few(names, kind)}" for name, names, kind in kinds if names) + "."


def _named(removal: Removal) -> str:
    return f"--{removal.constraint}" + ("" if removal.bound is None else f" {removal.bound:,.10g}".replace(",", ""))


def _few(names: tuple[str, ...], kind: str) -> str:
    return listed(names) if len(names) <= FEW else f"{len(names)} {kind}"


def _what(removal: Removal) -> str:
    kinds = (("protocols", removal.protocols), ("methods", removal.methods))
    parts = [f"the {kind} {listed(names, most=30)}" for kind, names in kinds if names]
    return " and ".join(parts) or "nothing"


FEW = 3  # names that a sentence lists
DEFAULT_PAIR = ("oue", "norm_sub")  # the usual choice, the baseline of all answers
BOOTSTRAP, CURVES = "bootstrap", "curves"  # surrogates of tallies


@dataclass(frozen=True, eq=False)
class Collected:
    """The data of a collection: a raw estimate, or the tally of the reports.

    Attributes
    ----------
    oracle
        The protocol that was used.
    n
        Number of users who reported.
    labels
        Labels of the k categories.
    observed
        The data of the collection that a method may see.
    assumptions, warnings
        Decisions made for the user, and warnings.
    given
        The given frequencies, if they had been clipped at 0 and `observed` holds possible values before clipping;
        else None.
    """

    oracle: Protocol
    n: int
    labels: tuple[str, ...] = field(repr=False)
    observed: Observed = field(repr=False)
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    given: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def ordered(self) -> bool:
        """Whether the categories have an order."""
        return self.observed.domain.ordered

    @property
    def protocol(self) -> str:
        """Key of the protocol that was used."""
        return self.oracle.key


@dataclass(frozen=True, eq=False)  # an array does not compare to a single truth value
class Request:
    """A complete request.

    Attributes
    ----------
    epsilon, k, n
        Budget of one report, domain size, users who will report.
    metrics, protocols, methods
        Table keys, in table order.
    ordered
        Whether the categories have an order.
    labels, counts
        ``(k,)`` labels of the categories, and users who hold each one (their sum is n).
    sample
        Name of the sample.
    sample_users
        Number of users in the sample.
    seed, repetitions, max_repetitions
        Of the simulation.
    metric_values
        Settings of the metrics, as given or by default.
    assumptions, warnings
        Decisions made for the user, and warnings.
    source
        ``"simulation"`` (the sample is the truth), ``"surrogate"`` (populations represent an unknown truth), or
        ``"grid"`` (nothing is simulated).
    surrogate
        Generator of the populations, or None.
    populations
        ``(populations, k)`` users of each population, or None.
    collected
        The collection that the request is about, or None.
    skew
        The exponent, if the frequencies are an assumed Zipf distribution.
    removals
        Members that each constraint removed from the menu.
    threat
        Share of the users that an attacker controls, or None.
    targets
        Places of the categories that the attacker is known to promote; empty if unknown.
    plan
        Use of the budget, if users have several attributes or report several times; `epsilon` is then the budget of
        one report, and `n` the number of reports of one attribute.
    bins
        The bins of the categories, if numbers were cut into bins.
    data_words
        Words of a command line that repeat the data, the metric settings and the menu; none for Python callers.
    central
        Guarantee of shuffled reports, if requested; `epsilon` is then the budget that any protocol may spend.
    column
        Name of the categories in the file; "" without a name.
    judged
        Whether the populations are draws from the posterior of the frequencies behind an estimate. The result of a
        method for that estimate is then judged by them, without simulation.
    summaries
        Whether the posterior mean and median compete too.
    ground, unit
        The places that the categories stand for, if they do, and the unit of distances.
    channels
        Protocols that compete and are in no table, by key.
    figures
        Further figures of a row, by its protocol.
    """

    epsilon: float
    k: int
    n: int
    metrics: tuple[str, ...]
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    ordered: bool
    labels: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    sample: str
    sample_users: int
    seed: int
    repetitions: int
    max_repetitions: int
    metric_values: MetricValues
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    source: str = "simulation"
    surrogate: str | None = None
    populations: NDArray[np.int64] | None = field(default=None, repr=False)
    collected: Collected | None = None
    skew: float | None = None
    removals: tuple[Removal, ...] = ()
    threat: float | None = None
    targets: tuple[int, ...] = ()
    plan: BudgetUse | None = None
    bins: Bins | None = field(default=None, repr=False)
    data_words: tuple[str, ...] = field(default=(), repr=False)
    central: Central | None = None
    column: str = ""
    judged: bool = False
    summaries: bool = False
    ground: Places | None = None
    unit: str = "bins"
    channels: Mapping[str, FixedChannel] = field(default_factory=dict)
    figures: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict, repr=False)
    everyone: int | None = None  # users, if those who report are a part of them; None: the plan tells

    @property
    def users(self) -> int:
        """Number of users: n, or more where each of them reports one of several attributes."""
        return self.everyone or (self.n if self.plan is None else self.plan.users)

    @property
    def usual(self) -> tuple[Pair, ...]:
        """The usual choice to compare with; none where only channels keep the promise."""
        return () if self.channels and self.channels.keys() >= {*self.protocols} else (DEFAULT_PAIR,)

    @property
    def metric_options(self) -> dict[str, Any]:
        """The options that `simulator.metrics.Metric.with_options` takes."""
        options = self.metric_values.options(self.seed)
        return options if self.ground is None else options | {"ground": self.ground}

    @property
    def domain(self) -> Domain:
        """Information for methods about the categories and attackers."""
        attackers = None if self.threat is None else Attackers(self.threat, self.targets)
        return Domain(self.ordered, self.ground, attackers)

    @property
    def promoted(self) -> tuple[int, ...]:
        """Places of the categories that the simulated attacker promotes: the known targets, or a uniform draw."""
        return self.targets or tuple(draw_targets(self.k, self.seed).tolist())

    def budget(self, protocol: str) -> float:
        """Return the budget of one report of a protocol."""
        return self.epsilon if self.central is None else self.central.local[protocol]

    def oracle(self, protocol: str) -> Protocol:
        """Return a protocol at this budget and domain size; the collection's protocol keeps its parameters."""
        if self.collected is not None and self.collected.protocol == protocol:
            return self.collected.oracle
        if protocol in self.channels:
            return self.channels[protocol]
        return PROTOCOLS[protocol](self.k, self.budget(protocol))

    @property
    def has_sample(self) -> bool:
        """Whether the frequencies come from a sample, which an attacker may also know."""
        return (bool(self.labels) or self.ground is not None) and self.collected is None

    @property
    def prior_guess(self) -> float:
        """Probability that the best guess without a report is right."""
        return float(self.counts.max() / self.counts.sum()) if self.has_sample else 1 / self.k

    def attack_success(self, protocol: str, oracle: Protocol | None = None) -> float:
        """Return the probability that the best guess from one report is right, given the sample's frequencies.

        Without a sample, and for protocols without further information, all values are equally likely.

        oracle: the protocol at another budget than that of the question.
        """
        at = protocol, getattr(oracle, "epsilon", None)
        if at not in self._attacks:
            oracle = oracle or self.oracle(protocol)
            informed = oracle.informed_guess(self.counts / self.counts.sum()) if self.has_sample else None
            self._attacks[at] = oracle.attack_success if informed is None else informed
        return self._attacks[at]

    @cached_property
    def _attacks(self) -> dict[tuple[str, float | None], float]:
        return {}

    def cost(self, protocol: str) -> Cost:
        """Return the cost of a report of a protocol: see `simulator.ranking.preference`."""
        bits, work, _, key = self.oracle(protocol).cost
        return bits, work, round(self.attack_success(protocol), 9), key
