"""Decisions without a file, which are made once for all tests and formats that look at them."""

from __future__ import annotations

from advisor.extensions.choose.answer import Choice, Wishes, choose
from advisor.question.frequencies import Frequencies

MADE: dict[Wishes, Choice] = {}


def chosen(wishes: Wishes, frequencies: Frequencies | None = None, *words: object, **options: object) -> Choice:
    """Return what `choose` does; it is frozen."""
    if frequencies is not None:
        return choose(wishes, frequencies, *words, **options)  # type: ignore[arg-type]
    if wishes not in MADE:
        MADE[wishes] = choose(wishes)
    return MADE[wishes]
