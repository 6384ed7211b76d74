"""What LDPcube, the platform of the LDP3 benchmark paper, computes: read in its source, and written anew.

The platform is https://github.com/alrzakh/LDPcube; its successor with the data sets of the paper is
https://github.com/alrzakh/LDPcubePlus. Estimates have shape ``(repetitions, k)`` and are frequencies.
"""

from __future__ import annotations

import math

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.power import power_sum

GRAIN = 10  # the platform rounds counts to tens and adds five
REACH = 25_000  # counts on each side of an estimate that its posterior mean takes in
FLOOR = 1e-32  # the weight of a count whose likelihood is 0 in double precision
UNDERFLOW = 745.14  # exp(-x) is 0 beyond it


def variance(protocol: str, epsilon: float, counts: IntArray) -> float:
    """Return the variance of an estimate (frequency squared) that Power goes by.

    Its formulas are given the list of counts for the data. So the number of categories stands for the number of users,
    and the number of different counts for the number of categories. Subset selection has the formula of randomised
    response, in which e^epsilon multiplies the number of categories instead of being added to it.
    """
    odds, users, categories = math.exp(epsilon), len(counts), len(np.unique(counts))
    half = math.exp(epsilon / 2)
    numerator, denominator = {
        "grr": (odds * categories - 2, (odds - 1) ** 2),
        "ss": (odds * categories - 2, (odds - 1) ** 2),
        "rappor": (half, (half - 1) ** 2),
        "blh": ((odds + 1) ** 2, (odds - 1) ** 2),
        "olh": (4 * odds, (odds - 1) ** 2),
        "oue": (4 * odds, (odds - 1) ** 2),
    }[protocol]
    return numerator / (denominator * users) / int(counts.sum())


def norm_cut(estimate: FloatArray) -> FloatArray:
    """Keep the largest estimates up to the first that takes their sum past 1, and rescale what is kept to 1."""
    falling = -np.sort(-estimate, axis=-1)
    sums = np.cumsum(falling, axis=-1)
    past = sums > 1
    last = np.where(past.any(axis=-1), past.argmax(axis=-1), estimate.shape[-1] - 1)[:, None]
    kept = estimate >= np.take_along_axis(falling, last, axis=-1)
    return np.where(kept, estimate, 0.0) / np.take_along_axis(sums, last, axis=-1)


def norm_sub(estimate: FloatArray, projected: FloatArray) -> FloatArray:
    """Return the estimate where it is not negative and sums to 0 to 2, else its projection, which is handed in."""
    stays = (np.abs(estimate.sum(axis=-1, keepdims=True) - 1) <= 1) & (estimate >= 0).all(axis=-1, keepdims=True)
    return np.where(stays, estimate, projected)


def power(estimate: FloatArray, n: int, variance: float) -> FloatArray:
    """Return the posterior means of Power, one repetition after the other.

    variance: of an estimate, as a frequency squared.
    """
    logs = np.log(np.arange(1, n + 1))
    return np.stack([_posterior_means(row * n, n, variance * n**2, logs) for row in estimate]) / n


def _posterior_means(counts: FloatArray, n: int, variance: float, logs: FloatArray) -> FloatArray:
    exponent = _exponent(float(counts.mean()), n)
    weights = np.exp(-exponent * logs)  # prior of the counts 1..n
    moments = np.stack([weights, weights * np.arange(1, n + 1)])
    sums = np.concatenate([np.zeros((2, 1)), moments.cumsum(axis=1)], axis=1)
    spread = math.sqrt(2 * variance * UNDERFLOW)
    grains, place = np.unique(np.rint(counts / GRAIN), return_inverse=True)
    centres = GRAIN * grains + GRAIN / 2
    return np.array([_mean(float(at), n, variance, spread, moments, sums) for at in centres])[place]


def _mean(at: float, n: int, variance: float, spread: float, moments: FloatArray, sums: FloatArray) -> float:
    """Sum over the counts near an estimate one by one, and at the floor over the rest of its window."""
    # A negative end counts from the end of the list: far below 0 the window is nearly all counts.
    start, stop, _ = slice(max(0, int(at) - REACH), min(n, int(at) + REACH)).indices(n)
    low, high = np.clip([math.floor(at - spread), math.ceil(at + spread)], start, max(start, stop))
    likelihood = np.exp(-((at - np.arange(low + 1, high + 1)) ** 2) / 2 / variance)
    likelihood[likelihood == 0] = FLOOR
    rest = sums[:, low] - sums[:, start] + sums[:, stop] - sums[:, high]
    mass, first = moments[:, low:high] @ likelihood + FLOOR * rest
    return float(first / mass)


def _exponent(mean: float, n: int) -> float:
    """Return the exponent at which the prior mean is within .01 of a count, by halving as the platform does."""
    if mean < 1:
        return 1.01
    high = 2.0
    while _prior_mean(high, n) > mean:
        high *= 2
    low, exponent = high / 2, 0.75 * high
    for _ in range(1000):
        found = _prior_mean(exponent, n)
        if abs(found - mean) <= 0.01:
            break
        low, high = (exponent, high) if found > mean else (low, exponent)
        exponent = (low + high) / 2
    return exponent


def _prior_mean(exponent: float, n: int) -> float:
    return power_sum(n, exponent - 1) / power_sum(n, exponent)


def kl(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the divergence of the estimate from the truth, summed where both are positive."""
    both = (estimate > 0) & (truth > 0)
    ratio = np.divide(estimate, truth, out=np.ones_like(estimate), where=both)
    return (np.where(both, estimate, 0.0) * np.log(ratio)).sum(axis=-1)


def emd(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the sum of the distances of the two running sums."""
    return np.abs(np.cumsum(estimate - truth, axis=-1)).sum(axis=-1)
