"""Haar transforms of a histogram: squared coefficients by level, and the transform at every shift.

The latter is mirrored at the ends (Coifman, Donoho, 1995). A level takes the differences of neighbouring blocks of
`half` values, and adds their mean over all shifts to a value. The sign is positive if the value is in the left block,
negative if in the right block. Both follow from sums along the domain: of the values, and of these sums. They are odd
and even about either end, so that a single domain is enough.
"""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.tree import INTERPOLATED
from simulator.protocols.dyadic import halves

STRETCH = 8192  # values whose squares are added up at once, in the cache of a core
SHORT = 32  # up to this many values in a block they are added up themselves: differences of long sums lose digits


def haar_squares(f: FloatArray) -> list[FloatArray]:
    """Return squared orthonormal Haar coefficients by level, finest first; the end is padded with the mean."""
    smooth = f
    levels = []
    scale = 0.5
    while len(smooth) > 1:
        if len(smooth) % 2:
            smooth = np.append(smooth, smooth.mean())
        levels.append((smooth[0::2] - smooth[1::2]) ** 2 * scale)
        smooth = smooth[0::2] + smooth[1::2]
        scale /= 2
    return levels


def residual_squares(f: FloatArray) -> list[FloatArray]:
    """Return squared residuals of orthonormal Haar coefficients after average interpolation, finest level first."""
    nodes, levels, scale = f, [], 0.5
    while len(nodes) > 1:
        left, right = halves(nodes)
        single = len(nodes) % 2 > 0  # the last node has a single half: no difference
        nodes = left + right
        around = np.concatenate([nodes[:1], nodes, nodes[-1:]])
        residual = left - right - INTERPOLATED * (around[:-2] - around[2:])
        residual[len(residual) - single :] = 0.0
        levels.append(residual**2 * scale)
        scale /= 2
    return levels


def mean_squares_by_depth(levels: list[FloatArray]) -> FloatArray:
    """Return the mean of the finest level, and of three thirds of the others, ``(4,)``."""
    energies, numbers = np.zeros(4), np.zeros(4)
    for level, squares in enumerate(levels):
        place = 0 if level == 0 else min(3, 1 + 3 * (level - 1) // max(1, len(levels) - 1))
        energies[place] += squares.sum()
        numbers[place] += len(squares)
    return energies / np.maximum(numbers, 1.0)


def squares_above(levels: list[FloatArray], places: IntArray) -> FloatArray:
    """Return the coefficients above each place ``(places, levels)``."""
    return np.stack([squares[places >> (depth + 1)] for depth, squares in enumerate(levels)], axis=1)


def shifted_haar(f: FloatArray, places: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean squared coefficient of each level, of length 1, and each level's part in the values at places.

    Levels from the finest, ``(L,)`` and ``(places, L)``.
    """
    energies, parts = _short(f, places)
    k, half = len(f), 1 << len(energies)
    if half <= k:
        sums = np.append(0.0, np.cumsum(f - 1 / k))
        sums[k] = 0.0
        mirrored = np.concatenate([-sums[:0:-1], sums, -sums[-2::-1]])  # at -k .. 2k
        seconds = np.append(0.0, np.cumsum(sums[:-1]))
        twice, details = 2 * sums[1:-1], np.empty(STRETCH)
    while half <= k:
        before, after, energy = mirrored[k + 1 - half :], mirrored[k + 1 + half :], 0.0
        for start in range(0, k - 1, STRETCH):
            end = min(start + STRETCH, k - 1)
            of = np.add(before[start:end], after[start:end], out=details[: end - start])
            of -= twice[start:end]
            energy += float(np.vdot(of, of))
        energies.append(energy / (2 * half * k))
        around = [seconds[_mirrored(places + 1 + shift * half, k, centre=1)] for shift in (-2, -1, 0, 1, 2)]
        parts.append(np.array([-1.0, 4.0, -6.0, 4.0, -1.0]) @ around / (4 * half**2))
        half *= 2
    return np.array(energies), np.stack(parts, axis=1)


def _short(f: FloatArray, places: IntArray) -> tuple[list[float], list[FloatArray]]:
    """Return the same for the levels of short blocks, from the values within reach of every shift and place."""
    k = len(f)
    line = np.pad(f, SHORT, mode="symmetric")
    near = f[_mirrored(places[:, None] + 1 + np.arange(-2 * SHORT, 2 * SHORT), k)]
    energies, parts, half = [], [], 1
    while half <= min(SHORT, k):
        details = line[SHORT + 1 - half : SHORT + k - half] - line[SHORT + 1 : SHORT + k]
        energies.append(float(np.vdot(details, details)) * half / (2 * k))
        blocks = (near[:, :-half] - near[:, half:]) / 2
        end = 2 * SHORT
        left, right = blocks[:, end - half : end], blocks[:, end - 2 * half : end - half]
        parts.append((left - right).sum(axis=1) / (2 * half))
        line, near = (line[:-half] + line[half:]) / 2, (near[:, :-half] + near[:, half:]) / 2
        half *= 2
    return energies, parts


def _mirrored(places: IntArray, k: int, *, centre: int = 0) -> IntArray:
    """Return where on ``0 .. k - 1 + centre`` places stand that run on beyond the ends, as in a mirror."""
    inside = places % (2 * k)
    return np.where(inside < k + centre, inside, 2 * k - 1 + 2 * centre - inside)
