"""Signs of progress that appear only when they are worth it: after a second, on a terminal, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from advisor.errors import printable

if TYPE_CHECKING:
    from rich.live import Live
    from rich.progress import Progress, ProgressColumn, TaskID
    from rich.spinner import Spinner

DELAY_SECONDS = 1.0
# What is shown redirects no streams: code of others has streams of its own, and what begins inside of them would put
# them back in the place of ours when it ends.


@contextmanager
def delayed_status(words: str, *, enabled: bool = True) -> Iterator[None]:
    """Show a spinner with some words while work of unknown length goes on, once it has taken a second."""
    if not (enabled and sys.stderr.isatty()):
        yield
        return
    status = _live(words)
    timer = threading.Timer(DELAY_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def _spinner(words: str) -> Spinner:
    from rich.spinner import Spinner

    return Spinner("dots", words, style="status.spinner")


def _live(words: str) -> Live:
    from rich.console import Console
    from rich.live import Live

    return Live(
        _spinner(words),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=12.5,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class Delayed:
    """Context of something that appears on standard error once work has taken a second, if that is a terminal."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled and sys.stderr.isatty()
        self._started = time.monotonic()
        self._shown: Progress | Live | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.stop()

    @property
    def _is_due(self) -> bool:
        return time.monotonic() - self._started >= DELAY_SECONDS


class DelayedProgress(Delayed):
    """Callable ``(done, total)`` that shows a bar."""

    def __init__(self, description: str, *, enabled: bool = True) -> None:
        super().__init__(enabled=enabled)
        self._description = description
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._before: int | None = None  # what was done already when the work began

    def _columns(self) -> tuple[ProgressColumn, ...]:
        """Columns of the bar; none for rich's usual ones."""
        return ()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` steps are done."""
        if not self._enabled:
            return
        if self._before is None:
            self._before = done
        if self._bar is None:
            if not self._is_due or done >= total:
                return
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress

            self._shown = self._bar = Progress(
                *self._columns(),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            description = escape(printable(self._description))
            self._task = self._bar.add_task(description, total=total, completed=self._before)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=done, total=total)


class DelayedWords(Delayed):
    """Callable ``(words)``: a spinner that says what is being done."""

    _status: Live | None = None

    def __call__(self, words: str) -> None:
        """Show what is being done now."""
        if not (self._enabled and self._is_due):
            return
        if self._status is None:
            self._shown = self._status = _live(words)
            self._status.start()
        self._status.update(_spinner(words))


class TimedProgress(DelayedProgress):
    """A bar with the time that is left, from the pace so far; `done` may start above 0 where work is resumed."""

    def _columns(self) -> tuple[ProgressColumn, ...]:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        words = TextColumn("{task.description}")
        left = TextColumn("left:")
        return words, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left, TimeRemainingColumn()
