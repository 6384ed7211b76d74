"""Rows of a histogram that are no categories: the total of the others, and subtotals."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from advisor.errors import InputError
from advisor.inputs.columns import names_total, total_row
from advisor.inputs.labels import shortened

FEW_USERS = 100  # up to which one count is often the sum of the others by chance
# Steps between round counts up to which that is so, for three rows and for more: 500, 300, 200 has 5.
FEW_STEPS = {3: 100}
FEW_STEPS_OF_MORE = 20
BREAKDOWNS = range(2, 6)  # how often the other rows may add up to the total, if there are several levels
CHANCE = 0.01  # of a subtotal by chance


class CountedRow(NamedTuple):
    """A row of a histogram, with its line."""

    label: str
    users: int
    place: int


def total_of(rows: Sequence[CountedRow], unit: str, *, unknown: bool = False) -> tuple[int | None, list[str]]:
    """Return the place of a row that is the total of the others, and warnings about it and about subtotals.

    unit: what places count, "line" or "row".
    unknown: whether counts of other rows are missing, which the total contains.

    Raises InputError (without the name of the file) where a row may be the total, or where there are subtotals.
    """
    named = [at for at, row in enumerate(rows) if names_total(row.label)]
    total, ends = sum(row.users for row in rows), (0, len(rows) - 1)
    for at in named:
        row, rest = rows[at], total - rows[at].users
        if at not in ends or len(named) > 1:
            if _runs(rows)[at][0]:
                raise InputError(f"{_where(row, unit)} stands like a subtotal among the rows; {_leaving(row)}")
            continue
        # Published counts are rounded.
        rounding = min(len(rows), row.users // FEW_STEPS_OF_MORE) if len(rows) > 2 else 0
        if abs(rest - row.users) <= rounding:
            nearly = "" if rest == row.users else "nearly "
            found = f"{_where(row, unit)} is {nearly}the sum of all other rows, {rest:,}"
            return at, [f"{found}, and was left out as their total"]
        if unknown and row.users >= rest:
            found = f"{_where(row, unit)}, {row.users:,}, is more than the sum of all known rows, {rest:,}"
            return at, [f"{found}, and was left out as their total"]
        for times in BREAKDOWNS if len(rows) > 2 else ():
            if abs(rest - times * row.users) <= times * rounding:
                raise InputError(
                    f"the rows add up to {times} times {_where(row, unit)}, so there are subtotals, or several "
                    "breakdowns; keep one row a category: --missing NAME leaves a row out, and may be repeated"
                )
        if row.users >= max((FEW_USERS, *(other.users for other in rows if other is not row))):
            what = f"was counted as a category, {row.users:,}, though the other rows add up to {rest:,}"
            return None, [f"{_where(row, unit)} {what}: if it is their total, {_leaving(row)}"]
    end = total_row([row.users for row in rows])
    if end is None or named:
        return None, _subtotals(rows, unit)
    row = rows[end]
    found = f"{_where(row, unit)} is the sum of all other rows, {row.users:,}"
    steps = row.users // math.gcd(*(row.users for row in rows))
    if steps >= FEW_STEPS.get(len(rows), FEW_STEPS_OF_MORE) and row.users >= FEW_USERS:
        move = "if it is a category, move it between the others"
        raise InputError(f"{found}; if it is their total, {_leaving(row)}; {move}")
    doubtful = row.users >= FEW_USERS or steps >= FEW_STEPS_OF_MORE
    return None, [f"{found}: if it is their total and no category, {_leaving(row)}"] if doubtful else []


def _runs(rows: Sequence[CountedRow]) -> list[tuple[int, str]]:
    """Return how many rows just before or behind each row add up to it, and which; 0 if none do."""
    sums = list(accumulate((row.users for row in rows), initial=0))
    place_of = {value: at for at, value in enumerate(sums)}
    before = (at - place_of.get(sums[at] - row.users, at) for at, row in enumerate(rows))
    behind = (place_of.get(sums[at + 1] + row.users, at + 1) - at - 1 for at, row in enumerate(rows))
    return [max((one, "before"), (other, "behind")) for one, other in zip(before, behind, strict=True)]


def _where(row: CountedRow, unit: str) -> str:
    return f"{shortened(row.label)} ({unit} {row.place})"


def _leaving(row: CountedRow) -> str:
    return f"leave it out with --missing {shlex.quote(row.label)}"


def _subtotals(rows: Sequence[CountedRow], unit: str) -> list[str]:
    """Return a warning for the first row that is the sum of at least two rows before or behind it."""
    steps = sum(row.users for row in rows) // (math.gcd(*(row.users for row in rows)) or 1)
    for row, (run, where) in zip(rows, _runs(rows), strict=True) if len(rows) ** 2 <= CHANCE * steps else ():
        if row.users >= FEW_USERS and run > 1:
            found = f"{_where(row, unit)} is the sum of the {run} rows {where} it"
            return [f"{found}: if it is a subtotal and no category, {_leaving(row)}"]
    return []
