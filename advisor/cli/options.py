"""What the commands share in how they take their options."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import typer

from advisor.errors import InputError, listed, near_miss

typed: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())  # the words of the command line
SUFFIX_FORMATS = {".json": "json", ".csv": "csv", ".md": "markdown", ".txt": "plain"}
FORMATS = ("table", "json", "csv", "markdown", "plain", "value")

HELP = {"help_option_names": ["-h", "--help"]}  # commands below a group inherit it

PRIVACY_NOTICE = (
    "note: the sample is read as it is, without any privacy: use public, synthetic or pilot data, not what you want to "
    "protect (--quiet hides this)"
)

Text = str | None
Names = list[str] | None


def format_named(name: str, allowed: Sequence[str] = FORMATS) -> str:
    """Return the format that is meant.

    Raises
    ------
    InputError
        If there is no such format.
    """
    if name.lower() not in allowed:
        raise InputError(f"--format must be one of {listed(allowed)}, got {name!r}{near_miss(name.lower(), allowed)}")
    return name.lower()


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
        return found if found is not None and found in allowed else allowed[0]
    return format_named(name, allowed)


def command_line() -> str:
    """Return the command that is being run, the options from the environment in front, ready to be pasted."""
    import shlex  # only reports show the command

    prefix = "LDP_ADVISE_"
    settings = [f"{name}={shlex.quote(value)}" for name, value in sorted(os.environ.items()) if name.startswith(prefix)]
    return " ".join([*settings, shlex.join(["ldp-advise", *typed.get()])])
