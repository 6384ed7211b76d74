"""Pictures of a sweep: a map of the winners, and curves of the error of each method."""

from __future__ import annotations

import math
from itertools import product

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from advisor.pictures.style import BAND, DASHES, INK, MARKERS, PAPER, SERIES, log_axis, settings
from advisor.question.units import unit_text
from advisor.sweeps.question import Place
from advisor.sweeps.result import SweepResult

SHADES = ("#ffffff", "#deebf5", "#a9cce6")  # open, wins at least half, sure: lighter is less certain
METHODS_SHOWN = 7


def winners_figure(sweep: SweepResult) -> Figure:
    """Return for each k a map: the winner of each ε and n in words, darker where it is more certain."""
    question = sweep.question
    cells = {cell.place: cell for cell in sweep.cells}
    columns, rows = len(question.users), len(question.epsilons)
    with settings():
        figure = Figure(
            figsize=(1.6 + 1.35 * columns, (0.9 + 0.55 * rows) * len(question.sizes) + 0.5),
            layout="constrained", facecolor=PAPER,
        )  # fmt: skip
        every = figure.subplots(len(question.sizes), 1, squeeze=False)[:, 0]
        for axes, k in zip(every, question.sizes, strict=True):
            for (row, epsilon), (column, n) in product(enumerate(question.epsilons), enumerate(question.users)):
                winner = cells[epsilon, n, k].winner
                certainty = 2 if winner.sure else 1 if winner.win_share >= 0.5 else 0
                axes.add_patch(
                    Rectangle(
                        (column - 0.5, row - 0.5), 1, 1, facecolor=SHADES[certainty], edgecolor=INK, linewidth=0.6
                    )
                )
                behind = "" if winner.margin is None else f", +{100 * winner.margin:.0f} %"
                axes.text(
                    column, row, f"{winner.protocol}\n{winner.method}\n{100 * winner.win_share:.0f} %{behind}",
                    ha="center", va="center", fontsize=7, fontweight="bold" if certainty == 2 else "normal",
                )  # fmt: skip
            axes.set_xlim(-0.5, columns - 0.5)
            axes.set_ylim(rows - 0.5, -0.5)
            axes.set_xticks(range(columns), [f"{n:,}" for n in question.users])
            axes.set_yticks(range(rows), [f"{epsilon:g}" for epsilon in question.epsilons])
            axes.tick_params(length=0)
            for spine in axes.spines.values():
                spine.set_visible(False)
            axes.set_ylabel("budget ε")
            axes.set_title(f"Lowest {question.metric} error, k = {k:,}")
        every[-1].set_xlabel(
            "users n\nshare of repetitions won, and distance of the runner-up; dark: its interval excludes 0"
        )
    return figure


def curves_figure(sweep: SweepResult) -> Figure:
    """Return the error of each method, with its best protocol, along n for each ε (along ε where there is one n)."""
    question = sweep.question
    along_n = len(question.users) > 1
    panels = list(product(question.sizes, question.epsilons if along_n else question.users))
    shown = _methods(sweep)
    across = min(3, len(panels))
    down = math.ceil(len(panels) / across)
    cells = {cell.place: cell for cell in sweep.cells}
    with settings():
        figure = Figure(figsize=(3.0 * across + 0.6, 2.5 * down + 0.7), layout="constrained", facecolor=PAPER)
        every = figure.subplots(down, across, squeeze=False).ravel()
        for axes, (k, fixed) in zip(every, panels, strict=False):
            places: list[Place] = (
                [(fixed, n, k) for n in question.users]
                if along_n
                else [(epsilon, int(fixed), k) for epsilon in question.epsilons]
            )
            xs = [place[1] if along_n else place[0] for place in places]
            for number, method in enumerate(shown):
                errors = [
                    min((e for (_, m), e in cells[place].errors.items() if m == method), default=math.nan)
                    for place in places
                ]
                axes.plot(
                    xs, errors, marker=MARKERS[number % len(MARKERS)], markersize=4, linewidth=1.2,
                    linestyle=DASHES[number % len(DASHES)], color=SERIES[number % len(SERIES)], label=method,
                )  # fmt: skip
            log_axis(axes.xaxis, powers=along_n)
            log_axis(axes.yaxis)
            axes.grid(color=BAND, linewidth=0.8)
            axes.set_axisbelow(True)
            axes.set_title(f"ε = {fixed:g}, k = {k:,}" if along_n else f"n = {fixed:,.0f}, k = {k:,}")
        for axes in every[len(panels) :]:
            axes.set_visible(False)
        figure.supxlabel("users n" if along_n else "privacy budget ε of one report", fontsize=9)
        unit = unit_text(question.metric, question.first.bins)
        figure.supylabel(f"{question.metric} error ({unit}), best protocol of each method", fontsize=9)
        handles, labels = every[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(4, len(labels)))
    return figure


def _methods(sweep: SweepResult) -> list[str]:
    """Return the methods to draw: those of the winners, then those with the lowest errors, the raw estimate too."""
    ranked: dict[str, float] = {}
    for method in sweep.question.methods:
        ratios = [
            min((e for (_, m), e in cell.errors.items() if m == method), default=math.inf)
            / max(cell.winner.error, 1e-300)
            for cell in sweep.cells
        ]
        ranked[method] = sum(math.log(max(ratio, 1e-300)) for ratio in ratios)
    first = sorted((method for method in ranked if method != "none"), key=lambda method: ranked[method])
    best = first[: METHODS_SHOWN - 1]
    return [*best, "none"] if "none" in ranked else best
