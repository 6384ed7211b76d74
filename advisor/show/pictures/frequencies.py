"""True (or surrogate), raw, and post-processed frequencies of one collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.apply import collected_frequencies, frequency_interval
from advisor.answers.rank.result import Ranking
from advisor.errors import printable
from advisor.figures import number
from advisor.show.pictures.style import BAND, BARS, BLUE, INK, ORANGE, QUIET, blank, settings
from simulator import POSTPROCESSORS
from simulator.methods import observe
from simulator.poisoning.attack import NOBODY, Attack
from simulator.seeding import rng_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELLED = 40  # categories that can be named on the axis
LABEL_LENGTH = 24
TICKS, TICK_LENGTH = 11, 6  # labels along an ordered domain, and how long they are where they stand upright
TOLD = 5  # categories that the description of the picture names
INTERVAL = "95 % interval of the true frequency"
AS_PIXELS = 2000  # categories from which on marks are stored as pixels: a vector picture would grow with k


class _Shown(NamedTuple):
    """Frequencies ``(k,)``."""

    truth: NDArray[Any]  # true, or the mean of the populations that stand for the truth
    answer: NDArray[Any]  # post-processed as advised
    # raw, low, high: raw estimate, and the 95 % interval of the true frequency that follows from it; None without one
    raw: NDArray[Any] | None
    low: NDArray[Any] | None
    high: NDArray[Any] | None

    def at(self, places: NDArray[Any]) -> _Shown:
        """Return the frequencies of some categories."""
        known = (None if column is None else column[places] for column in (self.raw, self.low, self.high))
        return _Shown(self.truth[places], self.answer[places], *known)


def frequencies_figure(advice: Ranking, repetition: int = 0) -> Figure:
    """Return the frequencies behind an advice, the answer in bold over the 95 % intervals of the true frequencies.

    For an estimate: the estimate as collected, post-processed by the best method, and the mean of the populations that
    may be behind it. For a sample: its frequencies, and one simulated collection with the best pair. Of unordered
    domains the most frequent categories; ordered ones whole.

    repetition: which of the simulated collections, from 0.
    """
    request = advice.request
    shown = _shown(advice, repetition)
    behind = "mean of plausible truths" if request.collected is not None else "true"
    by_name = request.k <= LABELLED or not request.ordered
    places = np.arange(request.k) if request.ordered else np.argsort(-shown.truth, kind="stable")
    places = places[:LABELLED] if by_name else places
    some = shown.at(places)
    names = [_short(request.labels[place]) if request.labels else str(place) for place in places.tolist()]
    with settings():
        figure, axes = blank(7.2, 4.0)
        if by_name:
            _draw_categories(axes, some, behind, f"after {advice.best.method}")
            axes.set_xticks(range(len(places)), names, rotation=0 if max(map(len, names)) < 3 else 90, fontsize=7)
        else:
            _draw_order(axes, some, behind, f"after {advice.best.method}")
            ticks = np.unique(np.linspace(0, len(places) - 1, TICKS).round().astype(int)).tolist()
            wide = max(len(names[tick]) for tick in ticks) > TICK_LENGTH
            axes.set_xticks(ticks, [names[tick] for tick in ticks], rotation=90 if wide else 0, fontsize=7)
        axes.axhline(0, color=QUIET, linewidth=0.8)
        axes.set_ylabel("frequency")
        count = "" if len(places) == request.k else f", the {len(places)} most frequent of {request.k:,}"
        axes.set_xlabel(
            f"{_short(request.column) or 'category'}{'' if request.ordered else ', by falling frequency'}{count}"
        )
        axes.grid(axis="y", color=BAND, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(loc="best")
        what = "The estimate" if request.collected is not None else "One simulated collection"
        axes.set_title(f"{what}: {advice.best.protocol} at ε = {request.epsilon:g}, n = {request.n:,}")
        first = np.argsort(-some.answer, kind="stable")[:TOLD].tolist()
        figure.set_label(
            f"{axes.get_title('left')}. The most frequent after {advice.best.method}: "
            + ", ".join(f"{names[place]} {number(float(some.answer[place]), 3)}" for place in first)
        )
    return figure


def _draw_categories(axes: Axes, shown: _Shown, behind: str, after: str) -> None:
    """Draw categories side by side: bars for the truth, and over them the answer as a stroke in its interval."""
    xs = np.arange(len(shown.truth))
    axes.bar(xs, shown.truth, width=0.86, color=BARS, label=behind, linewidth=0)
    if shown.low is not None and shown.high is not None:
        axes.bar(
            xs, shown.high - shown.low, bottom=shown.low, width=0.5, color=BLUE, alpha=0.25, linewidth=0, label=INTERVAL
        )
    if shown.raw is not None:
        axes.plot(xs, shown.raw, "x", color=ORANGE, markersize=4, label="raw estimate")
    axes.hlines(shown.answer, xs - 0.43, xs + 0.43, color=BLUE, linewidth=2.8, label=after)


def _draw_order(axes: Axes, shown: _Shown, behind: str, after: str) -> None:
    """Draw an ordered domain: lines for the truth and, bolder, the answer; a band for its intervals."""
    xs, pixels = np.arange(len(shown.truth)), len(shown.truth) > AS_PIXELS
    if shown.low is not None and shown.high is not None:
        axes.fill_between(
            xs, shown.low, shown.high, color=BLUE, alpha=0.2, linewidth=0, rasterized=pixels, label=INTERVAL
        )
    if shown.raw is not None:
        axes.plot(
            xs, shown.raw, ".", color=ORANGE, markersize=2.5, alpha=0.6, rasterized=pixels, label="raw estimate"
        )  # fmt: skip
    axes.plot(xs, shown.truth, color=INK, linewidth=1.0, rasterized=pixels, label=behind)
    axes.plot(xs, shown.answer, color=BLUE, linewidth=2.4, rasterized=pixels, label=after)


def _shown(advice: Ranking, repetition: int) -> _Shown:
    request, method = advice.request, POSTPROCESSORS[advice.best.method]
    truth = request.counts / request.counts.sum()
    if request.collected is not None:
        observed = request.collected.observed
        raw = observed.estimate
        answer = raw if method.queries_only and raw is not None else collected_frequencies(advice)
    else:
        protocol = request.oracle(advice.best.protocol)
        # That repetition of the simulation, but for fake users.
        rng = rng_for(request.seed, "collect", advice.best.protocol, repetition)
        calm = None if request.threat is None else Attack(NOBODY, request.threat, request.promoted)
        collection = None if calm is None else calm.collect(protocol, request.counts, rng, rng)
        tally = protocol.sample_tally(request.counts, rng) if collection is None else collection.tally
        suspects = None if collection is None else collection.suspects
        observed = observe(protocol, tally, request.domain, suspects=suspects)
        raw, answer = observed.estimate, method.apply(observed)
    if raw is None or observed.covariance is None:
        return _Shown(truth, answer, raw, None, None)
    return _Shown(truth, answer, raw, *frequency_interval(raw, observed.covariance))


def _short(label: str) -> str:
    label = printable(label)  # SVG forbids control characters
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 1] + "…"
