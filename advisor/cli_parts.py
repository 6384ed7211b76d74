"""What the command lines of several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from advisor.errors import InputError, listed, near_miss

SUFFIX_FORMATS = {".json": "json", ".csv": "csv", ".md": "markdown", ".txt": "plain"}


def option(name: str, *more: str, help: str, metavar: str | None = None) -> Any:  # noqa: A002 - typer's own word
    """Return an option that can also be set from the environment, under its own long name."""
    variable = "LDP_ADVISE_" + name.partition("/")[0].strip("-").replace("-", "_").upper()
    return typer.Option(name, *more, help=help, metavar=metavar, envvar=variable, show_envvar=False, show_default=False)


def format_for(name: str | None, output: str | None, allowed: Sequence[str]) -> str:
    """Return the output format: the one that is named, else that of the file's suffix, else the first.

    Raises
    ------
    InputError
        If it is not one of those allowed.
    """
    if name is None:
        found = SUFFIX_FORMATS.get(Path(output or "").suffix.lower())
        return found if found in allowed else allowed[0]
    if name.lower() not in allowed:
        raise InputError(f"--format must be one of {listed(allowed)}, got {name!r}{near_miss(name.lower(), allowed)}")
    return name.lower()
