"""Blocks of rows that return columns as cells, as counts, or as numbers."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, listed
from advisor.inputs.columns import InputTable, bad_count
from advisor.inputs.head import Dialect
from advisor.inputs.labels import plural, shortened
from advisor.inputs.numbers import LARGEST_TOTAL, MOST_LABELS, NO_NUMBER, MissingCodes, decimal_signs, looks_missing

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 15  # maximum of digits for which a number of users certainly fits
_OF_NUMBERS = frozenset("0123456789+-.eE")


class Block:
    """Some rows, by their columns.

    columns: the cells of each column that was read.
    width: number of columns.
    places: the line (of a text) or row (of Parquet) that each row begins on.
    """

    def __init__(self, columns: Mapping[int, list[str]], width: int, places: Sequence[int]) -> None:
        self._columns = columns
        self.width = width
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    def cells(self, column: int) -> list[str]:
        """Return the stripped cells of a column; of one that was not read, empty ones."""
        return list(map(str.strip, self._columns[column])) if column in self._columns else [""] * len(self)

    def rows(self) -> list[list[str]]:
        """Return the stripped cells row by row."""
        return list(map(list, zip(*map(self.cells, range(self.width)), strict=True)))

    def tallied(self, column: int) -> Mapping[str, int]:
        """Return how many rows hold each stripped cell, in order of first appearance."""
        return Counter(self.cells(column))

    def whole(self, columns: Sequence[int]) -> NDArray[np.int64] | None:
        """Return columns of whole numbers, ``(rows, columns)``; None if a cell is not just digits of such a number."""
        texts = list(map(self.cells, columns))
        joined = "".join(chain.from_iterable(texts))
        # int() also accepts "1_0" and digits of other scripts.
        if any("" in cells for cells in texts) or not (joined.isascii() and joined.isdecimal()):
            return None
        try:
            return np.array([list(map(int, cells)) for cells in texts], dtype=np.int64).T
        except (OverflowError, ValueError):  # over 18 digits, over 4,300 digits
            return None

    def real(self, columns: Sequence[int]) -> NDArray[np.float64] | None:
        """Return columns of real numbers, ``(rows, columns)``; None if a cell is not a finite number."""
        texts = list(map(self.cells, columns))
        # float() also accepts "nan", "1_0" and digits of other scripts.
        if set("".join(chain.from_iterable(texts))) - _OF_NUMBERS:
            return None
        try:
            numbers = np.array([list(map(float, cells)) for cells in texts]).T
        except ValueError:
            return None
        return numbers if np.isfinite(numbers).all() else None

    def digits(self) -> NDArray[np.uint8] | None:
        """Return all columns, ``(rows, width)``, if a quick check shows that each cell is a single digit; else None."""
        return None


class RowBlock(Block):
    """Rows that were read singly; they may have different numbers of cells."""

    def __init__(self, rows: list[list[str]], places: Sequence[int]) -> None:
        super().__init__({}, len(rows[0]), places)
        self._rows = rows

    def cells(self, column: int) -> list[str]:
        """Return the stripped cells of a column."""
        return [row[column].strip() for row in self._rows]

    def rows(self) -> list[list[str]]:
        """Return the stripped cells row by row."""
        return [list(map(str.strip, row)) for row in self._rows]


class TextBlock(Block):
    """Text whose lines all have `width` cells, read by pandas.

    data: UTF-8, each line with a line feed at its end.
    form: the dialect with the separator of cells.
    """

    def __init__(self, data: bytes, form: Dialect, width: int, places: Sequence[int]) -> None:
        super().__init__({}, width, places)
        self._data = data
        self._form = form

    def cells(self, column: int) -> list[str]:
        """Return the stripped cells of a column."""
        return list(map(str.strip, self._table([column], "object")[column].tolist()))

    def rows(self) -> list[list[str]]:
        """Return the stripped cells row by row."""
        return [list(map(str.strip, row)) for row in self._table(range(self.width), "object").to_numpy().tolist()]

    def digits(self) -> NDArray[np.uint8] | None:
        """Return all columns if each cell is a single digit; else None."""
        if len(self._data) != 2 * self.width * len(self):
            return None
        # This length leaves one byte per cell, unless some cells are empty and others longer.
        digits = np.frombuffer(self._data, np.uint8).reshape(len(self), -1)[:, ::2] - np.uint8(ord("0"))
        return digits if digits.max() <= 9 else None

    def tallied(self, column: int) -> Mapping[str, int]:
        """Return how many rows hold each stripped cell, in order of first appearance."""
        codes, labels = self._table([column], "object")[column].factorize()
        result: Counter[str] = Counter()
        for label, users in zip(labels.tolist(), np.bincount(codes).tolist(), strict=True):
            result[label.strip()] += users
        return result

    def whole(self, columns: Sequence[int]) -> NDArray[np.int64] | None:
        """Return columns of whole numbers, None if pandas cannot read them as such."""
        # pandas also accepts a sign.
        return None if b"+" in self._data or b"-" in self._data else self._numbers(columns, np.int64)

    def real(self, columns: Sequence[int]) -> NDArray[np.float64] | None:
        """Return columns of real numbers, None if pandas cannot read them as such."""
        numbers = self._numbers(columns, np.float64)
        return numbers if numbers is not None and np.isfinite(numbers).all() else None

    def _numbers(self, columns: Sequence[int], dtype: type) -> NDArray[Any] | None:
        try:
            return self._table(columns, dtype)[list(columns)].to_numpy()
        except (ValueError, OverflowError):
            return None

    def _table(self, columns: Sequence[int], dtype: str | type) -> pd.DataFrame:
        import pandas as pd

        return pd.read_csv(
            io.BytesIO(self._data),
            sep=self._form.delimiter,
            header=None,
            usecols=sorted(set(columns)),
            dtype=dtype,
            quoting=0 if self._form.quoted else 3,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
            low_memory=False,
            engine="c",
            encoding="utf-8",
            # Before 3.1, pandas reads decimals exactly only on request; from 3.1 on, always.
            float_precision="round_trip" if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else None,
        )


def real_numbers(
    block: Block, table: InputTable, columns: Sequence[int], what: str, hint: str = ""
) -> NDArray[np.float64]:
    """Return columns of real numbers ``(rows, columns)``, in any spelling.

    what, hint: the noun for a number ("coordinate"), and an addition to the error message.

    Raises InputError for the first cell that is not a finite number.
    """
    plain = None if table.comma is not False else block.real(columns)
    if plain is not None:
        return plain
    signs = list(map(table.decimal_sign, columns))
    numbers = np.empty((len(block), len(signs)))
    for row, cells in enumerate(zip(*map(block.cells, columns), strict=True)):
        for at, (sign, cell) in enumerate(zip(signs, cells, strict=True)):
            number = sign.number(cell)
            if isinstance(number, str):
                comma = number == NO_NUMBER and decimal_signs(cell)[0]
                hint += "; if a comma is the decimal sign, say --decimal ," if comma else ""
                raise table.bad(block.places[row], f"the {what}{f' {shortened(cell)}' if cell else ''} {number}{hint}")
            numbers[row, at] = number
    return numbers


def whole_counts(
    block: Block, table: InputTable, column: int, total: int, missing: MissingCodes | None = None
) -> list[int | None]:
    """Return a column of numbers of users.

    total: users in the blocks before.
    missing: codes of a count that is not known, which is None in the result, as is an empty cell; without, all have to
        be known.

    Raises InputError for the first cell that is not a number of users, and for more users than a histogram may hold.
    """
    counts: list[int | None] = []
    own = missing is not None and any(code.isdecimal() for code in missing.own)
    for cell, place in zip(block.cells(column), block.places, strict=True):
        count: int | str = ""
        if cell.isascii() and cell.isdecimal() and len(cell) <= _LONGEST and not own:
            count = int(cell)
        elif missing is not None and (not cell or cell in missing):
            counts.append(None)
            continue
        else:
            count = table.count(column, cell)
        if isinstance(count, str):
            optional = missing is not None
            if cell and looks_missing(cell):
                raise _suppressed(table, column, place, cell, optional=optional)
            raise bad_count(table, place, cell, count, optional=optional)
        total += count
        if total > LARGEST_TOTAL:
            raise table.bad(
                place,
                f"the counts add up to more than {LARGEST_TOTAL} (2^53) users; a histogram may hold at most that many",
            )
        counts.append(count)
    return counts


def _suppressed(table: InputTable, column: int, place: int, cell: str, *, optional: bool) -> InputError:
    """Return the error for a code instead of a count, with the other codes among the first rows."""
    codes = dict.fromkeys(other for other in table.cells(column) if other != cell and other and looks_missing(other))
    also = f" (as do {listed(map(repr, codes), most=4)})" if codes else ""
    leaving = "leave these categories out with --drop-missing, or " if optional else ""
    what = f"the count {cell!r} looks like one that is missing or suppressed{also}"
    return table.bad(place, f"{what}; {leaving}write their counts")


class Rows(ABC):
    """The rows below the header of an input; they can be iterated once.

    table: the columns and the first rows.
    assumptions: decisions about header and separator.
    """

    quoted: bool = True  # whether quotation marks enclose cells, and are not part of them
    doubts: tuple[str, ...] = ()  # evidence against one value per line, if lines were not cut into cells
    bad: list[str] | None = None  # what is wrong with rows of another number of cells; None: they are refused

    def __init__(self, table: InputTable, assumptions: tuple[str, ...]) -> None:
        self.table = table
        self.assumptions = assumptions
        self._blanks = 0
        self._blanks_at_end = 0

    @abstractmethod
    def blocks(self, columns: Sequence[int] | None = None, *, even: bool = True) -> Iterator[Block]:
        """Yield the rows in blocks, without the header and blank lines.

        Raises InputError for a row with another number of cells and for unpaired quotation marks.
        """

    def in_one_block(self, columns: Sequence[int]) -> Block:
        """Return some columns of all rows, of a table with a row per category.

        Raises InputError for more rows than a domain may have categories.
        """
        cells: dict[int, list[str]] = {at: [] for at in columns}
        places: list[int] = []
        for block in self.blocks(columns):
            places += block.places
            for at, column in cells.items():
                column += block.cells(at)
            if len(places) > MOST_LABELS:
                raise InputError(f"{self.table.source}: has more than {MOST_LABELS} rows, the most a domain may have")
        return Block(cells, self.table.width, places)

    def take_blank_lines(self) -> int:
        """Return the number of blank lines between rows, for whom they are no matter of a warning."""
        blanks, self._blanks = self._blanks, 0
        return blanks

    def without_second_header(self) -> tuple[str, ...]:
        """Leave out the first row if it is a second header, and return a warning about it."""
        return ()

    def categories(self, column: int) -> tuple[tuple[str, ...], bool | None]:  # noqa: ARG002
        """Return all categories that the type of a column names, and whether their order means something, if known."""
        return (), None

    def warnings(self) -> tuple[str, ...]:
        """Return a warning with the number of blank lines between rows; blank lines at the end do not matter."""
        return (plural(self._blanks, "blank line was", "blank lines were") + " skipped",) if self._blanks else ()
