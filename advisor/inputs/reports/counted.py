"""Files of reports that were counted before: how often each value was reported, or the sums of bits.

=================  =============================================================================================
protocol           one row
=================  =============================================================================================
grr                a value, and the number of reports with it
rappor, oue, the   a category, and the number of its bits that were set (of n reports); or the number of reports and
                   k sums, in the order of the domain or with its labels as the header. Such rows add up
=================  =============================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, ColumnBlock, Rows, whole_counts
from advisor.inputs.columns import InputTable, choose_columns, find_column, refuse_total
from advisor.inputs.labels import repeated, shortened
from advisor.inputs.reports.categories import Labels, count_labels, first_places
from advisor.inputs.reports.settings import CellCounts, Counted, Counting, ReportSettings, place_names
from advisor.inputs.reports.vectors import categories_of_columns


def count_counts(rows: Rows, settings: ReportSettings) -> Counting:
    """Return the counter of a file of counts. The file is read here: it has a row per category or day, not per report.

    Raises InputError for columns or counts that do not fit, and for a row that is the total of the others.
    """
    table = rows.table
    at = find_column(table, settings.counts or "", "--counts")
    block = _joined(rows)
    counts = np.array(whole_counts(block, table, at, 0))
    if settings.kind == "bits" and settings.column is None and len(table.values) > 2:
        return _wide(block, table, at, counts, settings)
    label, _ = choose_columns(table, settings.column, settings.counts)
    labels, last = block.cells(label), int(counts[-1])
    refuse_total(table, labels[-1], f"{last}", block.places[-1], int(counts.sum()) - 2 * last, rows=len(labels))
    if settings.kind == "value":
        seen = count_labels(table, settings.domain, partial(_weighted, label, counts.tolist()), [block])
        note = f"column {table.called(at)} read as the number of reports of each value in column {table.called(label)}"
        return _counting(table, settings, note, replace(seen, n=int(counts.sum())))
    if settings.n is None:
        raise InputError(f"{table.source}: holds a sum for each category, of how many reports? Say so with --n")
    if twice := repeated(labels):
        what = f"category {shortened(labels[twice[1]])} is there twice; sums of --n reports have one row per category"
        raise table.bad(block.places[twice[1]], what)
    note = f"column {table.called(at)} read as the sums of the bits of the categories in column {table.called(label)}"
    categories = replace(table, names=tuple(labels), width=len(labels))
    return _sums(categories, np.full(1, settings.n), counts[None], np.array(block.places), note, settings)


def _joined(rows: Rows) -> Block:
    blocks = list(rows.blocks())
    cells = {at: [cell for block in blocks for cell in block.cells(at)] for at in range(rows.table.width)}
    return ColumnBlock(cells, rows.table.width, [place for block in blocks for place in block.places])


def _weighted(label: int, counts: Sequence[int], block: Block) -> Labels:
    users: Counter[str] = Counter()
    for cell, count in zip(block.cells(label), counts, strict=True):
        users[cell] += count
    return users, lambda: first_places(block.cells(label), block.places)


def _wide(block: Block, table: InputTable, at: int, users: NDArray[np.int64], settings: ReportSettings) -> Counting:
    """Return the counter of rows with a number of reports and the sum of the bits of each category."""
    columns = [column for column in table.values if column != at]
    sums = np.array([whole_counts(block, table, column, 0) for column in columns]).T
    together = np.column_stack([users, sums])
    for row in (0, -1):
        if len(together) > 2 and (2 * together[row] == together.sum(axis=0)).all():
            raise table.bad(block.places[row], "is the sum of the other rows, not more reports; remove this row")
    names = None if table.names is None else tuple(table.names[column] for column in columns)
    note = f"column {table.called(at)} read as numbers of reports, the others as the sums of their bits"
    categories = replace(table, names=names, width=len(columns))
    return _sums(categories, users, sums, np.array(block.places)[:, None], note, settings)


def _sums(
    table: InputTable,
    users: NDArray[np.int64],
    sums: NDArray[np.int64],
    places: NDArray[np.int64],
    note: str,
    settings: ReportSettings,
) -> Counting:
    """Return the counter of sums ``(rows, k)`` of the bits of so many reports each ``(rows,)``.

    table, places: its columns are the categories; where each sum stands, in a shape that fits.
    """
    k = sums.shape[1]
    if settings.k not in (None, k):
        raise InputError(f"{table.source}: holds the sums of {k} categories; k is {settings.k}")
    for row, column in np.argwhere(sums > users[:, None]):
        place, more = np.broadcast_to(places, sums.shape)[row, column], f"of only {users[row]:,} reports"
        raise table.bad(place, f"the sum {sums[row, column]:,} of category {table.called(int(column))} is {more}")
    order, labels, notes = categories_of_columns(table, settings, k, what="sums", columns=True)
    placed = np.zeros(k, dtype=np.int64)
    placed[list(order)] = sums.sum(axis=0)
    settings = replace(settings, k=k, domain=labels if settings.domain or labels != place_names(k) else None)
    return _counting(table, settings, note, CellCounts(int(users.sum()), placed), *notes)


def _counting(table: InputTable, settings: ReportSettings, note: str, counted: Counted, *notes: str) -> Counting:
    if not counted.n:
        raise InputError(f"{table.source}: holds no report: all numbers of reports are 0")
    return Counting(table, settings, (note, *notes), None, partial(_as_counted, counted))


def _as_counted(counted: Counted, _: Iterable[Block]) -> Counted:
    return counted
