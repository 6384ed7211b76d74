"""The error type for all user errors, and helpers for its message."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

MOST_COMPARED, LONGEST_COMPARED = 2000, 100  # names, and characters per name: a hint must be fast and short
NEAR, SECOND = 0.6, 0.75  # similarity from which a name is suggested, and from which a second one is
# What begins a hint: the rest of the message says what to do about what is before.
HINT = re.compile(
    r"[;:] (?=(?:did you mean|the columns are|it (?:is a|has)|allowed|for example|here|pip install|add|ask|check|close"
    r"|end|fill|give|keep|leave|make|name|quote|read|remove|rename|run|save|say|shorten|start|take|use|write)\b)"
    r"|; (?=(?:--help|if|ldp-advise)\b)"
)


class InputError(ValueError):
    """Invalid input from the user; the message is one line with the problem, the given value and the allowed values.

    The command line prints this line and exits with code 2; Python callers see an ordinary `ValueError`.

    fields: command-line names of the options at fault, if known; a form marks them.
    """

    def __init__(self, message: str, fields: tuple[str, ...] = ()) -> None:
        super().__init__(one_line(message))
        self.fields = fields


class LeftOutError(InputError):
    """A named member of another package had to be left out; other named members are still used."""


def printable(text: str) -> str:
    r"""Return a text with escapes for terminal control characters and characters that XML or UTF-8 do not allow.

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
    """Return the system's reason for the error; a link without a target is named, and not said to be no file.

    >>> reason(OSError(13, "Permission denied"))
    'Permission denied'
    """
    if isinstance(error, FileNotFoundError) and error.filename and Path(error.filename).is_symlink():
        return f"is a link to {Path(error.filename).readlink()}, which does not exist"
    return error.strerror or str(error)


def near_miss(name: str, allowed: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest allowed name, or two, or an empty string.

    >>> near_miss("cuont", ["value", "count"])
    "; did you mean 'count'?"
    >>> near_miss("zebra", ["value", "count"])
    ''
    """
    close = closest(name, allowed)
    if not close or close[0] == name:
        return ""
    if look(close[0]) == look(name):
        unlike = f" ({code_points(close[0], name)}, not {code_points(name, close[0])})"
        return f"; did you mean {close[0]!r}{unlike}?"
    return f"; did you mean {' or '.join(map(repr, close))}?"


def split_hint(message: str) -> tuple[str, str]:
    """Return what is wrong, and what to do about it; "" for what the message does not say.

    >>> split_hint("a.csv: the file exists; give --force to replace it")
    ('a.csv: the file exists', 'give --force to replace it')
    """
    what, *hint = HINT.split(message, maxsplit=1)
    return what, "".join(hint)


def look(text: str) -> str:
    """Return a text as it looks: letters composed, blanks alike, and without characters that nobody sees.

    >>> look("e\u0301\u200b") == look("é"), look("New\u00a0York") == look("New York"), look("2") == look("²")
    (True, True, False)
    """
    text = unicodedata.normalize("NFC", text)
    if not text.isprintable():
        text = "".join(mark for mark in text if unicodedata.category(mark) not in ("Cf", "Cc"))
    return " ".join(text.split())


def code_points(text: str, other: str) -> str:
    """Return the characters of a text that another one does not have, or all but ASCII, as Unicode numbers them.

    >>> code_points("e\u0301", "é"), code_points("a\u200bb", "ab"), code_points("ab", "a\u200bb")
    ('U+0065 U+0301', 'U+200B', 'without it')
    """
    own = [mark for mark in text if mark not in other] or [mark for mark in text if not mark.isascii()]
    return " ".join(f"U+{ord(mark):04X}" for mark in dict.fromkeys(own)) or "without it"


def closest(name: str, allowed: Iterable[str]) -> list[str]:
    """Return the one or two allowed names that are most similar to `name`; none of too many names to compare."""
    names = [one for one in islice(allowed, MOST_COMPARED + 1) if len(one) <= LONGEST_COMPARED]
    if len(names) > MOST_COMPARED or len(name) > LONGEST_COMPARED:
        return []
    return difflib.get_close_matches(name, names, 2, SECOND) or difflib.get_close_matches(name, names, 1, NEAR)


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return names joined with commas, with the number of all names if some are left out.

    >>> listed(["a", "b", "c"], most=2)
    'a, b, … (3 in all)'
    """
    every = list(names)
    shown = ", ".join(name if len(name) <= LONGEST_COMPARED else f"{name[:LONGEST_COMPARED]}…" for name in every[:most])
    return shown if len(every) <= most else f"{shown}, … ({len(every)} in all)"
