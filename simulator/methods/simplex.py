"""The methods of Wang et al.: clip, cut, shift and scale, or find a point of the simplex by sorting."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise

FALSE_POSITIVES = 2.0  # expected number of zero-frequency values that survive base_cut (Wang et al., Section IV-A)
SUM_SLACK = 1e-12  # how far above 1 rounding may push a sum that is 1


def none(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the raw estimate ("Base", "w/o PP")."""
    return estimate.copy()


def base_pos(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Set negative estimates to 0."""
    return np.maximum(estimate, 0.0)


def base_cut(estimate: FloatArray, noise: Noise, *, alpha: float = FALSE_POSITIVES, keep: int = 0) -> FloatArray:
    """Set to 0 all estimates that a value of frequency 0 could have reached: below ``T = quantile(1 - alpha/k) * sd``.

    For k of at most 2 alpha that quantile is not positive, and the threshold stays at 0. Each value has a separate
    noise sd, which differs between the blocks of Hadamard response.

    alpha: expected number of values of frequency 0 that survive.
    keep: if above 0, T is instead the estimate at this place from the top (Wang et al., Section V-E).
    """
    k = estimate.shape[-1]
    if keep:
        place = max(k - keep, 0)
        threshold = np.partition(estimate, place, axis=-1)[..., place, None]
    else:
        quantile = NormalDist().inv_cdf(1 - alpha / k) if k > 2 * alpha else 0.0
        at_zero, _ = noise.line(estimate)
        threshold = quantile * np.sqrt(at_zero)
    return np.where(estimate >= threshold, np.maximum(estimate, 0.0), 0.0)


def norm(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Add the same amount to all estimates so that they sum to 1."""
    return estimate + (1 - estimate.sum(axis=-1, keepdims=True)) / estimate.shape[-1]


def norm_mul(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Set negative estimates to 0 and scale the rest to sum to 1; uniform where nothing is positive."""
    return shares(np.maximum(estimate, 0.0))


def shares(weights: FloatArray) -> FloatArray:
    """Return weights ``(..., k)`` of at least 0 as shares of their sum; equal shares where all are 0."""
    total = weights.sum(axis=-1, keepdims=True)
    uniform = np.full_like(weights, 1 / weights.shape[-1])
    return np.divide(weights, total, out=uniform, where=total > 0)


def norm_sub(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the nearest point of the probability simplex: ``max(estimate + delta, 0)`` that sums to 1.

    The constrained least-squares solution (Wang et al., Section IV-C), exact by sorting (Held, Wolfe, Crowder,
    "Validation of subgradient optimization", 1974).
    """
    # A common shift does not change the projection; subtracting the maximum keeps all digits however large the noise.
    shifted = estimate - estimate.max(axis=-1, keepdims=True)
    return np.maximum(shifted - _level(shifted, 0.0), 0.0)


def mle_apx(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Minimise ``sum (f - estimate)^2 / variance(f)`` over the simplex, with the full variance ``a + b f``.

    The approximate maximum likelihood of Wang et al., Section IV-D (the log-variance term of a Gaussian likelihood is
    omitted there and here). At the optimum ``(estimate - f) / (a + b f)`` is constant on the support, which gives
    ``f = (estimate - t) / (1 + r t)`` with ``r = b / a``. For r < 0 (g = 2 hashing) that has no solution once an
    estimate reaches ``-1 / r``, above 1; such rows are projected by `norm_sub` instead.
    """
    ratio = noise.variance_slope / noise.variance_at_zero
    level = _level(estimate, ratio)
    scale = 1 + ratio * level
    solved = estimate.max(axis=-1, keepdims=True) * -ratio < 1
    result = np.maximum(estimate - level, 0.0) / np.where(solved, scale, 1.0)
    if solved.all():
        return result
    return np.where(solved, result, norm_sub(estimate, noise))


def norm_cut(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Keep the largest positive estimates as far as they sum to at most 1, and set the rest to 0.

    Equal estimates are kept or cut together. The sum may stay below 1; a single estimate above 1 leaves nothing.
    Wang et al., Section IV-B.
    """
    positive = np.maximum(estimate, 0.0)
    falling = -np.sort(-positive, axis=-1)
    fits = np.cumsum(falling, axis=-1) <= 1 + SUM_SLACK
    kept = fits.sum(axis=-1, keepdims=True)
    first_cut = np.take_along_axis(falling, np.minimum(kept, estimate.shape[-1] - 1), axis=-1)
    return np.where(fits[..., -1:] | (positive > first_cut), positive, 0.0)


def iso_cdf(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the steps of the nearest cumulative distribution: running sums, isotonic regression, clipped to [0, 1].

    Cormode, Kulkarni, Srivastava, "Answering range queries under local differential privacy", VLDB 2019. Estimates are
    first moved by the same amount to sum to 1, as the last running sum is known; those of trees do so already.
    """
    from scipy.optimize import isotonic_regression  # heavy

    result = np.cumsum(norm(estimate, noise), axis=-1)
    for row in result.reshape(-1, result.shape[-1]):
        row[:-1] = np.clip(isotonic_regression(row[:-1]).x, 0.0, 1.0)
    result[..., -1] = 1.0
    return np.diff(result, axis=-1, prepend=0.0)


def _level(estimate: FloatArray, ratio: float) -> FloatArray:
    """Return t ``(..., 1)`` with ``sum max(estimate - t, 0) = 1 + ratio * t`` for ratio of at least -1.

    With the m largest values above it, ``t = (their sum - 1) / (m + ratio)``: a running average that the next value
    raises as long as it lies above, so the m's that hold are a prefix and counting them finds the last.
    """
    falling = -np.sort(-estimate, axis=-1)
    members = np.arange(1, estimate.shape[-1] + 1)
    levels = (np.cumsum(falling, axis=-1) - 1) / (members + ratio)
    last = np.maximum((falling > levels).sum(axis=-1, keepdims=True), 1) - 1
    return np.take_along_axis(levels, last, axis=-1)
