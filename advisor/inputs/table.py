"""Reader of all input files: rows in blocks. The head of a text determines the layout."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, listed, printable
from advisor.inputs.blocks import Block, RowBlock, Rows, TextBlock
from advisor.inputs.head import (
    Dialect,
    Expected,
    Head,
    RecordError,
    blank,
    find_columns,
    find_dialect,
    head_records,
    header_doubt,
    layout_doubts,
    lines_above,
    records,
    take_head,
)
from advisor.inputs.labels import plural
from advisor.inputs.lines import count_in_front, printed_counts, refuse_rules, whole_line
from advisor.inputs.numbers import looks_numeric, unit_doubt
from advisor.inputs.parquet import opened_parquet
from advisor.inputs.source import Source, opened

BLOCK_ROWS = 4000
"""Maximum of rows in memory, for a reader that goes row by row."""

BLOCK_CELLS = 1 << 16
"""Number of cells after which such a block ends, for any number of rows."""

FEW = 1 << 18
"""Number of characters that are read row by row faster than pandas is imported."""

_LINE_FEED, _QUOTE = b'\n"'
_SOURCE = re.compile(r"(?:sources?|quellen?|fuentes?|fonti?|notes?) ?:|last updated$", re.IGNORECASE)  # below a table
_BLANK = re.compile(r'^"?\s*"?$', re.MULTILINE)


@contextmanager
def opened_rows(path: str, expected: Expected, stdin: BinaryIO | None = None) -> Iterator[Rows]:
    """Open CSV, TSV, columns with blanks between them, plain text, gzip of these, or Parquet.

    path: the file, "-" for standard input.
    stdin: what "-" reads, None for the standard input of the process.

    Raises InputError if the file cannot be opened or read, is empty, or holds only a header.
    """
    with opened(path, stdin) as source:
        if source.is_parquet:
            with opened_parquet(source, expected) as rows:
                yield rows
            return
        yield TextRows(source, expected)


class TextRows(Rows):
    """The rows of a text."""

    _above = 0  # lines that may stand above the table
    _second: int | None = None  # line of a second header

    def __init__(self, source: Source, expected: Expected) -> None:
        layout = expected.layout
        self._notes: list[str] = []
        self._below: list[tuple[int, list[str]]] = []  # what stands below the table, with its lines
        self._source = source
        self._pieces = source.pieces()
        head = take_head(source.name, self._pieces, layout.skip)
        form = find_dialect(source.name, source.suffix, head, expected)
        if not expected.items:
            refuse_rules(source.name, head.lines)
        if expected.counted and not form.names and not any((form.delimiter or "\0") in line for line in head.lines):
            head, form = self._printed(head, form)
        self._items = expected.items
        self._head = head_records(source.name, form, head)
        if not expected.items and form.cells is None and layout.skip is None and layout.header is not False:
            head = self._below_titles(form, head, expected)
        self.form = form
        self.quoted = form.quoted
        super().__init__(*find_columns(source.name, form, self._head, expected, cut=head.cut))
        if expected.what == "users":
            self._refuse_odd_rows()
        self.assumptions += form.notes
        if form.cells is whole_line and not any(expected.columns):
            self.doubts = layout_doubts(head)
        if self.table.width == 1 and layout.header is None and self.table.names is None:
            self.doubts += header_doubt(self.table, table=form.table)
        self._begin = "".join(head.lines[self._head.end - head.first :]) + head.rest

    def _printed(self, head: Head, form: Dialect) -> tuple[Head, Dialect]:
        """Return the lines of labels with counts as programs print them, and how they are read; or as they were."""
        cells = printed_counts(self._source.name, head.lines)
        if cells is None:
            return head, form
        where = "in front of" if cells is count_in_front else "behind"
        self._notes.append(
            f"the number {where} the label on each line was read as its count, as counting programs print it"
        )
        named = len(cells(head.filled[0])) == 1
        names = (head.filled[0] if named else "value", "count")
        begin = 1 + next(at for at, line in enumerate(head.lines) if line.strip()) if named else 0
        return head.without(begin), Dialect(None, quoted=False, cells=cells, names=names)

    def _below_titles(self, form: Dialect, head: Head, expected: Expected) -> Head:
        """Return the head without the lines above the table, if it is sure that they are not part of it."""
        above, sure = lines_above(self._head, head, expected)
        self._above = above if above and not sure else 0
        if not above or not sure:
            return head
        lines, title = plural(above, "line stands", "lines stand"), printable(head.lines[0].strip()[:60])
        were = f"{'was' if above == 1 else 'were'} left out (--skip {above} says so, --skip 0 reads all)"
        text = " ".join(head.lines[:above])
        self._notes.append(f"{lines} above the header ({title}) and {were}{unit_doubt(text)}")
        head = head.without(above)
        self._head = head_records(self._source.name, form, head)
        return head

    def without_second_header(self) -> tuple[str, ...]:
        """Leave out the first row if it is a second header, and return a warning about it."""
        if not self.table.second_header:
            return ()
        self._second = self.table.places[0]
        cells = listed((printable(cell.strip()) for cell in self.table.rows[0] if cell.strip()), most=3)
        what = f"line {self._second} ({cells}) was left out: it stands like a second header above numbers"
        return (what + unit_doubt(cells),)

    def _refuse_odd_rows(self) -> None:
        """Raise InputError for rows that are quoted as a whole, and for rows that describe the columns."""
        for at, row in zip(self.table.places, self.table.rows[:3], strict=False):
            if any('"ImportId"' in cell for cell in row):
                raise self.table.bad(
                    at,
                    "describes the columns, as Qualtrics writes it below the header; leave out what stands above it "
                    f"with --skip {at - 1}, and name the column by its number (--column 1)",
                )
        cells = [*(self.table.names or ()), *self.table.cells(0)] if self.table.width == 1 and self.table.names else []
        for mark in ",;\t":
            parts = [cell.split(mark) for cell in cells]
            even = len({len(part) for part in parts}) == 1 and len(parts[0]) > 1
            if even and self.quoted and all(looks_numeric(part[-1].strip()) for part in parts[1:]):
                raise InputError(
                    f"{self.table.source}: every line stands in quotation marks as a whole, with several columns in "
                    "it; remove the marks around the lines"
                )

    def warnings(self) -> tuple[str, ...]:
        """Return a warning for blank lines between rows, for lines around the table, and for the encoding."""
        if self._below:
            place, (cell, *_) = self._below[0]
            lines = plural(len(self._below), "line stands", "lines stand")
            were = "was" if len(self._below) == 1 else "were"
            where = f"line {place}: {printable(cell.strip()[:60])}"
            self._notes.append(f"{lines} below the table ({where}) and {were} left out")
            self._below = []
        return (*super().warnings(), *self._notes, *self._source.notes)

    def blocks(self, columns: Sequence[int] | None = None, *, even: bool = True) -> Iterator[Block]:  # noqa: ARG002
        """Yield the rows in blocks, without the header and blank lines."""
        header = [] if self.table.names is None or self.form.names else [self._head.filled[0][0]]
        left_out = {*header, self._second}
        yield from self._row_blocks(((at, row) for at, row in self._head.rows if at not in left_out), even=even)
        place, pieces = self._head.end, chain([self._begin] if self._begin else [], self._pieces)
        begin = list(islice(pieces, 2))
        pieces = chain(begin, pieces)
        if even and self.form.cells in (None, whole_line) and (len(begin) > 1 or sum(map(len, begin)) > FEW):
            for piece in pieces:
                block = self._text_block(piece, place)
                if block is None:
                    pieces = chain([piece], pieces)
                    break
                self._blanks += self._blanks_at_end
                self._blanks_at_end = 0
                place += len(block)
                yield block
        try:
            yield from self._row_blocks(
                records(self.form, chain.from_iterable(map(io.StringIO, pieces)), place), even=even
            )
        except RecordError as error:
            raise error.refusal(self.table.source) from None

    def _text_block(self, text: str, first: int) -> Block | None:
        """Return a block with a row per line; None if the text must be read character by character.

        This is needed if a line is blank or has another number of cells, or if a quotation mark does more than enclose
        a cell on a single line. It is also needed for an overlong value, which pandas would read.
        """
        delimiter, width = self.form.delimiter, self.table.width
        quoted = self.form.quoted and '"' in text
        if delimiter is None or (width == 1 and not quoted):
            lines = list(map(str.strip, text[:-1].split("\n")))
            overlong = delimiter is not None and max(map(len, lines)) > csv.field_size_limit()
            return None if overlong or "" in lines else Block({0: lines}, 1, range(first, first + len(lines)))
        data = np.frombuffer(text.encode(), np.uint8)
        ends = np.flatnonzero(data == _LINE_FEED)
        lengths = np.diff(ends, prepend=-1)
        # A line of separators alone is blank, also one of empty cells in quotation marks.
        bare, shortest = (text.replace('"', ""), 3 * width) if quoted and width > 1 else (text, width)
        separators = lengths.min() <= shortest and (width == 1 or f"\n{delimiter * (width - 1)}\n" in f"\n{bare}")
        if separators or lengths.max() > csv.field_size_limit() or (width == 1 and _BLANK.search(text)):
            return None
        if not _are_rows(data, ord(delimiter), width, quoted=quoted):
            return None
        return TextBlock(data.tobytes(), self.form, width, range(first, first + len(ends)))

    def _row_blocks(self, numbered: Iterable[tuple[int, list[str]]], *, even: bool) -> Iterator[Block]:
        """Yield rows that are read singly, in blocks."""
        rows: list[list[str]] = []
        places: list[int] = []
        cells, width = 0, self.table.width
        for place, row in numbered:
            if blank(row) and not (self._items and row):
                self._blanks_at_end += 1
                continue
            if even and len(row) > width and not any(map(str.strip, row[width:])):
                row = row[:width]
            if even and len(row) != width and self.bad is not None:
                self.bad.append("" if self.bad[2:] else str(self._ragged(place, len(row))))  # of some, to be shown
                continue
            if even and len(row) <= width and self._is_below(row):
                self._below.append((place, row))
                continue
            for earlier, short in (*self._below, (place, row)):
                if even and len(short) != width:
                    raise self._ragged(earlier, len(short))
            if self._below:  # rows of which only the first cell is filled, and which are not the last
                places.extend(earlier for earlier, _ in self._below)
                rows.extend(short for _, short in self._below)
                self._below = []
            self._blanks += self._blanks_at_end
            self._blanks_at_end = 0
            rows.append(row)
            places.append(place)
            cells += len(row)
            if len(rows) >= BLOCK_ROWS or cells >= BLOCK_CELLS:
                yield RowBlock(rows, places)
                rows, places, cells = [], [], 0
        if rows:
            yield RowBlock(rows, places)

    def _is_below(self, row: list[str]) -> bool:
        """Return whether a row may be text below the table: it is longer than all labels, or short behind a blank line.

        A row that is cut short is none, and a number is not text.
        """
        text, *rest = map(str.strip, row)
        if any(rest) and _SOURCE.match(text):
            return True
        if any(rest) or self.table.width == 1 or looks_numeric(text):
            return False
        if len(row) == self.table.width:
            return " " in text and len(text) > self._longest
        words = " " in text or not text[:1].isalnum() or len(text) > self._longest
        return words or bool(self._below or self._blanks_at_end)

    @cached_property
    def _longest(self) -> int:
        """Length of the longest text in the first column, beside which another is filled."""
        return max((len(row[0].strip()) for row in self.table.rows if any(map(str.strip, row[1:]))), default=0)

    def _ragged(self, place: int, fields: int) -> InputError:
        table = self.table
        what = "the first line" if table.names is None else "the header"
        hint = "quote values that contain the separator" if fields > table.width else "a value may be missing"
        if self._above:
            hint = f"if lines above the table are not part of it, leave them out with --skip {self._above}"
        return InputError(
            f"{table.source}: {table.unit} {place} has {plural(fields, 'field', 'fields')}, {what} has {table.width}; "
            + hint
        )


def _are_rows(cells: NDArray[np.uint8], delimiter: int, width: int, *, quoted: bool) -> bool:
    """Return whether all lines have `width` cells, and quotation marks only enclose cells.

    cells: the bytes of a text that ends with a line feed.
    quoted: whether there are quotation marks that may enclose cells.
    """
    borders = (cells == _LINE_FEED) | (cells == delimiter)
    at = np.flatnonzero(borders | (cells == _QUOTE) if quoted else borders)
    kinds = cells[at]
    if quoted:
        quotes = kinds == _QUOTE
        outside = (np.cumsum(quotes, dtype=np.uint8) & np.uint8(1)) == 0
        if (kinds[~outside] == _LINE_FEED).any() or not _enclose(borders, at[quotes]):
            return False
        kinds = kinds[outside & ~quotes]
    last = kinds == _LINE_FEED
    return len(last) == np.count_nonzero(last) * width and bool(last[width - 1 :: width].all())


def _enclose(borders: NDArray[np.bool_], quotes: NDArray[np.intp]) -> bool:
    """Return whether each quotation mark opens or closes a cell, or belongs to a doubled mark within a cell."""
    opening, closing = quotes[::2], quotes[1::2]
    doubled = opening[1:] == closing[: len(opening) - 1] + 1
    opens = (opening == 0) | borders[opening - 1]
    closes = borders[closing + 1]  # there is a next character, as the text ends with a line feed
    opens[1:] |= doubled
    closes[: len(doubled)] |= doubled
    return bool(opens.all() and closes.all())
