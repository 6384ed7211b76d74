"""Features of a histogram under a noise that only its values decide, whatever their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from knowledge.describe.arrays import MEAN_ABSOLUTE, SINGLE, Histograms, Noises
from knowledge.describe.profile import TINY
from knowledge.describe.thresholds import thresholds
from simulator._types import RealArray, SingleArray

THRESHOLDS = (0.5, 1.0, 2.0, 4.0, 8.0)  # in noise sd
CHANCE = 0.3  # in sd
APART = 2.0  # sd between neighbours that are of different levels
FEW, SHARED = 8.5, 3.0  # "few" different frequencies: on average this number of categories share each
NODES, _WEIGHTS = hermegauss(7)  # quadrature of a standard normal variable: exact up to the 13th power
SHARES = _WEIGHTS / _WEIGHTS.sum()
ABOVE = tuple(f"{what}_above_{c:g}" for what in ("mass", "share") for c in THRESHOLDS)

# Features: the number added to a figure before the logarithm; None if the figure itself is the feature.
VALUE_FEATURES: dict[str, float | None] = {
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
LEVEL_FEATURES: dict[str, float | None] = {
    "log_levels": 0.0,
    "log_level_l1": 1e-4,
    "log_level_l2": 1e-6,
    "log_level_kl": 1e-6,
    "log_distinct": 0.0,  # different frequencies, as a share of the categories
}


class ValueFigures(NamedTuple):
    """Figures of U sets of values under P noises, each ``(U, P)`` or to be broadcast to it."""

    figures: dict[str, SingleArray]  # by the names of `VALUE_FEATURES` and `LEVEL_FEATURES`
    # total, raw_l1, raw_kl, raw_top: of the raw estimate: sum of the variances, errors as l1 and kl, and mean variance
    # of the top values
    total: SingleArray
    raw_l1: SingleArray
    raw_kl: SingleArray
    raw_top: SingleArray
    thresholds: SingleArray  # result of `thresholds`, ``(2, U, P, 1)``


def value_figures(histograms: Histograms, noises: Noises) -> ValueFigures:
    """Return the features that depend on the values of histograms and the noises."""
    k, value, weight = SINGLE(histograms.k), histograms.values, histograms.weights[:, None, :, 0]
    at_zero, _, users, fixed, shift = (column[:, 0] for column in noises)
    sd = np.sqrt(at_zero)
    squares, top_squares = histograms.squares[..., 0], histograms.squares[..., 1]
    variance = noises.variance(value)
    root = np.sqrt(variance)
    sums = variance @ histograms.weights
    total, raw_top = sums[..., 0], sums[..., 1]
    ideals = np.minimum(value * value, variance) @ histograms.weights
    raw_l1 = np.vecdot(root, weight)
    raw_l1 *= MEAN_ABSOLUTE
    ideal_l1 = np.vecdot(np.minimum(value, root), weight)
    root += value
    variance /= root
    raw_kl = np.vecdot(variance, weight)
    raw_kl /= 2
    bayes_l1, bayes_l2, bayes_top, bayes_kl = _bayes(histograms, noises)
    cuts, negative = thresholds(histograms, noises)
    number, level_l1, level_l2, level_kl = _level_errors(histograms, noises)
    profile = histograms.value_figures
    figures = {
        "log_k": k,
        "log_noise": k * sd,
        "log_slope": noises.growth(1 / histograms.k),
        "log_slope_top": noises.growth(profile["top"]),
        "sums_to_one": fixed,
        "log_users": users / k,
        "log_noise_users": users * sd,
        "log_shift": k * shift,
        "entropy_gap": profile["entropy_gap"],
        "log_concentration": 1 / profile["participation"],
        "zeros": profile["zeros"],
        "log_top": k * profile["top"],
        "skew": profile["skew"],
        **_above(histograms, sd),
        "log_ideal_l1": ideal_l1,
        "log_ideal_l2": ideals[..., 0] / total,
        "log_raw_l1": raw_l1,
        "log_raw_l2": np.sqrt(total / squares),
        "log_raw_kl": raw_kl,
        "log_raw_top": raw_top / top_squares,
        "log_ideal_top": ideals[..., 1] / top_squares,
        "log_top_share": top_squares / squares,
        "level": np.arcsinh(cuts[0, ..., 0] / sd),
        "cut_level": np.arcsinh(cuts[1, ..., 0] / sd),
        "log_least_cut": _least_cut(histograms, negative, sd) / sd,
        "log_bayes_l1": bayes_l1 / raw_l1,
        "log_bayes_l2": bayes_l2 / total,
        "log_bayes_kl": bayes_kl / raw_kl,
        "log_bayes_top": bayes_top / raw_top,
        "log_levels": number,
        "log_level_l1": level_l1 / raw_l1,
        "log_level_l2": level_l2 / total,
        "log_level_kl": level_kl / raw_kl,
        "log_distinct": profile["distinct"] / k,
    }
    return ValueFigures(figures, total, raw_l1, raw_kl, raw_top / SINGLE(histograms.top_size), cuts)


def _above(histograms: Histograms, sd: SingleArray) -> dict[str, SingleArray]:
    """Return the mass, and the share of the categories, above each threshold."""
    cuts = (np.array(THRESHOLDS, dtype=SINGLE)[:, None] * -sd).ravel()
    places = np.array([values.searchsorted(cuts) for values in -histograms.values[:, 0]])
    rows = np.arange(len(places))[:, None]
    above = [
        of[rows, places].reshape(len(places), len(THRESHOLDS), -1) for of in (histograms.masses, histograms.shares)
    ]
    return dict(zip(ABOVE, (row for of in above for row in of.swapaxes(0, 1)), strict=True))


def _bayes(histograms: Histograms, noises: Noises) -> tuple[SingleArray, ...]:
    """Return the Bayes risk as l1, as l2 squared, of the top values, and as kl."""
    (atoms, _, spreads), weights = histograms.atoms, histograms.atom_weights
    variance = noises.variance(atoms)
    all_values = weights[:, None, :, 0]
    squared, absolute = bayes_risk(atoms, all_values, variance)
    # Inside the group that an atom stands for, of values with a spread: as if they were normal.
    inside = spreads * variance / (spreads + variance)
    squared += inside
    absolute = np.hypot(absolute, MEAN_ABSOLUTE * np.sqrt(inside))
    sums = squared @ weights
    divergence = squared / (atoms + np.sqrt(squared) + SINGLE(TINY))
    return np.vecdot(absolute, all_values), sums[..., 0], sums[..., 1], np.vecdot(divergence, all_values) / 2


def _least_cut(histograms: Histograms, negative: SingleArray, sd: SingleArray) -> SingleArray:
    """Return the minimum mass ``(U, P)`` that `norm_cut` removes, as it sets whole values to 0, the smallest first.

    It must take as much as there is below 0, on average `negative`, and with little noise some of that by chance.
    """
    least = negative + SINGLE(CHANCE) * sd
    result = np.empty_like(least)
    for of, tails in enumerate(histograms.tails):
        place = np.searchsorted(tails, least[of]) - 1
        value = np.maximum(histograms.values[of, 0, ::-1][place], SINGLE(TINY))
        result[of] = tails[place] + np.ceil((least[of] - tails[place]) / value) * value
    return result


def bayes_risk(atoms: RealArray, weights: RealArray, variance: RealArray) -> tuple[RealArray, RealArray]:
    """Return mean squared and mean absolute error of the posterior mean at each atom, ``(..., A)``.

    The prior is the distribution of the values themselves: which a nonparametric empirical Bayes method estimates
    (Robbins, "An empirical Bayes approach to statistics", 1956). No method that treats each value separately does
    better on average.

    atoms: the values ``(..., A)``.
    weights: how many categories have each ``(..., A)``.
    variance: of the noise at each ``(..., A)``.
    """
    nodes, shares = (of.astype(variance.dtype) for of in (NODES, SHARES))
    sd = np.sqrt(variance)
    estimates = (atoms[..., None] + sd[..., None] * nodes).reshape(*sd.shape[:-1], -1)  # (..., A times nodes)
    density = estimates[..., None, :] - atoms[..., None]
    density *= density
    density *= (-1 / (2 * variance))[..., None]
    np.exp(density, out=density)  # at least exp(-7.1) for the atom itself, so that no sum is 0
    heights = np.empty((*sd.shape[:-1], 2, sd.shape[-1]), dtype=sd.dtype)
    np.divide(weights, sd, out=heights[..., 0, :])
    np.multiply(heights[..., 0, :], atoms, out=heights[..., 1, :])
    sums = heights @ density
    error = (sums[..., 1, :] / sums[..., 0, :]).reshape(*sd.shape, -1)
    error -= atoms[..., None]
    np.abs(error, out=error)
    absolute = error @ shares
    error *= error
    return error @ shares, absolute


def _level_errors(histograms: Histograms, noises: Noises) -> tuple[SingleArray, ...]:
    """Return the number of levels, and the errors if the level of each category is known, ``(U, P)``.

    The errors as l1, as l2 squared, and as kl.

    A level is a frequency that many categories share, or nearly so, and that stays distinct under the noise. Empirical
    Bayes finds such levels, and then errs by little more than the means of them: far less than the Bayes risk of
    frequencies that are spread out. Of each level its mean is estimated, and the categories are shrunk towards it by
    how much they differ.
    """
    values, weights, spreads = histograms.levels
    variance = noises.variance(values)
    number, l1, l2, kl, size, first, second = np.zeros((7, *variance.shape[:-1]), dtype=SINGLE)
    start = np.broadcast_to(values[..., 0], size.shape)
    last_of_level = np.ones_like(variance, dtype=np.bool_)
    last_of_level[..., :-1] = values[..., :-1] - values[..., 1:] > APART * np.sqrt(variance[..., :-1])
    following = np.roll(values, -1, axis=-1)
    for at in range(values.shape[-1]):
        noise = variance[..., at]
        offset = values[..., at] - start
        size = size + weights[..., at]
        first = first + weights[..., at] * offset
        second = second + weights[..., at] * (offset * offset + spreads[..., at])
        ends = last_of_level[..., at]
        mean = first / size
        spread = np.maximum(second / size - mean * mean, SINGLE(0))
        shrunk = spread * noise / (spread + noise)
        number += ends
        l1 += ends * MEAN_ABSOLUTE * (size * np.sqrt(shrunk) + np.sqrt(size * noise))
        l2 += ends * (size * shrunk + noise)
        kl += ends * (size * shrunk + noise) / (2 * (start + mean + np.sqrt(noise)))
        size, first, second = (np.where(ends, SINGLE(0), of) for of in (size, first, second))
        start = np.where(ends, following[..., at], start)
    return number, l1, l2, kl


def has_few(log_k: RealArray, log_distinct: RealArray) -> NDArray[np.bool_]:
    """Return where many categories share few frequencies: errors are predicted less well there."""
    return (log_k + log_distinct <= np.log(FEW)) & (log_distinct <= -np.log(SHARED))
