"""Protocols whose report is one of few symbols: what each symbol supports, worked out once."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.projective_geometry import ProjectiveGeometry

SymbolProtocol: TypeAlias = HadamardResponse | ProjectiveGeometry


@lru_cache(maxsize=8)
def supporting(oracle: SymbolProtocol, value: int) -> NDArray[np.bool_]:
    """Return whether each of the K symbols supports a value, ``(K,)``."""
    if isinstance(oracle, ProjectiveGeometry):
        return oracle.orthogonal(value)
    size = oracle.block_size
    result = np.zeros((oracle.blocks, size), dtype=np.bool_)
    result[value % oracle.blocks] = np.bitwise_count(np.arange(size) & (1 + value // oracle.blocks)) % 2 == 0
    return result.reshape(-1)


@lru_cache(maxsize=4)
def sizes(oracle: SymbolProtocol) -> IntArray:
    """Return how many values each of the K symbols supports, ``(K,)``."""
    if isinstance(oracle, ProjectiveGeometry):
        return oracle.orthogonal_values()
    rows = np.zeros((oracle.blocks, oracle.block_size), dtype=np.int64)
    fewer, more = divmod(oracle.k, oracle.blocks)
    rows[:, 1 : fewer + 1] = 1
    rows[:more, fewer + 1 : fewer + 2] = 1  # an empty stretch where no block has one more
    # Rows with a 1 at column y: half of (all rows + the Walsh-Hadamard transform of their indicator).
    return ((rows.sum(axis=1, keepdims=True) + _walsh_hadamard(rows)) // 2).reshape(-1)


def _walsh_hadamard(x: IntArray) -> IntArray:
    """Walsh-Hadamard transform of rows whose length is a power of 2."""
    half, size = 1, x.shape[1]
    while half < size:
        pairs = x.reshape(len(x), -1, 2, half)
        x = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        half *= 2
    return x.reshape(-1, size)
