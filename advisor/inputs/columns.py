"""The header line, the column with the values, and the column with the counts."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib.resources import files

from advisor.checks import shown
from advisor.errors import InputError, listed, near_miss, printable
from advisor.inputs.labels import shortened
from advisor.inputs.numbers import (
    NO_CODES,
    TWO_WAYS,
    DecimalSign,
    MissingCodes,
    grouping_comma,
    is_grouped,
    looks_missing,
    looks_numeric,
    unit_doubt,
    whole_count,
)

HEADERS: dict[str, frozenset[str]] = {
    meaning: frozenset(words)
    for meaning, words in tomllib.loads(files(__package__).joinpath("headers.toml").read_text("utf-8")).items()
}
"""Header words for the content of a column (headers.toml)."""

COUNT_NAMES = HEADERS["count"]
PREVIEWED, PREVIEW_WIDTH = 3, 60  # first values of a column that are shown, and characters of them
FEWEST_BITS = 8  # of cells that are all strings of bits, from which they look like reports
MOST_DEGREES = {"longitude": 180, "latitude": 90}


PERCENT = re.compile(r"%|per ?cent|prozent|pct|porcent|pourcent|procent|\bshare\b|\banteil\b", re.IGNORECASE)
_NO_COUNT = re.compile(r"%|(?<=[a-z])_?k$|[x(/ ]?\b0?00\b")


class CoordinatesError(InputError):
    """The columns of a file hold longitudes and latitudes where values were expected."""


@dataclass(frozen=True)
class InputTable:
    """The head of a table."""

    source: str  # the name for messages
    names: tuple[str, ...] | None  # the stripped cells of the header, None without one
    width: int  # number of columns
    rows: Sequence[Sequence[str]]  # the rows of the head below the header
    places: Sequence[int]  # the line on which each row begins
    unit: str = "line"  # what places count: "line" or "row"
    comma: bool | None = False  # whether "," is the decimal sign; None: it may be
    decimal: str | None = None  # the decimal sign that the user names
    codes: MissingCodes = NO_CODES  # cells that the user takes for missing

    @property
    def typed(self) -> str:
        """The file as it is typed in a command."""
        return "-" if self.source == "standard input" else shlex.quote(self.source)

    def cells(self, index: int) -> list[str]:
        """Return the stripped cells of a column (of the rows that have it)."""
        return [row[index].strip() for row in self.rows if len(row) == self.width]

    def decimal_sign(self, index: int) -> DecimalSign:
        """Return the decimal sign of a column, judged by its first cells and by those that it has seen since."""
        if index not in self._signs:
            self._signs[index] = DecimalSign(self.comma).learn(self.cells(index))
        return self._signs[index]

    @cached_property
    def _signs(self) -> dict[int, DecimalSign]:
        return {}

    def count(self, index: int, cell: str) -> int | str:
        """Return the number of users in a cell of a column, or its error in a few words."""
        if self.decimal is not None:
            return whole_count(cell, comma=self.decimal == ",")
        if index not in self._commas:
            cells = self.cells(index)
            # Where "," cannot be the decimal sign, "1.254" alone may be a weight.
            weights = self.comma is False and all(cell.count(".") == 1 for cell in cells)
            self._commas[index] = None if weights else grouping_comma(cells)
        told = self._commas[index]
        if told is None and not self.comma and is_grouped(cell, "."):  # 1.000 is no way to write 1
            return TWO_WAYS
        return whole_count(cell, comma=self.comma if told is None else told)

    @cached_property
    def _commas(self) -> dict[int, bool | None]:
        return {}

    @cached_property
    def row_numbers(self) -> int | None:
        """The first column if it holds row numbers as pandas and R write them, without a name; else None."""
        if self.names is None or self.width < 2 or self.names[0] or len(self.rows) < 2:
            return None
        counted = self.width == 2 and self.names[1].casefold() in COUNT_NAMES  # then they are labels
        return None if counted or not numbers_rows(self.cells(0)) else 0

    @cached_property
    def second_header(self) -> bool:
        """Whether the first row is text, above numbers alone: units, say, if the numbers are counts."""
        rows = [[cell.strip() for cell in row] for row in self.rows if len(row) == self.width]
        if self.names is None or len(rows) < 3 or any(map(str.isdigit, "".join(rows[0]))):
            return False
        columns = [(cell, list(filter(None, below))) for cell, *below in zip(*rows, strict=True) if cell]
        # Text above numbers: a unit in brackets, or what stands beside no label.
        above = [cell for cell, below in columns if below and all(map(looks_numeric, below))]
        return bool(above) and ("" in rows[0] or any(cell[0] + cell[-1] in ("()", "[]") for cell in above))

    @property
    def values(self) -> tuple[int, ...]:
        """The columns without the row numbers, and without an empty column that has no name."""
        return tuple(at for at in range(self.width) if at != self.row_numbers and not self._is_void(at))

    def _is_void(self, index: int) -> bool:
        return self.width > 1 and self.names is not None and not self.names[index] and not any(self.cells(index))

    @property
    def row_numbers_note(self) -> tuple[str, ...]:
        """A note if there are row numbers."""
        if self.row_numbers is None:
            return ()
        return (
            f"the first column ({self.cells(0)[0]}, {self.cells(0)[1]}, … without a name) taken as row numbers, as "
            "pandas and R write them, and left out",
        )

    @cached_property
    def plain_names(self) -> list[str]:
        """The names in lower case, with letters and digits only; none without a header."""
        return ["".join(filter(str.isalnum, name.casefold())) for name in self.names or ()]

    def named(self, meaning: str) -> list[int]:
        """Return the columns whose name has a meaning of `HEADERS`."""
        return [at for at, name in enumerate(self.plain_names) if name in HEADERS[meaning]]

    def with_word(self, meaning: str) -> list[int]:
        """Return the columns with a word in their name that has a meaning of `HEADERS`."""
        return [at for at, name in enumerate(self.names or ()) if header_words(name) & HEADERS[meaning]]

    def bad(self, place: int, what: str) -> InputError:
        """Return an error with its place."""
        return InputError(f"{self.source}: {self.unit} {place}: {what}")

    def __reduce__(self) -> tuple[type[InputTable], tuple[object, ...]]:
        """Pickle the head without its rows: a worker needs only names and places."""
        sent = replace(self, rows=(), places=tuple(self.places[:1]))
        return InputTable, tuple(getattr(sent, field.name) for field in fields(sent))

    def called(self, index: int) -> str:
        """Return the name of a column for people: its header, or its number without a header."""
        return shortened(self.names[index]) if self.names and self.names[index] else f"{index + 1}"

    def preview(self, index: int) -> str:
        """Return the name of a column with its first values."""
        values = ", ".join(cell[:PREVIEW_WIDTH] for cell in self.cells(index)[:PREVIEWED])
        return f"{self.called(index)}: {printable(values)[:PREVIEW_WIDTH]}"

    def reference(self, index: int) -> str:
        """Return what options name a column by: its header, or its number without one of its own."""
        name = self.names[index] if self.names else ""
        own = [other.casefold() for other in self.names or ()].count(name.casefold()) == 1
        return name if name and own and name[0] != "-" else f"{index + 1}"

    def columns(self) -> str:
        """Return the list of columns for people."""
        if self.names is None:
            return "1" if self.width == 1 else f"1 to {self.width} (the file has no header line)"
        return listed(printable(name) or f"{at} (unnamed)" for at, name in enumerate(self.names, start=1))


def bad_count(
    table: InputTable, place: int, cell: str, reason: str, column: str = "", *, optional: bool = True
) -> InputError:
    """Return the error for an invalid number of users.

    column: one that was only assumed to hold the counts.
    optional: whether counts that are not known may be left out.
    """
    got = f" {shortened(cell)}" if cell else ""
    what = f"{table.unit} {place}: the count{got} {reason}"
    if column:
        what = f"column {column} holds{got or ' an empty cell'} on {table.unit} {place}, which is no count: it {reason}"
    unknown = optional and not re.search(r"\d", cell)
    leaving = f"; leave out counts that are not known with --missing {shlex.quote(cell)}" if unknown else ""
    return InputError(
        f'{table.source}: {what}; a count is a whole number of users, 0 or more, e.g. 12, 12.0, 1e6 or "1,000" (raw '
        f"estimates: ldp-advise estimate{leaving})"
    )


def numbers_rows(cells: Sequence[str]) -> bool:
    """Return whether cells are the numbers of their rows, from 0 or 1."""
    first = 1 if cells and cells[0] == "1" else 0
    return all(cell == str(at) for at, cell in enumerate(cells, first))


def is_place(name: str, width: int) -> bool:
    """Return whether the name of a column is a column number, from 1."""
    digits = name.strip()
    return digits.isascii() and digits.isdecimal() and len(digits) < 10 and 1 <= int(digits) <= width


def find_column(table: InputTable, name: str, option: str) -> int:
    """Return the index of a column given by name or by number from 1.

    Raises InputError if no column or several columns match; the message lists the columns.
    """
    asked_name, names = name.strip(), table.names or ()
    found = [at for at, cell in enumerate(names) if cell and cell == asked_name]
    found = found or [at for at, cell in enumerate(names) if cell and cell.casefold() == asked_name.casefold()]
    if len(found) > 1:
        places = listed(str(at + 1) for at in found)
        raise InputError(
            f"{table.source}: {option} {name!r} names columns {places} alike; rename one, or ask for it by its number"
        )
    if found:
        return found[0]
    if is_place(asked_name, table.width):
        return int(asked_name) - 1
    hint = near_miss(asked_name, names)
    if table.names is None:
        hint = "; if the first line holds the names, say --header"
    raise InputError(f"{table.source}: no column {shown(name)} for {option}; the columns are {table.columns()}{hint}")


def refuse_same(table: InputTable, one: int | None, other: int, options: str) -> None:
    """Raise InputError if the columns that two options name are one."""
    if one == other:
        called = table.called(other)
        raise InputError(f"{table.source}: {options} both name column {called}; the columns are {table.columns()}")


def choose_columns(table: InputTable, column: str | None, counts: str | None) -> tuple[int, int | None]:
    """Return the column of the labels, and of the counts if the file is a histogram (None: one row per user).

    Raises InputError if the user has to choose; the message lists the columns and names the option.
    """
    label = None if column is None else find_column(table, column, "--column")
    count: int | None = None
    if counts is not None:
        count = find_column(table, counts, "--counts")
        if label is None and (len(table.values) != 2 or count not in table.values):
            raise InputError(
                f"{table.source}: --counts needs a column of labels beside it; "
                f"the columns are {table.columns()}; say which holds the labels with --column"
            )
        refuse_same(table, label, count, "--column and --counts")
    elif len(table.values) == 1 and label is None:
        return table.values[0], None
    elif (both := _labels_and_counts(table)) and label in (None, both[0]):
        return both
    else:
        count = _count_column(table, label)
    if label is None and count is not None and len(table.values) == 2:
        label = _other(table, count)
    if label is None and (degrees := degrees_columns(table)):
        raise CoordinatesError(
            f"{table.source}: columns {' and '.join(map(table.called, degrees))} hold longitudes and latitudes; for "
            f"places on a map say ldp-advise places {table.typed} --eps 1, for values name one with --column",
            ("--column",),
        )
    if label is None:
        quoted = "; if the line is one value, put it in quotes" if table.names is None else ""
        if quoted and all(looks_numeric(cell) for at in table.values for cell in table.cells(at)):
            quoted += ", or if a comma is the decimal sign say --decimal ,"
        raise InputError(
            f"{table.source}: has {table.width} columns: {table.columns()}; say which one holds the "
            "values with --column (and, if another holds the number of users, --counts)"
            f"{_reports_hint(table)}{quoted}",
            ("--column",),
        )
    return label, count


def header_words(header: str) -> set[str]:
    """Return the words in a header: "pickup_latitude", "pickupLatitude" and "LAT (deg)" have several words."""
    return {word.casefold() for word in re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", header))}


def degrees_columns(table: InputTable) -> tuple[int, int] | None:
    """Return the columns of longitude and latitude, if headers name one of each and all values are possible."""
    found = []
    for axis, most in MOST_DEGREES.items():
        places = table.with_word(axis)
        values = [table.decimal_sign(at).number(cell) for at in places for cell in table.cells(at)]
        if len(places) != 1 or not all(isinstance(value, float) and abs(value) <= most for value in values):
            return None
        found += places
    return found[0], found[1]


def are_bits(cells: Sequence[str]) -> bool:
    """Return whether cells are strings of equally many bits, as reports are."""
    bits = len(cells[0]) if cells else 0
    return bits >= FEWEST_BITS and all(len(cell) == bits and not cell.strip("01") for cell in cells)


def _reports_hint(table: InputTable) -> str:
    """Return the command for reports if columns have the names of a seed and a symbol, or one holds strings of bits."""
    seeds = table.named("seed") + [at for at, name in enumerate(table.plain_names) if name == "hash"]
    hashed = any(one != other for one in seeds for other in table.named("symbol"))
    if not hashed and not any(are_bits(table.cells(at)) for at in table.values):
        return ""
    what, protocol = ("seeds and symbols", "olh") if hashed else ("strings of bits", "oue")
    return f"; {what} look like reports: for example ldp-advise reports {table.typed} --protocol {protocol} --eps 1"


def _is_tally(table: InputTable, column: int) -> bool:
    """Return whether a column holds whole numbers and the other of two columns holds distinct labels."""
    labels = table.cells(_other(table, column))
    return len(labels) > 1 and len(set(labels)) == len(labels) and are_counts(table, column)


def _labels_and_counts(table: InputTable) -> tuple[int, int] | None:
    """Return the only column of distinct words, and the only one of counts with such a name, of more than two.

    None if any other column could be either: these hold decimals, shares or nothing, or any numbers beside a "count".
    Beside percentages "n" is a number of users too.
    """
    names, words = table.names or (), COUNT_NAMES | HEADERS["counted"]
    words |= HEADERS["count_alone"] if any(map(PERCENT.search, names)) else frozenset()
    named = [at for at in table.values if names and _has_name(names[at], words)]
    if len(table.values) < 3 or not any(are_counts(table, at) for at in named):
        return None
    cells = {at: table.cells(at) for at in table.values}
    numbers = [at for at, column in cells.items() if all(looks_numeric(cell.rstrip("% ")) for cell in column if cell)]
    counts = [at for at in numbers if not PERCENT.search(names[at]) and are_counts(table, at)]
    sure = [at for at in counts if _has_name(names[at], COUNT_NAMES)]
    counts = sure if len(sure) == 1 else counts
    labels = [at for at in cells if at not in numbers]
    if len(counts) != 1 or len(labels) != 1:
        return None
    distinct = set(cells[labels[0]])
    each = 1 < len(distinct) == len(cells[labels[0]]) and "" not in distinct and not any(map(looks_numeric, distinct))
    return (labels[0], counts[0]) if each and counts[0] in named else None


def _has_name(name: str, words: frozenset[str]) -> bool:
    """Return whether a header is one of some words, or has one that means counts among others: "number of persons"."""
    own = header_words(name)
    if _NO_COUNT.search(name) or own & HEADERS["no_count"] or unit_doubt(name):
        return False
    return name.casefold() in words or (len(own) > 1 and bool(own & (COUNT_NAMES | HEADERS["counted"]) & words))


def _other(table: InputTable, column: int) -> int:
    """Return the other of two columns."""
    first, second = table.values
    return second if column == first else first


def _count_column(table: InputTable, label: int | None) -> int | None:
    """Return the column whose name and values are those of counts, None if each row is a user.

    Raises InputError if one or several columns may hold counts, and for the first damaged cell of such a column.
    """
    two = len(table.values) == 2
    if table.names is None:
        if label is None and table.width == 2 and _is_tally(table, 1):
            raise InputError(
                f"{table.source}: has 2 columns and no header line; if they are label and number of users say "
                "--counts 2 (with --header if the first line names them), if each line is one user say --column 1 or "
                "--column 2"
            )
        return None
    if not two and label is None:
        return None
    telling = {at: how for at in table.values if at != label and (how := _telling(table, at))}
    sure = {
        at: strength
        for at, strength in telling.items()
        if are_counts(table, at) and (strength > 1 or _is_list(table, at))
    }
    best = [at for at, strength in sure.items() if strength == max(sure.values())]
    if len(best) == 1:
        return best[0]
    if best:
        raise InputError(
            f"{table.source}: columns {listed(map(table.called, best))} could both hold the "
            "number of users; say which with --counts (and which holds the labels with --column)"
        )
    for at in telling:
        _refuse_damaged(table, at)
    return None


def _telling(table: InputTable, at: int) -> int:
    """Return how sure the name of a column means counts: 3 ("count"), 2 ("n" beside one column), 1 or 0."""
    name, two = table.names[at] if table.names else "", len(table.values) == 2
    if name.casefold() in COUNT_NAMES:
        return 3
    # Among other columns a "size" or "n" is more likely a property of each user than a number of users.
    if two and name.casefold() in HEADERS["count_alone"]:
        return 2
    return int(_has_name(name, COUNT_NAMES | HEADERS["counted"] if two else COUNT_NAMES))


def _is_list(table: InputTable, at: int) -> bool:
    """Return whether a column holds a count beside each of distinct labels, which are no row numbers."""
    return (
        len(table.values) == 2 and _is_tally(table, at) and not all(map(looks_numeric, table.cells(_other(table, at))))
    )


def _refuse_damaged(table: InputTable, at: int) -> None:
    """Raise InputError for the first cell that is no count, if nearly all are: the file is a damaged histogram."""
    cells = table.cells(at)
    written = sum(cell[:1].isdigit() or cell[:1] in "+-−." for cell in cells)  # an empty cell may be a count too
    if not cells or 2 * written < len(cells):
        return
    for row, place in list(zip(table.rows, table.places, strict=True))[table.second_header :]:
        cell = row[at].strip() if len(row) == table.width else "0"
        known = cell and not looks_missing(cell) and cell not in table.codes
        if known and isinstance(why := table.count(at, cell), str):
            raise bad_count(table, place, cell, why, table.called(at))


def are_counts(table: InputTable, index: int) -> bool:
    """Return whether a column holds numbers of users, some of which may be missing or suppressed."""
    cells = table.cells(index)[table.second_header :]
    known = [cell for cell in cells if not looks_missing(cell) and cell not in table.codes]
    counts = [table.count(index, cell) for cell in known]
    return 2 * len(known) >= max(len(cells), 1) and all(isinstance(one, int) or one == TWO_WAYS for one in counts)
