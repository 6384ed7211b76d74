"""Progress of long work: named stages, and the share of all of it that is done, which never falls."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # called with a stage, and with the steps that are done and an upper bound
Steps = Callable[[int, int], None]  # the same within a single stage: steps that are done, and all


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
