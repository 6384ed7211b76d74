"""The rows of a text: its head decides the layout, then blocks go to pandas, which is never asked about it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, RowBlock, Rows, TextBlock
from advisor.inputs.dialect import (
    Dialect,
    Head,
    blank,
    doubts,
    end_of_lines,
    find_dialect,
    head_records,
    one_column,
    take_head,
    unreadable,
)
from advisor.inputs.header import HeaderRule, header_doubt
from advisor.inputs.records import Layout, find_records
from advisor.inputs.source import LONGEST_LINE, Source
from advisor.inputs.tally import plural

BLOCK_ROWS = 4000
"""Most rows that are in memory at a time, where a reader goes row by row."""

BLOCK_CELLS = 1 << 16
"""Cells after which such a block ends, however few rows it has."""

FEW = 1 << 18
"""Bytes that are read row by row sooner than pandas is imported."""

_MARK = "\ufeff".encode()  # pandas would take it for the mark at the beginning of a file


class TextRows(Rows):
    """The rows of a text: those of its head as they were read there, the others through pandas."""

    def __init__(self, source: str, form: Dialect, head: Head, chunks: Iterator[bytes], header: HeaderRule) -> None:
        self.form = form
        self.quoted = form.quoted
        self.doubts = doubts(head) if form.delimiter is None else ()
        self._records = head_records(source, form, head)
        super().__init__(*header.applied(source, form, self._records, cut=head.cut))
        if not form.table and header.given is None and self.table.names is None:
            self.doubts += header_doubt(self.table)
        self._begin = "".join(head.lines[self._records.end - 1 :]).encode() + head.rest
        self._chunks = chunks

    def blocks(self, columns: Sequence[int] | None = None, *, even: bool = True) -> Iterator[Block]:  # noqa: ARG002
        """Yield the rows in blocks, without the header and blank lines."""
        rows = self._records.rows
        if self.table.names is not None:
            header = self._records.filled[0][0]
            rows = [(place, row) for place, row in rows if place != header]
        yield from self._row_blocks(rows, even=even)
        begin = list(islice(texts := self._texts(), 2))
        few = len(begin) < 2 and sum(map(len, begin)) <= FEW
        texts = chain(begin, texts)
        if few or self.form.delimiter == " " or not even:
            yield from self._read_rows(texts, self._records.end, even=even)
        else:
            yield from self._read_texts(texts)

    def _texts(self) -> Iterator[bytes]:
        """Yield what follows the head, in pieces that end with a line end."""
        pending = self._begin
        for chunk in chain([b""], self._chunks):
            pending += chunk
            end = end_of_lines(pending)
            if end:
                yield pending[:end]
                pending = pending[end:]
        if pending:
            yield pending if pending.endswith(b"\n") else pending + b"\n"

    def _read_texts(self, texts: Iterator[bytes]) -> Iterator[Block]:
        place = self._records.end
        pending = b""
        for text in texts:
            pending += text
            layout = find_records(pending, self.form.delimiter, quoted=self.form.quoted)
            if layout is None or self._for_csv(layout, len(pending)):
                yield from self._read_rows(chain([pending], texts), place, even=True)
                return
            if layout.data:
                if block := self._text_block(layout, place):
                    yield block
                place += layout.rows if layout.lines is None else layout.data.count(b"\n")
            pending = pending[layout.taken :]
        if pending:
            yield from self._read_rows(iter([pending]), place, even=True)

    def _for_csv(self, layout: Layout, pending: int) -> bool:
        """Tell whether records are to be read character by character: pandas has no bound, and skips a mark."""
        if pending - layout.taken > LONGEST_LINE or layout.data.startswith(_MARK):
            return True
        longest = len(layout.data) if self.form.delimiter is None else csv.field_size_limit()
        return len(layout.data) > longest and bool((layout.ends - layout.starts > longest).any())

    def _text_block(self, layout: Layout, first: int) -> Block | None:
        """Return a block without blank lines; None if there is nothing else."""
        width = self.table.width
        places: Sequence[int] = range(first, first + layout.rows)
        if layout.lines is not None:
            places = (layout.lines + first).tolist()
        if width == 1 or not layout.is_regular(width):
            widths = layout.widths()
            blanks = layout.blanks(widths, quoted=self.form.quoted)
            uneven = (widths != width) & ~blanks
            if uneven.any():
                at = int(uneven.argmax())
                raise self._ragged(places[at], int(widths[at]))
            self._skip(blanks)
            if blanks.any():
                places = np.asarray(places)[~blanks].tolist()
                return TextBlock(layout.only(~blanks), self.form, width, places) if places else None
        else:
            self._skip(np.zeros(1, dtype=np.bool_))
        return TextBlock(layout.data, self.form, width, places)

    def _skip(self, blanks: NDArray[np.bool_]) -> None:
        """Count blank lines, given which of some lines are blank; those at the very end are kept apart."""
        at_end = len(blanks) if blanks.all() else int(blanks[::-1].argmin())
        if at_end < len(blanks):
            self._blanks += self._blanks_at_end + int(blanks.sum()) - at_end
            self._blanks_at_end = 0
        self._blanks_at_end += at_end

    def _read_rows(self, texts: Iterator[bytes], first: int, *, even: bool) -> Iterator[Block]:
        """Read row by row what is ragged on purpose, or has quotation marks inside of values."""
        reader = self.form.records(_lines(texts))

        def numbered() -> Iterator[tuple[int, list[str]]]:
            begin = first
            try:
                for row in reader:
                    yield begin, row
                    begin = first + reader.line_num
            except csv.Error as error:
                raise unreadable(self.table.source, begin, first + reader.line_num - 1, str(error)) from None

        yield from self._row_blocks(numbered(), even=even)

    def _row_blocks(self, numbered: Iterable[tuple[int, list[str]]], *, even: bool) -> Iterator[Block]:
        rows: list[list[str]] = []
        places: list[int] = []
        cells = 0
        for place, row in numbered:
            if blank(row):
                self._blanks_at_end += 1
                continue
            self._blanks += self._blanks_at_end
            self._blanks_at_end = 0
            if even and len(row) != self.table.width:
                raise self._ragged(place, len(row))
            rows.append(row)
            places.append(place)
            cells += len(row)
            if len(rows) >= BLOCK_ROWS or cells >= BLOCK_CELLS:
                yield RowBlock(rows, places)
                rows, places, cells = [], [], 0
        if rows:
            yield RowBlock(rows, places)

    def _ragged(self, place: int, fields: int) -> InputError:
        table = self.table
        what = "the first line" if table.names is None else "the header"
        return InputError(
            f"{table.source}: {table.unit} {place} has {plural(fields, 'field', 'fields')}, {what} has {table.width}; "
            "quote values that contain the separator"
        )


def _lines(texts: Iterator[bytes]) -> Iterator[str]:
    for text in texts:
        yield from io.StringIO(text.decode(), newline="")


def text_rows(
    source: Source, header: HeaderRule, *, decimals: bool = False, blanks: bool = False, single: bool = False
) -> TextRows:
    """Return the rows of an opened text; the options are those of `opened_rows`."""
    chunks = source.chunks()
    head = take_head(chunks)
    form = find_dialect(source.name, source.suffix, head, decimals=decimals, blanks=blanks)
    return TextRows(source.name, one_column(head) if single else form, head, chunks, header)
