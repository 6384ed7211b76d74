"""Whether a choice is worse than another by more than so much: fresh repetitions of just the two tell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from knowledge.menu import Labels
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, simulate

FIRST, LEAST = 40, 640  # repetitions, doubled from the first number on; and so many at most for large domains
CATEGORIES = 1_310_720  # repetitions times categories: more repetitions than `LEAST` where these allow it
CLEAR = 3.0  # standard errors that the ratio of two errors must be away from the limit
ENOUGH = 0.01  # standard error of a log ratio that is known well enough, however near to the limit


class Comparison(NamedTuple):
    """The error of one (protocol, method) pair over that of another, in one metric."""

    metric: str
    choice: Labels
    other: Labels


def log_ratios(
    counts: IntArray, epsilon: float, comparisons: Iterable[Comparison], limit: float, *, seed: int = 0, jobs: int = 1
) -> dict[Comparison, float]:
    """Return for each comparison the log ratio of the mean errors.

    Those within three standard errors of `limit` (a log ratio) are simulated on until they are known to 1 %, or up to
    640 repetitions, and more on domains of less than 2048 categories: the error of the top one of 16 varies by more
    than itself, and the ratio of two mean errors of the top 13 of 128 is known to 2 % only after 1,280. None of the
    repetitions is among those that a choice was made by.
    """
    waiting = list(dict.fromkeys(comparisons))
    k = len(counts)
    most = max(LEAST, CATEGORIES // k)
    pairs = _pairs(waiting)
    experiment = Experiment(
        counts=counts,
        oracles={protocol: PROTOCOLS[protocol](k, epsilon) for protocol, _ in pairs},
        methods={method: POSTPROCESSORS[method] for _, method in pairs},
        metrics={metric: METRICS[metric] for metric in dict.fromkeys(one.metric for one in waiting)},
        pairs=pairs,
        seed=seed,
    )
    errors: dict[tuple[str, Labels], list[FloatArray]] = {}
    ratios: dict[Comparison, float] = {}
    done, until = 0, FIRST
    while waiting:
        runs = simulate(experiment, done, until - done, pairs=_pairs(waiting), jobs=jobs)
        for metric in experiment.metrics:
            for pair, block in runs.of(metric).items():
                errors.setdefault((metric, pair), []).append(block)
        still = []
        for one in waiting:
            ratio, error = _log_ratio(*(np.concatenate(errors[one.metric, pair]) for pair in (one.choice, one.other)))
            ratios[one] = ratio
            if abs(ratio - limit) < CLEAR * error and error > ENOUGH and until < most:
                still.append(one)
        waiting, done, until = still, until, 2 * until
    return ratios


def _pairs(comparisons: Iterable[Comparison]) -> tuple[Labels, ...]:
    return tuple(dict.fromkeys(pair for one in comparisons for pair in (one.choice, one.other)))


def _log_ratio(errors: FloatArray, others: FloatArray) -> tuple[float, float]:
    """Return the log ratio of the means and its standard error; repetitions with the same noise are paired."""
    mean, other = (max(float(block.mean()), 1e-300) for block in (errors, others))
    apart = errors / mean - others / other
    return float(np.log(mean / other)), float(apart.std(ddof=1)) / len(apart) ** 0.5
