"""Decide whether the first line names the columns, and say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from advisor.errors import InputError, listed, printable
from advisor.inputs.columns import Table, is_header
from advisor.inputs.dialect import Dialect, Records
from advisor.inputs.numbers import looks_numeric

IsHeader: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]], Table, bool], bool]
"""Tell by the first row, those after it, the columns of both and the usual rules' answer if the first names columns."""


@dataclass(frozen=True)
class HeaderRule:
    """What decides about the first line."""

    what: str  # what the rows are, for messages ("reports")
    given: bool | None = None  # what the user says, None to find out
    asked: Sequence[str | None] = ()  # the columns the user named
    names_columns: IsHeader | None = None  # what finds out, None for the rules that samples follow

    def applied(self, source: str, form: Dialect, head: Records, *, cut: bool) -> tuple[Table, tuple[str, ...]]:
        """Return the columns with the first rows below the header, and what was decided.

        Raises InputError if the file holds nothing but a header.
        """
        (_, first), *below = head.filled
        rest = [row for _, row in below]
        comma = form.delimiter == ";"
        named = self.given
        if named is None:
            named = is_header(first, rest, self.asked, table=form.table)
            # A column that was asked for by its name is a header, whatever else the line looks like.
            if self.names_columns is not None and not _names_asked(first, self.asked):
                places = [place for place, _ in head.filled]
                whole = Table(source, None, len(first), [first, *rest], places, decimal_comma=comma)
                named = self.names_columns(first, rest, whole, named)
        if named and not rest and not cut:
            raise InputError(
                f"{source}: holds only a header line ({_joined(first)}), no {self.what}; "
                "if the line is data, say --no-header"
            )
        names = tuple(cell.strip() for cell in first) if named else None
        kept = below if named else head.filled
        table = Table(
            source, names, len(first), [row for _, row in kept], [place for place, _ in kept], decimal_comma=comma
        )
        return table, self._described(first, form, named=named)

    def _described(self, first: Sequence[str], form: Dialect, *, named: bool) -> tuple[str, ...]:
        if self.given is not None:
            decided = f"first line is the header ({_joined(first)})" if named else "no header line, as asked"
        else:
            decided = f"first line taken as the header ({_joined(first)})" if named else "no header line found"
        return (decided,) if form.delimiter in {None, ","} else (decided, f"columns separated by {form.describe()}")


def header_doubt(table: Table) -> tuple[str, ...]:
    """Say so if the first value of one column of words may be the column's name: there once, among repeated values."""
    first, *rest = table.cells(0)
    times = Counter(rest)
    if first in times or looks_numeric(first) or 2 * sum(count for count in times.values() if count > 1) <= len(rest):
        return ()
    return (
        f"the first line ({printable(first[:60])}) was counted as a value, and no other line near it is the same; if "
        "it names the column say --header, else --no-header",
    )


def _names_asked(first: Sequence[str], asked: Sequence[str | None]) -> bool:
    # A number is the place of a column, not its name.
    wanted = {name.strip().casefold() for name in asked if name and not name.strip().isdecimal()}
    return bool(wanted & {cell.strip().casefold() for cell in first})


def _joined(first: Sequence[str]) -> str:
    shown = listed((printable(cell.strip()) for cell in first), most=6)
    return shown if len(shown) <= 120 else shown[:120] + "…"
