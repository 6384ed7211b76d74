"""How labels fit an order: the place of each that has one."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeAlias

Key: TypeAlias = tuple[float, ...]

WORDS: dict[str, Any] = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
NO_ANSWERS = frozenset(WORDS["no_answers"])
STRANGERS = 20  # labels without a place, at most, besides those that are no answer
SHARE = 10  # and one in so many labels


def alternatives(table: Mapping[str, float]) -> dict[str, float]:
    """Return the number of each word of a table whose keys are words with "|" between them."""
    return {word: number for words, number in table.items() for word in words.split("|")}


@dataclass(frozen=True)
class Fit:
    """An order, and the place of the labels that have one in it."""

    name: str  # what the labels are, in the plural: "months"
    keys: dict[str, Key]  # by which they are sorted; equal where two labels stand for the same
    outside: tuple[str, ...]  # labels without a place
    cyclic: bool = False  # whether the last is followed by the first again
    numeric: bool = False  # whether they are ranges of numbers, or numbers with units, which have an order unasked
    doubts: tuple[str, ...] = ()  # what else the labels could mean, or what is odd about them

    @property
    def labels(self) -> list[str]:
        """The labels that have a place, sorted."""
        return sorted(self.keys, key=lambda label: (self.keys[label], label))


def fit(
    name: str,
    labels: Sequence[str],
    key: Callable[[str], Key | None],
    *,
    cyclic: bool = False,
) -> Fit | None:
    """Return how labels fit an order, whose `key` is None for a label without a place; None if too many have none.

    Labels that are no answer ("unknown") may be there; of others without a place one in ten.
    """
    keys: dict[str, Key] = {}
    outside: list[str] = []
    strangers = 0
    most = max(1, min(len(labels) // SHARE, STRANGERS))
    for label in labels:
        place = key(label)
        if place is not None:
            keys[label] = place
            continue
        outside.append(label)
        strangers += label.casefold().strip().rstrip(".").replace("’", "'") not in NO_ANSWERS
        if strangers > most:
            return None
    least = 3 if strangers else 2
    if len(set(keys.values())) < least or len(keys) < len(outside):
        return None
    return Fit(name, keys, tuple(outside), cyclic)
