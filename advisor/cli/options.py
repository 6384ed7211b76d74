"""From groups of options to a command: its signature is made of their fields, and it is handed typed objects."""

from __future__ import annotations

import inspect
import os
import shlex
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import Field
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from advisor import extensions
from advisor.checks import shown
from advisor.errors import InputError, listed
from advisor.question.option import Bundle, Option, Settings, options_of

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
ENVIRONMENT = "LDP_ADVISE_"
SAMPLE = "sample"  # the field of a question that is an argument
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
YES, NO = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})  # of flags in the environment

words: ContextVar[tuple[str, ...]] = ContextVar("words", default=())  # of the command line that is being run
verbose_help: ContextVar[bool] = ContextVar("verbose_help", default=False)


class Only:
    """Marks the options of a group that a command takes: ``Annotated[Terms, Only("epsilon", "n")]``.

    Of a bundle, its groups, or parts of them: ``Annotated[Question, Only("terms:epsilon,n", "domain")]``; "sample" is
    the argument of that name.
    """

    def __init__(self, *names: str) -> None:
        self.names = names


@cache
def spread(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command for Typer whose options are the fields of the groups that `function` takes.

    Every parameter of `function` that is annotated with a subclass of `Settings` is replaced by one keyword-only
    parameter for each of its options, and so are the groups of a `Bundle`; the others (arguments) stay. When the
    command is called, the groups are made, which checks their values, and handed over.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    bundles: dict[str, Callable[..., object]] = {}
    read_by: list[str] = []  # the question that has the sample
    groups: list[tuple[str, str, type[Settings], list[tuple[Field[Any], Option]]]] = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind, only = _kind(hints[name])
        members = {name: (kind, only)}
        if issubclass(kind, Bundle):
            bundles[name], members = kind, _members(kind, only)
        for member, (group, names) in members.items():
            if member == SAMPLE and name in bundles:
                parameters.append(inspect.Parameter(SAMPLE, KEYWORD_ONLY, default=None, annotation=Sample))
                read_by.append(name)
                continue
            if not issubclass(group, Settings):
                parameters.append(parameter.replace(annotation=hints[name], kind=KEYWORD_ONLY))
                continue
            fields_of_group = [(item, spec) for item, spec in options_of(group) if not names or item.name in names]
            groups.append((name, member, group, fields_of_group))
            parameters += [_parameter(item, spec, group.panel) for item, spec in fields_of_group]

    def command(**given: object) -> None:
        fields_given: dict[str, dict[str, Any]] = defaultdict(dict)
        for name, member, group, fields_of_group in groups:
            values = {item.name: _value(given.pop(item.name), spec) for item, spec in fields_of_group}
            fields_given[name][member] = group(**{key: value for key, value in values.items() if value is not None})
        for name in read_by:
            fields_given[name][SAMPLE] = given.pop(SAMPLE)
        bundled = {
            name: bundles[name](**parts) if name in bundles else parts[name] for name, parts in fields_given.items()
        }
        function(**given, **bundled)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _kind(hint: Any) -> tuple[type, tuple[str, ...]]:
    """Return the class that a parameter is annotated with, and what `Only` names of it; no names for all."""
    kind, notes = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    names = next((note.names for note in notes if isinstance(note, Only)), ())
    return kind if isinstance(kind, type) else object, names


def _members(bundle: type[Bundle], only: tuple[str, ...]) -> dict[str, tuple[type, tuple[str, ...]]]:
    """Return the groups of a bundle that a command takes, in its order, and the options that it takes of each."""
    hints = {name: _kind(hint) for name, hint in get_type_hints(bundle, include_extras=True).items()}
    parts = {name.partition(":")[0]: tuple(filter(None, name.partition(":")[2].split(","))) for name in only}
    if not parts:
        return {name: member for name, member in hints.items() if issubclass(member[0], Settings)}
    return {name: (hints[name][0], names or hints[name][1]) for name, names in parts.items()}


def _parameter(item: Field[Any], spec: Option, panel: str) -> inspect.Parameter:
    """Return the parameter of an option: text, a list of text, or a flag; the environment can also set it."""
    kind: Any = bool | None if spec.read is None else list[str] | None if spec.repeated else str | None
    declared = typer.Option(
        *spec.flags,
        help=spec.help,
        metavar=spec.metavar,
        envvar=None if spec.read is None else _variable(spec),
        show_envvar=False,
        show_default=False,
        hidden=spec.advanced,
        rich_help_panel=panel,
    )
    default = None if spec.read is None or item.default in (None, ()) else str(item.default)
    return inspect.Parameter(item.name, KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared])


def _variable(spec: Option) -> str:
    """Return the environment variable of an option."""
    return ENVIRONMENT + spec.name.replace("-", "_").upper()


def _value(given: object, spec: Option) -> object:
    """Return what was given; of a flag that was not, what the environment says of it, if anything.

    Raises InputError if that is neither yes nor no.
    """
    text = os.environ.get(_variable(spec), "").strip().lower()
    if given is not None or spec.read is not None or not text:
        return given
    if text not in YES | NO:
        raise InputError(f"{_variable(spec)} must be {listed(sorted(YES))}, or {listed(sorted(NO))}, got {shown(text)}")
    return text in YES


def flags_of(command: Callable[..., None]) -> tuple[str, ...]:
    """Return the names of all options of a command that `spread` has made."""
    notes = (
        note
        for parameter in inspect.signature(command).parameters.values()
        for note in get_args(parameter.annotation)[1:]
    )
    # Typer takes the first name for a default, as long as it is not asked what it means.
    names = (name for note in notes for name in (note.default, *(note.param_decls or ())) if isinstance(name, str))
    return tuple(flag for name in names for flag in name.split("/") if flag.startswith("-"))


def command_line(*, without: Mapping[str, bool]) -> str:
    """Return the command that is being run, the options from the environment in front, ready to be pasted.

    without: options that are left out, and whether a value follows each.
    """
    names = sorted(name for name in os.environ if name.startswith(ENVIRONMENT))
    settings = [f"{name}={shlex.quote(os.environ[name])}" for name in names]
    line, given = [], iter(words.get())
    for word in given:
        flag, equals, _ = word.partition("=")
        if word == "--":
            line += [word, *given]
        elif flag not in without:
            line.append(word)
        elif without[flag] and not equals:
            next(given, None)
    return " ".join([*settings, shlex.join(["ldp-advise", *line])])


# The modules of the functions NAME_command, imported when they run; in the order of --help.
COMMANDS = {
    "estimate": "advisor.cli.collected",
    "reports": "advisor.cli.reports",
    "plan": "advisor.cli.plan",
    "sweep": "advisor.cli.sweep",
    "pareto": "advisor.cli.ranking",
    "epsilon": "advisor.cli.catalog",
    "list": "advisor.cli.catalog",
    "explain": extensions.COMMANDS["explain"],
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
    """Return the declaration of an argument, with metavar and help, for ``Annotated[str | None, ...]``."""
    return typer.Argument(metavar=metavar, help=words, show_default=False, rich_help_panel=panel, **more)


FILES = "CSV, TSV, text, Parquet, .gz; - for standard input"
Sample = Annotated[str | None, argument("SAMPLE", FILES, "Question", autocompletion=complete_command, callback=_named)]
