"""The layout of a text from its first lines: separator of columns, quotation marks, and header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import TypeAlias

from advisor.errors import InputError, listed, printable
from advisor.inputs.columns import COUNT_NAMES, InputTable, is_place, numbers_rows
from advisor.inputs.lines import json_cells, json_field, whole_line
from advisor.inputs.numbers import NO_CODES, MissingCodes, is_missing, looks_missing, looks_numeric

HEAD_LINES = 1000
"""Number of lines from which the layout is decided; later lines must fit it."""

MOST_ABOVE = 30
"""Number of lines that may stand above a table."""

_HEAD_CHARACTERS = 1 << 20
_SPACED = re.compile(r'"[^"]*"(?: "[^"]*")*')
_EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "blanks"}
# In a file that calls itself CSV a comma separates; elsewhere it is more often part of the text.
_CANDIDATES = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|"}
_OTHER_CANDIDATES = "\t;,|"
_DECIMAL_COMMA = re.compile(r"[-+−]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")

NamesColumns: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]], bool], bool]
"""Returns whether the first row names the columns, from its cells, those of the rows below that have as many, and the
answer of the usual rules."""


@dataclass(frozen=True)
class FileLayout:
    """What the user says about the layout of a file; None: find out."""

    header: bool | None = None  # whether the first line of the table names the columns
    skip: int | None = None  # lines above the table
    decimal: str | None = None  # decimal sign, "," or "."


DETECTED = FileLayout()


@dataclass(frozen=True)
class Expected:
    """The expectations of a reader about a file, and the user's options."""

    what: str  # what the rows are, for messages ("reports")
    layout: FileLayout = DETECTED
    columns: Sequence[str | None] = ()  # columns that the user named
    names_columns: NamesColumns | None = None  # function that detects a header; None for the usual rules
    blanks: bool = False  # whether blanks may separate columns, instead of words within a label
    single: bool = False  # whether there is a single column, whatever the lines hold
    items: bool = False  # whether a row may hold any number of cells
    missing: MissingCodes = NO_CODES  # cells that the user takes for missing
    counted: bool = False  # whether lines may be labels with counts, as programs print them
    lists: bool = False  # whether a cell of a Parquet file may hold a list, text with ";" between its members
    ragged: bool = False  # whether a few rows may have another number of cells, so that any text is read as CSV is


@dataclass(frozen=True)
class Dialect:
    """How a line becomes a row."""

    # The separator, or None for plain text: the line is the value.
    delimiter: str | None
    quoted: bool = True  # whether a field in double quotes may hold the separator and line ends
    table: bool = True  # whether the text is a table; its first line may be a header even if all cells are text
    cells: Callable[[str], list[str]] | None = None  # what makes the cells of a line; None: the separator does
    names: tuple[str, ...] = ()  # names of the columns, if lines do not name them
    notes: tuple[str, ...] = ()  # what is assumed, if it is special

    @property
    def name(self) -> str:
        """The separator for people ("commas")."""
        return _NAMES[self.delimiter or ","]


PLAIN = Dialect(None, quoted=False, table=False, cells=whole_line)
SPACED = Dialect(" ", quoted=False, cells=str.split)  # any number of blanks


class RecordError(ValueError):
    """The error in a record, with its first line."""

    def __init__(self, reason: str, begin: int) -> None:
        super().__init__(reason)
        self.begin = begin

    def refusal(self, source: str) -> InputError:
        """Return the error for the user."""
        return InputError(f"{source}: line {self.begin} {self}")


def records(form: Dialect, lines: Iterable[str], first: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of lines (with line ends), each with the number of its first line.

    Raises RecordError for unpaired quotation marks, and for a line that is none of its kind.
    """
    begin = first
    try:
        if form.cells:
            for begin, line in enumerate(lines, first):
                yield begin, form.cells(line)
            return
        reader = csv.reader(lines, delimiter=form.delimiter or ",", strict=True, quoting=0 if form.quoted else 3)
        for row in reader:
            yield begin, row
            begin = first + reader.line_num
    except ValueError as error:
        raise RecordError(str(error), begin) from None
    except csv.Error as error:
        what = f"cannot be cut into cells ({error}); close each quotation mark, double one that is part of a value "
        raise RecordError(what + '(""), and keep values short', begin) from None


def blank(row: list[str]) -> bool:
    """Return whether a row comes from a blank line, or one of separators; an empty quoted field is not blank.

    >>> blank([]), blank(["  "]), blank([""]), blank(["", ""])
    (True, True, False, True)
    """
    return not row or (len(row) == 1 and row[0].isspace()) or (len(row) > 1 and not any(row))


@dataclass(frozen=True)
class Head:
    """The first lines of a text, what was read after them, and whether the text goes on after the lines."""

    lines: list[str]
    rest: str
    cut: bool
    first: int = 1  # number of the first of the lines
    separator: str | None = None  # the separator that the text names, as Excel does

    def without(self, above: int) -> Head:
        """Return the head without lines at its beginning."""
        return replace(self, lines=self.lines[above:], first=self.first + above)

    @cached_property
    def filled(self) -> list[str]:
        """The lines that are not blank, stripped."""
        return [line for line in map(str.strip, self.lines) if line]


def take_head(source: str, pieces: Iterator[str], skip: int | None) -> Head:
    """Return at most 1000 lines or a million characters, so that a wide table does not fill the memory.

    Lines that the user skips are left out, and so is the line with which Excel names the separator.

    Raises InputError if no line is left.
    """
    text = ""
    for piece in pieces:
        text += piece
        if text.count("\n") > HEAD_LINES or len(text) > _HEAD_CHARACTERS:
            break
    lines: list[str] = []
    characters = 0
    for line in islice(io.StringIO(text), HEAD_LINES):
        lines.append(line)
        characters += len(line)
        if characters >= _HEAD_CHARACTERS:
            break
    cut = len(lines) >= HEAD_LINES or characters >= _HEAD_CHARACTERS
    if skip and skip >= len(lines):
        raise InputError(f"{source}: --skip {skip} leaves out all lines at the beginning; it has {len(lines):,}")
    head = Head(lines, text[characters:], cut).without(skip or 0)
    excel = _EXCEL.fullmatch(head.lines[0].strip()) if head.lines else None
    return replace(head.without(1), separator=excel[1]) if excel else head


@dataclass(frozen=True)
class HeadRecords:
    """The rows of a head up to the first unreadable row, including blank rows, each with its first line."""

    rows: list[tuple[int, list[str]]]
    end: int  # the line after them
    error: RecordError | None

    @cached_property
    def filled(self) -> list[tuple[int, list[str]]]:
        """The rows that are not blank."""
        return [(place, row) for place, row in self.rows if not blank(row)]

    @property
    def agree(self) -> bool:
        """Whether all rows have the same number of cells, and are evidence for the dialect."""
        return not self.error and len({len(row) for _, row in self.filled}) == 1


def _parsed(form: Dialect, head: Head) -> HeadRecords:
    rows: list[tuple[int, list[str]]] = []
    try:
        rows.extend(records(form, head.lines, head.first))
    except RecordError as error:
        # A row that the end of the head cuts is no evidence; a row that takes half of the head is.
        cut = head.cut and "unexpected end" in str(error) and error.begin - head.first >= len(head.lines) // 2
        return HeadRecords(rows, error.begin, None if cut and rows else error)
    return HeadRecords(rows, head.first + len(head.lines), None)


def head_records(source: str, form: Dialect, head: Head) -> HeadRecords:
    """Return the rows of the head, without a row whose quoted field is cut by the end of the head.

    Raises InputError for unpaired quotation marks, or if all rows are blank.
    """
    parsed = _parsed(form, head)
    if parsed.error:
        raise parsed.error.refusal(source)
    if not parsed.filled:
        raise empty(source)
    return parsed


def empty(source: str) -> InputError:
    """Return the error for a text with only blank lines."""
    return InputError(f"{source}: is empty; give one value a line, or a table with one row a user")


# --- what separates the columns ---------------------------------------------------------------------------------


def find_dialect(source: str, suffix: str, head: Head, expected: Expected) -> Dialect:
    """Return the dialect with the separator of the columns.

    A name in .csv or .tsv is a hint. Other text has a separator only if all lines of the head hold the same number of
    it. A .csv with different numbers is still read with commas, so that the error can name the wrong line.

    Raises InputError if there are only blank lines.
    """
    if not head.filled:
        raise empty(source)
    if field := json_field(source, head.filled[0]):
        note = f"JSON lines read as a column (field {field})"
        return Dialect(None, cells=partial(json_cells, field), names=(field,), notes=(note,))
    if expected.single:
        return _one_column(head)
    if expected.items:
        return _between_items(head)
    suffix = ".csv" if expected.ragged and suffix not in _CANDIDATES else suffix
    form = Dialect(head.separator) if head.separator else _separated(suffix, head, lists=expected.lists)
    if form.delimiter in {None, ","} and _is_spaced(head):
        return Dialect(" ")
    if form.delimiter == "," and (_is_decimal_column(head, expected.layout.decimal) or _commas_are_decimal(head)):
        return Dialect(";")
    if expected.blanks and form.delimiter is None:
        widths = {len(line.split()) for line in head.filled}
        if len(widths) == 1 and widths != {1}:
            return SPACED
    return form


def _is_spaced(head: Head) -> bool:
    """Return whether single blanks separate cells in quotation marks, as R writes tables."""
    first, *rest = head.filled
    return bool(_SPACED.fullmatch(first)) and bool(rest) and all(line[0] == '"' and '" ' in line for line in rest)


def _separated(suffix: str, head: Head, *, lists: bool) -> Dialect:
    candidates = _CANDIDATES.get(suffix, _OTHER_CANDIDATES)
    # Tab-separated files often do not quote: a field may begin with a quotation mark that is part of it.
    for form in (*map(Dialect, candidates), Dialect("\t", quoted=False)):
        if any(form.delimiter in line for line in head.lines if form.delimiter):
            parsed = _parsed(form, head)
            if parsed.agree and len(parsed.filled[0][1]) > 1:
                return form
    if not lists and (mostly := _mostly_separated(candidates, head)):
        return mostly
    if suffix not in _CANDIDATES:
        return _one_column(head)
    # The first separator that is on the first line and most other lines; otherwise the usual separator.
    lines = [line for line in head.lines if line.strip()]
    usual = (mark for mark in candidates if mark in lines[0] and 2 * sum(mark in line for line in lines) > len(lines))
    return Dialect(next(usual, candidates[0]))


def _mostly_separated(candidates: str, head: Head) -> Dialect | None:
    """Return the separator of a table with other lines above or below it, titles and sources: that of most rows."""
    rows: dict[Dialect, int] = {}
    for form in map(Dialect, candidates):
        parsed = _parsed(form, head)
        widths = [len(row) for _, row in parsed.filled]
        if parsed.error or len(widths) < 3 or all(sum(map(bool, row)) < 2 for _, row in parsed.filled):
            continue  # "a;" alone is no row of two cells
        usual = usual_width([width for width in widths if width > 1] or [1])
        begin, end = widths.index(usual), len(widths) - widths[::-1].index(usual)
        inner = [row for _, row in parsed.filled[begin:end]]
        most = 2 * len(inner) >= len(widths)
        if usual > 1 and {len(row) for row in inner} == {usual} and (most or _is_headed(inner)):
            rows[form] = len(inner)
    return max(rows, key=lambda form: rows[form], default=None)


def _is_headed(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a row without numbers stands above at least two rows with a column of numbers."""
    first, *rest = ([cell.strip() for cell in row] for row in rows)
    numeric = any(all(map(looks_numeric, column)) for column in zip(*rest, strict=True))
    return len(rest) > 1 and not any(map(looks_numeric, first)) and numeric


def usual_width(widths: Sequence[int]) -> int:
    """Return the most common number of cells; of several, the largest."""
    times = Counter(widths)
    return max(times, key=lambda width: (times[width], width))


def _between_items(head: Head) -> Dialect:
    """Return the separator on most lines; white space if almost no line has another separator."""
    lines = [line for line in head.lines if line.strip()]
    best = max(",;\t", key=lambda mark: sum(mark in line for line in lines))
    having = sum(best in line for line in lines)
    spaced = any(len(line.split()) > 1 for line in lines)
    return Dialect(best) if having and (10 * having >= len(lines) or not spaced) else SPACED


def _one_column(head: Head) -> Dialect:
    """Return the dialect of text with one value per line: plain, or quoted as CSV writers do for special values."""
    form = Dialect(",", table=False)
    if any(line.startswith('"') for line in head.lines):
        parsed = _parsed(form, head)
        # A stray quotation mark joins the lines up to the next mark; a value over several lines is much rarer.
        one_line_each = parsed.end == head.first + len(parsed.rows)
        if one_line_each and parsed.agree and len(parsed.filled[0][1]) == 1:
            return form
    return PLAIN


def _commas_are_decimal(head: Head) -> bool:
    """Return whether semicolons cut all lines into equally many cells, and a cell is always a number like "0,5"."""
    cut = [line.split(";") for line in head.filled]
    if len(set(map(len, cut))) != 1 or len(cut[0]) == 1:
        return False
    return any(all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in column) for column in zip(*cut, strict=True))


def _is_decimal_column(head: Head, decimal: str | None) -> bool:
    """Return whether all lines are numbers with a decimal comma, below a header unless the user names the comma."""
    first, *rest = head.filled
    header = "," not in first or (decimal == "," and bool(_DECIMAL_COMMA.fullmatch(first)))
    return len(rest) > 1 and header and all(map(_DECIMAL_COMMA.fullmatch, rest))


def layout_doubts(head: Head) -> tuple[str, ...]:
    """Return a warning if text that is read line by line looks like a table."""
    lines = head.filled
    marks = [mark for mark in _OTHER_CANDIDATES if 2 * sum(mark in line for line in lines) > len(lines)]
    if len(set(lines)) == len(lines) and all(re.search(r"\S[ \t]+\S", line) for line in lines):
        marks.append(" ")
    if len(lines) < 2 or not marks:
        return ()
    return (
        f"most lines hold {_NAMES[marks[0]]}, and each line was taken as one value; a table has "
        "equally many commas on every line",
    )


# --- whether the first line names the columns -------------------------------------------------------------------


def find_columns(
    source: str, form: Dialect, found: HeadRecords, expected: Expected, *, cut: bool
) -> tuple[InputTable, tuple[str, ...]]:
    """Return the columns with the first rows below the header, and the assumptions.

    Raises InputError if the file holds only a header.
    """
    first, rest = [cell.strip() for cell in found.filled[0][1]], [row for _, row in found.filled[1:]]
    named = expected.layout.header
    if form.names:
        first, rest, named = list(form.names), [row for _, row in found.filled], True
    elif named is None:
        named = _is_header(first, rest, expected, table=form.table)
    joined = listed(map(printable, first), most=6)
    joined = joined if len(joined) <= 120 else joined[:120] + "…"
    if named and not rest and not cut:
        raise InputError(
            f"{source}: holds only a header line ({joined}), no {expected.what}; if the line is data, say --no-header"
        )
    kept, decimal = found.filled[-len(rest) :] if named else found.filled, expected.layout.decimal
    first += [""] if named and _trailing(first, rest) else []
    row_names = named and _row_names(first, rest)
    if row_names:
        first = ["", *first]
    table = InputTable(
        source,
        tuple(first) if named else None,
        len(first),
        [row for _, row in kept],
        [place for place, _ in kept],
        comma=(None if form.delimiter == ";" else False) if decimal is None else decimal == ",",
        decimal=decimal,
        codes=expected.missing,
    )
    none = "no header line found" if expected.layout.header is None else "no header line, as asked"
    decided = f"header ({joined})" if named else none
    named_rows = ["rows have a cell more than the header: the first is taken as the name of the row"]
    separated = [] if form.delimiter in {None, ","} else [f"columns separated by {form.name}"]
    return table, (decided, *separated, *(named_rows if row_names and table.row_numbers is None else []))


def _is_header(first: list[str], rest: list[list[str]], expected: Expected, *, table: bool) -> bool:
    """Return whether the first row names the columns, judged by the requested names or by the rows below."""
    # "--column 2" means the second column, even when 2 happens to be the first value.
    column_names = {name.strip().casefold() for name in expected.columns if name and not is_place(name, len(first))}
    if column_names & {cell.casefold() for cell in first if cell}:
        return True
    even = [[cell.strip() for cell in row] for row in rest if len(row) == len(first)]
    usual = _names_columns(first, even, table=table)
    return usual if expected.names_columns is None else expected.names_columns(first, even, usual)


def _names_columns(first: list[str], rest: list[list[str]], *, table: bool) -> bool:
    """Return whether the first row names the columns, judged by the rows with as many cells that follow it.

    In a `table`, new words in the first row count as a header even if no column below it is numeric.
    """
    if len(first) > 1 and not first[0] and len(rest) > 1 and numbers_rows([row[0] for row in rest]):
        return True  # pandas writes a series without a name so: ",0" above "0,red" and "1,blue"
    if any(looks_numeric(cell) and not is_year(cell) for cell in first) or all(map(looks_missing, first)):
        return False
    below = [[row[at] for row in rest] for at in range(len(first))]
    for cell, column in zip(first, below, strict=True):
        present = [value for value in column if not looks_missing(value)]
        numbers = sum(map(looks_numeric, present))
        # A column of counts may hold codes and footnotes.
        numeric = numbers == len(present) > 0 or (cell.casefold() in COUNT_NAMES and 2 * numbers > len(present))
        if not is_missing(cell) and numeric and not (is_year(cell) and all(map(is_year, present))):
            return not any(map(looks_numeric, first)) or not all(map(looks_numeric, first))
    if any(map(looks_numeric, first)):
        return False
    return table and not any(cell and cell in column for cell, column in zip(first, below, strict=True))


def is_year(cell: str) -> bool:
    """Return whether a cell may be a year."""
    return len(cell) == 4 and cell.isdecimal() and cell[:2] in ("19", "20")


def _row_names(first: list[str], rest: list[list[str]]) -> bool:
    """Return whether all rows begin with a name of the row, which has no header: R writes tables so."""
    if {len(row) for row in rest} != {len(first) + 1} or any(map(looks_numeric, first)):
        return False
    names = [row[0].strip() for row in rest]
    if len(names) < 2 or numbers_rows(names):
        return len(names) > 1
    numbers = len(first) > 1 or all(looks_numeric(row[1].strip()) for row in rest)
    return numbers and len(set(names)) == len(names) and not any(map(looks_numeric, names))


def _trailing(first: list[str], rest: list[list[str]]) -> bool:
    """Return whether all rows, but not the header, end with a separator."""
    return bool(rest) and {len(row) for row in rest} == {len(first) + 1} and not any(row[-1].strip() for row in rest)


def lines_above(parsed: HeadRecords, head: Head, expected: Expected) -> tuple[int, bool]:
    """Return how many lines probably stand above the header of a table, and whether it is sure.

    It is sure if the first line with all columns names one that the user names, or has no number and all below it has.
    """
    rows = [row for _, row in parsed.filled]
    usual = usual_width([len(row) for row in rows if len(row) > 1] or [1])
    named = {name.strip().casefold() for name in expected.columns if name}
    for at, row in enumerate(rows[:MOST_ABOVE] if usual > 1 else []):
        cells = [cell.strip() for cell in row]
        if len(row) != usual or not any(cells[1:]):
            continue
        below = [[cell.strip() for cell in other] for other in rows[at + 1 :] if len(other) == usual]
        if not below:
            break
        columns = [[cell for cell in column if not looks_missing(cell)] for column in zip(*below, strict=True)]
        numeric = any(
            cell and column and all(map(looks_numeric, column)) for cell, column in zip(cells, columns, strict=True)
        )
        names = numeric and not any(map(looks_numeric, cells))
        return parsed.filled[at][0] - head.first, names or bool(named & set(map(str.casefold, cells)))
    return 0, False


def header_doubt(input_table: InputTable, *, table: bool) -> tuple[str, ...]:
    """Return a warning if the first value of a single column may be a header: a number above words, or unique.

    table: whether a word that is unique would be taken as the header.
    """
    first, *rest = input_table.cells(0)
    times = Counter(rest)
    number = looks_numeric(first)
    above_words = number and len(rest) > 1 and not any(map(looks_numeric, rest))  # pandas writes 0 above a series
    unlike_others = 2 * sum(count for count in times.values() if count > 1) > len(rest) and first not in times
    if not above_words and (table or number or not unlike_others):
        return ()
    return (
        f"the first line ({printable(first[:60])}) was counted as a value, unlike the lines below it; if it names the "
        "column say --header, else --no-header",
    )
