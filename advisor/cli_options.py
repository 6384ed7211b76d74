"""What the commands share in how they take their options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from advisor.errors import InputError, listed, near_miss

FORMATS = ("table", "json", "csv", "markdown", "plain", "value")

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
