"""Raw frequency estimates from a file, one per category, for post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import real_numbers
from advisor.inputs.columns import InputTable, find_column, refuse_same
from advisor.inputs.head import DETECTED, Expected, FileLayout
from advisor.inputs.labels import missing_labels, refuse_repeated, shortened
from advisor.inputs.numbers import LARGEST_TOTAL, is_missing, last_digit, looks_numeric
from advisor.inputs.table import opened_rows
from advisor.inputs.totals import names_total, total_row

NEAR_ALL = 0.25  # distance from 1 of the sum of raw frequencies


@dataclass(frozen=True)
class RawEstimates:
    """Labels and estimates of a file, with assumptions and warnings."""

    labels: tuple[str, ...]  # the k distinct labels without surrounding whitespace, in the order of the file
    # ``(k,)`` estimates in the unit of the file (frequencies or numbers of users); negative values stay negative
    values: NDArray[np.float64]
    assumptions: tuple[str, ...] = ()  # decisions made for the user, one sentence each
    warnings: tuple[str, ...] = ()  # what the user should check, one sentence each
    labelled: bool = True  # whether the file has labels; otherwise they are the numbers of the rows
    column: str = ""  # name of the column with the labels


def read_estimates(
    path: str, *, column: str | None = None, estimates: str | None = None, layout: FileLayout = DETECTED
) -> RawEstimates:
    r"""Read labels and estimates, one row per category, from CSV, TSV, plain text, gzip of these, or Parquet.

    A file with one column holds the estimates of the categories 0, 1, …. Estimates are real numbers; they may be
    negative, in scientific notation, or with thousands separators. A file that separates columns by semicolons may
    write decimals with a comma.

    Parameters
    ----------
    path : str
        The file, "-" for standard input.
    column, estimates : str or None
        The columns with the labels and with the estimates, by header or by number from 1; None to find out.
    layout : FileLayout
        What the user says about the layout.

    Raises
    ------
    InputError
        If the file cannot be read; a single line says what is wrong, where, and how to fix it.
    """
    expected = Expected("estimates", layout, (column, estimates), _names_columns, blanks=True)
    with opened_rows(path, expected) as rows:
        label_at, value_at = _columns(rows.table, column, estimates)
        table = rows.table
        doubts = rows.without_second_header()
        block = rows.in_one_block([value_at] if label_at is None else [label_at, value_at])
    cells, places = block.cells(value_at), block.places
    sign = table.decimal_sign(value_at).learn(cells)
    hint = "; an estimate is a number, negative or not, e.g. 0.25, -0.013 or 1e-3"
    values = real_numbers(block, table, [value_at], "estimate", hint)[:, 0]
    if np.abs(values).max(initial=0) > LARGEST_TOTAL:
        raise InputError(f"{table.source}: an estimate is above {LARGEST_TOTAL} (2^53), more users than are counted")
    if label_at is None:
        labels = [str(at) for at in range(len(cells))]
        note = f"one column: its {len(cells)} rows read as the estimates of the categories 0 to {len(cells) - 1}"
    else:
        labels = block.cells(label_at)
        _check_labels(table, labels, places)
        # Rounding has standard deviation unit / sqrt(12) per figure: four of these, and half a unit in the total.
        rounding = last_digit(cells, comma=bool(sign.comma)) * (0.5 + 1.2 * math.sqrt(len(cells)))
        at = total_row(values.tolist(), rounding + 1e-9 * float(np.abs(values).sum()))
        # One of a few frequencies may well be the sum of the others, but then it is half of all.
        if at is not None and (names_total(labels[at]) or abs(values[at] - 1) < NEAR_ALL):
            raise table.bad(
                places[at],
                f"{shortened(labels[at])} is the sum of all other rows ({cells[at]}), not a category; remove this row",
            )
        note = f"estimates in column {table.called(value_at)}, labels in {table.called(label_at)}"
        note = "; ".join((*(table.row_numbers_note if label_at != table.row_numbers else ()), note))
    if len(labels) < 2:
        raise InputError(f"{table.source}: holds 1 estimate; a domain needs at least 2 categories, one row each")
    return RawEstimates(
        tuple(labels),
        values,
        (
            *rows.assumptions[table.names is not None and label_at is not None :],
            note,
            *(["estimates have a decimal comma"] if sign.comma else []),
        ),
        (*rows.warnings(), *doubts),
        labelled=label_at is not None,
        column="" if label_at is None or table.names is None else table.names[label_at],
    )


def _names_columns(first: Sequence[str], rest: Sequence[Sequence[str]], usual: bool) -> bool:
    """Return whether the first row is a header; "NaN" or an empty cell above numbers is a missing value."""
    below = [list(map(looks_numeric, row)) for row in rest]
    above = [cell for cell, *numbers in zip(first, *below, strict=True) if numbers and all(numbers)]
    return not all(map(is_missing, above)) if above and not any(map(looks_numeric, first)) else usual


def _columns(table: InputTable, column: str | None, estimates: str | None) -> tuple[int | None, int]:
    """Return the columns of the labels (None without labels) and of the estimates."""
    label = None if column is None else find_column(table, column, "--column")
    value = _estimate_column(table, label) if estimates is None else find_column(table, estimates, "--estimates")
    refuse_same(table, label, value, "--column and --estimates")
    if label is None and table.width > 1:
        label = next((at for at in table.values if at != value), 0)  # row numbers are the labels if there are no others
    return label, value


def _estimate_column(table: InputTable, label: int | None) -> int:
    if table.width == 1:
        if label is not None:
            raise InputError(f"{table.source}: has one column, no estimates beside the labels; add a column of them")
        return 0
    for meaning in ("estimate", "estimated", "estimated_count"):
        places = [at for at in table.named(meaning) if at != label]
        if len(places) == 1:
            return places[0]
        if places:
            break
    columns = table.values if label in (None, *table.values) and len(table.values) > 1 else tuple(range(table.width))
    if len(columns) == 2:
        if label is not None:
            return next(at for at in columns if at != label)
        numeric = [all(map(looks_numeric, table.cells(at))) for at in columns]
        return columns[0] if numeric == [True, False] else columns[1]
    raise InputError(
        f"{table.source}: has {table.width} columns: {table.columns()}; say which one holds the estimates with "
        "--estimates, and which the labels with --column"
    )


def _check_labels(table: InputTable, labels: list[str], places: Sequence[int]) -> None:
    """Raise InputError for a missing or repeated label."""
    missing = set(missing_labels(labels))
    for label, place in zip(labels, places, strict=True):
        if label in missing:
            what = repr(label) if label else "an empty cell"
            raise table.bad(place, f"the label is missing ({what}); fill it in, or remove the row")
    refuse_repeated(table.source, labels, places, table.unit)
