"""Hadamard response: report a column of a Hadamard matrix whose row belongs to the true value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, RealArray, Reports
from simulator.draws import binomial
from simulator.protocols.equations import evenly, spread
from simulator.protocols.oracle import Noise, Support, SymbolOracle, bits_for, check_users


@dataclass(frozen=True)
class HadamardResponse(SymbolOracle):
    """Report a symbol out of K = B b: those of the true value's half block are e^epsilon times as likely as the others.

    Value v belongs to block ``v mod B`` and there to row ``r = 1 + v // B`` of the b x b Hadamard matrix (row 0, all
    ones, is left out). Symbol ``(block, y)`` supports the values of its block whose row has a 1 at column y, and
    contradicts those with a -1. A report is the number ``block * b + y``.

    Acharya, Sun, Zhang, "Hadamard response: estimating distributions privately, efficiently, and with little
    communication", AISTATS 2019, Section 5 (the scheme for every epsilon; B = 1 is that of their Section 4, for epsilon
    up to ln 2). They fill the blocks in sequence. Here the values are assigned to blocks cyclically, so that blocks
    hold equally many values, and neighbouring values are in different blocks.

    `support` and `sample_support` return the number of reports that support a value minus the number that contradict
    it: it may be negative. Its mean is ``n f (p - p/e^epsilon)``, and no other value enters: values of other blocks are
    neither supported nor contradicted, and those of the same block are supported as often as contradicted.

    A report's square is 1 for the values of its block and 0 for others. So the variance of an estimate depends on F,
    the share of users whose value is in the same block: `noise` returns it (`BlockNoise`). `variance` puts for F its
    mean over all ways to assign the frequencies to the values: exact where B = 1, too small for a value that shares its
    block with a very frequent one, by a factor of (e^epsilon + 1)/2 at most.

    Parameters
    ----------
    k, epsilon
        As in `FrequencyOracle`.
    block_count
        B, for reports made with another number of blocks. The package pure-ldp has 1 up to epsilon = 1.

    Raises
    ------
    ValueError
        If `block_count` is not a power of 2, or above 2k.
    """

    block_count: int | None = None
    key: ClassVar[str] = "hr"
    title: ClassVar[str] = "Hadamard response"
    reference: ClassVar[str] = "Acharya, Sun, Zhang, AISTATS 2019"
    acronym: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        blocks = self.block_count
        if blocks is not None and not (1 <= blocks <= 2 * self.k and blocks.bit_count() == 1):
            raise ValueError(f"the number of blocks is a power of 2 up to 2k = {2 * self.k}, got {blocks}")

    @property
    def blocks(self) -> int:
        """Number of blocks B: the largest power of 2 below min(e^epsilon, 2k), at least 1."""
        if self.block_count is not None:
            return self.block_count
        return int(2 ** (min(math.ceil(self.epsilon / math.log(2)), (2 * self.k - 1).bit_length()) - 1))

    @property
    def block_size(self) -> int:
        """Size b of a block: the smallest power of 2 that is at least k/B + 1."""
        return 1 << (-(-self.k // self.blocks)).bit_length()

    @property
    def symbols(self) -> int:
        return self.blocks * self.block_size

    @property
    def _shrunk(self) -> float:
        """``e^-epsilon`` times the sum over all symbols of their weights (e^epsilon or 1), in half blocks."""
        return -math.expm1(-self.epsilon) + 2 * self.blocks * math.exp(-self.epsilon)

    @property
    def _slope(self) -> float:
        """Expected (supports - contradicts) for the true value: (e^epsilon - 1) / (e^epsilon - 1 + 2B)."""
        return -math.expm1(-self.epsilon) / self._shrunk

    @property
    def same_block(self) -> float:
        """Share of the pairs of different values that are in the same block."""
        fewer, more = divmod(self.k, self.blocks)
        pairs = more * (fewer + 1) * fewer + (self.blocks - more) * fewer * (fewer - 1)
        return pairs / (self.k * (self.k - 1))

    @property
    def p(self) -> float:
        return 1 / self._shrunk

    @property
    def q(self) -> float:
        """Probability that a report supports another value: mean over the values of the same block and of others."""
        x = math.exp(-self.epsilon)
        return (self.same_block * (1 + x) / 2 + (1 - self.same_block) * x) / self._shrunk

    @property
    def blanket(self) -> None:
        """None: values of other blocks are supported less often than those of the same block."""

    @property
    def attack_success(self) -> float:
        # The best guess is any value that the symbol supports: e^epsilon w / k, or w / k if it supports none, with w
        # the probability of a symbol that does not support the true value. Three rows of which the third is the product
        # of the first two are never all -1; a single row leaves half of a block uncovered, two rows a quarter.
        fewer, more = divmod(self.k, self.blocks)
        covered = (0.0, 0.5, 0.75, 1.0)
        half_blocks = 2 * (more * covered[min(fewer + 1, 3)] + (self.blocks - more) * covered[min(fewer, 3)])
        rest = 2 * self.blocks - half_blocks
        return (half_blocks + rest * math.exp(-self.epsilon)) / (self.k * self._shrunk)

    def server_operations(self, n: int) -> int:
        return self.symbols * bits_for(self.block_size)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        block, row = values % self.blocks, 1 + values // self.blocks
        y = rng.integers(0, self.block_size, size=len(values))
        # Flipping a coordinate that the row counts turns a contradicting column into a uniform draw of the supporting
        # columns.
        y = np.where(np.bitwise_count(y & row) % 2 == 0, y, y ^ (row & -row))
        anything = rng.integers(0, self.symbols, size=len(values))
        return np.where(rng.random(len(values)) < self._slope, block * self.block_size + y, anything)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the aggregate of the base class's law; time and memory grow with K log K."""
        if not counts.size:
            return np.zeros(counts.shape, dtype=np.int64)
        rows = counts.reshape(-1, self.k)
        blocks, size, each = self.blocks, self.block_size, -(-self.k // self.blocks)
        # The channel: with probability `slope` a uniform draw of the value's half block, else of all symbols.
        kept = binomial(rows, self._slope, rng)
        users = np.zeros((len(rows), each * blocks), dtype=np.int64)
        users[:, : self.k] = kept
        by_block = users.reshape(-1, each, blocks).swapaxes(1, 2).reshape(-1, each)
        # The half block of row r solves the equation <r, y> = 0 over two elements, which is equation number r - 1.
        histogram = spread(by_block, size.bit_length() - 1, 2, rng).reshape(len(rows), -1)
        histogram += evenly(rows.sum(axis=1) - kept.sum(axis=1), self.symbols, rng)
        return self.decode(histogram).reshape(counts.shape)

    def decode(self, histogram: IntArray) -> IntArray:
        """Return supporting less contradicting reports ``(..., k)``: a Walsh-Hadamard transform of the symbols."""
        rows = histogram.shape[:-1]
        x = hadamard_transform(histogram.reshape(*rows, self.blocks, self.block_size))
        return x[..., 1:].swapaxes(-1, -2).reshape(*rows, -1)[..., : self.k]

    def supporting(self, value: int) -> NDArray[np.bool_]:
        result = np.zeros((self.blocks, self.block_size), dtype=np.bool_)
        row = 1 + value // self.blocks
        result[value % self.blocks] = np.bitwise_count(np.arange(self.block_size) & row) % 2 == 0
        return result.reshape(-1)

    @cached_property
    def supported_values(self) -> IntArray:
        rows = np.zeros((self.blocks, self.block_size), dtype=np.int64)
        fewer, more = divmod(self.k, self.blocks)
        rows[:, 1 : fewer + 1] = 1
        rows[:more, fewer + 1 : fewer + 2] = 1  # empty if no block has an additional value
        # Rows with a 1 at column y: half of (all rows + the Walsh-Hadamard transform of their indicator).
        turned = hadamard_transform(rows)
        return ((rows.sum(axis=1, keepdims=True) + turned) // 2).reshape(-1)

    def added_support(self, value: int) -> IntArray:
        """Return 1 for the symbols that support a value, -1 for those of its block that contradict it, else 0."""
        result = self.supporting(value).astype(np.int64)
        own_block = np.arange(self.symbols) // self.block_size == value % self.blocks
        return result - (own_block & (result == 0))

    def estimate(self, support: Support, n: int) -> FloatArray:
        check_users(n)
        return support / n / self._slope

    def noise(self, n: int) -> BlockNoise:
        check_users(n)
        x = math.exp(-self.epsilon)
        # A report falls into a block with probability (2 x + (1 - x) F) / shrunk, F being the users whose block it is.
        empty, full = (share / (self._shrunk * n * self._slope**2) for share in (2 * x, 1 + x))
        at_zero = empty + (full - empty) * self.same_block
        return BlockNoise(
            n, self.p, self.q, at_zero, full - 1 / n - at_zero, self.sums_to_one, None, self.blocks, empty, full - empty
        )


@dataclass(frozen=True)
class BlockNoise(Noise):
    """Noise that is larger in blocks which many users share; `variance_at_zero` and so on are means over the values.

    Value v is in block ``v mod blocks``. The variance of its estimate is ``empty + shared * F - f / n``, F being the
    frequency of the whole block and f that of the value.
    """

    blocks: int = 1
    empty: float = 0.0
    shared: float = 0.0

    def entry(self, frequency: FloatArray) -> FloatArray:
        return self.empty + self.shared * self._in_block(frequency) - frequency / self.n

    def line(self, estimate: FloatArray) -> tuple[FloatArray, float]:
        # The blocks hold all users together.
        missing = (1 - estimate.sum(axis=-1, keepdims=True)) / self.blocks
        others = np.clip(self._in_block(estimate) + missing - estimate, 0.0, 1.0)
        return self.empty + self.shared * others, self.shared - 1 / self.n

    def _in_block(self, frequency: FloatArray) -> FloatArray:
        """Return for each value the frequency of its block, ``(..., k)``."""
        k, rows = frequency.shape[-1], frequency.shape[:-1]
        padded = np.zeros((*rows, -(-k // self.blocks) * self.blocks))
        padded[..., :k] = frequency
        of_block = padded.reshape(*rows, -1, self.blocks).sum(axis=-2)
        return of_block[..., np.arange(k) % self.blocks]


def hadamard_transform(vectors: RealArray) -> RealArray:
    """Return the products ``(..., rows)`` of vectors with the rows of the Hadamard matrix (Sylvester's order)."""
    shape, result, size = vectors.shape, vectors, 1
    while size < shape[-1]:
        pairs = result.reshape(*shape[:-1], -1, 2, size)
        result = np.stack([pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]], axis=-2)
        size *= 2
    return result.reshape(shape)
