"""A Pareto frontier: error against bits per report, brighter where a report gives less away."""

from __future__ import annotations

from matplotlib.figure import Figure

from advisor.pictures.style import BAND, INK, QUIET, blank, log_axis, settings
from advisor.question.units import unit_text
from advisor.rank.pareto import Frontier

SHADES = "cividis_r"  # rises in brightness, and is the same to all who see colours differently


def pareto_figure(frontier: Frontier) -> Figure:
    """Return the pairs of the frontier with their names, and the others as dots behind them."""
    request, metric = frontier.advice.request, frontier.advice.metric
    beaten = [row for row, _ in frontier.dominated]
    with settings():
        figure, axes = blank(7.2, 4.5)
        axes.scatter(
            [row.report_bits for row in beaten], [row.error for row in beaten], s=10, color=QUIET, linewidths=0,
            alpha=0.5, label="other pairs",
        )  # fmt: skip
        marks = axes.scatter(
            [row.report_bits for row in frontier.rows],
            [row.error for row in frontier.rows],
            c=[100 * row.attack_success for row in frontier.rows],
            cmap=SHADES, s=50, edgecolors=INK, linewidths=0.6, zorder=3, label="worth considering",
        )  # fmt: skip
        for row in frontier.rows:
            axes.annotate(
                f"{row.protocol} {row.method}", (row.report_bits, row.error), textcoords="offset points",
                xytext=(6, 4), fontsize=8,
            )  # fmt: skip
        log_axis(axes.xaxis, powers=True)
        log_axis(axes.yaxis)
        axes.set_xlabel("bits per report")
        axes.set_ylabel(f"{metric} error ({unit_text(metric, request.bins)})")
        axes.grid(color=BAND, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.set_title(f"ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}")
        figure.colorbar(marks, ax=axes, label="attack success (%)")
        axes.legend()
    return figure
