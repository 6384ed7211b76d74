"""Controls: each is an option of the command line, by its group and field, with words for people who know none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from advisor.checks import shown
from advisor.errors import InputError, listed
from advisor.question.option import Settings, options_of

Choices = tuple[tuple[str, str], ...]  # values, and what people read instead
YES = "yes"


@dataclass(frozen=True)
class Control:
    """One thing that people set on a page."""

    name: str  # in the address
    group: type[Settings]
    field: str  # of the group
    label: str
    hint: str = ""  # what stands below it
    _: KW_ONLY
    start: str = ""  # value before anybody touches it; "" where it is left open
    choices: Choices = ()  # values to choose from; none: text
    several: bool = False  # whether several of them can be chosen, with commas between them
    needed: str = ""  # what is said where it is left open and must not be; "" where it may be

    def value(self, text: str) -> object:
        """Return the value of the option; raises InputError if it is none of those to choose from."""
        chosen = [one.strip() for one in text.split(",")] if self.several else [text]
        allowed = [value for value, _ in self.choices if value]
        for one in chosen:
            # An address can name anything, and a name such as mine.py:soft would be loaded.
            if self.choices and one not in allowed:
                raise InputError(f"{self.label}: must be one of {listed(allowed, most=20)}, got {shown(one)}")
        if text.startswith("-") and not text[1:2].isdigit():  # would be taken for an option
            raise InputError(f"{self.label}: must not begin with a hyphen, got {shown(text)}")
        return text == YES if self._is_flag else chosen if self.several else text

    @property
    def _is_flag(self) -> bool:
        return next(spec.read is None for item, spec in options_of(self.group) if item.name == self.field)

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the option."""
        return next(spec.flags for item, spec in options_of(self.group) if item.name == self.field)


def settings_of(controls: Iterable[Control], values: Mapping[str, str]) -> tuple[Settings, ...]:
    """Return the groups that controls make, which check their values; what is left open has its default.

    Raises InputError for the first that is wrong.
    """
    fields: dict[type[Settings], dict[str, object]] = {}
    for control in controls:
        if text := values.get(control.name, "").strip():
            fields.setdefault(control.group, {})[control.field] = control.value(text)
    return tuple(group(**made) for group, made in fields.items())


def wrong_controls(controls: Sequence[Control], values: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with each control, by its name: all at once, as people fill in a form."""
    messages = {}
    for control in controls:
        if not values.get(control.name, "").strip():
            if control.needed:
                messages[control.name] = control.needed
            continue
        try:
            settings_of([control], values)
        except InputError as error:
            if not _right([one for one in controls if one.group is control.group], values):
                messages[control.name] = str(error)
    return messages


def _right(controls: Iterable[Control], values: Mapping[str, str]) -> bool:
    """Tell whether a whole group is right: what one control says may need what another one says."""
    try:
        settings_of(controls, values)
    except InputError:
        return False
    return True
