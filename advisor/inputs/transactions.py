"""Rows that hold several items: each user keeps the one that is most frequent over all users."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from advisor.errors import InputError
from advisor.inputs.format import Format, Head, bad_quotes, take_head
from advisor.inputs.limits import MOST_LABELS
from advisor.inputs.opening import Source
from advisor.inputs.tally import Tallied, plural

OTHER_LABEL = "(other)"
"""Label of users none of whose items is kept."""

_BLOCK_ROWS = 2000
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", None: "whitespace"}


def tally_items(source: Source, keep_top: int | None, header: bool | None) -> tuple[Tallied, tuple[str, ...]]:
    """Give every row its most frequent item; reads the input twice.

    Parameters
    ----------
    source : Source
        The input; standard input is copied to disk.
    keep_top : int or None
        How many of the most frequent items to keep, None for all.
    header : bool or None
        True if the first line holds no items.

    Returns
    -------
    tuple
        The kept items with the number of users that keep each (an item that is never the most frequent one of a
        row has 0 users), `OTHER_LABEL` last if there are users without a kept item; and the assumptions.

    Raises
    ------
    InputError
        If there is no item, an item is called `OTHER_LABEL`, or there are over two million items.
    """
    with source.rereadable() as again:
        return _tally(again, keep_top, header)


def _tally(source: Source, keep_top: int | None, header: bool | None) -> tuple[Tallied, tuple[str, ...]]:
    with source.text() as lines:
        head = take_head(lines)
    separator = _separator(head)
    rows_with, users, blank = _count_rows(source, separator, header)
    if not rows_with:
        raise InputError(f"{source.name}: holds no item; give one row of items a user")
    if OTHER_LABEL in rows_with:
        raise InputError(
            f"{source.name}: {OTHER_LABEL!r} is an item, but stands for users without a kept item; rename it"
        )
    # Counter.most_common sorts stably: ties stay in order of first appearance.
    ranked = [item for item, _ in rows_with.most_common(keep_top)]
    held = _assign(source, separator, header, ranked)
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
    warnings = (plural(blank, "blank line was", "blank lines were") + " skipped",) if blank else ()
    return Tallied(tuple(labels), np.array(counts, dtype=np.int64), warnings), assumptions


def _count_rows(source: Source, separator: str | None, header: bool | None) -> tuple[Counter[str], int, int]:
    """Return in how many rows each item is, the number of rows, and that of blank lines between them."""
    rows_with: Counter[str] = Counter()
    users = blank = at_end = 0
    for block in _blocks(source, separator, header):
        baskets = [basket for basket in block if basket is not None]
        rows_with.update(chain.from_iterable(baskets))
        if len(rows_with) > MOST_LABELS:
            raise InputError(
                f"{source.name}: more than {MOST_LABELS} distinct items, which look like identifiers, "
                "not categories; give items that several users share"
            )
        users += len(baskets)
        blank += len(block) - len(baskets)
        run = next((at for at, basket in enumerate(reversed(block)) if basket is not None), None)
        at_end = at_end + len(block) if run is None else run
    return rows_with, users, blank - at_end


def _assign(source: Source, separator: str | None, header: bool | None, ranked: list[str]) -> dict[str, int]:
    """Return the number of users whose most frequent kept item each kept item is."""
    rank = {item: place for place, item in enumerate(ranked)}
    last = len(ranked)
    users: Counter[int] = Counter()
    for block in _blocks(source, separator, header):
        users.update(
            min([rank.get(item, last) for item in basket], default=last) for basket in block if basket is not None
        )
    return {item: users[place] for place, item in enumerate(ranked)}


def _separator(head: Head) -> str | None:
    """Return the separator on most lines; None is whitespace, for when hardly a line has one of the others."""
    lines = [line for line in head.lines if line.strip()]
    best = max(",;\t", key=lambda mark: sum(mark in line for line in lines))
    having = sum(best in line for line in lines)
    spaced = any(len(line.split()) > 1 for line in lines)
    return best if having and (10 * having >= len(lines) or not spaced) else None


def _blocks(source: Source, separator: str | None, header: bool | None) -> Iterator[list[dict[str, None] | None]]:
    """Yield blocks of rows: the distinct items of a row in order, None for a blank line."""
    with source.text() as lines:
        rows = _rows(source.name, lines, separator)
        if header:
            next((row for row in rows if row is not None), None)
        while block := list(islice(rows, _BLOCK_ROWS)):
            yield block


def _rows(name: str, lines: Iterator[str], separator: str | None) -> Iterator[dict[str, None] | None]:
    if separator is None:
        for line in lines:
            yield dict.fromkeys(line.split()) or None
        return
    reader = Format(separator).records(lines)
    try:
        for row in reader:
            items = dict.fromkeys(map(str.strip, row))
            items.pop("", None)
            yield items if items or len(row) > 1 else None
    except csv.Error as error:
        raise bad_quotes(name, reader.line_num, str(error)) from None
