"""The commands by name, and the argument that most of them take."""

from __future__ import annotations

from typing import Annotated

import typer

# Each is the function NAME_command of a module of this folder, imported when it is run.
COMMANDS = {
    "estimate": "collected",
    "reports": "collected",
    "places": "places",
    "plan": "plan",
    "sweep": "sweep",
    "pareto": "pareto",
    "audit": "audit",
    "epsilon": "epsilon",
    "list": "catalog",
    "explain": "catalog",
    "knowledge": "knowledge",
}


def complete_command(incomplete: str) -> list[str]:
    """Complete a first word to a command; where none fits, the shell completes file names."""
    return [command for command in COMMANDS if command.startswith(incomplete)]


Sample = Annotated[
    str | None,
    typer.Argument(
        metavar="SAMPLE",
        help="CSV, TSV, text or Parquet, or gzip of these; - for standard input",
        show_default=False,
        autocompletion=complete_command,
        rich_help_panel="Input",
    ),
]
