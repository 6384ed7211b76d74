"""The four goals that people come with, the controls of each page (``goals.toml``), and the words of a page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from advisor.checks import shown
from advisor.errors import InputError, listed
from advisor.extensions.app.files import STATIC
from advisor.extensions.choose.answer import Wishes
from advisor.extensions.places.question import PlacesQuestion
from advisor.question.collected_request import CollectedQuestion
from advisor.question.option import Option, Settings, options_of
from advisor.show.model import Document, Part, Section, Sentence, Table
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS

PLAN, ESTIMATE, COMPARE, PLACES = "plan", "estimate", "compare", "places"
YES = "yes"
ELSEWHERE = "{} on the command line"  # what the page has no control for
OF_THE_DATA = ("--shape", "--skew")  # which the control of the data sets
HERE = {"ldp-advise choose FILE": "drop them here"}  # commands that the page itself does
COMMAND = "ldp-advise "  # what follows it is a command line, fit to be typed
FLAG = re.compile(r"(--[a-z][a-z-]*)(?: ([\w.](?:[\w.,]*\w)?))?")  # an option, and the word behind it
EITHER = re.compile(r"(“[^”]+”) = \S+ or \1 = \w+")  # both values of one control
TABLE: dict[str, Any] = tomllib.loads((STATIC / "goals.toml").read_text("utf-8"))
SHAPES: Mapping[str, str] = TABLE["shapes"]
GROUPS = {
    type(group).__name__: type(group) for group in (*PlacesQuestion().groups, *CollectedQuestion().groups, Wishes())
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Control:
    """One thing that people set on a page."""

    name: str  # in the address
    label: str
    hint: str = ""  # text below it
    unless: Mapping[str, str] = field(default_factory=dict)  # another control's value with which it does not start so
    group: type[Settings] | None = None  # group of its option; None if it is not an option
    field: str = ""  # of the group
    start: str = ""  # value before anybody touches it; "" where it is left open
    in_file: bool = False  # whether a file answers it, so that it is left open where one is dropped
    choices: Mapping[str, str]  # values to choose from, and what people read instead; none: text
    several: bool = False  # whether several of them can be chosen, with commas between them
    needed: str = ""  # message where it is missing; "" where it may be left out

    @property
    def spec(self) -> Option | None:
        """The option; None if it is not an option."""
        options = () if self.group is None else options_of(self.group)
        return next((spec for item, spec in options if item.name == self.field), None)

    def value(self, text: str) -> object:
        """Return the value of the option; raises InputError if it is none of those to choose from."""
        words = [word.strip() for word in text.split(",")] if self.several else [text]
        allowed = [*filter(None, self.choices)]
        for word in words:
            # An address can name anything, and a name such as mine.py:soft would be loaded.
            if self.choices and word not in allowed:
                raise InputError(f"{self.label}: must be one of {listed(allowed, most=20)}, got {shown(word)}")
        if text.startswith("-") and not text[1:2].isdigit():  # would be taken for an option
            raise InputError(f"{self.label}: must not begin with a hyphen, got {shown(text)}")
        is_flag = self.spec is not None and self.spec.read is None
        return text == YES if is_flag else words if self.several else text


@dataclass(frozen=True, kw_only=True, eq=False)
class PageGoal:
    """A page: what people come with, and what it asks."""

    key: str  # in the address
    title: str
    lead: str  # what the page does, in a sentence
    data: str  # what the control of the data is called
    main: tuple[Control, ...]  # controls besides the data
    more: tuple[Control, ...]  # folded
    shapes: bool = False  # whether a shape will do instead of a file
    example: str = ""  # name of a file to look at, where a shape will not do
    example_set: str = ""  # what is set with it, as in an address
    # Repetitions of the small simulation that is its first sight; none where that is a prediction
    few: Mapping[str, int] = field(default_factory=dict)

    @property
    def controls(self) -> tuple[Control, ...]:
        """All controls but that of the data."""
        return (*self.main, *self.more)

    def sets(self, settings: Mapping[str, str]) -> bool:
        """Return whether the page can be set so; what was collected stays as it was."""
        return (
            bool(settings) and self.key != ESTIMATE and settings.keys() <= {control.name for control in self.controls}
        )

    def starts(self, *, has_file: bool) -> dict[str, str]:
        """Return the values of the controls before anybody touches them, by name."""
        return {control.name: "" if has_file and control.in_file else control.start for control in self.controls}

    def groups(self, names: Container[str], values: Mapping[str, str]) -> tuple[Any, ...]:
        """Return the groups that some controls make, which check their values; what is left open has its default.

        Raises InputError for the first that is wrong.
        """
        fields: dict[type[Settings], dict[str, object]] = {}
        for control in self.controls:
            if control.name in names and (text := values.get(control.name, "").strip()):
                value = control.value(text)
                if control.group is not None:
                    fields.setdefault(control.group, {})[control.field] = value
        return tuple(group(**keywords) for group, keywords in fields.items())

    def wrong(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return what is wrong with each control, by its name: all at once, as people fill in a form."""
        messages = {}
        for control in self.controls:
            if not values.get(control.name, "").strip():
                if control.needed:
                    messages[control.name] = control.needed
                continue
            try:
                self.groups([control.name], values)
            except InputError as error:
                messages[control.name] = str(error)
        return messages


@cache
def goals() -> dict[str, PageGoal]:
    """Return the pages by their keys, with the members that there are."""
    members = {
        "protocols": {key: f"{key}: {protocol.title}" for key, protocol in PROTOCOLS.items()},
        "methods": {key: f"{key}: {method.title}" for key, method in POSTPROCESSORS.items()},
        "metrics": {key: f"{metric.title} ({key})" for key, metric in METRICS.items() if key != "sets"},
    }

    def control(name: str, entry: Mapping[str, Any]) -> Control:
        words = dict(entry)
        group, _, field = words.pop("option", "").partition(".")
        choices = words.pop("choices", {})
        choices = choices if isinstance(choices, dict) else members[choices]
        if "open" in words:
            choices = {"": words.pop("open"), **choices}
        return Control(name=name, group=GROUPS.get(group), field=field, choices=choices, **words)

    def goal(entry: Mapping[str, Any]) -> PageGoal:
        words = dict(entry)
        controls = TABLE["controls"] | words.pop("controls")
        main, more = (tuple(control(name, controls[name]) for name in words.pop(part)) for part in ("main", "more"))
        return PageGoal(main=main, more=more, **words)

    return {row["key"]: goal(row) for row in TABLE["goals"]}


def worded(text: str, goal: PageGoal) -> str:
    """Return a sentence in which options of the command line are called as the page calls them.

    >>> from advisor.extensions.app.goals import goals
    >>> worded("a larger --eps, or --max-bits 8, needs --other", goals()["compare"])
    'a larger “ε of one report”, or “Largest report, in bits” = 8, needs --other on the command line'
    """
    for command, action in HERE.items():
        text = text.replace(command, action)
    sentence, command, rest = text.partition(COMMAND)
    return EITHER.sub(r"\1", FLAG.sub(lambda match: _named(match, goal), sentence)) + command + rest


def worded_document(document: Document, goal: PageGoal) -> Document:
    """Return a document in the words of a page; what is to be copied stays as it is."""
    verdict = document.verdict
    if verdict is not None:
        changes = tuple(replace(change, text=worded(change.text, goal), option="") for change in verdict.changes)
        text, numbers = worded(verdict.text, goal), worded(verdict.numbers, goal)
        verdict = replace(verdict, text=text, numbers=numbers, changes=changes)
    return replace(document, verdict=verdict, parts=tuple(_part(part, goal) for part in document.parts))


def worded_section(section: Section, goal: PageGoal) -> Section:
    """Return a section in the words of a page."""
    return replace(section, parts=tuple(_part(part, goal) for part in section.parts))


def blamed(error: InputError, goal: PageGoal) -> str:
    """Return the name of the control to blame for a refusal; "" for none.

    It is that of the field that the refusal carries, or else of the option that its message names first.
    """
    message = str(error)
    first = message.partition(":")[0].split()[:1]  # of "k: got 2", say
    flags = [match[1] for match in FLAG.finditer(message.partition(COMMAND)[0])]
    for flag in (*error.fields, *(f"--{word}" for word in first), *flags):
        _, control = _settings(goal).get(flag, ("", None))
        if control is not None:
            return control.name
    return ""


def _part(part: Part, goal: PageGoal) -> Part:
    if isinstance(part, Sentence):
        return replace(part, text=worded(part.text, goal), option="")
    if isinstance(part, Table):
        columns = tuple(
            replace(column, meaning=worded(column.meaning, goal), shared=worded(column.shared, goal))
            for column in part.columns
        )
        return replace(part, title=worded(part.title, goal), columns=columns)
    return part


@cache
def _settings(goal: PageGoal) -> Mapping[str, tuple[str, Control | None]]:
    """Return what a page calls each option, by its flags, with its control; None for the data, and what has none."""
    settings: dict[str, tuple[str, Control | None]] = {
        "--instant": ("the look-up", None)
    }  # the page has a button for the opposite
    if goal.shapes:
        settings |= dict.fromkeys(OF_THE_DATA, (f"“{goal.data}”", None))
    for control in goal.controls:
        label = f"“{control.label}”"
        for flag in () if control.spec is None else control.spec.flags:
            yes, _, no = flag.partition("/")
            settings[yes] = (label, control)
            if no:
                settings[yes] = (f"{label} = {control.choices[YES].partition(',')[0]}", control)
                settings[no] = (f"{label} = {control.choices['no']}", control)
    return settings


def _named(match: re.Match[str], goal: PageGoal) -> str:
    """Return how the page calls an option, with the value behind it where the text gives one."""
    flag, value = match[1], match[2] or ""
    behind = f" {value}" if value else ""
    if flag not in _settings(goal):
        ends = match.string[match.end() : match.end() + 1] in ("", *");,.")  # then the word is no part of the sentence
        return ELSEWHERE.format(flag + behind) if value.isupper() or ends else ELSEWHERE.format(flag) + behind
    name, control = _settings(goal)[flag]
    takes_value = control is not None and control.spec is not None and control.spec.read is not None
    if control is not None and takes_value and (value in control.choices or value[:1].isdigit()):
        return f"{name} = {control.choices.get(value, value)}"
    return name + behind
