"""An answer for readers: sentences, tables and figures in their order, and the data behind them.

Each command builds a `Document`. Each format has exactly one renderer, which knows documents but not their topics. A
`View` is the part that a reader wants to see. It filters by role, so that all formats apply the same filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from advisor.errors import printable, printable_lines
from simulator.ranking import Ratio

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure as Drawing

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
Scalar: TypeAlias = str | int | float | bool | None
Cell: TypeAlias = str | tuple[str, float | None]  # text of a cell, and the figure behind it if any
TOP = 5  # default number of rows shown of a table


class _Printable:
    """Escapes terminal control characters in all texts that may come from the user; line ends stay."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, str):
                object.__setattr__(self, name, printable_lines(value))


class Role(StrEnum):
    """Purpose of a sentence."""

    ANSWER = "answer"
    DETAIL = "detail"
    WARNING = "warning"
    NOTE = "note"
    LEGEND = "legend"


class Tone(StrEnum):
    """Emphasis of a row or a sentence, in formats that can show it."""

    PLAIN = ""
    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"
    PICK = "pick"
    MARKED = "marked"
    FAINT = "faint"


class Badge(StrEnum):
    """Decision of a verdict."""

    NONE = ""
    COLLECT = "Collect"
    USE = "Use"
    TIED = "Tied"
    ALMOST = "Almost"
    NOTHING_SURE = "Nothing is sure"
    DEPENDS = "It depends"
    DO_NOT_COLLECT = "Do not collect"
    DO_NOT_USE = "Do not use"
    NOTHING_LEFT = "Nothing is left"

    @property
    def tone(self) -> Tone:
        """Its emphasis."""
        if self in (Badge.ALMOST, Badge.NOTHING_SURE, Badge.DEPENDS):
            return Tone.DOUBTFUL
        return Tone.BAD if self in (Badge.DO_NOT_COLLECT, Badge.DO_NOT_USE, Badge.NOTHING_LEFT) else Tone.GOOD


@dataclass(frozen=True)
class Sentence(_Printable):
    """A sentence, or a few sentences that belong together."""

    text: str
    role: Role = Role.DETAIL
    tone: Tone = Tone.PLAIN
    badge: str = ""  # the decision in a word or two, in front of the text
    option: str = ""  # words for the command line that do what the text says

    @property
    def full_text(self) -> str:
        """The text with its badge and its option."""
        text = f"{self.badge}: {self.text}" if self.badge else self.text
        return f"{text} ({self.option})" if self.option else text


def sentences(texts: Iterable[str], role: Role = Role.DETAIL, tone: Tone = Tone.PLAIN) -> list[Sentence]:
    """Return texts as sentences with the same role."""
    return [Sentence(text, role, tone) for text in texts]


@dataclass(frozen=True)
class Adjustment:
    """Something that would change the answer."""

    text: str  # one sentence
    option: str = ""  # the words to add to the command, or a command
    settings: Mapping[str, str] = field(default_factory=dict)  # values of controls of the page that do the same


@dataclass(frozen=True)
class Verdict:
    """Conclusion of an answer: all formats show its sentence first, and programs read its kind."""

    kind: str  # a word for programs
    text: str  # one sentence for people
    badge: Badge = Badge.NONE  # the decision in a word or two
    reasons: tuple[str, ...] = ()  # reasons against a better verdict, a word for each
    figures: Mapping[str, float | None] = field(default_factory=dict)
    _: KW_ONLY
    numbers: str = ""  # the figures in one line: what was asked for, what is expected, what no data would give
    changes: tuple[Adjustment, ...] = ()  # what would change it

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences for readers."""
        return (
            Sentence(self.text, Role.ANSWER, self.badge.tone if self.badge else Tone.PLAIN, self.badge),
            *([Sentence(self.numbers, Role.ANSWER)] if self.numbers else []),
            *(Sentence(change.text, option=change.option) for change in self.changes),
        )

    @property
    def summary(self) -> str:
        """The sentences as one text, without what would change it."""
        return " ".join(sentence.full_text for sentence in self.sentences if sentence.role is Role.ANSWER)

    @property
    def data(self) -> dict[str, Json]:
        """Fields of the JSON object."""
        changes: list[Json] = [{"text": change.text, "option": change.option} for change in self.changes]
        return {
            "kind": self.kind,
            "badge": self.badge,
            "text": self.text,
            "numbers": self.numbers,
            "reasons": list(self.reasons),
            "figures": dict(self.figures),
            "changes": changes,
        }


@dataclass(frozen=True)
class Column(_Printable):
    """A column of a table."""

    header: str  # text above the column
    meaning: str = ""  # meaning of its figures, for the legend; "" if the header suffices
    _: KW_ONLY
    text: bool = False  # whether it holds words (to the left), not figures (to the right)
    drop: int = 0  # if space is short, columns with a higher number are dropped first; columns with 0 never
    verbose: bool = False  # whether it is shown only on request
    names: Callable[[str], str] | None = None  # words for its cells, where there is room
    # sentence that replaces the column if all its cells are equal, with ``{}`` for the cell; "" to keep the column
    shared: str = ""


def figure_cell(value: float | None, form: Callable[[float], str]) -> Cell:
    """Return a figure as a cell; a dash for None."""
    return "–" if value is None else form(value), value


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    cells: tuple[str, ...]  # texts, one per column
    # figures behind the texts, by which a page sorts; None for a cell without a figure. Empty: no figures
    values: tuple[float | None, ...] = ()
    # tone, tones: emphasis of the row, or of each of its cells
    tone: Tone = Tone.PLAIN
    # kept, extra: whether it is a row for comparison, shown even if the table is cut; whether it is outside the ranking
    kept: bool = False
    extra: bool = False
    tones: tuple[Tone, ...] = ()
    group: str = ""  # a table that is cut shows one row of a group; "" for a row of its own
    ratio: Ratio | None = None  # drawn beside its cells, where there is room

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
        group: str = "",
        ratio: Ratio | None = None,
    ) -> Row:
        """Return a row of cells; a cell is a text, or a text with its figure."""
        pairs = [(cell, None) if isinstance(cell, str) else cell for cell in cells]
        texts, values = zip(*pairs, strict=True)
        return cls(texts, values, tone, kept=kept, extra=extra, tones=tones, group=group, ratio=ratio)


@dataclass(frozen=True)
class Table(_Printable):
    """A table."""

    # columns, rows: its content; each row has a cell for each column
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""  # text above it, or ""
    noun: str = "rows"  # plural noun for its rows, for the note that some are not shown
    cut: bool = True  # whether rows beyond the view are left out
    brief: bool = False  # whether a design document, in Markdown, leaves out columns that may be dropped
    hidden: int = 0  # number of rows of the ranking that were left out
    heading: str = ""  # heading on a page for it and the sentences before it, if the page has several such tables
    verbose: bool = False  # whether the whole table is shown only on request
    further: bool = False  # whether it goes beyond the answer, and is left out if only the answer is requested

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"a row must have {len(self.columns)} cells, got {len(row.cells)}")

    def head(self, top: int | None) -> Table:
        """Return the table with its first `top` rows (None: all), and with all rows for comparison.

        Of a group it shows the rows for comparison, or else the first row.
        """
        if top is None or not self.cut:
            return self
        kept: list[Row] = []
        groups = {row.group for row in self.rows if row.kept}  # that are shown by a row for comparison
        ranked = left_out = 0
        for row in self.rows:
            if row.kept or row.extra:
                shown = True
            else:
                shown = (not row.group or row.group not in groups) and ranked < top
                left_out += not shown
                groups.add(row.group)
            ranked += shown and not row.extra
            kept += [row] if shown else []
        return replace(self, rows=tuple(kept), hidden=left_out)

    def folded(self) -> tuple[Table, tuple[Sentence, ...]]:
        """Return the table without columns that are constant over the ranking, and sentences with their values."""
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

    @property
    def name(self) -> str:
        """Its name on a page."""
        return self.heading or self.title or self.noun

    @property
    def droppable(self) -> tuple[Column, ...]:
        """The columns to drop if space is short, in this order."""
        return tuple(sorted((column for column in self.columns if column.drop), key=lambda column: -column.drop))


@dataclass(frozen=True)
class Code(_Printable):
    """Text that is shown verbatim for copying, under a title."""

    text: str
    title: str = ""
    role: Role = Role.ANSWER

    @property
    def full_text(self) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True)
class Figure(_Printable):
    """A picture, shown only on pages; `draw` returns an ``<svg>`` element."""

    title: str
    label: str
    draw: Callable[[], str] = field(repr=False)


@dataclass(frozen=True)
class Dial:
    """A setting that the reader of a page can turn."""

    name: str  # name of the setting, in words
    texts: tuple[str, ...]  # its values as text
    at: int  # the number of the value in the question
    values: tuple[float, ...]  # the values


@dataclass(frozen=True)
class Curve:
    """Errors along the first dial, for each value of the second; None for a missing error."""

    name: str
    values: tuple[tuple[float | None, ...], ...]
    intervals: tuple[tuple[tuple[float, float], ...], ...] = ()  # 95 % intervals of the values, if they are drawn


@dataclass(frozen=True)
class Explorer:
    """Precomputed figures for all values of two settings, for a page whose reader turns dials."""

    title: str
    note: str  # source of the figures
    dials: tuple[Dial, Dial]
    names: tuple[str, ...]  # of the figures
    figures: tuple[tuple[tuple[str, ...], ...], ...]  # texts for each value of the first dial, and of the second
    axis: str = ""  # quantity of the curves
    curves: tuple[Curve, ...] = ()


Shown: TypeAlias = Sentence | Table | Code  # in all formats; others stand on pages alone
Part: TypeAlias = Shown | Figure | Explorer


@dataclass(frozen=True)
class Section:
    """Parts under a heading, shown only on pages: too much for other formats."""

    title: str
    parts: tuple[Part, ...]
    first: bool = False  # whether it follows the answer directly, before its tables


@dataclass(frozen=True)
class Records:
    """The rows of an answer as flat data, for CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Scalar]], columns: Iterable[str] = ()) -> Records:
        """Return rows that all have the same fields, in this order.

        columns: names of the fields, for an answer that may have no rows.
        """
        return cls(tuple(columns or rows[0]), tuple(tuple(row.values()) for row in rows))


@dataclass(frozen=True)
class Document(_Printable):
    """An answer with the content for all formats."""

    title: str  # topic of the answer, in a few words
    verdict: Verdict | None  # shown first; None if there is no decision, as in a list
    parts: tuple[Part, ...]  # shown next, in this order
    data: Mapping[str, Json] = field(repr=False)  # the fields of the JSON object after those common to all answers
    records: Records = field(repr=False)  # the rows as flat data
    value: str  # only the answer, one line for each part of it; "" without an answer
    setting: str = ""  # the question, in a line, for the head of a page
    # additional sections of pages; called only when a page is written
    sections: Callable[[], tuple[Section, ...]] = field(default=tuple, repr=False)
    picture: Callable[[], Drawing] | None = field(default=None, repr=False)  # draws the answer; None: nothing to draw
    # another page than that of all documents, from the document and the command
    page: Callable[[Document, str], str] | None = field(default=None, repr=False)
    further_verdicts: tuple[Verdict, ...] = ()  # those of other metrics, which stand among the parts

    @property
    def every_part(self) -> tuple[Part, ...]:
        """The verdict, and all parts after it."""
        return self.parts if self.verdict is None else (*self.verdict.sentences, *self.parts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings, which a run prints on standard error."""
        return tuple(part.text for part in self.parts if isinstance(part, Sentence) and part.role is Role.WARNING)


@dataclass(frozen=True)
class View:
    """The part of a document that a reader wants to see."""

    top: int | None = TOP  # rows of a table, None for all
    quiet: bool = False  # only the answer and its tables
    verbose: bool = False  # also the meaning of columns, and columns that are shown only on request
    hint: bool = True  # whether a note at the end says by which options more is shown; notebooks have none

    def parts(self, document: Document) -> tuple[Shown, ...]:
        """Return the parts for text, without figures (only for pages) and warnings (printed on standard error).

        A note at the end says what was left out, and how to see it.
        """
        roles = {Role.ANSWER} if self.quiet else {Role.ANSWER, Role.DETAIL, Role.NOTE}
        roles |= {Role.LEGEND} if self.verbose and not self.quiet else set()
        shown: list[Shown] = []
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
        if self.hint and not self.quiet and (hint := self._hint(document, shown)):
            shown.append(Sentence(hint, Role.NOTE))
        return tuple(shown)

    def table(self, table: Table) -> tuple[Table, tuple[Sentence, ...]]:
        """Return a table as this view shows it, and sentences that replace its constant columns."""
        rare = () if self.verbose else (column for column in table.columns if column.verbose)
        return table.head(self.top).without(*rare).folded()

    def _hint(self, document: Document, shown: Sequence[Shown]) -> str:
        hidden = [(part.hidden, part.noun) for part in shown if isinstance(part, Table) and part.hidden]
        hints = [f"{hidden[0][0]:,} more {hidden[0][1]}: --all shows them"] if hidden else []
        more = any(isinstance(part, Sentence | Code) and part.role is Role.LEGEND for part in document.parts)
        explained = any(isinstance(part, Table) and legend(part) for part in shown)
        if not self.verbose and (more or explained):
            hints.append("--verbose explains the columns" if explained else "--verbose says more")
        return "; ".join(hints) + "." if hints else ""


def plain(item: DataclassInstance) -> dict[str, Scalar]:
    """Return the fields of a flat dataclass; figures that are not finite become None: JSON has no number for them."""
    fields = asdict(item).items()
    return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in fields}


def legend(table: Table) -> str:
    """Return the meaning of the columns of a table, in a sentence; "" if no column needs it."""
    meanings = [f"{column.header}: {column.meaning}" for column in table.columns if column.meaning]
    return "; ".join(meanings) + "." if meanings else ""
