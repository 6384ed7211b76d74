"""A post-processing method of one's own, for ``ldp-advise --method examples/soft.py:soft``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator import Noise


def soft(estimate: NDArray[np.float64], noise: Noise) -> NDArray[np.float64]:
    """Soft thresholding: move every estimate ``(..., k)`` towards 0 by half a standard deviation of its noise."""
    shrunk: NDArray[np.float64] = np.sign(estimate) * np.maximum(np.abs(estimate) - noise.sd / 2, 0.0)
    return shrunk


def largest(estimate: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest absolute error of a category (frequency)."""
    worst: NDArray[np.float64] = np.abs(estimate - truth).max(axis=-1)
    return worst
