"""Advice as JSON, CSV, Markdown, plain text, a single value, and HTML for notebooks."""

from __future__ import annotations

import io
import json
from typing import Any

from advisor.rank.advice import Advice, Recommendation, Why, to_plain
from advisor.rank.table import TOP, columns_of, header_of, hidden_sentence, table_lines
from advisor.rank.words import answer_sentence, footer_sentences, next_round_sentence, worth_sentences
from simulator import METRICS, __version__

SCHEMA_VERSION = 1


def envelope() -> dict[str, Any]:
    """Return the fields every JSON answer of this tool starts with."""
    return {"schema_version": SCHEMA_VERSION, "tool_version": __version__}


def to_json(advices: tuple[Advice, ...]) -> str:
    """Return one JSON object: the first metric's ranking, and under ``further_metrics`` the others'."""
    first, request = advices[0], advices[0].request
    constraints = [removal._asdict() for removal in request.removals]
    answer = envelope() | {
        "request": {
            "eps": request.epsilon,
            "k": request.k,
            "n": request.n,
            "metric": first.metric,
            "metrics": list(request.metrics),
            "protocols": list(request.protocols),
            "methods": list(request.methods),
            "ordered": request.ordered,
            "sample": request.sample,
            "sample_users": request.sample_users,
            "collected_with": None if request.collected is None else request.collected.protocol,
            "populations": None if request.populations is None else len(request.populations),
            "repetitions": request.repetitions,
            "max_repetitions": request.max_repetitions,
            "metric_options": request.metric_options,
            "threat": request.threat,
            "plan": None if request.plan is None else request.plan._asdict(),
        },
        "source": first.source,
        "surrogate": request.surrogate,
        "repetitions": first.repetitions,
        "seed": request.seed,
        "experiment_id": first.experiment_id,
        "assumptions": list(request.assumptions),
        "warnings": list(first.warnings),
        "constraints": constraints,
        **_ranking(first),
        "further_metrics": [{"metric": advice.metric, **_ranking(advice)} for advice in advices[1:]],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)


def _why(why: Why) -> dict[str, Any]:
    return why._asdict() | {"changes": [change._asdict() for change in why.changes]}


def _ranking(advice: Advice) -> dict[str, Any]:
    return {
        "summary": answer_sentence(advice),
        "unit": METRICS[advice.metric].unit,
        "beats_uniform_guess": advice.beats_uniform_guess,
        "error_without_data": advice.error_without_data,
        "resolved": advice.resolved,
        "detectable_frequency": advice.detectable_frequency,
        "baselines": [to_plain(row) for row in advice.baselines],
        "recommendations": [to_plain(row) for row in advice.recommendations],
        "other_users": [{"n": n, "protocol": protocol, "method": method} for n, protocol, method in advice.other_users],
        "why": None if advice.why is None else _why(advice.why),
        "next_round": None if advice.next_round is None else _ranking(advice.next_round),
    }


def error_json(message: str) -> str:
    """Return an error as one JSON object on one line."""
    return json.dumps(envelope() | {"error": {"message": message}}, ensure_ascii=False)


def to_csv(advices: tuple[Advice, ...]) -> str:
    """Return all rankings as CSV: a metric column, then the fields of a recommendation."""
    import csv  # imported when used, as a look-up should not wait for it

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", *Recommendation._fields, "next_round"])
    for advice in advices:
        for table in (advice, advice.next_round):
            for row in () if table is None else table.recommendations:
                cells = ("" if value is None else value for value in to_plain(row).values())
                writer.writerow([advice.metric, *cells, table is not advice])
    return text.getvalue()


def to_markdown(advices: tuple[Advice, ...], top: int | None = TOP) -> str:
    """Return sentences and tables in Markdown."""
    if not advices[0].recommendations:
        return "\n\n".join([f"**{answer_sentence(advices[0])}**", *footer_sentences(advices[0])]) + "\n"
    parts = []
    for advice in advices:
        parts += [" ".join([f"**{answer_sentence(advice)}**", *worth_sentences(advice)]), _markdown(advice, top)]
        if advice.next_round is not None:
            parts += [f"**{next_round_sentence(advice.next_round)}**", _markdown(advice.next_round, top)]
    return "\n\n".join([*parts, "  \n".join([*footer_sentences(advices[0]), hidden_sentence(advices[0], top)])]) + "\n"


def _markdown(advice: Advice, top: int | None) -> str:
    rule = ["---:" if column.right else ":---" for column in columns_of(advice)]
    rows = [_headers(advice), rule, *_cells(advice, top)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def to_text(advices: tuple[Advice, ...], top: int | None = TOP) -> str:
    """Return sentences and tables as plain text: aligned columns, no boxes, no colours."""
    if not advices[0].recommendations:
        return "\n".join([answer_sentence(advices[0]), *footer_sentences(advices[0])]) + "\n"
    parts = []
    for advice in advices:
        parts.append("\n".join([answer_sentence(advice), *worth_sentences(advice), "", *_aligned(advice, top)]))
        if advice.next_round is not None:
            lines = _aligned(advice.next_round, top)
            parts.append("\n".join([next_round_sentence(advice.next_round), "", *lines]))
    return "\n\n".join([*parts, "\n".join([*footer_sentences(advices[0]), hidden_sentence(advices[0], top)])]) + "\n"


def _aligned(advice: Advice, top: int | None) -> list[str]:
    columns = columns_of(advice)
    rows = [_headers(advice), *_cells(advice, top)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in rows
    ]


def to_value(advices: tuple[Advice, ...]) -> str:
    """Return the best pair and nothing else: ``protocol method``; with several metrics each behind its name.

    Nothing at all where constraints leave nothing.
    """
    several = len(advices) > 1
    return "".join(
        f"{f'{advice.metric} ' if several else ''}{advice.best.protocol} {advice.best.method}\n"
        for advice in advices
        if advice.recommendations
    )


def to_html(advice: Advice) -> str:
    """Return the answer and the top of the ranking for a notebook; for an estimate also that of the next round."""
    from html import escape  # imported when used

    if not advice.recommendations:
        return f"<p><b>{escape(answer_sentence(advice))}</b></p>"
    notes = "<br>".join(escape(sentence) for sentence in [*worth_sentences(advice), *footer_sentences(advice)])
    later = advice.next_round
    return (
        f"<p><b>{escape(answer_sentence(advice))}</b></p>{_html_table(advice)}"
        + ("" if later is None else f"<p><b>{escape(next_round_sentence(later))}</b></p>{_html_table(later)}")
        + f"<p><small>{notes}</small></p>"
    )


def _html_table(advice: Advice) -> str:
    from html import escape

    head = "".join(f"<th>{escape(header)}</th>" for header in _headers(advice))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in _cells(advice, TOP)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _headers(advice: Advice) -> list[str]:
    return [header_of(column, advice) for column in columns_of(advice)]


def _cells(advice: Advice, top: int | None) -> list[list[str]]:
    columns = columns_of(advice)
    return [line.cells_of(columns) for line in table_lines(advice, top)]
