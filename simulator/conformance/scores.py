"""How many standard errors draws are off: comparisons of means and variances."""

from __future__ import annotations

import math

import numpy as np

from simulator._types import FloatArray
from simulator.conformance.requirement import ROUNDING


def z_of_means(errors: FloatArray) -> FloatArray:
    """Compare the means of the columns with 0."""
    spread, off = errors.std(axis=0, ddof=1), errors.mean(axis=0)
    # Sums of estimates that never vary are off by rounding only.
    return np.where(np.abs(off) < ROUNDING, 0.0, off / np.maximum(spread / math.sqrt(len(errors)), 1e-300))


def z_of_two_means(a: FloatArray, b: FloatArray) -> FloatArray:
    """Compare the means of the columns of two samples."""
    off = a.mean(axis=0) - b.mean(axis=0)
    se = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return np.where(np.abs(off) < ROUNDING, 0.0, off / np.maximum(se, 1e-300))


def z_of_two_variances(a: FloatArray, b: FloatArray) -> FloatArray:
    """Compare cube roots of variances: those are normal to a good approximation (Wilson, Hilferty, 1931)."""
    roots, kurtosis = [], []
    for drawn in (a, b):
        centred = drawn - drawn.mean(axis=0)
        variance = (centred**2).mean(axis=0)
        roots.append(np.cbrt(variance))
        kurtosis.append((centred**4).mean(axis=0) / np.maximum(variance**2, 1e-300))
    pooled = (roots[0] * len(a) + roots[1] * len(b)) / (len(a) + len(b))
    heavier = np.maximum(np.maximum(*kurtosis) - 1, 2)  # 2 for normal draws
    se = pooled * np.sqrt(heavier * (1 / len(a) + 1 / len(b))) / 3
    off = roots[0] - roots[1]
    scale = np.maximum(np.abs(a).max(axis=0), 1.0)
    # Sums that never vary differ by rounding only; the root of the pooled root's cube is a standard deviation.
    return np.where(pooled**1.5 < ROUNDING * scale, 0.0, off / np.maximum(se, 1e-300))


def z_of_variance(squares: FloatArray) -> float:
    """Compare the mean of squares of nearly normal variables with 1, by the same cube root."""
    size, mean = len(squares), float(squares.mean())
    heavier = max(float((squares**2).mean()) / max(mean**2, 1e-300) - 1, 2.0)
    return (math.cbrt(mean) - (1 - heavier / (9 * size))) / (math.sqrt(heavier / size) / 3)
