"""Hash families for local hashing: a fast 64-bit mixer, and the xxh32 convention of published libraries.

Both map (value, seed) to ``0..g-1`` and work on whole arrays. A linear hash ``((a v + b) mod P) mod g`` with P near
the domain size is biased and is not offered.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray

SEED_BITS = 32
BLOCK = 30_000  # reports whose hashes of a value stay in the cache of a core


def mix64(values: IntArray, seeds: IntArray, g: int) -> IntArray:
    """Hash non-negative `values` below 2^32 under 32-bit `seeds` to ``0..g-1``; the two broadcast.

    The finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
    applied to seed and value in the two halves of a word. The bias of the last step is below g / 2^64.
    """
    x = (seeds.astype(np.uint64) << np.uint64(32)) | values.astype(np.uint64)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64(0xD1B54A32D192ED03)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    x -= x // np.uint64(g) * np.uint64(g)  # three times as fast as numpy's remainder
    return x.view(np.int64)


_P1, _P2, _P3, _P4, _P5 = (np.uint32(prime) for prime in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1))


def _rotate(x: NDArray[np.uint32], bits: int) -> None:
    high = x >> np.uint32(32 - bits)
    x <<= np.uint32(bits)
    x |= high


def xxh32_text(values: IntArray, seeds: IntArray, g: int) -> IntArray:
    """Return ``xxh32(str(value), seed) % g`` for `values` ``(m,)`` in 0..10^15-1 under `seeds` ``(..., m or 1)``.

    The convention of the published LDP libraries (pure-LDP, multi-freq-ldpy), with values numbered from 0. Of a seed
    the lowest 32 bits count. xxHash32 for inputs under 16 bytes, from the format's specification.
    """
    flat = np.atleast_1d(values)
    seed = np.broadcast_to(seeds.astype(np.uint32), np.broadcast_shapes(flat.shape, seeds.shape))
    result = np.empty(seed.shape, dtype=np.int64)
    digits = np.char.str_len(flat.astype("S16"))
    for length in np.unique(digits):
        at = np.flatnonzero(digits == length)
        data = flat[at].astype(f"S{length}").view(np.uint8).reshape(len(at), int(length))
        hashed = _xxh32_short(data, seed[..., at])
        if g < 2**32:
            hashed -= hashed // np.uint32(g) * np.uint32(g)
        result[..., at] = hashed
    return result


def _xxh32_short(data: NDArray[np.uint8], seed: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """xxHash32 of rows ``(m, length)`` of fewer than 16 bytes under seeds ``(..., m)``."""
    length = data.shape[1]
    acc = seed + (_P5 + np.uint32(length))
    whole = length - length % 4
    lanes = np.ascontiguousarray(data[:, :whole]).view("<u4").astype(np.uint32)
    for lane in lanes.T:
        acc += lane * _P3
        _rotate(acc, 17)
        acc *= _P4
    for byte in data[:, whole:].T:
        acc += byte.astype(np.uint32) * _P5
        _rotate(acc, 11)
        acc *= _P1
    acc ^= acc >> np.uint32(15)
    acc *= _P2
    acc ^= acc >> np.uint32(13)
    acc *= _P3
    acc ^= acc >> np.uint32(16)
    return acc


DEFAULT_HASH = "mix64"
"""What is taken where no hash is named, by clients, servers and audits alike: the fast one, which our clients use."""

HASHES: dict[str, Callable[[IntArray, IntArray, int], IntArray]] = {"mix64": mix64, "xxh32": xxh32_text}

LONGEST_SEEDS: dict[str, int] = {"mix64": SEED_BITS, "xxh32": 63}
"""Bits of the longest seeds that are read, by hash: published clients draw 63 bits, and xxh32 takes the lowest 32."""


def count_supports(name: str, seeds: IntArray, symbols: IntArray, k: int, g: int) -> IntArray:
    """Return how many reports ``(n,)`` support each of the values 0 to k - 1, ``(k,)``: those hashed to its symbol.

    name: a key of `HASHES`. symbols: of the reports; one outside 0..g-1 supports nothing.
    """
    result = np.zeros(k, dtype=np.int64)
    for start in range(0, len(seeds), BLOCK):
        some, sent = (np.ascontiguousarray(part[start : start + BLOCK, None]) for part in (seeds, symbols))
        for value in range(k):
            result[value] += np.count_nonzero(HASHES[name](np.array([value]), some, g) == sent)
    return result
