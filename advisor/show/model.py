"""An answer as people read it: sentences, tables and figures in their order, and the data behind them.

Every command builds one `Document`; each format has exactly one renderer, which knows documents and nothing of what
they are about. What a reader wants to see of one is a `View`: it filters by role, so that no format can forget it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from advisor.errors import printable, printable_lines

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
Scalar: TypeAlias = str | int | float | bool | None
Cell: TypeAlias = str | tuple[str, float | None]  # what a cell shows, and the figure behind it where there is one
TOP = 10  # rows of a table that are shown unless somebody says otherwise


class _Printable:
    """Writes what would steer a terminal as escapes, wherever a text of the user's may stand; line ends stay."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, str):
                object.__setattr__(self, name, printable_lines(value))


class Role(StrEnum):
    """What a sentence is for."""

    ANSWER = "answer"
    DETAIL = "detail"
    WARNING = "warning"
    NOTE = "note"
    LEGEND = "legend"


class Tone(StrEnum):
    """How a row or a sentence stands out, where a format can show that."""

    PLAIN = ""
    GOOD = "good"
    DOUBTFUL = "doubtful"
    MARKED = "marked"
    FAINT = "faint"


@dataclass(frozen=True)
class Sentence(_Printable):
    """A sentence, or a few that belong together."""

    text: str
    role: Role = Role.DETAIL
    tone: Tone = Tone.PLAIN


def sentences(texts: Iterable[str], role: Role = Role.DETAIL, tone: Tone = Tone.PLAIN) -> list[Sentence]:
    """Return texts as sentences of one role."""
    return [Sentence(text, role, tone) for text in texts]


@dataclass(frozen=True)
class Verdict:
    """What an answer comes to: every format shows its sentence first, and programs ask for its kind."""

    kind: str  # a word for programs
    text: str  # one sentence, or two, for people
    tone: Tone = Tone.PLAIN
    reasons: tuple[str, ...] = ()  # why it is no better, a word for each reason
    figures: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def sentence(self) -> Sentence:
        """What people read."""
        return Sentence(self.text, Role.ANSWER, self.tone)

    @property
    def data(self) -> dict[str, Json]:
        """Fields of the JSON object."""
        return {"kind": self.kind, "text": self.text, "reasons": list(self.reasons), "figures": dict(self.figures)}


@dataclass(frozen=True)
class Column(_Printable):
    """A column of a table."""

    header: str  # what stands above it
    meaning: str = ""  # what its figures mean, for the legend; "" where the header says all
    _: KW_ONLY
    text: bool = False  # whether it holds words (to the left), not figures (to the right)
    drop: int = 0  # where space is short, columns with a higher figure go first, and those with 0 never
    verbose: bool = False  # whether it is shown on request alone
    # sentence that replaces the column where all its cells are the same, with ``{}`` for the cell; "" to keep it
    shared: str = ""
    path: bool = False  # whether its cells may lose their beginning where space is short: the end of a path says most


def figure_cell(value: float | None, form: Callable[[float], str]) -> Cell:
    """Return a figure as a cell; a dash where there is none."""
    return "–" if value is None else form(value), value


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    cells: tuple[str, ...]  # texts, one for each column
    # the figures behind the texts, by which a page sorts; None where a text is all. Empty: there are none
    values: tuple[float | None, ...] = ()
    # tone, tones: how the row stands out, or each of its cells
    tone: Tone = Tone.PLAIN
    # kept, extra: whether it stands there to compare with, and so is shown wherever the table is cut; and whether it is
    # no part of the ranking at all
    kept: bool = False
    extra: bool = False
    tones: tuple[Tone, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(map(printable, self.cells)))
        object.__setattr__(self, "values", self.values or (None,) * len(self.cells))
        object.__setattr__(self, "tones", self.tones or (Tone.PLAIN,) * len(self.cells))

    @classmethod
    def of(
        cls,
        cells: Iterable[Cell],
        tone: Tone = Tone.PLAIN,
        *,
        kept: bool = False,
        extra: bool = False,
        tones: tuple[Tone, ...] = (),
    ) -> Row:
        """Return a row of cells, each a text, or a text and the figure behind it."""
        pairs = [(cell, None) if isinstance(cell, str) else cell for cell in cells]
        texts, values = zip(*pairs, strict=True)
        return cls(texts, values, tone, kept=kept, extra=extra, tones=tones)


@dataclass(frozen=True)
class Table(_Printable):
    """A table."""

    # columns, rows: what it holds; every row has a cell for each column
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""  # what stands above it, or ""
    noun: str = "rows"  # what its rows are, in the plural, for the note that some are not shown
    cut: bool = True  # whether rows are left out beyond what a reader wants to see
    gaps: frozenset[int] = frozenset()  # numbers of the rows before which rows were left out
    hidden: int = 0  # how many rows of the ranking were left out
    heading: str = ""  # what a page calls it and the sentences before it, where it holds several such tables
    verbose: bool = False  # whether the whole table is shown on request alone
    further: bool = False  # whether it goes beyond the answer, and is left out where nothing but the answer is wanted

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"a row must have {len(self.columns)} cells, got {len(row.cells)}")

    def head(self, top: int | None) -> Table:
        """Return the table with its first `top` rows (None: all), and with every row to compare with."""
        if top is None or not self.cut:
            return self
        kept: list[Row] = []
        gaps: dict[int, int] = {}  # by the number of rows that were left out before: the row behind them
        ranked = left_out = 0
        for row in self.rows:
            ranked += not row.extra
            if ranked > top and not (row.kept or row.extra):
                left_out += 1
            else:
                gaps.setdefault(left_out, len(kept))
                kept.append(row)
        return replace(self, rows=tuple(kept), gaps=frozenset(gaps.values()) - {0}, hidden=left_out)

    def folded(self) -> tuple[Table, tuple[Sentence, ...]]:
        """Return the table without columns that are the same in all rows of the ranking, and what they say."""
        ranked = [row for row in self.rows if not row.extra]
        same: dict[Column, str] = {}
        for place, column in enumerate(self.columns):
            cells = {row.cells[place] for row in ranked}
            if column.shared and len(cells) == 1:
                same[column] = cells.pop()
        notes = sentences((column.shared.format(cell) for column, cell in same.items()), Role.NOTE)
        return self.without(*same), tuple(notes)

    def without(self, *columns: Column) -> Table:
        """Return the table without some columns."""
        places = [place for place, column in enumerate(self.columns) if column not in columns]
        return replace(
            self,
            columns=tuple(self.columns[place] for place in places),
            rows=tuple(
                replace(
                    row,
                    cells=tuple(row.cells[place] for place in places),
                    values=tuple(row.values[place] for place in places),
                    tones=tuple(row.tones[place] for place in places),
                )
                for row in self.rows
            ),
        )

    def shortened(self, most: int) -> Table:
        """Return the table with at most so many characters in the cells of paths."""

        def short(row: Row) -> Row:
            cells = zip(row.cells, self.columns, strict=True)
            return replace(row, cells=tuple(_end(cell, most) if column.path else cell for cell, column in cells))

        return replace(self, rows=tuple(map(short, self.rows)))

    @property
    def name(self) -> str:
        """What a page calls it."""
        return self.heading or self.title or self.noun

    @property
    def droppable(self) -> tuple[Column, ...]:
        """The columns that may go where space is short, the first to go first."""
        return tuple(sorted((column for column in self.columns if column.drop), key=lambda column: -column.drop))


@dataclass(frozen=True)
class Code(_Printable):
    """Text that is shown as it is, fit to be copied, under a title."""

    text: str
    title: str = ""
    role: Role = Role.ANSWER


@dataclass(frozen=True)
class Figure(_Printable):
    """A picture, which only pages show; `draw` returns an ``<svg>`` element."""

    title: str
    label: str
    draw: Callable[[], str] = field(repr=False)


@dataclass(frozen=True)
class Dial:
    """A setting that the reader of a page can turn."""

    name: str  # what it is, in words
    texts: tuple[str, ...]  # its values, as people read them
    at: int  # the number of the value that was asked about
    values: tuple[float, ...]  # the values themselves


@dataclass(frozen=True)
class Curve:
    """An error along the first dial, for each value of the second; None where there is none."""

    name: str
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Explorer:
    """Figures for all values of two settings, worked out beforehand, for a page whose reader turns dials."""

    title: str
    note: str  # what the figures rest on
    dials: tuple[Dial, Dial]
    names: tuple[str, ...]  # of the figures
    figures: tuple[tuple[tuple[str, ...], ...], ...]  # texts for each value of the first dial, and of the second
    axis: str = ""  # what the curves measure
    curves: tuple[Curve, ...] = ()


Part: TypeAlias = Sentence | Table | Code | Figure | Explorer


@dataclass(frozen=True)
class Section:
    """Parts under a heading, which pages alone show: what would be too much elsewhere."""

    title: str
    parts: tuple[Part, ...]
    first: bool = False  # whether it stands right behind the answer, before its tables


@dataclass(frozen=True)
class Records:
    """The rows of an answer as flat data, for CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Scalar]], columns: Iterable[str] = ()) -> Records:
        """Return rows that all have the same fields, in this order.

        columns: their names where there may be no row.
        """
        return cls(tuple(columns or rows[0]), tuple(tuple(row.values()) for row in rows))


@dataclass(frozen=True)
class Document(_Printable):
    """An answer in all its forms."""

    title: str  # what the answer is about, in a few words
    verdict: Verdict | None  # read first; None where nothing is decided, as in a list
    parts: tuple[Part, ...]  # what is read then, in its order
    data: Mapping[str, Json] = field(repr=False)  # the fields of the JSON object behind those that every answer has
    records: Records = field(repr=False)  # the rows as flat data
    value: str  # the answer and nothing else, one line for each part of it; "" where there is none
    setting: str = ""  # what was asked, in a line, for the head of a page
    # what pages show besides; called only when a page is written
    sections: Callable[[], tuple[Section, ...]] = field(default=tuple, repr=False)

    @property
    def every_part(self) -> tuple[Part, ...]:
        """The verdict, and all that follows."""
        return self.parts if self.verdict is None else (self.verdict.sentence, *self.parts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings, which a run says on standard error."""
        return tuple(part.text for part in self.parts if isinstance(part, Sentence) and part.role is Role.WARNING)


@dataclass(frozen=True)
class View:
    """What a reader wants to see of a document."""

    top: int | None = TOP  # rows of a table, None for all
    quiet: bool = False  # the answer and its tables, nothing else
    verbose: bool = False  # also what columns mean, and columns that are shown on request alone
    options: bool = True  # whether the note at the end names options of the command line, which notebooks have not

    def parts(self, document: Document) -> tuple[Part, ...]:
        """Return the parts for text: no figures, which are for pages, and no warnings, which go to standard error.

        A note at the end says what was left out, and how to see it.
        """
        roles = {Role.ANSWER} if self.quiet else {Role.ANSWER, Role.DETAIL, Role.NOTE}
        roles |= {Role.LEGEND} if self.verbose and not self.quiet else set()
        shown: list[Part] = []
        for part in document.every_part:
            if isinstance(part, Table):
                if (part.verbose and Role.LEGEND not in roles) or (part.further and self.quiet):
                    continue
                table, sentences = self.table(part)
                shown += [table, *(sentence for sentence in sentences if sentence.role in roles)]
            elif isinstance(part, Sentence | Code) and part.role in roles:
                shown.append(part)
        if Role.LEGEND in roles:
            tables = (part for part in shown if isinstance(part, Table))
            shown += [Sentence(words, Role.LEGEND) for words in dict.fromkeys(map(legend, tables)) if words]
        if not self.quiet and (hint := self._hint(document, shown)):
            shown.append(Sentence(hint, Role.NOTE))
        return tuple(shown)

    def table(self, table: Table) -> tuple[Table, tuple[Sentence, ...]]:
        """Return a table as this view shows it, and sentences that replace its constant columns."""
        cut, sentences = table.head(self.top).folded()
        if self.verbose:
            return cut, sentences
        return cut.without(*(column for column in cut.columns if column.verbose)), sentences

    def _hint(self, document: Document, shown: Sequence[Part]) -> str:
        hidden = [(part.hidden, part.noun) for part in shown if isinstance(part, Table) and part.hidden]
        if not self.options:
            return f"{hidden[0][0]:,} more {hidden[0][1]}." if hidden else ""
        hints = [f"{hidden[0][0]:,} more {hidden[0][1]}: --all shows them"] if hidden else []
        more = any(isinstance(part, Sentence) and part.role is Role.LEGEND for part in document.parts)
        explained = any(isinstance(part, Table) and legend(part) for part in shown)
        if not self.verbose and (more or explained):
            hints.append("--verbose explains the columns" if explained else "--verbose says more")
        return "; ".join(hints) + "." if hints else ""


def plain(item: DataclassInstance) -> dict[str, Scalar]:
    """Return the fields of a flat dataclass; a figure that is not finite is None, as JSON has no number for it."""
    fields = asdict(item).items()
    return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in fields}


def _end(text: str, most: int) -> str:
    """Return the end of a text.

    >>> _end("clients/of/others.py:send", 12), _end("grr", 12)
    ('…ers.py:send', 'grr')
    """
    return text if len(text) <= most else "…" + text[1 - most :]


def legend(table: Table) -> str:
    """Return what the columns of a table mean, in a sentence; "" where none needs a word."""
    meanings = [f"{column.header}: {column.meaning}" for column in table.columns if column.meaning]
    return "; ".join(meanings) + "." if meanings else ""
