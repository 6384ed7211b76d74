"""The pictures and the page of a run: checked before the simulation, written after it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from advisor.errors import InputError

if TYPE_CHECKING:
    from advisor.rank.advice import Advice


class ShownOptions(NamedTuple):
    """Where pictures and the page go, if anywhere."""

    plot: str | None = None
    plot_frequencies: str | None = None
    report: str | None = None


def check_shown(
    options: ShownOptions, *, force: bool, sample: str | None, others: Iterable[Path | None] = ()
) -> dict[str, Path]:
    """Return the files by option.

    Raises
    ------
    InputError
        If a suffix is wrong, two outputs share a file, a file exists or cannot be written, or matplotlib is missing.
    """
    found: dict[str, Path] = {}
    named = {"--plot": options.plot, "--plot-frequencies": options.plot_frequencies, "--report": options.report}
    for option, path in named.items():
        if path is None:
            continue
        from advisor.cli.outputs import check_writable
        from advisor.pictures import check_picture, require_matplotlib

        taken = [*others, *found.values()]
        if option != "--report":
            found[option] = check_picture(option, path, force=force, sample=sample, others=taken)
            continue
        suffix = Path(path).suffix.lower()
        if suffix not in (".html", ".htm"):
            raise InputError(f"--report {path}: the suffix must be .html, got {suffix or 'none'!r}")
        found[option] = check_writable(option, path, force=force, sample=sample)
        if found[option] in taken:
            raise InputError(f"--report {path}: another output goes to the same file")
        require_matplotlib(option)
    return found


def write_shown(files: dict[str, Path], advices: tuple[Advice, ...]) -> None:
    """Draw and write; the pictures are about the first metric, the page about all."""
    if not files:
        return
    if not advices[0].recommendations:
        print(f"warning: nothing to show, so {', '.join(files)} wrote no file", file=sys.stderr)  # noqa: T201
        return
    from advisor.cli.options import command_line
    from advisor.cli.outputs import write_text
    from advisor.pictures import save
    from advisor.pictures.frequencies import frequencies_figure
    from advisor.pictures.ranking import ranking_figure

    for option, path in files.items():
        if option == "--report":
            from advisor.document.page import report_html

            write_text(path, report_html(advices, command_line()))
        else:
            save((ranking_figure if option == "--plot" else frequencies_figure)(advices[0]), path)
