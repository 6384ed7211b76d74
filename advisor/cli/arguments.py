"""The commands by name, and the argument that most of them take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from advisor import extensions
from advisor.errors import InputError

# The modules of the functions NAME_command, imported when they run; in the order of --help.
COMMANDS = {
    "estimate": "advisor.cli.collected",
    "reports": "advisor.cli.reports",
    "plan": "advisor.cli.plan",
    "sweep": "advisor.cli.sweep",
    "pareto": "advisor.cli.pareto",
    "epsilon": "advisor.cli.epsilon",
    "list": "advisor.cli.catalog",
    "explain": "advisor.cli.catalog",
    "knowledge": "advisor.cli.knowledge",
    **extensions.COMMANDS,
}


def complete_command(incomplete: str) -> list[str]:
    """Complete a first word to a command; where none fits, the shell completes file names."""
    return [command for command in COMMANDS if command.startswith(incomplete)]


def _named(sample: str | None) -> str | None:
    """Return the name of a file.

    Raises InputError if it is empty, as an unset variable of a shell is.
    """
    if sample is not None and not sample.strip():
        raise InputError("the file name is empty: name a file, or - for standard input")
    return sample


def argument(metavar: str, words: str, panel: str = "Input", **more: Any) -> Any:
    """Return how an argument is declared: what stands for it, and its help; for ``Annotated[str | None, ...]``."""
    return typer.Argument(metavar=metavar, help=words, show_default=False, rich_help_panel=panel, **more)


SAMPLE = "CSV, TSV, text, Parquet, .gz; - for standard input"
Sample = Annotated[str | None, argument("SAMPLE", SAMPLE, "Question", autocompletion=complete_command, callback=_named)]
