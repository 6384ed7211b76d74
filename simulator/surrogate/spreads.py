"""Populations for categories without neighbours: the posterior under distributions of few parameters."""

from __future__ import annotations

import math

import numpy as np

from simulator._types import FloatArray
from simulator.methods.empirical_bayes import BIN, HIGHEST, LOWEST, mixture_model
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import Posterior, gaussian_draws, gaussian_variance

CANDIDATES = 1000
POINTS = 256  # that stand for a distribution, at most
GROWTH = 1.2  # width of a bin of frequencies far above the noise
RARE = 1e-3  # part of each candidate that is any frequency above the noise at all, even on a log scale


def spread_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations whose frequencies come one by one from log-normal, gamma, Pareto or few-level distributions.

    A fitted distribution has to find each of its features in the noise; one of few parameters is seen under much more
    of it. Candidates are drawn from a wide prior and again in proportion to their likelihood (Rubin, "Using the SIR
    algorithm to simulate posterior distributions", 1988); each category then has its posterior under the candidate.
    Estimates far above the noise are left free.
    """
    k, sd = len(estimate), noise.sd
    centres, atoms, kernel = mixture_model(k, noise.variance_at_zero, noise.variance_slope)
    low = estimate <= HIGHEST * sd
    bins = np.rint(np.clip((estimate / sd - LOWEST) / BIN - 0.5, 0, len(centres) - 1)).astype(np.int64)
    steps = math.ceil(math.log(1 / min(HIGHEST * sd, 1.0), GROWTH))
    tops = HIGHEST * sd * GROWTH ** np.arange(1 + steps, dtype=np.float64)
    shares = _shares(_candidates(min(k, POINTS), k, rng) / k, atoms, tops)
    rows = np.bincount(bins[low], minlength=len(centres))
    mixed = shares[:, : len(atoms)] @ kernel.T
    equal = kernel[:, np.argmin(np.abs(atoms - 1 / k))]
    logs = np.log(np.maximum(mixed, 1e-300) / equal) @ rows
    high = estimate[~low]
    if len(high):
        place = np.searchsorted(tops, high, side="right") - 1
        density = shares[:, len(atoms) + place] / (tops[place] * (GROWTH - 1)) * sd * math.sqrt(2 * math.pi)
        logs = logs + np.log(density).sum(axis=1)
        variance = noise.variance_at_zero + noise.variance_slope / k
        logs += float(((high - 1 / k) ** 2 / (2 * variance)).sum())
    weights = np.exp(logs - logs.max())
    chosen = rng.choice(len(weights), size=draws, p=weights / weights.sum())
    populations, variance_of = np.empty((draws, k)), gaussian_variance(estimate, noise)
    for population, row in zip(populations, shares[chosen, : len(atoms)], strict=True):
        odd = np.cumsum(kernel * (row + 1e-12), axis=1)[bins]
        drawn = (odd < rng.random((k, 1)) * odd[:, -1:]).sum(axis=1)
        free = gaussian_draws(estimate, variance_of, rng)
        population[:] = np.where(low, atoms[np.minimum(drawn, len(atoms) - 1)], free)
    return Posterior(populations, float(np.log(weights.mean()) + logs.max()))


def _candidates(points: int, k: int, rng: np.random.Generator) -> FloatArray:
    """Return values ``(CANDIDATES, points)`` of distributions with mean 1, in equal frequencies."""
    from scipy.special import gammaincinv, ndtri  # imported when used

    even = (np.arange(points) + 0.5) / points
    quarter = CANDIDATES // 4

    def wide(low: float, high: float) -> FloatArray:
        return low * (high / low) ** rng.random((quarter, 1))

    normal = np.exp(np.minimum(wide(0.05, 3.0) * ndtri(even), 300))
    shape = wide(0.03, 30.0)
    gamma = gammaincinv(shape, even)
    pareto = (1 - even + wide(0.5 / k, 1.0)) ** -wide(0.2, 2.5)
    heights = np.exp(1.5 * rng.standard_normal((quarter, 3)))
    cuts = np.sort(1 - wide(1 / k, 1.0) * rng.random((quarter, 2)), axis=1)
    levels = np.take_along_axis(heights, (even[None, :, None] > cuts[:, None, :]).sum(axis=2), axis=1)
    values = np.concatenate([normal, gamma, pareto, levels])
    empty = np.where(rng.random((len(values), 1)) < 0.3, rng.random((len(values), 1)), 0.0)
    values = np.where(even < empty, 0.0, values)
    values[:, -1] = np.maximum(values[:, -1], 1e-300)  # a distribution of nobody at all is that of one value
    values = values / values.mean(axis=1, keepdims=True)
    flat = np.where(rng.random((len(values), 1)) < 0.3, rng.random((len(values), 1)), 0.0)
    result: FloatArray = flat + (1 - flat) * values
    return result


def _shares(values: FloatArray, atoms: FloatArray, tops: FloatArray) -> FloatArray:
    """Return which share ``(candidates, atoms + tops)`` of the values is at each atom, and in each bin above them."""
    below = int((atoms <= tops[0]).sum())  # equal frequencies are an atom of their own, wherever they are
    edges = np.concatenate([(atoms[1:below] + atoms[: below - 1]) / 2, tops])
    places = np.searchsorted(edges, values, side="right")
    places += np.where(places >= below, len(atoms) - below, 0)
    width = len(atoms) + len(tops)
    flat = places + np.arange(len(values))[:, None] * width
    shares = np.bincount(flat.ravel(), minlength=len(values) * width).reshape(len(values), width)
    result: FloatArray = (1 - RARE) * shares / values.shape[1]
    result[:, len(atoms) :] += RARE / len(tops)
    return result
