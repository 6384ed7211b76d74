"""Look-ups judged: questions simulated on histograms that the knowledge was not made from, and the regret of choices.

Shared by `judge_predictions.py` and `judge_look_ups.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import common
import numpy as np

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.profile import SKEW_MAX, Profile, profile_of
from knowledge.menu import ALIASES, ORDERED_METRICS, Labels
from knowledge.predict import predicted
from knowledge.ranking import LookUp, LookUpRow, first_pair, rank, tree_reasons
from simulator import PROTOCOLS, rng_for
from simulator._types import FloatArray, IntArray
from simulator.benchmark import simulate
from simulator.draws import multinomial
from simulator.populations import apportion

USERS, BUDGETS = (10_000, 100_000, 1_000_000), (0.5, 1.0, 2.0, 4.0)
MEASURED = ("l1", "l2", "kl", "emd", "range", "topk")
MODEL, BLIND, TREE, DEFAULT = RULES = ("model", "without data", "tree", "oue + norm_sub")
SINGLE, USUAL = "single best", ("oue", "norm_sub")


@dataclass(frozen=True)
class Histogram:
    """Counts ``(k,)`` to judge on, and whether the categories have an order."""

    name: str
    counts: IntArray
    ordered: bool


class PairErrors(NamedTuple):
    """Simulated log errors of a pair in one metric."""

    measured: float
    halves: tuple[float, float]  # the same by every other repetition


@dataclass(frozen=True)
class JudgedSetting:
    """Simulated log errors of one question, and what look-ups and rules choose."""

    # histogram, n, epsilon: the question
    histogram: str
    n: int
    epsilon: float
    errors: Mapping[str, Mapping[str, PairErrors]]  # for each metric those of every pair, by its name
    picks: Mapping[str, Mapping[str, str]]  # for each metric the name of the pair of each of `RULES`
    # predicted, blind: for each metric what a look-up lists first for the histogram, and for its k and skew alone
    predicted: Mapping[str, LookUpRow]
    blind: Mapping[str, LookUpRow]

    @property
    def ordered(self) -> bool:
        """Whether the categories have an order."""
        return not ORDERED_METRICS.isdisjoint(self.errors)


@dataclass(frozen=True)
class Judging:
    """What is asked about each histogram, and how it is simulated."""

    # users, epsilons, metrics, protocols: the questions; all protocols where none is named
    users: Sequence[int] = USERS
    epsilons: Sequence[float] = BUDGETS
    metrics: Sequence[str] = MEASURED
    protocols: Sequence[str] = ()
    # repetitions, seed, jobs: of the simulation; the numbers do not depend on the jobs
    repetitions: int = 40
    seed: int = 0
    jobs: int = 1


def settings(histograms: Sequence[Histogram], judging: Judging) -> tuple[JudgedSetting, ...]:
    """Simulate each question about each histogram, and look it up."""
    return tuple(
        _setting(histogram, profile, n, epsilon, judging)
        for histogram, n in product(histograms, judging.users)
        for profile in (profile_of(histogram.counts, n),)
        for epsilon in judging.epsilons
    )


def _setting(histogram: Histogram, profile: Profile, n: int, epsilon: float, judging: Judging) -> JudgedSetting:
    ordered, skew = histogram.ordered, min(profile.skew, SKEW_MAX)
    names = judging.protocols or [name for name, kind in PROTOCOLS.items() if ordered or not kind.ordered_only]
    fitting = [metric for metric in judging.metrics if ordered or metric not in ORDERED_METRICS]
    seen, blind = (
        predicted(frequencies, epsilon, n, names, ordered=ordered)
        for frequencies in (profile, AssumedSkew(profile.k, skew, ordered))
    )
    answers = {metric: rank(seen, metric) for metric in fitting}
    without = {metric: rank(blind, metric) for metric in fitting}
    pairs = tuple(dict.fromkeys(row.pair for answer in answers.values() for row in answer.rows))
    simulated = common.experiment(
        apportion(histogram.counts, n), epsilon, pairs, fitting, ordered=ordered, seed=judging.seed
    )
    runs = simulate(simulated, 0, judging.repetitions, jobs=judging.jobs)
    named, unseen = ({metric: _first(own[metric]) for metric in fitting} for own in (answers, without))

    def picked(metric: str) -> tuple[Labels, ...]:
        return named[metric].pair, unseen[metric].pair, _by_tree(answers[metric], skew), USUAL

    return JudgedSetting(
        histogram=histogram.name,
        n=n,
        epsilon=epsilon,
        errors={
            metric: {_name(pair): _pair_errors(errors) for pair, errors in runs.of(metric).items()}
            for metric in fitting
        },
        picks={metric: dict(zip(RULES, map(_name, picked(metric)), strict=True)) for metric in fitting},
        predicted=named,
        blind=unseen,
    )


def _first(answer: LookUp) -> LookUpRow:
    pair = first_pair(answer)
    return next(row for row in answer.rows if row.pair == pair)


def _by_tree(answer: LookUp, skew: float) -> Labels:
    """Return the pair that the tree names; what the model lists first where that one does not compete."""
    first = first_pair(answer)
    reasons = tree_reasons(answer, skew, first)
    return first if reasons.ratio is None else reasons.leaf.pair


def _pair_errors(errors: FloatArray) -> PairErrors:
    return PairErrors(_log_mean(errors), (_log_mean(errors[::2]), _log_mean(errors[1::2])))


def _log_mean(errors: FloatArray) -> float:
    return math.log(max(float(errors.mean()), 1e-300))


def _name(pair: Labels) -> str:
    return f"{pair[0]} + {ALIASES.get(pair[1], pair[1])}"


def figures(settings: Sequence[JudgedSetting], metric: str, *, blind: bool = False) -> tuple[float, float]:
    """Return how far off the figures of the named pair are (median), and the share of intervals that hold the error.

    blind: those of look-ups that know only k and the skew.
    """
    rows = [(one.blind if blind else one.predicted)[metric] for one in settings]
    measured = [math.exp(one.errors[metric][_name(row.pair)].measured) for one, row in zip(settings, rows, strict=True)]
    both = list(zip(rows, measured, strict=True))
    off = float(np.median([abs(math.log(row.error / error)) for row, error in both]))
    return math.expm1(off), float(np.mean([row.low <= error <= row.high for row, error in both]))


def stored(path: str, ordered: bool | None = None) -> Histogram:
    """Return the histogram of a file; ordered: as the labels say, unless given."""
    domain = common.stored(path)
    return Histogram(Path(path).stem, domain.counts, domain.ordered if ordered is None else ordered)


def holdout() -> tuple[Histogram, ...]:
    """Return histograms of shapes that no part of the knowledge was made from."""
    return tuple(
        Histogram(f"{name} {k}", apportion(weights(k, rng_for(0, "unseen", name, k)), 1_000_000), ordered)
        for name, ordered, weights in _SHAPES
        for k in (12, 60, 300)
    )


def _laplace(k: int, rng: np.random.Generator) -> FloatArray:
    return np.exp(-np.abs(np.arange(k) - rng.uniform(0.2, 0.8) * k) / (0.1 * k))


def _heaped(k: int, rng: np.random.Generator) -> FloatArray:
    """Return a bell whose every fifth value draws in its neighbours, as ages in surveys do."""
    bell = np.exp(-(((np.arange(k) - 0.4 * k) / (0.25 * k)) ** 2))
    return bell * np.where(np.arange(k) % 5 == 0, rng.uniform(2, 5), 1.0)


def _mandelbrot(k: int, rng: np.random.Generator) -> FloatArray:
    ranks = np.arange(k, dtype=np.float64) + rng.uniform(2, 8)
    return np.exp(-1.6 * np.log(ranks))


def _stretched(k: int, rng: np.random.Generator) -> FloatArray:
    return rng.permutation(np.exp(-((np.arange(k) / (0.05 * k)) ** 0.5)))


def _seasons(k: int, rng: np.random.Generator) -> FloatArray:
    """Return a wave with a few bursts, as counts by week."""
    wave = 1.2 + np.sin(np.arange(k) * 2 * math.pi / max(6.0, k / 4))
    return wave + 20 * (rng.random(k) < 0.02)


def _classes(k: int, rng: np.random.Generator) -> FloatArray:
    """Return three classes of frequency in random order."""
    frequencies: FloatArray = np.repeat([1.01, 10.01, 100.01], multinomial(k, np.array([0.7, 0.25, 0.05]), rng))
    return rng.permutation(frequencies)


_SHAPES: tuple[tuple[str, bool, Callable[[int, np.random.Generator], FloatArray]], ...] = (
    ("laplace", True, _laplace),
    ("heaped", True, _heaped),
    ("mandelbrot", True, _mandelbrot),
    ("stretched", False, _stretched),
    ("seasons", True, _seasons),
    ("classes", False, _classes),
)


@dataclass(frozen=True)
class Score:
    """How well one chooser does on one metric.

    A regret is the error over that of the best choice, less 1. The best choice is found on one half of the repetitions
    and measured on the other, and the other way round: the lowest of many noisy errors would be too low, and luck would
    count as regret. So a regret can come out a little below 0.
    """

    settings: int  # number of questions
    regret: float  # geometric mean
    regret_95: float  # 95th percentile
    regret_worst: float
    closed_gap: float  # share of the log regret of the single best choice that is avoided


def evaluate(settings: Sequence[JudgedSetting], metric: str) -> dict[str, Score]:
    """Score each of `RULES`, and the single best choice for all settings in hindsight, in one metric."""
    asked = [setting for setting in settings if metric in setting.errors]
    options = [setting.errors[metric] for setting in asked]
    common = set(options[0]).intersection(*options)
    single = min(sorted(common), key=lambda name: sum(errors[name].measured for errors in options))
    picks = {rule: [setting.picks[metric][rule] for setting in asked] for rule in RULES}
    picks[SINGLE] = [single] * len(asked)
    best = np.array([_best(errors) for errors in options])
    regrets = {
        rule: np.array([sum(errors[name].halves) / 2 for errors, name in zip(options, names, strict=True)]) - best
        for rule, names in picks.items()
        # A rule whose protocol is not on the menu is left out.
        if all(name in errors for errors, name in zip(options, names, strict=True))
    }
    gap = float(regrets[SINGLE].mean())
    return {
        rule: Score(
            settings=len(asked),
            regret=float(np.expm1(regret.mean())),
            regret_95=float(np.expm1(np.percentile(regret, 95))),
            regret_worst=float(np.expm1(regret.max())),
            closed_gap=1 - float(regret.mean()) / gap if gap > 0 else math.nan,
        )
        for rule, regret in regrets.items()
    }


def _best(errors: Mapping[str, PairErrors]) -> float:
    """Log error of the best pair: found on one half, measured on the other, both ways."""
    halves = [one.halves for one in errors.values()]
    return (min(halves, key=itemgetter(0))[1] + min(halves, key=itemgetter(1))[0]) / 2
