"""Expectation maximisation (EM) that stops before the maximum: stopping early is what keeps the answer smooth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.observed import Observed
from simulator.protocols.protocol import Likelihood

PUBLISHED_GAIN = 1e-3  # nats of all reports, times e^epsilon: the published rule
PUBLISHED_STEPS = 10_000
ONE_BY_ONE = 32  # steps of the published loop that are made as they are, before leaps
LEAP = 0.3  # of the steps so far that are made at once
MARGIN = 1.2  # on how fast the logarithms may answer, which is exact where the tally is as expected
GAIN = 0.1  # nats of all reports that an accelerated round must gain to be followed by another
ROUNDS = 50  # more cost time, and where many users leave little noise they follow it
FARTHEST = 20.0  # largest change of a logarithm in one extrapolation
LEAST = 1e-300  # keeps logarithms and quotients finite where frequencies have become 0
AT_ONCE = 8192  # numbers of a block of rows that stay in the cache together

Advance: TypeAlias = Callable[["_Climb", FloatArray, FloatArray, FloatArray], FloatArray]


def em(observed: Observed) -> FloatArray:
    """Return the frequencies ``(..., k)`` that EM has reached when a step gains less than ``1e-3 e^epsilon`` nats.

    From equal frequencies. Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, "Estimating numerical distributions under local
    differential privacy", SIGMOD 2020, with their stopping rule.

    After 32 steps the path is smooth, and is followed in leaps of a growing number of steps (see `_Climb.leap`): the
    answer is that of the loop but for 1 or 2 % of its own error, in a tenth of the time.
    """
    return _in_blocks(observed, _published)


def ems(observed: Observed) -> FloatArray:
    """Return the same with neighbours averaged after each step, by weights of 1, 2, 1 (at the ends 2, 1)."""
    return _in_blocks(observed, _published, smooth=True)


def em_stopped(observed: Observed) -> FloatArray:
    """Return the frequencies ``(..., k)`` that accelerated EM has reached when a round gains less than 0.1 nats.

    A round is two steps, an extrapolation from them, and a step (Varadhan, Roland, "Simple and globally convergent
    methods for accelerating the convergence of any EM algorithm", Scand. J. Statist. 2008: SQUAREM with the third of
    their step lengths), on logarithms, each weighted by its frequency: frequencies stay above 0, from where EM would
    never come back. An extrapolation that lowers the likelihood is replaced by the second step.
    """
    return _in_blocks(observed, lambda climb: _iterated(climb, _squared, GAIN, ROUNDS)[0])


def averaged(frequencies: FloatArray) -> FloatArray:
    """Return averages of neighbours, divided by their sum."""
    result = _averages(frequencies)
    return result / result.sum(axis=-1, keepdims=True)


def _averages(frequencies: FloatArray) -> FloatArray:
    """Return the same before the division, which logarithms need not."""
    result = 2 * frequencies
    result[..., 1:] += frequencies[..., :-1]
    result[..., :-1] += frequencies[..., 1:]
    result[..., 1:-1] /= 4
    result[..., 0] /= 3
    result[..., -1] /= 3
    return result


@dataclass(frozen=True)
class _Climb:
    """Tallies ``(rows, outputs)``, and how steps of EM climb their likelihoods."""

    likelihood: Likelihood
    counts: FloatArray
    smooth: bool = False  # whether neighbours are averaged after each step

    @cached_property
    def _shares(self) -> FloatArray:
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def of(self, rows: IntArray) -> _Climb:
        return _Climb(self.likelihood, self.counts[rows], self.smooth)

    def step(self, frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the next frequencies ``(rows, k)`` after some, and the log-likelihoods ``(rows,)`` of these."""
        likely = self.likelihood.forward(frequencies) + LEAST
        following = frequencies * self.likelihood.backward(self._shares / likely)
        return averaged(following) if self.smooth else following, (self.counts * np.log(likely)).sum(axis=1)

    def _change(self, logarithms: FloatArray) -> FloatArray:
        """Return what a step adds to the logarithms ``(rows, k)`` of frequencies that are divided by their sum."""
        frequencies = np.exp(np.clip(logarithms, math.log(LEAST), FARTHEST))
        frequencies /= frequencies.sum(axis=1, keepdims=True)
        factors = self.likelihood.backward(self._shares / (self.likelihood.forward(frequencies) + LEAST))
        if self.smooth:
            factors = _averages(frequencies * factors) / (frequencies + LEAST)
        return np.log(factors + LEAST)

    @cached_property
    def rate(self) -> float:
        """How fast the fastest part of the logarithms goes where the steps lead, a unit of time being a step.

        Smoothing takes the difference of neighbours away at once. Without it, the rate is what the channel keeps of
        the chi-square divergence of two inputs, at most that of two values (Ordentlich, Polyanskiy, "Strong data
        processing constant is achieved by binary inputs", IEEE Trans. Inf. Theory 2022).
        """
        if self.smooth:
            return 1.0
        first, last = self.likelihood.forward(_ends(self.likelihood.shape[0]))
        both = np.maximum(first + last, LEAST)
        return min(1.0, MARGIN * float(((first - last) ** 2 / both).sum()) / 2)

    def leap(self, start: FloatArray, following: FloatArray, steps: FloatArray, most: int) -> FloatArray:
        """Return about what so many steps ``(rows, 1)`` from the start reach, given the first and how many at most.

        A step is taken for a unit of time in a differential equation of the logarithms, and these are followed to
        second order with as many evaluations as the square root of twice the steps times the rate (Meyer, Balsara,
        Aslam, "A stabilized Runge-Kutta-Legendre method for explicit super-time-stepping of parabolic and mixed
        equations", J. Comput. Phys. 2014). What all logarithms have in common means nothing and is let go.
        """
        stages = max(3, math.ceil((math.sqrt(9 + 8 * most * self.rate) - 1) / 2) + 1)
        share = 4 / (stages**2 + stages - 2)
        parts = [1 / 3, 1 / 3, *((j**2 + j - 2) / (2 * j * (j + 1)) for j in range(2, stages + 1))]
        first = np.log(np.maximum(start, LEAST))
        change = np.log(np.maximum(following, LEAST)) - first
        former, latter = first, first + parts[1] * share * steps * change
        for j in range(2, stages + 1):
            own, other = (2 - 1 / j) * parts[j] / parts[j - 1], (1 / j - 1) * parts[j] / parts[j - 2]
            further = self._change(latter)
            further -= (1 - parts[j - 1]) * change
            further *= own * share * steps
            further += own * latter + other * former + (1 - own - other) * first
            former, latter = latter, further
        result = np.exp(np.clip(latter, math.log(LEAST), FARTHEST))
        return result / result.sum(axis=1, keepdims=True)


def _in_blocks(observed: Observed, climbed: Callable[[_Climb], FloatArray], *, smooth: bool = False) -> FloatArray:
    likelihood, tally = observed.likelihood, observed.tally
    if likelihood is None or tally is None:
        raise ValueError("em needs a likelihood and a tally, and there is none")
    counts = np.asarray(tally.counts, dtype=np.float64)
    rows, k = counts.reshape(-1, counts.shape[-1]), likelihood.shape[0]
    if rows.size and rows.sum(axis=1).min() < 1:
        raise ValueError("em needs at least 1 report, and there is none")
    size = max(1, AT_ONCE // k)
    blocks = (_Climb(likelihood, rows[start : start + size], smooth) for start in range(0, len(rows), size))
    return np.concatenate([np.empty((0, k)), *map(climbed, blocks)]).reshape(*counts.shape[:-1], k)


def _iterated(climb: _Climb, advance: Advance, least: float, most: int) -> tuple[FloatArray, IntArray]:
    """Go on from equal frequencies until a round gains less than `least`, each row until its own end.

    Also return which rows had not come to it after `most` rounds.
    """
    k = climb.likelihood.shape[0]
    current = np.full((len(climb.counts), k), 1 / k)
    result, rows = np.empty_like(current), np.arange(len(current))
    before = np.full(len(current), -np.inf)
    for _ in range(most):
        following, likely = climb.step(current)
        going = np.flatnonzero(likely - before >= least)
        if len(going) < len(rows):
            result[rows] = current
            rows, climb, likely, current, following = (
                rows[going], climb.of(going), likely[going], current[going], following[going]
            )  # fmt: skip
        if not len(rows):
            break
        before, current = likely, advance(climb, current, following, likely)
    result[rows] = current
    return result, rows


def _squared(climb: _Climb, current: FloatArray, first: FloatArray, likely: FloatArray) -> FloatArray:
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


def _ends(k: int) -> FloatArray:
    """Return frequencies ``(2, k)`` of the first value alone, and of the last."""
    result = np.zeros((2, k))
    result[0, 0] = result[1, -1] = 1.0
    return result


def _published(climb: _Climb) -> FloatArray:
    # No two values are told apart better than the first and the last, and nothing better than by e^epsilon.
    first, last = climb.likelihood.forward(_ends(climb.likelihood.shape[0]))
    least = PUBLISHED_GAIN * float((first / np.maximum(last, LEAST)).max())
    result, going = _iterated(climb, lambda _climb, _current, following, _likely: following, least, ONE_BY_ONE)
    if len(going):
        result[going] = _leapt(climb.of(going), result[going], least)
    return result


def _leapt(climb: _Climb, current: FloatArray, least: float) -> FloatArray:
    """Go on after `ONE_BY_ONE` steps until one gains less than `least`, each row until its own end."""
    result, rows, steps = np.empty_like(current), np.arange(len(current)), ONE_BY_ONE + 1
    current, before = climb.step(current)
    following, likely = climb.step(current)
    middle, gain = steps - 0.5, likely - before
    while len(rows):
        many = min(int(LEAP * steps), PUBLISHED_STEPS - steps)
        reached = climb.leap(current, following, np.full((len(rows), 1), float(many)), many)
        further, likelier = climb.step(reached)
        recent, end = (likelier - likely) / many, steps + many
        earlier, middle = middle, math.sqrt(steps * end)
        last = _crossing(earlier, gain, middle, recent, least) + 1
        ended = (last < end) | (end == PUBLISHED_STEPS)
        done, going = np.flatnonzero(ended), np.flatnonzero(~ended)
        if len(done):
            beyond = np.clip(last[done, None] - steps, 0.0, many)
            result[rows[done]] = climb.of(done).leap(current[done], following[done], beyond, many)
            rows, climb = rows[going], climb.of(going)
        current, following, likely, gain = reached[going], further[going], likelier[going], recent[going]
        steps = end
    return result


def _crossing(earlier: float, before: FloatArray, later: float, after: FloatArray, least: float) -> FloatArray:
    """Return the number of steps ``(rows,)`` at which the gain of one is `least`, given those at two numbers of steps.

    A power of the number of steps; where the gain does not fall, never.
    """
    before, after = (np.log(np.maximum(gain / least, LEAST)) for gain in (before, after))
    slope = (after - before) / math.log(later / earlier)
    falls = slope < 0
    power = np.divide(-after, slope, out=np.full_like(slope, FARTHEST), where=falls)
    result: FloatArray = later * np.exp(np.minimum(power, FARTHEST))
    return result
