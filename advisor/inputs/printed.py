"""Counts beside labels in text without separators, as ``uniq -c`` and pandas print them, and other printed tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

from advisor.errors import InputError, printable
from advisor.inputs.source import whole_lines

FEW = 2  # lines below which nothing is refused
MOST = 0.8  # share of lines with a number at an end from which they are no values
LONGEST = 1000  # characters of a line that may be a label with its count
RULED = 5  # first lines among which the rules of a printed table are looked for
_COUNT = r"\d[\d.,]*"
_FIRST = re.compile(rf"(\s*)({_COUNT})[ \t]+(?=\S)")
_LAST = re.compile(rf"(?<=[ \t])({_COUNT}%?)$")
_NEAR = re.compile(rf"\D*[^\d\s:=][ \t]*[:=][ \t]*{_COUNT}%?|{_COUNT}[ \t]*[:=][ \t]*[^\d\s].*")
_FOOTER = re.compile(r"(?:Name: (.*), )?(?:Length: \d+, )?dtype: (\w+)")
_COUNTED = (None, "count", "proportion")
_RULE = re.compile(r"[-+|:=_ ]*(?:-{3,}|={3,}|_{3,})[-+|:=_ ]*")


class Line(NamedTuple):
    """A label and a count on a line."""

    label: str
    number: str
    end: int  # place behind the count
    apart: bool  # whether more than one blank separates the count from what stands before it


Form: TypeAlias = Callable[[str], Line | None]


def _first(line: str) -> Line | None:
    match = _FIRST.match(line)
    return None if match is None else Line(line[match.end() :], match[2], match.end(2), bool(match[1]))


def _last(line: str) -> Line | None:
    match = _LAST.search(line)
    label = line[: match.start()].rstrip() if match else ""
    return Line(label, match[1], match.end(), match.start() > len(label) + 1) if match and label.strip() else None


@dataclass(frozen=True)
class PrintedCounts:
    """Labels with counts as they are printed on each line."""

    form: Form
    name: str | None  # first line, where it names the labels
    footer: bool  # whether the last line describes the counts

    @property
    def note(self) -> str:
        """What is assumed, in a sentence."""
        where = "in front of" if self.form is _first else "behind"
        return f"the number {where} the label on each line was read as its count, as counting programs print it"

    def as_csv(self, source: str, lines: Sequence[str], chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield CSV with a header, from the lines that were looked at, and from the chunks of text behind them.

        Raises InputError for a line without label and count.
        """
        filled = [line for line in lines if line.strip()]
        begin = "".join(filled[self.name is not None : len(filled) - self.footer]).encode()
        rows: list[list[str]] = [[self.name or "value", "count"]]
        for whole in chain([[]], whole_lines(chain([begin], chunks))):
            for text in filter(None, (line.decode().rstrip() for line in whole)):
                line = self.form(text)
                if line is None:
                    raise InputError(
                        f"{source}: {printable(text[:60])!r} is not a label with a count, as the lines before it"
                    )
                rows.append([line.label.strip(), line.number])
            written = io.StringIO()
            csv.writer(written, lineterminator="\n").writerows(rows)
            rows = []
            yield written.getvalue().encode()


def printed_counts(source: str, lines: Sequence[str]) -> PrintedCounts | None:
    """Return how labels and counts stand on lines that have no separator of columns; None if the lines are values.

    Raises InputError where nearly all lines begin or end with a number, and differ from all others, but nothing tells
    which numbers are counts.
    """
    filled = [line.rstrip() for line in lines if line.strip()]
    if not filled or max(map(len, filled)) > LONGEST:
        return None
    footer = _FOOTER.fullmatch(filled[-1])
    body = filled[:-1] if footer else filled
    for form in (_first, _last):
        named = bool(body) and form(body[0]) is None
        rows = [line for line in map(form, body[named:]) if line]
        labels = {row.label.strip() for row in rows}
        if not len(labels) == len(rows) == len(body) - named > 1 or all(
            label[0].isdigit() and " " in label for label in labels
        ):
            continue
        numbers = [row.number for row in rows]
        if form is _first and numbers == [str(at) for at in range(1, len(rows) + 1)]:
            continue  # a numbered list
        counted = footer is not None and footer[1] in _COUNTED and footer[2].startswith("int")
        if counted and (labels == {str(at) for at in range(len(rows))} or labels & {"..", "..."}):
            continue  # a printed series that begins with its row numbers, or without its middle
        if (form is _last and counted) if footer else _aligned(rows):
            return PrintedCounts(form, body[0].strip() if named else None, footer is not None)
    _refuse_undecided(source, body, printed=footer is not None)
    return None


def _aligned(rows: Sequence[Line]) -> bool:
    """Return whether all numbers end in the same place, behind more than one blank somewhere, as in a column."""
    return len({row.end for row in rows}) == 1 and any(row.apart for row in rows)


def _refuse_undecided(source: str, lines: Sequence[str], *, printed: bool) -> None:
    """Raise InputError where lines are probably labels with counts, but cannot be read so."""

    def is_numbered(line: str) -> bool:
        return bool(_first(line) or _last(line) or _NEAR.fullmatch(line))

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
    ruled = any(_RULE.fullmatch(line) and set(line) & set("+|") for line in filled)
    psql = len(filled) > 1 and filled[0][0] == " " and _RULE.fullmatch(filled[1]) and len(filled[1]) >= len(filled[0])
    if ruled or psql or any(line.startswith("\\begin{") for line in filled):
        raise InputError(
            f"{source}: this is a printed table with rules between its rows; write it as CSV (psql --csv, mysql "
            "--batch)"
        )
