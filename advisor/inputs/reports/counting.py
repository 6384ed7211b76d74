"""Counts of reports, which add up across blocks, files and workers, and the rows that are left out of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from advisor.errors import InputError, near_miss
from advisor.inputs.blocks import Block
from advisor.inputs.columns import InputTable
from advisor.inputs.labels import shortened
from advisor.inputs.numbers import MOST_LABELS
from advisor.inputs.reports.settings import ReportSettings

MOST, FEW = 0.01, 10_000  # largest share of bad rows, and how many end the reading as soon as they are more than it
Cells: TypeAlias = NDArray[Any]
"""Counts of predefined cells ``(m,)``, as in the tally of the protocol: int64, or Python integers for steps of she."""


@dataclass(eq=False)
class Counted:
    """Counts of reports: of predefined cells, or of labels, some of which may be new."""

    n: int = 0  # reports
    counts: Cells | Counter[str] = field(default_factory=Counter)
    missing: int = 0  # rows left out, as their report is missing
    bad: list[str] = field(default_factory=list)  # rows left out as no reports, with what is wrong with the first

    def add(self, other: Counted, source: str) -> None:
        """Add other counts; raise InputError if there are more labels than categories can be."""
        if isinstance(self.counts, Counter) and isinstance(other.counts, Counter):
            self.counts.update(other.counts)
            if len(self.counts) > MOST_LABELS:
                raise InputError(
                    f"{source}: more than {MOST_LABELS} different reports, which do not look like categories; choose "
                    "another --column"
                )
        elif other.n:
            self.counts = self.counts + other.counts if self.n else other.counts
        self.n += other.n
        self.missing += other.missing
        self.bad += other.bad


class Form(Protocol):
    """What a report is: how the cells of reports are counted, and which cells are those of one."""

    def counts(self, block: Block) -> Cells | Counter[str] | None:
        """Return the counts of a block; None if it may hold a row that is no report, or is written in another way."""

    def plain(self, cells: list[str]) -> Sequence[str | None]:
        """Return the cells of a row as `counts` takes them, None for each that is wrong."""


@dataclass(frozen=True)
class Counting:
    """Counter for the rows of a file, as its head and the user decide; it can be sent to a worker."""

    table: InputTable  # for messages
    settings: ReportSettings  # with k and the domain, as far as known so far
    notes: tuple[str, ...]  # decisions made for the user, one sentence each
    columns: Sequence[int] | None  # columns to read; None for all
    form: Form
    says: str  # what a report is, for messages
    order: Sequence[int] = ()  # the entry of a report for each category, if it is not at its place
    even: bool = True  # whether all rows have the same number of cells

    def count(self, blocks: Iterable[Block]) -> Counted:
        """Count the reports of blocks; raise InputError for the first row that is none and may not be left out."""
        total, rows = Counted(), 0
        for block in blocks:
            counted = Counted(len(block))
            counts = self.form.counts(block)
            if counts is None:
                counted, left = self._without_bad(block)
                counts = self.form.counts(left) if counted.n else counted.counts
            if counts is None:
                raise TypeError(f"reports of {self.settings.protocol} of which none is wrong")
            counted.counts = counts
            total.add(counted, self.table.source)
            rows += len(block)
            if len(total.bad) > FEW:
                check_bad(total.bad, rows)
        if self.order and total.n and not isinstance(total.counts, Counter):
            total.counts = total.counts[list(self.order)]
        return total

    def _without_bad(self, block: Block) -> tuple[Counted, Block]:
        """Return the rows of a block that are reports, and how many others were left out."""
        settings, columns = self.settings, range(block.width) if self.columns is None else self.columns
        counted, places, rows = Counted(), list[int](), list[list[str]]()
        for place, row in zip(block.places, block.rows(), strict=True):
            cells = row if self.columns is None else [row[column] for column in columns]
            if any(settings.drops(cell) for cell in cells):
                counted.missing += 1
                continue
            plain = list(self.form.plain(cells))
            if None not in plain:
                rows.append(list(filter(None, plain)))
                places.append(place)
                continue
            refusal = self._refusal(place, columns, cells, plain)
            if not settings.skip_bad:
                raise refusal
            counted.bad.append("" if counted.bad[2:] else str(refusal))
        counted.n = len(rows)
        read = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=False))
        return counted, Block(read, block.width, places)

    def _refusal(self, place: int, columns: Sequence[int], cells: list[str], plain: list[str | None]) -> InputError:
        """Return the error for a row that is no report: it names the first wrong cell, or all if all are wrong."""
        table, at = self.table, plain.index(None)
        what, cell = f"column {table.called(columns[at])}", cells[at]
        if not any(plain):
            what, cell = "the report", ", ".join(cells) if any(cells) else ""
        if not cell:
            return table.bad(place, f"{what} is missing (an empty cell); --drop-missing leaves out such rows")
        hint = near_miss(cell, self.settings.domain or ())
        if table.names is None and place in table.places[:1] and (table.width > 1 or not cell[:1].isdecimal()):
            hint = "; if the line names the columns, say --header"
        return table.bad(place, f"{what} is {shortened(cell)}; {self.says}{hint}")


@dataclass(frozen=True)
class CountedFile:
    """What `Counting` is for a file of counts, which is read with its head: it has few rows."""

    table: InputTable
    settings: ReportSettings
    notes: tuple[str, ...]
    counted: Counted

    def count(self, _: Iterable[Block]) -> Counted:
        """Return the counts."""
        return self.counted


def check_bad(bad: Sequence[str], rows: int) -> None:
    """Raise InputError if so many rows are bad that it is another file, or another protocol."""
    if len(bad) > MOST * rows:
        more = f"{len(bad):,} of {rows:,} rows are no reports, and only 1 % may be left out"
        raise InputError(f"{next(filter(None, bad))} ({more})")
