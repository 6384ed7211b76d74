"""Rows that hold several items: each user keeps the one that is most frequent over all users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

import numpy as np

from advisor.errors import InputError
from advisor.inputs.head import Expected
from advisor.inputs.labels import OTHER_LABEL
from advisor.inputs.numbers import MOST_LABELS
from advisor.inputs.source import Source, opened
from advisor.inputs.table import TextRows
from advisor.inputs.tally import RawHistogram

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "whitespace"}


def tally_items(path: str, keep_top: int | None, header: bool | None, stdin: BinaryIO | None) -> RawHistogram:
    """Give every row its most frequent item; reads the input twice, standard input from a copy on disk.

    An item that is never the most frequent one of a row has 0 users; users without a kept item are `OTHER_LABEL`.

    Raises InputError if there is no item, an item is called `OTHER_LABEL`, or there are over two million items.
    """
    with opened(path, stdin) as source:
        if source.is_parquet:
            raise InputError(f"{source.name}: is Parquet; --transactions reads rows of text, give CSV")
        with source.rereadable() as again:
            return _tally(again, keep_top, header)


def _tally(source: Source, keep_top: int | None, header: bool | None) -> RawHistogram:
    expected = Expected("items", bool(header), items=True)
    rows = TextRows(source, expected)
    separator = rows.form.delimiter or " "
    rows_with, users = _count_rows(rows)
    if not rows_with:
        raise InputError(f"{source.name}: holds no item; give one row of items a user")
    if OTHER_LABEL in rows_with:
        raise InputError(
            f"{source.name}: {OTHER_LABEL!r} is an item, but stands for users without a kept item; rename it"
        )
    # Counter.most_common sorts stably: ties stay in order of first appearance.
    ranked = [item for item, _ in rows_with.most_common(keep_top)]
    held = _assign(TextRows(source, expected), ranked)
    labels = [item for item in rows_with if item in held]
    counts = [held[item] for item in labels]
    if without := users - sum(counts):
        labels.append(OTHER_LABEL)
        counts.append(without)
    kept = f"the {len(ranked)} kept" if len(ranked) < len(rows_with) else "all"
    assumptions = (
        f"each row taken as the items of one user, separated by {_SEPARATORS[separator]}",
        f"each user keeps the item that is in most rows, among {kept} of {len(rows_with)} items",
    )
    return RawHistogram(tuple(labels), np.array(counts, dtype=np.int64), False, assumptions, rows.warnings())


def _count_rows(rows: TextRows) -> tuple[Counter[str], int]:
    """Return in how many rows each item is, and the number of rows."""
    rows_with: Counter[str] = Counter()
    users = 0
    for baskets in _baskets(rows):
        rows_with.update(chain.from_iterable(baskets))
        if len(rows_with) > MOST_LABELS:
            raise InputError(
                f"{rows.table.source}: more than {MOST_LABELS} distinct items, which look like identifiers, "
                "not categories; give items that several users share"
            )
        users += len(baskets)
    return rows_with, users


def _assign(rows: TextRows, ranked: list[str]) -> dict[str, int]:
    """Return the number of users whose most frequent kept item each kept item is."""
    rank = {item: place for place, item in enumerate(ranked)}
    last = len(ranked)
    users: Counter[int] = Counter()
    for baskets in _baskets(rows):
        users.update(min([rank.get(item, last) for item in basket], default=last) for basket in baskets)
    return {item: users[place] for place, item in enumerate(ranked)}


def _baskets(rows: TextRows) -> Iterator[list[dict[str, None]]]:
    """Yield the distinct items of some rows, in order."""
    for block in rows.blocks(even=False):
        baskets = [dict.fromkeys(row) for row in block.rows()]
        for basket in baskets:
            basket.pop("", None)
        # An empty cell alone is a blank line; "," is a user without items.
        yield [basket for basket, row in zip(baskets, block.rows(), strict=True) if basket or len(row) > 1]
