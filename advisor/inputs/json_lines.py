"""JSON and markup that is given as a table: lines of one field are read, the rest is refused by name."""

from __future__ import annotations

import json
import re
from typing import Any

from advisor.errors import InputError
from advisor.inputs.labels import label_of

_OBJECT = re.compile(r'\{\s*(["}]|$)')
_LIST = re.compile(r'\[\s*([\[{"]|$)')
_MARKUP = re.compile(r"<(\?xml|!doctype|[a-z][a-z0-9:]*[\s/>])", re.IGNORECASE)


def json_field(source: str, line: str) -> str | None:
    """Return the name of the only field of lines of JSON, from the first line; None for other text.

    Raises InputError for HTML, XML and other JSON.
    """
    if _MARKUP.match(line):
        raise InputError(f"{source}: is HTML or XML, not a table; save the table as CSV")
    if not _OBJECT.match(line) and not _LIST.match(line):
        return None
    content = _parsed(line)
    if isinstance(content, dict) and len(content) == 1:
        ((field, value),) = content.items()
        if _cell(value) is not None:
            return field
    raise InputError(
        f'{source}: is JSON, not a table; lines of one field are read, such as {{"report": 3}}: write the rest as CSV'
    )


def json_cells(field: str, line: str) -> list[str]:
    """Return the value in a line of JSON with this field alone; raise ValueError for another line."""
    if not line.strip():
        return []
    content = _parsed(line)
    cell = _cell(content[field]) if isinstance(content, dict) and list(content) == [field] else None
    if cell is None:
        raise ValueError(f"is not a JSON object with the field {field!r} alone")
    return [cell]


def _parsed(line: str) -> Any:
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
    text = "" if value is None else str(int(value)) if isinstance(value, bool) else label_of(value)
    return text.encode(errors="replace").decode()  # half a character cannot be written
