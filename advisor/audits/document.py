"""Audits as people and programs read them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from advisor.audits.answer import AuditOptions
from advisor.formats import envelope
from simulator.audit import Audit

SHORT_LABEL = 20  # characters of a label that matter more than the columns that can be left out
HEADERS = ("audited", "ε", "k", "loss ≥", "analytic", "slack", "promised", "promised/loss", "leak")


def label(row: Audit) -> str:
    """Return what was audited in a word."""
    if row.symbols is not None:
        return f"lho g={row.symbols}"
    inner = f"{row.protocol}-{row.fake}" if row.fake else row.protocol
    if row.solution:
        return f"{row.solution}[{inner}] d={row.attributes}"
    return f"{inner} ×{row.rounds}" if row.rounds > 1 else inner


def figure(value: float | None) -> str:
    """Return a privacy loss with three decimals.

    >>> figure(0.66666), figure(None), figure(float("inf"))
    ('0.667', '–', '∞')
    """
    return "–" if value is None else "∞" if math.isinf(value) else f"{value:.3f}"


def confidence(alpha: float) -> str:
    """Return ``1 - alpha`` in percent.

    >>> confidence(0.01), confidence(0.003)
    ('99 %', '99.7 %')
    """
    return f"{100 * (1 - alpha):.10g} %"


def summary(rows: Sequence[Audit]) -> str:
    """Return the finding in a sentence, and in another that of rows without a promise to compare with."""
    promised = [row for row in rows if row.epsilon_guaranteed is not None]
    rest = [row for row in rows if row.epsilon_guaranteed is None]
    return " ".join(tell(some) for tell, some in ((_of_promised, promised), (_of_rest, rest)) if some)


def _of_rest(rows: Sequence[Audit]) -> str:
    most = max(rows, key=lambda row: row.epsilon_lower_bound)
    which = "" if len(rows) == 1 else f"of {len(rows)} such audits the most is lost in this one: "
    return f"Local hashing without perturbation (lho) promises nothing; {which}{_loss(most)}."


def _of_promised(rows: Sequence[Audit]) -> str:
    sure = confidence(rows[0].alpha)
    leaking = [row for row in rows if row.leaks]
    if leaking:
        worst = max(leaking, key=lambda row: row.epsilon_lower_bound - (row.epsilon_guaranteed or 0.0))
        told = f"{_called(worst)} LEAKS: it loses at least {figure(worst.epsilon_lower_bound)}, not the promised "
        told += f"{worst.epsilon_guaranteed:g} (confidence {sure})"
        more = "" if len(rows) == 1 else f"; {len(leaking)} of {len(rows)} audits find more than is promised"
        return f"{told}{more}."
    if len(rows) > 1:
        return f"{len(rows)} audits; none finds more than is promised (confidence {sure} each)."
    return f"{_loss(rows[0])}; promised are at most {rows[0].epsilon_guaranteed:g}."


def _loss(row: Audit) -> str:
    told = f"{_called(row)} loses at least {figure(row.epsilon_lower_bound)} (confidence {confidence(row.alpha)})"
    if row.epsilon_analytic is not None:
        told += f"; infinitely many trials would show {figure(row.epsilon_analytic)}"
    return told


def _called(row: Audit) -> str:
    setting = "" if row.epsilon is None else f"ε = {row.epsilon:g}, "
    return f"{label(row)} at {setting}k = {row.k:,}"


def notes(rows: Sequence[Audit]) -> list[str]:
    """Return how it was measured and what the columns mean."""
    first = rows[0]
    attacks = dict.fromkeys(row.attack for row in rows)
    what = {
        "guess": "guess: the attacker names one value from each report",
        "pair": f"pair: the attacker says v1 = {first.values[0]} where a report supports it and not v2 = "
        f"{first.values[1]}",
    }
    lines = [
        f"{first.trials:,} trials of each value; attack {'; '.join(what[name] for name in attacks)}; highest bound "
        f"that so many trials can give: {figure(first.epsilon_ceiling)}.",
    ]
    known = [row for row in rows if row.agrees is not None]
    if known:
        level = confidence(first.alpha)
        held = sum(row.agrees is True for row in known)
        below = sum(_shortfall(row) <= (row.epsilon_slack or 0.0) for row in known)
        lines += [
            "loss ≥: bound from below; analytic: what infinitely many trials would give; slack: how far below that the "
            "bound may fall by chance.",
            f"Trials and analytic values agree in {held} of {len(known)} audits, and the bound is within its slack in "
            f"{below} (confidence {level} for all together).",
        ]
    return lines


def _shortfall(row: Audit) -> float:
    return (row.epsilon_analytic or 0.0) - row.epsilon_lower_bound


def cells(row: Audit) -> list[str]:
    """Return one line of the table."""
    promised, bound = row.epsilon_guaranteed, row.epsilon_lower_bound
    return [
        label(row),
        "∞" if row.epsilon is None else f"{row.epsilon:g}",
        f"{row.k:,}",
        figure(bound),
        figure(row.epsilon_analytic),
        figure(row.epsilon_slack),
        "–" if promised is None else f"{promised:g}",
        "–" if promised is None or not bound else f"{promised / bound:.2f}",
        "LEAKS" if row.leaks else "none shown" if promised is not None else "–",
    ]


def print_table(rows: Sequence[Audit], *, quiet: bool) -> None:
    """Print the finding, the table, and what it rests on."""
    from rich import box
    from rich.table import Table
    from rich.text import Text as Words

    from advisor.render import console_for

    console = console_for()
    console.print(Words(summary(rows), style="bold red" if any(row.leaks for row in rows) else "bold"))
    lines = [cells(row) for row in rows]
    shown, longest = _fitting(lines, _shown(rows, narrow=console.width < 100), console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold")
    for place in shown:
        table.add_column(HEADERS[place], justify="left" if place in (0, 8) else "right", no_wrap=True)
    for row, line in zip(rows, lines, strict=True):
        line[0] = _end(line[0], longest)
        table.add_row(*(Words(line[place]) for place in shown), style="red" if row.leaks else None)
    console.print(table)
    if not quiet:
        for sentence in notes(rows):
            console.print(Words(sentence, style="dim"))


def _shown(rows: Sequence[Audit], *, narrow: bool = False) -> list[int]:
    """Return the columns that say something; on a narrow terminal the verdict only where it is bad."""
    left_out = set()
    if all(row.epsilon_analytic is None for row in rows):
        left_out |= {4, 5}
    if narrow and not any(row.leaks for row in rows):
        left_out.add(8)
    return [place for place in range(len(HEADERS)) if place not in left_out]


def _fitting(lines: Sequence[Sequence[str]], shown: list[int], width: int) -> tuple[list[int], int]:
    """Return the columns to show on a terminal and how long labels may be, so that every figure stays whole.

    Long labels give way first, then columns that follow from others or from what was asked, then all labels.
    """
    for gone in ((), (7,), (7, 5), (7, 5, 4), (7, 5, 4, 6)):
        left = [place for place in shown if place not in gone]
        widths = [max(len(line[place]) for line in [HEADERS, *lines]) for place in left]
        longest = width - 2 * len(left) - sum(widths[1:])  # two spaces beside each column
        if longest >= min(widths[0], SHORT_LABEL):
            break
    return left, max(longest, 8)


def _end(text: str, longest: int) -> str:
    """Return the end of a label: that of a function's path says most.

    >>> _end("clients/of/others.py:send", 12), _end("grr", 12)
    ('…ers.py:send', 'grr')
    """
    return text if len(text) <= longest else "…" + text[1 - longest :]


def to_plain(rows: Sequence[Audit]) -> str:
    """Return finding, aligned columns and notes as plain text."""
    shown = _shown(rows)
    lines = [[line[place] for place in shown] for line in [list(HEADERS), *map(cells, rows)]]
    widths = [max(len(line[place]) for line in lines) for place in range(len(shown))]
    aligned = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    ]
    return "\n".join([summary(rows), "", *aligned, "", *notes(rows)]) + "\n"


def to_json(rows: Sequence[Audit], options: AuditOptions) -> str:
    """Return one JSON object with the usual envelope and one object for each audit."""
    answer = envelope() | {
        "request": {
            "protocols": list(dict.fromkeys(row.protocol for row in rows)),
            "eps": list(options.eps),
            "k": list(options.k),
            "trials": rows[0].trials,
            "alpha": rows[0].alpha,
            "values": list(rows[0].values),
            "target": options.target,
            "reports": options.reports,
        },
        "seed": options.seed,
        "summary": summary(rows),
        "results": [_plain(row) for row in rows],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(row: Audit) -> dict[str, Any]:
    plain = asdict(row)
    return {
        name: list(value)
        if isinstance(value, tuple)
        else None
        if isinstance(value, float) and not math.isfinite(value)
        else value
        for name, value in plain.items()
    }


def to_csv(rows: Sequence[Audit]) -> str:
    """Return one line for each audit, one column for each of its fields."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Audit)])
    for row in rows:
        plain = _plain(row) | {"values": f"{row.values[0]},{row.values[1]}"}
        writer.writerow(["" if value is None else value for value in plain.values()])
    return text.getvalue()


def to_markdown(rows: Sequence[Audit]) -> str:
    """Return the finding, a table, and notes in Markdown; several budgets make a matrix, one column for each."""
    budgets = list(dict.fromkeys(row.epsilon for row in rows if row.epsilon is not None))
    if len(budgets) > 1 and all(row.epsilon is not None for row in rows):
        table, how = _matrix(rows, budgets), ["Each cell: loss ≥ / analytic (slack)."]
    else:
        shown = _shown(rows)
        lines = [[line[place] for place in shown] for line in [list(HEADERS), *map(cells, rows)]]
        table, how = _markdown(lines, [":---", *["---:"] * (len(shown) - 2), ":---"]), []
    return "\n\n".join([f"**{summary(rows)}**", table, "  \n".join([*how, *notes(rows)])]) + "\n"


def _matrix(rows: Sequence[Audit], budgets: list[float]) -> str:
    lines: dict[tuple[str, int], dict[float | None, str]] = {}
    for row in rows:
        cell = f"{figure(row.epsilon_lower_bound)} / {figure(row.epsilon_analytic)} ({figure(row.epsilon_slack)})"
        lines.setdefault((label(row), row.k), {})[row.epsilon] = f"**{cell}**" if row.leaks else cell
    head = ["audited", "k", *(f"ε = {epsilon:g}" for epsilon in budgets)]
    body = [[name, str(k), *(found.get(epsilon, "–") for epsilon in budgets)] for (name, k), found in lines.items()]
    return _markdown([head, *body], [":---", *["---:"] * (len(head) - 1)])


def _markdown(lines: Sequence[Sequence[str]], rule: Sequence[str]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule, *lines[1:]])
