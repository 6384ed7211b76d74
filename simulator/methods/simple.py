"""Methods of one line each: clip, cut, shift, scale."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise

FALSE_POSITIVES = 2.0  # expected number of zero-frequency values that survive base_cut (Wang et al., Section IV-A)


def none(estimate: FloatArray, noise: Noise) -> FloatArray:  # noqa: ARG001 - the interface of all methods
    """Return the raw estimate ("Base", "w/o PP")."""
    return estimate.copy()


def base_pos(estimate: FloatArray, noise: Noise) -> FloatArray:  # noqa: ARG001
    """Set negative estimates to 0."""
    return np.maximum(estimate, 0.0)


def base_cut(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Set to 0 what a value of frequency 0 could have reached: below ``T = quantile(1 - 2/k) * sd``.

    For k of at most 4 that quantile is not positive, and the threshold stays at 0. Each value has the sd of its own
    noise, which differs between the blocks of Hadamard response.
    """
    k = estimate.shape[-1]
    quantile = NormalDist().inv_cdf(1 - FALSE_POSITIVES / k) if k > 2 * FALSE_POSITIVES else 0.0
    at_zero, _ = noise.line(estimate)
    return np.where(estimate >= quantile * np.sqrt(at_zero), np.maximum(estimate, 0.0), 0.0)


def norm(estimate: FloatArray, noise: Noise) -> FloatArray:  # noqa: ARG001
    """Add the same amount to all estimates so that they sum to 1."""
    return estimate + (1 - estimate.sum(axis=-1, keepdims=True)) / estimate.shape[-1]


def norm_mul(estimate: FloatArray, noise: Noise) -> FloatArray:  # noqa: ARG001
    """Set negative estimates to 0 and scale the rest to sum to 1; uniform where nothing is positive."""
    positive = np.maximum(estimate, 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    uniform = np.full_like(positive, 1 / estimate.shape[-1])
    return np.divide(positive, total, out=uniform, where=total > 0)
