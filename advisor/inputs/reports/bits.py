"""Reports of one bit a category: as k columns, or as a string of k characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows, Where
from advisor.inputs.columns import Table
from advisor.inputs.labels import check_domain
from advisor.inputs.numbers import MOST_LABELS
from advisor.inputs.reports.counting import CellCounting, Cells
from advisor.inputs.reports.settings import Settings, column_note, named_column, place_names
from advisor.inputs.tally import plural, shortened

_BITS = frozenset({"0", "1"})
_BETWEEN = " ;|,"  # bits in one cell


def bits_have_header(first: Sequence[str], usual: bool, settings: Settings) -> bool:
    """Tell a header from a report; the labels of columns may be numbers."""
    cells = [cell.strip() for cell in first]
    if settings.column is None and len(cells) > 1:
        bits = set(cells) <= _BITS
        return not bits and "" not in cells and len(set(cells)) == len(cells)
    # A damaged report such as "01x1" names nothing.
    return usual and not any(cell[:1].isdecimal() for cell in cells)


@dataclass(frozen=True)
class BitCounting(CellCounting):
    """Adds up the bits of rappor, oue or the, category by category."""

    at: int | None  # the column of strings; None where every bit has its own
    order: tuple[int, ...]  # the category of every bit
    given: bool  # whether the user said how many bits a report has

    @property
    def columns(self) -> list[int] | None:
        """The columns that are read; None for all."""
        return None if self.at is None else [self.at]

    def cells(self, block: Block) -> Cells:
        """Return the support counts of one block."""
        k = len(self.order)
        bits = _from_columns(self.where, block, k) if self.at is None else self._from_strings(block, self.at)
        placed = np.empty(k, dtype=np.int64)
        placed[list(self.order)] = bits.sum(axis=0, dtype=np.int64)
        return placed

    def _from_strings(self, block: Block, at: int) -> NDArray[np.uint8]:
        cells, k = block.cells(at), len(self.order)
        bits = bits_of(cells, k)
        if bits is None:
            cells = list(map(plain_bits, cells))
            bits = bits_of(cells, k)
        if bits is not None:
            return bits
        whose = f"{f'k is {k}' if self.given else f'the first report has {k}'}; all reports have k characters"
        wrong = ((place, wrong_bits(cell, k, whose)) for place, cell in zip(block.places, cells, strict=True))
        raise next(self.where.bad(place, why) for place, why in wrong if why)


def count_bits(rows: Rows, settings: Settings) -> BitCounting:
    """Return how reports of k bits are counted.

    Raises InputError for columns that do not fit the domain, and a first report that is not k characters 0 and 1.
    """
    table = rows.table
    at = named_column(table, settings.column)
    if at is None and settings.k not in (None, table.width):
        raise InputError(
            f"{table.source}: has {table.width} columns: {table.columns()}; k is {settings.k}, and a report is "
            f"{settings.k} columns of 0 and 1, or a string of {settings.k} of them in the column that --column names"
        )
    k = settings.k or (_length(rows, at) if at is not None else table.width)
    order, labels, notes = categories_of_columns(table, settings, k, what="bits", columns=at is None)
    domain = labels if settings.domain is not None or labels != place_names(k) else None
    return BitCounting(
        Where(table).without_rows(),
        replace(settings, k=k, domain=domain),
        notes if at is None else (*column_note(table, at), *notes),
        at,
        order,
        settings.k is not None,
    )


def _length(rows: Rows, at: int) -> int:
    """Return the length of the first report."""
    table = rows.table
    first = plain_bits(table.cells(at)[0]) if table.cells(at) else ""
    if not 2 <= len(first) <= MOST_LABELS or set(first) - _BITS:
        raise rows.bad(
            table.places[0] if table.places else 1,
            f"the report {shortened(first)} is not a string of 0 and 1, one for each of two or more categories",
        )
    return len(first)


def categories_of_columns(
    table: Table, settings: Settings, k: int, *, what: str, columns: bool
) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the category of every bit or number, all labels, and what was decided; `what` is what they are called."""
    in_order = tuple(range(k))
    names = table.names if columns else None
    if names == place_names(k) or names is None:
        if settings.domain is not None:
            return in_order, settings.domain, (f"{what} taken in the order of the domain",)
        known = "" if settings.k is not None else f", k={k} as that is the length of the first report"
        return in_order, place_names(k), (f"categories numbered from 0 to {k - 1} in the order of the {what}{known}",)
    try:
        labels = check_domain(names)
    except InputError as error:
        raise InputError(f"{table.source}: the header does not name k={k} categories: {error}") from None
    if settings.domain is None:
        return in_order, labels, (f"the {k} names of the header taken as the categories",)
    place = {label: at for at, label in enumerate(settings.domain)}
    strange = [label for label in labels if label not in place]
    if strange:
        raise InputError(
            f"{table.source}: column {shortened(strange[0])} is not a label of the domain; the columns are those of "
            "the domain, in any order, or have no header (--no-header)"
        )
    return tuple(place[label] for label in labels), settings.domain, (f"{what} placed by the names of the header",)


def plain_bits(cell: str) -> str:
    """Return a string of characters without what separates them, if one mark does so everywhere.

    >>> plain_bits("0;1;1"), plain_bits("011"), plain_bits("0;11")
    ('011', '011', '0;11')
    """
    mark, half = cell[1:2], len(cell) // 2
    return cell[::2] if mark and mark in _BETWEEN and len(cell) % 2 and cell[1::2] == mark * half else cell


def bits_of(cells: Sequence[str], k: int) -> NDArray[np.uint8] | None:
    """Return strings of k characters 0 and 1 as ``(n, k)`` numbers; None if one of them is something else."""
    joined = "".join(cells)
    if set(map(len, cells)) != {k} or not joined.isascii():
        return None
    bits = np.frombuffer(joined.encode(), dtype=np.uint8).reshape(-1, k) - np.uint8(ord("0"))
    return bits if bits.max() <= 1 else None


def wrong_bits(cell: str, k: int, whose: str) -> str | None:
    """Say what is wrong with a string that should be k characters 0 and 1, as `whose` says."""
    if not cell:
        return "the report is missing (an empty cell); fill it in, or remove the row"
    if odd := sorted(set(cell) - _BITS):
        return f"the report {shortened(cell)} holds {odd[0]!r}; a report is {k} characters 0 and 1"
    if len(cell) == k:
        return None
    return (
        f"the report {shortened(cell)} has {plural(len(cell), 'character', 'characters')}, but {whose} (a "
        "spreadsheet may have dropped leading zeros)"
    )


def _from_columns(where: Where, block: Block, k: int) -> NDArray[np.uint8]:
    bits = block.digits()
    if bits is not None and bits.max() <= 1:
        return bits
    table = where.table
    for row, place in zip(block.rows(), block.places, strict=True):
        for at, cell in enumerate(row):
            if not cell:
                raise where.bad(place, f"column {table.called(at)} is missing (an empty cell); it must be 0 or 1")
            if cell not in _BITS:
                hint = ""
                if table.names is None and place == table.places[0]:
                    hint = "; if the line names the columns, say --header"
                raise where.bad(place, f"column {table.called(at)} is {shortened(cell)}; it must be 0 or 1{hint}")
    raise where.bad(block.places[0], f"a report is {k} columns of 0 and 1")  # pragma: no cover - not reached
