"""Categories that nobody in the sample reported."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from advisor.inputs.labels import value_of

_LARGEST = 10**15


@dataclass(frozen=True)
class Padding:
    """Categories to add."""

    named: list[str]  # new integers, which have their place between or above those seen
    unnamed: list[str]  # "(unseen 1)", …: categories without a name, which go last
    note: str  # what was done, for people


def pad(labels: Sequence[str], k: int, *, numeric: bool) -> Padding:
    """Find the categories that bring labels to k: the integers they leave out, else categories without a name.

    >>> pad(["3", "5"], 4, numeric=True).named, pad(["a", "b"], 3, numeric=False).unnamed
    (['4', '6'], ['(unseen 1)'])
    """
    lacking = k - len(labels)
    ends = _integer_ends(labels) if numeric else None
    if ends is None:
        return Padding([], _unseen(lacking, labels), _without_name(lacking))
    low, high = ends
    span = high - low + 1
    if k < span:
        why = f"; the labels leave out more than that many integers between {low} and {high}"
        return Padding([], _unseen(lacking, labels), _without_name(lacking) + why)
    present = {value_of(label) for label in labels}
    named = [str(value) for value in range(low, low + k) if Decimal(value) not in present]
    inside = f"{span - len(labels)} unobserved integers between {low} and {high}"
    above = f"the integers {high + 1} to {low + k - 1} above the largest label seen"
    added = " and ".join(text for text, wanted in ((inside, span > len(labels)), (above, k > span)) if wanted)
    return Padding(named, [], f"{k} categories between {low} and {low + k - 1}: {added} were added")


def gaps_note(labels: Sequence[str]) -> tuple[str, ...]:
    """Say so if integers between the smallest and the largest label are not among the categories."""
    ends = _integer_ends(labels)
    if ends is None or ends[1] - ends[0] + 1 == len(labels):
        return ()
    span = ends[1] - ends[0] + 1
    return (
        f"only the {len(labels)} integers seen between {ends[0]} and {ends[1]} are categories "
        f"(--k {span} adds the {span - len(labels)} between them)",
    )


def _integer_ends(labels: Sequence[str]) -> tuple[int, int] | None:
    """Return the smallest and the largest label if all (numeric) labels are integers that one would count along."""
    values = [value_of(label) for label in labels]
    if not values or any(abs(value) > _LARGEST or value != value.to_integral_value() for value in values):
        return None
    return int(min(values)), int(max(values))


def _without_name(lacking: int) -> str:
    return f"{lacking} unobserved categories without a name added at the end (--domain FILE says which they are)"


def _unseen(number: int, taken: Collection[str]) -> list[str]:
    used = set(taken)
    names: list[str] = []
    place = 0
    while len(names) < number:
        place += 1
        if (name := f"(unseen {place})") not in used:
            names.append(name)
    return names
