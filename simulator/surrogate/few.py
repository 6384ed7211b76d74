"""Populations of few categories: the posterior under a weak prior and the exact noise, for any protocol."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise
from simulator.surrogate.particles import particles

FEW, MANY = 12, 24  # number of categories up to which only these draws are used, and from which on none are
WAVES = 5  # of a logarithm that is smooth along the order


def share_of_few(k: int) -> float:
    """Return which share of all draws are these: all up to 12 categories, none from 24 on."""
    return float(np.clip((MANY - k) / (MANY - FEW), 0.0, 1.0))


def few_populations(
    estimate: FloatArray, noise: Noise, *, ordered: bool, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draw frequencies ``(draws, k)`` that may be behind an estimate; rows sum to 1.

    The prior is logistic normal (Aitchison, Shen, "Logistic-normal distributions", 1980): logarithms of frequencies
    spread by a standard deviation that is itself log-normal around 1, so that even and lopsided populations are as
    likely as each other. Where the categories have an order, an unknown share of that variance is smooth along it.
    """
    k = len(estimate)
    waves = WAVES if ordered else 0

    def log_likelihoods(numbers: FloatArray) -> FloatArray:
        return _log_likelihoods(estimate, noise, _frequencies(numbers, k))

    return _frequencies(particles((2 + waves + k,), log_likelihoods, draws, rng)[0], k)


def _frequencies(numbers: FloatArray, k: int) -> FloatArray:
    """Return the frequencies of candidates: a scale, how much is smooth, cosines, and a number for each category."""
    from scipy.special import ndtr  # imported when used

    logs = numbers[:, -k:]
    waves = numbers.shape[1] - k - 2
    if waves:
        order = np.arange(1, waves + 1)
        cosines = np.cos(np.pi * order[:, None] * (np.arange(k) + 0.5) / k) / order[:, None]
        smooth = numbers[:, 2 : 2 + waves] @ cosines / np.sqrt((cosines**2).sum(axis=0).mean())
        share = ndtr(numbers[:, 1:2])
        logs = np.sqrt(1 - share) * logs + np.sqrt(share) * smooth
    logs = np.exp(numbers[:, :1]) * logs
    frequencies = np.exp(logs - logs.max(axis=1, keepdims=True))
    return frequencies / frequencies.sum(axis=1, keepdims=True)


def _log_likelihoods(estimate: FloatArray, noise: Noise, frequencies: FloatArray) -> FloatArray:
    """Return the log-likelihood of an estimate under frequencies of the participants, up to a constant.

    Gaussian, with the exact variance of the reports of n users. What cancels in the sum is shared evenly: if estimates
    sum to 1, k of them have the information of k - 1.
    """
    k = len(estimate)
    variance = noise.entry(frequencies) * (1 + noise.cancelled / (k - 1))
    squares = ((estimate - frequencies) ** 2 / variance).sum(axis=1)
    return -(squares + (1 - noise.cancelled / k) * np.log(variance).sum(axis=1)) / 2
