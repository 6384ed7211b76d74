"""A plan on a terminal, drawn by rich."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.plans.document import TOP, answer_sentence, footer_sentences, table
from advisor.plans.question import DETECTION, Plan
from advisor.render import PIPE_WIDTH

DROPPED_FIRST = ("runs", "to best", "95 % interval")  # columns that go, in this order, when space is short


def print_plan(plan: Plan, console: Console, *, top: int | None = TOP, quiet: bool = False) -> None:
    """Print the answer in a sentence, what each pair needs, and what it rests on."""
    console.print(Text(answer_sentence(plan), style="bold yellow" if plan.value is None else "bold"))
    headers, rows = table(plan, top)
    droppable = list(DROPPED_FIRST)
    boundless = console.options.update(width=PIPE_WIDTH)  # a measure never exceeds the width it is given
    while True:
        shown = _table(plan, headers, rows)
        if not droppable or console.measure(shown, options=boundless).maximum <= console.width:
            break
        place = headers.index(droppable.pop(0))
        headers, rows = _without(headers, place), [_without(cells, place) for cells in rows]
    console.print(shown)
    if quiet:
        return
    for sentence in footer_sentences(plan):
        console.print(Text(sentence, style="dim"))
    hidden = len(plan.rows) - len(rows)
    if hidden:
        console.print(Text(f"{hidden} more: --all shows them.", style="dim"))


def _without(cells: list[str], place: int) -> list[str]:
    return cells[:place] + cells[place + 1 :]


def _table(plan: Plan, headers: list[str], rows: list[list[str]]) -> Table:
    left = 1 if plan.question.metric == DETECTION else 2
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, header in enumerate(headers):
        shown.add_column(header, justify="left" if place < left or place == len(headers) - 1 else "right")
    for cells, row in zip(rows, plan.rows, strict=False):
        style = "green" if row is plan.best else "dim" if row.source != "simulation" else None
        shown.add_row(*(Text(cell) for cell in cells), style=style)
    return shown
