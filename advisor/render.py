"""Advice on a terminal, drawn by rich."""

from __future__ import annotations

import shutil

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.answer_parts import Sentence, answer_parts
from advisor.rank.advice import Advice
from advisor.rank.table import TOP, Column, Line, columns_of, header_of, legend, table_lines

PIPE_WIDTH = 1000  # no terminal, no edge: nothing is folded or cut


def console_for() -> Console:
    """Return a console that respects NO_COLOR, TERM=dumb and the terminal's width, and does not cut piped output."""
    console = Console(highlight=False)
    if console.is_terminal and not console.is_dumb_terminal:
        return console
    # rich takes 80 columns for granted on a dumb terminal and on a pipe.
    width = shutil.get_terminal_size().columns if console.is_terminal else PIPE_WIDTH
    return Console(width=width, no_color=True, highlight=False)


def print_advice(
    advices: tuple[Advice, ...], console: Console, *, top: int | None = TOP, quiet: bool = False, verbose: bool = False
) -> None:
    """Print an answer, and with `verbose` what its columns mean, what the protocols are like and what ε means."""
    for part in answer_parts(advices, top=top, quiet=quiet):
        console.print(Text(*part) if isinstance(part, Sentence) else ranked_table(part, console, top))
    if quiet or not advices[0].recommendations:
        return
    if verbose:
        console.print(Text(legend(advices[0]), style="dim"))
        _print_details(advices[0], console)
        from advisor.epsilon.answer import in_words, sentences

        request = advices[0].request
        for sentence in sentences(in_words(request.epsilon, request.k, advices[0].best.protocol)):
            console.print(Text(sentence, style="dim"))


def ranked_table(advice: Advice, console: Console, top: int | None = TOP) -> Table:
    """Return the ranked table with as many columns as fit on the console, the least important dropped first."""
    lines, columns = table_lines(advice, top), list(columns_of(advice))
    droppable = sorted((column for column in columns if column.drop), key=lambda column: column.drop)
    boundless = console.options.update(width=PIPE_WIDTH)  # a measure never exceeds the width it is given
    while True:
        table = _table(advice, lines, columns)
        if not droppable or console.measure(table, options=boundless).maximum <= console.width:
            return table
        columns.remove(droppable.pop())


def _table(advice: Advice, lines: list[Line], columns: list[Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold")
    for column in columns:
        table.add_column(header_of(column, advice), justify="right" if column.right else "left")
    for line in lines:
        if line.gap_before:
            table.add_section()
        style = "green" if line.top else "cyan" if line.marked else None
        table.add_row(*map(Text, line.cells_of(columns)), style=style)
    return table


def _print_details(advice: Advice, console: Console) -> None:
    from simulator import PROTOCOLS  # only verbose output needs the members themselves

    request = advice.request
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Protocols at this ε and k", title_justify="left")
    for header in ("protocol", "p", "q", "sd of an estimate at f = 0", "bits", "attack success"):
        table.add_column(header, justify="left" if header == "protocol" else "right")
    for name in request.protocols:
        oracle = PROTOCOLS[name](request.k, request.epsilon)
        noise = oracle.noise(request.n)
        table.add_row(
            name,
            *("–" if probability is None else f"{probability:.6g}" for probability in (oracle.p, oracle.q)),
            f"{noise.sd:.4g}",
            str(oracle.report_bits),
            f"{oracle.attack_success:.4g}",
        )
    console.print(table)
    console.print(Text(f"Experiment {advice.experiment_id}", style="dim"))
