"""Errors in one table: pairs by metrics, or of one metric, protocols by methods; the lowest and its ties are marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from advisor.answers.rank.assemble import RAW
from advisor.answers.rank.result import Baseline, Ranking, Recommendation
from advisor.figures import number
from advisor.show.model import (
    Cell,
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Scalar,
    Sentence,
    Table,
    Tone,
    figure_cell,
    sentences,
)
from advisor.show.rank.answer import answer_sentences, compromise_sentences
from advisor.show.rank.document import rank_document
from advisor.show.rank.notes import note_sentences
from advisor.show.rank.table import BASELINE_NAMES, best_of_own
from simulator import METRICS
from simulator.ranking import PRACTICAL_RATIO, Pair

LOWEST, TIED = "*", "="
SPREADS = "In brackets: standard error."
MARKS = f"{LOWEST}: lowest error of the column; {TIED}: within 5 % of it, or not separable from it."
ROW_MARKS = f"{LOWEST}: lowest error of the row; {TIED}: within 5 % of it; –: the method does not go with the protocol."
WITHOUT, AVERAGE = "without_pp", "average_pp"  # keys beside the names of methods


class _Entry(NamedTuple):
    error: float
    mark: str  # `LOWEST`, `TIED` or ""
    standard_error: float | None = None  # None without a simulation
    tier: int | None = None

    def cell(self, *, spreads: bool) -> Cell:
        """Return the error, on request its standard error with as many decimals, and its mark."""
        text = number(self.error)
        if spreads and self.standard_error is not None and self.error < math.inf:
            text += f" ({self.standard_error:,.{len(text.partition('.')[2])}f})"
        return f"{text} {self.mark or ' '}", self.error


Entries: TypeAlias = Mapping[str, _Entry]  # of a row, by column


def matrix_document(rankings: tuple[Ranking, ...], *, spreads: bool = False) -> Document:
    """Return one table of the errors of all pairs in the metrics of an answer; warnings and notes as in a ranking.

    spreads: whether standard errors stand behind the errors, for which a terminal has little room.
    """
    first, metrics = rankings[0], [ranking.metric for ranking in rankings]
    rows: dict[Pair, dict[str, _Entry]] = {}
    for ranking in rankings:
        low = min((row.error for row in ranking.recommendations), default=0.0)
        for row in ranking.recommendations:
            mark = LOWEST if row.error == low else TIED if row.tier == 1 else ""
            rows.setdefault(row.pair, {})[ranking.metric] = _Entry(row.error, mark, row.standard_error, row.tier)
    columns = (
        Column("protocol", text=True),
        Column("method", text=True),
        *(
            Column(metric, f"{METRICS[metric].title} ({METRICS[metric].unit})", drop=place)
            for place, metric in enumerate(metrics)
        ),
        Column("", text=True, drop=len(metrics)),
    )
    notes = {(row.protocol, row.method): f"◂ {BASELINE_NAMES[row.kind]}" for row in first.baselines}
    own = best_of_own(rows)
    shown = [
        replace(row, kept=row.kept or pair in own)
        for pair, entries in rows.items()
        for row in [_row(pair, entries, metrics, notes.get(pair, ""), spreads=spreads)]
    ]
    shown += [_beside(row, rankings) for row in first.baselines if (row.protocol, row.method) not in rows]
    figures = {"": "error", "_tier": "tier", "_standard_error": "standard_error"}
    flat: list[dict[str, Scalar]] = [
        {"protocol": pair[0], "method": pair[1]}
        | {
            f"{metric}{suffix}": getattr(entries.get(metric), figure, None)
            for suffix, figure in figures.items()
            for metric in metrics
        }
        for pair, entries in rows.items()
    ]
    lowest = {
        one.metric: min(one.recommendations, key=lambda row: row.error) for one in rankings if one.recommendations
    }
    names = ("protocol", "method", *(f"{metric}{suffix}" for suffix in figures for metric in metrics))
    document = rank_document(rankings)
    return replace(
        document,
        title="Errors of all pairs in all metrics",
        further_verdicts=(),
        parts=_parts(
            first,
            compromise_sentences(rankings),
            Table(columns, tuple(shown), noun="pairs"),
            f"{MARKS} {SPREADS}" if spreads else MARKS,
        ),
        data={
            **document.data,
            "matrix": [{"protocol": pair[0], "method": pair[1], **_data(row)} for pair, row in rows.items()],
        },
        records=Records.of(flat, names),
        value="\n".join(f"{metric} {' '.join(row.pair)}" for metric, row in lowest.items()),
    )


def protocols_document(ranking: Ranking, *, spreads: bool = False) -> Document:
    """Return the errors of one metric as papers tabulate them: a row for each protocol, a column for each method.

    spreads: as in `matrix_document`.
    """
    names = dict.fromkeys(row.protocol for row in ranking.recommendations)
    unsorted = {name: _entries_of([row for row in ranking.recommendations if row.protocol == name]) for name in names}
    rows = dict(sorted(unsorted.items(), key=lambda item: min(entry.error for entry in item[1].values())))
    methods = dict.fromkeys(row.method for row in ranking.recommendations if row.method != RAW)
    figures = (WITHOUT, AVERAGE, *methods)
    columns = (
        Column("protocol", text=True),
        Column("without PP", "error of the raw estimate, without post-processing"),
        Column("average PP", "mean of the errors with each method of the row"),
        *(Column(method, drop=place) for place, method in enumerate(methods)),
    )
    title = f"Error of each protocol with each method: {METRICS[ranking.metric].title} ({METRICS[ranking.metric].unit})"
    shown = tuple(_row((name,), entries, figures, spreads=spreads) for name, entries in rows.items())
    flat = [
        {"protocol": name, **{figure: getattr(entries.get(figure), "error", None) for figure in figures}}
        for name, entries in rows.items()
    ]
    best = {name: min((n for n in of if n != AVERAGE), key=lambda n: of[n].error) for name, of in rows.items()}
    document = rank_document((ranking,))
    return replace(
        document,
        title=title,
        parts=_parts(
            ranking,
            answer_sentences(ranking),
            Table(columns, shown, title, noun="protocols", cut=False),
            f"{ROW_MARKS} {SPREADS}" if spreads else ROW_MARKS,
        ),
        data={**document.data, "by_protocol": [{"protocol": name, **_data(entries)} for name, entries in rows.items()]},
        records=Records.of(flat, ("protocol", *figures)),
        value="\n".join(f"{name} {method.replace(WITHOUT, RAW)}" for name, method in best.items()),
    )


def _parts(ranking: Ranking, answer: Iterable[Sentence], table: Table, marks: str) -> tuple[Part, ...]:
    warnings = sentences(ranking.warnings, Role.WARNING)
    return (*warnings, *answer, table, Sentence(marks, Role.NOTE), *note_sentences(ranking))


def _entries_of(rows: Sequence[Recommendation]) -> dict[str, _Entry]:
    """Return the errors of one protocol by column: without post-processing, on average with it, with each method."""
    errors, spreads = ({row.method: getattr(row, name) for row in rows} for name in ("error", "standard_error"))
    raw = errors.pop(RAW, rows[0].error_without_postprocessing)
    average = {AVERAGE: _Entry(sum(errors.values()) / len(errors), "")} if errors else {}  # it does not compete
    columns = errors if raw is None else {WITHOUT: raw, **errors}
    low = min(columns.values())
    marks = {
        name: LOWEST if error == low else TIED for name, error in columns.items() if error <= PRACTICAL_RATIO * low
    }
    return {
        name: _Entry(error, marks.get(name, ""), spreads.get(RAW if name == WITHOUT else name))
        for name, error in columns.items()
    } | average


def _row(names: Pair | tuple[str], entries: Entries, columns: Iterable[str], *notes: str, spreads: bool) -> Row:
    """Return a row: its names, a cell for each column, and notes in columns of their own."""
    row = [entries.get(name) for name in columns]
    cells = ("–" if entry is None else entry.cell(spreads=spreads) for entry in row)
    tones = [Tone.GOOD if entry is not None and entry.mark == LOWEST else Tone.PLAIN for entry in row]
    plain = (Tone.PLAIN,)
    return Row.of(
        (*names, *cells, *notes),
        tones=(*plain * len(names), *tones, *plain * len(notes)),
        kept=Tone.GOOD in tones or any(notes),
    )


def _beside(baseline: Baseline, rankings: Iterable[Ranking]) -> Row:
    """Return a row to compare with that is not ranked."""
    same = [next((row.error for row in ranking.baselines if row[:3] == baseline[:3]), None) for ranking in rankings]
    cells = (figure_cell(error, lambda error: f"{number(error)}  ") for error in same)
    names = baseline.protocol or "–", baseline.method or "(no data)"
    return Row.of((*names, *cells, f"◂ {BASELINE_NAMES[baseline.kind]}"), Tone.MARKED, extra=True)


def _data(entries: Entries) -> dict[str, Json]:
    marked = {mark: [name for name, entry in entries.items() if entry.mark == mark] for mark in (LOWEST, TIED)}
    errors = {name: entry.error for name, entry in entries.items()}
    return {"errors": errors, "lowest": marked[LOWEST], "tied": marked[TIED]}
