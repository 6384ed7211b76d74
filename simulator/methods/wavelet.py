"""Wavelet shrinkage for ordered domains and grids: neighbours of similar frequency share their noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.empirical_bayes import mix, sigmoid, tally_bins
from simulator.methods.observed import Observed
from simulator.methods.simplex import norm_sub
from simulator.protocols.oracle import Noise

SCALES = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0])  # sd of the prior's components, in noise sd; 0: no coefficient
BIN, TOP = 0.125, 16.0  # bins of absolute coefficients, in noise sd
ITERATIONS = 20
PSEUDO_COUNTS = 2.0  # pseudo-count of zero coefficients for a fit of at least 16; proportionally fewer for fewer
COARSE, COARSE_PSEUDO_COUNTS = 8.0, 0.5  # levels with fewer coefficients than this share a prior
COARSEST = 3.0  # levels with fewer than this carry the cumulative distribution: kept unchanged if there is any signal
SIGNAL, EVIDENCE = 2.0, 1.0  # log-likelihood that the coarse levels, and all levels, must gain to be believed half

_CENTRES = np.arange(0.0, TOP, BIN) + BIN / 2
TOTAL = 1 + SCALES**2
_LOGS = -(_CENTRES[:, None] ** 2) / (2 * TOTAL) - np.log(TOTAL) / 2
KERNEL = np.exp(_LOGS - _LOGS.max(axis=1, keepdims=True))  # likelihood of each bin under each component
KEPT = SCALES**2 / TOTAL  # share of a coefficient that each component keeps


def wavelet_eb_near(observed: Observed) -> FloatArray:
    """Return `wavelet_eb` along the line that the categories stand on, or on their grid."""
    ground = observed.domain.ground
    if ground is None or 1 in (ground.rows, ground.columns):
        return wavelet_eb(observed.raw, observed.noise)
    return wavelet_eb(observed.raw, observed.noise, ground.rows, ground.columns)


def wavelet_eb(estimate: FloatArray, noise: Noise, *sides: int) -> FloatArray:
    """Shrink the Haar coefficients of the estimate by empirical Bayes, at every shift, and project by `norm_sub`.

    Translation-invariant Haar transform (Coifman, Donoho, "Translation-invariant de-noising", 1995) of the estimate and
    its mirror image, so that any k will do and neither end is torn. On each level (the coarse ones together) the
    coefficients get a separate prior, a mixture of 0 and five Gaussians (Stephens, "False discovery rates: a new deal",
    2017), fitted by marginal likelihood under the known noise, and become posterior means (Johnstone, Silverman,
    "Empirical Bayes selection of wavelet thresholds", 2005). The coarsest levels stay unchanged if the coarse levels
    have a signal. Where all levels together gain hardly any likelihood over equal frequencies, the two answers are
    averaged in proportion to their likelihoods. The order of the estimates is not kept.

    sides: rows and columns of the grid that the categories stand on, by default a line. On a grid the transform is the
        square one; each level has three details (across, down, diagonal), each with a separate prior.
    """
    shape, k = estimate.shape, estimate.shape[-1]
    sides = sides or (k,)
    axes, signs = tuple(range(1, len(sides) + 1)), SIGNS[len(sides)]
    table = estimate.reshape(-1, *sides)
    table = table + (1 - table.sum(axis=axes, keepdims=True)) / k
    sd = noise.mean_variance(k) ** 0.5
    for axis in axes:
        table = np.concatenate([table, np.flip(table, axis)], axis=axis)
    details, smooth = half_differences(table)
    # All shifts are used, but they carry the information of only so many independent coefficients.
    levels, each = len(details) // len(signs), len(signs)
    sizes = np.repeat(level_sizes(k, levels, len(sides)), each).tolist()
    flat = [detail.reshape(len(table), -1) for detail in details]
    places = [bin_places(detail, level_sd(sd, which // each, len(sides))) for which, detail in enumerate(flat)]
    priors = fit_priors(places, sizes)
    for level in reversed(range(levels)):
        parts = []
        for which in range(each * level, each * (level + 1)):
            kept = flat[which] * np.take_along_axis(kept_shares(priors.weights[which]), places[which], axis=1)
            if sizes[which] < COARSEST:
                kept = priors.signal * flat[which] + (1 - priors.signal) * kept
            parts.append(kept.reshape(table.shape))
        # A place is in several shifted blocks, once in each of their halves or quarters, and rebuilt from all of them.
        corners = [_total(smooth, [row[corner] for row in signs], parts) for corner in range(2 ** len(sides))]
        whole, *others = (_moved(part, 2**level, corner) for corner, part in enumerate(corners))
        smooth = _total(whole, [1] * len(others), others) / 2 ** len(sides)
    trust = sigmoid(priors.gain - EVIDENCE)
    smooth = smooth[(slice(None), *map(slice, sides))].reshape(len(table), k)
    return norm_sub((trust * smooth + (1 - trust) / k).reshape(shape), noise)


def level_sizes(k: int, levels: int, dimensions: int = 1) -> list[float]:
    """Return how many independent coefficients of k estimates a detail of each level has, finest first."""
    return [max(k / 2 ** (dimensions * (level + 1)), 0.5) for level in range(levels)]


def level_sd(sd: float, level: int, dimensions: int = 1) -> float:
    """Return the noise sd of a coefficient of a level, from that of an estimate."""
    return float(sd / 2 ** (dimensions * (level + 1) / 2))


# The signs of the blocks in a detail, by the number of dimensions: of two on a line; of four on a grid the details
# across, down, and diagonal.
SIGNS = {1: ((1, -1),), 2: ((1, -1, 1, -1), (1, 1, -1, -1), (1, -1, -1, 1))}


def half_differences(extended: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Return the details of neighbouring blocks at each place, finest first, and the last block means.

    extended: ``(rows, places)``, or ``(rows, down, across)`` with three details for each level.
    """
    signs = SIGNS[extended.ndim - 1]
    details, smooth, half = [], extended, 1
    while 2 * half <= min(extended.shape[1:]):
        others = [_moved(smooth, -half, corner) for corner in range(1, len(signs[0]))]
        details += [_total(smooth, row[1:], others) / len(row) for row in signs]
        smooth = _total(smooth, [1] * len(others), others) / len(signs[0])
        half *= 2
    return details, smooth


def _total(first: FloatArray, signs: Sequence[int], others: Sequence[FloatArray]) -> FloatArray:
    """Return the first array with the others added or subtracted."""
    for sign, other in zip(signs, others, strict=True):
        first = first + other if sign > 0 else first - other
    return first


def _moved(table: FloatArray, step: int, corner: int) -> FloatArray:
    """Return the table moved to a corner of a block: 1 is across, 2 is down, 3 is both."""
    axes = [table.ndim - 1 - bit for bit in range(2) if corner >> bit & 1]
    return np.roll(table, [step] * len(axes), axis=axes) if axes else table


def bin_places(detail: FloatArray, sd: float) -> IntArray:
    """Return the bin of each absolute coefficient."""
    return np.minimum((np.abs(detail) / (sd * BIN)).astype(np.int64), len(_CENTRES) - 1)


class Priors(NamedTuple):
    """Priors of the coefficients, fitted level by level."""

    weights: list[FloatArray]  # for each level ``(rows, components)`` weights of `SCALES`
    gain: FloatArray  # ``(rows, 1)`` log-likelihood gained over no coefficients at all
    signal: FloatArray  # ``(rows, 1)`` weight of the belief that the coarse levels hold anything


def fit_priors(places: list[IntArray], sizes: list[float]) -> Priors:
    """Fit the priors of all levels from the bins of their coefficients and their numbers of independent ones."""
    tallies = [tally_bins(level, len(_CENTRES)) / level.shape[1] for level in places]
    fine = [level for level, size in enumerate(sizes) if size >= COARSE]
    coarse = [level for level, size in enumerate(sizes) if size < COARSE]
    priors: list[FloatArray] = [np.empty(0)] * len(sizes)
    gain = np.zeros((len(places[0]), 1))
    signal = np.ones_like(gain)
    for group, pseudo_counts in (*(([level], PSEUDO_COUNTS) for level in fine), (coarse, COARSE_PSEUDO_COUNTS)):
        size = sum(sizes[level] for level in group)
        shares = np.sum([(sizes[level] / size) * tallies[level] for level in group], axis=0)
        weights = fit_weights(shares, size, pseudo_counts * min(1.0, size / 16))
        likelihood = mix(weights, KERNEL.T)
        gained = size * (shares * (np.log(likelihood) - np.log(KERNEL[:, 0]))).sum(axis=1, keepdims=True)
        gain += gained
        for level in group:
            priors[level] = weights
        if group is coarse:
            signal = sigmoid(gained - SIGNAL)
    return Priors(priors, gain, signal)


def kept_shares(weights: FloatArray) -> FloatArray:
    """Return the share of a coefficient kept in each bin, ``(rows, bins)``, under components of these weights."""
    shares = mix(weights * KEPT, KERNEL.T) / mix(weights, KERNEL.T)
    shares[:, -1] = 1.0  # holds all above: of 1,000 sd the widest component would take 4 sd away
    return shares


def fit_weights(shares: FloatArray, size: float, pseudo_counts: float) -> FloatArray:
    """Return the components' weights ``(rows, components)`` after 20 EM steps from 1/2 for 0, equal for the others."""
    weights = np.tile(np.array([0.5, *[0.1] * 5]), (len(shares), 1))
    for _ in range(ITERATIONS):
        weights = size * weights * mix(shares / mix(weights, KERNEL.T), KERNEL)
        weights[:, 0] += pseudo_counts
        weights /= weights.sum(axis=1, keepdims=True)
    return weights
