"""The answer about places as a table, JSON, CSV, Markdown, plain text or one line."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.formats import envelope
from advisor.places.answer import PlacesAdvice, unit_of
from advisor.places.words import (
    LEGEND,
    answer_sentence,
    error_text,
    footer_sentences,
    leak,
    promise_sentences,
    quality_sentence,
)
from advisor.rank.words import change, number, percent, times
from advisor.render import PIPE_WIDTH
from simulator.ranking import Standing


@dataclass(frozen=True)
class Column:
    """A column; where space is short those with a higher `drop` go first, and 0 never goes."""

    key: str
    header: str
    drop: int = 0
    right: bool = True


COLUMNS = (
    Column("rank", "rank"),
    Column("protocol", "protocol", right=False),
    Column("method", "method", right=False),
    Column("error", "error"),
    Column("ratio", "to best", 1),
    Column("gain", "vs raw", 4),
    Column("moved", "moved", 1),
    Column("within", "ε near", 2),
    Column("per_unit", "per unit", 7),
    Column("anywhere", "any two", 3),
    Column("bits", "bits", 8),
    Column("attack", "attack", 6),
)


def fields_of(advice: PlacesAdvice, metric: str, row: Standing) -> dict[str, Any]:
    """Return one row of the ranking as plain figures; None where there is none, or an infinite one."""
    protocol, method = row.pair
    member = advice.mechanisms[protocol]
    figures = {
        "rank": row.rank,
        "tier": row.tier,
        "tied": row.tied,
        "protocol": protocol,
        "method": method,
        "error": row.error,
        "error_low": row.low,
        "error_high": row.high,
        "standard_error": row.standard_error,
        "ratio_to_best": row.ratio.value,
        "ratio_low": row.ratio.low,
        "ratio_high": row.ratio.high,
        "win_share": row.win_share,
        "repetitions": row.repetitions,
        "error_without_postprocessing": advice.error_of(metric, protocol, "none"),
        "expected_distance": member.expected_distance,
        "epsilon_within_radius": member.within,
        "epsilon_per_unit": member.per_unit,
        "epsilon_any_two": member.anywhere,
        "report_bits": member.report_bits,
        "attack_success": member.attack_success,
    }
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in figures.items()}


def _shown(advice: PlacesAdvice, metric: str, top: int | None) -> list[dict[str, str]]:
    lines = []
    for row in advice.rankings[metric][:top]:
        protocol, method = row.pair
        member, raw = advice.mechanisms[protocol], advice.error_of(metric, protocol, "none")
        moved = member.expected_distance
        lines.append(
            {
                "rank": f"{row.rank}=" if row.tied else str(row.rank),
                "protocol": protocol,
                "method": method,
                "error": error_text(row),
                "ratio": times(row.ratio.value if math.isfinite(row.ratio.value) else None),
                "gain": "–" if raw is None else change(row.error, raw),
                "moved": "–" if moved is None else f"{number(moved, 3)} {advice.request.unit}",
                "within": leak(member.within),
                "per_unit": leak(member.per_unit),
                "anywhere": leak(member.anywhere),
                "bits": f"{member.report_bits:,}",
                "attack": percent(member.attack_success),
            }
        )
    return lines


def _columns(advice: PlacesAdvice) -> list[Column]:
    without = {"within", "per_unit"} if advice.request.privacy == "ldp" else set()
    return [column for column in COLUMNS if column.key not in without]


def _headers(columns: list[Column], metric: str) -> list[str]:
    return [f"{metric} error" if column.key == "error" else column.header for column in columns]


def _uniform(advice: PlacesAdvice, metric: str) -> str:
    return (
        f"Without any data (every place equally frequent): {metric} error "
        f"{number(advice.uniform_errors[metric])} {unit_of(metric, advice.request)}."
    )


def _lead(advice: PlacesAdvice, metric: str) -> list[str]:
    quality = quality_sentence(advice, metric)
    return [answer_sentence(advice, metric)] + ([] if quality is None else [quality])


def _closing(advice: PlacesAdvice, top: int | None) -> list[str]:
    hidden = 0 if top is None else max(len(rows) - top for rows in advice.rankings.values())
    more = f"{hidden} more pairs: --all shows them; " if hidden > 0 else ""
    return [*footer_sentences(advice), f"{more}--verbose tells what the columns mean."]


def print_advice(
    advice: PlacesAdvice, console: Console, *, top: int | None, quiet: bool = False, verbose: bool = False
) -> None:
    """Print for each metric the answer and the ranking, then the promise and what it rests on."""
    for metric in advice.request.metrics:
        sentences = _lead(advice, metric)
        console.print(Text(sentences[0], style="bold"))
        for sentence in () if quiet else sentences[1:]:
            console.print(Text(sentence))
        console.print(_drawn(advice, metric, console, top))
        if not quiet:
            console.print(Text(_uniform(advice, metric)))
    if quiet:
        return
    for sentence in promise_sentences(advice):
        console.print(Text(sentence))
    for sentence in _closing(advice, top):
        console.print(Text(sentence, style="dim"))
    if verbose:
        console.print(Text(LEGEND, style="dim"))


def _drawn(advice: PlacesAdvice, metric: str, console: Console, top: int | None) -> Table:
    columns, lines = _columns(advice), _shown(advice, metric, top)
    droppable = sorted((column for column in columns if column.drop), key=lambda column: column.drop)
    boundless = console.options.update(width=PIPE_WIDTH)
    while True:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold")
        for column, header in zip(columns, _headers(columns, metric), strict=True):
            table.add_column(header, justify="right" if column.right else "left")
        for line, row in zip(lines, advice.rankings[metric], strict=False):
            table.add_row(*(Text(line[column.key]) for column in columns), style="green" if row.tier == 1 else None)
        if not droppable or console.measure(table, options=boundless).maximum <= console.width:
            return table
        columns.remove(droppable.pop())


def to_json(advice: PlacesAdvice) -> str:
    """Return one JSON object: the envelope of all answers, the promise, and the ranking of each metric."""
    request, places = advice.request, advice.request.places
    first, *others = [
        {
            "metric": metric,
            "unit": unit_of(metric, request),
            "summary": answer_sentence(advice, metric),
            "error_without_data": advice.uniform_errors[metric],
            "recommendations": [fields_of(advice, metric, row) for row in advice.rankings[metric]],
        }
        for metric in request.metrics
    ]
    answer = envelope() | {
        "request": {
            "eps": request.epsilon,
            "privacy": request.privacy,
            "radius": request.radius,
            "k": places.k,
            "n": request.n,
            "metric": request.metrics[0],
            "metrics": list(request.metrics),
            "sample": request.sample,
            "repetitions": request.repetitions,
        },
        "places": {
            "rows": places.rows,
            "columns": places.columns,
            "distance": places.ground,
            "cell_height": places.height,
            "cell_width": places.width,
            "unit": request.unit,
        },
        "promise": promise_sentences(advice),
        "source": "simulation",
        "repetitions": request.repetitions,
        "seed": request.seed,
        "emd_relative_error": advice.emd_error,
        "ibu": {
            key: {
                "log_likelihood": [fit.log_likelihood for fit in member.ibu_fits],
                "gap": [fit.gap for fit in member.ibu_fits],
                "updates": [fit.updates for fit in member.ibu_fits],
                "converged": [fit.converged for fit in member.ibu_fits],
            }
            for key, member in advice.mechanisms.items()
            if member.ibu_fits
        },
        "constraints": [removal._asdict() for removal in request.removals],
        "assumptions": list(request.assumptions),
        "warnings": list(request.warnings),
        **first,
        "further_metrics": others,
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_csv(advice: PlacesAdvice) -> str:
    """Return all rankings as CSV: metric, promise, then the figures of a row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    request = advice.request
    for metric in request.metrics:
        for row in advice.rankings[metric]:
            figures = fields_of(advice, metric, row)
            if not text.tell():
                writer.writerow(["metric", "privacy", "eps", "radius", *figures])
            cells = ["" if value is None else value for value in (request.radius, *figures.values())]
            writer.writerow([metric, request.privacy, request.epsilon, *cells])
    return text.getvalue()


def to_markdown(advice: PlacesAdvice, top: int | None) -> str:
    """Return sentences and tables in Markdown."""
    columns, parts = _columns(advice), []
    for metric in advice.request.metrics:
        first, *rest = _lead(advice, metric)
        parts.append(" ".join([f"**{first}**", *rest, _uniform(advice, metric)]))
        lines = [_headers(columns, metric), ["---:" if column.right else ":---" for column in columns]]
        lines += [[line[column.key] for column in columns] for line in _shown(advice, metric, top)]
        parts.append("\n".join("| " + " | ".join(line) + " |" for line in lines))
    parts += ["  \n".join(promise_sentences(advice)), "  \n".join(_closing(advice, top))]
    return "\n\n".join(parts) + "\n"


def to_text(advice: PlacesAdvice, top: int | None) -> str:
    """Return sentences and aligned columns, no boxes, no colours."""
    columns, parts = _columns(advice), []
    for metric in advice.request.metrics:
        lines = [_headers(columns, metric)]
        lines += [[line[column.key] for column in columns] for line in _shown(advice, metric, top)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
        table = [
            "  ".join(
                cell.rjust(width) if column.right else cell.ljust(width)
                for cell, width, column in zip(line, widths, columns, strict=True)
            ).rstrip()
            for line in lines
        ]
        parts.append("\n".join([*_lead(advice, metric), "", *table, "", _uniform(advice, metric)]))
    parts += ["\n".join(promise_sentences(advice)), "\n".join(_closing(advice, top))]
    return "\n\n".join(parts) + "\n"


def to_value(advice: PlacesAdvice) -> str:
    """Return the best pair and nothing else; with several metrics each behind its name."""
    several = len(advice.rankings) > 1
    return "".join(
        f"{f'{metric} ' if several else ''}{' '.join(advice.best(metric).pair)}\n" for metric in advice.rankings
    )
