"""Shift of `norm_sub` and threshold of `norm_cut`, for the mean estimate of a histogram.

The number of steps and the precision are part of the definition of the features: the model was fitted to their results,
so they change only with a new build.
"""

from __future__ import annotations

import math

import numpy as np

from knowledge.describe.arrays import SINGLE, Histograms, Noises
from simulator._types import RealArray, SingleArray

DENSITY = SINGLE(1 / math.sqrt(2 * math.pi))  # of a standard normal variable at 0
FIRST_STEPS, STEPS = 3, 5  # to the two levels
ROUNDING = SINGLE(1e-5)  # by how much a step may leave the interval where the level is
LEAST_EXCESS = 2e-6  # precision of a sum in single precision
NEARLY = 0.1  # of the sd: if values and noise are separate, the kept sum stays this near to 1 over a range


def thresholds(histograms: Histograms, noises: Noises) -> tuple[SingleArray, SingleArray]:
    """Return the shift of `norm_sub`, and the threshold of `norm_cut`, for each noise ``(2, U, P, 1)``.

    And how much of the estimate is below 0, on average, ``(U, P)``.

    The first is t with ``sum E max(f + noise - t, 0) = 1``, the second the smallest t of at least 0 with
    ``sum E (f + noise) [f + noise > t]`` hardly above 1. At t = 0 both sums are at least 1, and they fall; the second
    is searched as t^2, as its slope is 0 at t = 0. If a step would leave the remaining interval, the interval is
    halved.
    """
    value, weight, _ = histograms.few
    sd = np.sqrt(noises.variance(value))
    per_sd = 1 / sd
    scaled, weight_per_sd = value * per_sd, per_sd * weight
    sd_weight, half, quarter = sd * weight, weight_per_sd * SINGLE(0.5), per_sd * weight_per_sd * SINGLE(0.25)
    high = _highest(value, sd, histograms.k)
    goal = np.full((2, 1, len(noises.users)), LEAST_EXCESS, dtype=SINGLE)
    goal[1] += SINGLE(NEARLY) * np.sqrt(noises.at_zero[:, 0])
    low = place = np.zeros_like(high, dtype=SINGLE)
    level = place[:1]  # as long as both are 0, once is enough
    slope = np.empty_like(high, dtype=SINGLE)
    with np.errstate(all="ignore"):  # then the interval is halved
        for number in range(STEPS):
            if number == FIRST_STEPS:
                first = place[0]
                place, level, low, high, goal, slope = (of[1:] for of in (place, level, low, high, goal, slope))
            kept = scaled - level[..., None] * per_sd
            below, density = normal(kept)
            bend = np.vecdot(density[-1] * kept[-1], quarter)
            kept[-1] = scaled
            kept *= below
            kept += density
            total = np.vecdot(kept, sd_weight)
            np.vecdot(density[-1], half, out=slope[-1])
            excess = total - 1
            if number == 0:
                negative = np.maximum(excess[-1], 0)
            above = excess > goal
            low, high = np.where(above, place, low), np.where(above, high, place)
            if number < FIRST_STEPS:
                np.vecdot(below[0], weight, out=slope[0])
            step = (np.log(total) - np.log1p(goal)) / (slope / total)
            if number < FIRST_STEPS:
                step[0] *= _parabola(step[0], slope[0], total[0], np.vecdot(density[0], weight_per_sd))
            tail = _exponential(excess[-1], goal[-1], slope[-1], bend / (level[-1] * slope[-1]))
            step[-1] = np.where((excess[-1] < 0.5) & np.isfinite(tail), tail, step[-1])
            place = place + step
            inside = (place >= low * (1 - ROUNDING)) & (place <= high * (1 + ROUNDING))
            place = np.where(inside, place, (low + high) * SINGLE(0.5))
            level = place.copy()
            np.sqrt(level[-1], out=level[-1])
    return np.stack([first, level[-1]])[..., None], negative


def _highest(value: SingleArray, sd: SingleArray, k: int) -> SingleArray:
    """Return where both sums are surely below 1: few of k normal variables are above."""
    top = value[..., 0] + np.maximum(sd[..., 0], sd[..., -1]) * SINGLE(1 + math.sqrt(2 * math.log(k)))
    return np.stack([top, top * top]).astype(SINGLE)


def _parabola(step: SingleArray, slope: SingleArray, total: SingleArray, bend: SingleArray) -> SingleArray:
    """Return the Newton step if the logarithm of the sum falls like -t^2 / 2, as in a tail."""
    bent = bend / slope - slope / total  # the curvature of the logarithm over its slope
    return np.asarray(2 / (1 + np.sqrt(np.maximum(1 - 2 * step * bent, 0))))


def _exponential(excess: SingleArray, goal: SingleArray, slope: SingleArray, rate: SingleArray) -> SingleArray:
    """Return the step where the sum comes down to 1 like an exponential function of the same slope and curvature."""
    return np.asarray(np.log1p((goal - excess) * rate / slope) / -rate)


def normal(x: RealArray) -> tuple[RealArray, RealArray]:
    """Return the normal distribution function, to 2e-5, and the density.

    Half of 1 and a hyperbolic tangent; the coefficients are those of the least largest error.
    """
    density = x * x
    squares = np.minimum(density, 49)  # further out the polynomial falls
    below = squares * SINGLE(-3.15807e-4)
    below += SINGLE(3.679826e-2)
    below *= squares
    below += SINGLE(0.7977178)
    below *= x
    np.tanh(below, out=below)
    below += 1
    below *= SINGLE(0.5)
    density *= SINGLE(-0.5)
    np.exp(density, out=density)
    density *= DENSITY
    return below, density
