"""Populations for ordered domains: the posterior of a few bell, edge or power-law curves over a flat ground."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise
from simulator.surrogate.particles import particles
from simulator.surrogate.posterior import Posterior

PARTICLES = 100  # at least, or as many as draws are wanted
AT_ONCE = 256  # candidates per block, so that intermediate results stay in the cache
BLOCKS = 512  # domains are compared on no more blocks of neighbours than this
PARTS = 3  # curves at most
FLAT = 0.02  # share of the candidates that are equal frequencies
AT_EACH_END = 0.15  # share of the curves that peak there
SYMMETRIC = 0.67  # a lean of less, on a standard normal scale, is none: half of the curves fall alike on both sides
LEANEST = 8.0  # beyond it single precision would not hold distances; nobody sees the difference
# Parameters for the tails, from power laws to exponential ones, and for the top, from cusp to box
TAILS_AND_TOP = (5, (0.5, 100.0)), (6, (0.5, 4.0))
PRESENT = np.array([1.0, 0.6, 0.4, 0.7])  # how often each curve, and the flat ground, has a part in a candidate
UNEVEN = 1.5  # standard deviation of the logarithm of a part
ROUGHNESS = 0.02, 1.0  # standard deviation of the departures of categories from a rough curve, in its heights
PARAMETERS = 7  # of each curve: its part, whether it is present, peak, width, lean, tails, top


def rough_curve_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations around the curves of `curve_posterior`: each category departs by a different share.

    Histograms of few people are rough, and so are those of answers that people round.
    """
    return curve_posterior(estimate, noise, draws, rng, rough=True)


def curve_posterior(
    estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator, *, rough: bool = False
) -> Posterior:
    """Draw populations that are sums of up to three curves and a flat ground; or, if `rough`, around such sums.

    A wavelet or a distribution of frequencies must find each of its features in the noise; a curve of few parameters is
    visible under much more noise.
    """
    k = len(estimate)
    seen = _Seen(estimate, noise, rough=rough)
    drawn, evidence = particles((PARTS + 1, PARAMETERS), seen.log_likelihoods, max(PARTICLES, draws), rng)
    kept = drawn[:draws]
    populations = _curves(kept, (np.arange(k) + 0.5) / k, np.ones(k), narrowest=seen.narrowest)
    if rough:
        departure = (_roughness(kept) * populations) ** 2
        shown = noise.variance_at_zero + noise.variance_slope * populations
        share = departure / (departure + shown)
        populations += share * (estimate - populations) + np.sqrt(share * shown) * rng.standard_normal((draws, k))
    return Posterior(populations, evidence)


class _Seen:
    """An estimate, brought to blocks of neighbours, to hold curves against."""

    def __init__(self, estimate: FloatArray, noise: Noise, *, rough: bool) -> None:
        k = len(estimate)
        self.rough = rough
        ends = np.linspace(0, k, min(k, BLOCKS) + 1).round().astype(np.int64)
        self.sizes = np.diff(ends).astype(np.float64)
        self.places = (ends[:-1] + ends[1:]) / (2 * k)
        self.estimate = np.add.reduceat(estimate, ends[:-1])
        self.noise = noise
        self.narrowest = 0.5 / len(self.sizes)
        self.flat = self._log_likelihoods(self.sizes / self.sizes.sum())

    def log_likelihoods(self, candidates: FloatArray) -> FloatArray:
        """Return the log-likelihood of the estimate under each candidate, over that of equal frequencies."""
        result = []
        for part in np.split(candidates, range(AT_ONCE, len(candidates), AT_ONCE)):
            frequencies = _curves(part, self.places, self.sizes, narrowest=self.narrowest)
            departure = (_roughness(part) * frequencies) ** 2 / self.sizes if self.rough else 0.0
            result.append(self._log_likelihoods(frequencies, departure) - self.flat)
        return np.concatenate(result)

    def _log_likelihoods(self, frequencies: FloatArray, own: FloatArray | float = 0.0) -> FloatArray:
        variance = self.sizes * self.noise.variance_at_zero + self.noise.variance_slope * frequencies + own
        return -((self.estimate - frequencies) ** 2 / variance + np.log(variance)).sum(axis=-1) / 2


def _curves(normals: FloatArray, places: FloatArray, sizes: FloatArray, *, narrowest: float) -> FloatArray:
    """Return frequencies ``(rows, places)``, on blocks of these sizes, of candidates ``(rows, PARTS + 1, PARAMETERS)``.

    A candidate is given by standard normal numbers, which makes all candidates equally easy to draw and to move.
    """
    from scipy.special import ndtr  # imported when used: a look-up needs no scipy

    even = ndtr(normals)
    shares = np.exp(UNEVEN * normals[..., 0]) * (even[..., 1] < PRESENT)
    shares[even[:, PARTS, 2] < FLAT, :PARTS] = 0.0
    total = shares.sum(axis=1, keepdims=True)
    shares = np.divide(
        shares, total, out=np.broadcast_to(np.eye(PARTS + 1)[PARTS], shares.shape).copy(), where=total > 0
    )
    result = shares[:, PARTS:] * sizes / sizes.sum()
    for part in range(PARTS):
        used = np.flatnonzero(shares[:, part])
        result[used] += shares[used, part, None] * _curve(
            normals[used, part], even[used, part], places, sizes, narrowest
        )
    return result


def _roughness(normals: FloatArray) -> FloatArray:
    """Return the relative departure of categories from each candidate's curve, ``(rows, 1)``: 0 for a flat curve."""
    from scipy.special import ndtr

    even, (low, high) = ndtr(normals[:, PARTS]), ROUGHNESS
    return np.where(even[:, 2] < FLAT, 0.0, low * (high / low) ** even[:, 3])[:, None]


def _curve(
    normals: FloatArray, even: FloatArray, places: FloatArray, sizes: FloatArray, narrowest: float
) -> FloatArray:
    """Return curves ``(rows, places)`` that sum to 1: a generalised Student's t, with different sides."""
    peak = np.clip((even[:, 2] - AT_EACH_END) / (1 - 2 * AT_EACH_END), 0.0, 1.0)
    width = narrowest ** even[:, 3]
    lean = np.clip(normals[:, 4] - np.clip(normals[:, 4], -SYMMETRIC, SYMMETRIC), -LEANEST, LEANEST)
    power, roundness = (
        (low * (high / low) ** even[:, place]).astype(np.float32)[:, None] for place, (low, high) in TAILS_AND_TOP
    )
    # Most of the time goes here: single precision takes two thirds of it, and has a relative error of 1e-5 outside the
    # tails.
    away = (places - peak[:, None]).astype(np.float32)
    right, left = ((np.exp(side * lean) / width).astype(np.float32)[:, None] for side in (-1, 1))
    logs = -power * np.log1p(np.abs(away * np.where(away < 0, left, right)) ** roundness / power)
    curve = sizes * np.exp(logs - logs.max(axis=1, keepdims=True))  # also where it peaks between two places
    return curve / curve.sum(axis=1, keepdims=True)
