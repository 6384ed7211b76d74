"""From the words of a command line to the command that is run, and from errors to exit codes."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import typer

from advisor.cli import options
from advisor.cli.examples import MissingBudgetError
from advisor.cli.groups import MAIN, app_for, command_of, commands_with
from advisor.cli.options import COMMANDS
from advisor.cli.run import answered
from advisor.errors import InputError, listed, near_miss, one_line, printable, split_hint
from advisor.members.names import keys_by_name, squash
from advisor.show.data import error_json
from simulator.foreign import blame

# Typer's usage errors (unknown option, missing value) share this base, which it does not export by name.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
INTERRUPTED = 130
COMPLETION = "_LDP_ADVISE_COMPLETE"
# What libraries read as a number, and fail over: of matplotlib, of joblib's processes and of Typer's completion.
NUMBERS = ("SOURCE_DATE_EPOCH", "LOKY_MAX_CPU_COUNT", "COMP_CWORD")
SIZES = ("COLUMNS", "LINES")  # rich fails over ², and draws nothing on a terminal that has none
RENAMED = {  # what others call an option, or what it was; it takes the same value
    **dict.fromkeys(("--users", "-n"), "--n"),
    **dict.fromkeys(("--categories", "-k"), "--k"),
    "--budget": "--eps",
    "--csv": "--format=csv",
    "--json": "--format=json",
    "--html": "--report",
}
CALLED = {  # of the LDP3 toolkit too
    "--kl-mix": "-m kl:X",
    "--top-values": "-m topk:N",
    "--set-share": "-m set:X",
    "--sets": "-m sets:FILE",
    **dict.fromkeys(("-r", "--repeat"), "--reps N --max-reps N"),
    **dict.fromkeys(("-t", "--thread_number"), "--jobs"),
    **dict.fromkeys(("-d", "--dataset"), "the name of the file alone"),
    **dict.fromkeys(("-u", "--utility_metric"), "-m"),
}
# What the word after a command is, unless it names a file; where it is a protocol, only if it is one.
POSITIONS = {"epsilon": "--eps", "generate": "--shape", "audit": "--protocol", "code": "--protocol"}
LONGEST = 11  # digits: the date of a picture is before the year 3000


def prepare(args: list[str]) -> Callable[[], int]:
    """Import what a command line needs, and return what runs it and returns its exit code."""
    answered.set(False)
    _ignore_nonsense()
    args = _in_our_words(args)
    flags = set(takewhile(lambda word: word != "--", args))
    asks = not flags.isdisjoint(("-h", "--help"))
    options.verbose_help.set(asks and not flags.isdisjoint(("-v", "--verbose")))
    words = args
    if asks:  # whatever else is given, and whatever is wrong with it
        command_words = args[: {MAIN: 0, "knowledge": 2}.get(command_of(args), 1)]
        words = [*takewhile(lambda word: not word.startswith("-"), command_words), "--help"]
    options.words.set(tuple(words))
    # Typer's completion hands over the words in the environment, not as arguments.
    app = app_for(os.environ.get("COMP_WORDS", "").split()[1:] if COMPLETION in os.environ else words)
    return lambda: _run(app, words)


def _in_our_words(args: list[str]) -> list[str]:
    """Return a command line with the options of this tool, where other words have one meaning."""
    name = args[0].removeprefix("--") if args and args[0] != "--epsilon" else ""  # which is a name of --eps
    command = [name] if name in COMMANDS else []
    rest = args[len(command) :] or ["info"] * (name == "knowledge")
    option = POSITIONS.get(name)
    if option and rest and _stands_for(option, rest[0]):
        rest = [option, *rest]
    plain = len([*takewhile(lambda word: word != "--", rest)])
    return [*command, *map(_renamed, rest[:plain]), *rest[plain:]]


def _stands_for(option: str, word: str) -> bool:
    if option == "--protocol":
        return squash(word) in keys_by_name("protocol") and not Path(word).exists()
    return not word.startswith("-")


def _renamed(word: str) -> str:
    """Return an option by its name here, if it takes the same value."""
    flag, sign, value = word.partition("=")
    return RENAMED.get(flag, flag) + sign + value


def _ignore_nonsense() -> None:
    """Take out of the environment what should be a number and is none."""
    for name in (*NUMBERS, *SIZES):
        text = os.environ.get(name, "1")
        if not text.isdecimal() or len(text) > LONGEST or (name in SIZES and not int(text)):
            del os.environ[name]
    if COMPLETION in os.environ:  # the shell has set the others too, a person who tries it has not
        os.environ.setdefault("COMP_WORDS", "ldp-advise")
        os.environ.setdefault("COMP_CWORD", "0")


def _run(app: Callable[..., Any], args: list[str]) -> int:
    try:
        code = app(args, prog_name="ldp-advise", standalone_mode=False)
    except (InputError, USAGE_ERROR) as error:
        return _report(error, args)
    except MemoryError as error:
        return _report(
            InputError(f"there is not enough memory for this ({error or 'fewer categories take less'})"), args
        )
    except RecursionError:
        return _report(InputError("something that was read is nested too deeply"), args)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (Exception, SystemExit) as error:
        line = blame(error)
        if line is None:
            raise
        return _report(InputError(line), args)
    if code == 1:  # of Typer's completion alone
        return _report(InputError("completion knows bash, zsh, fish and PowerShell: name one, or run this in it"), args)
    if code == INTERRUPTED:
        typer.echo("ldp-advise: interrupted", err=True)
    return code if isinstance(code, int) else 0


def _report(error: Exception, args: list[str]) -> int:
    message = one_line(_message(error, args))
    priced = error if isinstance(error, MissingBudgetError) else None
    if _wants_json(args) and not answered.get():  # two objects would be none
        typer.echo(error_json(message, {} if priced is None else {"examples": priced.examples}))
    lines = () if priced is None else tuple(map(printable, priced.lines))
    if sys.stderr.isatty():
        _show(message, lines)
    else:  # scripts read a line
        typer.echo("\n".join((f"ldp-advise: error: {message}", *lines)), err=True)
    return 2


def _show(message: str, lines: Iterable[str]) -> None:
    """Show an error on a terminal, folded at words: what is wrong, and what to do about it on a line of its own."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, color_system=None if "NO_COLOR" in os.environ else "auto")
    what, hint = split_hint(message)
    console.print(Text.assemble(("Error:", "bold red"), f" {what}"))
    if hint:
        console.print(Text(f"hint: {hint}", style="dim"))
    for line in lines:
        indent = " " * 13 if line.startswith("  ") else ""
        console.print(Text(textwrap.fill(line, console.width, subsequent_indent=indent)))


def _message(error: Exception, args: list[str]) -> str:
    first = args[0] if args[:1] and args[0].isalpha() and args[0] not in COMMANDS else ""
    if first and not Path(first).exists():  # it was taken for a sample, whatever is wrong with it
        return f"{first}: neither a file nor a command{near_miss(first, COMMANDS) or '; --help lists the commands'}"
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        return _about_unknown(error.option_name, args, list(error.possibilities or ()))
    message = str(error.format_message() if hasattr(error, "format_message") else error)
    if message.startswith("Missing argument"):
        return f"{args[0]} needs a name: for example ldp-advise {args[0]} pgr"
    if "unexpected extra argument" in message:
        return f"{message.rstrip('.')}: several names of an option are joined by commas, as in -p olh,blh"
    return re.sub(r"Option '(\S+)' requires an argument\.", r"\1 needs a value; --help says which", message)


def _about_unknown(flag: str, args: list[str], similar: list[str]) -> str:
    """Message for an option this command lacks: a command of its name, the commands that have it, or a near miss."""
    here = command_of(args)
    command = flag.removeprefix("--")
    if here == MAIN and command in COMMANDS:  # behind other words
        return f"there is no option {flag}: it is a command, ldp-advise {command}"
    others = ["ldp-advise" if name == MAIN else f"ldp-advise {name}" for name in commands_with(flag) if name != here]
    if others and here != "knowledge":
        who = "ldp-advise" if here == MAIN else f"ldp-advise {here}"
        return f"{flag} is no option of {who}, but of {listed(others, most=3)}"
    if flag in CALLED:
        return f"there is no option {flag}: here it is {CALLED[flag]}"
    like = f"; did you mean {similar[0]}?" if similar else "; --help lists all options"
    return f"there is no option {flag}{like}"


def _wants_json(args: list[str]) -> bool:
    """Return whether JSON was asked for, from the raw words: they may be what could not be parsed."""
    formats = [os.environ.get("LDP_ADVISE_FORMAT", "")]
    formats += [word.partition("=")[2] for word in args if word.startswith("--format=")]
    formats += [after for word, after in pairwise(args) if word == "--format"]
    if not any(formats):
        formats = ["json" for word, after in pairwise(args) if word in ("-o", "--output") and after.endswith(".json")]
    return bool(formats) and formats[-1].lower() == "json"
