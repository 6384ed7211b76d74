"""Expectation maximisation (EM) that stops before the maximum, as published, and an accelerated step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.observed import Observed
from simulator.protocols.protocol import Likelihood

PUBLISHED_GAIN = 1e-3  # nats of all reports, times e^epsilon: the published rule
PUBLISHED_STEPS = 10_000
PUBLISHED_DOMAIN = 128  # categories up to which the loops, of some thousand steps, are run unless they are named
FARTHEST = 20.0  # largest change of a logarithm in one extrapolation
LEAST = 1e-300  # keeps logarithms and quotients finite where frequencies have become 0
AT_ONCE = 8192  # numbers of a block of rows that stay in the cache together


def em(observed: Observed) -> FloatArray:
    """Return the frequencies ``(..., k)`` that EM has reached when a step gains less than ``1e-3 e^epsilon`` nats.

    From equal frequencies. Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, "Estimating numerical distributions under local
    differential privacy", SIGMOD 2020, with their stopping rule.
    """
    return in_blocks(observed, _published)


def ems(observed: Observed) -> FloatArray:
    """Return the same with neighbours averaged after each step, by weights of 1, 2, 1 (at the ends 2, 1)."""
    return in_blocks(observed, _published, smooth=True)


def averaged(frequencies: FloatArray) -> FloatArray:
    """Return averages of neighbours, by weights of 1, 2, 1 (at the ends 2, 1), divided by their sum."""
    flow = np.diff(frequencies, axis=-1)
    flow /= 4
    result = frequencies.copy()
    result[..., :-1] += flow
    result[..., 1:] -= flow
    result[..., 0] += flow[..., 0] / 3
    result[..., -1] -= flow[..., -1] / 3
    return result / result.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class Climb:
    """Tallies ``(rows, outputs)``, and how steps of EM climb their likelihoods."""

    likelihood: Likelihood
    counts: FloatArray
    smooth: bool = False  # whether neighbours are averaged after each step

    @cached_property
    def shares(self) -> FloatArray:
        """The share ``(rows, outputs)`` of each output."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def of(self, rows: IntArray) -> Climb:
        """Return the same for some rows."""
        return Climb(self.likelihood, self.counts[rows], self.smooth)

    def step(self, frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the next frequencies ``(rows, k)`` after some, and the log-likelihoods ``(rows,)`` of these."""
        likely = self.likelihood.forward(frequencies) + LEAST
        following = frequencies * self.likelihood.backward(self.shares / likely)
        return averaged(following) if self.smooth else following, (self.counts * np.log(likely)).sum(axis=1)


def in_blocks(observed: Observed, climbed: Callable[[Climb], FloatArray], *, smooth: bool = False) -> FloatArray:
    """Return the results for all tallies ``(..., k)``, a few rows at a time."""
    likelihood, tally = observed.likelihood, observed.tally
    if likelihood is None or tally is None:
        raise ValueError("em needs a likelihood and a tally, and there is none")
    counts = np.asarray(tally.counts, dtype=np.float64)
    rows, k = counts.reshape(-1, counts.shape[-1]), likelihood.shape[0]
    if rows.size and rows.sum(axis=1).min() < 1:
        raise ValueError("em needs at least 1 report, and there is none")
    size = max(1, AT_ONCE // k)
    blocks = (Climb(likelihood, rows[start : start + size], smooth) for start in range(0, len(rows), size))
    return np.concatenate([np.empty((0, k)), *map(climbed, blocks)]).reshape(*counts.shape[:-1], k)


def _published(climb: Climb) -> FloatArray:
    """Step from equal frequencies until a step gains too little, each row until it stops."""
    k = climb.likelihood.shape[0]
    # No two values differ more than the first and the last, and no likelihood ratio exceeds e^epsilon.
    first, last = climb.likelihood.forward(np.eye(k)[[0, -1]])
    least = PUBLISHED_GAIN * float((first / np.maximum(last, LEAST)).max())
    current = np.full((len(climb.counts), k), 1 / k)
    result, rows = np.empty_like(current), np.arange(len(current))
    before = np.full(len(current), -np.inf)
    for _ in range(PUBLISHED_STEPS):
        following, likely = climb.step(current)
        going = np.flatnonzero(likely - before >= least)
        if len(going) < len(rows):
            result[rows] = current
            rows, climb, likely, following = rows[going], climb.of(going), likely[going], following[going]
        before, current = likely, following
        if not len(rows):
            break
    result[rows] = current
    return result


def squared(climb: Climb, current: FloatArray, first: FloatArray, likely: FloatArray) -> FloatArray:
    """Return where an accelerated round goes from some frequencies, given the step from there and their likelihoods.

    A round is two steps, an extrapolation from them, and a step (Varadhan, Roland, "Simple and globally convergent
    methods for accelerating the convergence of any EM algorithm", Scand. J. Statist. 2008: SQUAREM with the third of
    their step lengths), on logarithms, each weighted by its frequency: frequencies stay above 0, from where EM would
    never come back. An extrapolation that lowers the likelihood is replaced by the second step.
    """
    second, of_first = climb.step(first)
    start, one, two = (np.log(np.maximum(each, LEAST)) for each in (current, first, second))
    change = one - start
    turn = two - one - change
    squares = [(second * each * each).sum(axis=1, keepdims=True) for each in (change, turn)]
    length = np.maximum(np.sqrt(squares[0] / np.maximum(squares[1], LEAST)), 1.0)  # 1 is the second step itself
    moved = 2 * (length - 1) * change + (length**2 - 1) * turn
    guess = second * np.exp(np.clip(moved, -FARTHEST, FARTHEST))
    guess /= guess.sum(axis=1, keepdims=True)
    third, of_guess = climb.step(guess)
    return np.where((of_guess >= np.maximum(of_first, likely))[:, None], third, second)
