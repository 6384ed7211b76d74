"""Draws from a posterior whose prior is of standard normal numbers, in steps; and the one of few frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import even_sd, resampled

LogLikelihoods: TypeAlias = Callable[[FloatArray], FloatArray]  # of candidates ``(rows, ...)``: ``(rows,)``

CANDIDATES = 4000  # from the prior
LEFT = 0.5  # how many of those that go on a step towards the posterior must leave in effect
MOVES, LAST_MOVES = 10, 20  # after each step, including the last
CHANGED = 0.2  # share of the numbers of a candidate that a move within the prior changes
STEPS = (0.01, 1.0)  # how far it goes: from next to nowhere to afresh
BISECTIONS = 30
CROSSED = 0.5  # share of the numbers that a move along the difference of others changes
SCALE, JITTER = (-1.0, 0.7), 1e-3  # mean and sd of the logarithm of how much of the difference, and noise beside it


def particles(
    shape: tuple[int, ...], log_likelihoods: LogLikelihoods, rows: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return draws ``(rows, *shape)`` from a posterior, and the logarithm of the evidence.

    With each step the likelihood counts more; candidates are resampled by their likelihood, and then moved. The
    evidence is the product of their mean weights (Del Moral, Doucet, Jasra, "Sequential Monte Carlo samplers", 2006).

    shape: of a candidate: standard normal numbers, which are as easy to draw as to move.
    """
    now = rng.standard_normal((CANDIDATES, *shape))
    logs = log_likelihoods(now)
    power = evidence = 0.0
    while power < 1:
        step = _step(logs, 1 - power, LEFT * rows)
        evidence += float(np.log(np.exp(step * (logs - logs.max())).mean()) + step * logs.max())
        power = 1.0 if step == 1 - power else power + step
        chosen = resampled(step * logs, rows, rng)
        now, logs = now[chosen], logs[chosen]
        for _ in range(MOVES + LAST_MOVES * (power == 1)):
            now, logs = _moved(now, logs, power, log_likelihoods, rng)
    return now[rng.permutation(rows)], evidence


def _step(logs: FloatArray, most: float, left: float) -> float:
    """Return the increase of the likelihood's power that keeps at least the given effective number of candidates."""
    centred = logs - logs.max()

    def effective(step: float) -> float:
        weights = np.exp(step * centred)
        return float(weights.sum() ** 2 / (weights**2).sum())

    if not effective(most) < left:  # nor without information: estimates beyond all bounds
        return most
    low, high = 0.0, most
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(middle) >= left else (low, middle)
    return high


def _moved(
    now: FloatArray, logs: FloatArray, power: float, log_likelihoods: LogLikelihoods, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return candidates of which half have gone two Metropolis steps, and their log-likelihoods, counted by a power.

    The first step keeps to the prior (Neal, "Regression and classification using Gaussian process priors", 1998). The
    other goes along the difference of two candidates of the other half, which follows the width of the posterior (ter
    Braak, "A Markov chain Monte Carlo version of the genetic algorithm differential evolution", 2006).
    """
    order = rng.permutation(len(now))
    mine, others = order[: len(now) // 2], now[order[len(now) // 2 :]]
    moved, likely = now[mine], logs[mine]
    each = (len(mine),) + (1,) * (now.ndim - 1)
    inner = tuple(range(1, now.ndim))
    for within in (True, False):
        noise, some = rng.standard_normal(moved.shape), rng.random(moved.shape)
        if within:
            step = STEPS[0] * (STEPS[1] / STEPS[0]) ** rng.random(each) * (some < CHANGED)
            tried, prior = np.sqrt(1 - step**2) * moved + step * noise, np.zeros(len(mine))
        else:
            first, second = rng.integers(len(others), size=(2, len(mine)))
            scale = np.exp(SCALE[1] * rng.standard_normal(each) + SCALE[0])
            tried = moved + (scale * (others[first] - others[second]) + JITTER * noise) * (some < CROSSED)
            prior = ((moved**2).sum(axis=inner) - (tried**2).sum(axis=inner)) / 2
        proposed = log_likelihoods(tried)
        taken = np.log(rng.random(len(mine))) < power * (proposed - likely) + prior
        moved, likely = np.where(taken.reshape(each), tried, moved), np.where(taken, proposed, likely)
    now, logs = now.copy(), logs.copy()
    now[mine], logs[mine] = moved, likely
    return now, logs


SURE = 1e-3  # noise below which any prior is flat, and steps from a wide one end before they are there
FEW, MANY = 12, 24  # number of categories up to which only these draws are used, and from which on none are
WAVES = 5  # of a logarithm that is smooth along the order
THRESHOLD = 0.5  # up to which logarithms are equal: standard deviation, in those of the logarithms; half have none


def share_of_few(k: int) -> float:
    """Return which share of all draws are these: all up to 12 categories, none from 24 on."""
    return float(np.clip((MANY - k) / (MANY - FEW), 0.0, 1.0))


def few_populations(
    estimate: FloatArray, noise: Noise, *, ordered: bool, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draw frequencies ``(draws, k)`` that may be behind an estimate; rows sum to 1.

    The prior is logistic normal (Aitchison, Shen, "Logistic-normal distributions", 1980): logarithms of frequencies
    spread by a standard deviation that is itself log-normal around 1, so that even and lopsided populations are as
    likely as each other. In half of all populations frequencies near the middle are exactly equal, by a soft threshold:
    without it few would be, and methods that suit those would seldom be said to be best. Where the categories have an
    order, an unknown share of the variance is smooth along it. With next to no noise the prior is flat, and frequencies
    near 0 may be drawn a little below it.
    """
    k = len(estimate)
    if even_sd(noise, k) < SURE:
        errors = rng.standard_normal((draws, k)) * np.sqrt(_variance(noise, np.clip(estimate, 0.0, 1.0)))
        return estimate + (1 - estimate.sum()) / k + errors - errors.mean(axis=1, keepdims=True)
    waves = WAVES if ordered else 0

    def log_likelihoods(numbers: FloatArray) -> FloatArray:
        return _log_likelihoods(estimate, noise, _frequencies(numbers, k))

    return _frequencies(particles((3 + waves + k,), log_likelihoods, draws, rng)[0], k)


def _frequencies(numbers: FloatArray, k: int) -> FloatArray:
    """Return the frequencies of candidates.

    They are a scale, a threshold, how much is smooth, cosines, and a number for each category.
    """
    from scipy.special import ndtr  # imported when used

    apart = numbers[:, -k:]
    threshold = np.maximum(THRESHOLD * numbers[:, 1:2], 0.0)
    logs = np.sign(apart) * np.maximum(np.abs(apart) - threshold, 0.0)
    waves = numbers.shape[1] - k - 3
    if waves:
        order = np.arange(1, waves + 1)
        cosines = np.cos(np.pi * order[:, None] * (np.arange(k) + 0.5) / k) / order[:, None]
        smooth = numbers[:, 3 : 3 + waves] @ cosines / np.sqrt((cosines**2).sum(axis=0).mean())
        share = ndtr(numbers[:, 2:3])
        logs = np.sqrt(1 - share) * logs + np.sqrt(share) * smooth
    logs = np.exp(numbers[:, :1]) * logs
    frequencies = np.exp(logs - logs.max(axis=1, keepdims=True))
    return frequencies / frequencies.sum(axis=1, keepdims=True)


def _log_likelihoods(estimate: FloatArray, noise: Noise, frequencies: FloatArray) -> FloatArray:
    """Return the log-likelihood of an estimate under frequencies of the participants, up to a constant.

    Gaussian, with the exact variance of the reports of n users.
    """
    k = len(estimate)
    variance = _variance(noise, frequencies)
    squares = ((estimate - frequencies) ** 2 / variance).sum(axis=1)
    return -(squares + (1 - noise.cancelled / k) * np.log(variance).sum(axis=1)) / 2


def _variance(noise: Noise, frequencies: FloatArray) -> FloatArray:
    """Return the variances ``(..., k)`` of estimates as if they were independent.

    What cancels in the sum is shared evenly: if estimates sum to 1, k of them have the information of k - 1.
    """
    return noise.entry(frequencies) * (1 + noise.cancelled / (frequencies.shape[-1] - 1))
