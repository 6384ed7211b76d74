"""Advice from simulated errors: the competing pairs, their order, and the rows for comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.result import Baseline, Ranking, Recommendation, central_rows, finite, usual_pair
from advisor.answers.rank.trade_offs import best_for_single_categories
from advisor.answers.rank.verdict import errors_without_data
from advisor.errors import InputError, listed
from advisor.question.collected import POSITIVE_PART
from advisor.question.request import DEFAULT_PAIR, Collected, Request
from simulator import METRICS, POSTPROCESSORS
from simulator.benchmark import Experiment, Runs
from simulator.confidence import (
    AS_GOOD_AS_BEST,
    OF_CUT,
    OF_TALLY,
    USUAL,
    by_population,
    probabilities,
    ratio_over_truths,
    widened_range,
)
from simulator.detection import detectable
from simulator.foreign import REGISTERED
from simulator.methods.processor import SUMMARIES
from simulator.protocols.oracle import variances_of
from simulator.ranking import (
    SQUARED,
    MeanError,
    Pair,
    Ratio,
    Standing,
    contenders,
    leading,
    mean_error,
    paired_ratio,
    quotient,
    rank,
    t_quantile,
    without_rounding,
)

RAW, PER_CATEGORY = "none", "mae"
SAME_RESULT = 1.005  # ratio of errors up to which two results are equal
ROUNDING = 5e-4  # tolerance of a sum of frequencies: smaller deviations from 1 are not visible


@dataclass(frozen=True)
class Contest:
    """The pairs that compete for the rows of a table, and the data that decide."""

    request: Request
    metric: str
    experiment: Experiment
    runs: Runs  # the repetitions that decide
    menu: tuple[Pair, ...]  # the pairs that compete
    collected: Collected | None = None  # the collection whose estimate it is about; None if it is about another one
    judged: bool = False  # whether the errors are those of post-processing the estimate, not of simulated collections

    @property
    def over_truths(self) -> bool:
        """Whether the truth is unknown, and populations represent possible truths."""
        return self.request.collected is not None and len(self.experiment.populations) > 1

    @property
    def widening(self) -> tuple[float, float]:
        """Widening of the range of an error: see `simulator.confidence.widened_range`."""
        if self.collected is None:
            return USUAL
        return OF_CUT if self.collected.given is not None else USUAL if self.judged else OF_TALLY

    @property
    def power(self) -> int:
        """The root of errors that is averaged: few populations dominate the mean of squared errors.

        And among the most frequent values those with spikes dominate, which few truths have.
        """
        if not self.over_truths or METRICS[self.metric].unit != SQUARED:
            return 1
        return 4 if self.metric == "topk" else 2

    def errors(self, pair: Pair) -> NDArray[np.float64]:
        """Return the errors of a pair; errors below the floor are rounding and become 0."""
        return without_rounding(self.runs.column(pair, self.metric), METRICS[self.metric].unit)

    def ranked_errors(self, errors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ranking values of a pair: its errors, or for each population their mean, or its root."""
        if not self.over_truths:
            return errors
        result: NDArray[np.float64] = by_population(errors, len(self.experiment.populations)) ** (1 / self.power)
        return result

    def mean(self, errors: NDArray[np.float64]) -> float:
        """Return only the mean error of `figures`."""
        return mean_error(self.ranked_errors(errors)).error ** self.power

    def figures(self, errors: NDArray[np.float64]) -> MeanError:
        """Return the mean error and its 95 % interval; for several populations, it covers the possible truths."""
        if not self.over_truths:
            return mean_error(errors)
        rows = self.ranked_errors(errors)
        mean, (low, high) = float(rows.mean()), widened_range(rows, self.widening)
        plain = mean_error(rows**self.power)
        return plain._replace(error=mean**self.power, low=low**self.power, high=high**self.power)

    def ratio(self, errors: NDArray[np.float64], reference: NDArray[np.float64]) -> Ratio:
        """Return the ratio of errors; for an estimate, the interval includes uncertainty about the truth."""
        compare = ratio_over_truths if self.over_truths and self.collected is not None else paired_ratio
        value, low, high = compare(errors, reference)
        return Ratio(value**self.power, low**self.power, high**self.power)

    @cached_property
    def ranked(self) -> dict[Pair, NDArray[np.float64]]:
        """The ranking values of each pair of the menu."""
        return {pair: self.ranked_errors(self.errors(pair)) for pair in self.menu}

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The menu, ranked."""
        variances = variances_of(self.experiment.oracles, self.experiment.n)
        costs = {name: self.request.cost(name) for name in self.experiment.oracles}
        ranked = rank(self.ranked, costs, self.ratio, variances)
        return _proper_first(ranked) if self.judged else ranked

    @cached_property
    def leader(self) -> Pair:
        """The pair with which all pairs are compared. Tiers do not depend only on the error."""
        return leading(self.ranked)

    @cached_property
    def probabilities(self) -> dict[Pair, float]:
        """Probability that each pair is as good as the best; it needs draws of possible truths."""
        errors = {pair: self.errors(pair) for pair in self.menu}
        return probabilities(errors, ordered=self.request.ordered) if self.judged and len(self.menu) > 1 else {}


def contests(
    metric: str, request: Request, experiment: Experiment, runs: Runs, judged: Runs | None = None
) -> tuple[Contest, ...]:
    """Return the contest for a metric of a request; for an estimate, also a second contest for the next round.

    There is no second contest if constraints exclude all its protocols.

    judged: the errors of post-processing the estimate, if its populations determine them.

    Raises InputError if no pair has a finite error.
    """
    sound, collected, later = _sound(metric, request, runs), request.collected, list[Contest]()
    menu = tuple(pair for pair in sound if pair[0] in request.protocols and pair[1] in request.methods)
    if collected is not None:
        used = collected.protocol
        most = min(map(len, runs.errors.values()))  # repetitions of protocols that were not used
        fair = Runs(runs.experiment_id, runs.metrics, runs.first, {pair: runs.errors[pair][:most] for pair in sound})
        later = [Contest(request, metric, experiment, fair, menu)] if menu else []
        runs = judged or runs
        methods = {*request.methods, *(SUMMARIES if request.summaries else ())}
        if collected.given is not None:
            methods &= POSITIVE_PART | {*SUMMARIES, *REGISTERED}
        menu = tuple(pair for pair in _sound(metric, request, runs) if pair[0] == used and pair[1] in methods)
    if not menu:
        raise InputError(f"no pair has a finite {metric} error: ask for other protocols, methods or another metric")
    return (Contest(request, metric, experiment, runs, menu, collected, judged is not None), *later)


def _sound(metric: str, request: Request, runs: Runs) -> list[Pair]:
    """Return the pairs with a finite error; the raw estimate of their protocol, if any, also has a finite error.

    All pairs, where an infinite error is a figure like others.
    """
    if request.metric_values.may_be_infinite(metric):
        return list(runs.of(metric))
    able = {pair for pair, errors in runs.of(metric).items() if np.isfinite(errors).all()}
    faulty = {protocol for protocol, method in runs.errors if method == RAW and (protocol, method) not in able}
    return [pair for pair in runs.errors if pair in able and pair[0] not in faulty]


def _proper_first(standings: tuple[Standing, ...]) -> tuple[Standing, ...]:
    """Return the standings with the best pair of proper frequencies first, if it costs at most 2 % of error.

    Among pairs with the same result, a method comes before a summary of draws, and the usual method first.
    """
    lowest = min(standing.ratio.value for standing in standings)
    tier = [standing for standing in standings if standing.rank == 1 and POSTPROCESSORS[standing.pair[1]].is_proper]
    near = [standing for standing in tier if standing.ratio.value <= AS_GOOD_AS_BEST * lowest]
    if not near:
        return standings
    least = SAME_RESULT * min(standing.ratio.value for standing in near)

    def order(standing: Standing) -> tuple[bool, bool, float]:
        return standing.pair[1] in SUMMARIES, standing.pair[1] != DEFAULT_PAIR[1], standing.ratio.value

    first = min((standing for standing in near if standing.ratio.value <= least), key=order)
    return (first, *(standing for standing in standings if standing is not first))


def _total_and_moved(contest: Contest, method: str) -> tuple[float | None, float | None]:
    """Return the sum of what a method makes of the collected estimate, and the l1 distance of the two.

    The sum is None if it is 1, and the distance without a raw estimate; both are where the estimate is not judged.
    """
    if contest.collected is None or not contest.judged:
        return None, None
    observed, given = contest.collected.observed, contest.collected.given
    result = POSTPROCESSORS[method].apply(replace(observed, domain=contest.request.domain))
    raw, total = observed.estimate if given is None else given, float(result.sum())
    return None if abs(total - 1) < ROUNDING else total, None if raw is None else float(np.abs(result - raw).sum())


def ranking_of(table: tuple[Contest, ...]) -> Ranking:
    """Return the ranking of a contest, with the ranking of the next round."""
    contest, *later = table
    request, experiment, metric = contest.request, contest.experiment, contest.metric
    rows = tuple(_row(standing, contest) for standing in contest.standings)
    single = replace(contest, metric=PER_CATEGORY)
    without_data = errors_without_data(experiment.metrics[metric], experiment.populations / experiment.n)
    uniform, zero = map(contest.mean, without_data.T) if contest.over_truths else without_data.mean(axis=0).tolist()
    total, moved = _total_and_moved(contest, rows[0].method)
    lowest = finite(contest.mean(contest.errors(contest.leader)))
    usual = request.usual if contest.collected is None else (usual_pair(contest.collected.oracle),)
    infinite = request.metric_values.may_be_infinite(metric)
    beside = [
        *(_baseline("raw", pair, contest) for pair in [(rows[0].protocol, RAW)] if pair in contest.runs.errors),
        Baseline("uniform", None, None, uniform, uniform, uniform, quotient(uniform, lowest), None, None),
        *(_baseline("default", pair, contest) for pair in usual),
        *central_rows(metric, request, lowest),
    ]
    return Ranking(
        request=request,
        metric=metric,
        source=request.source,
        recommendations=rows,
        baselines=tuple(row for row in beside if infinite or math.isfinite(row.error)),
        repetitions=max(len(contest.runs.errors[pair]) for pair in contest.menu),
        # Of a channel it would take longer than the simulation.
        detectable_frequency=None if request.channels else detectable(request.oracle(rows[0].protocol), request.n),
        warnings=(*request.warnings, *_left_out(contest)),
        error_without_data=finite(min(uniform, zero)),
        beats_uniform_guess=_beats(contest, rows[0], without_data),
        resolved=not contenders(contest.ranked, contest.ratio).open,
        experiment_id=experiment.id,
        total=total,
        moved=moved,
        leader=contest.leader,
        next_round=ranking_of((later[0],)) if later else None,
        single_categories=best_for_single_categories(metric, rows[0].pair, single.ranked, single.ratio),
    )


def _left_out(contest: Contest) -> list[str]:
    """Return a sentence for each method without a finite error for some protocols."""
    protocols: dict[str, list[str]] = {}
    runs, sound = contest.runs, set(_sound(contest.metric, contest.request, contest.runs))
    for protocol, method in runs.of(contest.metric):
        if (protocol, method) not in sound:
            protocols.setdefault(method, []).append(protocol)
    return [
        f"{method} has no finite {contest.metric} error with {listed(names)}: it is not ranked there"
        for method, names in protocols.items()
    ]


def _row(standing: Standing, contest: Contest) -> Recommendation:
    (protocol, method), (ratio, low, high) = standing.pair, standing.ratio.figures
    n, runs = contest.experiment.n, contest.runs
    oracle = contest.experiment.oracles[protocol]
    errors = contest.errors(standing.pair)
    figures = contest.figures(errors) if contest.over_truths else standing
    raw = None
    if (protocol, RAW) in runs.errors:  # over the repetitions of the row, so that the two share noise
        raw, mean = contest.mean(contest.errors((protocol, RAW))[: len(errors)]), contest.mean(errors)
        raw = figures.error * (raw / mean) if 0 < mean < math.inf else raw

    def measured(name: str, method: str) -> float | None:
        column = runs.column((protocol, method), name)[: len(errors)]
        return finite(float(without_rounding(column, METRICS[name].unit).mean()))

    worth = quotient(None if raw is None else measured("mse", RAW), measured("mse", method))
    return Recommendation(
        rank=standing.rank,
        tier=1 if standing.rank == 1 else 2,
        tied=standing.tied,
        protocol=protocol,
        method=method,
        error=figures.error,
        error_low=figures.low,
        error_high=figures.high,
        standard_error=figures.standard_error,
        spread=figures.spread,
        ratio_to_best=ratio,
        ratio_low=low,
        ratio_high=high,
        win_share=standing.win_share,
        repetitions=len(errors),
        error_without_postprocessing=raw,
        # The mean square of the raw estimate falls as 1/n.
        equivalent_users=None if worth is None else n * worth,
        mean_absolute_error=measured("mae", method),
        report_bits=oracle.report_bits,
        attack_success=contest.request.attack_success(protocol),
        probability_best=contest.probabilities.get(standing.pair),
        epsilon=getattr(oracle, "epsilon", None),
    )


def _baseline(kind: str, pair: Pair, contest: Contest) -> Baseline:
    errors = contest.errors(pair)
    figures = contest.figures(errors)
    ratio = contest.ratio(contest.ranked_errors(errors), contest.ranked[contest.leader])
    return Baseline(kind, *pair, figures.error, figures.low, figures.high, *ratio.figures)


def _beats(contest: Contest, first: Recommendation, without_data: NDArray[np.float64]) -> bool:
    """Return whether the error of the first row, including its interval, is below that of both answers without data.

    With several populations, the error is compared with the error without data for the same population.
    """
    errors = contest.errors(first.pair)
    if not contest.over_truths or first.error == math.inf:
        return first.error_high < float(without_data.mean(axis=0).min())
    rows = by_population(errors, len(without_data)) ** (1 / contest.power)
    gap = rows[:, None] - without_data[: len(rows)] ** (1 / contest.power)
    reach = t_quantile(len(gap)) * gap.std(axis=0, ddof=1) / math.sqrt(len(gap))
    return bool((gap.mean(axis=0) + reach < 0).all())
