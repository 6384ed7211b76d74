"""What constraints took off the menu, and how that is said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from advisor.errors import listed


class Removal(NamedTuple):
    """What one constraint took off the menu.

    Attributes
    ----------
    constraint, bound
        Its name on the command line, without hyphens in front, and its bound (None where it has none).
    protocols, methods
        What it removed; another constraint may have removed the same.
    least
        The least bound that would have kept a protocol, if that was not kept anyway.
    """

    constraint: str
    bound: float | None
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    least: float | None = None


def removal_sentences(removals: Iterable[Removal]) -> list[str]:
    """Return what each constraint removed.

    >>> removal_sentences([Removal("max-bits", 9, ("oue", "rappor"), ())])
    ['Constraint --max-bits 9 removed the protocols oue, rappor.']
    """
    return [f"Constraint {_named(removal)} removed {_what(removal)}." for removal in removals]


def nothing_left_sentence(removals: Iterable[Removal]) -> str:
    """Return that nothing is left, which constraints did that, and what each would have to be to keep a protocol."""
    effective = [removal for removal in removals if removal.protocols or removal.methods]
    told = "; ".join(f"{_named(removal)} removed {_what(removal)}{_enough(removal)}" for removal in effective)
    return f"Nothing is left to rank: {told}."


def _named(removal: Removal) -> str:
    return f"--{removal.constraint}" + ("" if removal.bound is None else f" {removal.bound:,.10g}".replace(",", ""))


def _enough(removal: Removal) -> str:
    return "" if removal.least is None else f" (--{removal.constraint} {removal.least:.10g} keeps one)"


def _what(removal: Removal) -> str:
    kinds = (("protocols", removal.protocols), ("methods", removal.methods))
    parts = [f"the {kind} {listed(names, most=30)}" for kind, names in kinds if names]
    return " and ".join(parts) or "nothing"
