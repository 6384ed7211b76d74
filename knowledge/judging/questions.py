"""Questions to judge the model by: simulated on histograms that it was not fitted to, and answered by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from knowledge.describe.profile import Profile, profile_of
from knowledge.menu import ORDERED_METRICS, Labels
from knowledge.model import Model
from knowledge.predict import noises_of, predicted, predicted_metrics
from knowledge.ranking import LookUp, LookUpRow, first_pair, rank, tree_reasons
from simulator import METRICS as ERRORS
from simulator import POSTPROCESSORS, PROTOCOLS, rng_for
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, simulate
from simulator.domain import Domain
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
    smallest: str  # of randomised response and OUE the protocol with the smaller variance
    # For each metric the pair that a look-up lists first, under the name of a protocol if it is asked for that one
    # alone, and under ``""`` if for all
    choice: Mapping[str, Mapping[str, Labels]]
    counts: IntArray | None = field(default=None, compare=False, repr=False)  # the population ``(k,)``


Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Judging:
    """What is asked about each histogram, and how it is simulated.

    Raises ValueError if a metric is unknown.
    """

    # users, epsilons, metrics, protocols: the questions; all protocols where none is named
    users: Sequence[int] = USERS
    epsilons: Sequence[float] = BUDGETS
    metrics: Sequence[str] = MEASURED
    protocols: Sequence[str] = ()
    # repetitions, seed, jobs: of the simulation; the numbers do not depend on the jobs
    repetitions: int = 40
    seed: int = 0
    jobs: int = 1
    model: Model | None = None  # default: the shipped one

    def __post_init__(self) -> None:
        predicted = predicted_metrics(ordered=True, model=self.model)
        unknown = [name for name in self.metrics if name not in predicted]
        if unknown:
            raise ValueError(f"metric must be one of {', '.join(predicted)}, got {unknown[0]!r}")


def settings(
    histograms: Sequence[Histogram], judging: Judging, progress: Progress | None = None
) -> tuple[JudgedSetting, ...]:
    """Simulate every question about every histogram, and look it up.

    progress: called with the questions that are done and their number.
    """
    done: list[JudgedSetting] = []
    number = len(histograms) * len(judging.users) * len(judging.epsilons)
    for histogram, n in product(histograms, judging.users):
        profile = profile_of(histogram.counts, n)
        for epsilon in judging.epsilons:
            done.append(_setting(histogram, profile, n, epsilon, judging))
            if progress is not None:
                progress(len(done), number)
    return tuple(done)


def _setting(histogram: Histogram, profile: Profile, n: int, epsilon: float, judging: Judging) -> JudgedSetting:
    ordered = histogram.ordered
    names = judging.protocols or [name for name, kind in PROTOCOLS.items() if ordered or not kind.ordered_only]
    protocols = {name: PROTOCOLS[name](profile.k, epsilon) for name in names}
    fitting = [metric for metric in judging.metrics if ordered or metric not in ORDERED_METRICS]
    # Answers for all protocols together, under the name "", and for each alone.
    answers: dict[str, dict[str, LookUp]] = {}
    for name, menu in [*((name, (name,)) for name in names), ("", tuple(names))]:
        prediction = predicted(profile, epsilon, n, menu, ordered=ordered, model=judging.model)
        answers[name] = {metric: rank(prediction, metric) for metric in fitting}
    every = answers[""]
    pairs = tuple(dict.fromkeys(row.pair for metric in fitting for row in every[metric].rows))
    counts = apportion(histogram.counts, n)
    experiment = Experiment(
        counts=counts,
        oracles=protocols,
        methods={name: POSTPROCESSORS[name] for name in dict.fromkeys(method for _, method in pairs)},
        metrics={name: ERRORS[name] for name in fitting},
        pairs=pairs,
        seed=judging.seed,
        domain=Domain(ordered),
    )
    runs = simulate(experiment, 0, judging.repetitions, jobs=judging.jobs)
    usual = noises_of(profile.k, epsilon, n, ("grr", "oue"))
    return JudgedSetting(
        histogram=histogram.name,
        n=n,
        epsilon=epsilon,
        errors={
            metric: [_pair_errors(row, simulated[row.pair]) for row in every[metric].rows]
            for metric, simulated in ((metric, runs.of(metric)) for metric in fitting)
        },
        tree={metric: _by_tree(every[metric], profile.skew) for metric in fitting},
        smallest=min(usual, key=lambda name: usual[name].sd),
        choice={metric: {name: first_pair(own[metric]) for name, own in answers.items()} for metric in fitting},
        counts=counts,
    )


def _by_tree(answer: LookUp, skew: float) -> Labels:
    """Return the pair that the tree names; what the model lists first where that one does not compete."""
    first = first_pair(answer)
    reasons = tree_reasons(answer, skew, first)
    return first if reasons.ratio is None else reasons.leaf.pair


def _pair_errors(row: LookUpRow, errors: FloatArray) -> PairErrors:
    halves = _log_mean(errors[::2]), _log_mean(errors[1::2])
    return PairErrors(row.pair, _log_mean(errors), halves, math.log(row.error))


def _log_mean(errors: FloatArray) -> float:
    return math.log(max(float(errors.mean()), 1e-300))


def holdout() -> tuple[Histogram, ...]:
    """Return histograms of shapes that no part of the knowledge was made from."""
    made: list[Histogram] = []
    for name, ordered, weights in _SHAPES:
        for k in (12, 60, 300):
            rng = rng_for(0, "unseen", name, k)
            made.append(Histogram(f"{name} {k}", apportion(weights(k, rng), 1_000_000), ordered))
    return tuple(made)


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
