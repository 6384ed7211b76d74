"""An estimate that was clipped at 0, and perhaps made to sum to 1: what was cut off, as far as its zeros tell."""

from __future__ import annotations

import math
from statistics import NormalDist

from simulator import Noise
from simulator._types import FloatArray
from simulator.seeding import rng_for

# Methods that need no values below 0: of the positive part alone they make the same (`power` nearly: to 0.024 sd)
POSITIVE_PART = frozenset({"base_pos", "norm_mul", "norm_sub", "norm_cut", "base_cut", "mle_apx", "power", "power_ns"})
FARTHEST = 3.0  # sd of the noise that the mean of rare categories is taken to lie above 0, at most
ONE = 1e-3  # how far a sum may be from 1
CHANCE_SD = 3.0  # by how many sd more than half of the values may be below 0 by chance


def is_clipped(values: FloatArray) -> bool:
    """Tell whether values ``(k,)`` have so many exact zeros, and none below, that they were clipped there.

    No more than half: true frequencies are not below 0, so chance aside no more of a raw estimate is. What has more was
    repaired in another way.
    """
    zeros, k = int((values == 0).sum()), len(values)
    return bool(values.min() == 0) and max(2, k // 50) <= zeros <= min(k / 2 + CHANCE_SD * math.sqrt(k) / 2, k - 1)


def positive_sum(values: FloatArray, noise: Noise) -> float:
    """Return what the positive values of a raw estimate of sum 1 are expected to sum to, given how many are clipped.

    As if rare categories had one frequency in common: their noise puts the share z of all below 0 where that is
    ``d = quantile(1 - z)`` sd above it, and takes ``sd (density(d) - d z)`` off each on average.
    """
    zeros = float((values == 0).mean())
    d = NormalDist().inv_cdf(1 - zeros)
    density = math.exp(-(d**2) / 2) / math.sqrt(2 * math.pi)
    return 1 + len(values) * noise.sd * (density - d * zeros)


def restored(values: FloatArray, noise: Noise) -> tuple[FloatArray, float]:
    """Return a raw estimate ``(k,)`` that may have been clipped to these frequencies, and what these were divided by.

    Zeros become draws of the noise below 0, by seed 0.
    """
    from scipy.special import ndtr, ndtri  # imported when used

    scale = positive_sum(values, noise) if abs(float(values.sum()) - 1) < ONE else 1.0
    zeros = values == 0
    d = min(max(NormalDist().inv_cdf(1 - float(zeros.mean())), 0.0), FARTHEST)
    below = rng_for(0, "clipped").random(int(zeros.sum())) * ndtr(-d)
    result = scale * values
    result[zeros] = noise.sd * (d + ndtri(below))
    return result, scale
