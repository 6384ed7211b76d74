"""Wavelet shrinkage for ordered domains and grids: neighbours of similar frequency share their noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.empirical_bayes import mix, sigmoid
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


def wavelet_eb(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Shrink the Haar coefficients of the estimate by empirical Bayes, at every shift, and project by `norm_sub`.

    Translation-invariant Haar transform (Coifman, Donoho, "Translation-invariant de-noising", 1995) of the estimate and
    its mirror image, so that any k will do and neither end is torn. On each level (the coarse ones together) the
    coefficients get a separate prior, a mixture of 0 and five Gaussians (Stephens, "False discovery rates: a new deal",
    2017), fitted by marginal likelihood under the known noise, and become posterior means (Johnstone, Silverman,
    "Empirical Bayes selection of wavelet thresholds", 2005). The coarsest levels stay unchanged if the coarse levels
    have a signal. Where all levels together gain hardly any likelihood over equal frequencies, the two answers are
    averaged in proportion to their likelihoods. The order of the estimates is not kept.
    """
    shape = estimate.shape
    k = shape[-1]
    rows = estimate.reshape(-1, k)
    centred = rows + (1 - rows.sum(axis=1, keepdims=True)) / k
    sd = (noise.variance_at_zero + noise.variance_slope / k) ** 0.5  # the mean variance, whatever the frequencies
    details, smooth = half_differences(np.concatenate([centred, centred[:, ::-1]], axis=1))
    # All shifts are used, but they carry the information of only so many independent coefficients.
    sizes = level_sizes(k, len(details))
    places = [bin_places(detail, level_sd(sd, level)) for level, detail in enumerate(details)]
    priors = fit_priors(places, sizes)
    for level in reversed(range(len(details))):
        detail = details[level]
        weights = priors.weights[level]
        kept = detail * np.take_along_axis(kept_shares(weights), places[level], axis=1)
        if sizes[level] < COARSEST:
            kept = priors.signal * detail + (1 - priors.signal) * kept
        # Each place is rebuilt from the two blocks it belongs to: as left half of the first, and as right half of the
        # second.
        smooth = ((smooth + kept) + np.roll(smooth - kept, 2**level, axis=1)) / 2
    trust = sigmoid(priors.gain - EVIDENCE)
    return norm_sub((trust * smooth[:, :k] + (1 - trust) / k).reshape(shape), noise)


def level_sizes(k: int, levels: int) -> list[float]:
    """Return how many independent coefficients of k estimates each level has, finest first."""
    return [max(k / 2 ** (level + 1), 0.5) for level in range(levels)]


def level_sd(sd: float, level: int) -> float:
    """Return the noise sd of a coefficient of a level, from that of an estimate."""
    return float(sd / 2 ** ((level + 1) / 2))


def half_differences(extended: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Return half differences of neighbouring block means at each place, finest first, and the last block means."""
    details, smooth, half = [], extended, 1
    while 2 * half <= extended.shape[1]:
        following = np.roll(smooth, -half, axis=1)
        details.append((smooth - following) / 2)
        smooth = (smooth + following) / 2
        half *= 2
    return details, smooth


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
    tallies = [tally_bins(level) for level in places]
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


def tally_bins(places: IntArray) -> FloatArray:
    """Return the share of each row's coefficients in each bin, ``(rows, bins)``."""
    bins = len(_CENTRES)
    flat = places + np.arange(len(places))[:, None] * bins
    return np.bincount(flat.ravel(), minlength=len(places) * bins).reshape(-1, bins) / places.shape[1]


def fit_weights(shares: FloatArray, size: float, pseudo_counts: float) -> FloatArray:
    """Return the components' weights ``(rows, components)`` after 20 EM steps from 1/2 for 0, equal for the others."""
    weights = np.tile(np.array([0.5, *[0.1] * 5]), (len(shares), 1))
    for _ in range(ITERATIONS):
        weights = size * weights * mix(shares / mix(weights, KERNEL.T), KERNEL)
        weights[:, 0] += pseudo_counts
        weights /= weights.sum(axis=1, keepdims=True)
    return weights


SIGNS = ((1, -1, 1, -1), (1, 1, -1, -1), (1, -1, -1, 1))  # across, down, and diagonal details of four blocks


def wavelet_eb_near(observed: Observed) -> FloatArray:
    """Return `wavelet_eb` along the line that the categories stand on, or on their grid.

    Raises ValueError if there is no estimate.
    """
    if observed.estimate is None:
        raise ValueError("wavelet_eb needs an estimate, and there is none")
    ground = observed.domain.ground
    if ground is None or 1 in (ground.rows, ground.columns):
        return wavelet_eb(observed.estimate, observed.noise)
    return wavelet_eb_grid(observed.estimate, observed.noise, ground.rows, ground.columns)


def wavelet_eb_grid(estimate: FloatArray, noise: Noise, rows: int, columns: int) -> FloatArray:
    """Return `wavelet_eb` in two dimensions: of raw estimates ``(..., rows * columns)`` with noise alike in all cells.

    The square Haar transform at every shift, of the grid and its mirror images; each level has three details (across,
    down, diagonal), each with a separate prior. Everything else as in one dimension, see
    `simulator.methods.wavelet.wavelet_eb`.

    Raises ValueError if the estimate is not for such a grid.
    """
    shape, k = estimate.shape, rows * columns
    if shape[-1] != k:
        raise ValueError(f"an estimate of a {rows}x{columns} grid has {k} cells, got {shape[-1]}")
    table = estimate.reshape(-1, rows, columns)
    table = table + (1 - table.sum(axis=(1, 2), keepdims=True)) / k
    sd = (noise.variance_at_zero + noise.variance_slope / k) ** 0.5
    smooth = np.concatenate([table, table[:, ::-1]], axis=1)
    smooth = np.concatenate([smooth, smooth[:, :, ::-1]], axis=2)
    batch = len(table)
    details: list[FloatArray] = []  # three for each level
    sizes: list[float] = []
    spreads: list[float] = []
    half = 1
    while 2 * half <= min(2 * rows, 2 * columns):
        blocks = _four(smooth, half, -1)
        details += [_signed(signs, blocks) / 4 for signs in SIGNS]
        sizes += [max(k / (2 * half) ** 2, 0.5)] * 3
        spreads += [sd / (2 * half)] * 3
        smooth = _signed((1, 1, 1, 1), blocks) / 4
        half *= 2
    places = [bin_places(detail.reshape(batch, -1), spread) for detail, spread in zip(details, spreads, strict=True)]
    priors = fit_priors(places, sizes)
    signal = priors.signal[:, :, None]
    for level in reversed(range(len(details) // 3)):
        half = 2**level
        kept = []
        for which in range(3 * level, 3 * level + 3):
            shares = kept_shares(priors.weights[which])
            factor = np.take_along_axis(shares, places[which], axis=1).reshape(details[which].shape)
            if sizes[which] < COARSEST:
                factor = signal + (1 - signal) * factor
            kept.append(details[which] * factor)
        # A cell is in four shifted squares, once in each of their quarters.
        rebuilt = [smooth + _signed([signs[corner] for signs in SIGNS], kept) for corner in range(4)]
        smooth = _signed((1, 1, 1, 1), [_four(part, half, 1)[corner] for corner, part in enumerate(rebuilt)]) / 4
    trust = sigmoid(priors.gain - EVIDENCE)[:, :, None]
    result = trust * smooth[:, :rows, :columns] + (1 - trust) / k
    return norm_sub(result.reshape(shape), noise)


def _signed(signs: Sequence[int], tables: Sequence[FloatArray]) -> FloatArray:
    """Return the tables added up with their signs."""
    total = np.zeros_like(tables[0])
    for sign, table in zip(signs, tables, strict=True):
        total += sign * table
    return total


def _four(table: FloatArray, half: int, direction: int) -> list[FloatArray]:
    """Return the table itself, moved across, moved down, and moved both ways."""
    step = direction * half
    return [
        table,
        np.roll(table, step, axis=2),
        np.roll(table, step, axis=1),
        np.roll(table, (step, step), axis=(1, 2)),
    ]
