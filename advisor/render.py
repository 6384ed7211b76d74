"""Advice on a terminal, drawn by rich."""

from __future__ import annotations

import shutil

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.result import Advice
from advisor.table import COLUMNS, TOP, Column, Line, columns_of, hidden_sentence, legend, table_lines
from advisor.words import answer_sentence, footer_sentences, next_round_sentence, why_sentences, worth_sentences

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
    """Print for each advice the answer in a sentence, the ranked table, and what it rests on."""
    for place, advice in enumerate(advices):
        if place:
            console.print()
        style = "bold" if advice.beats_uniform_guess else "bold yellow"
        console.print(Text(answer_sentence(advice), style=style))
        if not quiet:
            for sentence in worth_sentences(advice):
                console.print(Text(sentence))
        if not advice.recommendations:
            continue
        console.print(ranked_table(advice, console, top))
        if advice.next_round is not None and not quiet:
            console.print(Text(next_round_sentence(advice.next_round), style="bold"))
            console.print(ranked_table(advice.next_round, console, top))
    if quiet:
        for sentence in why_sentences(advices[0].why) if advices[0].why else ():  # asked for
            console.print(Text(sentence))
        return
    for sentence in footer_sentences(advices[0]):
        console.print(Text(sentence, style="dim"))
    if not advices[0].recommendations:
        return
    console.print(Text(hidden_sentence(advices[0], top), style="dim"))
    if verbose:
        console.print(Text(legend(advices[0]), style="dim"))
        _print_details(advices[0], console)
        from advisor.epsilon import in_words, sentences

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
        header = f"{advice.metric} error" if column.key == "error" else column.header
        table.add_column(header, justify="right" if column.right else "left")
    for line in lines:
        if line.gap_before:
            table.add_section()
        style = "green" if line.top else "cyan" if line.marked else None
        table.add_row(*(Text(line.cells[COLUMNS.index(column)]) for column in columns), style=style)
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
