"""Foreign code (plug-ins, clients under audit): where it fails, its error is caught and the member is named.

Members of this project are called directly: their exceptions are our faults, and are not caught.
"""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from traceback import walk_tb
from typing import TypeVar

import numpy as np

LONGEST = 240  # characters of a foreign message that is repeated
LARGEST = 1e100  # of a frequency or an error: its square is still finite
OURS = frozenset({"advisor", "knowledge", "simulator"})
SOURCES: dict[str, str] = {}
"""Package and entry point of each member of another package, by its name."""
FAILURES: dict[str, str] = {}
"""How members of other packages failed when they were called, by name; each is reported once."""
REGISTERED: dict[str, str] = {}
"""What the members that a caller registered were called (`simulator.registration`), by name in the table."""
REFUSED: dict[tuple[str, str], str] = {}
"""Why members of other packages were refused, by table and name."""

T = TypeVar("T")
_packages: dict[str, str] = {}  # the same by the package that the code is in


class PluginWarning(UserWarning):
    """A member of another package was skipped; the line names distribution, entry point and reason."""


class ForeignError(ValueError):
    """Foreign code fails; the message is a single line."""


def register(name: str, source: str, module: str) -> None:
    """Remember where a member of another package comes from."""
    SOURCES[name] = source
    package = module.partition(".")[0]
    if package not in OURS:
        _packages[package] = source


def warn(line: str) -> None:
    """Give a `PluginWarning`.

    It has no Python source line: the default output is also a single line.
    """
    warnings.warn_explicit(line, PluginWarning, filename="ldp_advise", lineno=0)


def short(value: object, write: Callable[[object], str] = str, longest: int = LONGEST) -> str:
    """Return a foreign object as a short printable line, even if its repr fails."""
    try:
        line = " ".join(write(value).split())
        line = "".join(character if character.isprintable() else "?" for character in line)
    except Exception:  # noqa: BLE001 - foreign objects may raise anything
        return ""
    return line if len(line) <= longest else line[: longest - 1] + "…"


def described(error: BaseException, longest: int = LONGEST) -> str:
    """Return an error in a few words."""
    return f"{type(error).__name__}: {short(error, longest=longest)}".rstrip(": ")


def guard(call: Callable[[], T], longest: int = LONGEST) -> T:
    """Return the result of foreign code; raises ForeignError for its exceptions, including an exit of the program."""
    try:
        return call()
    except ForeignError:
        raise
    except (Exception, SystemExit) as error:
        raise ForeignError(described(error, longest)) from error


def attempt(name: str, call: Callable[[], T], fault: Callable[[T], str | None]) -> T | None:
    """Return the result of a call into a member.

    If a member of another package fails, or its result has a fault: warns with `PluginWarning` and returns None.

    fault: returns what is wrong with a result, or None.
    """
    source = SOURCES.get(name)
    if source is None:
        return call()
    try:
        with np.errstate(all="ignore"):
            result = guard(call)
            reason = guard(lambda: fault(result))
    except ForeignError as error:
        reason = str(error)
    if reason is None:
        return result
    line = f"{source} is left out: {reason}"
    if FAILURES.get(name) != line:
        FAILURES[name] = line
        warn(line)
    return None


def blame(error: BaseException) -> str | None:
    """Return the message for an error from the code of another package; None for an error of this package."""
    if isinstance(error, ForeignError):
        return str(error)
    source = None
    for frame, _ in walk_tb(error.__traceback__):
        source = _packages.get(str(frame.f_globals.get("__name__", "")).partition(".")[0], source)
    # Streams that fail, and the exit of the command line after that, are nobody's fault.
    if source is None and FAILURES and isinstance(error, Exception) and not isinstance(error, OSError):
        return f"there is no answer without what was left out: {'; '.join(FAILURES.values())} ({described(error)})"
    return None if source is None else f"{source} fails: {described(error)}"


def fault_of_figures(result: object, shape: tuple[int, ...]) -> str | None:
    """Return what is wrong with an array that should have finite numbers and this shape."""
    if not isinstance(result, np.ndarray):
        return f"it returns {type(result).__name__}, not an array"
    if result.dtype.kind not in "fiu":
        return f"it returns {result.dtype}, not real numbers"
    if result.shape != shape:
        return "it returns an array of the wrong shape"
    if not np.isfinite(result).all():
        return "it returns NaN or infinity"
    return None if (np.abs(result) < LARGEST).all() else f"it returns figures above {LARGEST:g}"


@contextmanager
def containment() -> Iterator[None]:
    """Redirect the output of foreign code to standard error, as standard output is for the answer.

    What it may change for us is put back: folder, numpy's handling of errors, and both global generators.
    """
    python, legacy = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002 - foreign code may draw from it
    folder = Path()
    with suppress(OSError):  # it may have been deleted
        folder = Path.cwd()
    try:
        with redirect_stdout(sys.stderr), np.errstate():
            yield
    finally:
        with suppress(OSError):
            os.chdir(folder)
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002
