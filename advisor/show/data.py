"""A document as data: its fields as JSON, its rows as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from importlib.metadata import version

from advisor.errors import printable_lines
from advisor.show.model import Document, Json, Scalar
from simulator._version import __version__

SCHEMA_VERSION = 1
LIBRARIES = ("numpy", "scipy")  # whose versions are recorded, because figures depend on them
HEAD: Mapping[str, Json] = {"schema_version": SCHEMA_VERSION, "tool_version": __version__}  # of every JSON object


def envelope() -> dict[str, Json]:
    """Return what every JSON answer starts with."""
    return {**HEAD, "versions": {name: version(name) for name in LIBRARIES}}


def json_text(document: Document) -> str:
    """Return the data of a document as one JSON object."""
    headline = {} if document.verdict is None else {"headline": document.verdict.data}
    text = json.dumps({**envelope(), **headline, **document.data}, indent=2, ensure_ascii=False, allow_nan=False)
    return "\n".join(map(_escaped, text.split("\n")))


def error_json(message: str, more: Mapping[str, Json] | None = None) -> str:
    """Return an error as one JSON object on one line, with what else is known beside its message."""
    return _escaped(json.dumps({**HEAD, "error": {"message": message, **(more or {})}}, ensure_ascii=False))


def _escaped(line: str) -> str:
    """Return a line of JSON with the marks that would steer a terminal, or are no UTF-8, as escapes of JSON."""
    return line if line.isprintable() else "".join(m if m.isprintable() else json.dumps(m)[1:-1] for m in line)


def csv_text(document: Document) -> str:
    """Return the records of a document: a header, then one line for each; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(document.records.columns)
    writer.writerows(map(_printable, document.records.rows))
    return text.getvalue()


def _printable(row: tuple[Scalar, ...]) -> list[Scalar]:
    return [printable_lines(cell) if isinstance(cell, str) else cell for cell in row]
