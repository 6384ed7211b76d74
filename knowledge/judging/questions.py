"""Questions to judge the model by: simulated on histograms that it was not fitted to, and answered by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from knowledge.describe.profile import Profile, profile_of
from knowledge.judging.holdout import Histogram
from knowledge.menu import ALIASES, METHODS, METRICS, ORDERED_METRICS
from knowledge.model import Model, predict
from knowledge.ranking import rank
from knowledge.tiers import tiers
from knowledge.tree import DATA as TREES
from knowledge.tree import explain
from simulator import METRICS as ERRORS
from simulator import POSTPROCESSORS, PROTOCOLS, Noise
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, simulate
from simulator.populations import apportion

USERS, BUDGETS = (10_000, 100_000, 1_000_000), (0.5, 1.0, 2.0, 4.0)
MEASURED = ("l1", "l2", "kl", "emd", "topk")
Labels = tuple[str, str]


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
    tree: Mapping[str, Mapping[str, str]]  # for each metric and protocol the method that the tree chooses
    smallest: str  # of randomised response and OUE the protocol with the smaller variance
    quietest: str  # the protocol with the smallest variance
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
        unknown = [name for name in self.metrics if name not in METRICS]
        if unknown:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {unknown[0]!r}")


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
    oracles = {name: PROTOCOLS[name](profile.k, epsilon) for name in judging.protocols or PROTOCOLS}
    noises = {name: oracle.noise(n) for name, oracle in oracles.items()}
    fitting = [metric for metric in judging.metrics if histogram.ordered or metric not in ORDERED_METRICS]
    pairs = [
        (protocol, method)
        for protocol, noise in noises.items()
        for method in POSTPROCESSORS
        if _in_menu(method, noise, profile.k, ordered=histogram.ordered)
    ]
    counts = apportion(histogram.counts, n)
    experiment = Experiment(
        counts=counts,
        oracles=oracles,
        methods={name: POSTPROCESSORS[name] for name in dict.fromkeys(method for _, method in pairs)},
        metrics={name: ERRORS[name] for name in fitting},
        pairs=tuple(pairs),
        seed=judging.seed,
    )
    runs = simulate(experiment, 0, judging.repetitions, jobs=judging.jobs)
    bits = {name: oracle.report_bits for name, oracle in oracles.items()}
    measured, halves, predicted, tree = {}, {}, {}, {}
    choice: dict[str, dict[str, Labels]] = {}
    for metric in fitting:
        errors = runs.of(metric)
        choice[metric] = {}
        for name, menu in [*((name, {name: noise}) for name, noise in noises.items()), ("", noises)]:
            prediction = predict(profile, menu, model=judging.model)
            answer = rank(prediction, metric, epsilon=epsilon, n=n, ordered=histogram.ordered)
            first = tiers(answer.rows, bits, noises, metric)[0][0]
            choice[metric][name] = first.protocol, first.method
        predicted[metric] = {(row.protocol, row.method): math.log(row.error) for row in answer.rows}
        measured[metric] = {pair: _log_mean(errors[pair]) for pair in predicted[metric]}
        halves[metric] = {
            pair: (_log_mean(errors[pair][::2]), _log_mean(errors[pair][1::2])) for pair in measured[metric]
        }
        tree[metric] = {
            name: explain(
                metric,
                noise_to_uniform=profile.k * noise.sd,
                k=profile.k,
                skew=profile.skew,
                ordered=histogram.ordered,
                methods=[one for of, one in predicted[metric] if of == name],
                folder=TREES,
            ).method
            for name, noise in noises.items()
        }
    every = {name: PROTOCOLS[name](profile.k, epsilon).noise(n).sd for name in ("grr", "oue")}
    quietest = min(noises, key=lambda name: noises[name].sd)
    smallest = min(every, key=lambda name: every[name])
    return Setting(histogram.name, n, epsilon, measured, halves, predicted, tree, smallest, quietest, choice, counts)


def _log_mean(errors: FloatArray) -> float:
    return math.log(max(float(errors.mean()), 1e-300))


def _in_menu(method: str, noise: Noise, k: int, *, ordered: bool) -> bool:
    member = POSTPROCESSORS[method]
    return ALIASES.get(method, method) in METHODS and (ordered or not member.uses_order) and member.accepts(noise, k)
