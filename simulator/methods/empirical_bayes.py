"""Empirical Bayes: fit the distribution of the true frequencies, report posterior means, project."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray
from simulator.methods.simplex import norm_sub
from simulator.protocols.oracle import Noise

LOWEST, HIGHEST = -6.0, 20.0  # in noise sd: below, all estimates share a bin; above, an estimate stays as it is
BIN = 0.1  # width of a bin of estimates, in noise sd
STEADY = 8.0  # up to here the atoms are a quarter of a noise sd apart, above it a half
FLOOR = 1e-290  # least likelihood of an atom, relative to the likeliest
ITERATIONS = 50  # stopping the EM algorithm early keeps the fitted distribution smooth
EVIDENCE = 3.0  # log-likelihood that a fit must gain over "all are equal" to be believed as much as it


def eb_ns(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return posterior means under a prior fitted to the estimates themselves, projected by `norm_sub`.

    The estimates are true frequencies plus Gaussian noise of known variance ``a + b f``. The distribution of the true
    frequencies is fitted as weights of atoms between 0 and 1 by nonparametric maximum likelihood (Kiefer, Wolfowitz,
    1956; Jiang, Zhang, "General maximum likelihood empirical Bayes estimation of normal means", 2009), with its mean
    held at 1/k in every step of the EM algorithm. Estimates more than 20 noise sd above 0 are left as they are. Where
    the fit explains the estimates hardly better than equal frequencies do, the two answers are averaged with weights in
    proportion to their likelihoods (a fit pays e^-3 for its freedom): without that, pure noise would be fitted.
    """
    shape = estimate.shape
    rows = estimate.reshape(-1, shape[-1])
    k, sd = shape[-1], noise.sd
    centres, atoms, kernel = mixture_model(k, noise.variance_at_zero, noise.variance_slope)
    low = rows <= HIGHEST * sd
    place = np.clip((rows / sd - LOWEST) / BIN - 0.5, 0.0, len(centres) - 1.0)
    counts = tally_bins(np.rint(place).astype(np.int64), len(centres), low)
    mass_left = np.maximum(1.0 - np.where(low, 0.0, rows).sum(axis=1), 0.0)
    size = np.maximum(low.sum(axis=1), 1)
    shares = counts / size[:, None]
    shares[:, 0] += ~low.any(axis=1)  # a row with nothing to shrink gets a fit that nobody uses
    weights = fit_weights(shares, kernel, atoms / sd, mass_left / size / sd)
    likelihood = mix(weights, kernel.T)
    means = mix(weights * atoms, kernel.T) / likelihood
    # With variances that differ between atoms a far negative estimate may point to a large one: keep the order.
    means = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
    left = np.minimum(place.astype(np.int64), len(centres) - 2)
    step = place - left
    posterior = (1 - step) * np.take_along_axis(means, left, 1) + step * np.take_along_axis(means, left + 1, 1)
    equal = kernel[:, np.argmin(np.abs(atoms - 1 / k))]
    gain = (counts * (np.log(likelihood) - np.log(equal))).sum(axis=1)
    trust = np.where(low.all(axis=1), sigmoid(gain - EVIDENCE), 1.0)[:, None]
    return norm_sub(np.where(low, trust * posterior + (1 - trust) / k, rows).reshape(shape), noise)


@lru_cache(maxsize=64)
def mixture_model(
    k: int, at_zero: float, slope: float, *, least: float = 0.0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bin centres ``(bins,)``, atoms ``(atoms,)`` and the likelihood ``(bins, atoms)`` of each for each.

    least: frequency down to which there are atoms, halves of each other, between 0 and the first one; 0 for none.
    """
    sd = at_zero**0.5
    centres = (np.arange(LOWEST, HIGHEST, BIN) + BIN / 2) * sd
    ladder = np.concatenate([np.arange(0.0, STEADY, 0.25), np.arange(STEADY, HIGHEST + 0.25, 0.5)]) * sd
    halvings = math.ceil(math.log2(ladder[1] / least)) if least else 0
    ladder = np.append(ladder, ladder[1] / 2.0 ** np.arange(1, halvings + 1))
    atoms = np.unique(np.append(ladder[ladder <= 1.0], 1 / k))
    variance = at_zero + slope * atoms
    logs = -((centres[:, None] - atoms) ** 2) / (2 * variance) - np.log(variance) / 2
    # Only ratios within a bin matter; the floor keeps bins that no weighted atom reaches from dividing 0 by 0.
    return centres, atoms, np.maximum(np.exp(logs - logs.max(axis=1, keepdims=True)), FLOOR)


def tally_bins(places: IntArray, bins: int, chosen: NDArray[np.bool_] | None = None) -> FloatArray:
    """Count the chosen places of each row, by default all, in each bin: ``(rows, bins)``."""
    flat = places + np.arange(len(places))[:, None] * bins
    flat = flat.ravel() if chosen is None else flat[chosen]
    return np.bincount(flat, minlength=len(places) * bins).reshape(-1, bins).astype(np.float64)


def fit_weights(shares: FloatArray, kernel: FloatArray, atoms: FloatArray, mean: FloatArray) -> FloatArray:
    """Return weights ``(rows, atoms)`` after 50 EM steps whose mean atom is `mean` ``(rows,)`` (both in noise sd)."""
    distance = atoms - mean[:, None]
    weights = np.full((len(shares), len(atoms)), 1 / len(atoms))
    for _ in range(ITERATIONS):
        weights = weights * mix(shares / mix(weights, kernel.T), kernel)
        tilt = _tilt(weights, distance)
        weights = weights / (1 + tilt * distance)
        weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _tilt(weights: FloatArray, distance: FloatArray) -> FloatArray:
    """Return the multiplier ``(rows, 1)`` at which ``sum w d / (1 + tilt d)`` is 0: the constrained M-step.

    The sum falls in the tilt between the poles at -1/max(d) and -1/min(d); bisection finds the zero. If all atoms lie
    on the same side of the mean, no tilt exists, and none is applied.
    """
    top, bottom = distance.max(axis=1, keepdims=True), distance.min(axis=1, keepdims=True)
    possible = (top > 0) & (bottom < 0)
    inside = 1 - 1e-9
    low = np.where(possible, -inside / np.where(possible, top, 1.0), 0.0)
    high = np.where(possible, -inside / np.where(possible, bottom, -1.0), 0.0)
    force, tilt, step = weights * distance, (low + high) / 2, (high - low) / 4
    for _ in range(40):
        tilt += np.copysign(step, (force / (1 + tilt * distance)).sum(axis=1, keepdims=True))
        step /= 2
    return np.where(possible, tilt, 0.0)


def mix(weights: FloatArray, kernel: FloatArray) -> FloatArray:
    """Multiply each row of weights ``(rows, a)`` by ``(a, b)`` in a separate product.

    A single product for the whole batch would be faster, but the digits of a row would depend on the number of rows.
    """
    return (weights[:, None, :] @ kernel)[:, 0, :]


def sigmoid(log_odds: FloatArray) -> FloatArray:
    """Return probabilities from the logarithms of their odds."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
