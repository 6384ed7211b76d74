"""What comes out: frozen advice, its rows, and the rows every advice is measured against."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from advisor.answers.rank.verdict import MOST_UNDETECTABLE, WORTH_IT, kind_of, reasons_of
from advisor.answers.rank.worth_it import WorthIt, worth_it_with
from advisor.question.request import DEFAULT_PAIR, Request, nothing_left_sentence
from simulator import METRICS, Protocol
from simulator.benchmark import Runs
from simulator.detection import LEVEL, POWER
from simulator.methods.summaries import SUMMARIES
from simulator.ranking import mean_error
from simulator.seeding import rng_for
from simulator.shuffler import CentralHistogram

EVEN, ZERO = "equal frequencies", "0 for all categories"  # guesses without data
USUAL_ON_LIKELIHOODS = "ems"  # where a protocol has no estimate


class Recommendation(NamedTuple):
    """One (protocol, method) pair of the ranking.

    Attributes
    ----------
    rank, tier, tied
        1 for all that are tied with the lowest error, else 1 and the number of lower errors; tier 1 for those that are
        tied, 2 for the others; and whether it shares rank 1.
    protocol, method
        Names in the tables.
    error, error_low, error_high
        Mean error over the repetitions and its 95 % interval, in the metric's unit.
    standard_error, spread
        Standard error of the mean, and standard deviation from one collection to the next.
    ratio_to_best, ratio_low, ratio_high
        Error over that of the pair with the lowest mean error, paired, with its 95 % interval; None where the best has
        no error at all.
    win_share
        Share of the repetitions in which this pair had the lowest error.
    repetitions
        Simulated collections behind the row.
    error_without_postprocessing
        Mean error of the same protocol's raw estimate; None where it has none.
    equivalent_users
        Users who would give the raw estimate of the same protocol this row's mean squared error (Wang et al., "Benefit
        of post-processing"); None where the estimate itself is not changed or has no error.
    mean_absolute_error
        Mean absolute error per category (frequency), whatever the metric.
    report_bits
        Size of one report.
    attack_success
        Probability that the best guess from one report is the user's value.
    probability_best
        For an estimate: probability that its error is within 2 % of the lowest; else None.
    origin
        For a look-up: ``"interpolated"`` between simulated cells, ``"asymptotic"`` past them, or ``"extrapolated"``
        outside of what the grid covers; None for what was simulated. `standard_error`, `spread`, `win_share` and
        `repetitions` are None where nothing was simulated.
    gain_random_value, gain_maximal
        With a threat: by how much an attacker lifts the estimated frequencies of the targets, added up (Cao et al.
        2021), with random reports and with those that help the targets most. None without a threat, and where a report
        may claim anything, so that there is no bound.
    error_unattacked
        With a threat: the mean error where nobody attacks and the method is told all the same that somebody may; the
        other errors are those under the attack that gains most.
    epsilon
        Budget of one report: with a shuffler each protocol has its own.
    """

    rank: int
    tier: int
    tied: bool
    protocol: str
    method: str
    error: float
    error_low: float
    error_high: float
    standard_error: float | None
    spread: float | None
    ratio_to_best: float | None
    ratio_low: float | None
    ratio_high: float | None
    win_share: float | None
    repetitions: int | None
    error_without_postprocessing: float | None
    equivalent_users: float | None
    mean_absolute_error: float | None
    report_bits: int
    attack_success: float
    probability_best: float | None = None
    origin: str | None = None
    gain_random_value: float | None = None
    gain_maximal: float | None = None
    error_unattacked: float | None = None
    epsilon: float | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """(protocol, method)."""
        return self.protocol, self.method


class Baseline(NamedTuple):
    """A row that is always shown for comparison.

    Attributes
    ----------
    kind
        ``"raw"`` (estimate of the recommended protocol as it is), ``"uniform"`` (every category equally frequent, no
        data), ``"default"`` (OUE with Norm-Sub, the usual choice) or, with a shuffler, ``"central"`` (a trusted server
        that adds noise to the counts once, at the same promise; `method` names the noise).
    protocol, method
        None for the uniform guess.
    error, error_low, error_high, ratio_to_best, ratio_low, ratio_high
        As in `Recommendation`; the uniform guess has no interval of its own.
    """

    kind: str
    protocol: str | None
    method: str | None
    error: float
    error_low: float
    error_high: float
    ratio_to_best: float | None
    ratio_low: float | None
    ratio_high: float | None


class OtherUsers(NamedTuple):
    """The pair that a look-up names for another number of users.

    Attributes
    ----------
    n, protocol, method
        That number, and the pair.
    verdict
        What it is worth there, in the words of `Ranking.verdict`.
    """

    n: int
    protocol: str
    method: str
    verdict: str

    @property
    def pair(self) -> tuple[str, str]:
        """Protocol and method."""
        return self.protocol, self.method


class Defence(NamedTuple):
    """What a pair is worth that was chosen because of a threat.

    Attributes
    ----------
    protocol, method
        The pair with the lowest error where nobody attacks, remedies left out: what would be recommended otherwise.
    unattacked, attacked
        Its error where nobody attacks, and under the attack.
    best_unattacked, best_attacked
        The same of the first pair of the ranking.
    """

    protocol: str
    method: str
    unattacked: float
    attacked: float
    best_unattacked: float
    best_attacked: float


class SingleCategories(NamedTuple):
    """The pair for single categories, where the first of a ranking gives up accuracy there.

    Attributes
    ----------
    protocol, method
        Names in the tables.
    ratio, ratio_low, ratio_high
        Mean absolute error of the first pair of the ranking over that of this one, with its 95 % interval where both
        were simulated.
    """

    protocol: str
    method: str
    ratio: float
    ratio_low: float
    ratio_high: float


class Change(NamedTuple):
    """Another value of ``"ε"``, ``"n"`` or ``"skew"``, and the pair that is predicted to be best there."""

    what: str
    value: float
    protocol: str
    method: str


class Why(NamedTuple):
    """An explanation of one look-up.

    Attributes
    ----------
    steps
        Where ε, k, n and skew lie on the way through the decision tree.
    protocol, method
        The pair at the end of it.
    agrees
        Whether it is the answer's, or predicted within 5 % of it.
    ratio
        Its predicted error over that of the answer; None where it does not compete.
    changes
        For ε, n and skew the nearest value from which another pair is predicted to be more than 5 % better.
    """

    steps: tuple[str, ...]
    protocol: str
    method: str
    agrees: bool
    ratio: float | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)  # two answers are told apart by their identity: arrays do not compare to one truth
class Ranking:
    """The answer to one request for one metric.

    Attributes
    ----------
    request
        What was asked.
    metric
        The metric this advice is for.
    source
        Where the figures come from: ``"simulation"`` (of a sample), or ``"surrogate"`` (populations that may be behind
        an estimate or a small sample), or ``"grid"`` (looked up).
    recommendations
        Rows: the pair to use, then by rising error.
    baselines
        Raw estimate, uniform guess and usual default.
    repetitions
        Most repetitions behind any row.
    detectable_frequency
        Smallest frequency that the recommended protocol detects with power 0.8, at level 0.05 over all k categories
        (`simulator.detection`); None where it has no raw estimate, and, like `error_without_data`, where constraints
        leave nothing to recommend.
    warnings
        What the reader should worry about.
    error_without_data
        The lower of the errors of two answers that use no data: all categories equally frequent, and 0 for all.
    beats_uniform_guess
        Whether the 95 % interval of the error of `best` is below `error_without_data`.
    resolved
        Whether the top tier is settled: every pair is either out of it or within 5 % of the lowest error.
    total
        What the frequencies of `best` sum to, where an estimate is there and it is not 1.
    identify
        Makes the `experiment_id`.
    leader
        The pair with the lowest mean error, by the repetitions or predictions that ranked them.
    next_round
        For an estimate: what all protocols would have given, each with every method; else None.
    by_shape
        For a look-up of a skew: what it stands for, and the error of `best` there.
    tree
        For a look-up of a skew: the pair that the decision tree names, where it competes; `best` is another one where
        the model is sure that it is worse by more than 5 %.
    elsewhere
        For a look-up: what finds `other_users` when they are asked for.
    why
        For a look-up that was to be explained: the explanation.
    single_categories
        For metrics of ordered domains: the pair for single categories, where `best` is clearly worse there; else None.
    defence
        With a threat: what the choice is worth, and what it costs; else None.
    """

    request: Request
    metric: str
    source: str
    recommendations: tuple[Recommendation, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    repetitions: int = 0
    detectable_frequency: float | None = None
    warnings: tuple[str, ...] = ()
    error_without_data: float | None = None
    beats_uniform_guess: bool = False
    resolved: bool = True
    total: float | None = None
    identify: Callable[[], str] = field(default=str, repr=False)
    leader: tuple[str, str] | None = None
    next_round: Ranking | None = None
    by_shape: tuple[tuple[str, float], ...] = ()
    tree: tuple[str, str] | None = None
    elsewhere: Callable[[], tuple[OtherUsers, ...]] | None = field(default=None, repr=False)
    why: Why | None = None
    single_categories: SingleCategories | None = None
    defence: Defence | None = None

    @property
    def verdict(self) -> str | None:
        """``"worth_it"``, ``"marginal"`` or ``"no_better_than_no_data"``: see `advisor.answers.rank.verdict`.

        None where constraints leave nothing.
        """
        return kind_of(self.reasons) if self.recommendations else None

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is no better, and that most categories cannot be told from none where that is so."""
        if not self.recommendations:
            return ()
        hidden = (MOST_UNDETECTABLE,) if 2 * len(self.undetectable) > self.request.k else ()
        own = reasons_of(self.best.error, self.error_without_data, below=self.beats_uniform_guess)
        return (*own, *hidden)

    @cached_property
    def undetectable(self) -> tuple[int, ...]:
        """Places of the categories of a sample that are rarer than the smallest frequency the raw estimate detects.

        None of an ordered domain, where the distribution as a whole is asked for and neighbours tell of each other.
        """
        least, request = self.detectable_frequency, self.request
        if least is None or not request.labels or request.collected is not None or request.ordered:
            return ()
        return tuple(np.flatnonzero(request.counts < least * request.counts.sum()).tolist())

    @property
    def smallest_change(self) -> float | None:
        """Change of a frequency since the sample that can be seen: two-sided 5 %, power 80 %, one category at a time.

        None without a sample, or where the first pair's protocol has no raw estimate.
        """
        request = self.request
        if not request.labels or request.collected is not None or not self.recommendations:
            return None
        linear = request.oracle(self.best.protocol).linear
        if linear is None:
            return None
        reach = NormalDist().inv_cdf(1 - LEVEL / 2) + NormalDist().inv_cdf(POWER)
        return reach * math.sqrt(float(linear.covariance(request.n).entry(request.counts / request.counts.sum()).min()))

    @property
    def guess_without_data(self) -> str:
        """What is answered without data: the better of two guesses."""
        without = self.error_without_data or 0.0
        uniform = next((row.error for row in self.baselines if row.kind == "uniform"), without)
        return EVEN if uniform <= without else ZERO

    @cached_property
    def experiment_id(self) -> str:
        """Digest of what was simulated: population, menu, metric settings, seed and version; "" where nothing was."""
        return self.identify()

    @cached_property
    def other_users(self) -> tuple[OtherUsers, ...]:
        """For a look-up: the best pair for other numbers of users, and what it is worth.

        It is this one where no other is predicted to be more than 5 % better.
        """
        return () if self.elsewhere is None else self.elsewhere()

    @cached_property
    def worth_it_with(self) -> WorthIt | None:
        """What would be worth it instead, predicted when it is asked for; None where the answer is."""
        without = self.error_without_data
        if self.verdict in (None, WORTH_IT) or not without:
            return None
        return worth_it_with(self.request, self.metric, self.best.error, without)

    @property
    def best(self) -> Recommendation:
        """The first row.

        Raises LookupError if constraints leave nothing.
        """
        if not self.recommendations:
            raise LookupError(nothing_left_sentence(self.request.removals))
        return self.recommendations[0]

    @property
    def best_alone(self) -> Recommendation | None:
        """The first row whose method is no summary of draws."""
        return next((row for row in self.recommendations if row.method not in SUMMARIES), None)

    @property
    def ties(self) -> tuple[Recommendation, ...]:
        """All rows that share the first rank, `best` included."""
        return tuple(row for row in self.recommendations if row.tier == 1)

    @property
    def lowest(self) -> Recommendation:
        """The row of the `leader`; not always `best`, where pairs cannot be told apart."""
        return next((row for row in self.recommendations if row.pair == self.leader), self.best)

    @property
    def over_populations(self) -> bool:
        """Whether intervals of errors hold what is not known about the truth, not only what simulation leaves open."""
        populations = self.request.populations
        several = self.request.collected is not None and populations is not None and len(populations) > 1
        return self.source == "grid" or several


def usual_pair(protocol: Protocol) -> tuple[str, str]:
    """Return a protocol with the method that is usual for it."""
    return protocol.key, DEFAULT_PAIR[1] if protocol.offers("estimate") else USUAL_ON_LIKELIHOODS


def finite(value: float) -> float | None:
    """Return the value, or None where JSON has no number for it."""
    return value if math.isfinite(value) else None


def empty_rankings(request: Request) -> tuple[Ranking, ...]:
    """Return for each metric of a request a ranking without any pair: its constraints leave none."""
    return tuple(Ranking(request, metric, request.source, warnings=request.warnings) for metric in request.metrics)


@dataclass(frozen=True)
class Answer:
    """The ranking for each metric, and the simulated errors behind it: of all pairs, and of chosen ones once more."""

    rankings: tuple[Ranking, ...]
    runs: tuple[Runs, ...] = ()

    @property
    def first(self) -> Ranking:
        """The ranking for the first metric."""
        return self.rankings[0]


REPETITIONS = 50
CELLS = 20_000_000  # categories x repetitions


def central_rows(metric: str, request: Request, lowest: float) -> tuple[Baseline, ...]:
    """Return the row of a trusted server for a metric, if the request has a central promise.

    lowest: the error of the best pair.
    """
    if request.central is None:
        return ()

    histogram = CentralHistogram(request.central.epsilon, request.central.delta)
    counts = np.atleast_2d(request.counts if request.populations is None else request.populations)
    measure = METRICS[metric].with_options(**request.metric_values.options(request.seed))
    errors = []
    for place in range(max(2, min(REPETITIONS, CELLS // request.k))):
        row = counts[place % len(counts)]
        estimate = histogram.estimate(row, rng_for(request.seed, "trusted server", place))
        errors.append(measure(estimate, row / row.sum()))
    figures = mean_error(np.array(errors, dtype=np.float64))
    ratio = figures.error / lowest if lowest else None
    return (Baseline("central", None, histogram.title, figures.error, figures.low, figures.high, ratio, None, None),)
