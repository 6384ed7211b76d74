"""The one kind of error a user can cause, and the helpers that word it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

MOST_COMPARED, LONGEST_COMPARED = 2000, 100  # names, and characters of each: a hint has to come at once, and be short


class InputError(ValueError):
    """Bad input from the user: one line that says what, got what, allowed what.

    The command line turns it into that line and exit code 2; Python callers see an ordinary `ValueError`.

    fields: the options that are to blame, as the command line calls them, where that is known: a form marks them.
    """

    def __init__(self, message: str, fields: tuple[str, ...] = ()) -> None:
        super().__init__(one_line(message))
        self.fields = fields


class LeftOutError(InputError):
    """A member of another package was named that had to be left out; where others are named too, they are enough."""


def printable(text: str) -> str:
    r"""Return a text with all that would steer a terminal, or has no place in XML or UTF-8, written as escapes.

    >>> printable("café"), printable("a\x1b[31m"), printable("caf\udce9")
    ('café', 'a\\x1b[31m', 'caf\\udce9')
    """
    return text if text.isprintable() else "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)


def printable_lines(text: str) -> str:
    """Return `printable` of each line of a text."""
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def one_line(text: str) -> str:
    r"""Return a text as one printable line.

    >>> one_line("two\nlines"), one_line("\x1b]0;title\x07")
    ('two lines', '\\x1b]0;title\\x07')
    """
    return printable(" ".join(text.split()))


def reason(error: OSError) -> str:
    """Return why the system refused, in its own words.

    >>> reason(OSError(13, "Permission denied"))
    'Permission denied'
    """
    return error.strerror or str(error)


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
    """Return the allowed name that is most like `name`, if any is close; None if there are too many to compare with."""
    names = [one for one in islice(allowed, MOST_COMPARED + 1) if len(one) <= LONGEST_COMPARED]
    if len(names) > MOST_COMPARED or len(name) > LONGEST_COMPARED:
        return None
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.6)), None)


def listed(names: Iterable[str], most: int = 12) -> str:
    """Join names with commas and say how many were left out.

    >>> listed(["a", "b", "c"], most=2)
    'a, b, … (3 in all)'
    """
    every = list(names)
    shown = ", ".join(name if len(name) <= LONGEST_COMPARED else f"{name[:LONGEST_COMPARED]}…" for name in every[:most])
    return shown if len(every) <= most else f"{shown}, … ({len(every)} in all)"
