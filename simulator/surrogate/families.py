"""Populations for categories without neighbours: the posterior under distributions of 1 or 2 parameters."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np

from simulator._types import FloatArray
from simulator.methods.empirical_bayes import BIN, HIGHEST, LOWEST, mixture_model
from simulator.methods.smooth import normalised
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import RAREST, Posterior, drawn_columns, gaussian_draws, gaussian_variance

POINTS, BODY = 256, 9  # that stand for a distribution, and for the scatter of frequencies around a law of ranks
GAMMA = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 4.0, 12.0, 50.0, 200.0, 1e3, 1e4)  # shapes
LOG_NORMAL = (0.3, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0)  # standard deviations of the logarithm
RANKS, SCATTER = (0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.6, 2.0, 2.6), (0.02, 0.4, 0.8)  # powers, and scatter of logarithms
HEIGHTS, HIGH = np.geomspace(1.5, 100, 16), np.geomspace(0.005, 0.5, 12)  # of two levels: ratio, how many are high
EMPTY = (0.0, 0.5, 0.9)  # share of categories with nobody
GROWTH = 1.2  # width of a bin of frequencies far above the noise
RARE = 1e-3  # part of each distribution that is any frequency above the noise at all, even on a log scale
PRIOR = 4 * len(EMPTY)  # prior weight of all distributions together
SLACK = 0.02  # standard deviation of the sum that the grids leave open
TEMPER = 2.0  # log-likelihoods of distributions that are all wrong count as if there were half of the estimates


def family_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations whose frequencies come independently from a gamma, a log-normal, a rank law, or two levels.

    A fitted distribution must find each of its features in the noise; a distribution of few parameters is visible under
    much more noise. All on a grid share by their likelihoods, that of a sum of 1 among them, and each category then has
    its posterior under the distribution drawn. Estimates far above the noise are not constrained.
    """
    k, sd = len(estimate), noise.sd
    centres, atoms, kernel = mixture_model(k, noise.variance_at_zero, noise.variance_slope, least=RAREST / k)
    low = estimate <= HIGHEST * sd
    bins = np.rint(np.clip((estimate / sd - LOWEST) / BIN - 0.5, 0, len(centres) - 1)).astype(np.int64)
    steps = math.ceil(math.log(1 / min(HIGHEST * sd, 1.0), GROWTH))
    tops = HIGHEST * sd * GROWTH ** np.arange(1 + steps, dtype=np.float64)
    shares = _shares(k, atoms, tops)
    rows = np.bincount(bins[low], minlength=len(centres))
    mixed = np.maximum(shares[:, : len(atoms)] @ kernel.T, 1e-300)
    equal = kernel[:, np.argmin(np.abs(atoms - 1 / k))]
    logs: FloatArray = np.log(mixed / equal) @ rows
    high = estimate[~low]
    if len(high):
        place = np.searchsorted(tops, high, side="right") - 1
        density = shares[:, len(atoms) + place] / (tops[place] * (GROWTH - 1)) * sd * math.sqrt(2 * math.pi)
        logs = logs + np.log(density).sum(axis=1)
        logs += float(((high - 1 / k) ** 2 / (2 * noise.mean_variance(k))).sum())
    variance_of = gaussian_variance(estimate, noise)
    first, second = (shares[:, : len(atoms)] * atoms**power @ kernel.T / mixed for power in (1, 2))
    mean, scatter = high.sum() + first @ rows, variance_of[~low].sum() + (second - first**2) @ rows
    often = np.log([often for (_, _, often), _ in product(_distributions(k), EMPTY)])
    before = often + _log_sum_to_one(mean, scatter, k)
    chosen = rng.choice(len(logs), size=draws, p=normalised(logs / TEMPER + before))
    logs = logs + before
    populations = np.empty((draws, k))
    for population, row in zip(populations, shares[chosen, : len(atoms)], strict=True):
        drawn = drawn_columns(np.cumsum(kernel * (row + 1e-12), axis=1)[bins], rng)
        population[:] = np.where(low, atoms[drawn], gaussian_draws(estimate, variance_of, rng))
    return Posterior(populations, float(np.log(np.exp(logs - logs.max()).sum() / PRIOR) + logs.max()))


def _log_sum_to_one(mean: FloatArray, variance: FloatArray, k: int) -> FloatArray:
    """Return by how much likelier frequencies sum to 1 given the estimates than without them, as a logarithm.

    Independent draws from a distribution need not sum to 1, and frequencies do: where the hidden ones would have to be
    scaled, they have another distribution.

    mean, variance: of the sum given the estimates, by distribution.
    """
    squares = np.array([times @ values**2 for values, times, _ in _distributions(k)])
    before = ((squares[:, None] / (1 - np.array(EMPTY)) - 1) / k).ravel() + SLACK**2
    after = np.maximum(variance, 0.0) + SLACK**2
    return np.asarray(np.log(before / after) / 2 - (mean - 1) ** 2 / (2 * after))


@lru_cache(maxsize=8)
def _distributions(k: int) -> list[tuple[FloatArray, FloatArray, float]]:
    """Return values with mean 1, which share of the categories has each, and how often it is so: each kind as often."""
    from scipy.special import gammaincinv, ndtri  # imported when used

    even = (np.arange(POINTS * BODY) + 0.5) / (POINTS * BODY)
    ends = np.unique(np.geomspace(1, k + 1, POINTS).round())  # blocks of ranks: each of the first ranks separately
    rank, size = np.sqrt(ends[:-1] * (ends[1:] - 1)), np.diff(ends)
    scatter = ndtri((np.arange(BODY) + 0.5) / BODY)
    kinds = [
        [(gammaincinv(shape, even), np.ones(len(even))) for shape in GAMMA],
        [(np.exp(width * ndtri(even)), np.ones(len(even))) for width in LOG_NORMAL],
        [
            ((rank[:, None] ** -power * np.exp(width * scatter)).ravel(), np.repeat(size, BODY))
            for power in RANKS
            for width in SCATTER
        ],
        [(np.array([1.0, height]), np.array([1 - high, high])) for height in HEIGHTS for high in HIGH],
    ]
    return [
        (np.maximum(values * times.sum() / (values @ times), 1e-300), times / times.sum(), 1 / len(kind))
        for kind in kinds
        for values, times in kind
    ]


def _shares(k: int, atoms: FloatArray, tops: FloatArray) -> FloatArray:
    """Return which share ``(distributions, atoms + tops)`` of frequencies is at each atom, and in each bin above."""
    below = int((atoms <= tops[0]).sum())  # equal frequencies are a separate atom, wherever they are
    edges = np.concatenate([(atoms[1:below] + atoms[: below - 1]) / 2, tops])
    shares = []
    for (values, times, _), empty in product(_distributions(k), EMPTY):
        places = np.searchsorted(edges, values / (k * (1 - empty)), side="right")
        places += np.where(places >= below, len(atoms) - below, 0)
        share = np.bincount(places, weights=times, minlength=len(atoms) + len(tops)) * (1 - empty)
        share[0] += empty
        shares.append(share)
    result = (1 - RARE) * np.array(shares)
    result[:, len(atoms) :] += RARE / len(tops)
    return result
