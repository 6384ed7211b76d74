"""Look at the first lines of a text: what separates its columns, and does it quote."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from advisor.errors import InputError

HEAD_LINES = 1000
"""Lines from which everything about the layout is decided; later lines can only be right or wrong."""

_HEAD_CHARACTERS = 1 << 20
_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
# In a file that calls itself CSV a comma separates; elsewhere it is more often part of the text.
_CANDIDATES = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|"}
_OTHER_CANDIDATES = "\t;,|"


class RecordReader(Protocol):
    """What `csv.reader` returns: an iterator over rows which knows the line it has reached."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


@dataclass(frozen=True)
class Format:
    """How a line becomes a row.

    Attributes
    ----------
    delimiter : str or None
        The separator, or None for plain text: the line is the value.
    quoted : bool
        Whether a field in double quotes may hold the separator and line ends.
    table : bool
        Whether the text is a table, whose first line may be a header even if all of it is text.
    """

    delimiter: str | None
    quoted: bool = True
    table: bool = True

    def records(self, lines: Iterable[str]) -> RecordReader:
        """Return the reader of the rows in lines (with their ends); only for a delimited format."""
        delimiter = self.delimiter or ","
        if self.quoted:
            return csv.reader(lines, delimiter=delimiter, strict=True)
        return csv.reader(lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)

    def describe(self) -> str:
        """Name the separator for people ("commas")."""
        return _NAMES[self.delimiter] if self.delimiter else "nothing"


@dataclass(frozen=True)
class Head:
    """The first lines of a text and whether the text goes on after them."""

    lines: list[str]
    cut: bool


def take_head(lines: Iterator[str]) -> Head:
    """Take at most 1000 lines or a million characters, so that a wide table does not fill the memory."""
    taken: list[str] = []
    characters = 0
    for line in lines:
        taken.append(line)
        characters += len(line)
        if len(taken) >= HEAD_LINES or characters >= _HEAD_CHARACTERS:
            return Head(taken, cut=True)
    return Head(taken, cut=False)


def head_records(source: str, form: Format, head: Head) -> list[tuple[int, list[str]]]:
    """Return the non-blank rows of the head with the number of the line each begins on.

    A quoted field that the end of the head cuts in two is left out.

    Raises
    ------
    InputError
        If quotation marks do not pair.
    """
    if form.delimiter is None:
        numbered = enumerate((line.strip() for line in head.lines), start=1)
        return [(place, [value]) for place, value in numbered if value]
    parsed = _parsed(form, head)
    if parsed.error and not (head.cut and parsed.cut_short and parsed.rows):
        raise bad_quotes(source, parsed.end, parsed.error)
    return parsed.rows


@dataclass(frozen=True)
class _Parsed:
    """The rows of a head up to the first that cannot be read; `end` is the line after the last of them."""

    rows: list[tuple[int, list[str]]]
    end: int
    error: str = ""

    @property
    def cut_short(self) -> bool:
        return "unexpected end" in self.error

    def readable(self, head: Head) -> bool:
        # A row cut by the end of the head is no evidence; one that swallowed half of the head is.
        return not self.error or (head.cut and self.cut_short and self.end > len(head.lines) // 2)


def _parsed(form: Format, head: Head) -> _Parsed:
    reader = form.records(head.lines)
    rows: list[tuple[int, list[str]]] = []
    begin = 1
    try:
        for row in reader:
            if not blank(row):
                rows.append((begin, row))
            begin = reader.line_num + 1
    except csv.Error as error:
        return _Parsed(rows, begin, str(error))
    return _Parsed(rows, begin)


def blank(row: list[str]) -> bool:
    """Tell whether a row comes from a line with nothing on it; an empty quoted field is something.

    >>> blank([]), blank(["  "]), blank([""])
    (True, True, False)
    """
    return not row or (len(row) == 1 and row[0].isspace())


def find_format(source: str, suffix: str, head: Head) -> Format:
    """Decide what separates the columns.

    A name in .csv or .tsv is a hint; other text has a separator only if every line of the head holds the same
    number of it. A .csv whose lines do not agree is still read with commas, so that the line that is wrong
    can be named.

    Parameters
    ----------
    source : str
        The name for messages.
    suffix : str
        The lower-case extension, "" for none or standard input.
    head : Head
        The first lines.

    Raises
    ------
    InputError
        If there is nothing but blank lines.
    """
    if not any(line.strip() for line in head.lines):
        raise InputError(f"{source}: is empty; give one value a line, or a table with one row a user")
    named = suffix in _CANDIDATES
    candidates = _CANDIDATES.get(suffix, _OTHER_CANDIDATES)
    for delimiter in candidates:
        if _agrees(Format(delimiter), head):
            return Format(delimiter)
    # Tab-separated files often do not quote: a field may begin with a quotation mark that is part of it.
    if _agrees(Format("\t", quoted=False), head):
        return Format("\t", quoted=False)
    if named:
        return Format(_best(candidates, head))
    return one_column(head)


def one_column(head: Head) -> Format:
    """Return the format of text with one value a line: plain, or quoted as CSV writers do for odd values."""
    form = Format(",", table=False)
    if any(line.startswith('"') for line in head.lines):
        parsed = _parsed(form, head)
        if parsed.readable(head) and {len(row) for _, row in parsed.rows} == {1}:
            return form
    return Format(None, quoted=False, table=False)


def _agrees(form: Format, head: Head) -> bool:
    """Tell whether every row of the head has the same number, at least one, of the separator."""
    if not any(form.delimiter in line for line in head.lines if form.delimiter):
        return False
    parsed = _parsed(form, head)
    widths = {len(row) for _, row in parsed.rows}
    return parsed.readable(head) and len(widths) == 1 and widths != {1}


def _best(candidates: str, head: Head) -> str:
    """Return the first separator that is on the first line and most others, the usual one if none is."""
    lines = [line for line in head.lines if line.strip()]
    for delimiter in candidates:
        if delimiter in lines[0] and 2 * sum(delimiter in line for line in lines) > len(lines):
            return delimiter
    return candidates[0]


def bad_quotes(source: str, place: int, error: str) -> InputError:
    """Word an error of the CSV reader, which only quotation marks can cause."""
    if "field larger than" in error or "unexpected end" in error:
        return InputError(
            f"{source}: line {place}: a quotation mark opened here or before is never closed; "
            'close it, and double a quotation mark that is part of a value ("")'
        )
    return InputError(
        f"{source}: line {place}: text goes on after a closing quotation mark ({error}); "
        'double a quotation mark that is part of a value ("")'
    )
