"""Lines that are not CSV, and how they become cells: plain text, JSON, and counts as programs print them.

Other JSON, markup, and tables with rules between their rows are refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from advisor.errors import InputError
from advisor.inputs.labels import label_of


def whole_line(line: str) -> list[str]:
    """Return a line as a cell."""
    value = line.strip()
    return [value] if value else []


# --- JSON -------------------------------------------------------------------------------------------------------

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


# --- counts beside labels, as ``uniq -c`` and pandas print them --------------------------------------------------

FEW = 2  # lines below which nothing is refused
MOST = 0.8  # share of lines with a number at an end from which they are no values
LONGEST = 1000  # characters of a line that may be a label with its count
RULED = 5  # first lines among which the rules of a printed table are looked for
_COUNT = r"\d[\d.,]*"
_FIRST = re.compile(rf"(?P<blanks>\s*)(?P<count>{_COUNT})[ \t]+(?P<label>\S.*)")
_LAST = re.compile(rf"(?P<label>.*\S)(?P<blanks>[ \t]+)(?P<count>{_COUNT}%?)")
_NEAR = re.compile(rf"\D*[^\d\s:=][ \t]*[:=][ \t]*{_COUNT}%?|{_COUNT}[ \t]*[:=][ \t]*[^\d\s].*")
_FOOTER = re.compile(r"(?:Name: (.*), )?(?:Length: \d+, )?dtype: (\w+)")
_COUNTED = (None, "count", "proportion")
_RULE = re.compile(r"[-+|:=_ \u2500-\u257f]*(?:-{3,}|={3,}|_{3,}|[\u2500-\u257f]{3,})[-+|:=_ \u2500-\u257f]*")
_RULED_COLUMNS = re.compile(r"[+|\u2500-\u257f]|[-=] +[-=]")  # what a rule has that goes over several columns


def _cells(pattern: re.Pattern[str], line: str) -> list[str]:
    text = line.rstrip()
    if not text or _FOOTER.fullmatch(text):
        return []
    match = pattern.fullmatch(text)
    return [match["label"].strip(), match["count"]] if match else [text]


# Label and count of a line that begins with the count, or ends with it; other lines as they are
count_in_front, count_behind = partial(_cells, _FIRST), partial(_cells, _LAST)


def printed_counts(source: str, lines: Sequence[str]) -> Callable[[str], list[str]] | None:
    """Return how lines without a separator of columns become label and count; None if the lines are values.

    Raises InputError where nearly all lines begin or end with a number, and differ from all others, but nothing tells
    which numbers are counts.
    """
    filled = [line.rstrip() for line in lines if line.strip()]
    if not filled or max(map(len, filled)) > LONGEST:
        return None
    footer = _FOOTER.fullmatch(filled[-1])
    body = filled[:-1] if footer else filled
    for pattern, cells in ((_FIRST, count_in_front), (_LAST, count_behind)):
        named = bool(body) and not pattern.fullmatch(body[0])
        rows = [match for match in map(pattern.fullmatch, body[named:]) if match]
        labels = {row["label"].strip() for row in rows}
        if not len(labels) == len(rows) == len(body) - named > 1 or all(
            label[0].isdigit() and " " in label for label in labels
        ):
            continue
        if pattern is _FIRST and [row["count"] for row in rows] == [str(at) for at in range(1, len(rows) + 1)]:
            continue  # a numbered list
        counted = footer is not None and footer[1] in _COUNTED and footer[2].startswith("int")
        if counted and (labels == {str(at) for at in range(len(rows))} or labels & {"..", "..."}):
            continue  # a printed series that begins with its row numbers, or without its middle
        # Numbers in a column end in the same place, behind more than one blank somewhere.
        column = len({row.end("count") for row in rows}) == 1
        column = column and any(len(row["blanks"]) > (pattern is _LAST) for row in rows)
        if (pattern is _LAST and counted) if footer else column:
            return cells
    _refuse_undecided(source, body, printed=footer is not None)
    return None


def _refuse_undecided(source: str, lines: Sequence[str], *, printed: bool) -> None:
    """Raise InputError where lines are probably labels with counts, but cannot be read so."""

    def is_numbered(line: str) -> bool:
        return any(pattern.fullmatch(line) for pattern in (_FIRST, _LAST, _NEAR))

    lines = lines[1:] if lines and not is_numbered(lines[0]) else lines
    numbered = list(filter(is_numbered, lines))
    different = len(set(lines)) >= MOST * len(lines)
    if not (printed or (len(lines) >= FEW and len(numbered) >= MOST * len(lines) and different)):
        return
    what = f"{len(numbered)} of {len(lines)} lines begin or end with a number, as a label and its count"
    if any("\t" in line for line in lines):
        what += ", with tabs, but not equally many"
    raise InputError(
        f"{source}: {'this is a printed table' if printed else what}; write label,count on each line, or say "
        "--column 1 if each line is one value"
    )


def refuse_rules(source: str, lines: Sequence[str]) -> None:
    """Raise InputError for a table with rules, as psql, mysql and Markdown have, or in LaTeX."""
    filled = [line.rstrip() for line in lines[:RULED] if line.strip()]
    ruled = any(_RULE.fullmatch(line) and _RULED_COLUMNS.search(line) for line in filled)
    psql = len(filled) > 1 and filled[0][0] == " " and _RULE.fullmatch(filled[1]) and len(filled[1]) >= len(filled[0])
    if ruled or psql or any(line.startswith("\\begin{") for line in filled):
        raise InputError(
            f"{source}: this is a printed table with rules between its rows; write it as CSV (psql --csv, mysql "
            "--batch)"
        )
