"""Counts beside labels in text without separators, as ``uniq -c`` and pandas print them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from advisor.errors import InputError, printable
from advisor.inputs.source import whole_lines

FEW = 3  # lines below which nothing is refused
MOST = 0.8  # share of lines with a number at an end from which they are no values
_COUNT = r"\d[\d.,]*"
_FIRST = re.compile(rf"(\s*({_COUNT}))[ \t]+(\S.*)")
_LAST = re.compile(rf"(\S.*?)[ \t]([ \t]*({_COUNT}%?))")
_FOOTER = re.compile(r"(?:Name: .*, )?(?:Length: \d+, )?dtype: \w+")


@dataclass(frozen=True)
class PrintedCounts:
    """Labels with counts as they are printed on each line."""

    form: re.Pattern[str]
    label: int  # group of the label
    count: int  # group of the count
    name: str | None  # first line, where it names the labels
    footer: bool  # whether the last line describes the counts

    @property
    def note(self) -> str:
        """What is assumed, in a sentence."""
        where = "in front of" if self.count < self.label else "behind"
        return f"the number {where} the label on each line was read as its count, as counting programs print it"

    def as_csv(self, source: str, lines: Sequence[str], chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield CSV with a header, from the lines that were looked at, and from the chunks of text behind them.

        Raises InputError for a line without label and count.
        """
        filled = [line for line in lines if line.strip()]
        begin = "".join(filled[self.name is not None : len(filled) - self.footer]).encode()
        rows: list[list[str]] = [[self.name or "value", "count"]]
        for whole in chain([[]], whole_lines(chain([begin], chunks))):
            for line in filter(None, (line.decode().rstrip() for line in whole)):
                match = self.form.fullmatch(line)
                if match is None:
                    raise InputError(
                        f"{source}: {printable(line[:60])!r} is not a label with a count, as the lines before it"
                    )
                rows.append([match[self.label], match[self.count]])
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            rows = []
            yield text.getvalue().encode()


def printed_counts(source: str, lines: Sequence[str]) -> PrintedCounts | None:
    """Return how labels and counts stand on lines that have no separator of columns; None if the lines are values.

    Raises InputError where nearly all lines begin or end with a number, and differ from all others, but nothing tells
    which numbers are counts.
    """
    filled = [line.rstrip() for line in lines if line.strip()]
    printed = bool(filled) and bool(_FOOTER.fullmatch(filled[-1]))
    body = filled[:-1] if printed else filled
    cut = printed and any(line.strip() in ("..", "...") or line.split()[0] in ("..", "...") for line in body)
    for form, group, label, count in ((_FIRST, 1, 3, 2), (_LAST, 2, 1, 3)):
        named = not form.fullmatch(body[0]) if body else False
        rows = [match for match in map(form.fullmatch, body[named:]) if match]
        sure = form is _LAST if printed else _aligned(rows, group)
        if len(rows) == len(body) - named > 1 and sure and not cut and len({row[label] for row in rows}) == len(rows):
            return PrintedCounts(form, label, count, body[0].strip() if named else None, printed)
    _refuse_undecided(source, body, printed=printed)
    return None


def _aligned(rows: Sequence[re.Match[str]], group: int) -> bool:
    """Return whether all numbers end in the same place, behind more than one blank somewhere, as in a column."""
    return len({row.end(group) for row in rows}) == 1 and any(row[group][:1].isspace() for row in rows)


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
