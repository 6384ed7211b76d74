"""Histograms to judge the knowledge on, of shapes that no part of it was made from."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator import rng_for
from simulator._types import FloatArray, IntArray
from simulator.draws import multinomial
from simulator.populations import apportion


@dataclass(frozen=True)
class Histogram:
    """Counts ``(k,)`` to judge on, and whether the categories have an order."""

    name: str
    counts: IntArray
    ordered: bool


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
