"""Tests and readers for numbers, whole counts of users, and missing values."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

LARGEST_TOTAL = 2**53
"""Maximum of users in a histogram: the largest range in which a float64 represents all integers."""

MOST_LABELS = 2_000_000
"""Maximum of categories: with more, a column identifies people and is not a category."""

EMPTY, MISSING, NOT_FINITE, NO_NUMBER = "is empty", "is missing", "is not finite", "is not a number"
"""What is wrong with a cell, in a few words."""

TWO_WAYS = "can be read in two ways: say which sign the decimals have with --decimal , or --decimal ."

_FINEST = -40  # exponent of the last digit that a float is written with
_FLOAT_DIGITS = 15  # digits of a whole number that a table of floats always keeps
_LONGEST_NUMBER = 40
_LABEL_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_EXPONENT = r"(?:[eE][+-]?[0-9]{1,4})?"
_NUMBER = re.compile(rf"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+){_EXPONENT}")
_COMMA = re.compile(rf"[+-]?(?:[0-9]+(?:,[0-9]*)?|,[0-9]+){_EXPONENT}")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_DOT_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]*)?")
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
_NOT_FINITE = re.compile(r"[+-]?(?:inf(?:inity)?|∞)", re.IGNORECASE)
_MISSING_WORDS = frozenset({"", "nan", "na", "n/a", "null", "none"})
_MARKS = "\u00a0\u202f\u2009 '’"  # between groups of thousands, beside "," and "."
_MARKED = re.compile(rf"[+-]?[1-9][0-9]{{0,2}}(?:[{_MARKS}][0-9]{{3}})+(?:[.,][0-9]*)?")
_NO_MARKS = str.maketrans("", "", _MARKS)
_CODES = frozenset(
    {"", "na", "n/a", "n.a.", "nan", "<na>", "#n/a", "null", ".", "..", "...", ":", "-", "–", "—", "(blank)"}
    | {"(leer)", "(leeg)", "(vide)", "(vuoto)", "(vazio)", "(en blanco)", "(puste)"}  # of pivot tables elsewhere
)
_ERROR = re.compile(r"#[A-Z]+(?:/[0A])?[!?]?")  # of a spreadsheet or of SPSS: #NULL!, #DIV/0!
_SUPPRESSED = re.compile(r"\*+|\([a-z]\)", re.IGNORECASE)  # of a count in an official table: (D), **


@dataclass(frozen=True)
class MissingCodes:
    """Cells that the user takes for missing values."""

    usual: bool = False  # the empty cell and those of `looks_missing`
    own: tuple[str, ...] = ()  # these, and the empty cell

    def __bool__(self) -> bool:
        return self.usual or bool(self.own)

    def __contains__(self, cell: object) -> bool:
        word = str(cell)
        return (self.usual and looks_missing(word)) or (bool(self.own) and word in ("", *self.own))


NO_CODES = MissingCodes()


def looks_missing(cell: str) -> bool:
    """Return whether a stripped cell is a usual code of a missing answer or of a suppressed count.

    >>> [looks_missing(cell) for cell in ("", "NA", "(D)", "**", "..", "none", "D")]
    [True, True, True, True, True, False, False]
    """
    return cell.casefold() in _CODES or bool(_SUPPRESSED.fullmatch(cell) or _ERROR.fullmatch(cell))


def number(label: str) -> Decimal | None:
    """Return the value of a label that is a finite decimal number, else None.

    Leading zeros mark a code ("02138"), underscores a name, and over 40 characters an identifier: None.

    >>> number("-1.50"), number("1e3") == 1000, number("02138"), number("1_000"), number("nan")
    (Decimal('-1.50'), True, None, None, None)
    """
    if len(label) > _LONGEST_NUMBER or not _LABEL_NUMBER.fullmatch(label):
        return None
    return Decimal(label)


def digits_below(cell: str, below: int) -> str | None:
    """Return the digits of a whole number below a bound; None for another cell.

    A table of floats writes 7 as "7.0", and numpy as "7.000e+00"; "4.1e9" has lost digits of a seed.

    >>> digits_below("7.0", 8), digits_below("007", 8), digits_below("8", 8), digits_below("7.5", 8)
    ('7', '7', None, None)
    >>> digits_below("4.5000e+01", 64), digits_below("4.1e9", 2**32)
    ('45', None)
    """
    if "e" in cell and (value := number(cell)) is not None and _FINEST <= int(value.as_tuple().exponent) <= 0:
        cell = f"{value:f}"
    digits, _, zeros = cell.partition(".")
    if not (digits.isascii() and digits.isdecimal()) or zeros.strip("0"):
        return None
    digits = digits.lstrip("0") or "0"
    fits = len(digits) <= len(str(below)) and int(digits) < below
    return digits if fits and not (zeros and len(digits) > _FLOAT_DIGITS) else None


def all_numbers(labels: Collection[str]) -> bool:
    """Return whether there is a label and all labels are numbers.

    >>> all_numbers(["1", "2.5"]), all_numbers(["1", "x"]), all_numbers([])
    (True, False, False)
    """
    return bool(labels) and all(number(label) is not None for label in labels)


def looks_numeric(cell: str) -> bool:
    """Return whether a cell is written with digits like data, unlike names: also codes, "1,000" and "0,5".

    >>> looks_numeric("02138"), looks_numeric("1,000"), looks_numeric("age"), looks_numeric("")
    (True, True, False, False)
    """
    return any(decimal_signs(cell))


def is_missing(cell: str) -> bool:
    """Return whether a stripped cell is empty or a spelling of nan, na, n/a, null or none.

    >>> is_missing(""), is_missing("N/A"), is_missing("Nauru")
    (True, True, False)
    """
    return cell.lower() in _MISSING_WORDS


def is_finite(cell: str) -> bool:
    """Return whether a cell is a finite number.

    >>> is_finite("1e3"), is_finite("nan"), is_finite("x"), is_finite("1_0")
    (True, False, False, False)
    """
    try:
        # float() also accepts "1_0" and digits of other scripts.
        return math.isfinite(float(cell)) and cell.isascii() and "_" not in cell
    except ValueError:
        return False


def without_marks(cell: str) -> str:
    """Return a number without blanks and apostrophes between its groups of thousands; other text as it is.

    >>> without_marks("652\u202f432"), without_marks("1'234.5"), without_marks("12 34")
    ('652432', '1234.5', '12 34')
    """
    return cell.translate(_NO_MARKS) if _MARKED.fullmatch(cell) else cell


def whole_count(cell: str, *, comma: bool | None = False) -> int | str:
    """Return a number of users, or its error in a few words.

    comma: whether "," is the decimal sign; None: "," or "." may be, so that "1,000" and "1.000" are refused.

    >>> whole_count("12.0"), whole_count("1e6"), whole_count("1,000"), whole_count("1.000", comma=True)
    (12, 1000000, 1000, 1000)
    >>> whole_count("2.5"), whole_count("-3")
    ('is not a whole number', 'is negative')
    """
    if cell.isascii() and cell.isdecimal() and len(cell) <= 15:
        return int(cell)
    if comma is None and all(decimal_signs(cell)) and ("," in cell or "." in cell):
        return TWO_WAYS
    plain = plain_number(cell, comma=bool(comma) or (comma is None and decimal_signs(cell)[0]))
    if not _NUMBER.fullmatch(plain):
        return _no_number(cell)
    value = Decimal(plain)
    if value < 0:
        return "is negative"
    if value > LARGEST_TOTAL:
        return f"is above {LARGEST_TOTAL} (2^53)"
    return int(value) if value == value.to_integral_value() else "is not a whole number"


_UNITS = re.compile(
    r"1[ .,']?000\b|\b(?:tsd|tausend|thousands?|mio|million\w*|milli?ers?|miles|migliaia|duizend|mln|tys)\b",
    re.IGNORECASE,
)


def unit_doubt(text: str) -> str:
    """Return an addition to a warning if a text that is left out may say that counts are in thousands or millions.

    >>> unit_doubt("Bevölkerung in 1000"), unit_doubt("Umfrage 2024")
    ('; if it says that counts are in thousands or millions, write them in full', '')
    """
    return "; if it says that counts are in thousands or millions, write them in full" if _UNITS.search(text) else ""


def is_grouped(cell: str, mark: str) -> bool:
    """Return whether a cell is a whole number in groups of thousands with a mark between them, "," or ".".

    >>> is_grouped("1.000", "."), is_grouped("1.000.000", "."), is_grouped("0.500", "."), is_grouped("1,000", ".")
    (True, True, False, False)
    """
    return mark in cell and bool(_THOUSANDS.fullmatch(cell))


def grouping_comma(cells: Iterable[str]) -> bool | None:
    """Return whether "," is the decimal sign of whole numbers, judged by groups of thousands; None if nothing tells.

    A whole number has no other digits than 0 behind a decimal sign, so "3.102" is 3,102; and it has one sign at most.

    >>> grouping_comma(["441", "3.102"]), grouping_comma(["1,200"]), grouping_comma(["1.000"]), grouping_comma(["2.5"])
    (True, False, None, None)
    """
    grouped = filter(_THOUSANDS.fullmatch, cells)
    told = {"." in cell for cell in grouped if not cell.endswith("000") or cell.count(".") + cell.count(",") > 1}
    return told.pop() if len(told) == 1 else None


def _no_number(cell: str) -> str:
    """Return the error for a cell that is not a number, in a few words."""
    if is_missing(cell):
        return MISSING if cell else EMPTY
    return NOT_FINITE if _NOT_FINITE.fullmatch(cell) else NO_NUMBER


def decimal_signs(cell: str) -> tuple[bool, bool]:
    """Return whether a cell is a number with "," as the decimal sign, and whether it is a number with ".".

    >>> decimal_signs("3,5"), decimal_signs("3.5"), decimal_signs("1,000"), decimal_signs("x")
    ((True, False), (False, True), (True, True), (False, False))
    """
    cell = without_marks(cell.replace("−", "-"))
    comma = bool(_COMMA.fullmatch(cell) or _DOT_GROUPED.fullmatch(cell))
    return comma, bool(_NUMBER.fullmatch(cell) or _GROUPED.fullmatch(cell))


def real_number(cell: str, *, comma: bool) -> float | str:
    """Return a number, or the error of the cell in a few words; `comma`: whether "," is the decimal sign.

    >>> real_number("-1,250.5", comma=False), real_number("1.250,5", comma=True), real_number("x", comma=False)
    (-1250.5, 1250.5, 'is not a number')
    """
    plain = plain_number(cell, comma=comma)
    if _NUMBER.fullmatch(plain):
        value = float(plain)
        return value if math.isfinite(value) else "is too large"
    return _no_number(cell)


def plain_number(cell: str, *, comma: bool) -> str:
    """Return the text of a number without thousands separators and with a decimal point, if the cell is a number."""
    cell = without_marks(cell.replace("−", "-"))
    if comma:
        if _DOT_GROUPED.fullmatch(cell):
            cell = cell.replace(".", "")
        # A point that does not group thousands is an error, so it must not become a decimal point.
        return cell.replace(",", ".") if "." not in cell else "?"
    return cell.replace(",", "") if "," in cell and _GROUPED.fullmatch(cell) else cell


def last_digit(cells: Iterable[str], *, comma: bool) -> float:
    """Return the unit of the last digit to which numbers are written; `comma`: whether "," is the decimal sign.

    >>> last_digit(["0.25", "1"], comma=False), last_digit(["0,1", "0,2"], comma=True)
    (0.01, 0.1)
    """
    plain = (Decimal(plain_number(cell, comma=comma)) for cell in cells)
    return 10.0 ** min(int(number.as_tuple().exponent) for number in plain)


class DecimalSign:
    """Decimal sign of a column, "," or ".": the first unambiguous cell decides, unless it is known (`comma`)."""

    def __init__(self, comma: bool | None) -> None:
        self.comma = comma  # None: nothing tells by now
        self._example = ""

    def learn(self, cells: Iterable[str]) -> DecimalSign:
        """Look at cells until one tells."""
        for cell in cells:
            if self.comma is not None:
                break
            comma, point = decimal_signs(cell)
            if comma != point and ("," in cell or "." in cell):
                self.comma, self._example = comma, cell
        return self

    def number(self, cell: str) -> float | str:
        """Return a number, or what is wrong with the cell in a few words."""
        if self.comma is None and ("," in cell or "." in cell):
            self.learn([cell])
            if self.comma is None and all(decimal_signs(cell)):
                return TWO_WAYS
        value = real_number(cell, comma=bool(self.comma))
        if value == NO_NUMBER and self._example and any(decimal_signs(cell)):
            return f"has another decimal sign than {self._example!r}"
        return value
