"""Power: the posterior mean under a power-law prior on the counts, by a table, or under a Gaussian one."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

import numpy as np

from simulator._types import FloatArray
from simulator.methods.simplex import norm_sub
from simulator.protocols.oracle import Noise

EXPONENT_MAX = 60.0  # 2^-60: the prior is all at count 1
LOWEST, TABLE_TOP, EDGE = -40.0, 40.0, 12.0  # in noise sd: start and end of the low table, reach of the top table
STEP, STEEP_STEP = 0.1, 0.025  # spacing of table nodes in noise sd; cubic Hermite with exact slopes
STEEP_EXPONENT = 5.0  # above it the mean leaves count 1 late and steeply: use the smaller spacing
EXACT_COUNTS = 512  # counts in the exact sum at both ends; all of the table for a noise sd up to 10 counts
TAIL_TERMS = 12  # terms of the expansion beyond the table; at t = 1/40 and s = 60 the last is below 1e-6
FINE_SD = 1.0  # noise sd in counts below which the posterior is summed count by count
GAUSS = 4  # nodes between two counts outside the exact sum
FINE_REACH = 30  # counts on each side that such a sum takes in; a prior of exponent 60 pulls 19 counts down to 1


class Prior(StrEnum):
    """Families of laws that frequencies are taken to follow."""

    POWER_LAW = "power_law"
    GAUSSIAN = "gaussian"


def power(estimate: FloatArray, noise: Noise, *, prior: Prior = Prior.POWER_LAW) -> FloatArray:
    """Return the posterior mean of each frequency under ``Pr[count = x] ~ x^-s``, x = 1..n, and Gaussian noise.

    s is fitted so that the prior mean count is n/k. The prior has no mass at 0, so results are at least 1/n. Jia, Gong,
    "Calibrate", INFOCOM 2019; Wang et al., Section IV-E.

    prior: ``GAUSSIAN`` for a normal law of frequencies instead, see `gaussian_mean`.
    """
    if prior is Prior.GAUSSIAN:
        return gaussian_mean(estimate, noise.sd)
    k = estimate.shape[-1]
    return posterior_mean(noise.n, k, noise.sd * noise.n)(estimate * noise.n) / noise.n


def power_ns(estimate: FloatArray, noise: Noise, *, prior: Prior = Prior.POWER_LAW) -> FloatArray:
    """Project the result of `power` on the simplex by `norm_sub`."""
    return norm_sub(power(estimate, noise, prior=prior), noise)


def gaussian_mean(estimate: FloatArray, sd: float) -> FloatArray:
    """Return the posterior mean of each frequency under a normal prior on frequencies of at least 0, at most 1.

    The prior has the mean of the estimates, and their variance less that of the noise.
    """
    from scipy.special import log_ndtr

    mean, excess = estimate.mean(axis=-1, keepdims=True), estimate.var(axis=-1, keepdims=True) - sd**2
    share = np.maximum(excess, 0.0) / (np.maximum(excess, 0.0) + sd**2)
    centre, spread = mean + share * (estimate - mean), np.sqrt(share) * sd
    above = np.divide(centre, spread, out=np.full_like(centre, np.inf), where=spread > 0)
    # Of what lies above 0: the inverse Mills ratio, in logarithms, as both parts of it vanish far below 0.
    pull = spread * np.exp(-(above**2) / 2 - log_ndtr(above)) / math.sqrt(2 * math.pi)
    return np.clip(centre + pull, 0.0, 1.0)


@lru_cache(maxsize=256)
def posterior_mean(n: int, k: int, sd: float) -> Callable[[FloatArray], FloatArray]:
    """Return the function from a noisy count to the posterior mean count, noise sd `sd` in counts."""
    exponent = prior_exponent(n, k)
    if sd < FINE_SD:
        return lambda counts: _count_by_count(counts, n, exponent, sd)
    low_end = min(n + EDGE * sd, TABLE_TOP * sd)
    low = _Table(LOWEST * sd, low_end, sd, exponent, _blocks(0, min(n, low_end + EDGE * sd), sd, n))
    if low_end >= n + EDGE * sd:
        return low
    top_start = max(n - EDGE * sd, low_end)
    top_blocks = _blocks(max(0.0, top_start - EDGE * sd), n, sd, n)
    top = _Table(top_start, n + EDGE * sd, sd, exponent, top_blocks)

    def piecewise(counts: FloatArray) -> FloatArray:
        result = low(counts)
        middle, high = counts > low_end, counts > top_start
        result[middle] = _far_from_zero(counts[middle], exponent, sd)
        result[high] = top(counts[high])
        return result

    return piecewise


@lru_cache(maxsize=256)
def prior_exponent(n: int, k: int) -> float:
    """Return s in 0..60 at which ``sum x^(1-s) / sum x^-s`` over x = 1..n is n/k (the end of the range if none is)."""
    low, high = 0.0, EXPONENT_MAX
    for _ in range(60):
        s = (low + high) / 2
        if power_sum(n, s - 1) > power_sum(n, s) * n / k:
            low = s
        else:
            high = s
    return (low + high) / 2


def power_sum(n: int, s: float) -> float:
    """Return ``sum of x^-s over x = 1..n`` by summing the head and Euler-Maclaurin for the rest."""
    head = min(n, 1000)
    total = float((np.arange(1, head + 1, dtype=np.float64) ** -s).sum())
    if n > head:
        a, b = head + 0.5, n + 0.5
        # (b^(1-s) - a^(1-s)) / (1-s), stable through s = 1
        grown = (1 - s) * math.log(b / a)
        integral = a ** (1 - s) * math.log(b / a) * (math.expm1(grown) / grown if grown else 1.0)
        total += integral + s * (b ** (-s - 1) - a ** (-s - 1)) / 24
    return total


def _blocks(start: float, stop: float, sd: float, n: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights that turn a sum over the counts in ``(start, stop]`` into a short weighted sum.

    Where the stretch ends at an end of the prior, 1 or n, 512 counts stand for themselves; over the rest go
    Gauss-Legendre blocks no wider than a tenth of their place and half a noise sd, from half-integer to half-integer
    (the midpoint rule, exact to second order).
    """
    first, last = math.floor(start), math.floor(stop)
    head_end = min(last, first + EXACT_COUNTS) if first == 0 else first
    tail_start = max(head_end, last - EXACT_COUNTS) if last == n else last
    exact = np.concatenate([np.arange(first, head_end), np.arange(tail_start, last)]) + 1.0
    edges = [head_end + 0.5]
    while edges[-1] < tail_start + 0.5:
        edges.append(min(edges[-1] + min(0.1 * edges[-1], 0.5 * sd), tail_start + 0.5))
    left, right = np.array(edges[:-1]), np.array(edges[1:])
    half = (right - left)[:, None] / 2
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS)  # not before it is used: importing it takes a while
    counts = ((left + right)[:, None] / 2 + half * nodes).ravel()
    return np.concatenate([exact, counts]), np.concatenate([np.ones_like(exact), (half * weights).ravel()])


class _Table:
    """Posterior means at evenly spaced noisy counts, between them cubic Hermite interpolation; constant outside."""

    def __init__(
        self, start: float, stop: float, sd: float, exponent: float, blocks: tuple[FloatArray, FloatArray]
    ) -> None:
        x, weight = blocks
        spacing = STEP if exponent < STEEP_EXPONENT else STEEP_STEP
        size = max(2, math.ceil((stop - start) / (spacing * sd)) + 1)
        counts, self.step = np.linspace(start, stop, size, retstep=True)
        self.start, self.last = start, size - 2
        log_posterior = np.log(weight) - exponent * np.log(x) - ((x - counts[:, None]) / sd) ** 2 / 2
        posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        self.mean = (posterior * x).sum(axis=1)
        # The slope of a posterior mean in the observation is the posterior variance over the noise variance.
        self.slope = (posterior * (x - self.mean[:, None]) ** 2).sum(axis=1) / sd**2 * self.step

    def __call__(self, counts: FloatArray) -> FloatArray:
        place = np.clip((counts - self.start) / self.step, 0.0, self.last + 1.0)
        cell = np.minimum(place.astype(np.int64), self.last)
        t = place - cell
        left, right = self.mean[cell], self.mean[cell + 1]
        rise = right - left
        bend_left, bend_right = self.slope[cell] - rise, rise - self.slope[cell + 1]
        return left + t * rise + t * (1 - t) * ((1 - t) * bend_left + t * bend_right)


def _far_from_zero(counts: FloatArray, exponent: float, sd: float) -> FloatArray:
    """Posterior mean where neither end of 1..n is felt: the derivative of the log marginal, in powers of sd/count.

    With t = sd/count the marginal is ``count^-s`` times the sum over j of ``s (s+1) ... (s+2j-1) / (2^j j!) t^2j``, and
    by Tweedie's formula the mean is the count plus sd^2 times the derivative of the marginal's logarithm.
    """
    t2 = (sd / counts) ** 2
    term = np.ones_like(t2)
    series, weighted = np.ones_like(t2), np.zeros_like(t2)
    for j in range(1, TAIL_TERMS + 1):
        term = term * t2 * (exponent + 2 * j - 2) * (exponent + 2 * j - 1) / (2 * j)
        series += term
        weighted += 2 * j * term
    return counts - sd**2 / counts * (exponent + weighted / series)


def _count_by_count(counts: FloatArray, n: int, exponent: float, sd: float) -> FloatArray:
    """Posterior mean summed over the counts within 30 of the observation, for noise below 1 count."""
    centre = np.clip(np.rint(counts), 1, n)[..., None]
    x = centre + np.arange(-FINE_REACH, FINE_REACH + 1)
    log_posterior = -exponent * np.log(np.maximum(x, 1)) - ((x - counts[..., None]) / sd) ** 2 / 2
    log_posterior = np.where((x >= 1) & (x <= n), log_posterior, -np.inf)
    posterior = np.exp(log_posterior - log_posterior.max(axis=-1, keepdims=True))
    return (posterior * x).sum(axis=-1) / posterior.sum(axis=-1)
