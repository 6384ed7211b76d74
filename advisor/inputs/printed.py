"""Counts beside labels in text without separators, as ``uniq -c`` and pandas print them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.errors import InputError

FEW = 3  # lines below which nothing is refused
MOST = 0.8  # share of lines with a number at an end from which they are no values
_COUNT = r"\d[\d.,]*"
_FIRST = re.compile(rf"(\s*({_COUNT}))[ \t]+(\S.*)")
_LAST = re.compile(rf"(\S.*?)[ \t]([ \t]*({_COUNT}%?))")
_FOOTER = re.compile(r"(?:Name: .*, )?(?:Length: \d+, )?dtype: \w+")


@dataclass(frozen=True)
class PrintedCounts:
    """Counts that were printed, as CSV, and a sentence about them."""

    lines: list[str]
    note: str


def printed_counts(source: str, lines: Sequence[str]) -> PrintedCounts | None:
    """Return the labels and counts of a whole text; None if the lines are values, or other text.

    lines: all lines, none of which has a separator of columns.

    Raises InputError where nearly all lines begin or end with a number, and differ from all others, but nothing tells
    which numbers are counts.
    """
    filled = [line.rstrip() for line in lines if line.strip()]
    printed = bool(filled) and bool(_FOOTER.fullmatch(filled[-1]))
    body = filled[:-1] if printed else filled
    if len(body) < 2 or any(line.strip() in ("..", "...") for line in body if printed):
        _refuse_undecided(source, body, printed=printed)
        return None
    for form, group, label, count, where in ((_FIRST, 1, 3, 2, "in front of"), (_LAST, 2, 1, 3, "behind")):
        named = not form.fullmatch(body[0])
        rows = [match for match in map(form.fullmatch, body[named:]) if match]
        whole = len(rows) == len(body) - named > 1
        if whole and (form is _LAST if printed else _aligned(rows, group)):
            name = body[0].strip() if named else "value"
            return _as_csv([(row[label], row[count]) for row in rows], name, where)
    _refuse_undecided(source, body, printed=printed)
    return None


def _aligned(rows: Sequence[re.Match[str]], group: int) -> bool:
    """Return whether all numbers end in the same place, behind more than one blank somewhere, as in a column."""
    return len({row.end(group) for row in rows}) == 1 and any(row[group][:1].isspace() for row in rows)


def _as_csv(pairs: Sequence[tuple[str, str]], name: str, where: str) -> PrintedCounts | None:
    if len({label for label, _ in pairs}) < len(pairs):
        return None
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([(name, "count"), *pairs])
    note = f"the number {where} each of the {len(pairs)} labels was read as its count, as counting programs print it"
    return PrintedCounts(text.getvalue().splitlines(keepends=True), note)


def _refuse_undecided(source: str, lines: Sequence[str], *, printed: bool) -> None:
    """Raise InputError where lines are probably labels with counts, but cannot be read so."""
    numbered = [line for line in lines if _FIRST.fullmatch(line) or _LAST.fullmatch(line)]
    different = len(set(lines)) >= MOST * len(lines)
    if not (printed or (len(lines) >= FEW and len(numbered) >= MOST * len(lines) and different)):
        return
    share = f"{len(numbered)} of {len(lines)} lines begin or end with a number"
    what = "this is a printed table" if printed else share
    what += ", with tabs, but not equally many" if any("\t" in line for line in lines) else ", and blanks beside it"
    raise InputError(f"{source}: {what}; write label,count on each line, or say --column 1 if each line is one value")
