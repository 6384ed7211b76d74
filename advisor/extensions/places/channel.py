"""Reader for the user's channel: a matrix of probabilities in a CSV or a NumPy file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, printable
from advisor.inputs.blocks import real_numbers
from advisor.inputs.head import Expected, FileLayout
from advisor.inputs.source import opened
from advisor.inputs.table import opened_rows
from simulator.channels import FixedChannel

MOST_NUMBERS = 1 << 25  # maximum of numbers in a matrix: twice that of the largest grid
ROUNDED = 1e-4  # tolerance of a row sum around 1, for probabilities with few digits


def read_channel(path: str, k: int) -> tuple[FixedChannel, tuple[str, ...]]:
    """Return the channel in a file for a domain of k values, and the assumptions.

    A CSV has a line per input and a column per output, without a header. A ``.npy`` file has an array of two
    dimensions; objects are refused, so that its content is never executed.

    Raises InputError if the file cannot be read, is not a row-stochastic matrix, or is for another number of inputs.
    """
    matrix = _numpy_matrix(path, k) if path.lower().endswith(".npy") else _text_matrix(path, k)
    path = printable(path)
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
        channel = FixedChannel("channel", f"your matrix in {path}", matrix / sums[:, None], reference="your own")
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    return channel, assumed


def _numpy_matrix(path: str, k: int) -> NDArray[np.float64]:
    with opened(path) as source, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers written by Python 2
        try:
            matrix: NDArray[Any] = np.lib.format.read_array(source.binary(), allow_pickle=False)
        except Exception as error:  # noqa: BLE001 - the header is read as Python, whose parser raises many errors
            raise InputError(f"{source.name}: is no NumPy file of numbers, or is damaged ({error})") from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise InputError(f"{source.name}: must be one matrix of numbers, got shape {matrix.shape} of {matrix.dtype}")
    _check_shape(source.name, matrix.shape, k)
    return matrix.astype(np.float64)


def _text_matrix(path: str, k: int) -> NDArray[np.float64]:
    parts: list[NDArray[np.float64]] = []
    inputs = 0
    with opened_rows(path, Expected("inputs", FileLayout(header=False))) as rows:
        for block in rows.blocks():
            inputs += len(block)
            if inputs > k or inputs * block.width > MOST_NUMBERS:
                break
            hint = "; a matrix holds nothing but numbers, without a header"
            parts.append(real_numbers(block, rows.table, range(block.width), "probability", hint))
    _check_shape(rows.table.source, (inputs, rows.table.width), k)
    return np.concatenate(parts)


def _check_shape(name: str, shape: tuple[int, ...], k: int) -> None:
    if shape[0] * shape[1] > MOST_NUMBERS:
        raise InputError(f"{name}: the matrix has over {MOST_NUMBERS:,} numbers, the most that are read")
    if shape[0] != k or shape[1] < 1:
        raise InputError(f"{name}: the matrix must have one row for each of the k = {k} places, got shape {shape}")
