"""Maps of the truth and of what one collection shows of it, and a curve of privacy against quality of service."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.collection import OneCollection
from advisor.extensions.places.answer import PlacesAdvice
from advisor.extensions.places.words import describe, length
from advisor.figures import number
from advisor.names import UNPROCESSED, method_name, protocol_text
from advisor.show.pictures import style
from advisor.show.pictures.frequencies import draw_order
from simulator.places import Places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Panel: TypeAlias = tuple[str, NDArray[np.float64] | None]  # title and frequencies ``(k,)`` of a map

PANEL = style.WIDTH / 3 - 0.1  # width of a map, in inches
TALLEST = 1.6  # times its width, at most
TICKS = (-1.0, -0.25, 0.0, 0.25, 1.0)  # of the highest frequency


def places_figure(advice: PlacesAdvice) -> Figure:
    """Return the truth, what the pair to use shows of it, and the difference; below that what went before.

    All maps share one scale of square roots, blue above 0 and orange below. Places in a line have curves.
    """
    request, metric = advice.request, advice.metric
    best, (protocol, method) = advice.best(metric), advice.best(metric).pair
    mechanism, places, truth = advice.mechanisms[protocol], request.places, request.truth
    answer, raw = mechanism.estimates[method], mechanism.estimates.get(UNPROCESSED)
    raw = None if method == UNPROCESSED else raw
    after = "no post-processing" if method == UNPROCESSED else method_name(method)
    panels: list[Panel] = [("truth", truth), (after, answer), ("minus the truth", answer - truth)]
    if raw is not None:
        panels += [("reported", mechanism.reported), ("raw estimate", raw), ("minus the truth", raw - truth)]
    without = advice.error_of(metric, protocol, UNPROCESSED)
    name = protocol_text(protocol) if mechanism.channel is None else mechanism.channel.title
    name = f"{name[:1].upper()}{name[1:]} with {after}"
    error = f"{metric} {style.plain(best.error, 3)} {advice.unit_of(metric)}"
    error += "" if raw is None or without is None else f", raw {style.plain(without, 3)}"
    with style.settings():
        if places.rows == 1:
            figure = style.empty(3.6)
            collection = OneCollection(truth, answer, raw, None, None)
            draw_order(figure.subplots(), collection, [str(at) for at in range(places.k)], "truth", after)
            figure.legend(loc="outside lower center", ncols=3)
        else:
            ratio = min(places.rows * places.height / (places.columns * places.width), TALLEST)
            figure = style.empty((PANEL * ratio + 0.35) * len(panels) / 3 + 1.1)
            _draw_maps(figure, panels, places)
            if request.unit == "km":
                _draw_scale_bar(figure.axes[0], places)
        setting = f"One collection at {describe(request)}, n = {request.n:,}; errors are means of {best.repetitions:,}"
        style.headline(figure, f"{name}: {error}", setting)
        figure.set_label(f"Maps of the true frequencies and of one collection. {name}: {error}")
    return figure


def _draw_maps(figure: Figure, panels: list[Panel], places: Places) -> None:
    """Draw rows of three maps with their titles, and the scale that they share."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    highest = max(float(values.max()) for _, values in panels[:2] if values is not None)
    colours = map(style.faded, (style.ORANGE, style.ORANGE, style.BLUE, style.BLUE), (1, 0, 0, 1))
    shades = LinearSegmentedColormap.from_list("around 0", list(zip((0, 0.5, 0.5, 1), colours, strict=True)))
    scale = ScalarMappable(Normalize(-1, 1), shades)
    grid = figure.subplots(len(panels) // 3, 3, squeeze=False)
    for axes, (title, values) in zip(grid.ravel(), panels, strict=True):
        axes.set_title(title)
        axes.set(visible=values is not None, xticks=[], yticks=[])
        axes.spines[:].set_visible(True)
        if values is not None:
            roots = (np.sign(values) * np.sqrt(np.abs(values) / highest)).reshape(places.rows, places.columns)
            shape = places.height / places.width
            axes.imshow(roots, cmap=scale.cmap, norm=scale.norm, aspect=shape, interpolation="nearest")
    key = figure.colorbar(scale, ax=grid, location="bottom", aspect=40, shrink=0.7, label="share of the users")
    ticks = [math.copysign(math.sqrt(abs(tick)), tick) for tick in TICKS]
    key.set_ticks(ticks, labels=[f"{style.plain(100 * tick * highest, 2)} %".replace("-", "−") for tick in TICKS])


def _draw_scale_bar(axes: Axes, places: Places) -> None:
    """Draw a round length (km) below a map, at most a third of its width."""
    most = places.columns * places.width / 3
    power = 10.0 ** math.floor(math.log10(most))
    size = max(step * power for step in (1, 2, 5) if step * power <= most)
    end, below, where = size / places.width - 0.5, -0.06, axes.get_xaxis_transform()
    axes.plot([-0.5, end], [below, below], color=style.INK, linewidth=2, clip_on=False, transform=where)
    axes.text(end + 0.5, below, f"{size:g} km", va="center", transform=where)


def curve_figure(advice: PlacesAdvice) -> Figure:
    """Return privacy against quality of service: a line per mechanism, and what no mechanism exceeds."""
    unit, truth, distances = advice.request.unit, advice.request.truth, advice.request.places.distances()
    points = sorted(advice.trade_offs, key=lambda point: point.expected_distance)
    nothing, farthest = float((truth @ distances).min()), max(point.expected_distance for point in points)
    names = dict.fromkeys(point.mechanism.partition(" ")[0] for point in advice.trade_offs)
    with style.picture(4.2) as (figure, axes):
        bound = min(nothing, farthest)
        axes.plot([0, bound, farthest], [0, bound, bound], ":", color=style.QUIET, label="at most")
        for name, colour, marker in zip(names, style.SERIES, style.MARKERS, strict=False):
            own = [point for point in points if point.mechanism.partition(" ")[0] == name]
            places = [(point.expected_distance, point.adversary_error) for point in own]
            axes.plot(*zip(*places, strict=True), color=colour, marker=marker, label=name.replace("_", " "))
            for point, place in zip(own, places, strict=True):
                text = point.mechanism.partition(" ")[2] if point.epsilon is None else f"{point.epsilon:g}"
                axes.annotate(text, place, (5, -12), textcoords="offset points", color=colour)
        axes.set_xlabel(f"mean distance of the report from the truth ({unit}): loss of quality")
        axes.set_ylabel(f"error of an adversary ({unit}): privacy")
        axes.legend(loc="lower right")
        how = f"Budgets within {length(advice.request.radius or 0, unit)} beside the marks"
        style.headline(figure, "Privacy against quality of service", how)
        texts = (
            f"{point.mechanism}{'' if point.epsilon is None else f', ε = {point.epsilon:g}'}: moved "
            f"{number(point.expected_distance, 3)}, adversary {number(point.adversary_error, 3)} {unit}"
            for point in points
        )
        figure.set_label(f"Privacy against quality of service: {'; '.join(texts)}")
    return figure
