"""Where a command line begins and ends: streams, interrupts, exit codes.

Exit codes: 0 answer given (a tie is an answer), 2 bad usage or bad data, or the answer cannot be written, 3 answer
given, but no better than no data, where --fail-if-useless asks for that, or an audit that LEAKS, where --fail-if-leaks
does, 130 interrupted. Nothing of ours is imported before an interrupt is sure to leave no traceback.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    if "numpy" not in sys.modules:  # which reads them when it is imported
        for name in BLAS_THREADS:  # products are small here: threads wait longer for each other than they work
            os.environ.setdefault(name, "1")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it: print() too writes nothing then
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    streams = sys.stdout, sys.stderr
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ε or × shows ? instead of a traceback
    warnings.showwarning = _show_warning
    with _plain_interrupts():
        from advisor.cli.dispatch import prepare  # heavy: it takes the time in which people change their minds

        run = prepare(args)
    return _with_streams(run, streams)


def _with_streams(run: Callable[[], int], streams: tuple[TextIO, TextIO]) -> int:
    """Run a command line; a reader who has gone is no error, and a stream that takes nothing is one."""
    try:
        code = run()
        sys.stdout.flush()  # at exit it would be too late to say that it fails
    except BrokenPipeError:
        _muffle(*streams)
        return 0
    except SystemExit as left:
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        # Typer leaves with 1 when the reader has gone, and replaces the streams before.
        sys.stdout, sys.stderr = streams
        _muffle(*streams)
        return 0
    except OSError as error:
        from advisor.errors import reason

        if error.errno is None or error.filename is not None:
            raise  # not from writing to a stream, which has no file name
        with suppress(OSError):  # standard error may be as full
            print(f"ldp-advise: error: cannot write the answer: {reason(error)}", file=sys.stderr)  # noqa: T201
        _muffle(*streams)
        return 2
    return code


@contextmanager
def _plain_interrupts() -> Iterator[None]:
    """Let an interrupt end the process at once, as nothing is begun yet that has to be tidied up."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _muffle(*streams: TextIO) -> None:
    """Let what a stream still holds go nowhere: the interpreter would complain when it flushes at exit."""
    for stream in streams:
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Show a warning in one line: users have no use for the place in the code, or for warnings to programmers."""
    del where, more
    if issubclass(category, UserWarning):
        from advisor.errors import one_line

        with suppress(OSError):
            print(f"warning: {one_line(str(message))}", file=sys.stderr)  # noqa: T201
