"""A sweep as tables: terminal, JSON, CSV, Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.formats import envelope
from advisor.rank.advice import finite
from advisor.sweeps.answer import Cell, Sweep, Winner, assumptions
from simulator import METRICS

# Certainty by a mark, which a pipe and a file keep; on a terminal by brightness and weight as well.
SURE, CLEAR, OPEN = "bold green", "green", "dim"
MARKS = {SURE: "*", CLEAR: "", OPEN: "?"}
CLEAR_SHARE = 0.5
SAME = 1e-6  # relative: kept mean errors are rounded to seven digits
NOTHING = 1e-12  # errors below it are rounding
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


def footer(sweep: Sweep, sure: str = "*") -> list[str]:
    """Return what stands below the tables; `sure` is what shows that a winner is."""
    question = sweep.question
    lines = [
        f"{sure}: the paired 95 % interval of the runner-up's distance excludes 0; ?: it does not, and the winner wins "
        f"less than half of the repetitions. Tied: others have the very same errors. Seed {question.seed}."
    ]
    said = assumptions(question)
    return [*lines, "Assumed: " + "; ".join(said) + "."] if said else lines


def style(winner: Winner) -> str:
    """Return how certain a winner is, as a style."""
    return SURE if winner.sure else CLEAR if winner.win_share >= CLEAR_SHARE else OPEN


def lines(sweep: Sweep, k: int, *, per_protocol: bool) -> Iterator[tuple[str, str, list[tuple[Winner, str]]]]:
    """Yield the rows of the table of one k: ε, protocol (empty without `per_protocol`), and winner and text by n."""
    question = sweep.question
    cells = {cell.place: cell for cell in sweep.cells}
    for epsilon in question.epsilons:
        row = [cells[epsilon, n, k] for n in question.users]
        if not per_protocol:
            yield f"{epsilon:g}", "", [(cell.winner, cell_text(cell.winner, cell, per_protocol=False)) for cell in row]
            continue
        for protocol in question.protocols:
            winners = [(winner, cell) for cell in row if (winner := _of(cell, protocol)) is not None]
            if len(winners) == len(row):
                texts = [(winner, cell_text(winner, cell, per_protocol=True)) for winner, cell in winners]
                yield f"{epsilon:g}", protocol, texts


def _of(cell: Cell, protocol: str) -> Winner | None:
    return next((winner for winner in cell.by_protocol if winner.protocol == protocol), None)


def cell_text(winner: Winner, cell: Cell, *, per_protocol: bool) -> str:
    """Return the winner, its share of wins, and how far the runner-up is behind: ``oue power_ns 85 % +12 %``.

    Where others have the same error, the wins are split among all of them, and neither figure means much: then their
    number instead, ``grr none tied with 3``.
    """
    name = winner.method if per_protocol else f"{winner.protocol} {winner.method}"
    rivals = [error for (protocol, _), error in cell.errors.items() if not per_protocol or protocol == winner.protocol]
    same = sum(math.isclose(error, winner.error, rel_tol=SAME, abs_tol=NOTHING) for error in rivals) - 1
    if same > 0 and not winner.sure:
        return f"{name} tied with {same}"
    behind = "" if winner.margin is None else f" +{100 * winner.margin:.0f} %"
    return f"{name} {100 * winner.win_share:.0f} %{behind}"


def _marked(winner: Winner, text: str) -> str:
    return f"{text} {MARKS[style(winner)]}".rstrip()


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
            cells = [Text(_marked(winner, text), style=style(winner)) for winner, text in winners]
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
            cells = [f"**{text}**" if winner.sure else _marked(winner, text) for winner, text in winners]
            rows.append([epsilon, *([protocol] if per_protocol else []), *cells])
        parts.append(f"k = {k:,}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows))
    return "\n\n".join([*parts, "  \n".join(footer(sweep, sure="**Bold**"))]) + "\n"


def to_text(sweep: Sweep, *, per_protocol: bool) -> str:
    """Return tables as plain text with aligned columns."""
    question = sweep.question
    parts = [title(sweep)]
    for k in question.sizes:
        rows = [["ε", *(["protocol"] if per_protocol else []), *(f"n = {n:,}" for n in question.users)]]
        for epsilon, protocol, winners in lines(sweep, k, per_protocol=per_protocol):
            cells = [_marked(winner, text) for winner, text in winners]
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
