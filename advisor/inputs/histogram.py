"""Turn a file or standard input into the number of users per label, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import BinaryIO

import numpy as np

from advisor.errors import InputError
from advisor.inputs.bins import Cut
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import ColumnChoice, InputTable, choose_columns, find_column
from advisor.inputs.head import Expected
from advisor.inputs.labels import OTHER_LABEL, plural, shortened
from advisor.inputs.numbers import MOST_LABELS
from advisor.inputs.source import Source, opened
from advisor.inputs.table import TextRows, opened_rows
from advisor.inputs.tally import LabelTally, NumberTally, RawHistogram, names_numbers


def read_histogram(
    path: str,
    *,
    column: str | None = None,
    counts: str | None = None,
    header: bool | None = None,
    drop_missing: bool = False,
    transactions: bool = False,
    keep_top: int | None = None,
    cut: Cut | None = None,
    stdin: BinaryIO | None = None,
) -> RawHistogram:
    r"""Count the users per label in CSV, TSV, plain text (one value a line), gzip of these, or Parquet.

    Memory grows with the number of distinct labels only.

    Parameters
    ----------
    path : str
        The file, "-" for standard input.
    column : str or None
        The column with the labels, by header or by number from 1.
    counts : str or None
        The column with the number of users; makes the file a histogram.
    header : bool or None
        Whether the first line names the columns, None to find out.
    drop_missing : bool
        Leave out users without a value instead of refusing the file.
    transactions : bool
        A row holds all items of one user, who keeps the one that is most frequent over all users.
    keep_top : int or None
        With transactions: keep only the most frequent items; users with none of them are counted under
        `OTHER_LABEL`. Otherwise of no effect here (see `advisor.inputs.domain.build_domain`).
    cut : Cut or None
        How numbers become bins, None for labels as they are.
    stdin : binary file or None
        What "-" reads, None for the standard input of the process.

    Raises
    ------
    InputError
        One line that says what is wrong with the file, where, and the way out.

    Examples
    --------
    >>> import io
    >>> read = read_histogram("-", stdin=io.BytesIO(b"state\n1\n2\n1\n"))
    >>> read.labels, read.counts.tolist(), read.assumptions
    (('1', '2'), [2, 1], ('first line taken as the header (state)',))
    """
    if transactions:
        if column is not None or counts is not None:
            option = "--counts" if column is None else "--column"
            raise InputError(
                f"{option} cannot be used with --transactions: there every column is an item; leave it out"
            )
        return tally_items(path, keep_top, header, stdin)
    names_columns = None if cut is None else names_numbers
    expected = Expected("users", header, (column, counts), names_columns, decimals=cut is not None)
    with opened_rows(path, expected, stdin) as rows:
        choice = choose_columns(rows.table, column, counts)
        tallied = _tallied(rows, choice, cut).result(drop_missing=drop_missing)
    note = rows.table.row_numbers_note if rows.table.row_numbers not in (choice.label, choice.count) else ()
    assumptions = (*rows.assumptions, *note, *_assumed_columns(rows.table, choice))
    warnings = (*rows.warnings(), *rows.doubts, *tallied.warnings, *_odd_labels(rows, tallied.labels))
    column = rows.table.names[choice.label] if rows.table.names else ""
    return replace(tallied, assumptions=assumptions, warnings=warnings, column=column)


def read_columns(
    path: str, columns: Sequence[str], *, header: bool | None = None, drop_missing: bool = False
) -> tuple[RawHistogram, ...]:
    """Count the users per label of several columns, one row a user, in one pass over a file; see `read_histogram`."""
    with opened_rows(path, Expected("users", header, columns)) as rows:
        table = rows.table
        places = [find_column(table, name, "--column") for name in columns]
        twice = [place for at, place in enumerate(places) if place in places[:at]]
        if twice:
            raise InputError(f"{table.source}: --column names column {table.called(twice[0])} twice: leave one out")
        tallies = [LabelTally(table) for _ in places]
        for block in rows.blocks(places):
            for place, tally in zip(places, tallies, strict=True):
                tally.add_block(block.tallied(place), partial(_place_of, block, place))
        shared = (*rows.warnings(), *rows.doubts)
        result: list[RawHistogram] = []
        for place, tally in zip(places, tallies, strict=True):
            tallied = tally.result(drop_missing=drop_missing)
            name = f"column {table.called(place)}"
            own = tuple(f"{name}: {warning}" for warning in (*tallied.warnings, *_odd_labels(rows, tallied.labels)))
            warnings = (*shared, *own) if not result else own
            result.append(replace(tallied, assumptions=rows.assumptions, warnings=warnings))
    return tuple(result)


def _place_of(block: Block, column: int, value: str) -> int:
    return block.places[block.cells(column).index(value)]


def _tallied(rows: Rows, choice: ColumnChoice, cut: Cut | None) -> LabelTally:
    table, label, count = rows.table, choice.label, choice.count
    tally = LabelTally(table) if cut is None else NumberTally(table, label, cut)
    for block in rows.blocks([label] if count is None else [label, count]):
        if count is None:
            tally.add_block(block.tallied(label), partial(_place_of, block, label))
        else:
            tally.add_counts(block.cells(label), block.cells(count), block.places)
    return tally


def _assumed_columns(table: InputTable, choice: ColumnChoice) -> tuple[str, ...]:
    if choice.count is None:
        return (f"column {table.called(choice.label)} read as values, one row a user",) if table.width > 1 else ()
    return (f"column {table.called(choice.count)} read as counts, column {table.called(choice.label)} as labels",)


def _odd_labels(rows: Rows, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Say so if quotation marks were kept, or joined lines."""
    if rows.quoted:
        joined = [label for label in labels if "\n" in label or "\r" in label]
        what = plural(len(joined), "label goes", "labels go")
        return (
            (f"{what} over several lines ({shortened(joined[0])}); a quotation mark too many joins lines",)
            if joined
            else ()
        )
    odd = [label for label in labels if len(label) > 1 and label[0] == '"']
    what = plural(len(odd), "label begins", "labels begin")
    return (f"{what} with a quotation mark ({shortened(odd[0])}), which was kept as part of it",) if odd else ()


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
