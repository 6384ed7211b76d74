"""The commands, and the Typer application that runs a command."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from advisor.cli.options import COMMANDS, HELP, flags_of, spread, verbose_help
from advisor.errors import InputError

MAIN = "rank"
GENERAL = "General"
# Options that many commands share and few people need: without --verbose, help only names them.
RARER = {"bins", "method", "max_bits", "proper", "skew", "shape", "instant", "why", "plot", "top"}
RARER |= {"format", "output", "report", "quiet", "verbose"}
SHARED = {"Input", "Question", "Data", "Menu", "Without data", "Output", GENERAL}  # panels that are one in such a help
COMPLETION = ("install_completion", "show_completion")


class PanelCommand(TyperCommand):
    """A command whose help lists its options by panel, on one line each if they fit; no option may be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a command line; raise InputError if an option with a single value is given twice."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        refuse_repeats(given, args)
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the first line."""
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=f"{styled('Usage:', bold=True)} ")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as the method that it replaces
        """Write the description of the command; examples stay verbatim, one per line."""
        for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):
            formatter.write_paragraph()
            with formatter.indentation():
                if paragraph.startswith("Example"):
                    indent = " " * formatter.current_indent
                    formatter.write("".join(f"{indent}{line}\n" for line in paragraph.splitlines()))
                else:
                    formatter.write_text(" ".join(paragraph.split()))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, and then the options by panel, in order of appearance of the panels."""
        panels = panels_of(self, ctx, verbose=verbose_help.get())
        also = [name.split(",")[0].split()[0] for name, _ in panels.pop("", [])]
        formatter.write_paragraph()
        for title, records in (self.command_panel() | panels).items():
            formatter.write_heading(styled(title, bold=True))
            with formatter.indentation():
                formatter.write_dl([(styled(name, fg="cyan"), words) for name, words in records], col_max=30)
        if not verbose_help.get():
            formatter.write_text(
                f"Also {', '.join(also)}{' and ' * bool(also)}rarer ones: --help --verbose explains them."
            )

    def command_panel(self) -> dict[str, list[tuple[str, str]]]:
        """Return the panel of the other commands, which only the main command has."""
        return {}


def styled(text: str, **style: Any) -> str:
    """Return a text with a style, which Typer takes off where the output is no terminal."""
    return text if "NO_COLOR" in os.environ else typer.style(text, **style)


def panels_of(command: Any, context: Any, *, verbose: bool) -> dict[str, list[tuple[str, str]]]:
    """Return the arguments and options of a command with their help, by panel.

    verbose: all of them; else without rare ones, and the panel "" has those that are only to be named.
    """
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in map(copy, command.get_params(context)):
        parameter.hidden = getattr(parameter, "hidden", False) and not verbose
        record = parameter.get_help_record(context)
        if record is None or (parameter.name in COMPLETION and not verbose):
            continue
        if parameter.param_type_name == "argument":
            record = (str(parameter.metavar), record[1])
        panel = getattr(parameter, "rich_help_panel", None) or GENERAL
        if panel in SHARED and not verbose:
            panel = "" if parameter.name in RARER else "Options"
        panels.setdefault(panel, []).append(record)
    return panels


class MainCommand(PanelCommand):
    """The main command, whose help also lists the other commands."""

    def command_panel(self) -> dict[str, list[tuple[str, str]]]:
        """Return the panel of the other commands."""
        return {"Commands": [(name, _summary(name)) for name in COMMANDS]}


def app_for(words: Sequence[str]) -> Callable[..., Any]:
    """Return the application for a command line: the command named by its first word, or the main command."""
    return _application(command_of(words))


@cache  # the page runs many command lines
def _application(name: str) -> Callable[..., Any]:
    app = typer.Typer(add_completion=True, pretty_exceptions_enable=False, rich_markup_mode=None, context_settings=HELP)
    if name == MAIN:
        app.command(cls=MainCommand)(spread(_function(MAIN)))
        return get_command(app)
    app.callback()(_callback)
    if name == "knowledge":
        app.add_typer(_module("knowledge").knowledge_app, name=name)
    else:
        app.command(name, cls=PanelCommand)(spread(_function(name)))
    return get_command(app)


def command_of(words: Sequence[str]) -> str:
    """Return the command of a command line: its first word, or the main command."""
    return words[0] if words[:1] and words[0] in COMMANDS else MAIN


def commands_with(flag: str) -> list[str]:
    """Return the commands, including the main command, that have an option of that name."""
    names = [name for name in (MAIN, *COMMANDS) if name != "knowledge"]  # which has subcommands
    return [name for name in names if flag in flags_of(spread(_function(name)))]


def _callback() -> None:
    """Answer other questions than which protocol and method to use."""


def _module(name: str) -> Any:
    return import_module(COMMANDS.get(name, "advisor.cli.ranking"))


def _function(name: str) -> Callable[..., None]:
    function: Callable[..., None] = getattr(_module(name), f"{name}_command")
    return function


def _summary(name: str) -> str:
    """Return the first sentence of a command's description."""
    text = _module(name).__doc__ if name == "knowledge" else _function(name).__doc__
    return (text or "").strip().partition("\n")[0]


def refuse_repeats(parameters: Iterable[Any], words: Sequence[str]) -> None:
    """Check that no option with a single value is given twice, and no flag both ways.

    parameters, words: the parameters of a command line in the given order, and its words.

    Raises InputError for the first such option.
    """
    for parameter, times in Counter(parameters).items():
        if times == 1 or parameter.param_type_name == "argument" or parameter.multiple or parameter.count:
            continue
        given = list(takewhile(lambda word: word != "--", words))
        if parameter.is_flag:
            both = [flag for flag in (parameter.opts[0], *parameter.secondary_opts[:1]) if flag in given]
            if len(both) > 1:
                raise InputError(f"{' and '.join(both)} are both given: give one of them")
            continue
        flag, metavar = parameter.opts[0], parameter.metavar or ""
        example = f", as {flag} {metavar}" if "," in metavar else ""
        raise InputError(f"{flag} is given {times} times: give it once{example}")
