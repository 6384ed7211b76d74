"""Pictures of a sweep: a map of the winners, and curves of the errors of all methods."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from advisor.answers.sweep.result import Cell, SweepResult
from advisor.question.sweep import Place
from advisor.show.pictures.style import BAND, DASHES, MARKERS, PAPER, QUIET, SERIES, empty, log_axis, settings, tint
from advisor.show.sentences import unit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURED = len(SERIES)  # methods in one panel that are told apart by their colours
ON_SHADE = "#101010"  # not the ink of pictures, which is light on a dark page: shades are light on both
SHADE = 0.45  # opacity of the colour of a cell, so that its words stay readable
CHARACTER = 0.075  # width of a character of a cell, in inches


def winners_figure(sweep: SweepResult) -> Figure:
    """Return for each k a map over ε and n: the pair to use in words, coloured by its method.

    If other methods are within 5 % of it or not separable from it, the cell shows their number, and a corner has the
    colour of the nearest method.
    """
    from matplotlib.patches import Patch

    question = sweep.question
    cells = {cell.place: cell for cell in sweep.cells}
    columns, rows = len(question.users), len(question.epsilons)
    colours = _colours(sweep)
    longest = max(len(word) for cell in sweep.cells for word in _words(cell).split("\n"))
    width = max(1.1, CHARACTER * longest + 0.15)
    with settings():
        figure = empty(max(1.4 + width * columns, 4.2), (0.75 + 0.62 * rows) * len(question.sizes) + 0.9)
        panels = figure.subplots(len(question.sizes), 1, squeeze=False)[:, 0]
        for axes, k in zip(panels, question.sizes, strict=True):
            for (row, epsilon), (column, n) in product(enumerate(question.epsilons), enumerate(question.users)):
                _draw_cell(axes, column, row, cells[epsilon, n, k], colours)
            axes.set_xlim(-0.5, columns - 0.5)
            axes.set_ylim(rows - 0.5, -0.5)
            axes.set_xticks(range(columns), [f"{n:,}" for n in question.users])
            axes.set_yticks(range(rows), [f"{epsilon:g}" for epsilon in question.epsilons])
            axes.tick_params(length=0)
            for spine in axes.spines.values():
                spine.set_visible(False)
            axes.set_ylabel("budget ε")
            axes.set_title(f"Lowest {question.metric} error, k = {k:,}")
        panels[-1].set_xlabel("users n")
        handles = [Patch(facecolor=tint(colour, SHADE), label=method) for method, colour in colours.items()]
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=min(4, len(handles)),
            title="method with the lowest error; corner: one tied with it",
            title_fontsize=8,
        )
        figure.set_label(
            "; ".join(
                f"ε = {cell.epsilon:g}, n = {cell.n:,}, k = {cell.k:,}: {_words(cell).replace(chr(10), ' ')}"
                for cell in sweep.cells
            )
        )
    return figure


def _draw_cell(axes: Axes, column: int, row: int, cell: Cell, colours: dict[str, str]) -> None:
    from matplotlib.patches import Polygon, Rectangle

    winner, tied = cell.winner, cell.tied_with(cell.winner)
    shade = tint(colours[winner.method], SHADE)
    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=shade, edgecolor=PAPER, linewidth=1.5))
    if tied:
        corner = [(column + 0.48, row - 0.48), (column + 0.48, row - 0.08), (column + 0.3, row - 0.48)]
        axes.add_patch(Polygon(corner, facecolor=colours.get(tied[0], QUIET), linewidth=0))
    axes.text(
        column,
        row,
        _words(cell),
        ha="center",
        va="center",
        fontsize=7,
        fontweight="normal" if tied else "bold",
        color=ON_SHADE,
    )


def _words(cell: Cell) -> str:
    """Return the text of a cell: the pair, and the certainty of its method."""
    return f"{cell.winner.protocol}\n{cell.winner.method}\n{cell.words(cell.winner)}".rstrip()


def _colours(sweep: SweepResult) -> dict[str, str]:
    """Return a colour for each method that wins in any cell, the most frequent first; after the last colour, grey."""
    winners = Counter(cell.winner.method for cell in sweep.cells)
    methods = sorted(
        (method for method in sweep.question.methods if method in winners), key=lambda name: -winners[name]
    )
    return {method: SERIES[place] if place < len(SERIES) else QUIET for place, method in enumerate(methods)}


def curves_figure(sweep: SweepResult) -> Figure:
    """Return the errors of all methods, each with its best protocol, along ε for each n (along n for one ε).

    More methods than there are colours are drawn in several rows of panels, each with all other methods in grey.
    """
    question = sweep.question
    along_n = len(question.epsilons) == 1
    panels = list(product(question.sizes, question.epsilons if along_n else question.users))
    methods = _methods(sweep)
    most = math.ceil(len(methods) / math.ceil(len(methods) / COLOURED))
    infinite = any(error == math.inf for cell in sweep.cells for error in cell.errors.values())
    groups = [methods[at : at + most] for at in range(0, len(methods), most)]
    across = min(3, len(panels))
    down = math.ceil(len(panels) / across)
    cells = {cell.place: cell for cell in sweep.cells}
    with settings():
        figure = empty(max(3.0 * across, 4.6) + 0.6, (2.7 * down + 0.9) * len(groups))
        for part, group in zip(figure.subfigures(len(groups), 1, squeeze=False)[:, 0], groups, strict=True):
            all_panels = part.subplots(down, across, squeeze=False, sharey=True).ravel()
            for axes, (k, fixed) in zip(all_panels, panels, strict=False):
                places: list[Place] = (
                    [(fixed, n, k) for n in question.users]
                    if along_n
                    else [(epsilon, int(fixed), k) for epsilon in question.epsilons]
                )
                xs = [place[1] if along_n else place[0] for place in places]
                series = {method: [_lowest(cells[place], method, math.nan) for place in places] for method in methods}
                for method in methods:
                    if method not in group:
                        axes.plot(xs, series[method], color=QUIET, alpha=0.4, linewidth=0.8)
                _draw_curves(axes, xs, {method: series[method] for method in group}, powers=along_n)
                axes.set_title(f"ε = {fixed:g}, k = {k:,}" if along_n else f"n = {fixed:,.0f}, k = {k:,}")
            for axes in all_panels[len(panels) :]:
                axes.set_visible(False)
            for axes in all_panels[max(0, len(panels) - across) : len(panels)]:
                axes.set_xlabel("users n" if along_n else "privacy budget ε of one report")
            unit = unit_text(question.metric, question.first.bins)
            for axes in all_panels[: len(panels) : across]:
                axes.set_ylabel(f"{question.metric} error ({unit})")
            part.legend(
                *all_panels[0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=4 if across < 3 else len(group),
                fontsize=8,
                handlelength=2.4,
                title="method, each with its best protocol"
                + ("; grey: the other methods" if groups[1:] else "")
                + ("; infinite errors are not drawn" if infinite else ""),
                title_fontsize=8,
            )
        figure.set_label(
            f"{question.metric} error of {', '.join(methods)}, each with its best protocol, against "
            f"{'users, by budget' if along_n else 'budgets, by number of users'} and k"
        )
    return figure


def _methods(sweep: SweepResult) -> list[str]:
    """Return the methods, those with the lowest errors first; the raw estimate last."""

    def distance(method: str) -> float:
        return sum(math.log(max(_lowest(cell, method, math.inf), 1e-300)) for cell in sweep.cells)

    return sorted(sweep.question.methods, key=lambda method: (method == "none", distance(method)))


def _lowest(cell: Cell, method: str, missing: float) -> float:
    """Return the lowest error of a method in a cell, over its protocols."""
    return min((error for (_, name), error in cell.errors.items() if name == method), default=missing)


def _draw_curves(
    axes: Axes, xs: Sequence[float], series: Mapping[str, Sequence[float]], *, powers: bool = False
) -> None:
    """Draw errors against budgets or numbers of users: a line for each name, NaN for a missing error.

    powers: whether `xs` are written as powers of ten, like numbers of users; otherwise each value has a tick.
    """
    for number, (name, errors) in enumerate(series.items()):
        axes.plot(
            xs,
            errors,
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
            linestyle=DASHES[number % len(DASHES)],
            color=SERIES[number % len(SERIES)],
            label=name,
        )
    log_axis(axes.xaxis, powers=powers)
    if not powers:
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.set_xticks([], minor=True)
    if any(0 < error < math.inf for errors in series.values() for error in errors):
        log_axis(axes.yaxis)
    axes.grid(color=BAND, linewidth=0.8)
    axes.set_axisbelow(True)
