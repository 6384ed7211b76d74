"""Reads the file of `--domain`: all categories, one a line."""

from __future__ import annotations

from advisor.errors import InputError
from advisor.inputs.head import Expected, empty
from advisor.inputs.labels import shortened
from advisor.inputs.numbers import MOST_LABELS
from advisor.inputs.table import opened_rows


def read_domain(path: str) -> tuple[str, ...]:
    """Read a domain: one label a line, no header, blank lines skipped.

    path: a text file or its gzip, or a Parquet file of one column; "-" for standard input.

    Returns the labels without surrounding whitespace, in the order of the file. Raises InputError if the file cannot be
    read as UTF-8 text, is empty, or holds a label twice.
    """
    seen: dict[str, int] = {}
    with opened_rows(path, Expected("labels", header=False, single=True)) as rows:
        name, unit = rows.table.source, rows.table.unit
        if rows.table.width > 1:
            raise InputError(f"{name}: has {rows.table.width} columns; a domain is one column with one label a {unit}")
        for block in rows.blocks():
            for label, place in zip(block.cells(0), block.places, strict=True):
                if label in seen:
                    first = f"{unit} {seen[label]}"
                    raise rows.table.bad(place, f"label {shortened(label)} is on {first} already; remove one")
                if label:
                    seen[label] = place
            if len(seen) > MOST_LABELS:
                raise InputError(f"{name}: has more than {MOST_LABELS} labels, the most a domain may have")
    if not seen:
        raise empty(name)
    return tuple(seen)
