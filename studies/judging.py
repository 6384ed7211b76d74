"""Look-ups judged: questions simulated on histograms that the knowledge was not made from, and the regret of choices.

Shared by `judge_predictions.py` and `judge_look_ups.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import common
import numpy as np

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.profile import SKEW_MAX, Profile, profile_of
from knowledge.menu import ALIASES, ORDERED_METRICS, Labels
from knowledge.predict import noises_of, predicted
from knowledge.ranking import LookUp, LookUpRow, first_pair, rank, tree_reasons
from simulator import PROTOCOLS, frequency_oracles, rng_for
from simulator._types import FloatArray, IntArray
from simulator.benchmark import simulate
from simulator.draws import multinomial
from simulator.populations import apportion

USERS, BUDGETS = (10_000, 100_000, 1_000_000), (0.5, 1.0, 2.0, 4.0)
MEASURED = ("l1", "l2", "kl", "emd", "range", "topk")


@dataclass(frozen=True)
class Histogram:
    """Counts ``(k,)`` to judge on, and whether the categories have an order."""

    name: str
    counts: IntArray
    ordered: bool


class PairErrors(NamedTuple):
    """Log errors of a pair in one metric."""

    pair: Labels
    measured: float  # simulated
    halves: tuple[float, float]  # the same by every other repetition
    predicted: float


@dataclass(frozen=True)
class JudgedSetting:
    """Simulated and predicted log errors of one question."""

    # histogram, n, epsilon: the question
    histogram: str
    n: int
    epsilon: float
    errors: Mapping[str, Sequence[PairErrors]]  # for each metric those of every pair
    tree: Mapping[str, Labels]  # for each metric the pair that the decision tree names
    blind: Mapping[str, LookUpRow]  # for each metric what a look-up names that knows no more than k and the skew
    smallest: str  # of randomised response and OUE the protocol with the smaller variance
    # For each metric the pair that a look-up lists first, under the name of a protocol if it is asked for that one
    # alone, and under ``""`` if for all
    choice: Mapping[str, Mapping[str, Labels]]

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


def without_data(settings: Sequence[JudgedSetting], metric: str) -> tuple[float, float]:
    """Return how far off figures without data are (median), and the share of their intervals that hold the error."""
    rows = [one.blind[metric] for one in settings]
    measured = [
        math.exp(next(pair.measured for pair in one.errors[metric] if pair.pair == row.pair))
        for one, row in zip(settings, rows, strict=True)
    ]
    both = list(zip(rows, measured, strict=True))
    off = float(np.median([abs(math.log(row.error / error)) for row, error in both]))
    return math.expm1(off), float(np.mean([row.low <= error <= row.high for row, error in both]))


def _setting(histogram: Histogram, profile: Profile, n: int, epsilon: float, judging: Judging) -> JudgedSetting:
    ordered = histogram.ordered
    names = judging.protocols or [name for name, kind in PROTOCOLS.items() if ordered or not kind.ordered_only]
    fitting = [metric for metric in judging.metrics if ordered or metric not in ORDERED_METRICS]
    # Answers for all protocols together, under the name "", and for each alone.
    answers: dict[str, dict[str, LookUp]] = {}
    for name, menu in [*((name, (name,)) for name in names), ("", tuple(names))]:
        prediction = predicted(profile, epsilon, n, menu, ordered=ordered)
        answers[name] = {metric: rank(prediction, metric) for metric in fitting}
    every = answers[""]
    pairs = tuple(dict.fromkeys(row.pair for metric in fitting for row in every[metric].rows))
    simulated = common.experiment(
        apportion(histogram.counts, n), epsilon, pairs, fitting, ordered=ordered, seed=judging.seed
    )
    runs = simulate(simulated, 0, judging.repetitions, jobs=judging.jobs)
    usual = noises_of(profile.k, epsilon, n, ("grr", "oue"))
    blind = predicted(AssumedSkew(profile.k, min(profile.skew, SKEW_MAX), ordered), epsilon, n, names, ordered=ordered)
    errors = {metric: runs.of(metric) for metric in fitting}
    return JudgedSetting(
        histogram=histogram.name,
        n=n,
        epsilon=epsilon,
        errors={name: [_pair_errors(row, own[row.pair]) for row in every[name].rows] for name, own in errors.items()},
        tree={metric: _by_tree(every[metric], profile.skew) for metric in fitting},
        blind={metric: _named(rank(blind, metric)) for metric in fitting},
        smallest=min(usual, key=lambda name: usual[name].sd),
        choice={metric: {name: first_pair(own[metric]) for name, own in answers.items()} for metric in fitting},
    )


def _by_tree(answer: LookUp, skew: float) -> Labels:
    """Return the pair that the tree names; what the model lists first where that one does not compete."""
    first = first_pair(answer)
    reasons = tree_reasons(answer, skew, first)
    return first if reasons.ratio is None else reasons.leaf.pair


def _named(answer: LookUp) -> LookUpRow:
    pair = first_pair(answer)
    return next(row for row in answer.rows if row.pair == pair)


def _pair_errors(row: LookUpRow, errors: FloatArray) -> PairErrors:
    halves = _log_mean(errors[::2]), _log_mean(errors[1::2])
    return PairErrors(row.pair, _log_mean(errors), halves, math.log(row.error))


def _log_mean(errors: FloatArray) -> float:
    return math.log(max(float(errors.mean()), 1e-300))


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


WORSE = 1.05  # over the single best: from here on a choice counts as worse than it
METHOD, PAIR = "method", "pair"
MODEL, SINGLE, BLIND = "model", "single best", "without data"
RULES = (MODEL, BLIND, "tree", "oue + norm_sub", "variance rule + norm_sub")


@dataclass(frozen=True)
class Score:
    """How well one chooser does on one metric.

    A regret is the error over that of the best choice, less 1. The best choice is found on one half of the repetitions
    and measured on the other, and the other way round: the lowest of many noisy errors would be too low, and luck would
    count as regret. So a regret can come out a little below 0.
    """

    metric: str
    task: str  # ``method``: choose the method for a given protocol; ``pair``: choose both
    chooser: str  # one of `RULES`, or `SINGLE`
    settings: int  # number of questions
    regret: float  # geometric mean
    regret_95: float  # 95th percentile
    regret_worst: float
    closed_gap: float  # share of the log regret of the single best choice that is avoided
    worse_than_single: float  # share of the settings whose error is more than 5 % above that of the single best choice
    top_1: float  # share of the settings in which the choice is the best
    top_3: float  # or among the best three
    prediction_error: float  # median distance of the predicted error from the simulated one; NaN but for the model
    single_best: str  # the single best fixed choice, in hindsight


def evaluate(settings: Sequence[JudgedSetting], *, tasks: Sequence[str] = (METHOD, PAIR)) -> tuple[Score, ...]:
    """Score the model, the tree and three baselines on simulated questions, for each metric and task."""
    scores: list[Score] = []
    for metric in dict.fromkeys(metric for setting in settings for metric in setting.errors):
        for task in tasks:
            questions = list(_questions(metric, task, settings))
            single = _single_best(questions)
            for chooser in (*questions[0].picks, SINGLE):
                picks = [question.picks.get(chooser, single) for question in questions]
                # A baseline whose protocol is not on the menu is left out.
                if all(pick in question.options for question, pick in zip(questions, picks, strict=True)):
                    scores.append(_score(metric, task, chooser, questions, picks, single))
    return tuple(scores)


@dataclass(frozen=True)
class _Question:
    """One choice to make."""

    options: Mapping[str, PairErrors]  # by name, IBU under one name
    picks: Mapping[str, str]  # what a look-up lists first, and what rules would choose

    @cached_property
    def best(self) -> float:
        """Log error of the best option: found on one half, measured on the other, both ways."""
        halves = [option.halves for option in self.options.values()]
        return (min(halves, key=itemgetter(0))[1] + min(halves, key=itemgetter(1))[0]) / 2


def _questions(metric: str, task: str, settings: Sequence[JudgedSetting]) -> Iterator[_Question]:
    """Yield the questions of the settings: which pair to use, or which method with each protocol."""
    for setting in settings:
        if metric not in setting.errors:
            continue
        errors, choice = setting.errors[metric], setting.choice[metric]
        if task == PAIR:
            usual = (("oue", "norm_sub"), (setting.smallest, "norm_sub"))
            pairs = (choice[""], setting.blind[metric].pair, setting.tree[metric], *usual)
            picks = dict(zip(RULES, map(_name, pairs), strict=True))
            yield _Question({_name(option.pair): option for option in errors}, picks)
            continue
        for protocol in (name for name in choice if name in frequency_oracles()):
            options = {_plain(option.pair[1]): option for option in errors if option.pair[0] == protocol}
            # No tree, and nothing without data: they name pairs alone.
            yield _Question(options, {MODEL: _plain(choice[protocol][1]), **dict.fromkeys(RULES[3:], "norm_sub")})


def _name(pair: Labels) -> str:
    return f"{pair[0]} + {_plain(pair[1])}"


def _plain(method: str) -> str:
    return ALIASES.get(method, method)


def _single_best(questions: Sequence[_Question]) -> str:
    """Return the option with the lowest mean log error among those that each question has."""
    common = set(questions[0].options).intersection(*(question.options for question in questions))
    return min(sorted(common), key=lambda name: sum(question.options[name].measured for question in questions))


def _score(
    metric: str, task: str, chooser: str, questions: Sequence[_Question], picks: Sequence[str], single: str
) -> Score:
    choices = [question.options[pick] for question, pick in zip(questions, picks, strict=True)]
    best = np.array([question.best for question in questions])
    chosen = np.array([sum(choice.halves) / 2 for choice in choices])
    fixed = np.array([sum(question.options[single].halves) / 2 for question in questions])
    measured = [[option.measured for option in question.options.values()] for question in questions]
    ranks = np.array([np.less(own, one.measured).sum() for own, one in zip(measured, choices, strict=True)])
    regret, gap = chosen - best, float((fixed - best).mean())
    misses = np.array([abs(choice.predicted - choice.measured) for choice in choices])
    return Score(
        metric=metric,
        task=task,
        chooser=chooser,
        settings=len(questions),
        regret=float(np.expm1(regret.mean())),
        regret_95=float(np.expm1(np.percentile(regret, 95))),
        regret_worst=float(np.expm1(regret.max())),
        closed_gap=1 - float(regret.mean()) / gap if gap > 0 else math.nan,
        worse_than_single=float((chosen - fixed > math.log(WORSE)).mean()),
        top_1=float((ranks == 0).mean()),
        top_3=float((ranks < 3).mean()),
        prediction_error=float(np.expm1(np.median(misses))) if chooser == MODEL else math.nan,
        single_best=single,
    )
