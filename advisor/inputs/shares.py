"""Histograms in shares of users, as fractions or percentages, instead of numbers of users."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from advisor.errors import InputError, listed
from advisor.inputs.blocks import Block, RowBlock, Rows
from advisor.inputs.columns import InputTable, total_row
from advisor.inputs.labels import shortened
from advisor.inputs.numbers import DecimalSign, plain_number
from simulator.populations import apportion


def share_column(table: InputTable, label: int | None = None) -> int | None:
    """Return the only column of shares that sum to 1 or 100, beside the labels; None if there is none."""
    found = [at for at in table.values if at != label and shares_sum(table, at) is not None]
    return found[0] if len(found) == 1 else None


def shares_sum(table: InputTable, index: int) -> int | None:
    """Return 1 or 100 if a column holds shares with this sum; None for other columns, as those of whole numbers."""
    cells = list(filter(None, table.cells(index)))
    named = table.names is not None and "%" in table.names[index]
    percent = named or (bool(cells) and all(cell.endswith("%") for cell in cells))
    values, rounding = _numbers(table, cells)
    if len(values) < 2 or min(values) < 0 or (all(value.is_integer() for value in values) and not percent):
        return None
    total = math.fsum(values)
    sums = [total] if total_row(values, rounding) is None else [total, total / 2]  # half of all is no total
    return next((whole for one in sums for whole in (1, 100) if abs(one - whole) <= rounding), None)


def _numbers(table: InputTable, cells: Sequence[str]) -> tuple[list[float], float]:
    """Return the numbers in cells, and the largest effect on their sum of rounding to the last digit that is written.

    There are none if a cell is no number.
    """
    bare = [cell.removesuffix("%").strip() for cell in cells]
    sign = DecimalSign(table.comma).learn(bare)
    values = [sign.number(cell) for cell in bare]
    if not values or any(isinstance(value, str) for value in values):
        return [], 0.0
    digits = [Decimal(plain_number(cell, comma=bool(sign.comma))).as_tuple().exponent for cell in bare]
    return list(map(float, values)), 0.5 * 10.0 ** min(map(int, digits)) * len(cells) + 1e-9


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
    values, rounding = _numbers(table, [cells[at] for at in kept])
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
