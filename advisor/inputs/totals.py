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
CHANCE = 0.05  # of a subtotal by chance


class CountedRow(NamedTuple):
    """A row of a histogram, with its line."""

    label: str
    users: int
    place: int


def total_of(rows: Sequence[CountedRow], unit: str) -> tuple[int | None, list[str]]:
    """Return the place of a row that is the total of the others, and warnings about it and about subtotals.

    unit: what places count, "line" or "row".

    Raises InputError (without the name of the file) where a row may be the total, or where the others add up to several
    times the total.
    """
    if len(rows) < 3:
        return None, []
    named = [at for at, row in enumerate(rows) if names_total(row.label)]
    total, last = sum(row.users for row in rows), len(rows) - 1
    if len(named) > 1 or (named and named[0] not in (0, last)):
        row = rows[next((at for at in named if at not in (0, last)), named[0])]
        raise InputError(f"{_where(row, unit)} stands like a subtotal among the rows; {_leaving(row)}")
    if not named:
        at = total_row([row.users for row in rows])
        if at is not None and rows[at].users >= FEW_USERS:
            found = f"{_where(rows[at], unit)} is the sum of all other rows, {rows[at].users:,}"
            steps = rows[at].users // math.gcd(*(row.users for row in rows))
            if steps >= FEW_STEPS.get(len(rows), FEW_STEPS_OF_MORE):
                move = "if it is a category, move it between the others"
                raise InputError(f"{found}; if it is their total, {_leaving(rows[at])}; {move}")
            return None, [f"{found}: if it is their total and no category, {_leaving(rows[at])}"]
        return None, _subtotals(rows, unit)
    row = rows[named[0]]
    rest = total - row.users
    if abs(rest - row.users) <= len(rows):  # published counts are rounded, and so is their total
        found = f"{_where(row, unit)} is {'' if rest == row.users else 'nearly '}the sum of all other rows, {rest:,}"
        return named[0], [f"{found}, and was left out as their total"]
    for times in BREAKDOWNS:
        if abs(rest - times * row.users) <= times * len(rows):
            raise InputError(
                f"the rows add up to {times} times {_where(row, unit)}, so there are subtotals, or several breakdowns; "
                "keep one row a category: --missing NAME leaves a row out, and may be repeated"
            )
    if rest > row.users and row.users >= FEW_USERS:
        raise InputError(
            f"the rows add up to {rest:,}, more than {_where(row, unit)}, {row.users:,}, so there are subtotals, or "
            "several answers a person; keep one row a category: --missing NAME leaves a row out, and may be repeated"
        )
    if row.users >= max(other.users for at, other in enumerate(rows) if at != named[0]):
        why = f"was left out by its name, though it is {row.users:,} and the other rows add up to {rest:,}"
        return named[0], [f"{_where(row, unit)} {why}"]
    return None, [f"{_where(row, unit)} was counted as a category: if it is the total of others, {_leaving(row)}"]


def _where(row: CountedRow, unit: str) -> str:
    return f"{shortened(row.label)} ({unit} {row.place})"


def _leaving(row: CountedRow) -> str:
    return f"leave it out with --missing {shlex.quote(row.label)}"


def _subtotals(rows: Sequence[CountedRow], unit: str) -> list[str]:
    """Return a warning for the first row that is the sum of at least two rows before or behind it."""
    users = [row.users for row in rows]
    if len(rows) ** 2 > CHANCE * (sum(users) // (math.gcd(*users) or 1)):
        return []
    sums = list(accumulate(users, initial=0))
    place_of = {value: at for at, value in enumerate(sums)}
    for at, row in enumerate(rows):
        before = at - place_of.get(sums[at] - row.users, at)
        behind = place_of.get(sums[at + 1] + row.users, at) - at - 1
        for run, where in ((before, "before"), (behind, "behind")):
            if row.users >= FEW_USERS and run > 1:
                found = f"{_where(row, unit)} is the sum of the {run} rows {where} it"
                return [f"{found}: if it is a subtotal and no category, {_leaving(row)}"]
    return []
