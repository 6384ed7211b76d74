"""Reports with one entry per category: bits, as k columns or a string of k characters, or real numbers.

Sums of floats depend on their order, so blocks, files and workers would change the last digits. Here each number
is converted to whole steps of 2^-64; finer numbers are rounded, by less than 3e-20. Steps add up exactly, and the sum
is rounded once, to the nearest float.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from statistics import mode

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, ColumnBlock, Rows
from advisor.inputs.columns import InputTable
from advisor.inputs.labels import check_domain, plural, shortened
from advisor.inputs.numbers import MOST_LABELS, is_finite
from advisor.inputs.reports.settings import (
    Cells,
    Counting,
    ReportSettings,
    column_note,
    named_column,
    place_names,
    summed,
)
from simulator._types import FloatArray

_BITS = frozenset({"0", "1"})
_BETWEEN = " ;|,"  # bits in one cell


def bits_have_header(first: Sequence[str], usual: bool, settings: ReportSettings) -> bool:
    """Return whether the first row is a header instead of a report; labels of columns may be numbers."""
    cells = [cell.strip() for cell in first]
    if settings.column is None and len(cells) > 1:
        return not set(cells) <= _BITS and "" not in cells and len(set(cells)) == len(cells)
    # A damaged report such as "01x1" is not a header.
    return usual and not any(cell[:1].isdecimal() for cell in cells)


def count_vectors(rows: Rows, settings: ReportSettings) -> Counting:
    """Return the counter of reports with one bit or number per category; numbers are in steps of 2^-64.

    Raises InputError for columns that do not fit the domain, and for a first report that does not determine k.
    """
    table, at, bits = rows.table, named_column(rows.table, settings.column), settings.kind == "bits"
    if at is None and not any((*(table.names or ())[-1:], *table.cells(table.width - 1))):
        hint = "remove it, or name the column of the reports with --column"
        raise InputError(f"{table.source}: column {table.width} is empty, as rows end with a separator: {hint}")
    k = settings.k or (table.width if at is None else _length(table, at, settings))
    if k < 2 or (at is None and k != table.width):
        size = f"a report of {settings.protocol} is {settings.k or 'two or more'} numbers, one a column, or all"
        if bits:
            size = f"k is {k}, and a report is {k} columns of 0 and 1, or a string of {k} of them"
        raise InputError(
            f"{table.source}: has {plural(table.width, 'column', 'columns')}: {table.columns()}; {size} in the column "
            "that --column names"
        )
    what = "bits" if bits else "numbers"
    order, labels, notes = categories_of_columns(table, settings, k, what=what, columns=at is None)
    whose = f"{f'k is {k}' if settings.k is not None else f'the first report has {k}'}; all reports have k characters"
    sums: Callable[[Block], Cells] = partial(_sums, table, at, k, settings.steps)
    if bits:
        sums = partial(_sums_of_columns, table) if at is None else partial(sums_of_strings, table, at, k, whose)
    if settings.steps is not None:
        notes += (f"numbers read as steps of 1/{settings.steps}",)
    return Counting(
        table,
        replace(settings, k=k, domain=labels if settings.domain or labels != place_names(k) else None),
        notes if at is None else (*column_note(table, at), *notes),
        None if at is None else [at],
        partial(summed, partial(_placed, sums, order)),
    )


def _length(table: InputTable, at: int, settings: ReportSettings) -> int:
    """Return the length of the first report, or that of most where some may be left out."""
    bits = settings.kind == "bits"
    reports = [plain_bits(cell) if bits else split_numbers(cell) for cell in table.cells(at)]
    if not reports:
        return 2  # all rows have another number of cells, which their reader refuses
    first = reports[0]
    fit = [report for report in reports if report and not (bits and set(report) - _BITS)]
    if fit and (settings.skip_bad or settings.missing):
        return mode(map(len, fit))
    if bits and (not 2 <= len(first) <= MOST_LABELS or first not in fit):
        raise table.bad(
            table.places[0] if table.places else 1,
            f"the report {shortened(str(first))} is not a string of 0 and 1, one for each of two or more categories",
        )
    return len(first)


def _placed(sums: Callable[[Block], Cells], order: Sequence[int], block: Block) -> Cells:
    """Return sums in the order of the categories; `order` has the category of each entry of a report."""
    unplaced = sums(block)
    placed = np.empty_like(unplaced)
    placed[list(order)] = unplaced
    return placed


def categories_of_columns(
    table: InputTable, settings: ReportSettings, k: int, *, what: str, columns: bool
) -> tuple[Sequence[int], tuple[str, ...], tuple[str, ...]]:
    """Return the category of each bit or number, all labels, and the assumptions."""
    names = table.names if columns else None
    if names == place_names(k) or names is None:
        if settings.domain is not None:
            return range(k), settings.domain, (f"{what} taken in the order of the domain",)
        why = "" if settings.k is not None else f", k={k} as that is the length of the first report"
        return range(k), place_names(k), (f"categories numbered from 0 to {k - 1} in the order of the {what}{why}",)
    try:
        labels = check_domain(names)
    except InputError as error:
        raise InputError(f"{table.source}: the names are not those of k={k} categories: {error}") from None
    if settings.domain is None:
        return range(k), labels, (f"the {k} names of the header taken as the categories",)
    place = {label: at for at, label in enumerate(settings.domain)}
    strange = [label for label in labels if label not in place]
    if strange:
        raise InputError(
            f"{table.source}: {shortened(strange[0])} is not a label of the domain; the {what} are those of the "
            "domain, in any order, or have no header (--no-header)"
        )
    return [place[label] for label in labels], settings.domain, (f"{what} placed by the names of the header",)


def sums_of_strings(table: InputTable, at: int, k: int, whose: str, block: Block) -> Cells:
    """Return the sums of a column of reports; a report is a string of k characters, and `whose` names it in errors.

    Raises InputError for the first invalid report.
    """
    cells = block.cells(at)
    bits = _bits_of(cells, k)
    if bits is None:
        cells = list(map(plain_bits, cells))
        bits = _bits_of(cells, k)
    if bits is None:
        wrong = ((place, _wrong_bits(cell, k, whose)) for place, cell in zip(block.places, cells, strict=True))
        raise next(table.bad(place, why) for place, why in wrong if why)
    return bits.sum(axis=0, dtype=np.int64)


def plain_bits(cell: str) -> str:
    """Return a string of characters without separators, if the same mark separates all of them.

    >>> plain_bits("0;1;1"), plain_bits("011"), plain_bits("0;11")
    ('011', '011', '0;11')
    """
    mark, half = cell[1:2], len(cell) // 2
    return cell[::2] if mark and mark in _BETWEEN and len(cell) % 2 and cell[1::2] == mark * half else cell


def _bits_of(cells: Sequence[str], k: int) -> NDArray[np.uint8] | None:
    """Return strings of k characters 0 and 1 as ``(n, k)`` numbers; None if any string differs from this form."""
    joined = "".join(cells)
    if set(map(len, cells)) != {k} or not joined.isascii():
        return None
    bits = np.frombuffer(joined.encode(), dtype=np.uint8).reshape(-1, k) - np.uint8(ord("0"))
    return bits if bits.max() <= 1 else None


def _wrong_bits(cell: str, k: int, whose: str) -> str | None:
    if not cell:
        return "the report is missing (an empty cell); --drop-missing leaves out such rows"
    if odd := sorted(set(cell) - _BITS):
        return f"the report {shortened(cell)} holds {odd[0]!r}; a report is {k} characters 0 and 1"
    if len(cell) == k:
        return None
    return (
        f"the report {shortened(cell)} has {plural(len(cell), 'character', 'characters')}, but {whose} (a "
        "spreadsheet may have dropped leading zeros)"
    )


def _sums_of_columns(table: InputTable, block: Block) -> Cells:
    """Return the sums of reports that have a column for each bit."""
    bits = block.digits()
    if bits is not None and bits.max() <= 1:
        return bits.sum(axis=0, dtype=np.int64)
    rows = block.rows()
    right = set(chain.from_iterable(rows)) <= _BITS
    for row, place in () if right else zip(rows, block.places, strict=True):
        for at, cell in enumerate(row):
            if not cell:
                raise table.bad(place, f"column {table.called(at)} is missing; --drop-missing leaves out such rows")
            if cell not in _BITS:
                first = table.names is None and place == table.places[0]
                hint = "; if the line names the columns, say --header" if first else ""
                if any(other.isdecimal() and set(other) - _BITS for other in row):
                    hint += "; if rows are sums of bits, name the column with the number of reports by --counts"
                raise table.bad(place, f"column {table.called(at)} is {shortened(cell)}; it must be 0 or 1{hint}")
    ones = np.frombuffer("".join(chain.from_iterable(rows)).encode(), np.uint8).reshape(len(rows), -1) == ord("1")
    return ones.sum(axis=0, dtype=np.int64)


STEP = 64  # fractional bits
LARGEST = 2.0**40  # maximum of a number: at the smallest budget the noise has scale 2^21
_HALF = np.float64(1 << (STEP // 2))


def cells_have_header(first: Sequence[str]) -> bool:
    """Return whether the first row is a header: it has a cell that is not a number, or it numbers the categories."""
    cells = [cell.strip() for cell in first]
    vectors = [parts for parts in map(split_numbers, cells) if len(parts) > 1]
    if any(all(map(is_finite, parts)) for parts in vectors):
        return False
    if tuple(cells) in (place_names(len(cells)), place_names(len(cells) + 1)[1:]):
        return len(cells) > 2  # "0,1" may be a report in whole steps
    return "" not in cells and len(set(cells)) == len(cells) and not all(map(is_finite, cells))


def _sums(table: InputTable, at: int | None, k: int, steps: int | None, block: Block) -> Cells:
    """Return the sums of a block, as Python integers."""
    if at is not None:
        reports = list(map(split_numbers, block.cells(at)))
        for report, place in zip(reports, block.places, strict=True):
            if len(report) != k:
                raise table.bad(place, f"the report has {plural(len(report), 'number', 'numbers')}; k is {k}")
        block = ColumnBlock(dict(enumerate(map(list, zip(*reports, strict=True)))), k, block.places)
    numbers = block.real(range(k))
    whole = steps is None or (numbers is not None and bool((numbers == np.trunc(numbers)).all()))
    if numbers is not None and whole and float(np.abs(numbers).max()) <= LARGEST:
        return exact_sums(numbers)
    for report, place in zip(block.rows(), block.places, strict=True):
        for number, cell in enumerate(report):
            if why := _wrong_cell(cell, steps):
                named = f"column {table.called(number)}" if at is None else f"number {number + 1}"
                raise table.bad(place, f"{named} is {why}")
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
    """Return the numbers of a cell, separated by blanks, ";", "|" or ","; enclosing brackets are removed."""
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
    for start in range(0, len(numbers), 1 << 20):  # sums of this many 42-bit numbers fit in 64 bits
        part = numbers[start : start + (1 << 20)]
        for shift in (STEP, STEP // 2, 0):
            # Subtracting the integer part and scaling by a power of two are exact.
            whole = np.trunc(part) if shift else np.rint(part)
            result = result + whole.astype(np.int64).sum(axis=0).astype(object) * (1 << shift)
            part = (part - whole) * _HALF
    return result


def real_sums(cells: Cells, steps: int | None) -> FloatArray:
    """Return the values of `exact_sums`, rounded once to the nearest float; `steps` comes from the settings."""
    unit = (steps or 1) << STEP
    return np.array([int(cell) / unit for cell in cells], dtype=np.float64)
