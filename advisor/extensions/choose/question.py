"""What somebody who does not know ε can say of a collection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import choice, real, whole
from advisor.question.option import Settings, like, option
from advisor.question.settings import ROUNDS_MAX, Categories, Terms

LIMITS = {"low": 4.0, "medium": 2.0, "high": 1.0}
"""Largest budget of all reports of a person together, by how sensitive the answers are.

No law fixes one. At ε = 1 the best guess between two answers is right in at most 73 % of cases, at 2 in 88 %, at 4 in
98 %; 4 is what Apple's emoji statistics spend on one event.
"""


def points(name: str, value: object) -> float:
    """Return percentage points, with or without their sign; raises InputError if they are not between 0 and 100."""
    text = value.strip().rstrip("%").strip() if isinstance(value, str) else value
    return real(above=0, below=100)(name, text)


def level(name: str, value: object) -> str:
    """Return how sensitive answers are, from its first letters on; raises InputError if it is no level."""
    text = str(value).strip().lower()
    full = next((word for word in LIMITS if text and word.startswith(text)), text)
    return choice(LIMITS)(name, full)


@dataclass(frozen=True, kw_only=True)
class Wishes(Settings):
    """What somebody who does not know ε can say of a collection."""

    panel: ClassVar[str] = "The questions"

    people: int | None = like(Terms, "n", help="how many people will answer")
    answers: int | None = like(Categories, "k", help="how many possible answers the question has")
    within: float | None = option(
        "--within", read=points, metavar="POINTS", help="how far off a share may be, in percentage points on average"
    )
    sensitive: str | None = option("--sensitive", read=level, metavar="LEVEL", help="low, medium or high")
    times: int | None = option(
        "--times", read=whole(1, ROUNDS_MAX), metavar="N", help="how often the same people are asked; 1: once"
    )
    ordered: bool | None = like(Categories, "ordered", help="the answers have an order, as age bands have")


def limit_of(sensitive: str, times: int) -> float:
    """Return the largest budget of one report, two digits."""
    return rounded(LIMITS[sensitive] / times, up=False)


def rounded(value: float, *, up: bool) -> float:
    """Return a value with two digits, rounded up or down.

    >>> rounded(2.341, up=True), rounded(0.66666, up=False), rounded(4.0, up=True)
    (2.4, 0.66, 4.0)
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    steps = round(value / step, 6)
    return float(f"{(math.ceil(steps) if up else math.floor(steps)) * step:.2g}")
