"""Picture of a choice: what each budget buys, with the accuracy asked for, the limit, and the choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import LEAST
from advisor.extensions.choose.words import points, size
from advisor.show.pictures.style import BAND, BLUE, INK, ORANGE, QUIET, headline, log_axis, picture
from knowledge.menu import EPSILON

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BUDGETS = 13  # of the predicted curve, from the least that is advised to twice the limit


def price_figure(choice: Choice) -> Figure:
    """Return the error of a share in percentage points against ε; both axes are logarithmic."""
    case = choice.case
    ends = max(min(LEAST, case.limit), EPSILON[0]), min(2 * case.limit, EPSILON[1])
    budgets = [] if case.gaps else [float(f"{budget:.3g}") for budget in np.geomspace(*ends, BUDGETS)]
    rows = [case.predicted(budget).best for budget in budgets]
    xs, ys = zip(*((row.epsilon, 100 * row.ranking.best.error) for row in choice.prices), strict=True)
    with picture(3.9) as (figure, axes):
        low, high = ([100 * getattr(row, end) for row in rows] for end in ("error_low", "error_high"))
        axes.fill_between(budgets, low, high, color=BAND, linewidth=0)
        axes.plot(budgets, [100 * row.error for row in rows], color=QUIET, linewidth=1.4)
        axes.plot(xs, ys, "o", color=BLUE, markersize=4)
        lines = [100 * value for value in (case.within, case.without) if value > 0]
        axes.set_xlim(min(ends[0], *xs) / 1.1, 1.1 * max(ends[1], *xs))
        axes.set_ylim(min(*lines, *ys) / 2, 1.6 * max(*lines, *ys))
        log_axis(axes.xaxis)
        log_axis(axes.yaxis)
        _mark(axes, choice)
        axes.set(xlabel="privacy budget ε of one report (left: more private)", ylabel="share off by, percentage points")
        parts = [
            *(["line and band: predicted, 95 %"] if rows else []),
            *(["dots: simulated"] if choice.simulations else []),
        ]
        setting = f"{case.people:,} people, {case.answers:,} possible answers"
        headline(figure, "What each ε buys", "; ".join((setting, *parts)))
        dots = "; ".join(f"ε = {x:g}: {y:.3g} points" for x, y in zip(xs, ys, strict=True))
        figure.set_label(
            f"Error of a share against ε: {dots}. Asked for: {points(case.within)}; without any data: "
            f"{points(case.without)}; limit: ε = {case.limit:g}."
        )
    return figure


def _mark(axes: Axes, choice: Choice) -> None:
    """Draw and label what was asked for, what no data would give, the limit, and the choice."""
    case, at, error = choice.case, choice.there.request.epsilon, 100 * choice.best.error
    (left, right), bottom = axes.get_xlim(), axes.get_ylim()[0]
    asked = "worth a collection" if choice.open_accuracy else "asked for"
    chosen = "collect with" if choice.epsilon else "at the limit"
    beside, side = ((9, 6), "left") if at < 3 * left else ((-9, -14), "right")  # where the falling curve leaves room
    axes.axhline(100 * case.within, color=ORANGE, linestyle="--", linewidth=1.2)
    axes.axhline(100 * case.without, color=INK, linestyle=":", linewidth=1.2)
    axes.axvspan(case.limit, right, color=QUIET, alpha=0.12, linewidth=0)
    axes.axvline(case.limit, color=INK, linewidth=1)
    axes.plot(at, error, "o", color=BLUE, markersize=10, fillstyle="full" if choice.epsilon else "none")
    for text, place, offset, end in (
        (f"{asked}: {size(case.within)}", (left, 100 * case.within), (5, 3), "left"),
        (f"without any data: {size(case.without)}", (right, 100 * case.without), (-5, 3), "right"),
        (f"limit: ε = {case.limit:g}", (case.limit, bottom), (-4, 4), "right"),
        (f"{chosen} ε = {at:g}: {size(choice.best.error)}", (at, error), beside, side),
    ):
        axes.annotate(text, place, xytext=offset, textcoords="offset points", ha=end)
