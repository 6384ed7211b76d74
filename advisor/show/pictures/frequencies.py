"""True (or surrogate), raw, and post-processed frequencies of one collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from advisor.answers.rank.apply import OneCollection, one_collection
from advisor.answers.rank.result import Ranking
from advisor.errors import printable
from advisor.figures import percent, points
from advisor.members.names import UNPROCESSED, method_text, pair_text
from advisor.show.pictures.style import BAND, BLUE, INK, QUIET, headline, picture
from advisor.show.sentences import promise_text
from simulator._types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 20  # categories that have a row each
LABEL_LENGTH = 24
TICKS, TICK_LENGTH = 7, 6  # labels along an ordered domain, and how long they are where they stand upright
NAMED = 5  # categories that the description of the picture names
INTERVAL = "95 % interval of the truth"
AS_PIXELS = 2000  # categories from which on marks are stored as pixels: a vector picture would grow with k


def frequencies_figure(advice: Ranking, repetition: int = 0) -> Figure:
    """Return frequencies: from the raw estimate to what the pair to use makes of it, beside the truth.

    For an estimate: the estimate as collected, and as truth the mean of the populations that may be behind it. For a
    sample: one simulated collection. Of unordered domains the most frequent categories; ordered ones whole.

    repetition: which of the simulated collections, from 0.
    """
    request, best = advice.request, advice.best
    collection = one_collection(advice, repetition)
    by_row = request.k <= ROWS or not request.ordered
    order = np.arange(request.k) if request.ordered else np.argsort(-collection.truth, kind="stable")
    places = order[:ROWS] if by_row else order
    some = collection.at(places)
    names = [_short(request.labels[place]) if request.labels else str(place) for place in places.tolist()]
    after = "as collected" if best.method == UNPROCESSED else method_text(best.method)
    setting = f"{promise_text(request.epsilon, request.central)}, n = {request.n:,}"
    some_only = "" if len(places) == request.k else f"; drawn: the {len(places)} most frequent of {request.k:,}"
    if request.collected is None:
        behind, what = "truth", f"{pair_text(*best.pair)}: off by {_off(collection, collection.answer)}"
        raw = "" if collection.raw is None else f", raw estimate {_off(collection, collection.raw).partition(' ')[0]}"
        setting = f"Mean over the categories of one collection at {setting}{raw}{some_only}"
    else:
        behind, what, setting = "mean of plausible truths", f"The estimate after {after}", f"{setting}{some_only}"
    with picture(0.21 * len(places) + 1.0 if by_row else 3.8, grid="x" if by_row else "y") as (figure, axes):
        (draw_rows if by_row else draw_order)(axes, some, names, behind, after)
        (axes.set_ylabel if by_row else axes.set_xlabel)(_short(request.column) or "category")
        figure.legend(loc="outside lower center", ncols=2)
        headline(figure, what, setting)
        first = np.argsort(-some.answer, kind="stable")[:NAMED].tolist()
        shares = ", ".join(f"{names[place]} {percent(float(some.answer[place]))}" for place in first)
        figure.set_label(f"{what}. {setting}. The most frequent, {after}: {shares}")
    return figure


def _off(collection: OneCollection, estimate: FloatArray) -> str:
    """Return how far a category is from the truth on average."""
    return points(float(np.abs(estimate - collection.truth).mean()))


def draw_rows(axes: Axes, collection: OneCollection, names: Sequence[str], behind: str, after: str) -> None:
    """Draw a row for each category: the truth as a tick, and a line from the raw estimate to the answer."""
    ys = np.arange(len(names))
    if collection.low is not None and collection.high is not None:
        width = collection.high - collection.low
        axes.barh(ys, width, left=collection.low, height=0.8, color=BAND, label=INTERVAL, linewidth=0)
    axes.plot(collection.truth, ys, "|", color=INK, markersize=11, markeredgewidth=2, label=behind)
    if collection.raw is not None:
        axes.hlines(ys, collection.raw, collection.answer, color=BLUE, linewidth=1.2)
        axes.plot(collection.raw, ys, "o", color=QUIET, markerfacecolor="none", markersize=5, label="raw estimate")
    axes.plot(collection.answer, ys, "o", color=BLUE, markersize=6, label=after)
    axes.set_yticks(ys, names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    _in_percent(axes, "x")


def draw_order(axes: Axes, collection: OneCollection, names: Sequence[str], behind: str, after: str) -> None:
    """Draw an ordered domain: lines for the truth and, bolder, the answer; a band for its intervals."""
    xs, pixels = np.arange(len(names)), len(names) > AS_PIXELS
    if collection.low is not None and collection.high is not None:
        axes.fill_between(
            xs, collection.low, collection.high, color=BAND, linewidth=0, rasterized=pixels, label=INTERVAL
        )
    if collection.raw is not None:
        axes.plot(xs, collection.raw, ".", color=QUIET, markersize=3, rasterized=pixels, label="raw estimate")
    axes.plot(xs, collection.truth, color=INK, linewidth=1.0, rasterized=pixels, label=behind)
    axes.plot(xs, collection.answer, color=BLUE, linewidth=2.4, rasterized=pixels, label=after)
    ticks = np.unique(np.linspace(0, len(names) - 1, TICKS).round().astype(int)).tolist()
    upright = max(len(names[tick]) for tick in ticks) > TICK_LENGTH
    axes.set_xticks(ticks, [names[tick] for tick in ticks], rotation=90 if upright else 0)
    _in_percent(axes, "y")


def _in_percent(axes: Axes, axis: str) -> None:
    """Write shares of the users on an axis, and draw its 0 if it holds it."""
    from matplotlib.ticker import FuncFormatter

    where = getattr(axes, f"{axis}axis")
    where.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %".replace("-", "−")))
    where.set_label_text("share of the users")
    if where.get_view_interval()[0] <= 0:
        (axes.axvline if axis == "x" else axes.axhline)(0, color=QUIET, linewidth=0.8)


def _short(label: str) -> str:
    label = printable(label)  # SVG forbids control characters
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1] + "…"
