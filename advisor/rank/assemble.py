"""From simulated errors to advice: rank the menu, add the rows to compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.question.request import Request
from advisor.rank.result import DEFAULT_PAIR, DETECTION_LEVEL, Baseline, Ranking, Recommendation, finite
from simulator import PROTOCOLS
from simulator._normal import normal_quantile
from simulator.benchmark import Experiment, Runs
from simulator.confidence import (
    Belief,
    belief_in,
    population_errors,
    population_range,
    probability_best,
    ranking_root,
)
from simulator.ranking import Pair, Standing, contenders, paired_ratio, rank, t_quantile

OTHERS_REPETITIONS = 20  # for the protocols that were not used: they are for the next round
Errors: TypeAlias = Mapping[Pair, NDArray[np.float64]]


@dataclass(frozen=True)
class _Contest:
    """Who competes, by which errors, and what the usual choice is.

    Attributes
    ----------
    errors
        For each pair ``(repetitions,)`` errors of the metric.
    menu
        The pairs that compete.
    default
        The usual choice.
    populations
        How many populations the repetitions go through; 1 where the truth is taken as known.
    root
        Which root of errors is averaged over populations, see `simulator.confidence.ranking_root`; 1 for one.
    belief
        How far several populations are to be believed.
    """

    errors: Errors
    menu: tuple[Pair, ...]
    default: Pair
    populations: int = 1
    root: int = 1
    belief: Belief | None = None

    def ranked_errors(self, pair: Pair) -> NDArray[np.float64]:
        """Return what a pair is ranked by: its errors, or for several populations roots of their mean errors."""
        errors = self.errors[pair]
        return errors if self.populations == 1 else population_errors(errors, self.populations, self.root)

    def error(self, pair: Pair) -> float:
        """Return the mean error; over several populations, the mean of roots, brought back.

        That is below the plain mean, which the hardest populations decide.
        """
        return float(self.ranked_errors(pair).mean()) ** self.root

    def interval(self, pair: Pair) -> tuple[float, float]:
        """Return the 95 % interval of the mean error.

        For several populations it holds the mean errors of 95 % of what may be the truth.
        """
        errors = self.errors[pair]
        if self.belief is not None:
            return population_range(errors, self.populations, self.belief, self.root)
        reach = t_quantile(len(errors)) * float(errors.std(ddof=1)) / len(errors) ** 0.5
        return max(0.0, float(errors.mean()) - reach), float(errors.mean()) + reach


def simulated_advice(metric: str, request: Request, experiment: Experiment, runs: Runs) -> Ranking:
    """Return the advice for one metric of a request whose menu was raced."""
    errors = runs.of(metric)
    menu = tuple(pair for pair in errors if pair[0] in request.protocols and pair[1] in request.methods)
    return _advice(metric, request, experiment, runs, _Contest(errors, menu, DEFAULT_PAIR))


def estimate_advice(metric: str, request: Request, experiment: Experiment, runs: Runs) -> Ranking:
    """Return the advice for one metric about an estimate: the methods for its protocol, and the next round."""
    used = request.collected.protocol if request.collected is not None else request.protocols[0]
    populations = len(experiment.populations)
    root = ranking_root(experiment.metrics[metric].degree) if populations > 1 else 1
    belief = belief_in(metric, ordered=request.ordered) if populations > 1 else None
    errors = runs.of(metric)
    fair = {pair: block[: others_repetitions(populations, runs.repetitions)] for pair, block in errors.items()}
    for_all = tuple(pair for pair in errors if pair[0] in request.protocols and pair[1] in request.methods)
    next_round = (
        _advice(metric, request, experiment, runs, _Contest(fair, for_all, DEFAULT_PAIR, populations, root, belief))
        if for_all
        else None  # constraints exclude all protocols for a next round
    )
    menu = tuple(pair for pair in errors if pair[0] == used and pair[1] in request.methods)
    contest = _Contest(errors, menu, (used, "norm_sub"), populations, root, belief)
    return _advice(metric, request, experiment, runs, contest, about_estimate=True, next_round=next_round)


def others_repetitions(populations: int, repetitions: int) -> int:
    """Return how many repetitions the protocols get that were not used: at most one for each population."""
    return min(OTHERS_REPETITIONS, repetitions, populations if populations > 1 else repetitions)


def _advice(
    metric: str,
    request: Request,
    experiment: Experiment,
    runs: Runs,
    contest: _Contest,
    *,
    about_estimate: bool = False,
    next_round: Ranking | None = None,
) -> Ranking:
    ranked = {pair: contest.ranked_errors(pair) for pair in contest.menu}
    standings = rank(ranked, {name: oracle.report_bits for name, oracle in experiment.oracles.items()}, contest.root)
    # Ranking in tiers is not by error alone; the lowest error is what all rows are compared with.
    lowest = min(ranked, key=lambda pair: float(ranked[pair].mean()))
    sure = _probabilities(standings, lowest, contest, main=about_estimate)
    rows = tuple(_row(standing, contest, experiment, runs, sure.get(standing.pair)) for standing in standings)
    noise = PROTOCOLS[rows[0].protocol](request.k, request.epsilon).noise(request.n)
    without_data = _errors_without_data(metric, experiment)
    uniform, zero = ((without_data ** (1 / contest.root)).mean(axis=0) ** contest.root).tolist()
    reference = contest.error(lowest)
    return Ranking(
        request=request,
        metric=metric,
        source=request.source,
        recommendations=rows,
        baselines=(
            _baseline("raw", (rows[0].protocol, "none"), lowest, contest),
            Baseline(
                "uniform", None, None, uniform, uniform, uniform, uniform / reference if reference else None, None, None
            ),
            _baseline("default", contest.default, lowest, contest),
        ),
        repetitions=max(len(contest.errors[pair]) for pair in contest.menu),
        detectable_frequency=normal_quantile(1 - DETECTION_LEVEL) * noise.sd,
        warnings=request.warnings,
        error_without_data=min(uniform, zero),
        beats_uniform_guess=_beats(contest, lowest, without_data),
        resolved=not contenders(ranked, contest.root).open,
        identify=partial(str, experiment.id),
        next_round=next_round,
    )


def _probabilities(
    standings: tuple[Standing, ...], lowest: Pair, contest: _Contest, *, main: bool
) -> dict[Pair, float]:
    """Return how likely each pair is the best; only several collections from each population can tell."""
    if contest.belief is None or not main:
        return {}
    return probability_best({standing.pair: standing.win_share for standing in standings}, lowest, contest.belief)


def _errors_without_data(metric: str, experiment: Experiment) -> NDArray[np.float64]:
    """Return ``(populations, 2)`` errors of two answers that use no data: equal frequencies, and 0 for all."""
    measure, k = experiment.metrics[metric], experiment.counts.shape[-1]
    answers = np.stack([np.full(k, 1 / k), np.zeros(k)])
    return np.stack([measure(answers, row / experiment.n) for row in experiment.populations])


def _beats(contest: _Contest, lowest: Pair, without_data: NDArray[np.float64]) -> bool:
    """Tell whether the lowest error, interval included, is below that of both answers without data."""
    if contest.populations == 1 or len(without_data) != contest.populations:
        return contest.interval(lowest)[1] < float(without_data.mean(axis=0).min())
    errors = population_errors(contest.errors[lowest], contest.populations)
    gap = errors[:, None] - without_data[: len(errors)]
    reach = t_quantile(len(gap)) * gap.std(axis=0, ddof=1) / math.sqrt(len(gap))
    return bool((gap.mean(axis=0) + reach < 0).all())


def _row(
    standing: Standing, contest: _Contest, experiment: Experiment, runs: Runs, probability: float | None
) -> Recommendation:
    protocol, method = standing.pair
    oracle, errors = experiment.oracles[protocol], contest.errors[standing.pair]
    linear = oracle.linear
    raw_variance = math.nan if linear is None else float(linear.covariance(experiment.n).entry(experiment.truth).mean())
    squares, absolutes = (runs.of(name).get(standing.pair) for name in ("mse", "mae"))
    mean_square = None if squares is None else float(squares[: len(errors)].mean())
    low, high = contest.interval(standing.pair)
    spread = float(errors.std(ddof=1))
    return Recommendation(
        rank=standing.rank,
        tier=standing.tier,
        tied=standing.tied,
        protocol=protocol,
        method=method,
        error=contest.error(standing.pair),
        error_low=low,
        error_high=high,
        standard_error=spread / math.sqrt(len(errors)),
        spread=spread,
        ratio_to_best=finite(standing.ratio.value),
        ratio_low=finite(standing.ratio.low),
        ratio_high=finite(standing.ratio.high),
        win_share=standing.win_share,
        repetitions=len(errors),
        error_without_postprocessing=_raw_error(protocol, len(errors), contest),
        # Raw variance falls as 1/n, so the n that gives this mean square is n * raw variance / mean square.
        equivalent_users=(
            float(experiment.n)
            if method == "none"
            else experiment.n * raw_variance / mean_square
            if mean_square and linear is not None
            else None
        ),
        mean_absolute_error=None if absolutes is None else float(absolutes[: len(errors)].mean()),
        report_bits=oracle.report_bits,
        attack_success=oracle.attack_success,
        probability_best=probability,
    )


def _raw_error(protocol: str, repetitions: int, contest: _Contest) -> float:
    """Return the error of the raw estimate over the first repetitions, those of a row, so that the two share noise."""
    errors = contest.errors[protocol, "none"]
    if contest.populations > 1:
        return contest.error((protocol, "none"))
    return float(errors[:repetitions].mean())


def _baseline(kind: str, pair: Pair, lowest: Pair, contest: _Contest) -> Baseline:
    ratio = paired_ratio(contest.ranked_errors(pair), contest.ranked_errors(lowest), contest.root)
    return Baseline(
        kind,
        *pair,
        contest.error(pair),
        *contest.interval(pair),
        finite(ratio.value),
        finite(ratio.low),
        finite(ratio.high),
    )
