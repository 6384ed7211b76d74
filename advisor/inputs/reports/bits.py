"""Reports of one bit a category: as k columns, or as a string of k characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import Table
from advisor.inputs.labels import check_domain, plural, shortened
from advisor.inputs.numbers import MOST_LABELS
from advisor.inputs.reports.counting import Cells, Counting, summed
from advisor.inputs.reports.settings import Settings, column_note, named_column, place_names

_BITS = frozenset({"0", "1"})
_BETWEEN = " ;|,"  # bits in one cell


def bits_have_header(first: Sequence[str], usual: bool, settings: Settings) -> bool:
    """Tell a header from a report; the labels of columns may be numbers."""
    cells = [cell.strip() for cell in first]
    if settings.column is None and len(cells) > 1:
        return not set(cells) <= _BITS and "" not in cells and len(set(cells)) == len(cells)
    # A damaged report such as "01x1" names nothing.
    return usual and not any(cell[:1].isdecimal() for cell in cells)


def count_bits(rows: Rows, settings: Settings) -> Counting:
    """Return how the bits of rappor, oue or the are added up, category by category.

    Raises InputError for columns that do not fit the domain, and a first report that is not k characters 0 and 1.
    """
    table = rows.table
    at = named_column(table, settings.column)
    if at is None:
        k = settings.k or table.width
        if k != table.width:
            raise InputError(
                f"{table.source}: has {table.width} columns: {table.columns()}; k is {k}, and a report is {k} columns "
                f"of 0 and 1, or a string of {k} of them in the column that --column names"
            )
        return counting_of_vectors(table, settings, k, None, "bits", partial(_of_columns, table.without_rows()))
    k = settings.k or _length(table, at)
    whose = f"{f'k is {k}' if settings.k is not None else f'the first report has {k}'}; all reports have k characters"
    return counting_of_vectors(table, settings, k, at, "bits", partial(_of_strings, table.without_rows(), at, k, whose))


def _length(table: Table, at: int) -> int:
    """Return the length of the first report."""
    first = plain_bits(table.cells(at)[0]) if table.cells(at) else ""
    if not 2 <= len(first) <= MOST_LABELS or set(first) - _BITS:
        raise table.bad(
            table.places[0] if table.places else 1,
            f"the report {shortened(first)} is not a string of 0 and 1, one for each of two or more categories",
        )
    return len(first)


def counting_of_vectors(
    table: Table, settings: Settings, k: int, at: int | None, what: str, sums: Callable[[Block], Cells]
) -> Counting:
    """Return how reports of one bit or number a category are added up.

    at: the column of whole reports; None where every category has its own.
    what: what the entries of a report are called ("bits").
    sums: what adds them up ``(k,)`` as they stand in the file.

    Raises InputError where the header does not name the categories.
    """
    order, labels, notes = _categories_of_columns(table, settings, k, what=what, columns=at is None)
    domain = labels if settings.domain is not None or labels != place_names(k) else None
    return Counting(
        table.without_rows(),
        replace(settings, k=k, domain=domain),
        notes if at is None else (*column_note(table, at), *notes),
        None if at is None else [at],
        partial(summed, partial(_placed, sums, order)),
    )


def _placed(sums: Callable[[Block], Cells], order: Sequence[int], block: Block) -> Cells:
    """Return sums in the order of the categories: `order` has that of every entry of a report."""
    unplaced = sums(block)
    placed = np.empty_like(unplaced)
    placed[list(order)] = unplaced
    return placed


def _categories_of_columns(
    table: Table, settings: Settings, k: int, *, what: str, columns: bool
) -> tuple[Sequence[int], tuple[str, ...], tuple[str, ...]]:
    """Return the category of every bit or number, all labels, and what was decided."""
    names = table.names if columns else None
    if names == place_names(k) or names is None:
        if settings.domain is not None:
            return range(k), settings.domain, (f"{what} taken in the order of the domain",)
        known = "" if settings.k is not None else f", k={k} as that is the length of the first report"
        return range(k), place_names(k), (f"categories numbered from 0 to {k - 1} in the order of the {what}{known}",)
    try:
        labels = check_domain(names)
    except InputError as error:
        raise InputError(f"{table.source}: the header does not name k={k} categories: {error}") from None
    if settings.domain is None:
        return range(k), labels, (f"the {k} names of the header taken as the categories",)
    place = {label: at for at, label in enumerate(settings.domain)}
    strange = [label for label in labels if label not in place]
    if strange:
        raise InputError(
            f"{table.source}: column {shortened(strange[0])} is not a label of the domain; the columns are those of "
            "the domain, in any order, or have no header (--no-header)"
        )
    return [place[label] for label in labels], settings.domain, (f"{what} placed by the names of the header",)


def _of_strings(table: Table, at: int, k: int, whose: str, block: Block) -> Cells:
    """Add up reports that are strings of k characters."""
    cells = block.cells(at)
    bits = bits_of(cells, k)
    if bits is None:
        cells = list(map(plain_bits, cells))
        bits = bits_of(cells, k)
    if bits is None:
        wrong = ((place, wrong_bits(cell, k, whose)) for place, cell in zip(block.places, cells, strict=True))
        raise next(table.bad(place, why) for place, why in wrong if why)
    return bits.sum(axis=0, dtype=np.int64)


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


def _of_columns(table: Table, block: Block) -> Cells:
    """Add up reports that have a column for each bit."""
    bits = block.digits()
    if bits is not None and bits.max() <= 1:
        return bits.sum(axis=0, dtype=np.int64)
    for row, place in zip(block.rows(), block.places, strict=True):
        for at, cell in enumerate(row):
            if not cell:
                raise table.bad(place, f"column {table.called(at)} is missing (an empty cell); it must be 0 or 1")
            if cell not in _BITS:
                first = table.names is None and place == table.places[0]
                hint = "; if the line names the columns, say --header" if first else ""
                raise table.bad(place, f"column {table.called(at)} is {shortened(cell)}; it must be 0 or 1{hint}")
    raise TypeError("digits of which none is wrong")
