"""Read a channel that a user brings: a matrix of probabilities in a CSV or a NumPy file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.numbers import is_finite
from advisor.inputs.rows import opened_rows
from simulator.channels import Channel

ROUNDED = 1e-4  # how far a row may be from 1 because its probabilities were written with few digits


def read_channel(path: str, k: int) -> tuple[Channel, tuple[str, ...]]:
    """Return the channel in a file for a domain of k values, and what was assumed.

    A CSV holds one input a line and one output a column, no header; a ``.npy`` file one array of two dimensions
    (objects are refused, so nothing in it is ever executed).

    Raises InputError if the file cannot be read, is not a row-stochastic matrix, or is for another number of inputs.
    """
    matrix = _numpy_matrix(path) if path.lower().endswith(".npy") else _text_matrix(path)
    if matrix.ndim != 2 or matrix.shape[0] != k:
        raise InputError(
            f"{path}: the matrix must have one row for each of the k = {k} places, got shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all() or matrix.min() < 0:
        row = int(np.argmax((~np.isfinite(matrix) | (matrix < 0)).any(axis=1)))
        raise InputError(f"{path}: probabilities must be numbers of at least 0; row {row + 1} has another one")
    sums = matrix.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > ROUNDED:
        raise InputError(f"{path}: every row must sum to 1; row {worst + 1} sums to {sums[worst]:.6g}")
    assumed: tuple[str, ...] = ()
    if abs(sums[worst] - 1) > 1e-9:
        assumed = (f"the rows of {path} were divided by their sums (up to {abs(sums[worst] - 1):.1g} off 1)",)
    try:
        channel = Channel("channel", f"your matrix in {path}", matrix / sums[:, None], "your own")
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    return channel, assumed


def _numpy_matrix(path: str) -> NDArray[np.float64]:
    try:
        # Mapped, a file that claims to hold more than it does is refused before memory is taken for it.
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False), dtype=np.float64)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, EOFError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise InputError(f"{path}: is not a NumPy file with one matrix of numbers ({error})") from None


def _text_matrix(path: str) -> NDArray[np.float64]:
    parts = []
    with opened_rows(path, "inputs", header=False) as rows:
        for block in rows.blocks():
            part = block.real(range(block.width))
            if part is None:
                place = next(
                    p for p, row in zip(block.places, block.rows(), strict=True) if not all(map(is_finite, row))
                )
                raise rows.bad(place, "a matrix holds nothing but finite numbers, without a header")
            parts.append(part)
    return np.concatenate(parts)
