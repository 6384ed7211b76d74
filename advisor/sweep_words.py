"""A sweep as tables: terminal, JSON, CSV, Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.formats import envelope
from advisor.result import finite
from advisor.sweep import Cell, Sweep, Winner, assumptions
from simulator import METRICS

# Certainty by brightness and weight, so that it reads without colours as well.
SURE, CLEAR, OPEN = "bold green", "green", "dim"
CLEAR_SHARE = 0.5
COLUMNS = (
    "k", "eps", "n", "rank_among", "protocol", "method", "error", "standard_error", "win_share", "margin",
    "margin_low", "margin_high", "runner_up_protocol", "runner_up_method",
)  # fmt: skip


def title(sweep: Sweep) -> str:
    """Return what the tables show."""
    question = sweep.question
    return (
        f"Lowest {question.metric} error ({METRICS[question.metric].unit}) from {question.known[0].name}: winner of "
        f"each cell, share of the {question.repetitions} repetitions it wins, and how far the runner-up is behind."
    )


def footer(sweep: Sweep) -> list[str]:
    """Return what stands below the tables."""
    question = sweep.question
    lines = [
        "Bold: the paired 95 % interval of the runner-up's distance excludes 0; dim: it does not, and the winner wins "
        f"less than half of the repetitions. Seed {question.seed}."
    ]
    said = assumptions(question)
    return [*lines, "Assumed: " + "; ".join(said) + "."] if said else lines


def style(winner: Winner) -> str:
    """Return how certain a winner is, as a style."""
    return SURE if winner.sure else CLEAR if winner.win_share >= CLEAR_SHARE else OPEN


def lines(sweep: Sweep, k: int, *, per_protocol: bool) -> Iterator[tuple[str, str, list[Winner]]]:
    """Yield the rows of the table of one k: ε, protocol (empty without `per_protocol`) and the winner for each n."""
    question = sweep.question
    cells = {cell.place: cell for cell in sweep.cells}
    for epsilon in question.epsilons:
        row = [cells[epsilon, n, k] for n in question.users]
        if not per_protocol:
            yield f"{epsilon:g}", "", [cell.winner for cell in row]
            continue
        for protocol in question.protocols:
            winners = [_of(cell, protocol) for cell in row]
            if all(winners):
                yield f"{epsilon:g}", protocol, [winner for winner in winners if winner is not None]


def _of(cell: Cell, protocol: str) -> Winner | None:
    return next((winner for winner in cell.by_protocol if winner.protocol == protocol), None)


def cell_text(winner: Winner, *, per_protocol: bool) -> str:
    """Return the winner, its share of wins, and how far the runner-up is behind: ``oue power_ns 85 % +12 %``."""
    name = winner.method if per_protocol else f"{winner.protocol} {winner.method}"
    behind = "" if winner.margin is None else f" +{100 * winner.margin:.0f} %"
    return f"{name} {100 * winner.win_share:.0f} %{behind}"


def print_sweep(sweep: Sweep, console: Console, *, per_protocol: bool, quiet: bool) -> None:
    """Print one table for each k, shaded by certainty."""
    question = sweep.question
    console.print(Text(title(sweep), style="bold"))
    for k in question.sizes:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"k = {k:,}", title_justify="left")
        table.add_column("ε", justify="right")
        if per_protocol:
            table.add_column("protocol")
        for n in question.users:
            table.add_column(f"n = {n:,}")
        for epsilon, protocol, winners in lines(sweep, k, per_protocol=per_protocol):
            cells = [Text(cell_text(winner, per_protocol=per_protocol), style=style(winner)) for winner in winners]
            table.add_row(epsilon, *([protocol] if per_protocol else []), *cells)
        console.print(table)
    if not quiet:
        for line in footer(sweep):
            console.print(Text(line, style="dim"))


def to_markdown(sweep: Sweep, *, per_protocol: bool) -> str:
    """Return tables in Markdown; a sure winner is bold."""
    question = sweep.question
    parts = [title(sweep)]
    for k in question.sizes:
        headers = ["ε", *(["protocol"] if per_protocol else []), *(f"n = {n:,}" for n in question.users)]
        rows = [headers, [":---"] * len(headers)]
        for epsilon, protocol, winners in lines(sweep, k, per_protocol=per_protocol):
            texts = [(cell_text(winner, per_protocol=per_protocol), winner.sure) for winner in winners]
            cells = [f"**{text}**" if sure else text for text, sure in texts]
            rows.append([epsilon, *([protocol] if per_protocol else []), *cells])
        parts.append(f"k = {k:,}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows))
    return "\n\n".join([*parts, "  \n".join(footer(sweep))]) + "\n"


def to_text(sweep: Sweep, *, per_protocol: bool) -> str:
    """Return tables as plain text with aligned columns."""
    question = sweep.question
    parts = [title(sweep)]
    for k in question.sizes:
        rows = [["ε", *(["protocol"] if per_protocol else []), *(f"n = {n:,}" for n in question.users)]]
        for epsilon, protocol, winners in lines(sweep, k, per_protocol=per_protocol):
            cells = [cell_text(winner, per_protocol=per_protocol) for winner in winners]
            rows.append([epsilon, *([protocol] if per_protocol else []), *cells])
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        aligned = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )
        parts.append(f"k = {k:,}\n" + "\n".join(aligned))
    return "\n\n".join([*parts, "\n".join(footer(sweep))]) + "\n"


def to_csv(sweep: Sweep) -> str:
    """Return one row for the winner of each cell, and one for that of each protocol in it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in sweep.cells:
        for among, winner in [("all", cell.winner), *(("protocol", winner) for winner in cell.by_protocol)]:
            margin = (winner.margin, winner.margin_low, winner.margin_high)
            numbers = [winner.error, winner.standard_error, winner.win_share, *margin]
            names = [winner.protocol, winner.method]
            written = ["" if value is None else repr(value) for value in numbers]
            writer.writerow([cell.k, cell.epsilon, cell.n, among, *names, *written, *(winner.runner_up or ("", ""))])
    return text.getvalue()


def to_json(sweep: Sweep) -> str:
    """Return one JSON object with every cell, the error of every pair included."""
    question = sweep.question
    answer = envelope() | {
        "request": {
            "eps": list(question.epsilons),
            "n": list(question.users),
            "k": list(question.sizes),
            "metric": question.metric,
            "protocols": list(question.protocols),
            "methods": list(question.methods),
            "sample": question.known[0].name,
            "ordered": question.known[0].ordered,
        },
        "source": "simulation",
        "repetitions": question.repetitions,
        "seed": question.seed,
        "assumptions": assumptions(question),
        "results": [_plain_cell(cell) for cell in sweep.cells],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)


def _plain_cell(cell: Cell) -> dict[str, Any]:
    return {
        "k": cell.k,
        "eps": cell.epsilon,
        "n": cell.n,
        "winner": _plain(cell.winner),
        "by_protocol": [_plain(winner) for winner in cell.by_protocol],
        "errors": [
            {"protocol": protocol, "method": method, "error": finite(error)}
            for (protocol, method), error in cell.errors.items()
        ],
    }


def _plain(winner: Winner) -> dict[str, Any]:
    return {
        "protocol": winner.protocol,
        "method": winner.method,
        "error": finite(winner.error),
        "standard_error": finite(winner.standard_error),
        "win_share": winner.win_share,
        "margin": winner.margin,
        "margin_low": winner.margin_low,
        "margin_high": winner.margin_high,
        "runner_up": None if winner.runner_up is None else list(winner.runner_up),
    }
