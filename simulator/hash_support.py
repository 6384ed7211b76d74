"""Support counts of hashed reports: the values that the hash function of each report maps to its symbol.

The reference is `simulator.hashing`: ``HASHES[name](values, seeds[:, None], g) == symbols[:, None]``, added up. Here
the same bits in fewer steps: blocks of hashes that stay in the cache of a core, all steps in place; common parts of
hashes (a seed, a value, the first digits of a text) computed once; and no remainders, see `_count_block`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray

Word: TypeAlias = np.uint32 | np.uint64
Words: TypeAlias = "NDArray[np.uint32 | np.uint64]"

BLOCK_BYTES = 1 << 16
"""Bytes of one row of a block: hashes of one value under many seeds."""

ROWS = 4
"""Values of a block. The two arrays of a block are half of a megabyte, which the second cache of a core holds."""

_P1, _P2, _P3, _P4, _P5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_LANE = 4  # bytes of a text that xxHash32 takes at once


def count_supports(name: str, seeds: IntArray, symbols: IntArray, k: int, g: int) -> IntArray:
    """Return how many reports support each of the values 0 to k - 1, ``(k,)``.

    Parameters
    ----------
    name
        A key of `simulator.hashing.HASHES`.
    seeds, symbols
        ``(n,)`` each: the hash functions, and the reported symbols. A symbol outside 0..g-1 supports nothing.
    k, g
        Number of values, and of symbols.

    Raises
    ------
    ValueError
        If no such hash is counted here.
    """
    if name not in _FAMILIES:
        raise ValueError(f"hash must be one of {', '.join(_FAMILIES)}, got {name!r}")
    family = _FAMILIES[name]
    step = BLOCK_BYTES // np.dtype(family.word).itemsize
    inside = (symbols >= 0) & (symbols < min(g, 2 ** (8 * np.dtype(family.word).itemsize)))
    if not inside.all():
        seeds, symbols = seeds[inside], symbols[inside]
    result = np.zeros(k, dtype=np.int64)
    for start in range(0, len(seeds), step):
        part = slice(start, start + step)
        _count_block(family(seeds[part]), symbols[part], g, k, result)
    return result


def _count_block(hashes: _Mix64 | _Xxh32, symbols: IntArray, g: int, k: int, result: IntArray) -> None:
    """Add the supports of a block of reports to `result`.

    Remainders by way of quotients: numpy divides by a constant with multiplications, and computes remainders by
        divisions.
    """
    word, shape = hashes.word, (ROWS, len(symbols))
    words, spare, hits = np.empty(shape, dtype=word), np.empty(shape, dtype=word), np.empty(shape, dtype=np.bool_)
    own, divisor = symbols.astype(word), word(g) if g <= np.iinfo(word).max else None
    for first, rows in hashes.runs(k):
        some, beside, hit = words[:rows], spare[:rows], hits[:rows]
        hashes.fill(first, some, beside)
        if divisor is not None:
            np.floor_divide(some, divisor, out=beside)
            np.multiply(beside, divisor, out=beside)
            np.subtract(some, beside, out=some)
        np.equal(some, own, out=hit)
        for row in range(rows):
            result[first + row] += np.count_nonzero(hit[row])


class _Mix64:
    """`simulator.hashing.mix64`: the first product is that of the seed and that of the value, added up."""

    word: ClassVar[type[Word]] = np.uint64

    def __init__(self, seeds: IntArray) -> None:
        self._seeds = (seeds.astype(np.uint64) << np.uint64(32)) * _GAMMA + np.uint64(0xD1B54A32D192ED03)

    def runs(self, k: int) -> Iterator[tuple[int, int]]:
        """Yield the values 0 to k - 1 in runs that are hashed together: the first value, and the number of values."""
        return ((first, min(ROWS, k - first)) for first in range(0, k, ROWS))

    def fill(self, first: int, words: Words, spare: Words) -> None:
        """Hash consecutive values from `first` on, a value per row: fill `words` ``(rows, n)``."""
        values = np.arange(first, first + len(words), dtype=np.uint64) * _GAMMA
        np.add(values[:, None], self._seeds, out=words)
        _mix(words, 30, spare)
        np.multiply(words, np.uint64(0xBF58476D1CE4E5B9), out=words)
        _mix(words, 27, spare)
        np.multiply(words, np.uint64(0x94D049BB133111EB), out=words)
        _mix(words, 31, spare)


class _Xxh32:
    """`simulator.hashing.xxh32_text`: values of equally many digits that differ only in the last step form a run.

    xxHash32 takes a text of under 16 bytes four bytes at a time, and the rest byte by byte.
    """

    word: ClassVar[type[Word]] = np.uint32

    def __init__(self, seeds: IntArray) -> None:
        self._seeds = seeds.astype(np.uint32)
        self._states: dict[tuple[int, int], tuple[int, Words]] = {}

    def runs(self, k: int) -> Iterator[tuple[int, int]]:
        first = 0
        while first < k:
            digits = len(str(first))
            alike = 10 ** (_LANE if digits % _LANE == 0 else 1)  # values with the same digits before the last step
            end = min(first + ROWS, first - first % alike + alike, 10**digits, k)
            yield first, end - first
            first = end

    def fill(self, first: int, words: Words, spare: Words) -> None:
        digits = len(str(first))
        size = _last_step(digits)
        state = self._state(digits, digits - size, first // 10**size)
        _step(state, range(first, first + len(words)), size, words, spare)
        _mix(words, 15, spare)
        np.multiply(words, np.uint32(_P2), out=words)
        _mix(words, 13, spare)
        np.multiply(words, np.uint32(_P3), out=words)
        _mix(words, 16, spare)

    def _state(self, digits: int, done: int, begin: int) -> Words:
        """Return the states ``(n,)`` of texts of `digits` digits after the first `done` of them, the number `begin`."""
        if done == 0:
            return self._seeds + np.uint32(_P5 + digits & 0xFFFFFFFF)
        last, state = self._states.get((digits, done), (-1, self._seeds))
        if last != begin:
            size = _last_step(done)
            before = self._state(digits, done - size, begin // 10**size)
            words, spare = np.empty((2, 1, len(before)), dtype=np.uint32)
            _step(before, range(begin, begin + 1), size, words, spare)
            state = words[0]
            self._states[digits, done] = begin, state
        return state


def _last_step(digits: int) -> int:
    """Return how many of the first `digits` bytes of a text its last step takes."""
    return _LANE if digits % _LANE == 0 else 1


def _step(state: Words, values: range, size: int, words: Words, spare: Words) -> None:
    """Take the last `size` digits of each value: from the state ``(n,)`` to `words` ``(values, n)``."""
    lane = size == _LANE
    texts = b"".join(str(value).encode()[-size:] for value in values)
    data = np.frombuffer(texts, dtype="<u4" if lane else np.uint8).astype(np.uint32)
    np.add((data * np.uint32(_P3 if lane else _P5))[:, None], state, out=words)
    _rotate(words, 17 if lane else 11, spare)
    np.multiply(words, np.uint32(_P4 if lane else _P1), out=words)


def _mix(words: Words, bits: int, spare: Words) -> None:
    """``x ^= x >> bits``, in place."""
    np.right_shift(words, words.dtype.type(bits), out=spare)
    np.bitwise_xor(words, spare, out=words)


def _rotate(words: Words, bits: int, spare: Words) -> None:
    """Rotate left, in place."""
    word = words.dtype.type
    np.left_shift(words, word(bits), out=spare)
    np.right_shift(words, word(8 * words.dtype.itemsize - bits), out=words)
    np.bitwise_or(words, spare, out=words)


_FAMILIES: dict[str, type[_Mix64] | type[_Xxh32]] = {"mix64": _Mix64, "xxh32": _Xxh32}
