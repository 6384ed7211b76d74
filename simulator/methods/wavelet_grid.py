"""Wavelet shrinkage for grids: neighbouring cells of similar frequency share their noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator._types import FloatArray
from simulator.methods.empirical_bayes import sigmoid
from simulator.methods.observed import Observed
from simulator.methods.simplex import norm_sub
from simulator.methods.wavelet import COARSEST, EVIDENCE, bin_places, fit_priors, kept_shares, wavelet_eb
from simulator.protocols.oracle import Noise

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
