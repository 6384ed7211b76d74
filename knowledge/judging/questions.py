"""Questions to judge the model by: simulated on histograms that it was not fitted to, and answered by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from knowledge.describe.profile import Profile, profile_of
from knowledge.judging.holdout import Histogram
from knowledge.menu import ORDERED_METRICS, Labels
from knowledge.model import Model, noises_of, predicted, predicted_metrics
from knowledge.policy import Case, leaf_of, tree_for
from knowledge.ranking import LookUp, rank
from knowledge.tiers import first_pair
from simulator import METRICS as ERRORS
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, simulate
from simulator.domain import Domain
from simulator.populations import apportion

USERS, BUDGETS = (10_000, 100_000, 1_000_000), (0.5, 1.0, 2.0, 4.0)
MEASURED = ("l1", "l2", "kl", "emd", "range", "topk")


@dataclass(frozen=True)
class Setting:
    """Simulated and predicted log errors of one question."""

    # histogram, n, epsilon: the question
    histogram: str
    n: int
    epsilon: float
    # measured, predicted: for each metric the log error of every pair
    measured: Mapping[str, Mapping[Labels, float]]
    halves: Mapping[str, Mapping[Labels, tuple[float, float]]]  # the same by every other repetition
    predicted: Mapping[str, Mapping[Labels, float]]
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
) -> tuple[Setting, ...]:
    """Simulate every question about every histogram, and look it up.

    progress: called with the questions that are done and their number.
    """
    done: list[Setting] = []
    number = len(histograms) * len(judging.users) * len(judging.epsilons)
    for histogram, n in product(histograms, judging.users):
        profile = profile_of(histogram.counts, n)
        for epsilon in judging.epsilons:
            done.append(_setting(histogram, profile, n, epsilon, judging))
            if progress is not None:
                progress(len(done), number)
    return tuple(done)


def _setting(histogram: Histogram, profile: Profile, n: int, epsilon: float, judging: Judging) -> Setting:
    ordered = histogram.ordered
    names = judging.protocols or [name for name, kind in PROTOCOLS.items() if ordered or not kind.ordered_only]
    protocols = {name: PROTOCOLS[name](profile.k, epsilon) for name in names}
    fitting = [metric for metric in judging.metrics if ordered or metric not in ORDERED_METRICS]
    # Answers for all protocols together, under the name "", and for each alone.
    answers: dict[str, dict[str, LookUp]] = {}
    for name, menu in [*((name, (name,)) for name in names), ("", tuple(names))]:
        prediction = predicted(profile, epsilon, n, menu, ordered=ordered, model=judging.model)
        answers[name] = {metric: rank(prediction, metric, epsilon=epsilon, n=n, ordered=ordered) for metric in fitting}
    every = answers[""]
    pairs = tuple(dict.fromkeys((row.protocol, row.method) for metric in fitting for row in every[metric].rows))
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
    measured, halves = {}, {}
    for metric in fitting:
        errors, own = runs.of(metric), [(row.protocol, row.method) for row in every[metric].rows]
        measured[metric] = {pair: _log_mean(errors[pair]) for pair in own}
        halves[metric] = {pair: (_log_mean(errors[pair][::2]), _log_mean(errors[pair][1::2])) for pair in own}
    usual = noises_of(profile.k, epsilon, n, ("grr", "oue"))
    return Setting(
        histogram=histogram.name,
        n=n,
        epsilon=epsilon,
        measured=measured,
        halves=halves,
        predicted={
            metric: {(row.protocol, row.method): math.log(row.error) for row in every[metric].rows}
            for metric in fitting
        },
        tree={metric: _by_tree(every[metric], profile.skew) for metric in fitting},
        smallest=min(usual, key=lambda name: usual[name].sd),
        choice={metric: {name: first_pair(own[metric]) for name, own in answers.items()} for metric in fitting},
        counts=counts,
    )


def _by_tree(answer: LookUp, skew: float) -> Labels:
    """Return the pair that the tree names; what the model lists first where that one does not compete."""
    tree = tree_for(answer.metric, ordered=answer.ordered)
    leaf, _ = leaf_of(tree, Case(answer.epsilon, answer.k, answer.n, skew))
    there = any((row.protocol, row.method) == leaf.pair for row in answer.rows)
    return leaf.pair if there else first_pair(answer)


def _log_mean(errors: FloatArray) -> float:
    return math.log(max(float(errors.mean()), 1e-300))
