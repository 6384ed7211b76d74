"""Square wave: report a place, more likely near the true value, on a line a little longer than the domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports
from simulator.draws import binomial, multinomial
from simulator.protocols.oracle import SymbolProtocol, shared_by_best
from simulator.protocols.protocol import Likelihood, Probabilities, StandardProtocol, Tally, users_of

SMALL = 1e-3  # of epsilon: below, the best width is that of the series


@dataclass(frozen=True)
class SquareWave(SymbolProtocol, StandardProtocol):
    """Report a place out of k + 2b: those up to b from the true value's are e^epsilon times as likely as the others.

    Value v has its place at v + b. Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, "Estimating numerical distributions under
    local differential privacy", SIGMOD 2020; b is theirs, rounded down. Estimates use the likelihood; there is no
    useful linear estimate.

    Parameters and errors as for `StandardProtocol`.
    """

    key: ClassVar[str] = "sw"
    title: ClassVar[str] = "Square wave"
    reference: ClassVar[str] = "Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, SIGMOD 2020"
    acronym: ClassVar[bool] = True
    report_kind: ClassVar[str] = "symbol"
    ordered_only: ClassVar[bool] = True

    @cached_property
    def reach(self) -> int:
        """How many places b on either side count as near."""
        epsilon = self.epsilon
        if epsilon < SMALL:  # both differences vanish as epsilon^2 / 2
            share = 0.5 - epsilon / 3
        else:
            grown = math.expm1(epsilon)
            share = (epsilon * (grown + 1) - grown) / (2 * (grown + 1) * (grown - epsilon))
        return math.floor(self.k * share)

    @property
    def width(self) -> int:
        """Number of places that are near a value."""
        return 2 * self.reach + 1

    @property
    def symbols(self) -> int:
        """Number of places."""
        return self.k + 2 * self.reach

    @property
    def p(self) -> float:
        """Probability of a given place near the true value."""
        return 1 / (self.width + (self.k - 1) * math.exp(-self.epsilon))

    @property
    def q(self) -> float:
        """Probability of a given other place."""
        return math.exp(-self.epsilon) * self.p

    @property
    def attack_success(self) -> float:
        return self.p * self.symbols / self.k

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        near = rng.random(len(values)) < self.width * self.p
        places = rng.integers(0, self.width, size=len(values)), rng.integers(0, self.k - 1, size=len(values))
        # Of the others, those before the value's window keep their numbers, and those after it follow.
        others = np.where(places[1] < values, places[1], places[1] + self.width)
        return np.where(near, values + places[0], others)

    def sample_tally(self, counts: IntArray, rng: np.random.Generator) -> Tally:
        # Staying near with probability w (p - q) and else drawing from all places is the same channel.
        near = binomial(counts, self.width * (self.p - self.q), rng)
        rest = counts.sum(axis=-1) - near.sum(axis=-1)
        even = multinomial(rest, np.full(self.symbols, 1 / self.symbols), rng)
        return Tally(even + _scattered(near, self.width, rng), users_of(counts))

    @cached_property
    def likelihood(self) -> SquareWaveLikelihood:
        return SquareWaveLikelihood(self.k, self.width, self.p, self.q)

    def server_operations(self, n: int) -> int:
        return self.symbols

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        """Return which of two values each report is near, and of how many."""
        first, second = ((reports >= value) & (reports < value + self.width) for value in values)
        places = np.asarray(reports, dtype=np.int64)
        near = np.minimum(places, self.k - 1) - np.maximum(places - self.width + 1, 0) + 1
        return Supports(first, second, near, self.k)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        named = self.chances(np.arange(self.symbols), values, attack)
        running = np.concatenate([[0.0], np.cumsum(named)])
        near = [running[value + self.width] - running[value] for value in values]
        held, other = (self.q * running[-1] + (self.p - self.q) * each for each in near)
        return float(held), float(other)

    def informed_guess(self, frequencies: FloatArray) -> float:
        from scipy.ndimage import maximum_filter1d  # only a square wave with a sample needs it

        padded = np.pad(frequencies, self.width - 1)
        near = maximum_filter1d(padded, self.width, origin=-(self.width // 2), mode="constant")[: self.symbols]
        return float(np.maximum(self.p * near, self.q * frequencies.max()).sum())

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        """Return reports of the places where the targets are likeliest, if all values are equally frequent.

        EM shares a report out by likelihood, so one that is near few other values counts more: reports near most
        targets raise their frequencies by less, and at times by nothing.
        """
        places = np.arange(self.symbols)
        near = ((places[:, None] >= targets) & (places[:, None] < targets + self.width)).sum(axis=1)
        among = np.minimum(np.minimum(places, places[::-1]) + 1, min(self.width, self.k))

        def weight(near: IntArray, values: int) -> FloatArray:
            return np.asarray(self.q * values + (self.p - self.q) * near, dtype=np.float64)

        return Tally(shared_by_best(weight(near, len(targets)) / weight(among, self.k), fakes, rng), fakes)


class SquareWaveLikelihood(Likelihood):
    """Products with the matrix of a square wave, by running sums: O(k) each, and of batches ``(..., k)`` too."""

    local: ClassVar[bool] = True

    def __init__(self, k: int, width: int, p: float, q: float) -> None:
        self._k, self._width, self._p, self._q = k, width, p, q

    @property
    def shape(self) -> tuple[int, int]:
        return self._k, self._k + self._width - 1

    def coarser(self, most: float, window: int) -> SquareWaveLikelihood | None:
        """Return the same of cells of one size, of which the window is a whole number; None if they would be values.

        Among windows of up to a third more cells, that for which the line is most nearly a whole number of cells too.
        """
        least = max(window, math.ceil(self._width / most))
        if self._width < 1.5 * least:
            return None
        windows = np.arange(least, least + least // 3)
        lines = self._k * windows / self._width
        best = np.argmin(abs(lines - np.rint(lines)))
        k, width, ratio = int(np.rint(lines[best])), int(windows[best]), self._q / self._p
        p = 1 / (width + (k - 1) * ratio)
        return SquareWaveLikelihood(k, width, p, ratio * p)

    def forward(self, frequencies: FloatArray) -> FloatArray:
        result = np.empty((*frequencies.shape[:-1], self.shape[1]))
        # A place is near the values up to its number, and at most the width before it.
        running = result[..., : self._k]
        _running_sums(frequencies, running)
        total = running[..., -1:].copy()
        result[..., self._k :] = total
        result[..., self._width :] -= running[..., :-1]
        result *= self._p - self._q
        result += self._q * total
        return result

    def backward(self, weights: FloatArray) -> FloatArray:
        running = np.empty((*weights.shape[:-1], weights.shape[-1] + 1))
        running[..., 0] = 0.0
        _running_sums(weights, running[..., 1:])
        result = running[..., self._width :] - running[..., : self._k]
        result *= self._p - self._q
        result += self._q * running[..., -1:]
        return result

    def backward_squares(self, weights: FloatArray) -> FloatArray:
        # There are two probabilities x, p and q, and for both of them x^2 = (p + q) x - p q.
        total = weights.sum(axis=-1, keepdims=True)
        return (self._p + self._q) * self.backward(weights) - self._p * self._q * total

    def in_cells(self, edges: IntArray) -> tuple[Callable[[FloatArray], FloatArray], IntArray]:
        k, outputs = self.shape
        # Along such a stretch of places the first and the last value that is near stay in their cells.
        starts = np.union1d(edges, np.minimum(edges + self._width, outputs))
        middles = (starts[:-1] + starts[1:] + 1) / 2  # values up to the middle place
        # Of these some are all values, and the values that are too far back are none at first.
        rising, falling = np.count_nonzero(middles < k), np.count_nonzero(middles <= self._width)
        ends = np.concatenate([middles[:rising], middles[falling:] - self._width])
        cell = np.searchsorted(edges, ends, side="right") - 1
        share = ((ends - edges[cell]) / (edges[cell + 1] - edges[cell]))[:, None]

        def forward(sums: FloatArray) -> FloatArray:
            running = np.zeros((len(edges), sums.shape[1]))
            _running_sums(sums.T, running[1:].T, short=32)

            def up_to(part: slice) -> FloatArray:
                own = sums.take(cell[part], axis=0)
                own *= share[part]
                own += running.take(cell[part], axis=0)
                return own

            result = np.empty((len(middles), sums.shape[1]))
            result[:rising] = up_to(slice(rising))
            result[rising:] = running[-1]
            result[falling:] -= up_to(slice(rising, None))
            result *= self._p - self._q
            result += self._q * running[-1]
            return result

        return forward, np.diff(starts)


def _running_sums(values: FloatArray, out: FloatArray, short: int = 256) -> None:
    """Write the running sums along the last axis of a batch, by way of those of pairs.

    Each sum waits for the sum before it, so that short rows take less time than long ones.
    """
    if values.ndim == 1 or values.shape[-1] <= short:
        np.cumsum(values, axis=-1, out=out)
        return
    _running_sums(values[..., :-1:2] + values[..., 1::2], out[..., 1::2], short)
    out[..., 0] = values[..., 0]
    np.add(out[..., 1:-1:2], values[..., 2::2], out=out[..., 2::2])


def _scattered(starts: IntArray, width: int, rng: np.random.Generator) -> IntArray:
    """Draw a place for each user, evenly among the `width` places from the user's start on: ``(..., k + width - 1)``.

    The line is cut into blocks of that width. A user's places are the end of a block and the beginning of the next:
    first the block is drawn, then the place in it. That takes a number of draws that grows with k log k, for any number
    of users.
    """
    if width == 1:
        return starts.copy()
    *shape, k = starts.shape
    blocks = -(-k // width)
    users = np.zeros((*shape, blocks * width), dtype=np.int64)
    users[..., :k] = starts
    users = users.reshape(*shape, blocks, width)
    places = np.arange(width)
    ending = binomial(users, (width - places) / width, rng)
    beginning = users - ending  # of those who start at place s of a block, among the first s places of the next
    result = np.zeros((*shape, blocks + 1, width), dtype=np.int64)
    result[..., :-1, :] += _along_suffixes(ending, rng)
    mirrored = np.zeros_like(beginning)
    mirrored[..., 1:] = beginning[..., :0:-1]  # the first s places, seen from the other end, are those from w - s on
    result[..., 1:, :] += _along_suffixes(mirrored, rng)[..., ::-1]
    return result.reshape(*shape, -1)[..., : k + width - 1]


def _along_suffixes(starts: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw a place for each user, evenly among the places ``(..., width)`` from the user's start to the end.

    By halves: a user who leaves the left half of a range is anywhere in its right half, as if started at its beginning.
    """
    width = starts.shape[-1]
    size = 1 << (width - 1).bit_length()
    users = np.zeros((*starts.shape[:-1], size), dtype=np.int64)
    users[..., :width] = starts
    while size > 1:
        stretches = users.reshape(*starts.shape[:-1], -1, size)
        half = size // 2
        first = np.arange(stretches.shape[-2])[:, None] * size
        middle, end = np.minimum(first + half, width), np.minimum(first + size, width)
        start = first + np.arange(half)
        leaving = np.divide(end - middle, end - start, out=np.zeros(start.shape), where=start < end)
        gone = binomial(stretches[..., :half], leaving, rng)
        stretches[..., :half] -= gone
        stretches[..., half] += gone.sum(axis=-1)
        size = half
    return users[..., :width]
