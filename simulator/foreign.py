"""Foreign code, of plug-ins and of clients under audit: whatever it prints, raises or returns costs itself only.

Members of this project are called as they are: what they raise is a fault of ours, and stays.
"""

from __future__ import annotations

import io
import mmap
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO, TypeVar

import numpy as np

LONGEST = 240  # characters of a foreign message that is repeated
LARGEST = 1e100  # of a frequency or an error: the square of one is still a number
OURS = frozenset({"advisor", "knowledge", "simulator"})
SOURCES: dict[str, str] = {}
"""Members of other packages by name, and the package and entry point that each comes from."""
FAILURES: dict[str, str] = {}
"""Those of them that failed when they were called, and how: told once, not at every call."""
REGISTERED: dict[str, str] = {}
"""Those that the caller brought, see `simulator.registration`, and what each was called."""
REFUSED: dict[tuple[str, str], str] = {}
"""Those that were not taken in, by table and name, and why."""

T = TypeVar("T")
_packages: dict[str, str] = {}  # the same by the package that the code is in
_watch = threading.Event()  # interrupts of the user are told from those that foreign code raises
_interrupt = threading.Event()  # the user has interrupted, whatever foreign code made of it
_fork = mmap.mmap(-1, 1)  # shared with child processes


class PluginWarning(UserWarning):
    """A member of another package was left out; one line that names distribution, entry point and reason."""


class ForeignError(ValueError):
    """Foreign code fails; one line says how."""


def register(name: str, source: str, module: str) -> None:
    """Remember where a member of another package comes from."""
    SOURCES[name] = source
    package = module.partition(".")[0]
    if package not in OURS:
        _packages[package] = source


def warn(line: str) -> None:
    """Give a `PluginWarning`.

    It is not about a line of Python, and names none: what is printed by default is one line as well.
    """
    warnings.warn_explicit(line, PluginWarning, filename="ldp_advise", lineno=0)


def short(value: object, write: Callable[[object], str] = str, longest: int = LONGEST) -> str:
    """Return a foreign object as one short line that can be printed; it may fail to describe itself."""
    try:
        line = " ".join(write(value).split())
        line = "".join(character if character.isprintable() else "?" for character in line)
    except BaseException:  # noqa: BLE001 - foreign objects may raise anything
        return ""
    return line if len(line) <= longest else line[: longest - 1] + "…"


def described(error: BaseException, longest: int = LONGEST) -> str:
    """Return an error in a few words."""
    return f"{type(error).__name__}: {short(error, longest=longest)}".rstrip(": ")


def guard(call: Callable[[], T], longest: int = LONGEST) -> T:
    """Return what foreign code gives.

    Raises ForeignError for whatever it raises, KeyboardInterrupt if the user has interrupted (which is certain inside
    `containment`). A child process that it has forked, and that comes back here, ends.
    """
    process, tracer = os.getpid(), sys.gettrace()
    try:
        result = call()
    except BaseException as error:
        sys.settrace(tracer)
        _end_of_child(process)
        # Where interrupts end the process, they raise nothing.
        raised = callable(signal.getsignal(signal.SIGINT)) and not _watch.is_set()
        if _interrupt.is_set() or (isinstance(error, KeyboardInterrupt) and raised):
            raise KeyboardInterrupt from None
        raise ForeignError(described(error, longest)) from error
    sys.settrace(tracer)  # one that it has set would be called by all that follows, and may raise
    _end_of_child(process)
    if _interrupt.is_set():
        raise KeyboardInterrupt
    if _fork[0]:
        _fork[0] = 0
        raise ForeignError("it forks, and the child process comes back")
    return result


def _end_of_child(process: int) -> None:
    if os.getpid() != process:
        _fork[0] = 1
        os._exit(0)


def attempt(name: str, call: Callable[[], T], fault: Callable[[T], str | None]) -> T | None:
    """Return what a call into a member gives.

    For a member of another package that fails, or gives what has a fault, there is a `PluginWarning`, and None.

    fault: says what is wrong with a result, or None.
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
    """Return what to say of an error that comes out of the code of another package; None where it is our own."""
    if isinstance(error, ForeignError):
        return str(error)
    trace, source = error.__traceback__, None
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        source = _packages.get(package, source)
        trace = trace.tb_next
    # Streams that fail, and the exit of the command line after that, are nobody's fault.
    if source is None and FAILURES and isinstance(error, Exception) and not isinstance(error, OSError):
        return f"there is no answer without what was left out: {'; '.join(FAILURES.values())} ({described(error)})"
    return None if source is None else f"{source} fails: {described(error)}"


def fault_of_figures(result: object, shape: tuple[int, ...]) -> str | None:
    """Say what is wrong with an array that should hold finite numbers in this shape."""
    if not isinstance(result, np.ndarray):
        return f"it returns {type(result).__name__}, not an array"
    if result.dtype.kind not in "fiu":
        return f"it returns {result.dtype}, not real numbers"
    if result.shape != shape:
        return "it returns an array of the wrong shape"
    if not np.isfinite(result).all():
        return "it returns NaN or infinity"
    return None if (np.abs(result) < LARGEST).all() else f"it returns figures above {LARGEST:g}"


class _Lent(io.TextIOBase):
    """A stream that foreign code may write to, and cannot close."""

    def __init__(self, stream: TextIO, *, steers: bool) -> None:
        self._stream = stream
        self._steers = steers  # whether what is written may steer a terminal, as progress does

    def write(self, text: str) -> int:
        if not self._steers:
            text = "".join(mark if mark.isprintable() or mark in "\n\t" else "?" for mark in text)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def close(self) -> None:
        """Keep it open."""


@contextmanager
def containment() -> Iterator[Callable[[], None]]:
    """Send what foreign code, or a program that it starts, prints to standard error: the answer has the other.

    Both streams are there again afterwards, whatever it closed; and what interrupts it is the user's doing or its own.
    Gives what raises ForeignError where it has closed one.
    """
    streams = sys.stdout, sys.stderr
    streams[0].flush()
    kept = [_copy(1), _copy(2)]
    handler = _watching()
    if kept[1] is not None:
        os.dup2(2, 1)
    sys.stdout, sys.stderr = _Lent(streams[1], steers=False), _Lent(streams[1], steers=True)
    sys.unraisablehook, hook = _nothing, sys.unraisablehook

    def check() -> None:
        if kept[1] is not None and None in map(_kind, (1, 2)):
            raise ForeignError("it closes standard output or standard error")

    try:
        yield check
    finally:
        for stream in (*streams, sys.__stdout__, sys.__stderr__):  # they can be reached under these names too
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()  # type: ignore[union-attr]
        for number, copy in enumerate(kept, start=1):
            if copy is not None:
                with suppress(OSError):
                    os.dup2(copy, number)
                    os.close(copy)
        sys.stdout, sys.stderr = (
            os.fdopen(number, "w", closefd=False) if stream.closed else stream
            for number, stream in enumerate(streams, start=1)
        )
        sys.unraisablehook = hook
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
            _watch.clear()
            _interrupt.clear()


def _nothing(problem: object) -> None:
    """Say nothing of what foreign objects raise when they go: the interpreter would print a traceback."""


def _copy(number: int) -> int | None:
    """Return a copy of a file descriptor; None where it is closed."""
    try:
        return os.dup(number)
    except OSError:
        return None


def _kind(number: int) -> int | None:
    """Return what a file descriptor is open on; None where it is closed."""
    try:
        return os.fstat(number).st_mode
    except OSError:
        return None


def _watching() -> Callable[[int, FrameType | None], object] | None:
    """Note interrupts of the user from now on; return what handled them before, None where that stays."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before) or _watch.is_set():
        return None

    def note(number: int, frame: FrameType | None) -> None:
        _interrupt.set()
        before(number, frame)

    _watch.set()
    signal.signal(signal.SIGINT, note)
    return before
