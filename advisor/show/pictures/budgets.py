"""Error of the pair to use against the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.budgets import Budgets
from advisor.question.units import unit_text
from advisor.show.pictures.style import BAND, BLUE, INK, log_axis, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def budgets_figure(budgets: Budgets) -> Figure:
    """Return the error with its interval at each ε, the pair where it changes, and what no data would give."""
    rows = sorted(budgets.priced(budgets.metrics[0]), key=lambda row: row.epsilon)
    metric, request = rows[0].ranking.metric, rows[0].ranking.request
    xs, best = [row.epsilon for row in rows], [row.ranking.best for row in rows]
    with picture(6.2, 3.8) as (figure, axes):
        axes.fill_between(
            xs, [one.error_low for one in best], [one.error_high for one in best], color=BAND, linewidth=0,
            label="95 % interval",
        )  # fmt: skip
        axes.plot(xs, [one.error for one in best], "o-", color=BLUE, markersize=5, linewidth=1.6, label="pair to use")
        without = rows[0].ranking.error_without_data
        if without is not None:
            guess = rows[0].ranking.guess_without_data
            axes.axhline(without, color=INK, linestyle=":", linewidth=1, label=f"without any data: {guess}")
        for place, (x, one) in enumerate(zip(xs, best, strict=True)):
            if place == 0 or one.pair != best[place - 1].pair:
                axes.annotate(
                    f"{one.protocol} {one.method}", (x, one.error), xytext=(6, 8), textcoords="offset points",
                    fontsize=8,
                )  # fmt: skip
        if len(xs) > 1:
            log_axis(axes.xaxis)
        axes.margins(x=0.2, y=0.12)
        axes.set_ylim(0, 1.3 * axes.get_ylim()[1])  # room for the legend above the lines
        unit = unit_text(metric, request.bins)
        axes.set(xlabel="privacy budget ε of one report", ylabel=f"{metric} error ({unit})")
        axes.legend(loc="upper right")
        axes.set_title(f"k = {request.k:,}, n = {request.n:,}", pad=14)
    return figure
