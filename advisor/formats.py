"""Advice as JSON, CSV, Markdown, plain text, a single value, and HTML for notebooks."""

from __future__ import annotations

import csv
import html
import io
import json
from dataclasses import fields
from typing import Any

from advisor.result import Advice, Recommendation, to_plain
from advisor.table import COLUMNS, TOP, hidden_sentence, table_lines
from advisor.words import answer_sentence, footer_sentences, worth_sentences
from simulator import METRICS, __version__

SCHEMA_VERSION = 1


def envelope() -> dict[str, Any]:
    """Return the fields every JSON answer of this tool starts with."""
    return {"schema_version": SCHEMA_VERSION, "tool_version": __version__}


def to_json(advices: tuple[Advice, ...]) -> str:
    """Return one JSON object: the first metric's ranking, and under ``further_metrics`` the others'."""
    first, request = advices[0], advices[0].request
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
            "repetitions": request.repetitions,
            "max_repetitions": request.max_repetitions,
            "metric_options": request.metric_options,
        },
        "source": first.source,
        "repetitions": first.repetitions,
        "seed": request.seed,
        "experiment_id": first.experiment_id,
        "assumptions": list(request.assumptions),
        "warnings": list(first.warnings),
        **_ranking(first),
        "further_metrics": [{"metric": advice.metric, **_ranking(advice)} for advice in advices[1:]],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)


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
    }


def error_json(message: str) -> str:
    """Return an error as one JSON object on one line."""
    return json.dumps(envelope() | {"error": {"message": message}}, ensure_ascii=False)


def to_csv(advices: tuple[Advice, ...]) -> str:
    """Return all rankings as CSV: a metric column, then the fields of a recommendation."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", *(field.name for field in fields(Recommendation))])
    for advice in advices:
        for row in advice.recommendations:
            writer.writerow([advice.metric, *("" if v is None else v for v in to_plain(row).values())])
    return text.getvalue()


def to_markdown(advices: tuple[Advice, ...], top: int | None = TOP) -> str:
    """Return sentences and tables in Markdown."""
    parts = []
    for advice in advices:
        rule = ["---:" if column.right else ":---" for column in COLUMNS]
        rows = [_headers(advice), rule, *(list(line.cells) for line in table_lines(advice, top))]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
        parts += [" ".join([f"**{answer_sentence(advice)}**", *worth_sentences(advice)]), table]
    return "\n\n".join([*parts, "  \n".join([*footer_sentences(advices[0]), hidden_sentence(advices[0], top)])]) + "\n"


def to_text(advices: tuple[Advice, ...], top: int | None = TOP) -> str:
    """Return sentences and tables as plain text: aligned columns, no boxes, no colours."""
    parts = []
    for advice in advices:
        rows = [_headers(advice), *(list(line.cells) for line in table_lines(advice, top))]
        widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
        lines = [
            "  ".join(
                cell.rjust(width) if column.right else cell.ljust(width)
                for cell, width, column in zip(row, widths, COLUMNS, strict=True)
            ).rstrip()
            for row in rows
        ]
        parts.append("\n".join([answer_sentence(advice), *worth_sentences(advice), "", *lines]))
    return "\n\n".join([*parts, "\n".join([*footer_sentences(advices[0]), hidden_sentence(advices[0], top)])]) + "\n"


def to_value(advices: tuple[Advice, ...]) -> str:
    """Return the best pair and nothing else: ``protocol method``; with several metrics each behind its name."""
    several = len(advices) > 1
    return "".join(
        f"{f'{advice.metric} ' if several else ''}{advice.best.protocol} {advice.best.method}\n" for advice in advices
    )


def to_html(advice: Advice) -> str:
    """Return the answer and the top of the ranking for a notebook."""
    head = "".join(f"<th>{html.escape(header)}</th>" for header in _headers(advice))
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line.cells) + "</tr>"
        for line in table_lines(advice)
    )
    notes = "<br>".join(html.escape(sentence) for sentence in [*worth_sentences(advice), *footer_sentences(advice)])
    return (
        f"<p><b>{html.escape(answer_sentence(advice))}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p><small>{notes}</small></p>"
    )


def _headers(advice: Advice) -> list[str]:
    return [f"{advice.metric} error" if column.key == "error" else column.header for column in COLUMNS]
