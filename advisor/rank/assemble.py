"""From simulated errors to advice: who competes, who is first, and the rows to compare with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, listed
from advisor.question.request import Request
from advisor.rank.central import central_rows
from advisor.rank.result import DEFAULT_PAIR, Baseline, Ranking, Recommendation, finite, usual_pair
from advisor.rank.trade_offs import best_for_single_categories
from simulator.benchmark import Experiment, Runs
from simulator.confidence import (
    UNFITTED,
    Belief,
    belief_in,
    population_errors,
    population_range,
    probability_best,
    ranking_root,
)
from simulator.detection import detectable
from simulator.ranking import MeanError, Pair, Standing, contenders, leading, mean_error, paired_ratio, rank, t_quantile

OTHERS_REPETITIONS = 20  # for the protocols that were not used: they are for the next round
RAW, PER_CATEGORY = "none", "mae"


@dataclass(frozen=True)
class Contest:
    """Who competes for the rows of one table, and what decides it."""

    metric: str
    experiment: Experiment
    runs: Runs  # the repetitions that decide
    menu: tuple[Pair, ...]  # the pairs that compete
    default: Pair  # the usual choice
    belief: Belief | None = None  # how far several populations are to be believed; None where the truth is known
    about_estimate: bool = False  # whether it is about what was collected, not about another collection

    @property
    def populations(self) -> int:
        """How many populations the repetitions go through; 1 where the truth is taken as known."""
        return 1 if self.belief is None else len(self.experiment.populations)

    @property
    def root(self) -> int:
        """Which root of errors is averaged over populations, see `simulator.confidence.ranking_root`; 1 for one."""
        return 1 if self.belief is None else ranking_root(self.experiment.metrics[self.metric].degree)

    def ranked_errors(self, pair: Pair) -> NDArray[np.float64]:
        """Return what a pair is ranked by: its errors, or for several populations roots of their mean errors."""
        errors = self.runs.column(pair, self.metric)
        return errors if self.belief is None else population_errors(errors, self.populations, self.root)

    def figures(self, errors: NDArray[np.float64]) -> MeanError:
        """Return the mean error and its 95 % interval.

        Over several populations it is the mean of roots, brought back, which is below the plain mean that the hardest
        populations decide; and the interval holds the mean errors of 95 % of what may be the truth.
        """
        plain = mean_error(errors)
        if self.belief is None:
            return plain
        low, high = population_range(errors, self.populations, self.belief, self.root)
        return plain._replace(error=self.mean(errors), low=low, high=high)

    def mean(self, errors: NDArray[np.float64]) -> float:
        """Return the mean error of `figures` alone."""
        if self.belief is None:
            return mean_error(errors).error
        return float(population_errors(errors, self.populations, self.root).mean()) ** self.root

    @cached_property
    def raw_variances(self) -> dict[str, float]:
        """Mean variance of the raw frequencies, for each protocol of the menu that estimates linearly."""
        n, truth = self.experiment.n, self.experiment.truth
        linear = {name: self.experiment.oracles[name].linear for name in dict.fromkeys(name for name, _ in self.menu)}
        return {name: float(one.covariance(n).entry(truth).mean()) for name, one in linear.items() if one is not None}

    @cached_property
    def ranked(self) -> dict[Pair, NDArray[np.float64]]:
        """What each pair of the menu is ranked by."""
        return {pair: self.ranked_errors(pair) for pair in self.menu}

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The menu, ranked."""
        costs = {name: oracle.cost for name, oracle in self.experiment.oracles.items()}
        return rank(self.ranked, costs, self.root)

    @cached_property
    def leader(self) -> Pair:
        """The pair which all are compared with. Ranking in tiers is not by error alone."""
        return leading(self.ranked)

    @cached_property
    def probabilities(self) -> dict[Pair, float]:
        """How likely each pair is the best; only several collections from each population can tell."""
        # One alone wins for want of others.
        if self.belief is None or self.belief is UNFITTED or not self.about_estimate or len(self.menu) < 2:
            return {}
        wins = {standing.pair: standing.win_share for standing in self.standings}
        return probability_best(wins, self.leader, self.belief)

    @cached_property
    def chosen(self) -> tuple[Pair, ...]:
        """The pairs whose error is below what it should be, as they were chosen by it from several.

        The range of several populations is fitted to errors of chosen pairs (`simulator.confidence`).
        """
        return () if len(self.menu) < 2 or self.belief is not None else (self.standings[0].pair, self.leader)


def contests(
    metric: str, request: Request, experiment: Experiment, runs: Runs, combination: Pair | None = None
) -> tuple[Contest, ...]:
    """Return the contest for one metric of a request; about an estimate, a second one for the next round.

    There is no second one where constraints exclude all protocols for it.

    combination: the combination of methods that competes too, if any.

    Raises InputError if no pair has a finite error.
    """
    sound = _sound(metric, runs)
    menu = tuple(pair for pair in sound if pair[0] in request.protocols and pair[1] in request.methods)
    populations = len(experiment.populations)
    belief = None
    if request.collected is not None:
        used = request.collected.protocol
        if populations > 1:
            belief = belief_in(metric, ordered=request.ordered, surrogate=request.surrogate)
        most = others_repetitions(populations, runs.repetitions)
        fair = Runs(runs.experiment_id, runs.metrics, runs.first, {pair: runs.errors[pair][:most] for pair in sound})
        later = [Contest(metric, experiment, fair, menu, DEFAULT_PAIR, belief)] if menu else []
        menu = tuple(pair for pair in sound if pair[0] == used and (pair[1] in request.methods or pair == combination))
        default = usual_pair(request.oracle(used))
    else:
        later, default = [], DEFAULT_PAIR
    if not menu:
        raise InputError(f"no pair has a finite {metric} error: ask for other protocols, methods or another metric")
    about_estimate = request.collected is not None
    return (Contest(metric, experiment, runs, menu, default, belief, about_estimate), *later)


def _sound(metric: str, runs: Runs) -> list[Pair]:
    """Return the pairs that have a finite error, and so has the raw estimate of their protocol, if it has one."""
    able = {pair for pair, errors in runs.of(metric).items() if np.isfinite(errors).all()}
    faulty = {protocol for protocol, method in runs.errors if method == RAW and (protocol, method) not in able}
    return [pair for pair in runs.errors if pair in able and pair[0] not in faulty]


def others_repetitions(populations: int, repetitions: int) -> int:
    """Return how many repetitions the protocols get that were not used: at most one for each population."""
    return min(OTHERS_REPETITIONS, repetitions, populations if populations > 1 else repetitions)


def ranking_of(request: Request, table: tuple[Contest, ...], again: Runs | None) -> Ranking:
    """Return the ranking of a contest, and that of the next round.

    again: fresh repetitions of the pairs that were chosen: what the first pair, and the raw estimate of its protocol,
        are said to reach is measured there. What compares pairs is of the repetitions that all of them share.
    """
    contest, *later = table
    experiment, metric = contest.experiment, contest.metric
    rows = tuple(_row(standing, contest, contest.runs) for standing in contest.standings)
    first = _row(contest.standings[0], contest, _measured(contest, contest.standings[0].pair, again))
    single = replace(contest, metric=PER_CATEGORY)
    without_data = _errors_without_data(metric, experiment)
    uniform, zero = ((without_data ** (1 / contest.root)).mean(axis=0) ** contest.root).tolist()
    lowest = contest.mean(contest.runs.column(contest.leader, metric))
    beside = [
        *(_baseline("raw", pair, contest) for pair in [(rows[0].protocol, RAW)] if pair in contest.runs.errors),
        Baseline("uniform", None, None, uniform, uniform, uniform, uniform / lowest if lowest else None, None, None),
        _baseline("default", contest.default, contest),
        *central_rows(metric, request, lowest),
    ]
    return Ranking(
        request=request,
        metric=metric,
        source=request.source,
        recommendations=(first, *rows[1:]),
        baselines=tuple(row for row in beside if math.isfinite(row.error)),
        repetitions=max(len(contest.runs.errors[pair]) for pair in contest.menu),
        detectable_frequency=detectable(request.oracle(rows[0].protocol), request.n),
        warnings=(*request.warnings, *_left_out(contest)),
        error_without_data=finite(min(uniform, zero)),
        beats_uniform_guess=_beats(contest, first, without_data),
        resolved=not contenders(contest.ranked, contest.root).open,
        identify=partial(str, experiment.id),
        leader=contest.leader,
        next_round=ranking_of(request, (later[0],), again) if later else None,
        compared=rows if first.fresh else (),
        single_categories=best_for_single_categories(metric, rows[0].pair, single.ranked, single.root),
    )


def _left_out(contest: Contest) -> list[str]:
    """Return a sentence for each method that has no finite error with some protocols."""
    protocols: dict[str, list[str]] = {}
    runs, sound = contest.runs, set(_sound(contest.metric, contest.runs))
    for protocol, method in runs.of(contest.metric):
        if (protocol, method) not in sound:
            protocols.setdefault(method, []).append(protocol)
    return [
        f"{method} has no finite {contest.metric} error with {listed(names)}: it is not ranked there"
        for method, names in protocols.items()
    ]


def _measured(contest: Contest, pair: Pair, again: Runs | None) -> Runs:
    """Return the repetitions that tell what a pair reaches: fresh ones, if it was chosen by the others."""
    if again is None or pair not in contest.chosen or pair not in _sound(contest.metric, again):
        return contest.runs
    return again


def _row(standing: Standing, contest: Contest, runs: Runs) -> Recommendation:
    protocol, method = standing.pair
    n = contest.experiment.n
    oracle = contest.experiment.oracles[protocol]
    errors = runs.column(standing.pair, contest.metric)[: contest.runs.repetitions]
    figures = contest.figures(errors)
    raw = None
    if (protocol, RAW) in runs.errors:  # over the repetitions of the row, so that the two share noise
        raw = contest.mean(runs.column((protocol, RAW), contest.metric)[: len(errors)])
    mean_square, absolute = (
        finite(float(runs.column(standing.pair, name)[: len(errors)].mean())) for name in ("mse", "mae")
    )
    variance = contest.raw_variances.get(protocol)
    return Recommendation(
        rank=standing.rank,
        tier=standing.tier,
        tied=standing.tied,
        protocol=protocol,
        method=method,
        error=figures.error,
        error_low=figures.low,
        error_high=figures.high,
        standard_error=figures.standard_error,
        spread=figures.spread,
        ratio_to_best=finite(standing.ratio.value),
        ratio_low=finite(standing.ratio.low),
        ratio_high=finite(standing.ratio.high),
        win_share=standing.win_share,
        repetitions=len(errors),
        error_without_postprocessing=raw,
        equivalent_users=(
            float(n)
            if method == RAW
            # Raw variance falls as 1/n, so the n that gives this mean square is n * raw variance / mean square.
            else n * variance / mean_square
            if mean_square and variance is not None
            else None
        ),
        mean_absolute_error=absolute,
        report_bits=oracle.report_bits,
        attack_success=oracle.attack_success,
        probability_best=contest.probabilities.get(standing.pair),
        fresh=runs is not contest.runs,
        epsilon=getattr(oracle, "epsilon", None),
    )


def _baseline(kind: str, pair: Pair, contest: Contest) -> Baseline:
    figures = contest.figures(contest.runs.column(pair, contest.metric))
    ratio = paired_ratio(contest.ranked_errors(pair), contest.ranked[contest.leader], contest.root)
    return Baseline(kind, *pair, figures.error, figures.low, figures.high, *map(finite, ratio))


def _errors_without_data(metric: str, experiment: Experiment) -> NDArray[np.float64]:
    """Return ``(populations, 2)`` errors of two answers that use no data: equal frequencies, and 0 for all."""
    measure, k = experiment.metrics[metric], experiment.counts.shape[-1]
    answers = np.stack([np.full(k, 1 / k), np.zeros(k)])
    return np.stack([measure(answers, row / experiment.n) for row in experiment.populations])


def _beats(contest: Contest, first: Recommendation, without_data: NDArray[np.float64]) -> bool:
    """Tell whether the error of the first row, interval included, is below that of both answers without data.

    Over several populations, what is compared is the error and that without data of the same population, and of both
    the root by which populations are averaged: else it could be below where the figures that are shown are above.
    """
    if contest.populations == 1 or len(without_data) != contest.populations:
        return first.error_high < float(without_data.mean(axis=0).min())
    errors = population_errors(contest.runs.column(first.pair, contest.metric), contest.populations, contest.root)
    gap = errors[:, None] - without_data[: len(errors)] ** (1 / contest.root)
    reach = t_quantile(len(gap)) * gap.std(axis=0, ddof=1) / math.sqrt(len(gap))
    return bool((gap.mean(axis=0) + reach < 0).all())
