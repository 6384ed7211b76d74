"""Expectation maximisation (EM) that stops before the maximum: stopping early is what keeps the answer smooth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from simulator._types import FloatArray
from simulator.methods.observed import Observed
from simulator.protocols.protocol import Likelihood

PUBLISHED_GAIN = 1e-3  # nats of all reports, times e^epsilon: the published rule
PUBLISHED_STEPS = 10_000
GAIN = 0.1  # nats of all reports that an accelerated round must gain to be followed by another
ROUNDS = 200
FARTHEST = 20.0  # largest change of a logarithm in one extrapolation
LEAST = 1e-300  # keeps logarithms and quotients finite where frequencies have become 0

Step: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
Advance: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray, Step], FloatArray]


def em(observed: Observed) -> FloatArray:
    """Return the frequencies ``(..., k)`` that EM has reached when a step gains less than ``1e-3 e^epsilon`` nats.

    From equal frequencies. Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, "Estimating numerical distributions under local
    differential privacy", SIGMOD 2020, with their stopping rule.
    """
    return _published(observed, lambda _current, following, _likely, _step: following)


def ems(observed: Observed) -> FloatArray:
    """Return the same with neighbours averaged after each step, by weights of 1, 2, 1 (at the ends 2, 1)."""
    return _published(observed, lambda _current, following, _likely, _step: averaged(following))


def em_stopped(observed: Observed) -> FloatArray:
    """Return the frequencies ``(..., k)`` that accelerated EM has reached when a round gains less than 0.1 nats.

    A round is two steps, an extrapolation from them, and a step (Varadhan, Roland, "Simple and globally convergent
    methods for accelerating the convergence of any EM algorithm", Scand. J. Statist. 2008: SQUAREM with the third of
    their step lengths), on logarithms, each weighted by its frequency: frequencies stay above 0, from where EM would
    never come back. An extrapolation that lowers the likelihood is replaced by the second step.
    """
    return _iterated(observed, _squared, GAIN, ROUNDS)


def averaged(frequencies: FloatArray) -> FloatArray:
    """Return averages of neighbours, divided by their sum."""
    result = 2 * frequencies
    result[..., 1:] += frequencies[..., :-1]
    result[..., :-1] += frequencies[..., 1:]
    result[..., 1:-1] /= 4
    result[..., [0, -1]] /= 3
    return result / result.sum(axis=-1, keepdims=True)


def _published(observed: Observed, advance: Advance) -> FloatArray:
    likelihood, *_ = _given(observed)
    # No two values are told apart better than the first and the last, and nothing better than by e^epsilon.
    ends = np.zeros((2, likelihood.shape[0]))
    ends[0, 0] = ends[1, -1] = 1.0
    first, last = (likelihood.forward(end) for end in ends)
    ratio = float((first / np.maximum(last, LEAST)).max())
    return _iterated(observed, advance, PUBLISHED_GAIN * ratio, PUBLISHED_STEPS)


def _given(observed: Observed) -> tuple[Likelihood, tuple[int, ...], FloatArray]:
    """Return the likelihood, the shape of the counts of outputs, and these as ``(rows, outputs)``."""
    if observed.likelihood is None or observed.tally is None:
        raise ValueError("em needs a likelihood and a tally, and there is none")
    counts = np.asarray(observed.tally.counts, dtype=np.float64)
    return observed.likelihood, counts.shape, counts.reshape(-1, counts.shape[-1])


def _iterated(observed: Observed, advance: Advance, least: float, most: int) -> FloatArray:
    """Go on from equal frequencies until a round gains less than `least`, each row until its own end."""
    likelihood, shape, counts = _given(observed)
    if counts.size and counts.sum(axis=1).min() < 1:
        raise ValueError("em needs at least 1 report, and there is none")
    current = np.full((len(counts), likelihood.shape[0]), 1 / likelihood.shape[0])
    result, rows = np.empty_like(current), np.arange(len(counts))
    before = np.full(len(counts), -np.inf)
    for _ in range(most):
        step = _step_of(likelihood, counts)
        following, likely = step(current)
        going = likely - before >= least
        result[rows[~going]] = current[~going]
        if not going.all():
            rows, counts, likely = rows[going], counts[going], likely[going]
            current, following = current[going], following[going]
            step = _step_of(likelihood, counts)
        if not len(rows):
            break
        before, current = likely, advance(current, following, likely, step)
    result[rows] = current
    return result.reshape(*shape[:-1], likelihood.shape[0])


def _step_of(likelihood: Likelihood, counts: FloatArray) -> Step:
    """Return what makes the next frequencies ``(rows, k)`` of some, and the log-likelihoods ``(rows,)`` of these."""
    shares = counts / counts.sum(axis=1, keepdims=True)

    def step(frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
        likely = np.maximum(likelihood.forward(frequencies), LEAST)
        following = frequencies * likelihood.backward(shares / likely)
        return following, (counts * np.log(likely)).sum(axis=1)

    return step


def _squared(current: FloatArray, first: FloatArray, likely: FloatArray, step: Step) -> FloatArray:
    second, of_first = step(first)
    start, one, two = (np.log(np.maximum(each, LEAST)) for each in (current, first, second))
    change, weights = one - start, np.sqrt(second)
    turn = two - one - change
    squares = [((weights * each) ** 2).sum(axis=1, keepdims=True) for each in (change, turn)]
    length = np.maximum(np.sqrt(squares[0] / np.maximum(squares[1], LEAST)), 1.0)  # 1 is the second step itself
    moved = start + 2 * length * change + length**2 * turn - two
    guess = second * np.exp(np.clip(moved, -FARTHEST, FARTHEST))
    guess /= guess.sum(axis=1, keepdims=True)
    third, of_guess = step(guess)
    return np.where((of_guess >= np.maximum(of_first, likely))[:, None], third, second)
