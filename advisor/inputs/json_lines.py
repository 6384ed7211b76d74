"""JSON and markup that is given as a table: lines of one field are read, the rest is refused by name."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from advisor.errors import InputError
from advisor.inputs.labels import label_of
from advisor.inputs.source import whole_lines

_OBJECT = re.compile(rb'\{\s*(["}]|$)')
_LIST = re.compile(rb'\[\s*([\[{"]|$)')
_MARKUP = re.compile(rb"<(\?xml|!doctype|[a-z][a-z0-9:]*[\s/>])", re.IGNORECASE)


def as_table(name: str, chunks: Iterator[bytes]) -> tuple[Iterator[bytes], tuple[str, ...]]:
    """Return text as it is, or JSON lines of one field as CSV, and a note about it.

    name: of the file, for messages.

    Raises InputError for HTML, XML and other JSON.
    """
    first = next(chunks, b"")
    begin = first.lstrip()
    line = begin.split(b"\n", 1)[0].strip()
    chunks = chain([first], chunks)
    if _MARKUP.match(begin):
        raise InputError(f"{name}: is HTML or XML, not a table; save the table as CSV")
    if _LIST.match(line):
        raise InputError(f"{name}: is JSON, not a table; write it as CSV, or as JSON lines with one field each")
    if not _OBJECT.match(line):
        return chunks, ()
    field = _field(line)
    if field is None:
        raise InputError(
            f'{name}: is JSON, not a table; lines of one field are read, such as {{"report": 3}}: write the rest as CSV'
        )
    return _lines(name, chunks, field), (f"JSON lines read as a column (field {field})",)


def _field(line: bytes) -> str | None:
    """Return the name of the only field of a line of JSON; None for other lines."""
    content = _parsed(line)
    if not isinstance(content, dict) or len(content) != 1:
        return None
    ((field, value),) = content.items()
    return field if _cell(value) is not None else None


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _cell(value: Any) -> str | None:
    """Return a value as a cell, the members of a list with ";" between them; None for what has no place in one."""
    if isinstance(value, list):
        cells = [_cell(member) for member in value if not isinstance(member, list)]
        return None if None in cells or len(cells) < len(value) else ";".join(filter(None, cells))
    if isinstance(value, dict):
        return None
    return "" if value is None else str(int(value)) if isinstance(value, bool) else label_of(value)


def _lines(name: str, chunks: Iterator[bytes], field: str) -> Iterator[bytes]:
    """Yield CSV with a header.

    Raises InputError for a line that is not an object with this field alone.
    """
    number, header = 0, [[field]]
    for lines in whole_lines(chunks):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows(header)
        header = []
        for line in lines:
            number += 1
            if not line.strip():
                text.write("\n")
                continue
            content = _parsed(line)
            cell = _cell(content[field]) if isinstance(content, dict) and list(content) == [field] else None
            if cell is None:
                raise InputError(f"{name}: line {number} is not a JSON object with the field {field!r} alone")
            writer.writerow([cell])
        yield text.getvalue().encode(errors="replace")  # half a character cannot be written
