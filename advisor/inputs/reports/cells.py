"""Reports of one real number a category (summation with histogram encoding), added up without any rounding.

Sums of floats depend on their order, so that blocks, files and workers would each give other last digits. Here every
number is taken as whole steps of 2^-64 (finer ones are rounded, by less than 3e-20), steps add up exactly, and the sum
is rounded once, to the nearest float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import Table
from advisor.inputs.labels import plural, shortened
from advisor.inputs.numbers import is_finite
from advisor.inputs.reports.bits import counting_of_vectors
from advisor.inputs.reports.counting import Cells, Counting
from advisor.inputs.reports.settings import Settings, named_column, place_names
from simulator._types import FloatArray

STEP = 64  # bits after the point
LARGEST = 2.0**40  # of a number: at the smallest budget the noise has scale 2^21
_HALF = np.float64(1 << (STEP // 2))


def cells_have_header(first: Sequence[str]) -> bool:
    """Tell a header from a report: it holds what is no number, or counts the categories."""
    cells = [cell.strip() for cell in first]
    vectors = [parts for parts in map(split_numbers, cells) if len(parts) > 1]
    if any(all(map(is_finite, parts)) for parts in vectors):
        return False
    if tuple(cells) in (place_names(len(cells)), place_names(len(cells) + 1)[1:]):
        return len(cells) > 2  # "0,1" may be a report in whole steps
    return "" not in cells and len(set(cells)) == len(cells) and not all(map(is_finite, cells))


def count_cells(rows: Rows, settings: Settings) -> Counting:
    """Return how reports of k numbers are added up, in steps of 2^-64.

    Raises InputError for columns that do not fit the domain.
    """
    table = rows.table
    at = named_column(table, settings.column)
    first = "" if at is None else next(iter(table.cells(at)), "")
    k = settings.k or (table.width if at is None else len(split_numbers(first)))
    if (at is None and k != table.width) or k < 2:
        raise InputError(
            f"{table.source}: has {plural(table.width, 'column', 'columns')}: {table.columns()}; a report of "
            f"{settings.protocol} is {settings.k or 'two or more'} numbers, one a column, or all in the column that "
            "--column names"
        )
    sums = partial(_sums, table.without_rows(), at, k, settings.steps)
    counting = counting_of_vectors(table, settings, k, at, "numbers", sums)
    read_as = () if settings.steps is None else (f"numbers read as steps of 1/{settings.steps}",)
    return replace(counting, notes=(*counting.notes, *read_as))


def _sums(table: Table, at: int | None, k: int, steps: int | None, block: Block) -> Cells:
    """Return the sums of one block, as Python's whole numbers."""
    numbers = block.real(range(k)) if at is None else _vectors(block.cells(at), k)
    whole = steps is None or (numbers is not None and bool((numbers == np.trunc(numbers)).all()))
    if numbers is None or not whole or float(np.abs(numbers).max()) > LARGEST:
        raise _wrong(table, at, k, steps, block)
    return exact_sums(numbers)


def _vectors(cells: Sequence[str], k: int) -> FloatArray | None:
    """Return ``(n, k)`` numbers; None if one is none, or there are more or fewer of them."""
    parts = list(map(split_numbers, cells))
    if set(map(len, parts)) != {k} or not all(is_finite(part) for row in parts for part in row):
        return None
    return np.array([list(map(float, row)) for row in parts])


def _wrong(table: Table, at: int | None, k: int, steps: int | None, block: Block) -> InputError:
    """Return what is wrong with the first report that is none."""
    rows = block.rows() if at is None else map(split_numbers, block.cells(at))
    for row, place in zip(rows, block.places, strict=True):
        if len(row) != k:
            return table.bad(place, f"the report has {plural(len(row), 'number', 'numbers')}; k is {k}")
        for number, cell in enumerate(row):
            if why := _wrong_cell(cell, steps):
                named = f"column {table.called(number)}" if at is None else f"number {number + 1}"
                return table.bad(place, f"{named} is {why}")
    raise TypeError("numbers of which none is wrong")


def _wrong_cell(cell: str, steps: int | None) -> str | None:
    if not cell:
        return "missing (an empty cell); it must be a number"
    if not is_finite(cell):
        return f"{shortened(cell)}; it must be a number such as -0.31"
    if abs(float(cell)) > LARGEST:
        return f"{shortened(cell)}; no noise of this protocol reaches so far"
    if steps is not None and not float(cell).is_integer():
        return f"{shortened(cell)}; with --steps reports are whole numbers of steps"
    return None


def split_numbers(cell: str) -> list[str]:
    """Return the numbers of a cell, which blanks, ";", "|" or "," separate; brackets around them are left out."""
    plain = cell.strip().removeprefix("[").removesuffix("]")
    for mark in ";|,":
        if mark in plain:
            return [part.strip() for part in plain.split(mark)]
    return plain.split()


def exact_sums(numbers: FloatArray) -> Cells:
    """Return the sums ``(k,)`` of numbers ``(n, k)``, which are at most `LARGEST`, in steps of 2^-64.

    >>> exact_sums(np.array([[0.5, 1e16 / 2**20], [-1.0, 1.0]])).tolist() == [-(2**63), (10**16 << 44) + 2**64]
    True
    """
    result = np.zeros(numbers.shape[1], dtype=object)
    for start in range(0, len(numbers), 1 << 20):  # so many numbers of 42 bits add up in 64
        part = numbers[start : start + (1 << 20)]
        for shift in (STEP, STEP // 2, 0):
            # Taking off the whole part, and scaling by a power of two, round nothing.
            whole = np.trunc(part) if shift else np.rint(part)
            result = result + whole.astype(np.int64).sum(axis=0).astype(object) * (1 << shift)
            part = (part - whole) * _HALF
    return result


def real_sums(cells: Cells, steps: int | None) -> FloatArray:
    """Return what `exact_sums` stand for, each rounded once to the nearest float; `steps` is that of the settings."""
    unit = (steps or 1) << STEP
    return np.array([int(cell) / unit for cell in cells], dtype=np.float64)
