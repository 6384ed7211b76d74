"""Dot plot of the top pairs: error and interval of each, the first tier shaded."""

from __future__ import annotations

from matplotlib.figure import Figure

from advisor.pictures.style import BAND, BLUE, INK, PAPER, QUIET, blank, settings
from advisor.question.units import unit_text
from advisor.rank.result import Ranking

ROWS = 15


def ranking_figure(advice: Ranking, rows: int = ROWS) -> Figure:
    """Return the first pairs in the order of the ranking, and the usual default and raw estimate if they are apart."""
    shown = list(advice.rows[:rows])
    inside = {row.pair for row in shown}
    labels = [f"{row.protocol}  {row.method}" for row in shown]
    figures = [(row.error, row.error_low, row.error_high, row.tier == 1) for row in shown]
    names = {"raw": "raw estimate", "default": "usual default"}
    for baseline in advice.baselines:
        if baseline.protocol is not None and (baseline.protocol, baseline.method) not in inside:
            labels.append(f"{baseline.protocol}  {baseline.method} ({names[baseline.kind]})")
            first = any(row.pair == (baseline.protocol, baseline.method) for row in advice.ties)
            figures.append((baseline.error, baseline.error_low, baseline.error_high, first))
    with settings():
        figure, axes = blank(6.6, 1.2 + 0.24 * len(labels))
        for place, (error, low, high, top) in enumerate(figures):
            if top:
                axes.axhspan(place - 0.5, place + 0.5, color=BAND, zorder=0, linewidth=0)
            colour = BLUE if top else QUIET
            axes.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
            axes.plot(error, place, "o", color=colour, markerfacecolor=colour if top else PAPER, markersize=5.5)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=BAND, linewidth=0.8)
        axes.set_axisbelow(True)
        reach = [value for error, low, high, _ in figures for value in (low, high)]
        spread = max(reach) - min(reach)
        axes.set_xlim(max(0.0, min(reach) - 0.08 * spread), max(reach) + 0.08 * spread)
        if advice.error_without_data is not None and advice.error_without_data <= axes.get_xlim()[1]:
            axes.axvline(advice.error_without_data, color=INK, linestyle=":", linewidth=1)
            axes.annotate(
                "without any data", (advice.error_without_data, 1), xycoords=("data", "axes fraction"), fontsize=8,
                ha="right", va="bottom", xytext=(0, 2), textcoords="offset points",
            )  # fmt: skip
        request, metric = advice.request, advice.metric
        axes.set_xlabel(f"{metric} error ({unit_text(metric, request.bins)}) and 95 % interval; shaded: first tier")
        axes.set_title(f"ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}", pad=14)
    return figure
