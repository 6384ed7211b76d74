"""The one way into every file: its rows in blocks. Of a text the head decides the layout, and pandas is never asked."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, LineBlock, RowBlock, Rows, TextBlock
from advisor.inputs.head import (
    Dialect,
    Expected,
    RecordError,
    blank,
    end_of_lines,
    find_columns,
    find_dialect,
    head_records,
    header_doubt,
    layout_doubts,
    records,
    take_head,
)
from advisor.inputs.labels import plural
from advisor.inputs.parquet import opened_parquet
from advisor.inputs.source import Source, opened

BLOCK_ROWS = 4000
"""Most rows that are in memory at a time, where a reader goes row by row."""

BLOCK_CELLS = 1 << 16
"""Cells after which such a block ends, however few rows it has."""

FEW = 1 << 18
"""Bytes that are read row by row sooner than pandas is imported."""

_MARK = "\ufeff".encode()  # pandas would take it for the mark at the beginning of a file
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'


@contextmanager
def opened_rows(path: str, expected: Expected, stdin: BinaryIO | None = None) -> Iterator[Rows]:
    """Open CSV, TSV, columns with blanks between them, plain text, gzip of these, or Parquet.

    path: the file, "-" for standard input.
    stdin: what "-" reads, None for the standard input of the process.

    Raises InputError if the file cannot be opened or read, is empty, or holds nothing but a header.
    """
    with opened(path, stdin) as source:
        if source.is_parquet:
            with opened_parquet(source, lists=expected.lists) as rows:
                yield rows
            return
        yield TextRows(source, expected)


class TextRows(Rows):
    """The rows of a text: those of its head as they were read there, the others through pandas."""

    def __init__(self, source: Source, expected: Expected) -> None:
        self._chunks = source.chunks()
        head = take_head(self._chunks)
        self.form = form = find_dialect(source.name, source.suffix, head, expected)
        self.quoted = form.quoted
        self._head = head_records(source.name, form, head)
        super().__init__(*find_columns(source.name, form, self._head, expected, cut=head.cut))
        if form.delimiter is None:
            self.doubts = layout_doubts(head)
        if not form.table and expected.header is None and self.table.names is None:
            self.doubts += header_doubt(self.table)
        self._begin = "".join(head.lines[self._head.end - 1 :]).encode() + head.rest

    def blocks(self, columns: Sequence[int] | None = None, *, even: bool = True) -> Iterator[Block]:  # noqa: ARG002
        """Yield the rows in blocks, without the header and blank lines."""
        header = None if self.table.names is None else self._head.filled[0][0]
        yield from self._row_blocks(((at, row) for at, row in self._head.rows if at != header), even=even)
        place, texts = self._head.end, self._texts()
        begin = list(islice(texts, 2))
        texts = chain(begin, texts)
        if even and self.form.delimiter != " " and (len(begin) > 1 or sum(map(len, begin)) > FEW):
            for text in texts:
                found = self._text_block(text, place)
                if found is None:
                    texts = chain([text], texts)
                    break
                block, lines = found
                place += lines
                if block is not None:
                    yield block
        try:
            yield from self._row_blocks(records(self.form, _lines(texts), place), even=even)
        except RecordError as error:
            raise error.refusal(self.table.source) from None

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

    def _text_block(self, text: bytes, first: int) -> tuple[Block | None, int] | None:
        """Return a block without blank lines (None if there are no others), and the number of lines.

        Returns None if the text is to be read character by character: where a quotation mark does more than enclose a
        cell on one line, and where pandas is too patient, as it knows no longest value and skips a mark.
        """
        form, width = self.form, self.table.width
        quoted = form.quoted and b'"' in text
        # pandas knows the two together. Whether there is any is told much faster than how many there are.
        if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
            if quoted:
                return None
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        cells = np.frombuffer(text, np.uint8)
        found = _ends_and_widths(cells, form, width, quoted=quoted)
        if found is None or text.startswith(_MARK):
            return None
        ends, widths = found
        lengths = np.diff(ends, prepend=-1)
        if form.delimiter is not None and lengths.max() > csv.field_size_limit():
            return None
        places: Sequence[int] = range(first, first + len(ends))
        blanks = _blanks(text, ends, widths, quoted=quoted)
        uneven = (widths != width) & ~blanks
        if uneven.any():
            at = int(uneven.argmax())
            raise self._ragged(places[at], int(widths[at]))
        self._skip(blanks)
        if blanks.any():
            text = cells[np.repeat(~blanks, lengths)].tobytes()
            places = np.asarray(places)[~blanks].tolist()
        if not text:
            return None, len(ends)
        plain = form.delimiter is None or (width == 1 and not quoted)
        return LineBlock(text, places) if plain else TextBlock(text, form, width, places), len(ends)

    def _skip(self, blanks: NDArray[np.bool_]) -> None:
        """Count blank lines, given which of some lines are blank; those at the very end are kept apart."""
        at_end = len(blanks) if blanks.all() else int(blanks[::-1].argmin())
        if at_end < len(blanks):
            self._blanks += self._blanks_at_end + int(blanks.sum()) - at_end
            self._blanks_at_end = 0
        self._blanks_at_end += at_end

    def _row_blocks(self, numbered: Iterable[tuple[int, list[str]]], *, even: bool) -> Iterator[Block]:
        """Yield rows that are read one by one, in blocks."""
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


def _ends_and_widths(
    cells: NDArray[np.uint8], form: Dialect, width: int, *, quoted: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return where each line ends, and how many cells it has.

    cells: the bytes of a text that ends with a line feed.
    width: how many cells are usual.
    quoted: whether there are quotation marks that may enclose cells.

    Returns None if a quotation mark stands where it does not enclose a cell, or a line end is enclosed.
    """
    borders = cells == _LINE_FEED
    if form.delimiter is not None:
        borders |= cells == ord(form.delimiter)
    at = np.flatnonzero(borders | (cells == _QUOTE) if quoted else borders)
    kinds = cells[at]
    if quoted:
        quotes = kinds == _QUOTE
        outside = (np.cumsum(quotes, dtype=np.uint8) & np.uint8(1)) == 0
        if (kinds[~outside] == _LINE_FEED).any() or not _enclose(cells, borders, at[quotes]):
            return None
        outside &= ~quotes
        at, kinds = at[outside], kinds[outside]
    last = kinds == _LINE_FEED
    ends = at[last]
    if len(last) == len(ends) * width and last[width - 1 :: width].all():  # which is told much faster
        return ends, np.broadcast_to(np.intp(width), len(ends))
    return ends, np.diff(np.flatnonzero(last), prepend=-1)


def _enclose(cells: NDArray[np.uint8], borders: NDArray[np.bool_], quotes: NDArray[np.intp]) -> bool:
    """Tell whether every quotation mark opens or closes a cell, or is one of two that stand for one in a cell."""
    opening, closing = quotes[::2], quotes[1::2]
    opens = (opening == 0) | borders[opening - 1]
    # There is a next character, as the text ends with a line end.
    closes = borders[closing + 1] | (cells[closing + 1] == _RETURN)
    if opens.all() and closes.all():
        return True
    doubled = opening[1:] == closing[: len(opening) - 1] + 1
    opens[1:] |= doubled
    closes[: len(doubled)] |= doubled
    return bool(opens.all() and closes.all())


def _blanks(text: bytes, ends: NDArray[np.intp], widths: NDArray[np.intp], *, quoted: bool) -> NDArray[np.bool_]:
    """Tell which lines hold nothing but white space, also if `quoted`; an empty quoted cell is no blank."""
    result = np.zeros(len(ends), dtype=np.bool_)
    single = np.flatnonzero(widths == 1)
    if not len(single):
        return result
    cells, starts = np.frombuffer(text, np.uint8), np.concatenate([[0], ends[:-1] + 1])
    first = cells[starts[single]]
    if quoted:
        first = np.where(first == _QUOTE, cells[np.minimum(starts[single] + 1, ends[single])], first)
    for at in single[(first <= ord(" ")) | (first > 127)].tolist():
        line = text[starts[at] : ends[at]].decode()
        result[at] = not line.strip() or (quoted and line[0] == line[-1] == '"' and line[1:-1].isspace())
    return result
