"""Bias and variance of each category, by falling frequency (Wang et al., Figures 2 and 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.answers.rank.bias import BiasAnswer
from advisor.figures import number
from advisor.names import pair_text
from advisor.show.pictures.style import BAND, BLUE, QUIET, empty, log_axis, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 100  # categories from which on ranks stand on a logarithmic axis
AS_PIXELS = 2000  # categories from which on marks are stored as pixels


def bias_figure(answer: BiasAnswer) -> Figure:
    """Return the bias with its 95 % interval above the variance, both by rank."""
    request, ranks = answer.request, np.arange(1, answer.request.k + 1)
    pixels, half = request.k > AS_PIXELS, answer.half_width * answer.standard_error
    with settings():
        figure = empty(6.6, 5.0)
        upper, lower = figure.subplots(2, 1, sharex=True)
        for axes in (upper, lower):
            axes.grid(color=BAND, linewidth=0.8)
            axes.set_axisbelow(True)
        upper.axhline(0, color=QUIET, linewidth=0.8)
        upper.vlines(ranks, answer.bias - half, answer.bias + half, color=BLUE, alpha=0.35, rasterized=pixels)
        upper.plot(ranks, answer.bias, ".", color=BLUE, markersize=4, rasterized=pixels)
        lower.plot(ranks, answer.variance, ".", color=BLUE, markersize=4, rasterized=pixels)
        if request.k > MANY:
            log_axis(lower.xaxis)
        if answer.variance.min() > 0 and answer.variance.max() > 10 * answer.variance.min():
            log_axis(lower.yaxis)
        upper.set(
            ylabel="bias (frequency) and 95 % interval",
            title=f"{pair_text(*answer.pair)}: ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}",
        )
        lower.set(xlabel="category, the most frequent first", ylabel="variance (frequency²)")
        figure.set_label(
            f"{upper.get_title('left')}. Bias from the most frequent categories on: "
            + ", ".join(number(block.bias, 3) for block in answer.blocks)
        )
    return figure
