"""Number of users per item, from a text whose rows are all items of a user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from advisor.errors import InputError
from advisor.inputs.head import DETECTED, Expected, FileLayout
from advisor.inputs.histogram import RawHistogram
from advisor.inputs.labels import OTHER_LABEL
from advisor.inputs.numbers import MOST_LABELS
from advisor.inputs.source import opened
from advisor.inputs.table import TextRows

FEW_ROWS = 5  # below which items are often alone


def read_transactions(
    path: str, *, keep: str = "own", keep_top: int | None = None, layout: FileLayout = DETECTED
) -> RawHistogram:
    """Count the users per item in a text with a row per user, who keeps one of the items in it.

    The input is read twice; standard input is read again from a copy on disk. An item that no user keeps has 0 users.
    Users without a kept item are counted under `OTHER_LABEL`.

    path: the file, "-" for standard input.
    keep: ``"own"`` (the user keeps the item that is most often in the row; ties go to the item of more users, then to
        the first name in code point order) or ``"common"`` (the item of most users).
    keep_top: only that many items of most users are kept; None for all.
    layout: what the user says about the layout.

    Raises InputError if there is no item, if an item is called `OTHER_LABEL`, or for over two million items.
    """
    expected = Expected("items", replace(layout, header=bool(layout.header)), items=True)
    with opened(path) as source:
        if source.is_parquet:
            raise InputError(f"{source.name}: is Parquet; --transactions reads rows of text, give CSV")
        with source.rereadable() as again:
            rows = TextRows(again, expected)
            rows_with, users = _count_rows(rows)
            # The order of the rows decides nothing, also where as many users have two items.
            kept = sorted(rows_with, key=lambda item: (-rows_with[item], item))[:keep_top]
            counts = _assign(TextRows(again, expected), kept, own=keep == "own")
    first = [item for item in rows.table.rows[0] if item] if rows.table.names is None else []
    alone = users >= FEW_ROWS and first and all(rows_with[item] == 1 for item in first)
    doubts = ("no other row has an item of the first: if that names the columns say --header",) if alone else ()
    counts = {item: counts[item] for item in rows_with if item in counts}
    if without := users - sum(counts.values()):
        counts[OTHER_LABEL] = without
    among = f"the {len(kept)} kept" if len(kept) < len(rows_with) else "all"
    which = {"own": "most often in the row (ties: the one that more users have)", "common": "in most rows"}[keep]
    assumptions = (
        f"each row taken as the items of one user, separated by {rows.form.name}",
        f"each user keeps the item that is {which}, among {among} of {len(rows_with)} items",
    )
    numbers = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
    return RawHistogram(tuple(counts), numbers, False, assumptions, (*rows.warnings(), *doubts))


def _count_rows(rows: TextRows) -> tuple[Counter[str], int]:
    """Return the number of rows with each item, and the number of rows.

    Raises InputError if there is no item, if an item is called `OTHER_LABEL`, or for too many items.
    """
    rows_with: Counter[str] = Counter()
    users = 0
    for baskets in _baskets(rows):
        rows_with.update(chain.from_iterable(map(dict.fromkeys, baskets)))
        if len(rows_with) > MOST_LABELS:
            raise InputError(
                f"{rows.table.source}: more than {MOST_LABELS} distinct items, which look like identifiers, "
                "not categories; give items that several users share"
            )
        users += len(baskets)
    if not rows_with:
        raise InputError(f"{rows.table.source}: holds no item; give one row of items a user")
    if OTHER_LABEL in rows_with:
        raise InputError(
            f"{rows.table.source}: {OTHER_LABEL!r} is an item, but stands for users without a kept item; rename it"
        )
    return rows_with, users


def _assign(rows: TextRows, ranked: list[str], *, own: bool) -> dict[str, int]:
    """Return users per kept item, from the items in the order of their rank.

    own: whether a user counts for the item that is most often in the row, and the rank decides between equals alone.
    """
    rank = {item: place for place, item in enumerate(ranked)}
    users: Counter[int] = Counter()
    for basket in chain.from_iterable(_baskets(rows)):
        places = sorted(rank[item] for item in basket if item in rank) or [len(ranked)]
        users[Counter(places).most_common(1)[0][0] if own else places[0]] += 1  # of equals the first, of lowest rank
    return {item: users[place] for place, item in enumerate(ranked)}


def _baskets(rows: TextRows) -> Iterator[list[list[str]]]:
    """Yield the items of each row of a block."""
    for block in rows.blocks(even=False):
        # A single empty cell is a blank line; "," is a user without items.
        yield [list(filter(None, row)) for row in block.rows() if len(row) > 1 or row[0]]
