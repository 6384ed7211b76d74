"""Read the list of all categories, observed or not, from a file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain

from advisor.errors import InputError
from advisor.inputs.format import Format, bad_quotes, one_column, take_head
from advisor.inputs.limits import MOST_LABELS
from advisor.inputs.opening import opened
from advisor.inputs.tally import shortened


def read_domain(path: str) -> tuple[str, ...]:
    """Read a domain: one label a line, no header, blank lines skipped.

    Parameters
    ----------
    path : str
        A text file or its gzip, "-" for standard input.

    Returns
    -------
    tuple of str
        The labels without surrounding whitespace, in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read as UTF-8 text, is empty, or holds a label twice.
    """
    seen: dict[str, int] = {}
    with opened(path) as source:
        if source.is_parquet:
            raise InputError(f"{source.name}: is Parquet; a domain is a text with one label a line")
        with source.text() as text:
            head = take_head(text)
            for place, label in _labels(source.name, one_column(head), chain(head.lines, text)):
                if label in seen:
                    raise InputError(
                        f"{source.name}: line {place}: label {shortened(label)} is on line {seen[label]} already; "
                        "remove one"
                    )
                seen[label] = place
                if len(seen) > MOST_LABELS:
                    raise InputError(f"{source.name}: has more than {MOST_LABELS} labels, the most a domain may have")
    if not seen:
        raise InputError(f"{source.name}: is empty; give one label a line")
    return tuple(seen)


def _labels(source: str, form: Format, lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    if form.delimiter is None:
        yield from ((place, label) for place, line in enumerate(lines, start=1) if (label := line.strip()))
        return
    reader = form.records(lines)
    begin = 1
    try:
        for row in reader:
            if len(row) > 1:
                raise InputError(
                    f"{source}: line {begin} has {len(row)} fields; give one label a line, in quotes if it contains ','"
                )
            if row and (label := row[0].strip()):
                yield begin, label
            begin = reader.line_num + 1
    except csv.Error as error:
        raise bad_quotes(source, reader.line_num, str(error)) from None
