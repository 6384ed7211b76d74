"""Maps of the truth, of one collection's reports and estimates, and a curve of privacy against quality of service."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from advisor.extensions.places.answer import PlacesAdvice
from advisor.extensions.places.words import describe, length
from advisor.figures import number
from advisor.show.pictures.style import BLUE, INK, MARKERS, ORANGE, PAPER, QUIET, SERIES, empty, picture, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

MOST_ROWS = 4
DARKEST_OVER_LIGHTEST = 1e5  # at most: what is rarer looks empty
PANEL = 2.3  # width of a map, in inches
# Below 0 orange, above 0 blue, both darker the farther from 0.
SHADES = ("#6b2f00", ORANGE, PAPER, BLUE, "#001f33")  # from below 0 to above


def places_figure(advice: PlacesAdvice) -> Figure:
    """Return the best protocols, one a row, all maps on one scale: logarithmic, blue above 0 and orange below."""
    request, ranking = advice.request, advice.rankings[advice.metric]
    keys = list(dict.fromkeys(row.pair[0] for row in ranking))[:MOST_ROWS]
    maps = [_maps(advice, key) for key in keys]
    line = request.places.rows == 1
    ratio = request.places.rows * request.places.height / (request.places.columns * request.places.width)
    height = 0.6 if line else min(2.0, ratio)
    norm = _norm(advice)
    scale: AxesImage | None = None
    with settings():
        figure = empty(4 * PANEL + 1.4, (PANEL * height + 0.6) * len(keys) + 0.5)
        axes = figure.subplots(len(keys), 4, squeeze=False, sharey="all" if line else "none")
        for panels, row in zip(maps, axes, strict=True):
            for axis, (title, values) in zip(row, panels, strict=True):
                axis.set_title(title, fontsize=8)
                if values is None:
                    axis.set_axis_off()
                elif line:
                    axis.bar(np.arange(len(values)), values, width=1.0, color=BLUE)
                    axis.axhline(0, color=INK, linewidth=0.6)
                    axis.tick_params(labelsize=7)
                else:
                    scale = _heat(axis, values, norm, advice)
        if scale is not None:
            bar = figure.colorbar(scale, ax=axes, label="frequency; below 0: orange", aspect=30)
            ticks = _ticks(norm)
            bar.set_ticks(ticks, labels=[f"{tick:g}".replace("-", "−") for tick in ticks])
            bar.minorticks_off()
        figure.suptitle(
            f"{describe(request)}; n = {request.n:,}; one collection, mean error of {advice.repetitions}",
            fontsize=10,
            x=0.01,
            ha="left",
        )
        figure.set_label(
            "Maps of the true frequencies, the reported places, the raw estimate and the best post-processed one: "
            + "; ".join(title.replace("\n", " ") for panels in maps for title, _ in panels[2:])
        )
    return figure


def curve_figure(advice: PlacesAdvice) -> Figure:
    """Return privacy against quality of service: a line per mechanism, and what no mechanism exceeds."""
    unit, truth, distances = advice.request.unit, advice.request.truth, advice.request.places.distances()
    points = sorted(advice.trade_offs, key=lambda point: point.expected_distance)
    nothing, farthest = float((truth @ distances).min()), max(point.expected_distance for point in points)
    names = dict.fromkeys(point.mechanism.partition(" ")[0] for point in advice.trade_offs)
    with picture(6.4, 4.2) as (figure, axes):
        bound = min(nothing, farthest)
        axes.plot([0, bound, farthest], [0, bound, bound], color=QUIET, linewidth=1, linestyle=":", label="at most")
        for name, colour, marker in zip(names, SERIES, MARKERS, strict=False):
            own = [point for point in points if point.mechanism.partition(" ")[0] == name]
            places = [(point.expected_distance, point.adversary_error) for point in own]
            axes.plot(*zip(*places, strict=True), color=colour, marker=marker, markersize=5, linewidth=1.2, label=name)
            for point, place in zip(own, places, strict=True):
                text = point.mechanism.partition(" ")[2] if point.epsilon is None else f"{point.epsilon:g}"
                axes.annotate(text, place, (4, -9), textcoords="offset points", fontsize=7, color=colour)
        axes.set(
            xlabel=f"mean distance of the report from the truth ({unit}): loss of quality",
            ylabel=f"error of an adversary ({unit}): privacy",
            title=f"budgets within {length(advice.request.radius or 0, unit)} beside the marks",
        )
        axes.legend(loc="lower right")
        texts = (
            f"{point.mechanism}{'' if point.epsilon is None else f', ε = {point.epsilon:g}'}: moved "
            f"{number(point.expected_distance, 3)}, adversary {number(point.adversary_error, 3)} {unit}"
            for point in points
        )
        figure.set_label(f"Privacy against quality of service: {'; '.join(texts)}")
    return figure


def _maps(advice: PlacesAdvice, key: str) -> list[tuple[str, NDArray[np.float64] | None]]:
    """Return the content of a protocol's row: titles, and frequencies if there are any."""
    metric, mechanism = advice.metric, advice.mechanisms[key]
    methods = [row.pair[1] for row in advice.rankings[metric] if row.pair[0] == key]

    def title(name: str, method: str) -> str:
        error = advice.error_of(metric, key, method)
        return f"{key}: {name}" + ("" if error is None else f"\n{metric} {number(error, 3)} {advice.unit_of(metric)}")

    raw, best = mechanism.estimates.get("none"), next((method for method in methods if method != "none"), None)
    return [
        ("true", advice.request.truth),
        (f"{key}: reported" if mechanism.reported is not None else f"{key}:\na report is no place", mechanism.reported),
        (title("raw", "none") if raw is not None else f"{key}: no raw estimate", raw),
        (f"{key}: not post-processed", None) if best is None else (title(best, best), mechanism.estimates[best]),
    ]


def _norm(advice: PlacesAdvice) -> SymLogNorm:
    """Return the scale of all maps: linear about 0, up to half of the rarest true frequency, then logarithmic."""
    from matplotlib.colors import SymLogNorm

    truth = advice.request.truth
    highest, rarest = float(truth.max()), float(truth[truth > 0].min())
    lowest = min(max(highest / DARKEST_OVER_LIGHTEST, rarest / 2), highest / 10)
    return SymLogNorm(lowest, linscale=0.3, vmin=-highest, vmax=highest, clip=True)


def _ticks(norm: SymLogNorm) -> list[float]:
    """Return 0 and powers of ten on both sides of it, within the scale."""
    first, last = math.ceil(math.log10(norm.linthresh)), math.floor(math.log10(float(norm.vmax or 1.0)))
    powers = [10.0**power for power in range(first, last + 1)]
    return [*(-power for power in reversed(powers)), 0.0, *powers]


def _heat(axis: Axes, values: NDArray[np.float64], norm: SymLogNorm, advice: PlacesAdvice) -> AxesImage:
    """Draw one grid and return its image."""
    from matplotlib.colors import LinearSegmentedColormap

    places = advice.request.places
    axis.set_xticks([])
    axis.set_yticks([])
    for spine in axis.spines.values():
        spine.set_visible(True)
    shades = LinearSegmentedColormap.from_list("around 0", SHADES)
    return axis.imshow(
        values.reshape(places.rows, places.columns),
        norm=norm,
        cmap=shades,
        aspect=places.height / places.width,
        interpolation="nearest",
    )
