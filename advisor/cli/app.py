"""Where a command line begins and ends: dispatch to a command, streams, exit codes.

Exit codes: 0 answer given (a tie is an answer), 2 bad usage or bad data, or the answer cannot be written, 130
interrupted. Errors become exit codes here and nowhere else.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import typer

from advisor.cli import options
from advisor.cli.aliases import modern
from advisor.cli.arguments import COMMANDS
from advisor.document.json import error_json
from advisor.errors import InputError, listed, near_miss

# Typer's own errors of usage (unknown option, missing value) share this base, which it does not export by name.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
INTERRUPTED = 130
COMPLETION = "_LDP_ADVISE_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it: print() too writes nothing then
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open to the end
    streams = sys.stdout, sys.stderr
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ε or × shows ? instead of a traceback
    warnings.showwarning = _show_warning
    options.verbose_help.set({"-h", "--help"} & set(args) != set() and {"-v", "--verbose"} & set(args) != set())
    try:
        code = _run(args)
        sys.stdout.flush()  # at exit it would be too late to say that it fails
    except BrokenPipeError:
        _muffle(*streams)
        return 0
    except SystemExit as left:
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        # rich and Typer leave with 1 when the reader has gone, and Typer replaces the streams before.
        sys.stdout, sys.stderr = streams
        _muffle(*streams)
        return 0
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise  # not from writing to a stream, which has no file name
        with suppress(OSError):  # standard error may be as full
            typer.echo(f"ldp-advise: error: cannot write the answer: {error.strerror}", err=True)
        _muffle(*streams)
        return 2
    return code


def _run(words_given: list[str]) -> int:
    args = words_given
    try:
        args = modern(args)
        options.words.set(tuple(args))
        # Typer's completion hands over the words in the environment, not as arguments.
        words = os.environ.get("COMP_WORDS", "").split()[1:] if COMPLETION in os.environ else args
        from advisor.cli.groups import app_for  # after the words are known: they decide what help shows

        code = app_for(words)(args, prog_name="ldp-advise", standalone_mode=False)
    except (InputError, USAGE_ERROR) as error:
        return _report(error, args)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("ldp-advise: interrupted", err=True)
        return INTERRUPTED
    if code == INTERRUPTED:
        typer.echo("ldp-advise: interrupted", err=True)
    return code if isinstance(code, int) else 0


def _muffle(*streams: TextIO) -> None:
    """Let what a stream still holds go nowhere: the interpreter would complain when it flushes at exit."""
    for stream in streams:
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Show a warning in one line: users have no use for the place in the code."""
    del category, where, more
    typer.echo(f"warning: {message}", err=True)


def _report(error: Exception, args: list[str]) -> int:
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        message = _about_unknown(error.option_name, args, list(error.possibilities or ()))
    else:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
    first = args[0] if args[:1] and args[0].isalpha() and args[0] not in COMMANDS else ""
    if first and (meant := near_miss(first, COMMANDS)) and not Path(first).exists():
        message = f"{first}: no such command or file{meant}"  # it was taken for a sample, whatever is wrong with it
    message = " ".join(message.split())
    if _wants_json(args):
        typer.echo(error_json(message))
    typer.echo(f"ldp-advise: error: {message}", err=True)
    return 2


def _about_unknown(flag: str, args: list[str], similar: list[str]) -> str:
    """Return what is said of an option that the command has not: which commands have it, or what is written like it."""
    from advisor.cli.groups import MAIN, commands_with  # errors alone need all commands

    here = args[0] if args[:1] and args[0] in COMMANDS else MAIN
    others = ["ldp-advise" if name == MAIN else f"ldp-advise {name}" for name in commands_with(flag) if name != here]
    if others and here != "knowledge":
        who = "ldp-advise" if here == MAIN else f"ldp-advise {here}"
        return f"{flag} is no option of {who}, but of {listed(others)}"
    like = f"; did you mean {similar[0]}?" if similar else "; --help lists all options"
    return f"there is no option {flag}{like}"


def _wants_json(args: list[str]) -> bool:
    """Tell whether JSON was asked for, from the raw words: they may be what could not be parsed."""
    formats = [os.environ.get("LDP_ADVISE_FORMAT", "")]
    formats += [word.partition("=")[2] for word in args if word.startswith("--format=")]
    formats += [after for word, after in pairwise(args) if word == "--format"]
    if not any(formats):
        formats = ["json" for word, after in pairwise(args) if word in ("-o", "--output") and after.endswith(".json")]
    return bool(formats) and formats[-1].lower() == "json"
