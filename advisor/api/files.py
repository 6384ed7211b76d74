"""Pictures and pages that Python callers ask for: checked, written as the command line writes them, shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.answers.rank.result import Ranking
from advisor.errors import InputError, listed
from advisor.outputs import Target
from advisor.show.pictures import require_matplotlib, save, to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGES = (".html", ".htm")


def python_target(name: str, path: str | Path, suffixes: Sequence[str], *, force: bool) -> Target:
    """Return a file that may be written.

    Raises InputError if its suffix is another one, or it exists and may not be replaced.
    """
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        got = target.suffix or "none"
        raise InputError(f"{name} {target}: the suffix must be {listed(filter(None, suffixes))}, got {got!r}")
    if target.is_dir():
        raise InputError(f"{name} {target}: this is a directory, a file name is needed")
    if target.exists() and not force:
        raise InputError(f"{name} {target}: the file exists; give force=True to replace it, or another name")
    if not target.parent.is_dir():
        raise InputError(f"{name} {target}: there is no directory {target.parent}")
    return Target(name, target.resolve(), force, target.suffix)


def drawn(ranking: Ranking, target: Target | None, *, frequencies: bool) -> Figure:
    """Return a picture of a ranking, or of the frequencies of one collection, and write it if there is a target.

    Raises InputError if matplotlib is missing, nothing is left to draw, or the file cannot be written.
    """
    require_matplotlib("plot")

    if not ranking.recommendations:
        raise InputError("there is nothing to draw: the constraints leave no pair")
    return written((frequencies_figure if frequencies else ranking_figure)(ranking), target)


def written(figure: Figure, target: Target | None) -> Figure:
    """Return a picture as notebooks show it, and write it if there is a target.

    Raises InputError if the file cannot be written.
    """
    # Notebooks ask for it; pyplot, which would teach them to show figures, is not imported.
    setattr(figure, "_repr_svg_", lambda: to_svg(figure, "notebook"))  # noqa: B010 - no field of the class
    if target is not None:
        target.write(lambda temporary: save(figure, temporary))
    return figure
