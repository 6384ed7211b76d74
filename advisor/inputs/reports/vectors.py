"""Reports with one entry per category: bits, as k columns or a string of k characters, or real numbers.

Sums of floats depend on their order, so blocks, files and workers would change the last digits. Here each number
is converted to whole steps of 2^-64; finer numbers are rounded, by less than 3e-20. Steps add up exactly, and the sum
is rounded once, to the nearest float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import mode

import numpy as np

from advisor.errors import InputError
from advisor.inputs.blocks import Block, RowBlock, Rows
from advisor.inputs.columns import InputTable, numbers_rows
from advisor.inputs.labels import check_domain, plural, shortened
from advisor.inputs.numbers import MOST_LABELS, digits_below, is_finite
from advisor.inputs.reports.counting import Cells, Counting, Form
from advisor.inputs.reports.settings import ReportSettings, column_note, named_column, place_names
from simulator._types import FloatArray

_BITS = frozenset({"0", "1"})
_BETWEEN = " ;|,"  # bits in one cell
_TRUTHS = {"true": "1", "false": "0"}


def bits_have_header(first: Sequence[str], usual: bool, settings: ReportSettings) -> bool:
    """Return whether the first row is a header instead of a report; labels of columns may be numbers."""
    cells = [cell.strip() for cell in first]
    if settings.column is None and len(cells) > 1:
        return not all(map(_bit, cells)) and "" not in cells and len(set(cells)) == len(cells)
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
    numbered = [row[0].strip() for row in table.rows]
    if at is None and len(numbered) > 2 and not numbered[0] and numbers_rows(numbered[1:]):
        what = "the first column has no name, and numbers the rows; write the file without it (pandas: index=False)"
        raise InputError(f"{table.source}: {what}")
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
    says = f"a report is {k} {what}{' (as the first)' if settings.k is None else ''}"
    steps = settings.steps
    form: Form = Reals(at, k, steps, LARGEST if steps is None else min(LARGEST, steps * (1 + REACH / settings.epsilon)))
    if not bits:
        says += f" such as -0.31{f', in whole steps, none further than noise reaches ({settings})' if steps else ''}"
    elif at is None:
        form = BitColumns(k)
        says += ", each 0 or 1 (of sums of bits, name the column with the number of reports by --counts)"
    else:
        form = Strings(at, k)
        says += " in a string of characters 0 and 1 (a spreadsheet may have dropped leading zeros)"
    if steps is not None:
        notes += (f"numbers read as steps of 1/{steps}",)
    return Counting(
        table,
        replace(settings, k=k, domain=labels if settings.domain or labels != place_names(k) else None),
        notes if at is None else (*column_note(table, at), *notes),
        None if at is None else [at],
        form,
        says,
        () if order == range(k) else np.argsort(order).tolist(),
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


@dataclass(frozen=True)
class Strings:
    """Reports of k bits in one cell."""

    at: int
    k: int

    def counts(self, block: Block) -> Cells | None:
        """Return the sums of a block; None if a report is written in another way."""
        cells = block.cells(self.at)
        joined = "".join(cells)
        if set(map(len, cells)) != {self.k} or not joined.isascii():
            return None
        bits = np.frombuffer(joined.encode(), np.uint8).reshape(-1, self.k) - np.uint8(ord("0"))
        return bits.sum(axis=0, dtype=np.int64) if bits.max() <= 1 else None

    def plain(self, cells: list[str]) -> list[str | None]:
        """Return the bits of a report without separators."""
        bits = plain_bits(cells[0])
        return [bits if len(bits) == self.k and not set(bits) - _BITS else None]


@dataclass(frozen=True)
class BitColumns:
    """Reports with a column for each of k bits."""

    k: int

    def counts(self, block: Block) -> Cells | None:
        """Return the sums of a block; None if a cell is no bit."""
        bits = block.digits()
        if bits is None:
            rows = block.rows()
            if set(chain.from_iterable(rows)) - _BITS:
                return None
            joined = "".join(chain.from_iterable(rows)).encode()
            bits = np.frombuffer(joined, np.uint8).reshape(len(rows), -1) - np.uint8(ord("0"))
        return bits.sum(axis=0, dtype=np.int64) if bits.max() <= 1 else None

    def plain(self, cells: list[str]) -> list[str | None]:
        """Return the bits of a report."""
        return list(map(_bit, cells))


def _bit(cell: str) -> str | None:
    return digits_below(_TRUTHS.get(cell.casefold(), cell), 2)


def plain_bits(cell: str) -> str:
    """Return a string of characters without separators, if the same mark separates all of them.

    >>> plain_bits("0;1;1"), plain_bits("011"), plain_bits("0;11")
    ('011', '011', '0;11')
    """
    mark, half = cell[1:2], len(cell) // 2
    return cell[::2] if mark and mark in _BETWEEN and len(cell) % 2 and cell[1::2] == mark * half else cell


STEP = 64  # fractional bits
LARGEST = 2.0**40  # maximum of a number: at the smallest budget the noise has scale 2^21
REACH = 120  # budgets that exact noise, of scale 2 / epsilon, never reaches: the odds are e^60
_HALF = np.float64(1 << (STEP // 2))


def cells_have_header(first: Sequence[str]) -> bool:
    """Return whether the first row is a header: it has a cell that is not a number, or it numbers the categories."""
    cells = [cell.strip() for cell in first]
    vectors = [parts for parts in map(split_numbers, cells) if len(parts) > 1]
    if any(all(map(is_finite, parts)) for parts in vectors):
        return False
    if numbers_rows(cells):
        return len(cells) > 2  # "0,1" may be a report in whole steps
    return "" not in cells and len(set(cells)) == len(cells) and not all(map(is_finite, cells))


@dataclass(frozen=True)
class Reals:
    """Reports of k real numbers, in a column each, or all in one."""

    at: int | None  # the one column
    k: int
    steps: int | None  # whether they are whole numbers of steps
    largest: float

    def counts(self, block: Block) -> Cells | None:
        """Return the sums of a block, as Python integers; None if a cell is no such number."""
        if self.at is not None:
            reports = list(map(split_numbers, block.cells(self.at)))
            if any(len(report) != self.k for report in reports):
                return None
            block = RowBlock(reports, block.places)
        numbers = block.real(range(self.k))
        return exact_sums(numbers) if numbers is not None and self._are_right(numbers) else None

    def _are_right(self, numbers: FloatArray) -> bool:
        whole = self.steps is None or bool((numbers == np.trunc(numbers)).all())
        return whole and float(np.abs(numbers).max()) <= self.largest

    def plain(self, cells: list[str]) -> list[str | None]:
        """Return the numbers of a report."""
        if self.at is not None:
            report = split_numbers(cells[0])
            right = len(report) == self.k and None not in replace(self, at=None).plain(report)
            return [cells[0] if right else None]
        return [cell if is_finite(cell) and self._are_right(np.array([float(cell)])) else None for cell in cells]


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
