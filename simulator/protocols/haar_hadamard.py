"""Haar-Hadamard: a randomised bit of the true value's Haar transform, the shortest report on an ordered domain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import MOST_SYMBOLS, Supports, informed_guess_of_sets, informed_guess_of_symbols
from simulator.draws import binomial, multinomial
from simulator.protocols.dyadic import differences, doubled, halves, height_of, nodes_at, parts, rebuilt, sums_at
from simulator.protocols.hadamard import hadamard_transform
from simulator.protocols.oracle import SymbolProtocol, group_sizes
from simulator.protocols.protocol import Covariance, Linear, Probabilities, StandardProtocol, Tally, users_of


@dataclass(frozen=True)
class HaarHadamard(SymbolProtocol, StandardProtocol):
    """Draw a height and a row of a Hadamard matrix, whatever the value, and report a randomised bit.

    At a height t the true value is +1 (left half) or -1 (right half) at its node, and 0 at the others; the bit is the
    sign of the product of that vector with the row, flipped with probability 1 / (e^epsilon + 1). The collector can
    assign height and row, so a report is a single bit. Cormode, Kulkarni, Srivastava, "Answering range queries under
    local differential privacy", VLDB 2019 (HaarHRR).

    Reports are numbers of symbols: heights from 1 on, each with its rows, each with the bits 0 (-1) and 1 (+1).

    Parameters and errors as for `StandardProtocol`.
    """

    key: ClassVar[str] = "haar_hrr"
    title: ClassVar[str] = "Haar transform, Hadamard randomised response"
    reference: ClassVar[str] = "Cormode, Kulkarni, Srivastava, VLDB 2019"
    report_kind: ClassVar[str] = "symbol"
    ordered_only: ClassVar[bool] = True
    sums_to_one: ClassVar[bool] = True
    report_bits: ClassVar[int] = 1

    @property
    def heights(self) -> range:
        """Heights of the nodes that are halved."""
        return range(1, height_of(self.k) + 1)

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Number of rows of the Hadamard matrix of each height."""
        return tuple(1 << height_of(nodes_at(self.k, height)) for height in self.heights)

    @cached_property
    def starts(self) -> IntArray:
        """Number of the first symbol of each height, and of all."""
        return 2 * np.concatenate([[0], np.cumsum(self.rows)])

    @property
    def symbols(self) -> int:
        return int(self.starts[-1])

    @property
    def kept(self) -> float:
        """Probability that the bit is not turned round."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def gain(self) -> float:
        """Mean of the reported sign if the bit is +1."""
        return math.tanh(self.epsilon / 2)

    @property
    def attack_success(self) -> float:
        return 2 * self.kept / self.k

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        height = rng.integers(1, len(self.heights) + 1, size=len(values))
        row = rng.integers(0, np.array(self.rows)[height - 1])
        turned = (rng.random(len(values)) >= self.kept).astype(np.int64)
        return self.starts[height - 1] + 2 * row + (1 - (_signed(values, height, row) ^ turned))

    def sample_tally(self, counts: IntArray, rng: np.random.Generator) -> Tally:
        split = self._sent(counts, rng)
        result = []
        for height, rows in zip(self.heights, self.rows, strict=True):
            sides = halves(sums_at(split[..., height - 1], height - 1))
            users = np.zeros((*counts.shape[:-1], rows, 2), dtype=np.int64)
            users[..., : sides[0].shape[-1], :] = np.stack(sides, axis=-1)
            plus, minus = np.moveaxis(_drawn_rows(users, rng), -1, 0)
            ones = binomial(plus, self.kept, rng) + binomial(minus, 1 - self.kept, rng)
            result.append(np.stack([plus + minus - ones, ones], axis=-1).reshape(*counts.shape[:-1], 2 * rows))
        return Tally(np.concatenate(result, axis=-1), users_of(counts))

    def _sent(self, users: IntArray | int, rng: np.random.Generator) -> IntArray:
        """Draw how many users are sent to each height ``(..., heights)``, all equally likely."""
        return multinomial(users, np.full(len(self.heights), 1 / len(self.heights)), rng)

    def estimate(self, tally: Tally) -> FloatArray:
        """Return the unbiased estimate ``(..., k)``; where nobody reported at a height, its differences are 0."""
        details = []
        for height, first, last in zip(self.heights, self.starts[:-1], self.starts[1:], strict=True):
            counts = np.asarray(tally.counts[..., first:last], dtype=np.float64)
            products = hadamard_transform(counts[..., 1::2] - counts[..., 0::2])
            scale = self.gain * np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
            details.append(products[..., : nodes_at(self.k, height)] / scale)
        return rebuilt(details, self.k)

    @property
    def linear(self) -> Linear:
        return Linear(self.estimate, lambda n: HaarHadamardCovariance(self, n))

    def server_operations(self, n: int) -> int:
        return self.symbols * len(self.heights)

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        """Return which of two values have the reported bit, and how many values have it."""
        symbols = np.asarray(reports, dtype=np.int64)
        height = np.searchsorted(self.starts, symbols, side="right")
        row, bit = np.divmod(symbols - self.starts[height - 1], 2)
        first, second = (_signed(np.full(len(row), value), height, row) != bit for value in values)
        return Supports(first, second, self._sizes[symbols], self.k)

    @cached_property
    def _sizes(self) -> IntArray:
        """How many values have the bit of each symbol."""
        result = []
        for height, rows in zip(self.heights, self.rows, strict=True):
            left, right = halves(sums_at(np.ones(self.k), height - 1))
            products = hadamard_transform(np.pad(left - right, (0, rows - len(left))))
            result.append(np.stack([self.k - products, self.k + products], axis=-1).ravel() / 2)
        return np.rint(np.concatenate(result)).astype(np.int64)

    @property
    def _drawn(self) -> FloatArray:
        """Probability of the height and the row of each symbol."""
        rows = np.array(self.rows)
        return np.repeat(1 / (len(self.heights) * rows), 2 * rows)

    def informed_guess(self, frequencies: FloatArray) -> float:
        if self.symbols > MOST_SYMBOLS:
            return informed_guess_of_sets(frequencies, self.kept, 0.5)
        reports, drawn = np.arange(self.symbols), self._drawn

        def supporting(value: int) -> NDArray[np.bool_]:
            return self.supports(reports, (value, value)).first

        return informed_guess_of_symbols(frequencies, supporting, drawn * self.kept, drawn * (1 - self.kept))

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        """Add up over all symbols."""
        symbols = np.arange(self.symbols)
        supported = self.supports(symbols, values)
        named = supported.chances(attack)
        held, other = (
            float(named @ (self._drawn * np.where(own, self.kept, 1 - self.kept)))
            for own in (supported.first, supported.second)
        )
        return held, other

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally:
        users = self._sent(fakes, rng)
        parts_of = [
            multinomial(own, np.full(2 * rows, 1 / (2 * rows)), rng) for own, rows in zip(users, self.rows, strict=True)
        ]
        return Tally(np.concatenate(parts_of), fakes)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        """Return reports of heights and rows as they are handed out, each with the bit of most targets."""
        users = self._sent(fakes, rng)
        result = np.zeros(self.symbols, dtype=np.int64)
        for height, own, rows, first in zip(self.heights, users, self.rows, self.starts[:-1], strict=True):
            row = np.repeat(np.arange(rows), len(targets))
            minus = _signed(np.tile(targets, rows), np.full(len(row), height), row).reshape(rows, -1).sum(axis=1)
            bits = (2 * minus <= len(targets)).astype(np.int64)
            result[first + 2 * np.arange(rows) + bits] += rng.permutation(group_sizes(int(own), rows))
        return Tally(result, fakes)


class HaarHadamardCovariance(Covariance):
    """Noise of the estimate of n users, spread evenly over the heights.

    The users of each height are drawn from all users without replacement. Over all heights, the values are those of the
    n users, so their sum does not vary.
    """

    def __init__(self, protocol: HaarHadamard, n: int) -> None:
        self._protocol, self._n = protocol, n

    def _variances(self, details: list[FloatArray]) -> list[FloatArray]:
        """Return the variance of one report's share in each difference, all heights taken together."""
        heights = len(self._protocol.heights)
        return [heights * (self._protocol.gain**-2 - detail**2) for detail in details]

    def haar(self, k: int) -> tuple[FloatArray, ...]:
        details, result, size = differences(np.full(k, 1 / k)), [], np.full(k, 1 / k)
        for detail, variance in zip(details, self._variances(details), strict=True):
            left, right = halves(size)
            size = left + right
            result.append(np.where(right > 0, variance - (size - detail**2), 0.0) / self._n)
        return tuple(result)

    def entry(self, frequency: FloatArray) -> FloatArray:
        frequency = np.asarray(frequency, dtype=np.float64)
        result = np.zeros((*frequency.shape[:-1], 1))
        for height, variance in reversed(list(enumerate(self._variances(differences(frequency)), start=1))):
            part = parts(self._protocol.k, height)
            both = doubled(result + variance, len(part))
            result = np.where(part < 1, part**2 * both, doubled(result, len(part)))
        return (result - frequency * (1 - frequency)) / self._n


def _signed(values: IntArray, height: IntArray, row: IntArray) -> IntArray:
    """Return 1 where the product of a value's vector with a row is -1, else 0."""
    right = (values >> (height - 1)) & 1
    return (np.bitwise_count(row & (values >> height)) + right) & 1


def _drawn_rows(users: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw a row for each user, evenly, and return how many have the products +1 and -1 with each ``(..., rows, 2)``.

    `users` are those with +1 and with -1 at each node. The bits of the row are drawn in sequence. Once a bit is drawn,
    all that matters of the same bit of the node is whether it changed the sign. Users with the same sign are merged.
    That takes a number of draws that grows with k log k, for any number of users.
    """
    shape = users.shape
    size = shape[-2]
    while size > 1:
        size //= 2
        cells = users.reshape(*shape[:-2], -1, 2, size, 2)
        ones = binomial(cells, 0.5, rng)
        zero = cells - ones
        users = np.stack([zero[..., 0, :, :] + zero[..., 1, :, :], ones[..., 0, :, :] + ones[..., 1, :, ::-1]], axis=-3)
    return users.reshape(shape)
