"""Several noises side by side, so that histograms are described under all of them in one go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from knowledge.describe.normal import SINGLE
from simulator import Noise
from simulator._types import SingleArray

LEAST_VARIANCE = 1e-3  # of that at f = 0: where a negative slope would leave none
LEAST_GROWTH = -0.9  # of the variance, as a share of that at f = 0
MEAN_ABSOLUTE = SINGLE(math.sqrt(2 / math.pi))  # of a standard normal variable


class Noises(NamedTuple):
    """Several noises as columns ``(P, 1)``."""

    # at_zero, slope: variance at frequency 0, and how it grows with the frequency
    at_zero: SingleArray
    slope: SingleArray
    users: SingleArray  # how many report
    fixed: SingleArray  # what `cancelling` says
    shift: SingleArray  # what `_shift` says

    def variance(self, frequency: SingleArray) -> SingleArray:
        """Return the variance at frequencies ``(..., V)``: ``(..., P, V)``."""
        result = self.slope * frequency
        result += self.at_zero
        return np.maximum(result, LEAST_VARIANCE * self.at_zero, out=result)

    def growth(self, frequency: SingleArray | float) -> SingleArray:
        """Return by what share the variance at a frequency exceeds that at 0, at least -0.9, ``(P,)``."""
        return np.maximum(self.slope[:, 0] / self.at_zero[:, 0] * frequency, LEAST_GROWTH)


def columns_of(noises: Sequence[Noise]) -> Noises:
    """Return noises as columns."""
    rows = [
        (noise.variance_at_zero, noise.variance_slope, noise.n, cancelling(noise), _shift(noise)) for noise in noises
    ]
    return Noises(*np.array(rows, dtype=SINGLE).T[:, :, None])


def cancelling(noise: Noise) -> float:
    """Return the share of the variances of all estimates that cancels in their sum; see `Noise.cancels`."""
    return float(noise.sums_to_one) if noise.cancels is None else noise.cancels


def _shift(noise: Noise) -> float:
    """Return what randomised response adds to all frequencies alike; it decides where the IBU sets values to 0."""
    if noise.p is None or noise.q is None:
        return 1.0
    return noise.q / (noise.p - noise.q)
