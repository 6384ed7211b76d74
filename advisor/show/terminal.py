"""A document on a terminal, or on a pipe that stands for one, drawn by rich."""

from __future__ import annotations

import os
import re
import shutil

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from advisor.show.model import Code, Column, Document, Role, Sentence, Table, Tone, View
from advisor.show.strip import CELLS, axis_text, ratio_text

PIPE_WIDTH = 1000  # no terminal, no edge: nothing is folded or cut
STYLES = {Role.NOTE: "dim", Role.LEGEND: "dim"}
TONES = {
    Tone.PICK: "bold green",
    Tone.GOOD: "green",
    Tone.MARKED: "cyan",
    Tone.FAINT: "dim",
    Tone.DOUBTFUL: "yellow",
    Tone.BAD: "red",
}


class Terminal(Console):
    """A console that leaves it to its caller what becomes of the run when nobody reads on."""

    def on_broken_pipe(self) -> None:
        """Raise what rich would end the process for."""
        raise


def console_for() -> Console:
    """Return a console that respects NO_COLOR, TERM=dumb, COLUMNS and the terminal's width.

    What is piped is not cut, unless COLUMNS says how wide it may be.
    """
    console = Terminal(highlight=False)
    if console.is_terminal and not console.is_dumb_terminal:
        return console
    # rich takes 80 columns for granted on a dumb terminal and on a pipe.
    width = shutil.get_terminal_size().columns if console.is_terminal else _columns() or PIPE_WIDTH
    return Terminal(width=width, no_color=True, highlight=False)


def _columns() -> int | None:
    """Return the width that COLUMNS names, if it names one."""
    width = os.environ.get("COLUMNS", "")
    return int(width) if width.isdecimal() and int(width) else None


def show(document: Document, view: View, console: Console | None = None) -> None:
    """Print a document; columns that do not fit the width are left out, and named."""
    console = console_for() if console is None else console
    dropped: list[Column] = []
    for place, part in enumerate(view.parts(document)):
        if isinstance(part, Table):
            fitting = fitted(part, console)
            dropped += [column for column in part.columns if column not in fitting.columns and column not in dropped]
            console.print()
            if part.title:  # one of rich's own would be folded to the table's width
                _print(Text(part.title, style="bold"), console)
            # Where not even the words fit, a table would be cut.
            widths = _widths(fitting, console)
            strips = console.is_terminal and widths.maximum + CELLS + 2 <= console.width
            _print(_drawn(fitting, strips=strips) if widths.minimum <= console.width else _turned(fitting), console)
        elif isinstance(part, Code):
            if part.title:
                console.print(Text(f"\n{part.title}:\n", style="cyan"))
            console.out(part.text, highlight=False, end="" if part.text.endswith("\n") else "\n")
        else:
            text = _sentence(part, console)
            if place == 0 and document.verdict is not None:
                text.stylize("bold")
            _print(text, console)
    if dropped:  # also where quiet: a table that seems whole and is not would mislead
        names = ", ".join(column.header or "notes" for column in dropped)
        _print(Text(f"Not shown at this width: {names}.", style="dim"), console)


def _print(drawn: RichTable | Text, console: Console) -> None:
    """Print a table or a sentence, on a pipe without the blanks that rich fills its lines with."""
    if console.is_terminal:
        console.print(drawn)
        return
    with console.capture() as captured:
        console.print(drawn)
    console.out(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE), highlight=False, end="")


def _sentence(sentence: Sentence, console: Console) -> Text:
    """Return a sentence with its badge on a block of colour, where there are colours."""
    if not sentence.badge:
        return Text(sentence.full_text, style=f"{STYLES.get(sentence.role, '')} {TONES.get(sentence.tone, '')}".strip())
    colour = TONES.get(sentence.tone, "")
    badge = f" {sentence.badge.upper()} " if console.color_system and not console.no_color else f"{sentence.badge}:"
    return Text.assemble((badge, f"reverse {colour}"), " ", sentence.text)


def fitted(table: Table, console: Console) -> Table:
    """Return the table with as many columns as fit on the console; the least important are left out first."""
    for column in table.droppable:
        if _widths(table, console).maximum <= console.width:
            break
        table = table.without(column)
    return table


def _widths(table: Table, console: Console) -> Measurement:
    """Return the widths of a table; a measure never exceeds the width it is given, so it is given a lot."""
    return console.measure(_drawn(table), options=console.options.update(width=PIPE_WIDTH))


def _turned(table: Table) -> RichTable:
    """Return a table with a line for each cell, its header in front."""
    turned = RichTable.grid(padding=(0, 2))
    for _ in range(2):
        turned.add_column(overflow="fold")
    for row in table.rows:
        turned.add_row("", "")
        for column, cell in zip(table.columns, row.cells, strict=True):
            turned.add_row(Text(column.header, style="dim"), Text(cell), style=TONES.get(row.tone))
    turned.add_row("", "")
    return turned


def _drawn(table: Table, *, strips: bool = False) -> RichTable:
    """Return a table; strips: whether its ratios, if any, are drawn too."""
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, header_style="bold")
    for column in table.columns:
        drawn.add_column(Text(column.header), justify="left" if column.text else "right")
    ratios = [row.ratio for row in table.rows] if strips else []
    if any(ratios):
        drawn.add_column(Text(axis_text()))
    for row in table.rows:
        cells = [Text(cell, style=TONES.get(tone, "")) for cell, tone in zip(row.cells, row.tones, strict=True)]
        strip = [Text(ratio_text(row.ratio) if row.ratio else "")] if any(ratios) else []
        drawn.add_row(*cells, *strip, style=TONES.get(row.tone))
    return drawn
