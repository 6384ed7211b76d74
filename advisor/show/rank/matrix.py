"""Errors in one table: pairs by metrics, the best of each column marked; of one metric, protocols by methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from advisor.answers.rank.assemble import RAW
from advisor.answers.rank.result import Baseline, Ranking, Recommendation
from advisor.figures import number
from advisor.members.names import pair_text
from advisor.show.model import (
    Column,
    Document,
    Json,
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
from advisor.show.rank.answer import answer_sentences, compromise_sentences, verdict
from advisor.show.rank.data import rank_data
from advisor.show.rank.notes import note_sentences, setting_text
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
    tier: int
    standard_error: float | None  # None without a simulation


Matrix: TypeAlias = Mapping[str, Mapping[Pair, _Entry]]  # by metric


def matrix_document(rankings: tuple[Ranking, ...], *, spreads: bool = False) -> Document:
    """Return one table of the errors of all pairs in the metrics of an answer; warnings and notes as in a ranking.

    spreads: whether standard errors stand behind the errors, for which a terminal has little room.
    """
    first = rankings[0]
    entries = {ranking.metric: _entries(ranking) for ranking in rankings}
    pairs = tuple(dict.fromkeys(pair for ranking in rankings for pair in entries[ranking.metric]))
    best = "; ".join(_best_text(ranking) for ranking in rankings if ranking.recommendations)
    return Document(
        title="Errors of all pairs in all metrics",
        verdict=verdict(first),
        parts=(
            *sentences(first.warnings, Role.WARNING),
            *([Sentence(f"Lowest errors: {best}.", Role.ANSWER)] if best else []),
            *compromise_sentences(rankings),
            _table(pairs, entries, rankings, spreads=spreads),
            Sentence(f"{MARKS} {SPREADS}" if spreads else MARKS, Role.NOTE),
            *note_sentences(first),
        ),
        data={**rank_data(rankings), "matrix": [_row_data(pair, entries) for pair in pairs]},
        records=_records(pairs, entries),
        value="\n".join(
            f"{ranking.metric} {' '.join(_lowest(ranking).pair)}" for ranking in rankings if ranking.recommendations
        ),
        setting=setting_text(first.request),
    )


def _lowest(ranking: Ranking) -> Recommendation:
    return min(ranking.recommendations, key=lambda row: row.error)


def _entries(ranking: Ranking) -> dict[Pair, _Entry]:
    lowest = _lowest(ranking).error if ranking.recommendations else 0.0
    return {
        row.pair: _Entry(
            row.error, LOWEST if row.error == lowest else TIED if row.tier == 1 else "", row.tier, row.standard_error
        )
        for row in ranking.recommendations
    }


def _best_text(ranking: Ranking) -> str:
    lowest = _lowest(ranking)
    others = sum(row.tier == 1 for row in ranking.recommendations if row.pair != lowest.pair)
    tied = f" ({others} tied)" if others else ""
    return f"{ranking.metric} {number(lowest.error, 3)} by {pair_text(*lowest.pair)}{tied}"


def _table(pairs: tuple[Pair, ...], entries: Matrix, rankings: tuple[Ranking, ...], *, spreads: bool) -> Table:
    """Return the table: pairs in rank order, and, in any case, those of the caller's own and those to compare with."""
    protocol = Column("protocol", text=True)
    columns = (
        protocol,
        Column("method", text=True),
        *(
            Column(metric, f"{METRICS[metric].title} ({METRICS[metric].unit})", drop=place)
            for place, metric in enumerate(entries)
        ),
        Column("", text=True, drop=len(entries)),
    )
    baselines = rankings[0].baselines
    notes = {_pair(row): f"◂ {BASELINE_NAMES[row.kind]}" for row in baselines}
    registered = best_of_own(pairs)
    only = pairs[0][0] if len({name for name, _ in pairs}) == 1 else None
    rows = [_row(pair, entries, note=notes.get(pair, ""), kept=pair in registered, spreads=spreads) for pair in pairs]
    rows += [_beside(row, rankings, only) for row in baselines if _pair(row) not in pairs]
    table = Table(columns, tuple(rows), noun="pairs")
    return table if only is None else table.without(protocol)


def _pair(row: Baseline) -> tuple[str | None, str | None]:
    return row.protocol, row.method


def _beside(row: Baseline, rankings: tuple[Ranking, ...], only: str | None) -> Row:
    """Return a row to compare with that is not ranked.

    only: the one protocol of all others, whose name is left out; None where there are several.
    """
    errors = [
        {(baseline.kind, *_pair(baseline)): baseline.error for baseline in ranking.baselines}.get(
            (row.kind, *_pair(row))
        )
        for ranking in rankings
    ]
    method = row.method or "(no data)"
    if only is not None and row.protocol not in (None, only):
        method = f"{row.protocol} {method}"
    cells = (figure_cell(error, lambda error: f"{number(error)}  ") for error in errors)
    return Row.of((row.protocol or "–", method, *cells, f"◂ {BASELINE_NAMES[row.kind]}"), Tone.MARKED, extra=True)


def _text(error: float, standard_error: float | None, mark: str) -> str:
    """Return an error, its standard error with as many decimals, and its mark."""
    text = number(error)
    spread = (
        "" if standard_error is None or error == math.inf else f" ({standard_error:,.{len(text.partition('.')[2])}f})"
    )
    return f"{text}{spread} {mark or ' '}"


def _row(pair: Pair, entries: Matrix, *, note: str, kept: bool, spreads: bool) -> Row:
    row_entries = [column.get(pair) for column in entries.values()]
    cells = (
        "–"
        if entry is None
        else (_text(entry.error, entry.standard_error if spreads else None, entry.mark), entry.error)
        for entry in row_entries
    )
    marks = [entry.mark if entry is not None else "" for entry in row_entries]
    tones = (Tone.PLAIN, Tone.PLAIN, *(Tone.GOOD if mark else Tone.PLAIN for mark in marks), Tone.PLAIN)
    return Row.of((*pair, *cells, note), tones=tones, kept=kept or bool(note) or LOWEST in marks)


def _row_data(pair: Pair, entries: Matrix) -> dict[str, Json]:
    row_entries = {metric: column[pair] for metric, column in entries.items() if pair in column}
    return {
        "protocol": pair[0],
        "method": pair[1],
        "errors": {metric: entry.error for metric, entry in row_entries.items()},
        "lowest": [metric for metric, entry in row_entries.items() if entry.mark == LOWEST],
        "tied": [metric for metric, entry in row_entries.items() if entry.mark == TIED],
    }


def _records(pairs: tuple[Pair, ...], entries: Matrix) -> Records:
    rows: list[dict[str, Scalar]] = []
    for protocol, method in pairs:
        row_entries = {metric: column.get((protocol, method)) for metric, column in entries.items()}
        errors = {metric: entry and entry.error for metric, entry in row_entries.items()}
        tiers = {f"{metric}_tier": entry and entry.tier for metric, entry in row_entries.items()}
        spreads = {f"{metric}_standard_error": entry and entry.standard_error for metric, entry in row_entries.items()}
        rows.append({"protocol": protocol, "method": method, **errors, **tiers, **spreads})
    more = (f"{metric}_{figure}" for figure in ("tier", "standard_error") for metric in entries)
    return Records.of(rows, ("protocol", "method", *entries, *more))


class _ProtocolErrors(NamedTuple):
    """The errors of a protocol, by column: without post-processing, on average with it, and with each method."""

    protocol: str
    errors: dict[str, float]

    def marked(self, mark: str) -> list[str]:
        """Return the columns of the lowest error, or of others within 5 % of it; the average does not compete."""
        low = min(self.errors.values())
        each = ((name, error) for name, error in self.errors.items() if name != AVERAGE)
        return [name for name, error in each if error <= PRACTICAL_RATIO * low and (error == low) == (mark == LOWEST)]


def protocols_document(ranking: Ranking, *, spreads: bool = False) -> Document:
    """Return the errors of one metric as papers tabulate them: a row for each protocol, a column for each method.

    spreads: as in `matrix_document`.
    """
    behind = {row.pair: row.standard_error for row in ranking.recommendations if spreads}
    names = dict.fromkeys(row.protocol for row in ranking.recommendations)
    rows = sorted((_errors_of(name, ranking) for name in names), key=lambda row: min(row.errors.values()))
    methods = dict.fromkeys(row.method for row in ranking.recommendations if row.method != RAW)
    figures = (WITHOUT, AVERAGE, *methods)
    columns = (
        Column("protocol", text=True),
        Column("without PP", "error of the raw estimate, without post-processing"),
        Column("average PP", "mean of the errors with each method of the row"),
        *(Column(method, drop=place) for place, method in enumerate(methods)),
    )
    title = f"Error of each protocol with each method: {METRICS[ranking.metric].title} ({METRICS[ranking.metric].unit})"
    cells = tuple(_protocol_row(row, figures, behind) for row in rows)
    flat = [{"protocol": row.protocol, **{name: row.errors.get(name) for name in figures}} for row in rows]
    return Document(
        title=title,
        verdict=verdict(ranking),
        parts=(
            *sentences(ranking.warnings, Role.WARNING),
            *answer_sentences(ranking),
            Table(columns, cells, title, noun="protocols", cut=False),
            Sentence(f"{ROW_MARKS} {SPREADS}" if spreads else ROW_MARKS, Role.NOTE),
            *note_sentences(ranking),
        ),
        data={
            **rank_data((ranking,)),
            "by_protocol": [{**row._asdict(), "lowest": row.marked(LOWEST), "tied": row.marked(TIED)} for row in rows],
        },
        records=Records.of(flat, ("protocol", *figures)),
        value="\n".join(f"{row.protocol} {row.marked(LOWEST)[0].replace(WITHOUT, RAW)}" for row in rows),
        setting=setting_text(ranking.request),
    )


def _errors_of(protocol: str, ranking: Ranking) -> _ProtocolErrors:
    rows = [row for row in ranking.recommendations if row.protocol == protocol]
    errors = {row.method: row.error for row in rows}
    raw = errors.pop(RAW, rows[0].error_without_postprocessing)
    average = {AVERAGE: sum(errors.values()) / len(errors)} if errors else {}
    return _ProtocolErrors(protocol, {**({} if raw is None else {WITHOUT: raw}), **average, **errors})


def _protocol_row(row: _ProtocolErrors, figures: tuple[str, ...], spreads: Mapping[Pair, float | None]) -> Row:
    behind = {name: spreads.get((row.protocol, name.replace(WITHOUT, RAW))) for name in figures}
    marks = {name: mark for mark in (LOWEST, TIED) for name in row.marked(mark)}
    cells = (
        (_text(row.errors[name], behind[name], marks.get(name, "")), row.errors[name]) if name in row.errors else "–"
        for name in figures
    )
    tones = (Tone.GOOD if marks.get(name) == LOWEST else Tone.PLAIN for name in ("", *figures))
    return Row.of((row.protocol, *cells), tones=tuple(tones))
