"""Numbers as people type them on a command line."""

from __future__ import annotations

import re

from advisor.errors import InputError

GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


def real_number(name: str, text: str | None) -> float | None:
    """Return a number, or None if it was not given.

    Raises
    ------
    InputError
        If it is not a number.

    Examples
    --------
    >>> real_number("eps", "0.5")
    0.5
    """
    if text is None:
        return None
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise InputError(f"{name} must be a number, got {text!r}") from None


def whole_number(name: str, text: str | None, at_least: int | None = None, at_most: int | None = None) -> int | None:
    """Return a whole number written as 1000000, 1e6, 1,000,000 or 1_000_000, or None if it was not given.

    Raises
    ------
    InputError
        If it is not a whole number, below `at_least` or above `at_most`.

    Examples
    --------
    >>> whole_number("n", "1e6"), whole_number("n", "1,000,000")
    (1000000, 1000000)
    """
    if text is None:
        return None
    plain = text.replace(",", "") if GROUPED.fullmatch(text) else text
    try:
        value = int(plain) if re.fullmatch(r"[+-]?[\d_]+", plain) else float(plain)
        whole = int(value)
    except (ValueError, OverflowError):
        value, whole = 0.5, 0
    if whole != value:
        raise InputError(f"{name} must be a whole number such as 100000 or 1e5, got {text!r}")
    if at_least is not None and whole < at_least:
        raise InputError(f"{name} must be at least {at_least}, got {whole}")
    if at_most is not None and whole > at_most:
        raise InputError(f"{name} must be at most {at_most:,}, got {whole:,}")
    return whole
