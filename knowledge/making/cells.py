"""Cells: a noise setting with several populations, drawn by number, and its simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from knowledge.making.populations import COMPOSED, LEVELS, Population, draw
from knowledge.menu import EPSILON, MEASURED, METHODS, QUERY_METRICS, SIMULATED_DOMAIN, USERS
from simulator import METRICS, POSTPROCESSORS, Noise, frequency_oracles, rng_for
from simulator._types import FloatArray, IntArray
from simulator.methods import Observed, PostProcessor
from simulator.populations import SHAPES, apportion

POPULATIONS, NAMED = 8, 4  # populations per cell (what a method precomputes serves all), of a named shape among them
OF_ALL_KINDS = 4000  # cells with populations of every kind; in all others the categories share few frequencies
COMMON, COMMON_SHARE = ((0.25, 8.0), (1e3, 1e7)), 0.6  # epsilon and n of most cells
PROTOCOL_SHARES = {"oue": 0.3, "grr": 0.3, "ss": 0.2, "rappor": 0.04, "olh": 0.1, "the": 0.04, "blh": 0.02}
OTHER_PROTOCOLS = ("grr", "rappor", "oue", "blh", "olh", "ss", "the", "she", "hr", "pgr")  # not those of other packages
LARGEST_SUBSET, CHAIN_DOMAIN = 3, 64  # subset selection on small domains draws slowly where subsets are large
STEPS = {"quantiles": 1 / 9}  # metrics that move in steps, in the unit of the metric
CLIPPED_ROWS = 4  # repetitions on which clipping the answers of queries is measured


@dataclass(frozen=True)
class SimulatedCell:
    """A noise setting and the seed and number that draw its populations."""

    index: int
    k: int
    protocol: str
    epsilon: float
    n: int
    families: tuple[str, ...]
    seed: int = 0

    @property
    def noise(self) -> Noise:
        """Noise as a method sees it."""
        return frequency_oracles()[self.protocol](self.k, self.epsilon).noise(self.n)

    def stream(self, name: str, *places: int | str) -> np.random.Generator:
        """Return a random stream of the cell."""
        return rng_for(self.seed, name, self.index, *places)

    @property
    def repetitions(self) -> int:
        """Simulated collections for each population."""
        return int(min(32, max(6, round(192 / math.sqrt(self.k)))))

    def populations(self) -> tuple[Population, ...]:
        """Draw the populations."""
        return tuple(
            draw(family, self.k, self.stream("population", place)) for place, family in enumerate(self.families)
        )

    def other_noises(self, number: int) -> list[Noise]:
        """Draw noises of any protocol, at budgets like those of cells, for as many users."""
        rng, noises = self.stream("taught"), []
        for _ in range(number):
            epsilon = log_uniform(COMMON[0] if rng.random() < COMMON_SHARE else EPSILON, rng)
            name = str(rng.choice(OTHER_PROTOCOLS))
            noises.append(frequency_oracles()[name](self.k, epsilon).noise(self.n))
        return noises

    def other_settings(self, number: int) -> list[tuple[float, int]]:
        """Draw budgets and numbers of users like those of cells."""
        rng = self.stream("settings")
        return [setting(rng) for _ in range(number)]


def setting(rng: np.random.Generator) -> tuple[float, int]:
    """Draw a budget and a number of users."""
    epsilon_range, n_range = COMMON if rng.random() < COMMON_SHARE else (EPSILON, USERS)
    return log_uniform(epsilon_range, rng), round(log_uniform(n_range, rng))


def cell(index: int, *, seed: int = 0, largest: int = SIMULATED_DOMAIN) -> SimulatedCell:
    """Draw cell number `index`; domains up to `largest`."""
    rng = rng_for(seed, "cell", index)
    epsilon_range, n_range = COMMON if rng.random() < COMMON_SHARE else (EPSILON, USERS)
    k = min(largest, int(log_uniform((2.0, largest + 1.0), rng)))
    epsilon = log_uniform(epsilon_range, rng)
    n = round(log_uniform(n_range, rng))
    protocol = str(rng.choice(list(PROTOCOL_SHARES), p=list(PROTOCOL_SHARES.values())))
    if protocol == "ss" and k <= CHAIN_DOMAIN and k / (math.exp(epsilon) + 1) > LARGEST_SUBSET:
        protocol = "grr"
    families = [*rng.permutation(list(SHAPES))[:NAMED], *rng.permutation(COMPOSED)[: POPULATIONS - NAMED]]
    if index >= OF_ALL_KINDS:
        families = POPULATIONS * [LEVELS]
    return SimulatedCell(index, k, protocol, epsilon, n, tuple(map(str, families)), seed)


def log_uniform(ends: tuple[float, float], rng: np.random.Generator) -> float:
    """Draw a number whose logarithm is uniform between the ends."""
    return math.exp(rng.uniform(math.log(ends[0]), math.log(ends[1])))


class Record(TypedDict):
    """A finished cell as JSON: its number, and the content of `Measured`."""

    index: int
    error: list[list[list[float]]]
    relative_variance: list[list[list[float]]]


@dataclass(frozen=True)
class Measured:
    """Mean errors of a cell ``(populations, methods, metrics)`` and their relative variances."""

    cell: SimulatedCell
    error: FloatArray
    relative_variance: FloatArray

    def to_record(self) -> Record:
        """Return the stored content as JSON types."""
        return {
            "index": self.cell.index,
            "error": [[[_digits(x) for x in row] for row in block] for block in self.error.tolist()],
            "relative_variance": [[[_digits(x, 3) for x in row] for row in b] for b in self.relative_variance.tolist()],
        }


def _digits(value: float, digits: int = 5) -> float:
    return float(f"{value:.{digits}g}")


def measured_of(record: Record, cell: SimulatedCell) -> Measured:
    """Return the measurements of a record."""
    return Measured(
        cell, np.array(record["error"], dtype=np.float64), np.array(record["relative_variance"], dtype=np.float64)
    )


def record_of(index: int, seed: int, largest: int) -> Record:
    """Simulate cell number `index` and return its record; run by workers."""
    return simulate(cell(index, seed=seed, largest=largest)).to_record()


def simulate(cell: SimulatedCell) -> Measured:
    """Simulate a cell: each method on the same noisy estimates of each population."""
    oracle, repetitions = frequency_oracles()[cell.protocol](cell.k, cell.epsilon), cell.repetitions
    counts = np.stack([apportion(population.frequencies, cell.n) for population in cell.populations()])
    rows = np.repeat(counts, repetitions, axis=0)
    estimate = oracle.estimate(oracle.sample_support(rows, cell.stream("collect")), cell.n)
    observed = Observed(estimate, cell.noise)
    blocks = [errors_of(POSTPROCESSORS[name], observed, counts, MEASURED) for name in METHODS]
    return Measured(cell, *(np.stack(figures, axis=1) for figures in zip(*blocks, strict=True)))


def errors_of(
    method: PostProcessor, observed: Observed, counts: IntArray, metrics: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return mean errors ``(populations, metrics)`` of a method on collections, and relative variances.

    counts: of the populations ``(populations, k)``; their collections are equally many each, in sequence.
    """
    results = method.compute(observed).reshape(len(counts), -1, counts.shape[1])
    error, variance = np.empty((2, len(counts), len(metrics)))
    for which, (answers, count) in enumerate(zip(results, counts, strict=True)):
        truth = count / count.sum()
        for column, metric in enumerate(metrics):
            errors = METRICS[metric](answers, truth)
            # Where no repetition shows an error, half of the least that they can show.
            mean = max(float(errors.mean()), STEPS.get(metric, 0.0) / (2 * len(answers)))
            if method.queries_only and metric in QUERY_METRICS:
                few = answers[:CLIPPED_ROWS]
                plain = float(METRICS[metric](few, truth).mean())
                mean *= float(METRICS[metric].clipped_error(few, truth).mean()) / plain if plain else 1.0
            error[which, column] = mean
            spread = float(errors.std(ddof=1)) / mean if mean > 0 else 0.0
            variance[which, column] = spread**2 / len(answers)
    return error, variance
