"""The document of a Pareto frontier."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from advisor.answers.rank.result import Ranking, Recommendation
from advisor.answers.rank.trade_offs import Frontier
from advisor.answers.rank.verdict import USELESS
from advisor.figures import percent, times
from advisor.members.names import pair_text
from advisor.show.model import (
    Badge,
    Cell,
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Sentence,
    Table,
    Tone,
    Verdict,
    sentences,
)
from advisor.show.pictures import picture_section
from advisor.show.pictures.ranking import pareto_figure
from advisor.show.rank.answer import hidden_sentences, verdict
from advisor.show.rank.data import ROW_FIELDS, request_data, row_data
from advisor.show.rank.notes import note_sentences, setting_text
from advisor.show.rank.table import ATTACK, attacker_text, error_cell
from simulator import METRICS

WHAT = (
    "No other pair is at least as good as one of these in error, bits per report and attack success, and better in one."
    " Errors within 5 % of the lowest count as equal; the first pair is the answer of ldp-advise."
)


def pareto_document(frontier: Frontier) -> Document:
    """Return the pairs worth considering, and the assumptions."""
    advice, answer, draw = frontier.advice, _verdict(frontier), partial(pareto_figure, frontier)
    title, label = "Error against bits per report", "the frontier"
    parts: list[Part] = [*sentences(advice.warnings, Role.WARNING)]
    if frontier.rows:
        parts.append(Sentence(_extremes(frontier), Role.ANSWER))
        parts += sentences(hidden_sentences(advice), Role.ANSWER, Tone.DOUBTFUL)
        # What depends on the first row of the ranking alone is no matter here.
        notes = note_sentences(replace(advice, detectable_frequency=None, elsewhere=None))
        parts += [_table(frontier), *notes, Sentence(WHAT, Role.LEGEND)]
    return Document(
        title=f"Pairs worth considering: {advice.metric} error, attack success and bits per report",
        verdict=answer,
        parts=tuple(parts),
        data={**_data(frontier), "summary": answer.summary},
        records=Records.of([row_data(row, advice) for row in frontier.rows], ROW_FIELDS),
        value="\n".join(f"{row.protocol} {row.method}" for row in frontier.rows),
        setting=f"{setting_text(advice.request)}, {METRICS[advice.metric].title}",
        sections=lambda: (picture_section(title, label, draw, "pareto"),) if frontier.drawn else (),
        picture=draw if frontier.drawn else None,
    )


def _verdict(frontier: Frontier) -> Verdict:
    """Return how many pairs are worth considering; or that of the ranking, where no pair is worth it or left."""
    usual, rows, total = verdict(frontier.advice), frontier.rows, len(frontier.advice.recommendations)
    if not rows or usual.kind == USELESS:
        return usual
    badge = Badge.COLLECT if usual.badge.tone is Tone.GOOD else usual.badge
    pairs = f"{total} pair{'' if total == 1 else 's'} {'is' if len(rows) == 1 else 'are'}"
    text = f"{len(rows)} of {pairs} worth considering."
    return replace(usual, kind="worth_considering", text=text, badge=badge, changes=())


def _extremes(frontier: Frontier) -> str:
    """Return the pair with the lowest error, that with the shortest report, and that which gives away least."""
    lowest = {
        f"Lowest {frontier.advice.metric} error (to 5 %)": frontier.rows[0],
        "shortest report": min(frontier.rows, key=lambda row: row.report_bits),
        "lowest attack success": min(frontier.rows, key=lambda row: row.attack_success),
    }
    best: dict[tuple[str, str], list[str]] = {}
    for what, row in lowest.items():
        best.setdefault(row.pair, []).append(what)
    return "; ".join(f"{' and '.join(what)}: {pair_text(*pair)}" for pair, what in best.items()) + "."


def _table(frontier: Frontier) -> Table:
    advice = frontier.advice
    columns = (
        Column("protocol", text=True),
        Column("method", text=True),
        Column(f"{advice.metric} error"),
        Column("ratio", "error over the lowest one", drop=1),
        Column("bits", "size of one report"),
        Column("attack", f"{ATTACK}, {attacker_text(advice.request)}"),
    )
    return Table(columns, tuple(_row(row, advice) for row in frontier.rows), noun="pairs")


def _row(row: Recommendation, advice: Ranking) -> Row:
    cells: tuple[Cell, ...] = (
        row.protocol,
        row.method,
        error_cell(row, advice),
        (times(row.ratio_to_best), row.ratio_to_best),
        (f"{row.report_bits:,}", row.report_bits),
        (percent(row.attack_success), row.attack_success),
    )
    return Row.of(cells)


def _data(frontier: Frontier) -> dict[str, Json]:
    """Return under ``frontier`` the pairs on it, under ``dominated`` the others, each with one that beats it."""
    advice, request = frontier.advice, frontier.advice.request
    figures = ("protocol", "method", "error", "report_bits", "attack_success")
    return {
        "request": request_data(advice),
        "source": advice.source,
        "seed": request.seed,
        "assumptions": list(request.assumptions),
        "warnings": list(advice.warnings),
        "frontier": [row_data(row, advice) for row in frontier.rows],
        "dominated": [
            {name: getattr(row, name) for name in figures}
            | {"dominated_by": {"protocol": better.protocol, "method": better.method}}
            for row, better in frontier.dominated
        ],
    }
