"""What a value must be: read from the words of a command line, or checked as Python gives it.

A *reader* takes the name of an option and its value, and returns the value with the type and in the range that are
needed. The same readers serve the command line, where every value is text, and Python, where it has a type already.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TypeVar

import numpy as np

from advisor.errors import InputError, listed, near_miss
from simulator.protocols import EPSILON_MAX, EPSILON_MIN

T = TypeVar("T")
Reader = Callable[[str, object], T]

GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([,_]\d{3})+")
POINTED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # 2.000: two, or two thousand as many write it
SUFFIXES = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
RANGE = re.compile(r"\d[\d.]*\s*(-|–|\.\.|:|to)\s*\d[\d.]*")
LONGEST = 40  # characters of a wrong value that are repeated in a message
LARGEST = 10**30  # no whole number of this tool comes near; beyond, arithmetic with floats would overflow


def shown(value: object) -> str:
    """Return a wrong value as a message repeats it: quoted where it is text, and never long.

    >>> shown("abc"), shown(1.5), shown("9" * 400)[-18:]
    ("'abc'", '1.5', '… (400 characters)')
    """
    if isinstance(value, int) and abs(value) >= LARGEST:  # Python refuses to write out the longest ones
        return f"a whole number of {value.bit_length()} bits"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(str(value))} characters)"


def _decimal(value: object, *, grouped: bool = False) -> Decimal | None:
    """Return a number exactly as it was written, or None if it is none.

    Groups of digits (1,000) and suffixes (100k) are for whole numbers alone: elsewhere a comma may be a decimal one.
    """
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | np.integer):
        return Decimal(int(value))
    if isinstance(value, float | np.floating):
        return Decimal(repr(float(value)))
    if not isinstance(value, str):
        return None
    words, factor = value.strip(), 1
    if grouped:
        words = words.replace(",", "").replace("_", "") if GROUPED.fullmatch(words) else words
        factor = SUFFIXES.get(words[-1:].lower(), 1)
        words = words[:-1] if factor > 1 else words
    if not words.isascii() or "_" in words:
        return None
    try:
        return Decimal(words) * factor
    except (ArithmeticError, ValueError):
        return None


def real(
    low: float = -math.inf, high: float = math.inf, *, above: float | None = None, below: float | None = None
) -> Reader[float]:
    """Return the reader of a number between `low` and `high`, or strictly above and below others.

    >>> real(0)("skew", "1.5"), real(above=0, below=1)("alpha", 0.05)
    (1.5, 0.05)
    """
    if above is not None and below is not None:
        allowed = f"a number above {above:g} and below {below:g}"
    elif above is not None:
        allowed = f"a number above {above:g}"
    elif below is not None:
        allowed = f"a number of at least {low:g} and below {below:g}"
    elif math.isfinite(low) and math.isfinite(high):
        allowed = f"a number between {low:g} and {high:g}"
    else:
        allowed = f"a number of at least {low:g}" if math.isfinite(low) else "a number"

    def read(name: str, value: object) -> float:
        number = _decimal(value)
        if number is None:
            raise InputError(f"{name} must be {allowed}, got {shown(value)}")
        figure = float(number)  # a Decimal too large for a float becomes infinite, which is refused below
        inside = math.isfinite(figure) and low <= figure <= high
        inside = inside and (above is None or figure > above) and (below is None or figure < below)
        if not inside:
            raise InputError(f"{name} must be {allowed}, got {shown(value if isinstance(value, str) else figure)}")
        return figure

    return read


def whole(at_least: int, at_most: int | None = None) -> Reader[int]:
    """Return the reader of a whole number: 1000000, 1e6, 1,000,000, 1_000_000, 1M or 100k.

    >>> [whole(1)("n", text) for text in ("1e6", "1,000,000", "1_000_000", "2M", "100k", "1.5M")]
    [1000000, 1000000, 1000000, 2000000, 100000, 1500000]
    """
    allowed = f"a whole number of at least {at_least:,}" + ("" if at_most is None else f" and at most {at_most:,}")

    def read(name: str, value: object) -> int:
        if isinstance(value, str) and POINTED.fullmatch(value.strip()):
            figure, thousands = float(value), int(value.strip().replace(".", ""))
            meaning = f"{figure:g}" if figure.is_integer() else "no whole number"
            raise InputError(f"{name}: {value.strip()} is {meaning}; write {thousands} (a point is for decimals)")
        number = _decimal(value, grouped=True)
        fits = number is not None and number.is_finite() and abs(number) < LARGEST and number == int(number)
        if number is None or not fits:
            raise InputError(f"{name} must be {allowed}, such as 100000, 1e5 or 100k, got {shown(value)}")
        if number < at_least or (at_most is not None and number > at_most):
            raise InputError(f"{name} must be {allowed}, got {int(number):,}")
        return int(number)

    return read


share = real(above=0, below=1)


def budget(name: str, value: object) -> float:
    """Return a privacy budget ε.

    Raises InputError if it is not a number between 1e-6 and 32.
    """
    if isinstance(value, str) and "," in value:
        raise InputError(
            f"{name} takes one number here, got {shown(value)} (decimals have a point); several are for the main "
            "command and sweep"
        )
    if isinstance(value, str) and RANGE.fullmatch(value.strip()):
        raise InputError(f"{name} takes no range, got {shown(value)}: give the budgets to compare, such as 0.5,1,2")
    epsilon = real()(name, value)
    if epsilon <= 0:
        comma = " (decimals have a point, and a comma separates several)" if isinstance(value, str) else ""
        raise InputError(f"{name} must be a number above 0, got {shown(value)}{comma}")
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        why = "nothing can be learned from such reports" if epsilon < 1 else "such reports protect nothing"
        raise InputError(f"{name} must be between {EPSILON_MIN:g} and {EPSILON_MAX:g}, got {epsilon:g}: {why}")
    return epsilon


def text(name: str, value: object) -> str:
    """Return a text.

    Raises InputError if it is none, or empty.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, got {shown(value)}")
    if not value.strip():
        raise InputError(f"{name} is empty: give a value, or leave {name} out")
    return value


def path(name: str, value: object) -> str:
    """Return the name of a file.

    Raises InputError if it is empty or cannot be the name of a file.
    """
    try:
        named = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    except TypeError:
        named = None
    if not isinstance(named, str) or not named.strip() or "\0" in named:
        raise InputError(f"{name} must be the name of a file, got {shown(value)}")
    return named


def choice(allowed: Iterable[str]) -> Reader[str]:
    """Return the reader of a word from a list, in any case and with hyphens or underscores.

    >>> choice(("table", "json"))("format", "JSON")
    'json'
    """
    words = tuple(allowed)

    def read(name: str, value: object) -> str:
        wanted = str(value).lower().replace("-", "_")
        if wanted not in words:
            near = near_miss(wanted, words)
            names = listed(words, most=8 if near else 20)
            raise InputError(f"{name} must be one of {names}, got {shown(value)}{near}")
        return wanted

    return read


def several(read: Reader[T]) -> Reader[tuple[T, ...]]:
    """Return the reader of a list: text with commas between its parts, or a Python sequence; each value once.

    A comma always separates: 10,100 are two numbers.

    >>> several(real())("eps", "0.5, 1,2"), several(whole(2))("k", [4, 8, 4]), several(whole(2))("k", "10,100")
    ((0.5, 1.0, 2.0), (4, 8), (10, 100))
    """

    def read_all(name: str, value: object) -> tuple[T, ...]:
        parts: list[object]
        if isinstance(value, str):
            parts = [part.strip() for part in value.split(",")]
        elif isinstance(value, Iterable):
            parts = list(value)
        else:
            parts = [value]
        if not parts or any(part == "" for part in parts):
            raise InputError(f"{name} must be values with commas between them, got {shown(value)}")
        return tuple(dict.fromkeys(read(name, part) for part in parts))

    return read_all
