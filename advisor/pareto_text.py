"""A Pareto frontier as people and programs read it."""

from __future__ import annotations

import csv
import io
import json

from advisor.formats import envelope
from advisor.question.constraints import nothing_left_sentence
from advisor.rank.advice import Recommendation, to_plain
from advisor.rank.pareto import Frontier
from advisor.rank.words import error_with_margin, footer_sentences, percent, times

HEADERS = ("protocol", "method", "error", "to best", "bits", "attack")
LEGEND = (
    "No other pair is as good as one of these in error, bits per report and attack (how often one report gives its "
    "user away) at once."
)


def summary(found: Frontier) -> str:
    """Return the finding in a sentence."""
    if not found.rows:
        return nothing_left_sentence(found.advice.request)
    every = len(found.advice.recommendations)
    lowest = {
        f"the lowest {found.advice.metric} error": found.rows[0],
        "the shortest report": min(found.rows, key=lambda row: row.report_bits),
        "the lowest attack success": min(found.rows, key=lambda row: row.attack_success),
    }
    told = ", ".join(f"{row.protocol} with {row.method} has {what}" for what, row in lowest.items())
    pairs = f"{every} pair{'' if every == 1 else 's'} {'is' if len(found.rows) == 1 else 'are'}"
    return f"{len(found.rows)} of {pairs} worth a choice: {told}."


def lines(found: Frontier) -> list[list[str]]:
    """Return header and rows as text."""
    head = [f"{found.advice.metric} error" if name == "error" else name for name in HEADERS]
    return [
        head,
        *(
            [
                row.protocol,
                row.method,
                error_with_margin(row, ranges=found.advice.over_populations),
                times(row.ratio_to_best),
                f"{row.report_bits:,}",
                percent(row.attack_success),
            ]
            for row in found.rows
        ),
    ]


def print_table(found: Frontier, *, quiet: bool) -> None:
    """Print the finding, the frontier, and what it rests on."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from advisor.render import console_for

    console = console_for()
    console.print(Text(summary(found), style="bold"))
    if not found.rows:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold")
    head, *body = lines(found)
    for place, name in enumerate(head):
        table.add_column(name, justify="left" if place < 2 else "right")
    for cells in body:
        table.add_row(*map(Text, cells))
    console.print(table)
    if not quiet:
        for sentence in [LEGEND, *footer_sentences(found.advice)]:
            console.print(Text(sentence, style="dim"))


def to_plain_text(found: Frontier) -> str:
    """Return finding, aligned columns and notes."""
    if not found.rows:
        return summary(found) + "\n"
    rows = lines(found)
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADERS))]
    aligned = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([summary(found), "", *aligned, "", LEGEND, *footer_sentences(found.advice)]) + "\n"


def to_markdown(found: Frontier) -> str:
    """Return finding, table and notes in Markdown."""
    if not found.rows:
        return f"**{summary(found)}**\n"
    head, *body = lines(found)
    rule = [":---", ":---", *["---:"] * 4]
    table = "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *body])
    return "\n\n".join([f"**{summary(found)}**", table, "  \n".join([LEGEND, *footer_sentences(found.advice)])]) + "\n"


def to_json(found: Frontier) -> str:
    """Return one JSON object: under ``frontier`` what is on it, under ``dominated`` the rest and what beats it."""
    request = found.advice.request
    answer = envelope() | {
        "request": {
            "eps": request.epsilon,
            "k": request.k,
            "n": request.n,
            "metric": found.advice.metric,
            "sample": request.sample,
        },
        "source": found.advice.source,
        "seed": request.seed,
        "assumptions": list(request.assumptions),
        "warnings": list(found.advice.warnings),
        "summary": summary(found),
        "frontier": [to_plain(row) for row in found.rows],
        "dominated": [
            {
                "protocol": row.protocol,
                "method": row.method,
                "error": row.error,
                "report_bits": row.report_bits,
                "attack_success": row.attack_success,
                "dominated_by": {"protocol": better.protocol, "method": better.method},
            }
            for row, better in found.dominated
        ],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_csv(found: Frontier) -> str:
    """Return the frontier as CSV, one line a pair."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Recommendation._fields)
    for row in found.rows:
        writer.writerow("" if value is None else value for value in to_plain(row).values())
    return text.getvalue()
