"""A Pareto frontier: error against bits per report, darker where a report gives more away."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from advisor.answers.rank.pareto import Frontier
from advisor.figures import number, percent
from advisor.question.units import unit_text
from advisor.show.pictures.style import INK, QUIET, log_axis, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHADES = "Blues"  # light to dark in the first colour of all pictures
NEAR = 0.035  # of the height of the picture: labels that are nearer than that are written one below the other


def pareto_figure(frontier: Frontier) -> Figure:
    """Return the pairs of the frontier with their names, and the others as dots behind them."""
    request, metric = frontier.advice.request, frontier.advice.metric
    beaten = [row for row, _ in frontier.dominated]
    with picture(7.2, 4.5) as (figure, axes):
        axes.scatter(
            [row.report_bits for row in beaten], [row.error for row in beaten], s=10, color=QUIET, linewidths=0,
            alpha=0.5, label="other pairs",
        )  # fmt: skip
        marks = axes.scatter(
            [row.report_bits for row in frontier.rows],
            [row.error for row in frontier.rows],
            c=[100 * row.attack_success for row in frontier.rows],
            cmap=SHADES, vmin=0, s=50, edgecolors=INK, linewidths=0.8, zorder=3, label="worth considering",
        )  # fmt: skip
        log_axis(axes.xaxis)
        log_axis(axes.yaxis)
        axes.margins(x=0.16, y=0.08)
        _name(axes, frontier)
        axes.set(
            xlabel="size of a report (bits)",
            ylabel=f"{metric} error ({unit_text(metric, request.bins)})",
            title=f"ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}",
        )
        figure.colorbar(marks, ax=axes, label="attack success (%)")
        axes.legend(loc="best")
        figure.set_label(
            "Pairs that no other beats in error, size and attack: "
            + "; ".join(
                f"{row.protocol} {row.method}: {metric} error {number(row.error, 3)}, {row.report_bits:,} bits, attack "
                f"{percent(row.attack_success)}"
                for row in frontier.rows
            )
        )
    return figure


def _name(axes: Axes, frontier: Frontier) -> None:
    """Write the names beside their marks, from the top down, none over another."""
    axes.autoscale_view()
    low, high = (math.log(end) for end in axes.get_ylim())
    rows = sorted(frontier.rows, key=lambda row: row.error)
    heights = [(math.log(row.error) - low) / (high - low) for row in rows]
    for place in range(len(rows) - 2, -1, -1):
        heights[place] = min(heights[place], heights[place + 1] - NEAR)
    for place, row in enumerate(rows):
        height = max(heights[place], (place + 1) * NEAR)  # not below the axis
        axes.annotate(
            f"{row.protocol} {row.method}", (row.report_bits, row.error), textcoords=("offset points", "axes fraction"),
            xytext=(7, height), fontsize=8, va="center", zorder=4,
        )  # fmt: skip
