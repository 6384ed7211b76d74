"""One bar for all stages of long work: after a second, on a terminal, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self

from advisor.errors import printable
from simulator.progress import Steady

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY_SECONDS = 1.0


class DelayedProgress(Steady):
    """Progress on standard error: the stage, a bar, the time it took, and the time that is left at the pace so far."""

    def __init__(self, *, enabled: bool = True) -> None:
        super().__init__(self._update)
        self._started, self._stage = time.monotonic(), ""
        self._before: float | None = None  # the share that was there when the work began
        self._bar: Progress | None = None
        self._timer = threading.Timer(DELAY_SECONDS, self._start) if enabled and sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._bar is not None:
            self._bar.stop()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        words, left = TextColumn("{task.description}"), TextColumn("{task.fields[left]}")
        # It redirects no streams: code of others has streams of its own, and what begins inside of them would put
        # them back in the place of ours when it ends.
        bar = Progress(
            *(words, BarColumn(20), TaskProgressColumn(), TimeElapsedColumn(), left),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        bar.add_task("", total=None, left="")
        bar.tasks[0].start_time = self._started
        self._bar = bar
        self._update(self._stage, self.share)
        bar.start()

    def _update(self, stage: str, share: float) -> None:
        self._stage, self._before = stage, share if self._before is None else self._before
        if self._bar is None:
            return
        from rich.markup import escape

        left, done = "", share - self._before
        if done > 0:
            seconds = (time.monotonic() - self._started) * (1 - share) / done
            left = f"{timedelta(seconds=round(seconds))} left"
        words = escape(printable(stage))
        self._bar.update(
            self._bar.tasks[0].id, description=words, completed=share, total=1 if share else None, left=left
        )
