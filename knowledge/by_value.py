"""What is said of a histogram under a noise that only its values decide, whatever their order."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from knowledge.ideal import bayes_risk
from knowledge.noise_columns import MEAN_ABSOLUTE, Noises
from knowledge.profile import TINY
from knowledge.stack import SINGLE, Histograms
from simulator._types import RealArray, SingleArray

THRESHOLDS = (0.5, 1.0, 2.0, 4.0, 8.0)  # in noise sd
DENSITY = SINGLE(1 / math.sqrt(2 * math.pi))  # of a standard normal variable at 0
FIRST_STEPS, STEPS = 3, 5  # to the two levels
ROUNDING = SINGLE(1e-5)  # by how much a step may leave the interval where the level is
LEAST_EXCESS = 2e-6  # a sum in single precision is not known better
CHANCE = 0.3  # in sd
NEARLY = 0.1  # of the sd: where values and noise lie apart, the sum of what is kept stays so near to 1 for a stretch
ABOVE = tuple(f"{what}_above_{c:g}" for what in ("mass", "share") for c in THRESHOLDS)

# Features: what is added to a figure before its logarithm is taken; None where the figure itself is one.
BY_VALUE: dict[str, float | None] = {
    "log_k": 0.0,
    "log_noise": 0.0,  # noise-to-uniform ratio: k times the sd at f = 0
    "log_slope": 1.0,
    "log_slope_top": 1.0,
    "sums_to_one": None,
    "log_users": 0.0,
    "log_noise_users": 0.0,
    "log_shift": 1e-8,
    "entropy_gap": None,
    "log_concentration": 0.0,
    "zeros": None,
    "log_top": 0.0,
    "skew": None,
    **dict.fromkeys(ABOVE),
    "log_ideal_l1": TINY,
    "log_ideal_l2": TINY,
    "log_raw_l1": 0.0,
    "log_raw_l2": 0.0,
    "log_raw_kl": 0.0,
    "log_raw_top": 0.0,
    "log_ideal_top": TINY,
    "log_top_share": 0.0,
    "level": None,
    "cut_level": None,
    "log_least_cut": 0.0,
    "log_bayes_l1": 1e-4,
    "log_bayes_l2": 1e-6,
    "log_bayes_kl": 1e-6,
    "log_bayes_top": 1e-6,
}


class ByValue(NamedTuple):
    """Figures of U sets of values under P noises, each ``(U, P)`` or to be broadcast to it.

    Attributes
    ----------
    figures
        By the names of `BY_VALUE`.
    total, raw_l1, raw_kl, raw_top
        Of the raw estimate: sum of the variances, errors as l1 and kl, and mean variance of the top values.
    levels
        What `_levels` returns, ``(2, U, P, 1)``.
    """

    figures: dict[str, SingleArray]
    total: SingleArray
    raw_l1: SingleArray
    raw_kl: SingleArray
    raw_top: SingleArray
    levels: SingleArray


def by_value(seen: Histograms, noises: Noises) -> ByValue:
    """Return what the values of histograms and the noises decide."""
    k, value, weight = SINGLE(seen.k), seen.values, seen.weights[:, None, :, 0]
    at_zero, _, users, fixed, shift = (column[:, 0] for column in noises)
    sd = np.sqrt(at_zero)
    squares, top_squares = seen.squares[..., 0], seen.squares[..., 1]
    variance = noises.variance(value)
    root = np.sqrt(variance)
    sums = variance @ seen.weights
    total, raw_top = sums[..., 0], sums[..., 1]
    ideals = np.minimum(seen.value_squares, variance) @ seen.weights
    raw_l1 = np.vecdot(root, weight)
    raw_l1 *= MEAN_ABSOLUTE
    ideal_l1 = np.vecdot(np.minimum(value, root), weight)
    root += value
    variance /= root
    raw_kl = np.vecdot(variance, weight)
    raw_kl /= 2
    bayes_l1, bayes_l2, bayes_top, bayes_kl = _bayes(seen, noises)
    levels, negative = _levels(seen, noises)
    own = seen.by_value
    figures = {
        "log_k": k,
        "log_noise": k * sd,
        "log_slope": noises.growth(1 / seen.k),
        "log_slope_top": noises.growth(own["top"]),
        "sums_to_one": fixed,
        "log_users": users / k,
        "log_noise_users": users * sd,
        "log_shift": k * shift,
        "entropy_gap": own["entropy_gap"],
        "log_concentration": 1 / own["participation"],
        "zeros": own["zeros"],
        "log_top": k * own["top"],
        "skew": own["skew"],
        **_above(seen, sd),
        "log_ideal_l1": ideal_l1,
        "log_ideal_l2": ideals[..., 0] / total,
        "log_raw_l1": raw_l1,
        "log_raw_l2": np.sqrt(total / squares),
        "log_raw_kl": raw_kl,
        "log_raw_top": raw_top / top_squares,
        "log_ideal_top": ideals[..., 1] / top_squares,
        "log_top_share": top_squares / squares,
        "level": np.arcsinh(levels[0, ..., 0] / sd),
        "cut_level": np.arcsinh(levels[1, ..., 0] / sd),
        "log_least_cut": _least_cut(seen, negative, sd) / sd,
        "log_bayes_l1": bayes_l1 / raw_l1,
        "log_bayes_l2": bayes_l2 / total,
        "log_bayes_kl": bayes_kl / raw_kl,
        "log_bayes_top": bayes_top / raw_top,
    }
    return ByValue(figures, total, raw_l1, raw_kl, raw_top / SINGLE(seen.top_size), levels)


def _above(seen: Histograms, sd: SingleArray) -> dict[str, SingleArray]:
    """Return the mass, and the share of the categories, above each threshold."""
    cuts = (np.array(THRESHOLDS, dtype=SINGLE)[:, None] * -sd).ravel()
    places = np.array([values.searchsorted(cuts) for values in seen.falling])
    rows = np.arange(len(places))[:, None]
    above = [of[rows, places].reshape(len(places), len(THRESHOLDS), -1) for of in (seen.masses, seen.shares)]
    return dict(zip(ABOVE, (row for of in above for row in of.swapaxes(0, 1)), strict=True))


def _bayes(seen: Histograms, noises: Noises) -> tuple[SingleArray, ...]:
    """Return the Bayes risk as l1, as l2 squared, of the top values, and as kl."""
    atoms, weights = seen.atoms, seen.atom_weights
    variance = noises.variance(atoms)
    every = weights[:, None, :, 0]
    squared, absolute = bayes_risk(atoms, every, variance)
    # Inside the group that an atom stands for, of values with a spread: as if they were normal.
    inside = seen.atom_spreads * variance / (seen.atom_spreads + variance)
    squared += inside
    absolute = np.hypot(absolute, MEAN_ABSOLUTE * np.sqrt(inside))
    sums = squared @ weights
    divergence = squared / (atoms + np.sqrt(squared) + SINGLE(TINY))
    return np.vecdot(absolute, every), sums[..., 0], sums[..., 1], np.vecdot(divergence, every) / 2


def _least_cut(seen: Histograms, negative: SingleArray, sd: SingleArray) -> SingleArray:
    """Return what `norm_cut` takes away at least ``(U, P)``, as it sets whole values to 0, the smallest first.

    It must take as much as there is below 0, on average `negative`, and with little noise some of that by chance.
    """
    wanted = negative + SINGLE(CHANCE) * sd
    result = np.empty_like(wanted)
    for of, tails in enumerate(seen.tails):
        place = np.searchsorted(tails, wanted[of]) - 1
        value = np.maximum(seen.values[of, 0, ::-1][place], SINGLE(TINY))
        result[of] = tails[place] + np.ceil((wanted[of] - tails[place]) / value) * value
    return result


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


def _levels(seen: Histograms, noises: Noises) -> tuple[SingleArray, SingleArray]:
    """Return what `norm_sub` takes off, and the threshold of `norm_cut`, for each noise ``(2, U, P, 1)``.

    And how much of the estimate is below 0, on average, ``(U, P)``.

    The first is t with ``sum E max(f + noise - t, 0) = 1``, the second the smallest t of at least 0 with
    ``sum E (f + noise) [f + noise > t]`` hardly above 1. At t = 0 both sums are at least 1, and they fall.

    Their logarithms fall in the tail of the noise like -t^2 / 2: for the first, the parabola of the same slope and
    curvature is followed; the second is found for t^2, as its slope is 0 at t = 0, by Newton's method. It may come down
    to 1 in a tail, so near 1 an exponential function of the same slope and curvature takes the place of the tangent.
    Where a step would leave the interval that is left, that is halved.
    """
    value, weight = seen.few_values, seen.few_weights
    sd = np.sqrt(noises.variance(value))
    per_sd = 1 / sd
    scaled, weight_per_sd = value * per_sd, per_sd * weight
    sd_weight, half, quarter = sd * weight, weight_per_sd * SINGLE(0.5), per_sd * weight_per_sd * SINGLE(0.25)
    # Where the sums are 1, few of k normal variables are above.
    reach = SINGLE(1 + math.sqrt(2 * math.log(seen.k)))
    top = value[..., 0] + np.maximum(sd[..., 0], sd[..., -1]) * reach
    high = np.empty((2, *top.shape), dtype=SINGLE)
    high[0], high[1] = top, top * top
    goal = np.full((2, 1, len(noises.users)), LEAST_EXCESS, dtype=SINGLE)
    goal[1] += SINGLE(NEARLY) * np.sqrt(noises.at_zero[:, 0])
    goal_log = np.log1p(goal)
    low = place = np.zeros_like(high, dtype=SINGLE)
    level = place[:1]  # as long as both are 0, once is enough
    slope = np.empty_like(high, dtype=SINGLE)
    with np.errstate(all="ignore"):  # then the interval is halved
        for number in range(STEPS):
            if number == FIRST_STEPS:
                first = place[0]
                place, level, low, high, goal, goal_log, slope = (
                    of[1:] for of in (place, level, low, high, goal, goal_log, slope)
                )
            kept = scaled - level[..., None] * per_sd
            below, density = normal(kept)
            bend = np.vecdot(density[-1] * kept[-1], quarter)
            kept[-1] = scaled
            kept *= below
            kept += density
            total = np.vecdot(kept, sd_weight)
            np.vecdot(density[-1], half, out=slope[-1])
            if number < FIRST_STEPS:
                np.vecdot(below[0], weight, out=slope[0])
            excess = total - 1
            if number == 0:
                negative = np.maximum(excess[-1], 0)
            above = excess > goal
            low, high = np.where(above, place, low), np.where(above, high, place)
            fall = slope / total  # of the logarithm
            step = (np.log(total) - goal_log) / fall
            if number < FIRST_STEPS:
                bent = np.vecdot(density[0], weight_per_sd) / slope[0] - fall[0]  # its curvature over its slope
                step[0] *= 2 / (1 + np.sqrt(np.maximum(1 - 2 * step[0] * bent, 0)))
            rate = bend / (level[-1] * slope[-1])
            tail = np.log1p((goal[-1] - excess[-1]) * rate / slope[-1]) / -rate
            step[-1] = np.where((excess[-1] < 0.5) & np.isfinite(tail), tail, step[-1])
            place = place + step
            inside = (place >= low * (1 - ROUNDING)) & (place <= high * (1 + ROUNDING))
            place = np.where(inside, place, (low + high) * SINGLE(0.5))
            level = place.copy()
            np.sqrt(level[-1], out=level[-1])
    return np.stack([first, level[-1]])[..., None], negative
