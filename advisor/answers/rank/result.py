"""Frozen advice, its rows, and the baselines for comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from advisor.answers.rank.verdict import MOST_UNDETECTABLE, WORTH_IT, kind_of, reasons_of
from advisor.answers.rank.worth_it import WorthIt, worth_it_with
from advisor.question.request import DEFAULT_PAIR, Request, nothing_left_sentence
from simulator import METRICS, Protocol, __version__
from simulator.benchmark import Runs
from simulator.detection import LEVEL, POWER
from simulator.methods.processor import SUMMARIES
from simulator.ranking import SAME, SQUARED, mean_error, quotient
from simulator.seeding import rng_for
from simulator.shuffler import CentralHistogram

if TYPE_CHECKING:
    import pandas as pd

EVEN, ZERO = "equal frequencies", "0 for all categories"  # guesses without data
USUAL_ON_LIKELIHOODS = "ems"  # the usual method if a protocol has no estimate


class Recommendation(NamedTuple):
    """One (protocol, method) pair of the ranking.

    Attributes
    ----------
    rank, tier, tied
        Rank: 1 for pairs tied with the lowest error, otherwise 1 plus the number of lower errors. Tier: 1 for tied
        pairs, 2 for the others. Tied: whether the pair shares rank 1.
    protocol, method
        Names in the tables.
    error, error_low, error_high
        Mean error over the repetitions and its 95 % interval, in the metric's unit.
    standard_error, spread
        Standard error of the mean, and standard deviation between collections.
    ratio_to_best, ratio_low, ratio_high
        Error divided by the error of the pair with the lowest mean error, paired, with its 95 % interval; None if that
        error is 0.
    win_share
        Share of the repetitions in which this pair had the lowest error.
    repetitions
        Simulated collections behind the row.
    error_without_postprocessing
        Mean error of the same protocol's raw estimate; None if the protocol has no raw estimate.
    equivalent_users
        Number of users with which the raw estimate of the same protocol has this row's mean squared error (Wang et
        al., "Benefit of post-processing"); None if the method does not change the estimate or has no error.
    mean_absolute_error
        Mean absolute error per category (frequency), for any metric.
    report_bits
        Size of one report.
    attack_success
        Probability that the best guess from one report is the user's value.
    probability_best
        For an estimate: probability that its error is within 2 % of the lowest; else None.
    origin
        For a look-up: ``"interpolated"`` between simulated cells, ``"asymptotic"`` past them, or ``"extrapolated"``
        outside the grid; None for simulated rows. `standard_error`, `spread`, `win_share` and `repetitions` are None
        without a simulation.
    gain_random_value, gain_maximal
        With a threat: the attacker's gain, summed over the estimated frequencies of the targets (Cao et al. 2021),
        with random reports and with the reports that help the targets most. None without a threat, and if reports
        are not bounded, so that the gain has no bound.
    error_unattacked
        With a threat: the mean error without an attack, with the method still set for the threat. The other errors
        are those under the attack with the largest gain.
    epsilon
        Budget of one report; with a shuffler it differs between protocols.
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
    """A row for comparison, always shown.

    Attributes
    ----------
    kind
        ``"raw"`` (raw estimate of the recommended protocol), ``"uniform"`` (all categories equally frequent, no
        data), ``"default"`` (OUE with Norm-Sub, the usual choice) or, with a shuffler, ``"central"`` (a trusted server
        that adds noise to the counts once, with the same guarantee; `method` names the noise).
    protocol, method
        None for the uniform guess.
    error, error_low, error_high, ratio_to_best, ratio_low, ratio_high
        As in `Recommendation`; the uniform guess has no interval.
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
    """The best pair of a look-up for another number of users.

    Attributes
    ----------
    n, protocol, method
        That number, and the pair.
    verdict
        Its verdict there, with the values of `Ranking.verdict`.
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
    """Gain and cost of the pair that was chosen because of a threat.

    Attributes
    ----------
    protocol, method
        The pair to use without an attack, remedies excluded: the recommendation without a threat.
    unattacked, attacked
        Its error without an attack, and under the attack.
    best_unattacked, best_attacked
        The same errors of the first pair of the ranking.
    """

    protocol: str
    method: str
    unattacked: float
    attacked: float
    best_unattacked: float
    best_attacked: float


class SingleCategories(NamedTuple):
    """The pair for single categories, if the first pair of a ranking is less accurate for them.

    Attributes
    ----------
    protocol, method
        Names in the tables.
    ratio, ratio_low, ratio_high
        Mean absolute error of the first pair of the ranking divided by that of this pair, with its 95 % interval if
        both were simulated.
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
    """Explanation of a look-up.

    Attributes
    ----------
    steps
        Comparisons of ε, k, n and skew on the path through the decision tree.
    protocol, method
        The pair at the end of the path.
    agrees
        Whether it is the answer's pair, or its predicted error is within 5 %.
    ratio
        Its predicted error divided by that of the answer; None if it does not compete.
    changes
        For ε, n and skew, the nearest value from which another pair is predicted to be more than 5 % better.
    """

    steps: tuple[str, ...]
    protocol: str
    method: str
    agrees: bool
    ratio: float | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)  # compared by identity: arrays do not compare to a single truth value
class Ranking:
    """The answer to a request for a single metric.

    Attributes
    ----------
    request
        The request.
    metric
        The metric this advice is for.
    source
        Source of the figures: ``"simulation"`` (of a sample), ``"surrogate"`` (populations that may be behind an
        estimate or a small sample), or ``"grid"`` (looked up).
    recommendations
        Rows: the pair to use, then by rising error.
    baselines
        Raw estimate, uniform guess and usual default.
    repetitions
        Maximum of repetitions over all rows.
    detectable_frequency
        Smallest frequency that the recommended protocol detects with power 0.8, at level 0.05 over all k categories
        (`simulator.detection`). None if the protocol has no raw estimate. Like `error_without_data`, it is also None
        if no pair satisfies the constraints.
    warnings
        Warnings for the reader.
    error_without_data
        The lower error of two answers without data: all categories equally frequent, and 0 for all.
    beats_uniform_guess
        Whether the 95 % interval of the error of `best` is below `error_without_data`.
    resolved
        Whether the top tier is settled: each pair is either outside it or within 5 % of the lowest error.
    total
        Sum of the frequencies of `best`, if there is an estimate and the sum is not 1.
    moved
        Distance (l1) between the raw estimate and what `best` makes of it, if there is a raw estimate.
    experiment_id
        Digest of the simulation: population, menu, metric settings, seed and version; of a look-up, of the model and
        the question.
    leader
        The pair with the lowest mean error, by the repetitions or predictions that ranked the pairs.
    next_round
        For an estimate: the ranking of all protocols with all methods; otherwise None.
    by_shape
        For a look-up of a skew: the shapes it represents, and the error of `best` for each.
    tree
        For a look-up of a skew: the pair of the decision tree, if it competes. `best` is another pair if the model
        does not tie the tree's pair with the lowest error.
    elsewhere
        For a look-up: the function that computes `other_users` on request.
    why
        For a look-up with an explanation: the explanation.
    single_categories
        For metrics of ordered domains: the pair for single categories, if `best` is clearly worse there; else None.
    defence
        With a threat: gain and cost of the choice against the pair to use without an attack; otherwise None.
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
    moved: float | None = None
    experiment_id: str = field(default="", repr=False)
    leader: tuple[str, str] | None = None
    next_round: Ranking | None = None
    by_shape: tuple[tuple[str, float], ...] = ()
    tree: tuple[str, str] | None = None
    elsewhere: Callable[[], tuple[OtherUsers, ...]] | None = field(default=None, repr=False)
    why: Why | None = None
    single_categories: SingleCategories | None = None
    defence: Defence | None = None

    @property
    def unit(self) -> str:
        """Unit of the errors."""
        unit = METRICS[self.metric].unit
        return self.request.unit if unit == "bins" else unit

    @property
    def verdict(self) -> str | None:
        """``"worth_it"``, ``"marginal"`` or ``"no_better_than_no_data"``: see `advisor.answers.rank.verdict`.

        None if no pair satisfies the constraints.
        """
        return kind_of(self.reasons) if self.recommendations else None

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Reasons for the verdict, including that most categories cannot be detected, if so."""
        if not self.recommendations:
            return ()
        hidden = (MOST_UNDETECTABLE,) if 2 * len(self.undetectable) > self.request.k else ()
        without, factor = self.error_without_data, self.sampling ** (1 + (METRICS[self.metric].unit == SQUARED))
        below = self.beats_uniform_guess and (without is None or factor == 1 or factor * self.best.error_high < without)
        return (*reasons_of(factor * self.best.error, without, below=below), *hidden)

    @cached_property
    def sampling(self) -> float:
        """By how much errors of categories grow, as those who report are a sample of the users; 1 if all of them do.

        Both parts are independent, and about normal.
        """
        request, error = self.request, self.best.mean_absolute_error
        if not error or request.users <= request.n:
            return 1.0
        shares = request.counts / request.counts.sum()
        variances = shares * (1 - shares) * (1 / request.n - 1 / request.users)
        return math.hypot(1, float(np.sqrt(2 / math.pi * variances).mean()) / error)

    @cached_property
    def undetectable(self) -> tuple[int, ...]:
        """Places of the categories of a sample that are rarer than the smallest frequency the raw estimate detects.

        Empty for an ordered domain: there the whole distribution matters, and neighbours inform each other.
        """
        least, request = self.detectable_frequency, self.request
        if least is None or not request.labels or request.collected is not None or request.ordered:
            return ()
        return tuple(np.flatnonzero(request.counts < least * request.counts.sum()).tolist())

    @property
    def smallest_change(self) -> float | None:
        """Smallest detectable change of a frequency since the sample: two-sided 5 %, power 80 %, for a single category.

        None without a sample, or if the first pair's protocol has no raw estimate.
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
        """The better of two guesses without data."""
        without = self.error_without_data or 0.0
        uniform = next((row.error for row in self.baselines if row.kind == "uniform"), without)
        # Where a metric repairs 0 for all to equal frequencies, the two errors differ by rounding.
        return ZERO if without < (1 - SAME) * uniform else EVEN

    @cached_property
    def other_users(self) -> tuple[OtherUsers, ...]:
        """For a look-up: the best pair for other numbers of users, with its verdict.

        It is this answer's pair unless another is predicted to be more than 5 % better.
        """
        return () if self.elsewhere is None else self.elsewhere()

    @cached_property
    def worth_it_with(self) -> WorthIt | None:
        """A question whose answer would be worth it, predicted on request; None if this answer is worth it."""
        without = self.error_without_data
        if self.verdict in (None, WORTH_IT) or not without:
            return None
        return worth_it_with(self.request, self.metric, self.best.error, without)

    @property
    def of_estimate(self) -> bool:
        """Whether methods are ranked for a collected estimate, not pairs for a collection."""
        collected = self.request.collected
        return collected is not None and {row.protocol for row in self.recommendations} == {collected.protocol}

    @property
    def best(self) -> Recommendation:
        """The first row.

        Raises LookupError if no pair satisfies the constraints.
        """
        if not self.recommendations:
            raise LookupError(nothing_left_sentence(self.request.removals))
        return self.recommendations[0]

    @property
    def best_alone(self) -> Recommendation | None:
        """The first row whose method is not a summary of draws."""
        return next((row for row in self.recommendations if row.method not in SUMMARIES), None)

    @property
    def ties(self) -> tuple[Recommendation, ...]:
        """All rows that share the first rank, `best` included."""
        return tuple(row for row in self.recommendations if row.tier == 1)

    @property
    def lowest(self) -> Recommendation:
        """The row of the `leader`; among tied pairs it may differ from `best`."""
        return next((row for row in self.recommendations if row.pair == self.leader), self.best)

    @property
    def over_populations(self) -> bool:
        """Whether intervals of errors include uncertainty about the truth, not only simulation error."""
        populations = self.request.populations
        several = self.request.collected is not None and populations is not None and len(populations) > 1
        return self.source == "grid" or several


def usual_pair(protocol: Protocol) -> tuple[str, str]:
    """Return a protocol with its usual method."""
    return protocol.key, DEFAULT_PAIR[1] if protocol.offers("estimate") else USUAL_ON_LIKELIHOODS


def finite(value: float) -> float | None:
    """Return the value, or None if JSON has no number for it."""
    return value if math.isfinite(value) else None


def empty_rankings(request: Request) -> tuple[Ranking, ...]:
    """Return an empty ranking for each metric of a request whose constraints no pair satisfies."""
    return tuple(Ranking(request, metric, request.source, warnings=request.warnings) for metric in request.metrics)


@dataclass(frozen=True)
class Answer:
    """The ranking for each metric, with the simulated errors of all pairs, and new errors of the chosen pairs."""

    rankings: tuple[Ranking, ...]
    runs: tuple[Runs, ...] = ()

    @property
    def first(self) -> Ranking:
        """The ranking for the first metric."""
        return self.rankings[0]

    def runs_frame(self) -> pd.DataFrame:
        """Return the error of every repetition as a pandas data frame, a row each with all settings.

        Errors that judge an estimate (``judged``) come from draws of its possible truths, the others from simulated
        collections.
        """
        import pandas as pd  # heavy

        request = self.first.request
        settings = {"eps": request.epsilon, "n": request.n, "k": request.k, "seed": request.seed}
        return pd.concat(
            pd.DataFrame(
                settings
                | {"version": __version__, "protocol": protocol, "method": method, "metric": metric}
                | {"repetition": range(runs.first, runs.first + len(errors))}
                | {"judged": runs is not self.runs[0], "error": errors}
            )
            for runs in self.runs
            for metric in request.metrics
            for (protocol, method), errors in runs.of(metric).items()
        ).reset_index(drop=True)


REPETITIONS = 2000
CELLS = 5_000_000  # categories x repetitions


def central_rows(metric: str, request: Request, lowest: float | None) -> tuple[Baseline, ...]:
    """Return the row of a trusted server for a metric, if the request has a central guarantee.

    lowest: the error of the best pair.
    """
    if request.central is None:
        return ()

    histogram = CentralHistogram(request.central.epsilon, request.central.delta)
    counts = np.atleast_2d(request.counts if request.populations is None else request.populations)
    measure = METRICS[metric].with_options(**request.metric_values.options(request.seed))
    each = -(-max(2, min(REPETITIONS, CELLS // request.k)) // len(counts))
    errors = []
    for place, row in enumerate(counts):
        rng = rng_for(request.seed, "trusted server", place)
        errors.append(measure(histogram.estimate(np.broadcast_to(row, (each, request.k)), rng), row / row.sum()))
    figures = mean_error(np.concatenate(errors))
    ratio = quotient(figures.error, lowest)
    return (Baseline("central", None, histogram.title, figures.error, figures.low, figures.high, ratio, None, None),)
