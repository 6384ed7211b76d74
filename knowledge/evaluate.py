"""Questions to judge the knowledge by: simulated on histograms that it was not made from, and answered by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from knowledge.grid import Grid, load, look_up_noises
from knowledge.listing import tiers
from knowledge.menu import ALIASES, METHODS, METRICS, ORDERED_METRICS
from knowledge.profile import Profile, profile_of
from knowledge.tree import DATA as TREES
from knowledge.tree import explain
from knowledge.unseen import Histogram
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
    """Simulated and predicted log errors of one question.

    Attributes
    ----------
    histogram, n, epsilon
        The question.
    measured, predicted
        For each metric the log error of every pair.
    halves
        The same by every other repetition.
    tree
        For each metric and protocol the method that the tree chooses.
    smallest
        Of randomised response and OUE the protocol with the smaller variance.
    quietest
        The protocol with the smallest variance.
    listed
        For each metric the pair that a look-up lists first, under the name of a protocol if it is asked for that one
        alone, and under ``""`` if for all.
    counts
        The population ``(k,)``.
    """

    histogram: str
    n: int
    epsilon: float
    measured: Mapping[str, Mapping[Labels, float]]
    halves: Mapping[str, Mapping[Labels, tuple[float, float]]]
    predicted: Mapping[str, Mapping[Labels, float]]
    tree: Mapping[str, Mapping[str, str]]
    smallest: str
    quietest: str
    listed: Mapping[str, Mapping[str, Labels]]
    counts: IntArray | None = field(default=None, compare=False, repr=False)


Progress = Callable[[int, int], None]


def settings(
    histograms: Sequence[Histogram],
    *,
    users: Sequence[int] = USERS,
    epsilons: Sequence[float] = BUDGETS,
    metrics: Sequence[str] = MEASURED,
    protocols: Iterable[str] | None = None,
    repetitions: int = 40,
    seed: int = 0,
    jobs: int = 1,
    grid: Grid | None = None,
    progress: Progress | None = None,
) -> tuple[Setting, ...]:
    """Simulate every question about every histogram, and ask the knowledge about it.

    Parameters
    ----------
    histograms
        What to judge on.
    users, epsilons, metrics, protocols
        The questions; all protocols by default.
    repetitions, seed, jobs
        Of the simulation; the numbers do not depend on the jobs.
    grid
        Default: the shipped one.
    progress
        Called with the questions that are done and their number.

    Raises
    ------
    ValueError
        If a metric is unknown.
    """
    unknown = [name for name in metrics if name not in METRICS]
    if unknown:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {unknown[0]!r}")
    known = load() if grid is None else grid
    names = tuple(PROTOCOLS if protocols is None else protocols)
    done: list[Setting] = []
    number = len(histograms) * len(users) * len(epsilons)
    for histogram in histograms:
        for n in users:
            profile = profile_of(histogram.counts, n)
            for epsilon in epsilons:
                done.append(_setting(histogram, profile, n, epsilon, metrics, names, repetitions, seed, jobs, known))
                if progress is not None:
                    progress(len(done), number)
    return tuple(done)


def _setting(
    histogram: Histogram,
    profile: Profile,
    n: int,
    epsilon: float,
    metrics: Sequence[str],
    protocols: tuple[str, ...],
    repetitions: int,
    seed: int,
    jobs: int,
    grid: Grid,
) -> Setting:
    oracles = {name: PROTOCOLS[name](profile.k, epsilon) for name in protocols}
    noises = {name: oracle.noise(n) for name, oracle in oracles.items()}
    asked = [metric for metric in metrics if histogram.ordered or metric not in ORDERED_METRICS]
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
        metrics={name: ERRORS[name] for name in asked},
        pairs=tuple(pairs),
        seed=seed,
    )
    runs = simulate(experiment, 0, repetitions, jobs=jobs)
    bits = {name: oracle.report_bits for name, oracle in oracles.items()}
    measured, halves, predicted, tree = {}, {}, {}, {}
    listed: dict[str, dict[str, Labels]] = {}
    for metric in asked:
        errors = runs.of(metric)
        listed[metric] = {}
        for name, asked_for in [*((name, {name: noise}) for name, noise in noises.items()), ("", noises)]:
            found = look_up_noises(
                profile, asked_for, metric, epsilon=epsilon, n=n, ordered=histogram.ordered, grid=grid
            )
            first = tiers(found.rows, bits, noises, metric)[0][0]
            listed[metric][name] = first.protocol, first.method
        predicted[metric] = {(row.protocol, row.method): math.log(row.error) for row in found.rows}
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
                methods=[method for protocol, method in predicted[metric] if protocol == name],
                folder=TREES,
            ).method
            for name, noise in noises.items()
        }
    every = {name: PROTOCOLS[name](profile.k, epsilon).noise(n).sd for name in ("grr", "oue")}
    quietest = min(noises, key=lambda name: noises[name].sd)
    smallest = min(every, key=lambda name: every[name])
    return Setting(histogram.name, n, epsilon, measured, halves, predicted, tree, smallest, quietest, listed, counts)


def _log_mean(errors: FloatArray) -> float:
    return math.log(max(float(errors.mean()), 1e-300))


def _in_menu(method: str, noise: Noise, k: int, *, ordered: bool) -> bool:
    if ALIASES.get(method, method) not in METHODS:
        return False
    if not ordered and POSTPROCESSORS[method].ordered_only:
        return False
    fits = POSTPROCESSORS[method].fits
    return fits is None or fits(noise, k)
