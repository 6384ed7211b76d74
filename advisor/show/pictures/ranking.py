"""Dot plot of the top pairs: error and interval of each, the first tier shaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.rank.result import Baseline, Ranking, Recommendation
from advisor.figures import number
from advisor.question.units import unit_text
from advisor.show.pictures.style import BAND, BLUE, INK, PAPER, QUIET, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 15
NAMES = {"raw": "raw estimate", "default": "usual default"}


def ranking_figure(advice: Ranking) -> Figure:
    """Return the errors of the first pairs from 0 on, in the order of the ranking, and what they are compared with.

    That are the usual default and the raw estimate, as squares, and as a line what is reached without any data.
    """
    kinds = {(row.protocol, row.method): NAMES[row.kind] for row in advice.baselines if row.kind in NAMES}
    top = {row.pair for row in advice.ties}
    shown: list[Recommendation | Baseline] = list(advice.recommendations[:ROWS])
    inside = {(row.protocol, row.method) for row in shown}
    shown += [row for row in advice.baselines if row.kind in NAMES and (row.protocol, row.method) not in inside]
    pairs = [(row.protocol or "", row.method or "") for row in shown]
    labels = [f"{'  '.join(pair)}{f' ({kinds[pair]})' if pair in kinds else ''}" for pair in pairs]
    request, metric = advice.request, advice.metric
    with picture(6.6, 1.3 + 0.24 * len(labels), grid="x") as (figure, axes):
        for place, (row, pair) in enumerate(zip(shown, pairs, strict=True)):
            if pair in top:
                axes.axhspan(place - 0.5, place + 0.5, color=BAND, zorder=0, linewidth=0)
            colour = BLUE if pair in top else QUIET
            axes.plot([row.error_low, row.error_high], [place, place], color=colour, linewidth=1.6)
            mark, fill = "s" if pair in kinds else "o", colour if pair in top else PAPER
            axes.plot(row.error, place, mark, color=colour, markerfacecolor=fill, markersize=5.5)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        reach = max((row.error_high for row in shown), default=1.0)
        axes.set_xlim(0.0, (1.05 * reach) or 1.0)
        if advice.error_without_data is not None:
            _mark_without_data(axes, advice.error_without_data, advice.guess_without_data)
        axes.set_xlabel(f"{metric} error ({unit_text(metric, request.bins)}) and 95 % interval; shaded: first tier")
        axes.set_title(f"ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}", pad=14)
        figure.set_label(
            f"{metric} errors, the lowest first: "
            + "; ".join(f"{label} {number(row.error, 3)}" for label, row in zip(labels, shown, strict=True))
        )
    return figure


def _mark_without_data(axes: Axes, error: float, guess: str) -> None:
    """Draw the error that is reached without any data, or say where it lies beyond the picture."""
    far = error > axes.get_xlim()[1]
    if not far:
        axes.axvline(error, color=INK, linestyle=":", linewidth=1.2)
    axes.annotate(
        f"without any data ({guess}): {number(error, 3)}{' →' if far else ''}", (1 if far else error, 1),
        xycoords=("axes fraction" if far else "data", "axes fraction"), fontsize=8,
        ha="right" if error > axes.get_xlim()[1] / 2 else "left", va="bottom", xytext=(0, 2),
        textcoords="offset points",
    )  # fmt: skip
