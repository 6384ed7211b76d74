"""Long work: independent tasks in threads, and progress in named stages, whose share of all of it never falls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

Progress = Callable[[str, int, int], None]  # called with a stage, and with the steps that are done and an upper bound
Steps = Callable[[int, int], None]  # the same within a single stage: steps that are done, and all


def in_threads(work: Callable[..., T], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """Yield the result of ``work(*task)`` for each task, in their order; numpy computes without the lock."""
    if jobs == 1 or len(tasks) == 1:
        yield from (work(*task) for task in tasks)
        return
    from joblib import Parallel, delayed  # only here: starting it costs more than a small simulation

    yield from Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(delayed(work)(*task) for task in tasks)


def silent(_stage: str, _done: int, _total: int) -> None:
    """Show no progress."""


def within(progress: Progress, stage: str, before: int, total: int) -> Steps:
    """Begin a stage of all the work, `before` of whose `total` steps are done, and return what counts its steps."""
    progress(stage, before, total)
    return lambda done, _: progress(stage, before + done, total)


def part(progress: Progress, place: int, parts: int, name: str = "") -> Progress:
    """Return the progress of one of several parts, counted from 0, as if all took the same time."""
    before = f"{name}: " if name else ""
    return lambda stage, done, total: progress(before + stage, place * total + done, parts * total)


class Steady:
    """Progress that hands on the stage and the share that is done: the one bar of all stages.

    An upper bound that falls, since some of the work has turned out to be needless, lets the share jump; where one
    rises, the share stays until the work has caught up.
    """

    def __init__(self, show: Callable[[str, float], None]) -> None:
        self.show, self.share = show, 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Hand on a stage; a total of 0 is unknown."""
        self.share = max(self.share, done / total if total else 0.0)
        self.show(stage, self.share)
