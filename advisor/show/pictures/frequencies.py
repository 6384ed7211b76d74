"""True (or surrogate), raw, and post-processed frequencies of one collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.answers.rank.collection import OneCollection, one_collection
from advisor.answers.rank.result import Ranking
from advisor.errors import printable
from advisor.figures import number
from advisor.show.pictures.style import BARS, BLUE, INK, ORANGE, QUIET, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELLED = 40  # categories that can be named on the axis
LABEL_LENGTH = 24
TICKS, TICK_LENGTH = 11, 6  # labels along an ordered domain, and how long they are where they stand upright
NAMED = 5  # categories that the description of the picture names
INTERVAL = "95 % interval of the true frequency"
AS_PIXELS = 2000  # categories from which on marks are stored as pixels: a vector picture would grow with k


def frequencies_figure(advice: Ranking, repetition: int = 0) -> Figure:
    """Return the frequencies behind an advice, the answer in bold over the 95 % intervals of the true frequencies.

    For an estimate: the estimate as collected, post-processed by the best method, and the mean of the populations that
    may be behind it. For a sample: its frequencies, and one simulated collection with the best pair. Of unordered
    domains the most frequent categories; ordered ones whole.

    repetition: which of the simulated collections, from 0.
    """
    request = advice.request
    collection = one_collection(advice, repetition)
    what, behind = "One simulated collection", "true"
    if request.collected is not None:
        what, behind = "The estimate", "mean of plausible truths"
    by_name = request.k <= LABELLED or not request.ordered
    places = np.arange(request.k) if request.ordered else np.argsort(-collection.truth, kind="stable")
    places = places[:LABELLED] if by_name else places
    some = collection.at(places)
    names = [_short(request.labels[place]) if request.labels else str(place) for place in places.tolist()]
    with picture(7.2, 4.0, grid="y") as (figure, axes):
        (_draw_categories if by_name else _draw_order)(axes, some, behind, f"after {advice.best.method}")
        ticks = list(range(len(places)))
        if not by_name:
            ticks = np.unique(np.linspace(0, len(places) - 1, TICKS).round().astype(int)).tolist()
        upright = max(len(names[tick]) for tick in ticks) > (2 if by_name else TICK_LENGTH)
        axes.set_xticks(ticks, [names[tick] for tick in ticks], rotation=90 if upright else 0, fontsize=7)
        axes.axhline(0, color=QUIET, linewidth=0.8)
        axes.legend(loc="best")
        order = "" if request.ordered else ", by falling frequency"
        count = "" if len(places) == request.k else f", the {len(places)} most frequent of {request.k:,}"
        axes.set(
            xlabel=f"{_short(request.column) or 'category'}{order}{count}",
            ylabel="frequency",
            title=f"{what}: {advice.best.protocol} at ε = {request.epsilon:g}, n = {request.n:,}",
        )
        first = np.argsort(-some.answer, kind="stable")[:NAMED].tolist()
        figure.set_label(
            f"{axes.get_title('left')}. The most frequent after {advice.best.method}: "
            + ", ".join(f"{names[place]} {number(float(some.answer[place]), 3)}" for place in first)
        )
    return figure


def _draw_categories(axes: Axes, collection: OneCollection, behind: str, after: str) -> None:
    """Draw categories side by side: bars for the truth, and over them the answer as a stroke in its interval."""
    xs = np.arange(len(collection.truth))
    axes.bar(xs, collection.truth, width=0.86, color=BARS, label=behind, linewidth=0)
    if collection.low is not None and collection.high is not None:
        axes.bar(
            xs,
            collection.high - collection.low,
            bottom=collection.low,
            width=0.5,
            color=BLUE,
            alpha=0.25,
            linewidth=0,
            label=INTERVAL,
        )
    if collection.raw is not None:
        axes.plot(xs, collection.raw, "x", color=ORANGE, markersize=4, label="raw estimate")
    axes.hlines(collection.answer, xs - 0.43, xs + 0.43, color=BLUE, linewidth=2.8, label=after)


def _draw_order(axes: Axes, collection: OneCollection, behind: str, after: str) -> None:
    """Draw an ordered domain: lines for the truth and, bolder, the answer; a band for its intervals."""
    xs, pixels = np.arange(len(collection.truth)), len(collection.truth) > AS_PIXELS
    if collection.low is not None and collection.high is not None:
        axes.fill_between(
            xs, collection.low, collection.high, color=BLUE, alpha=0.2, linewidth=0, rasterized=pixels, label=INTERVAL
        )
    if collection.raw is not None:
        axes.plot(
            xs, collection.raw, ".", color=ORANGE, markersize=2.5, alpha=0.6, rasterized=pixels, label="raw estimate"
        )
    axes.plot(xs, collection.truth, color=INK, linewidth=1.0, rasterized=pixels, label=behind)
    axes.plot(xs, collection.answer, color=BLUE, linewidth=2.4, rasterized=pixels, label=after)


def _short(label: str) -> str:
    label = printable(label)  # SVG forbids control characters
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1] + "…"
