"""A plan on a terminal, drawn by rich."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.plan_question import DETECTION, Plan
from advisor.plan_words import TOP, answer_sentence, footer_sentences, table


def print_plan(plan: Plan, console: Console, *, top: int | None = TOP, quiet: bool = False) -> None:
    """Print the answer in a sentence, what each pair needs, and what it rests on."""
    console.print(Text(answer_sentence(plan), style="bold yellow" if plan.value is None else "bold"))
    headers, rows = table(plan, top)
    left = 1 if plan.question.metric == DETECTION else 2
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, header in enumerate(headers):
        shown.add_column(header, justify="left" if place < left or place == len(headers) - 1 else "right")
    for cells, row in zip(rows, plan.rows, strict=False):
        style = "green" if row is plan.best else "dim" if row.source != "simulation" else None
        shown.add_row(*(Text(cell) for cell in cells), style=style)
    console.print(shown)
    if quiet:
        return
    for sentence in footer_sentences(plan):
        console.print(Text(sentence, style="dim"))
    hidden = len(plan.rows) - len(rows)
    if hidden:
        console.print(Text(f"{hidden} more: --all shows them.", style="dim"))
