"""Features of histograms under the square wave: errors of a smooth curve through the logarithm of their density.

Such a curve is where `simulator.methods.smooth` begins. Its waves, its priors and the way it weighs them are taken
over, but each wave counts for itself: the information on it is what reports hold on a wave of that length, mean over
places of equal mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.methods.smooth import EVEN, MASS, PRECISIONS, STRETCHED, cosines
from simulator.protocols.square_wave import SquareWave

CELLS = 512  # of about the same distance, in which larger domains are looked at
FLOOR = 0.01  # of the mean frequency: added to each, so that those of 0 have a logarithm
RIDGE = 1e-4  # of the fourth power of a wave's number: waves that differ only at places without mass are small
PLACES = 16  # of equal mass, at which the density is evaluated
PRIORS = (*EVEN, *STRETCHED)
OF = np.array([*[0] * len(EVEN), *[1] * len(STRETCHED)])  # over which places the waves of each prior run
NUMBERS = np.arange(1.0, max(number for _, number in PRIORS) + 1)
SQUARES = np.array([np.where(number >= NUMBERS, NUMBERS ** (-2 * order), 0.0) for order, number in PRIORS])
VARIANCES = SQUARES / PRECISIONS[::2, None, None]  # of each wave, a priori ``(precisions, priors, waves)``
RUNNING = 1 / (math.pi * NUMBERS) ** 2  # mean square of the running sums of each wave
LEAST = 1e-3  # of a number of waves, and of the remainder: smaller numbers count as this

# About the error of the running sums and of the logarithm, in units of a single user's; which share of the former is no
# noise; how many waves are told from noise; what counts of two of the priors; and what waves leave of the logarithm, in
# units of its noise and as it is.
NAMES = ("wave_curve", "wave_values", "wave_bias", "wave_number", "wave_walk", "wave_even", "wave_excess", "wave_left")


class Smoothness(NamedTuple):
    """The logarithm of a density as waves over the places, and over places stretched where the mass is."""

    squares: FloatArray  # of the coefficients ``(2, waves)``
    left: FloatArray  # mean square of the remainder after the waves ``(2,)``
    widths: FloatArray  # of stretches of equal mass, as shares of the domain ``(PLACES,)``


def smoothness_of(frequencies: FloatArray) -> Smoothness:
    """Return the waves of frequencies ``(k,)``: fitted by least squares, weighted by the distances of the stretch."""
    k = len(frequencies)
    edges = np.arange(k + 1)
    if k > CELLS:
        ends = np.cumsum(MASS * frequencies + (1 - MASS) / k)
        edges = np.unique(np.append(np.searchsorted(ends, ends[-1] * np.arange(CELLS) / CELLS), [0, k]))
    masses, lengths = np.add.reduceat(frequencies, edges[:-1]), np.diff(edges)
    distances = MASS * masses + (1 - MASS) / k * lengths
    logs = np.log(masses / lengths * k + FLOOR)
    logs -= distances @ logs
    number = min(len(NUMBERS), len(masses) - 1)
    squares, left = np.zeros((2, len(NUMBERS))), np.empty(2)
    ridge = RIDGE * NUMBERS[:number] ** 4 / number**2
    for row, places in enumerate(((edges[:-1] + edges[1:]) / (2 * k), np.cumsum(distances) - distances / 2)):
        waves = cosines(places, number)
        weighted = waves * distances
        means, moments = weighted.sum(axis=1), weighted @ logs
        products = weighted @ waves.T - np.outer(means, means)
        fitted = np.linalg.solve(products + np.diag(ridge), moments)
        squares[row, :number] = fitted**2
        left[row] = max(0.0, distances @ logs**2 - fitted @ (2 * moments - products @ fitted))
    cumulated = np.append(0.0, np.cumsum(frequencies))
    ends = np.interp(np.arange(PLACES + 1) / PLACES, cumulated, np.arange(k + 1) / k)
    return Smoothness(squares, left, np.maximum(np.diff(ends), 1 / (PLACES * k)))


@lru_cache(maxsize=256)
def _window(k: int, epsilon: float) -> tuple[float, float, float]:
    """Return the width of a window in domains, and k times the probabilities of a place in it and of any other."""
    wave = SquareWave(k, epsilon)
    return wave.width / k, wave.p * k, wave.q * k


def information(shapes: Sequence[Smoothness], k: int, epsilon: float) -> FloatArray:
    """Return the information of a report on each wave of a logarithm ``(S, 2, waves)``; 1 if reports were true.

    A wave that runs through a window several times cancels in it. Near a place the density counts as even.
    """
    window, p, q = _window(k, epsilon)
    widths = np.stack([shape.widths for shape in shapes])
    density, ends = 1 / (PLACES * widths), np.cumsum(widths, axis=1)
    middles, steps = ends - widths / 2, np.arange(PLACES + 1) / PLACES
    edges = np.concatenate([np.zeros((len(ends), 1)), ends], axis=1)
    near = np.stack(
        [
            np.interp(middle + window / 2, edge, steps) - np.interp(middle - window / 2, edge, steps)
            for middle, edge in zip(middles, edges, strict=True)
        ]
    )
    shown = (p - q) ** 2 * window**2 * density / (q + (p - q) * near)
    even = shown.mean(axis=1)[:, None] * _cancelled(window * NUMBERS)
    stretched = (shown[..., None] * _cancelled((window * (MASS * density + 1 - MASS))[..., None] * NUMBERS)).mean(
        axis=1
    )
    result: FloatArray = np.minimum(np.stack([even, stretched], axis=1), 1.0)
    return result


def _cancelled(half_waves: FloatArray) -> FloatArray:
    """Return the squared damping of a wave by a window that holds the given number of half waves."""
    turns = math.pi / 2 * half_waves
    result: FloatArray = np.sin(turns)
    result /= turns
    result *= result
    return result


def log_density_figures(shapes: Sequence[Smoothness], k: int, epsilon: float, n: int) -> FloatArray:
    """Return the features ``(S, F)``, named in `NAMES`, for a budget and number of users."""
    squares, left = (np.stack([getattr(shape, name) for shape in shapes]) for name in ("squares", "left"))
    squares, known = squares[:, OF], n * information(shapes, k, epsilon)[:, OF]
    ratios = known[:, None] * VARIANCES  # (S, precisions, priors, waves)
    missed = 1 / (1 + ratios)
    kept = 1 - missed
    likely = (np.einsum("spow,sow->spo", kept, known * squares + 1) + np.log(missed).sum(axis=-1)) / 2
    weights = np.exp(likely - likely.max(axis=(1, 2), keepdims=True))
    weights /= weights.sum(axis=(1, 2), keepdims=True)
    by_prior = weights.sum(axis=1)
    bias = np.einsum("spo,spow,spow->sow", weights, missed, missed) * squares
    noise = np.einsum("spo,spow,spow,pow->sow", weights, kept, missed, VARIANCES)
    curve = ((bias + noise) @ RUNNING).sum(axis=1)
    stretched = by_prior @ OF
    rest = (1 - stretched) * left[:, 0] + stretched * left[:, 1]
    figures = (
        np.log(n * curve + LEAST),
        np.log(n / k * (bias + noise).sum(axis=(1, 2)) + LEAST),
        (bias @ RUNNING).sum(axis=1) / np.maximum(curve, LEAST / n),
        np.log(np.einsum("spo,spow->s", weights, kept) + LEAST),
        by_prior[:, PRIORS.index(STRETCHED[0])],
        1 - stretched,
        np.log(rest * known[:, -1, -1] + LEAST),
        np.log(rest + LEAST),
    )
    return np.stack(figures, axis=1)
