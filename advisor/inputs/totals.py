"""What the figures of rows add up to: a total or subtotals among them, or 1 or 100 % if they are shares."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from advisor.errors import InputError, listed
from advisor.inputs.blocks import Block, RowBlock, Rows
from advisor.inputs.columns import HEADERS, PERCENT, InputTable
from advisor.inputs.labels import shortened
from advisor.inputs.numbers import DecimalSign, last_digit
from simulator.populations import apportion

FEW_USERS = 100  # up to which one count is often the sum of the others by chance
# Steps between round counts up to which that is so, for three rows and for more: 500, 300, 200 has 5.
FEW_STEPS = {3: 100}
FEW_STEPS_OF_MORE = 20
BREAKDOWNS = range(2, 6)  # how often the other rows may add up to the total, if there are several levels
CHANCE = 0.01  # of a subtotal by chance


def total_row(numbers: Sequence[float], rounding: float = 0) -> int | None:
    """Return the place of the first or last of at least three numbers if it is the sum of all others.

    rounding: tolerance.

    >>> total_row([3, 5, 2, 10]), total_row([10, 3, 5, 2]), total_row([3, 10, 5, 2]), total_row([5, 5])
    (3, 0, None, None)
    """
    total = math.fsum(numbers)
    ends = (len(numbers) - 1, 0) if len(numbers) > 2 else ()
    return next((at for at in ends if numbers[at] > 0 and abs(total - 2 * numbers[at]) <= rounding), None)


def names_total(label: str) -> bool:
    """Return whether a label is a usual name of the sum of all rows."""
    words = re.findall(r"[^\W\d_]+", label.casefold())
    named = (
        "".join(words) in HEADERS["all_rows"] or words[:1] in (["total"], ["subtotal"]) or words[:2] == ["sub", "total"]
    )
    return named and not any(map(str.isdigit, label))


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
    numbered = all(one.label.isdecimal() for one in rows)  # no word among them names a total
    if not numbered and steps >= FEW_STEPS.get(len(rows), FEW_STEPS_OF_MORE) and row.users >= FEW_USERS:
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


# --- shares of users, as fractions or percentages, instead of numbers of users ----------------------------------


def share_column(table: InputTable, label: int | None = None) -> int | None:
    """Return the only column of shares that sum to 1 or 100, beside the labels; None if there is none."""
    found = [at for at in table.values if at != label and shares_sum(table, at) is not None]
    return found[0] if len(found) == 1 else None


def shares_sum(table: InputTable, index: int) -> int | None:
    """Return 1 or 100 if a column holds shares with this sum; None for other columns, as those of whole numbers."""
    cells = list(filter(None, table.cells(index)))
    named = table.names is not None and PERCENT.search(table.names[index]) is not None
    percent = named or (bool(cells) and all(cell.endswith("%") for cell in cells))
    values, rounding = _shares(table, cells)
    if len(values) < 2 or min(values) < 0 or (all(value.is_integer() for value in values) and not percent):
        return None
    total = math.fsum(values)
    sums = [total] if total_row(values, rounding) is None else [total, total / 2]  # half of all is no total
    return next((whole for one in sums for whole in (1, 100) if abs(one - whole) <= rounding), None)


def _shares(table: InputTable, cells: Sequence[str]) -> tuple[list[float], float]:
    """Return the numbers in cells, and the largest effect on their sum of rounding to the last digit that is written.

    There are none if a cell is no number.
    """
    bare = [cell.removesuffix("%").strip() for cell in cells]
    sign = DecimalSign(table.comma).learn(bare)
    values = [sign.number(cell) for cell in bare]
    if not values or any(isinstance(value, str) for value in values):
        return [], 0.0
    return list(map(float, values)), 0.5 * last_digit(bare, comma=bool(sign.comma)) * len(cells) + 1e-9


def counted_shares(rows: Rows, label: int, index: int, n: int | None) -> tuple[Block, list[str]]:
    """Return a block of labels and numbers of users from shares of n users, and warnings.

    The numbers are rounded by largest remainders: they add up to n, and each differs from its share by less than 1.

    Raises InputError without n.
    """
    table = rows.table
    column = table.called(index)
    if n is None:
        raise InputError(
            f"{table.source}: column {column} holds shares that sum to {shares_sum(table, index)}, not numbers of "
            "users: say how many users there are with --n",
            ("--n",),
        )
    all_rows = rows.in_one_block([label, index])
    labels, cells, places = all_rows.cells(label), all_rows.cells(index), all_rows.places
    kept = [at for at, cell in enumerate(cells) if cell]
    values, rounding = _shares(table, [cells[at] for at in kept])
    empty = [shortened(name) for name, cell in zip(labels, cells, strict=True) if not cell]
    warnings = [f"left out, as shares are missing: {listed(empty, most=3)}"] if empty else []
    whole = shares_sum(table, index)
    total = total_row(values, rounding)
    if total is not None and whole is not None and abs(math.fsum(values) - whole) > rounding:
        at = kept.pop(total)
        del values[total]
        warnings.append(
            f"{shortened(labels[at])} ({table.unit} {places[at]}) is the sum of all other rows, {cells[at]}, and was "
            "left out as their total"
        )
    users = apportion(np.array(values), n).tolist()
    block = RowBlock(
        [[labels[at], str(count)] for at, count in zip(kept, users, strict=True)], [places[at] for at in kept]
    )
    return block, warnings
