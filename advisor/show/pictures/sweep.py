"""Pictures of a sweep: a map of what one pair costs everywhere, and curves of the errors of all methods."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from itertools import cycle, product
from textwrap import fill
from typing import TYPE_CHECKING

from advisor.answers.sweep.result import Cell, SweepResult
from advisor.members.names import UNPROCESSED, method_name, method_text, pair_text
from advisor.show.pictures import style
from advisor.show.pictures.ranking import factor_text
from advisor.show.sentences import unit_text
from simulator.foreign import REGISTERED
from simulator.ranking import Pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DARKEST, SHADE = 2.0, 0.6  # factor from which on a cell is darkest, and how dark: words stay readable on it
CELL, LETTER, ROW = 0.95, 0.085, 0.19  # inches: least width of a cell, width of a letter, height of a line
MOST_COLOURED = 4  # methods with the lowest error somewhere
NAME_HEIGHT = 0.17  # inches, of the name of a method


def regret_figure(sweep: SweepResult) -> Figure:
    """Return for each k a map over ε and n of what the pair that is best overall costs against the pair to use there.

    A cell has words only where it is clearly worse than that pair: see `Cell.is_clearly_worse`.
    """
    from matplotlib.patches import Rectangle

    question, pair = sweep.question, best_overall(sweep)
    columns, rows, sizes = len(question.users), len(question.epsilons), question.sizes
    width = max(style.WIDTH, CELL * columns + 0.8)
    letters = max(8, int((width - 0.8) / columns / LETTER) - 1)
    words = {
        cell.place: fill(pair_text(cell.winner.protocol, cell.winner.method), letters)
        + f"\n{factor_text(_regret(cell, pair))}"
        for cell in sweep.cells
        if cell.is_clearly_worse(pair)
    }
    height = ROW * (1 + max((text.count("\n") for text in words.values()), default=1)) + 0.2
    with style.settings():
        figure = style.empty((height * rows + 0.55) * len(sizes) + 0.25, width)
        panels = dict(zip(sizes, figure.subplots(len(sizes), 1, squeeze=False, sharex=True)[:, 0], strict=True))
        for cell in sweep.cells:
            x, y, axes = question.users.index(cell.n), question.epsilons.index(cell.epsilon), panels[cell.k]
            shade = style.faded(style.ORANGE, SHADE * min(math.log(_regret(cell, pair), DARKEST), 1.0))
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, edgecolor=style.BARS))
            axes.text(x, y, words.get(cell.place, ""), ha="center", va="center", linespacing=1.1)
        for k, axes in panels.items():
            axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), ylabel="budget ε", title=f"k = {k:,}")
            axes.set_xticks(range(columns), map(style.plain, question.users))
            axes.set_yticks(range(rows), [f"{epsilon:g}" for epsilon in question.epsilons])
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        panels[sizes[-1]].set_xlabel("users")
        worst = factor_text(max(_regret(cell, pair) for cell in sweep.cells))
        how = f"Darker: more {question.metric} error than with the best pair of a cell, which is named where it is"
        how += f" clearly better: in {len(words)} of {len(sweep.cells)}"
        style.headline(figure, f"{pair_text(*pair)} everywhere: error at most {worst}", how)
        texts = (f"ε = {x:g}, n = {n:,}, k = {k:,}: {' '.join(text.split())}" for (x, n, k), text in words.items())
        figure.set_label(f"Another pair is clearly better than {pair_text(*pair)}: {'; '.join(texts) or 'nowhere'}")
    return figure


def best_overall(sweep: SweepResult) -> Pair:
    """Return the pair whose errors are, as a geometric mean over all cells, nearest to those of the pairs to use."""

    def cost(pair: Pair) -> tuple[int, float]:
        costs = [_regret(cell, pair) for cell in sweep.cells]
        finite = [math.log(cost) for cost in costs if cost < math.inf]
        return len(costs) - len(finite), sum(finite)

    return min(dict.fromkeys(pair for cell in sweep.cells for pair in cell.pairs), key=cost)


def _regret(cell: Cell, pair: Pair) -> float:
    """Return the error of a pair over that of the pair to use, at least 1; infinite for a pair that is not there."""
    figures = cell.pairs.get(pair)
    if figures is not None and figures.ratio_to_best is not None:
        return max(figures.ratio_to_best, 1.0)
    return 1.0 if figures is not None and figures.error <= cell.winner.error else math.inf


def curves_figure(sweep: SweepResult) -> Figure:
    """Return the errors of all methods, each with its best protocol, along ε for each n (along n for one ε).

    Methods that are the best somewhere, the raw estimate and the caller's own have colours, the others are grey.
    """
    question = sweep.question
    along_n = len(question.epsilons) == 1
    panels = list(product(question.sizes, question.epsilons if along_n else question.users))
    wins = Counter(min(question.methods, key=partial(_lowest, cell)) for cell in sweep.cells)
    best = [method for method, _ in wins.most_common(MOST_COLOURED)]
    own = (method for method in question.methods if method == UNPROCESSED or method in REGISTERED)
    coloured = dict(
        zip(dict.fromkeys([*best, *own]), cycle(zip(style.SERIES, style.MARKERS, strict=True)), strict=False)
    )
    names = {method: method_name(method) for method in question.methods} | {UNPROCESSED: method_text(UNPROCESSED)}
    across = min(2, len(panels))
    down = math.ceil(len(panels) / across)
    height = max(2.0, NAME_HEIGHT * len(question.methods))
    with style.settings():
        figure = style.empty((height + 0.7) * down)
        grid = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
        for axes, (k, fixed) in zip(grid, panels, strict=False):
            cells = [cell for cell in sweep.cells if cell.k == k and fixed == (cell.epsilon if along_n else cell.n)]
            xs = [cell.n if along_n else cell.epsilon for cell in cells]
            for method in question.methods:
                colour, mark = coloured.get(method, (style.QUIET, ""))
                width, order = (1.4, 3) if mark else (0.8, 2)
                ys = [_lowest(cell, method) for cell in cells]
                axes.plot(xs, ys, color=colour, marker=mark, linewidth=width, zorder=order, label=names[method])
            axes.set_title(f"ε = {fixed:g}, k = {k:,}" if along_n else f"n = {style.plain(fixed)}, k = {k:,}")
            axes.grid(color=style.BAND, linewidth=0.8)
            axes.set_xlabel("users" if along_n else "privacy budget ε")
            style.log_axis(axes.xaxis, at=None if along_n else xs)
        if any(0 < error < math.inf for cell in sweep.cells for error in cell.errors.values()):
            style.log_axis(grid[0].yaxis)
        for at, axes in enumerate(grid):
            axes.set_visible(at < len(panels))
            if at % across == across - 1 or at == len(panels) - 1:
                ends = [(line.get_xydata()[-1], line) for line in axes.lines]
                marks = [(x, y, line.get_label(), line.get_color()) for (x, y), line in ends if 0 < y < math.inf]
                style.name_beside(axes, marks, NAME_HEIGHT / height)
        figure.supylabel(f"{question.metric} error ({unit_text(question.metric, question.first.bins)})")
        title = f"Lowest error: {', '.join(names[method] for method in best)}"
        style.headline(figure, title, "Each method with its best protocol. Infinite errors are not drawn")
        figure.set_label(f"{question.metric} error of {', '.join(question.methods)}, each with its best protocol")
    return figure


def _lowest(cell: Cell, method: str) -> float:
    """Return the lowest error of a method in a cell, over its protocols."""
    return min((error for (_, name), error in cell.errors.items() if name == method), default=math.inf)
