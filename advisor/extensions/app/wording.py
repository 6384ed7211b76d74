"""Sentences for a page: where they name an option of the command line, the control of the page that sets it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from advisor.errors import InputError
from advisor.extensions.app.goals import YES, Control, PageGoal
from advisor.show.model import Document, Part, Section, Sentence, Table

ELSEWHERE = "{} on the command line"  # what the page has no control for
PREDICTED = "the look-up"  # what --instant asks for; the page has a button for the opposite
OF_THE_DATA = ("--shape", "--skew")  # which the control of the data sets
HERE = {"ldp-advise choose FILE": "drop them here"}  # commands that the page itself does
COMMAND = "ldp-advise "  # what follows it is a command line, fit to be typed
FLAG = re.compile(r"(--[a-z][a-z-]*)(?: ([\w.](?:[\w.,]*\w)?))?")  # an option, and the word behind it
EITHER = re.compile(r"(“[^”]+”) = \S+ or \1 = \w+")  # both values of one control


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
    settings: dict[str, tuple[str, Control | None]] = {"--instant": (PREDICTED, None)}
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
