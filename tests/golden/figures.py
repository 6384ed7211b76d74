"""What is kept of an answer: its figures and short names by place, not its words; and when two are the same."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Figure: TypeAlias = float | str | bool | None
Figures: TypeAlias = dict[str, Figure]

# Iterations that stop at a tolerance end elsewhere where the processor rounds in another way: errors differed by 0.3 %
# between two machines, and numbers of users that are sought from 8,191 to 8,190.
ROUNDING = 0.005
EXACT = 1000  # whole numbers below it are compared as they are: ranks, bits, sizes, repetitions
NOTHING = 1e-9  # below it a figure is a 0 with rounding errors

FIRST = 6  # rows of a list that are kept, with the length of all: a look-up ranks hundreds

VERSIONED = frozenset({"tool_version", "versions", "experiment_id", "finished", "seconds"})
NAMES = ("protocol", "method", "metric", "key", "name", "kind", "eps", "n", "k")  # what a row is called by
SHORT = re.compile(r"[A-Za-z0-9_+*.:×-]{1,40}")
NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
FLAG = re.compile(r"--[a-z][a-z-]+")
# The kinds of refusal, by what only that kind says.
KINDS = (
    ("missing", r"\b(is|are) missing\b|[Mm]issing (argument|option)|needs? a value"),
    (
        "file",
        r"no such file|there is no (directory|file)|cannot (read|write|open)|is empty|is not UTF-8|damaged|suffix",
    ),
    ("exists", r"exists"),
    (
        "unknown",
        r"[Nn]o such (option|command)|there is no|did you mean|is an option of|unknown|must be one of|allowed are",
    ),
    (
        "conflict",
        r"not both|goes? with|do(es)? not go|give either|leave (it|--\S+|\w+) out|leave out|for each|differ|, but ",
    ),
    ("range", r"must be|at (least|most)|above|below|between|larger|smaller"),
)


def figures_of_data(data: object, place: str = "") -> Iterator[tuple[str, Figure]]:
    """Yield the figures, flags and short names of JSON-like data with their places; rows are called by their names."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key not in VERSIONED:
                yield from figures_of_data(value, f"{place}.{key}" if place else str(key))
    elif isinstance(data, Sequence) and not isinstance(data, str):
        yield f"{place}.length", len(data)
        called: set[str] = set()
        for index, value in enumerate(data[:FIRST]):
            name = row_name(value)
            here = name if name and name not in called else str(index)
            called.add(here)
            yield from figures_of_data(value, f"{place}[{here}]")
    elif isinstance(data, bool) or data is None:
        yield place, data
    elif isinstance(data, int | float):
        yield place, rounded(data)
    elif isinstance(data, str) and SHORT.fullmatch(data):
        yield place, data


def row_name(row: object) -> str:
    if not isinstance(row, Mapping):
        return ""
    return ",".join(str(row[name]) for name in NAMES if isinstance(row.get(name), str | int | float))


def rounded(figure: float) -> float | str:
    """Return a number with six significant digits; JSON has no infinity."""
    return float(f"{figure:.6g}") if math.isfinite(figure) else str(figure)


def figures_of_text(text: str) -> Figures:
    """Return the numbers of a text in their order."""
    found = (one.replace(",", "").replace("−", "-") for one in NUMBER.findall(text))
    return {str(place): rounded(float(number)) for place, number in enumerate(found)}


def figures_of_table(text: str) -> Figures:
    """Return the figures and short names of a CSV."""
    cells = (cell for row in list(csv.reader(io.StringIO(text)))[: FIRST + 1] for cell in row)
    return {
        str(place): cell if NUMBER.fullmatch(cell) is None else rounded(float(cell.replace(",", "")))
        for place, cell in enumerate(cells)
        if SHORT.fullmatch(cell)
    }


def figures_of(text: str, form: str) -> Figures:
    """Return what is kept of an answer in a format; of help, the options that it names."""
    if form == "json":
        return dict(figures_of_data(json.loads(text)))
    if form == "csv":
        return figures_of_table(text)
    if form == "help":
        return dict.fromkeys(FLAG.findall(text), True)
    return {"value": text.strip()} if form == "value" else figures_of_text(text)


def refusal_of(message: str) -> Figures:
    """Return which kind of refusal a message is, and the first option that it names."""
    kind = next((kind for kind, words in KINDS if re.search(words, message)), "data")
    flags = FLAG.findall(message)
    named = re.match(r"(?:ldp-advise: error: )?([a-z][a-z-]*) must be", message)
    return {"kind": kind, "field": named[1] if named else flags[0].lstrip("-") if flags else None}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Return what differs between two outcomes, by place, in words."""
    wrong = {}
    for place in sorted(before.keys() | after.keys()):
        old, new = before.get(place, "nothing"), after.get(place, "nothing")
        if not same(old, new):
            wrong[place] = f"{old} -> {new}"
    return wrong


def same(old: Figure, new: Figure) -> bool:
    """Return whether two figures are the same up to what processors differ in."""
    numbers = [isinstance(one, int | float) and not isinstance(one, bool) for one in (old, new)]
    if not all(numbers):
        return type(old) is type(new) and old == new
    assert isinstance(old, int | float)
    assert isinstance(new, int | float)
    whole = float(old).is_integer() and float(new).is_integer()
    if whole and max(abs(old), abs(new)) < EXACT:
        return old == new
    return abs(old - new) <= max(ROUNDING * max(abs(old), abs(new)), NOTHING)
