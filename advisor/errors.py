"""The one kind of error a user can cause, and the helpers that word it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input from the user: one line that says what, got what, allowed what.

    The command line turns it into that line and exit code 2; Python callers see an ordinary `ValueError`.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def near_miss(name: str, allowed: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest allowed name, or an empty string.

    >>> near_miss("cuont", ["value", "count"])
    "; did you mean 'count'?"
    >>> near_miss("zebra", ["value", "count"])
    ''
    """
    close = closest(name, allowed)
    return f"; did you mean {close!r}?" if close and close != name else ""


def closest(name: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed name that is most like `name`, if any is close."""
    return next(iter(difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.6)), None)


def listed(names: Iterable[str], most: int = 12) -> str:
    """Join names with commas and say how many were left out.

    >>> listed(["a", "b", "c"], most=2)
    'a, b, … (3 in all)'
    """
    every = list(names)
    shown = ", ".join(every[:most])
    return shown if len(every) <= most else f"{shown}, … ({len(every)} in all)"
