"""From groups of options to a command: its signature is made of their fields, and it is handed typed objects."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import Field
from functools import cache
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

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

Options: TypeAlias = list[tuple[Field[Any], Option]]
Members: TypeAlias = dict[str, tuple[type[Settings], Options]]

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
    takes: dict[str, tuple[type, Members, bool]] = {}  # class, groups, and whether the sample is a part of it
    for name, parameter in inspect.signature(function).parameters.items():
        kind, only = _kind(hints[name])
        if not issubclass(kind, Settings | Bundle):
            parameters.append(parameter.replace(annotation=hints[name], kind=KEYWORD_ONLY))
            continue
        members = _members(kind, only) if issubclass(kind, Bundle) else {name: (kind, _options(kind, only))}
        takes[name] = kind, members, SAMPLE in only
        if SAMPLE in only:
            parameters.append(inspect.Parameter(SAMPLE, KEYWORD_ONLY, default=None, annotation=Sample))
        for group, taken in members.values():
            parameters += [_parameter(item, spec, group.panel) for item, spec in taken]

    def command(**given: object) -> None:
        made: dict[str, object] = {}
        for name, (kind, members, has_sample) in takes.items():
            parts: dict[str, Any] = {member: _group(*one, given) for member, one in members.items()}
            if has_sample:
                parts[SAMPLE] = given.pop(SAMPLE)
            made[name] = kind(**parts) if issubclass(kind, Bundle) else parts[name]
        function(**given, **made)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _kind(hint: Any) -> tuple[type, tuple[str, ...]]:
    """Return the class that a parameter is annotated with, and what `Only` names of it; no names for all."""
    kind, notes = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    names = next((note.names for note in notes if isinstance(note, Only)), ())
    return kind if isinstance(kind, type) else object, names


def _members(bundle: type[Bundle], only: tuple[str, ...]) -> Members:
    """Return the groups of a bundle that a command takes, in its order, and the options that it takes of each."""
    kinds, members = bundle.kinds(), {}
    for part in only or kinds:
        name, _, names = part.partition(":")
        if name != SAMPLE:
            members[name] = kinds[name], _options(kinds[name], tuple(filter(None, names.split(","))))
    return members


def _options(group: type[Settings], names: tuple[str, ...]) -> Options:
    """Return the named options of a group, or all."""
    return [(item, spec) for item, spec in options_of(group) if not names or item.name in names]


def _group(group: type[Settings], options: Options, given: dict[str, Any]) -> Settings:
    """Return a group with the values of its options, which are taken from what is given."""
    values = {item.name: _value(given.pop(item.name), spec) for item, spec in options}
    return group(**{name: value for name, value in values.items() if value is not None})


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
    "reports": "advisor.cli.collected",
    "plan": "advisor.cli.commands",
    "sweep": "advisor.cli.commands",
    "pareto": "advisor.cli.ranking",
    "epsilon": "advisor.cli.commands",
    "list": "advisor.cli.commands",
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
