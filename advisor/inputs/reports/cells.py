"""Reports of one real number a category (summation with histogram encoding), added up without any rounding.

Sums of floats depend on their order, so that blocks, files and workers would each give other last digits. Here every
number is taken as whole steps of 2^-64 (finer ones are rounded, by less than 3e-20), steps add up exactly, and the sum
is rounded once, to the nearest float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows, Where
from advisor.inputs.columns import Table
from advisor.inputs.numbers import is_finite
from advisor.inputs.reports.bits import categories_of_columns
from advisor.inputs.reports.counting import CellCounting, Cells
from advisor.inputs.reports.settings import Settings, column_note, named_column, place_names
from advisor.inputs.tally import plural, shortened
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


@dataclass(frozen=True)
class NumberVectorCounting(CellCounting):
    """Adds up vectors of numbers, category by category, in steps of 2^-64."""

    at: int | None  # the column of whole vectors; None where every number has its own
    order: tuple[int, ...]  # the category of every number

    @property
    def columns(self) -> list[int] | None:
        """The columns that are read; None for all."""
        return None if self.at is None else [self.at]

    def cells(self, block: Block) -> Cells:
        """Return the sums of one block, as Python's whole numbers."""
        k = len(self.order)
        numbers = block.real(range(k)) if self.at is None else self._vectors(block, self.at)
        whole = self.settings.steps is None or (numbers is not None and bool((numbers == np.trunc(numbers)).all()))
        if numbers is None or not whole or float(np.abs(numbers).max()) > LARGEST:
            raise self._wrong(block)
        placed = np.empty(k, dtype=object)
        placed[list(self.order)] = exact_sums(numbers)
        return placed

    def _vectors(self, block: Block, at: int) -> FloatArray | None:
        """Return ``(n, k)`` numbers; None if one is none, or there are more or fewer of them."""
        parts = [split_numbers(cell) for cell in block.cells(at)]
        if set(map(len, parts)) != {len(self.order)} or not all(is_finite(part) for row in parts for part in row):
            return None
        return np.array([list(map(float, row)) for row in parts])

    def _wrong(self, block: Block) -> InputError:
        """Return what is wrong with the first report that is none."""
        k, where = len(self.order), self.where
        rows = block.rows() if self.at is None else map(split_numbers, block.cells(self.at))
        for row, place in zip(rows, block.places, strict=True):
            if len(row) != k:
                return where.bad(place, f"the report has {plural(len(row), 'number', 'numbers')}; k is {k}")
            for at, cell in enumerate(row):
                named = where.table.called(at) if self.at is None else f"{at + 1}"
                if why := self._wrong_cell(cell):
                    return where.bad(place, f"{'column' if self.at is None else 'number'} {named} is {why}")
        return where.bad(block.places[0], f"a report is {k} numbers")  # pragma: no cover - not reached

    def _wrong_cell(self, cell: str) -> str | None:
        if not cell:
            return "missing (an empty cell); it must be a number"
        if not is_finite(cell):
            return f"{shortened(cell)}; it must be a number such as -0.31"
        if abs(float(cell)) > LARGEST:
            return f"{shortened(cell)}; no noise of this protocol reaches so far"
        if self.settings.steps is not None and not float(cell).is_integer():
            return f"{shortened(cell)}; with --steps reports are whole numbers of steps"
        return None


def count_cells(rows: Rows, settings: Settings) -> NumberVectorCounting:
    """Return how reports of k numbers are added up.

    Raises InputError for columns that do not fit the domain.
    """
    table = rows.table
    at = named_column(table, settings.column)
    k = settings.k or (table.width if at is None else len(split_numbers(_first(table, at))))
    if (at is None and k != table.width) or k < 2:
        raise InputError(
            f"{table.source}: has {plural(table.width, 'column', 'columns')}: {table.columns()}; a report of "
            f"{settings.protocol} is {settings.k or 'two or more'} numbers, one a column, or all in the column that "
            "--column names"
        )
    order, labels, notes = categories_of_columns(table, settings, k, what="numbers", columns=at is None)
    read_as = () if settings.steps is None else (f"numbers read as steps of 1/{settings.steps}",)
    return NumberVectorCounting(
        Where(table).without_rows(),
        replace(settings, k=k, domain=labels if settings.domain is not None or labels != place_names(k) else None),
        (*(() if at is None else column_note(table, at)), *notes, *read_as),
        at,
        order,
    )


def _first(table: Table, at: int) -> str:
    return table.cells(at)[0] if table.cells(at) else ""


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
