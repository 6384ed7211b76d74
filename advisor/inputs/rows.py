"""The rows of a text or Parquet file in blocks, each row with the line it begins on."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO, TypeAlias

from advisor.errors import InputError, listed
from advisor.inputs.columns import Table, is_header
from advisor.inputs.format import Format, Head, bad_quotes, blank, find_format, head_records, take_head
from advisor.inputs.opening import Source, opened
from advisor.inputs.tally import plural

BLOCK_ROWS = 4000
"""Most rows that are in memory at a time."""

BLOCK_CHARACTERS = 1 << 20
"""Characters of text after which a block ends, however few rows it has."""

_DECIMAL_COMMA = re.compile(r"[-+−]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_SPACES = Format(" ", quoted=False)

IsHeader: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]], Table, bool], bool]
"""Tell by the first row, those after it, the columns of both and the usual rules' answer if the first names columns."""


@dataclass(frozen=True)
class Block:
    """Some rows, with the line (of a text) or row (of Parquet) that each begins on."""

    rows: list[list[str]]
    places: list[int]

    def column(self, index: int) -> list[str]:
        """Return the stripped cells of a column."""
        return [row[index].strip() for row in self.rows]


class Rows:
    """What lies below the header of one input; to be gone through once.

    Attributes
    ----------
    table : Table
        The columns and the first rows.
    assumptions : tuple of str
        What was decided about header and separator.
    """

    def __init__(
        self, table: Table, assumptions: tuple[str, ...], numbered: Iterator[tuple[int, list[str], int]]
    ) -> None:
        self.table = table
        self.assumptions = assumptions
        self._numbered = numbered
        self._blanks = 0
        self._blanks_at_end = 0

    def blocks(self, *, even: bool = True) -> Iterator[Block]:
        """Yield the rows in blocks, without the header and blank lines.

        Parameters
        ----------
        even : bool
            Whether all rows must have as many cells as the first.

        Raises
        ------
        InputError
            For a row with another number of cells and for quotation marks that do not pair.
        """
        rows: list[list[str]] = []
        places: list[int] = []
        characters = 0
        width = self.table.width
        for place, row, size in self._numbered:
            if blank(row):
                self._blanks_at_end += 1
                continue
            if self._blanks_at_end:
                self._blanks += self._blanks_at_end
                self._blanks_at_end = 0
            if even and len(row) != width:
                raise _ragged(self.table, place, len(row))
            rows.append(row)
            places.append(place)
            characters += size
            if len(rows) >= BLOCK_ROWS or characters >= BLOCK_CHARACTERS:
                yield Block(rows, places)
                rows, places, characters = [], [], 0
        if rows:
            yield Block(rows, places)

    def warnings(self) -> tuple[str, ...]:
        """Say how many blank lines were between the rows; those at the end are nobody's concern."""
        return (plural(self._blanks, "blank line was", "blank lines were") + " skipped",) if self._blanks else ()

    def bad(self, place: int, what: str) -> InputError:
        """Word an error with the place where it is."""
        return InputError(f"{self.table.source}: {self.table.unit} {place}: {what}")


def _ragged(table: Table, place: int, fields: int) -> InputError:
    what = "the first line" if table.names is None else "the header"
    got = plural(fields, "field", "fields")
    return InputError(
        f"{table.source}: {table.unit} {place} has {got}, {what} has {table.width}; "
        "quote values that contain the separator"
    )


@contextmanager
def opened_rows(
    path: str,
    what: str,
    *,
    header: bool | None = None,
    asked: Sequence[str | None] = (),
    names_columns: IsHeader | None = None,
    decimals: bool = False,
    blanks: bool = True,
    stdin: BinaryIO | None = None,
) -> Iterator[Rows]:
    """Open CSV, TSV, columns with blanks between them, plain text, gzip of these, or Parquet.

    Parameters
    ----------
    path : str
        The file, "-" for standard input.
    what : str
        What the rows are, for messages ("reports").
    header : bool or None
        Whether the first line names the columns, None to find out.
    asked : sequence of str or None
        The columns the user named.
    names_columns : callable or None
        What finds out, None for the rules that samples follow.
    decimals : bool
        Whether a column holds decimals, so that "," beside ";" is more likely their sign than a separator.
    blanks : bool
        Whether blanks may separate columns, rather than the words of one label.
    stdin : binary file or None
        What "-" reads, None for the standard input of the process.

    Raises
    ------
    InputError
        If the file cannot be opened or read, is empty, or holds nothing but a header.
    """
    with opened(path, stdin) as source:
        if source.is_parquet:
            with _parquet(source) as rows:
                yield rows
            return
        with source.text() as text:
            head = take_head(text)
            form = _format(source, head, decimals=decimals, blanks=blanks)
            records = _head_rows(source, form, head)
            table, header_line = _table(source.name, what, form, records, header, asked, names_columns, cut=head.cut)
            numbered = _numbered(source.name, form, chain(head.lines, text), header_line)
            yield Rows(table, _described(table, records, form, asked=header is not None), numbered)


def _format(source: Source, head: Head, *, decimals: bool, blanks: bool) -> Format:
    form = find_format(source.name, source.suffix, head)
    if decimals and form.delimiter == "," and _commas_are_decimal(head):
        return Format(";")
    if form.delimiter is None and blanks:
        widths = {len(line.split()) for line in head.lines if line.strip()}
        if len(widths) == 1 and widths != {1}:
            return _SPACES
    return form


def _commas_are_decimal(head: Head) -> bool:
    """Tell whether semicolons cut every line into as many cells, one of which always is a number like "0,5"."""
    cut = [line.strip().split(";") for line in head.lines if line.strip()]
    if len(set(map(len, cut))) != 1 or len(cut[0]) == 1:
        return False
    return any(all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in column) for column in zip(*cut, strict=True))


def _head_rows(source: Source, form: Format, head: Head) -> list[tuple[int, list[str]]]:
    if form is not _SPACES:
        return head_records(source.name, form, head)
    return [(place, line.split()) for place, line in enumerate(head.lines, start=1) if line.strip()]


def _table(
    source: str,
    what: str,
    form: Format,
    records: list[tuple[int, list[str]]],
    header: bool | None,
    asked: Sequence[str | None],
    names_columns: IsHeader | None,
    *,
    cut: bool,
) -> tuple[Table, int | None]:
    first_line, first = records[0]
    rest = [row for _, row in records[1:]]
    comma = form.delimiter == ";"
    found = header
    if found is None:
        whole = Table(source, None, len(first), [first, *rest], [place for place, _ in records], decimal_comma=comma)
        found = is_header(first, rest, asked, table=form.table)
        # A column that was asked for by its name is a header, whatever else the line looks like.
        if names_columns is not None and not _names_asked(first, asked):
            found = names_columns(first, rest, whole, found)
    if found and not rest and not cut:
        raise InputError(
            f"{source}: holds only a header line ({_joined(first)}), no {what}; "
            "if the line is one of them, say --no-header"
        )
    names = tuple(cell.strip() for cell in first) if found else None
    below = records[1:] if found else records
    rows, places = [row for _, row in below], [place for place, _ in below]
    return Table(source, names, len(first), rows, places, decimal_comma=comma), first_line if found else None


def _names_asked(first: Sequence[str], asked: Sequence[str | None]) -> bool:
    # A number is the place of a column, not its name.
    wanted = {name.strip().casefold() for name in asked if name and not name.strip().isdecimal()}
    return bool(wanted & {cell.strip().casefold() for cell in first})


def _described(table: Table, records: list[tuple[int, list[str]]], form: Format, *, asked: bool) -> tuple[str, ...]:
    first = _joined(records[0][1])
    if asked:
        decided = "no header line, as asked" if table.names is None else f"first line is the header ({first})"
    else:
        decided = "no header line found" if table.names is None else f"first line taken as the header ({first})"
    if form.delimiter in {None, ","}:
        return (decided,)
    return decided, f"columns separated by {'blanks' if form is _SPACES else form.describe()}"


def _joined(first: Sequence[str]) -> str:
    shown = listed((cell.strip() for cell in first), most=6)
    return shown if len(shown) <= 120 else shown[:120] + "…"


def _numbered(
    source: str, form: Format, lines: Iterator[str], header_line: int | None
) -> Iterator[tuple[int, list[str], int]]:
    """Yield rows with the line each begins on and about how many characters it has."""
    if form.delimiter is None:
        numbered: Iterator[tuple[int, list[str]]] = (
            (place, [stripped] if (stripped := line.strip()) else []) for place, line in enumerate(lines, 1)
        )
    elif form is _SPACES:
        numbered = ((place, line.split()) for place, line in enumerate(lines, 1))
    else:
        numbered = _delimited(source, form, lines)
    for place, row in numbered:
        if place != header_line:
            # Adding up the cells of a wide table would take as long as reading it.
            yield place, row, sum(map(len, row)) if len(row) < 9 else 4 * len(row)


def _delimited(source: str, form: Format, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    reader = form.records(lines)
    begin = 1
    try:
        for row in reader:
            yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        raise bad_quotes(source, reader.line_num, str(error)) from None


@contextmanager
def _parquet(source: Source) -> Iterator[Rows]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{source.name}: reading Parquet needs pyarrow; install it with pip install 'ldp-advise[parquet]', "
            "or give the columns as CSV"
        ) from None
    try:
        with source.rereadable() as again, parquet.ParquetFile(again.binary()) as file:
            names = tuple(name.strip() for name in file.schema_arrow.names)
            if not names:
                raise InputError(f"{source.name}: the Parquet file has no columns")
            first = next(_parquet_rows(file, source.name), None)
            if first is None:
                raise InputError(f"{source.name}: is empty; a table with at least one row is needed")
            rows = [row for _, row, _ in first]
            table = Table(source.name, names, len(names), rows, range(1, len(rows) + 1), unit="row")
            yield Rows(table, (), chain.from_iterable(_parquet_rows(file, source.name)))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name}: the Parquet file cannot be read ({error})") from error


def _parquet_rows(file: Any, source: str) -> Iterator[list[tuple[int, list[str], int]]]:
    place = 1
    for batch in file.iter_batches(batch_size=BLOCK_ROWS):
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if getattr(column.type, "num_fields", 0):
                raise InputError(f"{source}: column {field.name!r} holds {field.type}; cast it to strings")
        columns = [map(_text, column.to_pylist()) for column in batch.columns]
        rows = [list(row) for row in zip(*columns, strict=True)]
        yield [(place + at, row, 1) for at, row in enumerate(rows)]
        place += len(rows)


def _text(value: object) -> str:
    """Write a value as CSV writers do, a float that is a whole number as an integer."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
