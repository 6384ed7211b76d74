"""Look at the first lines of a text: what separates its columns, and does it quote."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from advisor.errors import InputError

HEAD_LINES = 1000
"""Lines from which everything about the layout is decided; later lines can only be right or wrong."""

_HEAD_CHARACTERS = 1 << 20
_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "blanks"}
# In a file that calls itself CSV a comma separates; elsewhere it is more often part of the text.
_CANDIDATES = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|"}
_OTHER_CANDIDATES = "\t;,|"
_DECIMAL_COMMA = re.compile(r"[-+−]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")


_WHOLE_LINES = "and each line was taken as one value"


class RecordReader(Protocol):
    """An iterator over rows which knows the line it has reached, as `csv.reader` does."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


@dataclass(frozen=True)
class Dialect:
    """How a line becomes a row."""

    # The separator, or None for plain text: the line is the value. A blank stands for any number of them.
    delimiter: str | None
    quoted: bool = True  # whether a field in double quotes may hold the separator and line ends
    table: bool = True  # whether the text is a table, whose first line may be a header even if all of it is text

    def records(self, lines: Iterable[str]) -> RecordReader:
        """Return the reader of the rows in lines (with their ends)."""
        if self.delimiter is None or self.delimiter == " ":
            return _Split(lines, whole=self.delimiter is None)
        if self.quoted:
            return csv.reader(lines, delimiter=self.delimiter, strict=True)
        return csv.reader(lines, delimiter=self.delimiter, strict=True, quoting=csv.QUOTE_NONE)

    def describe(self) -> str:
        """Name the separator for people ("commas")."""
        return _NAMES[self.delimiter] if self.delimiter else "nothing"


class _Split:
    """The rows of a text without quotation marks: whole lines, or what stands between blanks."""

    def __init__(self, lines: Iterable[str], *, whole: bool) -> None:
        self.line_num = 0
        self._lines = iter(lines)
        self._whole = whole

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines)
        self.line_num += 1
        if not self._whole:
            return line.split()
        stripped = line.strip()
        return [stripped] if stripped else []


PLAIN = Dialect(None, quoted=False, table=False)
SPACED = Dialect(" ", quoted=False)


@dataclass(frozen=True)
class Head:
    """The first lines of a text, the bytes read after them, and whether the text goes on after the lines."""

    lines: list[str]
    rest: bytes
    cut: bool


def take_head(chunks: Iterator[bytes]) -> Head:
    """Take at most 1000 lines or a million characters, so that a wide table does not fill the memory."""
    data, ended, ends = bytearray(), False, 0
    while not ended and ends <= 2 * HEAD_LINES and len(data) <= 4 * _HEAD_CHARACTERS:
        chunk = next(chunks, None)
        ended = chunk is None
        data += chunk or b""
        ends += 0 if chunk is None else chunk.count(b"\n") + chunk.count(b"\r")
    whole = len(data) if ended else end_of_lines(data)
    taken: list[str] = []
    characters = 0
    for line in islice(io.StringIO(data[:whole].decode(), newline=""), HEAD_LINES):
        taken.append(line)
        characters += len(line)
        if characters >= _HEAD_CHARACTERS:
            break
    cut = len(taken) >= HEAD_LINES or characters >= _HEAD_CHARACTERS
    return Head(taken, bytes(data[len("".join(taken).encode()) :]), cut)


def end_of_lines(data: bytes | bytearray) -> int:
    """Return the length of the lines that are surely complete: after a carriage return a line feed may follow."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1


@dataclass(frozen=True)
class Records:
    """The rows of a head up to the first that cannot be read, blank ones too, each with the line it begins on.

    `end` is the line after the last of them, `error` what is wrong there, and `reached` the line where that is seen.
    """

    rows: list[tuple[int, list[str]]]
    end: int
    error: str = ""
    reached: int = 0

    @property
    def filled(self) -> list[tuple[int, list[str]]]:
        """The rows that are not blank."""
        return [(place, row) for place, row in self.rows if not blank(row)]

    @property
    def cut_short(self) -> bool:
        """Whether the end of the head may have cut a quoted field in two."""
        return "unexpected end" in self.error

    def readable(self, head: Head) -> bool:
        """Tell whether the rows are evidence of the dialect."""
        # A row cut by the end of the head is no evidence; one that swallowed half of the head is.
        return not self.error or (head.cut and self.cut_short and self.end > len(head.lines) // 2)


def head_records(source: str, form: Dialect, head: Head) -> Records:
    """Return the rows of the head; a quoted field that its end cuts in two is left out.

    Raises InputError if quotation marks do not pair, or all rows are blank.
    """
    parsed = _parsed(form, head)
    if parsed.error and not (head.cut and parsed.cut_short and parsed.filled):
        raise unreadable(source, parsed.end, parsed.reached, parsed.error)
    if not parsed.filled:
        raise empty(source)
    return parsed


def empty(source: str) -> InputError:
    """Word the error for a text with nothing but blank lines."""
    return InputError(f"{source}: is empty; give one value a line, or a table with one row a user")


def _parsed(form: Dialect, head: Head) -> Records:
    reader = form.records(head.lines)
    rows: list[tuple[int, list[str]]] = []
    begin = 1
    try:
        for row in reader:
            rows.append((begin, row))
            begin = reader.line_num + 1
    except csv.Error as error:
        return Records(rows, begin, str(error), reader.line_num)
    return Records(rows, begin)


def blank(row: list[str]) -> bool:
    """Tell whether a row comes from a line with nothing on it; an empty quoted field is something.

    >>> blank([]), blank(["  "]), blank([""])
    (True, True, False)
    """
    return not row or (len(row) == 1 and row[0].isspace())


def find_dialect(source: str, suffix: str, head: Head, *, decimals: bool = False, blanks: bool = False) -> Dialect:
    """Decide what separates the columns.

    A name in .csv or .tsv is a hint; other text has a separator only if every line of the head holds the same
    number of it. A .csv whose lines do not agree is still read with commas, so that the line that is wrong
    can be named. Where a column holds `decimals`, "," beside ";" is more likely their sign than a separator; where
    `blanks` may separate columns, they do if every line has as many.

    Raises InputError if there is nothing but blank lines.
    """
    if not any(line.strip() for line in head.lines):
        raise empty(source)
    form = _separated(suffix, head)
    if decimals and form.delimiter == "," and _commas_are_decimal(head):
        return Dialect(";")
    if blanks and form.delimiter is None:
        widths = {len(line.split()) for line in head.lines if line.strip()}
        if len(widths) == 1 and widths != {1}:
            return SPACED
    return form


def _separated(suffix: str, head: Head) -> Dialect:
    candidates = _CANDIDATES.get(suffix, _OTHER_CANDIDATES)
    for delimiter in candidates:
        if _agrees(Dialect(delimiter), head):
            return Dialect(delimiter)
    # Tab-separated files often do not quote: a field may begin with a quotation mark that is part of it.
    if _agrees(Dialect("\t", quoted=False), head):
        return Dialect("\t", quoted=False)
    return Dialect(_best(candidates, head)) if suffix in _CANDIDATES else one_column(head)


def one_column(head: Head) -> Dialect:
    """Return the dialect of text with one value a line: plain, or quoted as CSV writers do for odd values."""
    form = Dialect(",", table=False)
    if any(line.startswith('"') for line in head.lines):
        parsed = _parsed(form, head)
        # A stray quotation mark swallows the lines up to the next one; a value that spans lines is much rarer.
        one_line_each = parsed.end == len(parsed.rows) + 1
        if one_line_each and parsed.readable(head) and {len(row) for _, row in parsed.filled} == {1}:
            return form
    return PLAIN


def doubts(head: Head) -> tuple[str, ...]:
    """Say so if text that was taken line by line looks like a table."""
    lines = [line.strip() for line in head.lines if line.strip()]
    if len(lines) < 2:
        return ()
    counted = sum(bool(re.match(r"[0-9]+ +\S", line)) for line in lines)
    if 2 * counted > len(lines):
        return (
            f"{_share(counted, lines)} begin with a number and a blank, {_WHOLE_LINES}; give counts as label,count",
        )
    for mark in _OTHER_CANDIDATES:
        having = sum(mark in line for line in lines)
        if 2 * having > len(lines):
            return (
                f"{_share(having, lines)} hold {_NAMES[mark]}, but not all equally many, {_WHOLE_LINES}; a table has "
                "as many on every line",
            )
    if len(set(lines)) == len(lines) and all(re.search(r"\S[ \t]+\S", line) for line in lines):
        return (
            f"{_share(len(lines), lines)} hold blanks and differ from all others, {_WHOLE_LINES}; separate the columns "
            "of a table by commas",
        )
    return ()


def _share(having: int, lines: list[str]) -> str:
    return f"all {len(lines):,} lines looked at" if having == len(lines) else f"{having:,} of {len(lines):,} lines"


def _agrees(form: Dialect, head: Head) -> bool:
    """Tell whether every row of the head has the same number, at least one, of the separator."""
    if not any(form.delimiter in line for line in head.lines if form.delimiter):
        return False
    parsed = _parsed(form, head)
    widths = {len(row) for _, row in parsed.filled}
    return parsed.readable(head) and len(widths) == 1 and widths != {1}


def _commas_are_decimal(head: Head) -> bool:
    """Tell whether semicolons cut every line into as many cells, one of which always is a number like "0,5"."""
    cut = [line.strip().split(";") for line in head.lines if line.strip()]
    if len(set(map(len, cut))) != 1 or len(cut[0]) == 1:
        return False
    return any(all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in column) for column in zip(*cut, strict=True))


def _best(candidates: str, head: Head) -> str:
    """Return the first separator that is on the first line and most others, the usual one if none is."""
    lines = [line for line in head.lines if line.strip()]
    for delimiter in candidates:
        if delimiter in lines[0] and 2 * sum(delimiter in line for line in lines) > len(lines):
            return delimiter
    return candidates[0]


def unreadable(source: str, place: int, reached: int, error: str) -> InputError:
    """Word an error of the CSV reader in a record that begins at a place and was followed up to another."""
    if "field larger than" in error and place == reached:
        return InputError(
            f"{source}: line {place}: a value is longer than {csv.field_size_limit()} characters; shorten it"
        )
    if "field larger than" in error or "unexpected end" in error:
        return InputError(
            f"{source}: line {place}: a quotation mark opened here is never closed; "
            'close it, and double a quotation mark that is part of a value ("")'
        )
    return InputError(
        f"{source}: line {place}: text goes on after a closing quotation mark ({error}); "
        'double a quotation mark that is part of a value ("")'
    )
