"""Sentences for a page: where they name an option of the command line, the control of the page that sets it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from advisor.extensions.app.controls import YES, Control
from advisor.extensions.app.goals import PageGoal
from advisor.show.model import Column, Document, Part, Section, Sentence, Table

ELSEWHERE = "{} on the command line"  # what the page has no control for
PREDICTED = "the look-up"  # what --instant asks for; the page has a button for the opposite
OF_THE_DATA = ("--shape", "--skew")  # which the control of the data sets
HERE = {"ldp-advise choose FILE": "drop them here"}  # commands that the page itself does
COMMAND = "ldp-advise "  # what follows it is a command line, fit to be typed
FLAG = re.compile(r"(--[a-z][a-z-]*)(?: ([\w.](?:[\w.,]*\w)?))?")  # an option, and the word behind it
EITHER = re.compile(r"(“[^”]+”) = \S+ or \1 = \w+")  # both values of one control


@dataclass(frozen=True)
class _Setting:
    """What sets an option on a page: a control, and what it is set to where the option has no value."""

    name: str
    control: Control | None = None  # None for the data, and for what is no control
    value: str = ""  # what it is set to by the option alone

    @classmethod
    def of(cls, label: str, control: Control | None = None, value: str = "") -> _Setting:
        """Return a control of the page, by its label."""
        return cls(f"“{label}” = {value}" if value else f"“{label}”", control, value)


def worded(text: str, goal: PageGoal) -> str:
    """Return a sentence in which options of the command line are called as the page calls them.

    >>> from advisor.extensions.app.goals import goals
    >>> worded("a larger --eps, or --max-bits 8, needs --other", goals()["compare"])
    'a larger “ε of one report”, or “Largest report, in bits” = 8, needs --other on the command line'
    """
    for command, action in HERE.items():
        text = text.replace(command, action)
    sentence, command, rest = text.partition(COMMAND)
    settings = _settings(goal)
    return EITHER.sub(r"\1", FLAG.sub(lambda match: _named(match, settings), sentence)) + command + rest


def worded_parts(parts: tuple[Part, ...], goal: PageGoal) -> tuple[Part, ...]:
    """Return parts of a document in the words of a page; what is to be copied stays as it is."""
    return tuple(_part(part, goal) for part in parts)


def worded_document(document: Document, goal: PageGoal) -> Document:
    """Return a document in the words of a page."""
    verdict = document.verdict
    return replace(
        document,
        verdict=None if verdict is None else replace(verdict, text=worded(verdict.text, goal)),
        parts=worded_parts(document.parts, goal),
    )


def worded_section(section: Section, goal: PageGoal) -> Section:
    """Return a section in the words of a page."""
    return replace(section, parts=worded_parts(section.parts, goal))


def blamed(text: str, goal: PageGoal) -> str:
    """Return the name of the control that a message names first; "" for none."""
    settings = _settings(goal)
    bare = text.partition(":")[0].split()[:1]
    for flag in [f"--{word}" for word in bare] + [match[1] for match in FLAG.finditer(text.partition(COMMAND)[0])]:
        if flag in settings and (control := settings[flag].control) is not None:
            return control.name
    return ""


def _part(part: Part, goal: PageGoal) -> Part:
    if isinstance(part, Sentence):
        return replace(part, text=worded(part.text, goal))
    if isinstance(part, Table):
        return replace(part, title=worded(part.title, goal), columns=tuple(_column(one, goal) for one in part.columns))
    return part


def _column(column: Column, goal: PageGoal) -> Column:
    return replace(column, meaning=worded(column.meaning, goal), shared=worded(column.shared, goal))


def _settings(goal: PageGoal) -> Mapping[str, _Setting]:
    """Return what sets each option on a page, by its flags."""
    found = {flag: _Setting.of(goal.data) for flag in OF_THE_DATA} if goal.shapes else {}
    found["--instant"] = _Setting(PREDICTED)
    for control in goal.controls:
        for flag in control.flags:
            yes, _, no = flag.partition("/")
            words = dict(control.choices)
            found[yes] = _Setting.of(control.label, control, words[YES].partition(",")[0] if no else "")
            if no:
                found[no] = _Setting.of(control.label, control, words["no"])
    return found


def _named(match: re.Match[str], settings: Mapping[str, _Setting]) -> str:
    """Return how the page calls an option, with the value behind it where the text gives one."""
    flag, value = match[1], match[2] or ""
    behind = f" {value}" if value else ""
    setting = settings.get(flag)
    if setting is None:
        return ELSEWHERE.format(flag + behind) if value.isupper() else ELSEWHERE.format(flag) + behind
    choices = {} if setting.control is None else dict(setting.control.choices)
    if setting.control is not None and not setting.value and (value in choices or value[:1].isdigit()):
        return f"{setting.name} = {choices.get(value, value)}"
    return setting.name + behind
