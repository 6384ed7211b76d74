"""Pictures of rankings: the errors of the top pairs, of several budgets, and of a Pareto frontier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from advisor.answers.budgets import Budgets
from advisor.answers.rank.result import Baseline, Ranking, Recommendation
from advisor.answers.rank.trade_offs import Frontier
from advisor.figures import number, percent
from advisor.show.pictures.style import BAND, BLUE, INK, PAPER, QUIET, log_axis, picture
from advisor.show.sentences import unit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 15
NAMES = {"raw": "raw estimate", "default": "usual default"}
SHADES = "Blues"  # light to dark in the first colour of all pictures: darker where a report gives more away
NEAR = 0.035  # of the height of the picture: labels that are nearer than that are written one below the other


def ranking_figure(advice: Ranking) -> Figure:
    """Return the errors of the first pairs from 0 on, in the order of the ranking, and what they are compared with.

    That are the usual default and the raw estimate, as squares, and as a line what is reached without any data.
    """
    kinds = {(row.protocol, row.method): NAMES[row.kind] for row in advice.baselines if row.kind in NAMES}
    top = {row.pair for row in advice.ties}
    rows: list[Recommendation | Baseline] = list(advice.recommendations[:ROWS])
    inside = {(row.protocol, row.method) for row in rows}
    rows += [row for row in advice.baselines if row.kind in NAMES and (row.protocol, row.method) not in inside]
    pairs = [(row.protocol or "", row.method or "") for row in rows]
    labels = [
        f"{'  '.join(pair)}{f' ({kinds[pair]})' if pair in kinds else ''}" + ": infinite" * (row.error == math.inf)
        for pair, row in zip(pairs, rows, strict=True)
    ]
    request, metric = advice.request, advice.metric
    with picture(6.6, 1.3 + 0.24 * len(labels), grid="x") as (figure, axes):
        for place, (row, pair) in enumerate(zip(rows, pairs, strict=True)):
            if pair in top:
                axes.axhspan(place - 0.5, place + 0.5, color=BAND, zorder=0, linewidth=0)
            colour = BLUE if pair in top else QUIET
            axes.plot([row.error_low, row.error_high], [place, place], color=colour, linewidth=1.6)
            mark, fill = "s" if pair in kinds else "o", colour if pair in top else PAPER
            axes.plot(row.error, place, mark, color=colour, markerfacecolor=fill, markersize=5.5)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        reach = max((row.error_high for row in rows if row.error < math.inf), default=1.0)
        axes.set_xlim(0.0, (1.05 * reach) or 1.0)
        if advice.error_without_data is not None:
            _mark_without_data(axes, advice.error_without_data, advice.guess_without_data)
        axes.set_xlabel(f"{metric} error ({unit_text(metric, request.bins)}) and 95 % interval; shaded: first tier")
        axes.set_title(f"ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}", pad=14)
        figure.set_label(
            f"{metric} errors, the lowest first: "
            + "; ".join(f"{label} {number(row.error, 3)}" for label, row in zip(labels, rows, strict=True))
        )
    return figure


def _mark_without_data(axes: Axes, error: float, guess: str) -> None:
    """Draw the error that is reached without any data, or say where it lies beyond the picture."""
    far = error > axes.get_xlim()[1]
    if not far:
        axes.axvline(error, color=INK, linestyle=":", linewidth=1.2)
    axes.annotate(
        f"without any data ({guess}): {number(error, 3)}{' →' if far else ''}",
        (1 if far else error, 1),
        xycoords=("axes fraction" if far else "data", "axes fraction"),
        fontsize=8,
        ha="right" if error > axes.get_xlim()[1] / 2 else "left",
        va="bottom",
        xytext=(0, 2),
        textcoords="offset points",
    )


def budgets_figure(budgets: Budgets) -> Figure:
    """Return the error with its interval at each ε, the pair where it changes, and what no data would give."""
    rows = sorted(budgets.priced(budgets.metrics[0]), key=lambda row: row.epsilon)
    metric, request = rows[0].ranking.metric, rows[0].ranking.request
    xs, best = [row.epsilon for row in rows], [row.ranking.best for row in rows]
    with picture(6.2, 3.8) as (figure, axes):
        axes.fill_between(
            xs,
            [best_row.error_low for best_row in best],
            [best_row.error_high for best_row in best],
            color=BAND,
            linewidth=0,
            label="95 % interval",
        )
        axes.plot(
            xs,
            [best_row.error for best_row in best],
            "o-",
            color=BLUE,
            markersize=5,
            linewidth=1.6,
            label="pair to use",
        )
        without = rows[0].ranking.error_without_data
        if without is not None:
            guess = rows[0].ranking.guess_without_data
            axes.axhline(without, color=INK, linestyle=":", linewidth=1, label=f"without any data: {guess}")
        for place, (x, best_row) in enumerate(zip(xs, best, strict=True)):
            if place == 0 or best_row.pair != best[place - 1].pair:
                axes.annotate(
                    f"{best_row.protocol} {best_row.method}",
                    (x, best_row.error),
                    xytext=(6, 8),
                    textcoords="offset points",
                    fontsize=8,
                )
        if len(xs) > 1:
            log_axis(axes.xaxis)
        axes.margins(x=0.2, y=0.12)
        axes.set_ylim(0, 1.3 * axes.get_ylim()[1])  # room for the legend above the lines
        unit = unit_text(metric, request.bins)
        axes.set(xlabel="privacy budget ε of one report", ylabel=f"{metric} error ({unit})")
        axes.legend(loc="upper right")
        axes.set_title(f"k = {request.k:,}, n = {request.n:,}", pad=14)
    return figure


def pareto_figure(frontier: Frontier) -> Figure:
    """Return the pairs of the frontier with their names, and the others as dots behind them."""
    request, metric = frontier.advice.request, frontier.advice.metric
    beaten = [row for row, _ in frontier.dominated if row.error < math.inf]
    with picture(7.2, 4.5) as (figure, axes):
        axes.scatter(
            [row.report_bits for row in beaten],
            [row.error for row in beaten],
            s=10,
            color=QUIET,
            linewidths=0,
            alpha=0.5,
            label="other pairs",
        )
        marks = axes.scatter(
            [row.report_bits for row in frontier.drawn],
            [row.error for row in frontier.drawn],
            c=[100 * row.attack_success for row in frontier.drawn],
            cmap=SHADES,
            vmin=0,
            s=50,
            edgecolors=INK,
            linewidths=0.8,
            zorder=3,
            label="worth considering",
        )
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
                for row in frontier.drawn
            )
        )
    return figure


def _name(axes: Axes, frontier: Frontier) -> None:
    """Write the names beside their marks, from the top down, none over another."""
    axes.autoscale_view()
    low, high = (math.log(end) for end in axes.get_ylim())
    rows = sorted(frontier.drawn, key=lambda row: row.error)
    heights = [(math.log(row.error) - low) / (high - low) for row in rows]
    for place in range(len(rows) - 2, -1, -1):
        heights[place] = min(heights[place], heights[place + 1] - NEAR)
    for place, row in enumerate(rows):
        height = max(heights[place], (place + 1) * NEAR)  # not below the axis
        axes.annotate(
            f"{row.protocol} {row.method}",
            (row.report_bits, row.error),
            textcoords=("offset points", "axes fraction"),
            xytext=(7, height),
            fontsize=8,
            va="center",
            zorder=4,
        )
