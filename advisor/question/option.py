"""Options as fields of frozen dataclasses: name, help, panel and check of each are declared once, for all who ask."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, replace
from itertools import chain
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from advisor.checks import shown
from advisor.errors import InputError, LeftOutError
from simulator.foreign import REGISTERED

Read: TypeAlias = Callable[[str, object], object]  # a reader of `advisor.checks`
OTHER_NAMES = {"eps": "epsilon", "written": "report_format"}  # keywords of Python callers that name no field
MANY = {"is": "are", "does": "do", "goes": "go"}
OPTIONS_TOO = ("columns", "instant", "shape", "threat")  # names of groups that are keywords for an option as well


@dataclass(frozen=True)
class Option:
    """How a field is called on the command line, and what it may be."""

    flags: tuple[str, ...]  # names on the command line, the first of which messages use; a slash separates yes from no
    # help, metavar: text of `--help`, and placeholder of the value; no metavar for a flag
    help: str
    metavar: str | None
    read: Read | None  # reads and checks a value, see `advisor.checks`; None for a flag
    repeated: bool = False  # whether it may be given several times, or several values with commas between them
    advanced: bool = False  # whether ``--help --verbose`` alone shows it
    undivided: bool = False  # whether a comma is part of a value, and separates none
    write: Callable[[str], str] | None = None  # how a value is written on a command line again; None: as it is
    # What becomes of several values that depend on those before them, if any do; each is read before the next
    among: Callable[[Iterable[object]], Iterable[object]] | None = None
    variant: bool = False  # whether it is the option of another group with another range, see `like`

    @property
    def flag(self) -> str:
        """The first name on the command line, without that of the opposite."""
        return self.flags[0].partition("/")[0]

    @property
    def name(self) -> str:
        """The name in messages about a wrong value, without hyphens in front: as Python callers know most of them."""
        return self.flag.lstrip("-")


def option(
    *flags: str,
    help: str,  # noqa: A002 - what it is called everywhere
    read: Read | None = None,
    metavar: str | None = None,
    default: object = None,
    repeated: bool = False,
    advanced: bool = False,
    undivided: bool = False,
    write: Callable[[str], str] | None = None,
    among: Callable[[Iterable[object]], Iterable[object]] | None = None,
) -> Any:
    """Return the field of an option; without `read`, a flag that is off unless it is given."""
    declared = Option(flags, help, metavar, read, repeated, advanced, undivided, write, among)
    if default is None:
        default = () if repeated else False if read is None and "/" not in flags[0] else None
    return field(default=default, metadata={"option": declared})


def like(
    group: type[Settings],
    name: str,
    *,
    help: str | None = None,  # noqa: A002 - what it is called everywhere
    read: Read | None = None,
    metavar: str | None = None,
    default: object = None,
) -> Any:
    """Return the field of an option that another group declares, with another range where this one says so."""
    (spec,) = (spec for item, spec in options_of(group) if item.name == name)
    changed = replace(
        spec, help=help or spec.help, read=read or spec.read, metavar=metavar or spec.metavar, variant=True
    )
    return field(default=() if spec.repeated else default, metadata={"option": changed})


@dataclass(frozen=True)
class Settings:
    """Base of all groups of options; values are read, checked and converted when an instance is made.

    Raises InputError for the first value that is wrong.
    """

    panel: ClassVar[str] = "Options"

    def __post_init__(self) -> None:
        for item, spec in options_of(type(self)):
            value = getattr(self, item.name)
            if value is None or (isinstance(value, tuple) and not value):
                continue
            read_one = spec.read or _flag
            try:
                read = _read_several(spec, read_one, value) if spec.repeated else read_one(spec.name, value)
            except InputError as error:
                error.fields = error.fields or (spec.flag,)
                raise
            object.__setattr__(self, item.name, read)
        self.check()

    def check(self) -> None:
        """Refuse what does not go together within the group."""

    def given(self, *names: str) -> tuple[str, ...]:
        """Return the flags of the options that were given: of all fields, or of those named."""
        return tuple(
            spec.flag
            for item, spec in options_of(type(self))
            if (not names or item.name in names) and getattr(self, item.name) != item.default
        )

    def typed(self) -> tuple[str, ...]:
        """Return the options that were given, with their values, as words of a command line."""
        words: list[str] = []
        for item, spec in options_of(type(self)):
            value = getattr(self, item.name)
            if value == item.default:
                continue
            yes, _, no = spec.flags[0].partition("/")
            if spec.read is None:
                words.append(yes if value else no)
            elif isinstance(value, tuple):
                parts = (_word(word, spec) for word in value)
                words += [yes, ",".join(f'"{part}"' if "," in part and not spec.undivided else part for part in parts)]
            else:
                words += [yes, _word(value, spec)]
        return tuple(words)


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Base of data classes whose fields are groups: a command that takes one takes all of its groups, or some."""

    @classmethod
    def kinds(cls) -> dict[str, type[Settings]]:
        """Return the kind of each group, by the name of its field."""
        return {item.name: type(item.default) for item in fields(cls) if isinstance(item.default, Settings)}

    @classmethod
    def with_groups(cls, groups: Iterable[Settings], **more: Any) -> Self:
        """Return the bundle that has these groups, each where one of its kind belongs; the others are as always."""
        names = {kind: name for name, kind in cls.kinds().items()}
        return cls(**{names[type(group)]: group for group in groups}, **more)

    @classmethod
    def of(cls, given: Mapping[str, Any], **more: Any) -> Self:
        """Return the bundle of a Python caller, from keywords that are the names of options or of groups.

        Where two groups have an option of that name, it is that of the last. Other keywords are left alone.

        Raises InputError for an invalid value.
        """
        kinds = cls.kinds()
        group_of = {item.name: name for name, kind in kinds.items() for item, _ in options_of(kind)}
        parts: dict[str, Settings] = {}
        options: dict[str, dict[str, Any]] = defaultdict(dict)
        for keyword, value in given.items():
            name = OTHER_NAMES.get(keyword, keyword)
            if value is None:
                continue
            if name in kinds and isinstance(value, kinds[name]):
                parts[name] = kinds[name](**vars(value))
            elif name in kinds and (name not in OPTIONS_TOO or isinstance(value, Settings)):
                kind = kinds[name].__name__
                raise InputError(
                    f"{keyword} must be {keyword}={kind}(...), with {kind} from advisor, got {shown(value)}"
                )
            elif name in group_of:
                field_name = "skew" if name == "shape" and isinstance(value, int | float) else name
                options[group_of[name]][field_name] = value
        return cls(**parts | {name: kinds[name](**values) for name, values in options.items()}, **more)

    @property
    def groups(self) -> tuple[Settings, ...]:
        """All groups."""
        return tuple(group for item in fields(self) if isinstance(group := getattr(self, item.name), Settings))

    def given(self, *names: str) -> list[str]:
        """Return the flags of the given options of these groups; ``"group:field,…"`` for a part of a group."""
        parts = (name.partition(":") for name in names)
        return [
            flag for name, _, some in parts for flag in getattr(self, name).given(*(some.split(",") if some else ()))
        ]


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def _word(value: object, spec: Option) -> str:
    if spec.write is not None:
        return spec.write(str(value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _read_several(spec: Option, read: Read, value: object) -> tuple[object, ...]:
    """Return values, each once; raises the refusal of one that is left out only where no other is there.

    A comma separates two of them, but in double quotes, as in a CSV file.
    """
    values = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
    divided = not spec.undivided
    listed = (_divided(item) if divided and isinstance(item, str) else [item] for item in values)
    items: Iterable[object] = chain.from_iterable(listed)
    result: dict[object, object] = {}
    refusal: LeftOutError | None = None
    for item in items if spec.among is None else spec.among(items):
        try:
            key = read(spec.name, item)
        except LeftOutError as error:
            refusal = error
            continue
        other = result.setdefault(key, item)
        if key in REGISTERED and other is not item and other != item:
            raise InputError(f"two members are called {key}, {shown(other)} and {shown(item)}: rename one of them")
    if refusal is not None and not result:
        raise refusal
    return tuple(result)


def _divided(text: str) -> list[str]:
    parts = text.split(",")
    if '"' in text:
        with suppress(csv.Error):  # a line break outside of quotes
            parts = next(csv.reader([text], skipinitialspace=True))
    return [part.strip() for part in parts]


def options_of(group: type[Settings]) -> Iterator[tuple[Field[Any], Option]]:
    """Yield the fields of a group that are options, each with its option."""
    for item in fields(group):
        if "option" in item.metadata:
            yield item, item.metadata["option"]


def require(*needs: tuple[str, object, str]) -> None:
    """Refuse a question in which something is missing, and name all of it at once.

    needs: (name, value, what to give with an example) of everything that is needed.

    Raises InputError if a value is None or empty.
    """
    missing = [(name, hint) for name, value, hint in needs if value is None or (isinstance(value, tuple) and not value)]
    if not missing:
        return
    *others, last = (name for name, _ in missing)
    names = f"{', '.join(others)} and {last}" if others else last
    hints = "; ".join(hint for _, hint in missing)
    flags = tuple(name for name, _ in missing)
    raise InputError(f"{names} {'is' if len(missing) == 1 else 'are'} missing: give {hints}", flags)


def refuse(options: Iterable[str], reason: str) -> None:
    """Refuse options that do not go with the question, all of them in one message.

    Raises InputError if there are any.
    """
    given = tuple(options)
    if given:
        verb, _, rest = reason.partition(" ")
        verb = MANY.get(verb, verb) if len(given) > 1 else verb
        raise InputError(f"{', '.join(given)} {verb} {rest}", given)
