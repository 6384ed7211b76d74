"""Options that need no validation framework: text and flags, which are checked where they are used."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class _AsGiven:
    """Stands in for Typer's own conversion of an option."""

    @staticmethod
    def coerce(value: Any, param: Any, **_: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        return list(value) if several else value


class LightCommand(TyperCommand):
    """A command all of whose options are text, lists of text and flags, and are passed on as they are given.

    Typer from 0.26 on converts every option through pydantic, whose import alone takes longer than a look-up. For such
    options there is nothing to convert. Where Typer keeps none of its own (older, or changed), nothing is done.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of the command line."""
        for parameter in self.get_params(ctx):  # with those for help and completion, which come last
            if getattr(parameter, "_runtime_param", "absent") is None:
                parameter._runtime_param = _AsGiven()  # type: ignore[attr-defined]
        return super().parse_args(ctx, args)
