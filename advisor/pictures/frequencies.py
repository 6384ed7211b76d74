"""True (or surrogate), raw, and post-processed frequencies of one collection."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from advisor.errors import printable
from advisor.pictures.style import BAND, BLUE, INK, ORANGE, QUIET, blank, settings
from advisor.rank.apply import collected_frequencies
from advisor.rank.result import Ranking
from simulator import POSTPROCESSORS
from simulator.domain import Domain
from simulator.methods import observe
from simulator.seeding import rng_for

LABELLED = 40  # categories that can be named on the axis
LABEL_LENGTH = 24
AS_PIXELS = 2000  # categories from which on marks are stored as pixels: a vector picture would grow with k


def frequencies_figure(advice: Ranking) -> Figure:
    """Return the frequencies behind an advice.

    For an estimate: the estimate as collected, post-processed by the best method, and the mean of the populations that
    may be behind it. For a sample: its frequencies, and one simulated collection with the best pair. Of unordered
    domains the most frequent categories; ordered ones whole.
    """
    request = advice.request
    truth, raw, processed = _columns(advice)
    behind = "surrogate (mean of those drawn)" if request.collected is not None else "true"
    by_name = request.k <= LABELLED or not request.ordered
    places = np.arange(request.k) if request.ordered else np.argsort(-truth, kind="stable")
    places = places[:LABELLED] if by_name else places
    with settings():
        figure, axes = blank(7.2, 4.0)
        xs = np.arange(len(places))
        if by_name:
            axes.bar(xs, truth[places], width=0.8, color="#c8cdd2", label=behind, linewidth=0)
            if raw is not None:
                axes.plot(xs, raw[places], "x", color=ORANGE, markersize=5, label="raw estimate")
            axes.plot(xs, processed[places], "o", color=BLUE, markersize=4, label=f"after {advice.best.method}")
            if request.labels:
                names = [_short(request.labels[place]) for place in places.tolist()]
                axes.set_xticks(xs, names, rotation=90, fontsize=7)
        else:
            pixels = len(places) > AS_PIXELS
            axes.plot(xs, truth[places], color=INK, linewidth=1.6, rasterized=pixels, label=behind)
            if raw is not None:
                axes.plot(
                    xs,
                    raw[places],
                    ".",
                    color=ORANGE,
                    markersize=2.5,
                    alpha=0.6,
                    zorder=1,
                    rasterized=pixels,
                    label="raw estimate",
                )
            axes.plot(
                xs,
                processed[places],
                color=BLUE,
                linewidth=1.1,
                linestyle="--",
                rasterized=pixels,
                label=f"after {advice.best.method}",
            )
        axes.axhline(0, color=QUIET, linewidth=0.8)
        axes.set_ylabel("frequency")
        count = "" if len(places) == request.k else f", the {len(places)} most frequent of {request.k:,}"
        axes.set_xlabel(f"category{'' if request.ordered else ', by falling frequency'}{count}")
        axes.grid(axis="y", color=BAND, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(loc="upper right")
        what = "The estimate" if request.collected is not None else "One simulated collection"
        axes.set_title(f"{what}: {advice.best.protocol} at ε = {request.epsilon:g}, n = {request.n:,}")
    return figure


def _columns(advice: Ranking) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
    """Return true or surrogate, raw and post-processed frequencies ``(k,)``; no raw ones where there are none."""
    request, method = advice.request, POSTPROCESSORS[advice.best.method]
    truth = request.counts / request.counts.sum()
    if request.collected is not None:
        raw = request.collected.observed.estimate
        return truth, raw, raw if method.queries_only and raw is not None else collected_frequencies(advice)
    protocol = request.oracle(advice.best.protocol)
    # The first repetition of the simulation.
    tally = protocol.sample_tally(request.counts, rng_for(request.seed, "collect", advice.best.protocol, 0))
    observed = observe(protocol, tally, Domain(request.ordered))
    return truth, observed.estimate, method.apply(observed)


def _short(label: str) -> str:
    label = printable(label)  # SVG forbids control characters
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1] + "…"
