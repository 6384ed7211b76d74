"""Posterior draws, and helpers shared by the models."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.protocols.oracle import Noise

RAREST = 0.1  # of equal frequencies: frequencies that noise hides are told from 0 down to it, or tails would be empty


class Posterior(NamedTuple):
    """Posterior draws of the truth under a model."""

    populations: FloatArray  # ``(draws, k)`` frequencies, not normalised yet and some slightly negative
    evidence: float  # log marginal likelihood of the estimate under the model, over that of equal frequencies


def even_sd(noise: Noise, k: int) -> float:
    """Return the standard deviation of an estimate of equal frequencies."""
    return noise.mean_variance(k) ** 0.5


def gaussian_variance(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the variance of the noise of the size that each frequency has, the estimates ``(k,)`` being the truth."""
    at_zero, slope = noise.line(estimate)
    return at_zero + slope * np.clip(estimate, 0.0, 1.0)


def gaussian_draws(estimate: FloatArray, variance: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw true frequencies under a flat prior: the estimate and noise."""
    return estimate + rng.standard_normal(estimate.shape) * np.sqrt(variance)


def drawn_columns(running: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw a column for each row of running sums of weights ``(rows, columns)``."""
    drawn = (running < rng.random((len(running), 1)) * running[:, -1:]).sum(axis=1)
    return np.minimum(drawn, running.shape[1] - 1)


def log_free_prior(frequencies: FloatArray, k: int, sd: float, least: float) -> float:
    """Return the log-likelihood of unconstrained estimates, over that of an exact fit without noise.

    As many of the k categories are free as there are `frequencies`, at even odds on a log scale from `least` to 1.
    """
    free = len(frequencies)
    if not free:
        return 0.0
    span = max(-math.log(min(least, 1.0)), 1.0)
    density = -np.log(np.clip(frequencies, least, 1.0)) - math.log(span)
    others = (k - free) * math.log1p(-free / k) if free < k else 0.0
    return float((density + math.log(sd * math.sqrt(2 * math.pi) * free / k)).sum()) + others


def resampled(logs: FloatArray, draws: int, rng: np.random.Generator) -> IntArray:
    """Draw places in proportion to weights given by their logarithms, each as often as it must be but for rounding.

    Systematic resampling (Kitagawa, "Monte Carlo filter and smoother", 1996), in random order.
    """
    weights = np.cumsum(np.exp(logs - logs.max()))
    marks = (np.arange(draws) + rng.random()) / draws * weights[-1]
    return rng.permutation(np.minimum(np.searchsorted(weights, marks, side="right"), len(logs) - 1))
