"""Turn a file or standard input into the number of users per label, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.columns import Choice, Table, choose_columns, is_header
from advisor.inputs.format import Format, Head, find_format, head_records, take_head
from advisor.inputs.opening import Source, opened
from advisor.inputs.parquet import tally_parquet
from advisor.inputs.tables import Shape, tally_lines, tally_table
from advisor.inputs.tally import Tallied, Tally
from advisor.inputs.transactions import OTHER_LABEL, tally_items

__all__ = ["OTHER_LABEL", "RawHistogram", "read_histogram"]


@dataclass(frozen=True)
class RawHistogram:
    """What was read, and what was decided on the way.

    Attributes
    ----------
    labels : tuple of str
        The distinct labels without surrounding whitespace, in order of first appearance.
    counts : ndarray of int64, shape (len(labels),)
        Users per label; 0 is possible.
    from_histogram : bool
        True if the file held labels with their counts, False if it held one row a user.
    assumptions : tuple of str
        What was decided for the user, one sentence each.
    warnings : tuple of str
        What the user should look at, one sentence each.
    """

    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    from_histogram: bool
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]


def read_histogram(
    path: str,
    *,
    column: str | None = None,
    counts: str | None = None,
    header: bool | None = None,
    drop_missing: bool = False,
    transactions: bool = False,
    keep_top: int | None = None,
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
    if keep_top is not None and keep_top < 1:
        raise InputError(f"keep_top: got {keep_top}; at least 1 label has to be kept")
    if transactions and (column is not None or counts is not None):
        option = "--counts" if column is None else "--column"
        raise InputError(f"{option} cannot be used with --transactions: there every column is an item; leave it out")
    with opened(path, stdin) as source:
        if transactions:
            if source.is_parquet:
                raise InputError(f"{source.name}: is Parquet; --transactions reads rows of text, give CSV")
            tallied, assumptions = tally_items(source, keep_top, header)
            return RawHistogram(tallied.labels, tallied.counts, False, assumptions, tallied.warnings)
        if source.is_parquet:
            tallied, table, choice = tally_parquet(source, column, counts, drop_missing=drop_missing)
            return _packed(tallied, choice, _assumed_columns(table, choice))
        return _read_text(source, column, counts, header, drop_missing=drop_missing)


def _read_text(
    source: Source, column: str | None, counts: str | None, header: bool | None, *, drop_missing: bool
) -> RawHistogram:
    with source.text() as text:
        head = take_head(text)
        form = find_format(source.name, source.suffix, head)
        table, shape, assumed = _table(source.name, form, head, header, (column, counts))
        choice = choose_columns(table, column, counts)
        tally = Tally(source.name, decimal_comma=table.decimal_comma)
        if form.delimiter is None:
            tally_lines(head.lines, text, shape.header_line, tally)
        else:
            tally_table(head.lines, text, form, shape, choice, tally)
    tallied = tally.result(drop_missing=drop_missing)
    return _packed(tallied, choice, (*assumed, *_assumed_columns(table, choice)), form)


def _table(
    source: str, form: Format, head: Head, header: bool | None, asked: tuple[str | None, str | None]
) -> tuple[Table, Shape, tuple[str, ...]]:
    """Settle the header and the number of columns."""
    records = head_records(source, form, head)
    first_line, first = records[0]
    rest = [row for _, row in records[1:]]
    found = is_header(first, rest, asked, table=form.table) if header is None else header
    names = tuple(cell.strip() for cell in first) if found else None
    if found and not rest and not head.cut:
        raise InputError(
            f"{source}: holds only a header line ({_joined(first)}), no users; if the line is a value, say --no-header"
        )
    below = records[1:] if found else records
    table = Table(
        source,
        names,
        len(first),
        [row for _, row in below],
        [place for place, _ in below],
        decimal_comma=form.delimiter == ";",
    )
    shape = Shape(len(first), first_line if found else None)
    decided = f"first line taken as the header ({_joined(first)})" if found else "no header line found"
    if header is not None:
        decided = f"first line is the header ({_joined(first)})" if found else "no header line, as asked"
    separated = () if form.delimiter in {None, ","} else (f"columns separated by {form.describe()}",)
    return table, shape, (decided, *separated)


def _joined(first: list[str]) -> str:
    shown = ", ".join(cell.strip() for cell in first[:6])
    shown += f", … ({len(first)} columns)" if len(first) > 6 else ""
    return shown if len(shown) <= 120 else shown[:120] + "…"


def _assumed_columns(table: Table, choice: Choice) -> tuple[str, ...]:
    if choice.count is None:
        return (f"column {table.called(choice.label)} read as values, one row a user",) if table.width > 1 else ()
    return (f"column {table.called(choice.count)} read as counts, column {table.called(choice.label)} as labels",)


def _packed(tallied: Tallied, choice: Choice, assumptions: tuple[str, ...], form: Format | None = None) -> RawHistogram:
    warnings = tallied.warnings
    odd = [label for label in tallied.labels if len(label) > 1 and label[0] == label[-1] == '"']
    if odd and form is not None and not form.quoted:
        warnings = (*warnings, f"{len(odd)} labels are in quotation marks, which were kept as part of them")
    return RawHistogram(tallied.labels, tallied.counts, choice.count is not None, assumptions, warnings)
