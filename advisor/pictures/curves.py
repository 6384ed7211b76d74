"""Curves of errors on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor.pictures.style import BAND, DASHES, MARKERS, SERIES, log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_curves(
    axes: Axes, xs: Sequence[float], series: Mapping[str, Sequence[float]], *, powers: bool = False
) -> None:
    """Draw errors against budgets or numbers of users: one line for each name, NaN where there is none.

    powers: whether `xs` are written as powers of ten, as numbers of users are; otherwise each has its own tick.
    """
    for number, (name, errors) in enumerate(series.items()):
        axes.plot(
            xs, errors, marker=MARKERS[number % len(MARKERS)], markersize=4, linewidth=1.2,
            linestyle=DASHES[number % len(DASHES)], color=SERIES[number % len(SERIES)], label=name,
        )  # fmt: skip
    log_axis(axes.xaxis, powers=powers)
    if not powers:
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.set_xticks([], minor=True)
    if any(error > 0 for errors in series.values() for error in errors if not math.isnan(error)):
        log_axis(axes.yaxis)
    axes.grid(color=BAND, linewidth=0.8)
    axes.set_axisbelow(True)
