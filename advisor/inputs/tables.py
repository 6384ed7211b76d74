"""Stream the rows of a text into a tally, at the speed of the C code in `csv` and `collections`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import TextIO

from advisor.errors import InputError
from advisor.inputs.columns import Choice
from advisor.inputs.format import Format, bad_quotes, blank
from advisor.inputs.tally import Tally

# Large blocks are slower: their rows fall out of the processor's cache and wake the garbage collector.
BLOCK_CELLS = 4000
"""Cells of a table that are in memory at a time."""

BLOCK_CHARACTERS = 1 << 15
"""Characters of plain text that are in memory at a time."""


@dataclass(frozen=True)
class Shape:
    """What every row has to look like.

    Attributes
    ----------
    width : int
        Number of columns.
    header_line : int or None
        The line of the header, which is not counted, None without one.
    """

    width: int
    header_line: int | None


def tally_lines(head: Sequence[str], text: TextIO, header_line: int | None, tally: Tally) -> None:
    """Count plain text: one line, one user.

    Parameters
    ----------
    head : sequence of str
        The first lines with their ends.
    text : text file
        The lines after them.
    header_line : int or None
        The line to leave out.
    tally : Tally
        What to add to.
    """
    first = 1
    for block in _line_blocks(head, text):
        first += _add_lines(_split(block), first, header_line, tally)


def _line_blocks(head: Sequence[str], text: TextIO) -> Iterator[str]:
    """Yield whole lines in blocks: splitting a block is twice as fast as reading line by line."""
    if head:
        yield "".join(head)
    while block := text.read(BLOCK_CHARACTERS):
        yield block + text.readline()


def _split(block: str) -> list[str]:
    """Return the lines of a block without their ends; str.splitlines would split at other characters too."""
    if "\r" in block:
        block = block.replace("\r\n", "\n").replace("\r", "\n")
    lines = block.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _add_lines(block: list[str], first: int, header_line: int | None, tally: Tally) -> int:
    """Count the lines of a block, the first of which has the number `first`; return how many there are."""
    values = list(map(str.strip, block))
    places: Iterable[int] = range(first, first + len(values))
    if (header_line is not None and first <= header_line < first + len(values)) or "" in values:
        places = [place for place, value in zip(places, values, strict=True) if value and place != header_line]
        at_end = next((at for at, value in enumerate(reversed(values)) if value), len(values))
        only = at_end == len(values)
        tally.skip_blanks(0 if only else values.count("") - at_end, at_end, only=only)
        values = [values[place - first] for place in places]
    elif values:
        tally.skip_blanks(0, 0, only=False)
    known = list(places) if not isinstance(places, range) else places
    tally.add_values(values, known.__getitem__)
    return len(block)


def tally_table(head: Sequence[str], text: TextIO, form: Format, shape: Shape, choice: Choice, tally: Tally) -> None:
    """Count the rows of a delimited text, one user each or with a column of counts.

    Parameters
    ----------
    head : sequence of str
        The first lines with their ends.
    text : text file
        The lines after them.
    form : Format
        What separates the columns.
    shape : Shape
        The number of columns and the line of the header.
    choice : Choice
        The columns to read.
    tally : Tally
        What to add to.

    Raises
    ------
    InputError
        For a row with another number of columns and for quotation marks that do not pair.
    """
    lines: Iterator[str] = chain(head, text)
    first = 1
    if shape.width == 1 and form.delimiter is not None:
        lines, first = _tally_unquoted(head, text, form.delimiter, shape, tally)
    reader = form.records(lines)
    most = max(1, BLOCK_CELLS // shape.width)
    while True:
        begin = first + reader.line_num
        try:
            rows = list(islice(reader, most))
        except csv.Error as error:
            raise bad_quotes(tally.source, first + reader.line_num - 1, str(error)) from None
        if not rows:
            return
        _add_rows(rows, begin, shape, choice, tally)


def _add_rows(rows: list[list[str]], begin: int, shape: Shape, choice: Choice, tally: Tally) -> None:
    places: list[int] | None = None
    if _needs_care(rows, begin, shape):
        rows, places = _regular(rows, begin, shape, tally)
    else:
        tally.skip_blanks(0, 0, only=False)
    if choice.count is not None:
        count = choice.count
        tally.add_counts(
            (row[choice.label].strip(), row[count].strip(), place)
            for row, place in zip(rows, places or _places(rows, begin), strict=True)
        )
        return

    def place_of(at: int) -> int:
        return (places or _places(rows, begin))[at]

    tally.add_values(list(map(str.strip, map(itemgetter(choice.label), rows))), place_of)


def _needs_care(rows: list[list[str]], begin: int, shape: Shape) -> bool:
    """Tell whether the block may hold the header, a blank line or a row of another width."""
    # A row is at least one line long, so a header further down than begin + rows may still be in the block; it
    # is the first row of the file that is not blank, hence blank lines are in the block as well.
    if shape.header_line is not None and begin <= shape.header_line < begin + len(rows):
        return True
    return set(map(len, rows)) != {shape.width} or (shape.width == 1 and any(map(blank, rows)))


def _tally_unquoted(
    head: Sequence[str], text: TextIO, delimiter: str, shape: Shape, tally: Tally
) -> tuple[Iterator[str], int]:
    """Count a table of one column as plain lines, twice as fast, up to where the lines need a CSV reader.

    Returns
    -------
    tuple
        The lines not yet counted, and the number of the first of them.
    """
    first = 1
    for block in _line_blocks(head, text):
        if '"' in block or delimiter in block:
            return chain(io.StringIO(block, newline=""), text), first
        first += _add_lines(_split(block), first, shape.header_line, tally)
    return iter(()), first


def _regular(rows: list[list[str]], begin: int, shape: Shape, tally: Tally) -> tuple[list[list[str]], list[int]]:
    """Leave out the header and blank lines of a block, and refuse rows of another width."""
    kept: list[list[str]] = []
    places: list[int] = []
    blanks = pending = 0
    seen = False
    for row, place in zip(rows, _places(rows, begin), strict=True):
        if blank(row):
            pending += 1
            continue
        blanks, pending, seen = blanks + pending, 0, True
        if len(row) != shape.width:
            raise _ragged(tally.source, place, len(row), shape)
        if place != shape.header_line:
            kept.append(row)
            places.append(place)
    tally.skip_blanks(blanks, pending, only=not seen)
    return kept, places


def _places(rows: list[list[str]], begin: int) -> list[int]:
    """Return the line each row begins on; quoted line ends make a row longer than a line."""
    places = []
    for row in rows:
        places.append(begin)
        begin += 1
        for cell in row:
            if "\n" in cell or "\r" in cell:
                begin += cell.count("\n") + cell.count("\r") - cell.count("\r\n")
    return places


def _ragged(source: str, place: int, fields: int, shape: Shape) -> InputError:
    what = "the header" if shape.header_line is not None else "the first line"
    got = f"{fields} field{'s' if fields != 1 else ''}"
    return InputError(
        f"{source}: line {place} has {got}, {what} has {shape.width}; quote values that contain the separator"
    )
