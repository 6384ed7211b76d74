"""The document of an answer about places: the promise and its limits, rankings, maps of one collection, and a curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.apply import one_collection
from advisor.errors import listed
from advisor.extensions.places.answer import PlacesAdvice, TradeOff
from advisor.extensions.places.question import PlacesRequest
from advisor.figures import number
from advisor.members.names import UNPROCESSED, method_name, protocol_text
from advisor.show.model import (
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Section,
    Sentence,
    Table,
    figure_cell,
    sentences,
)
from advisor.show.pictures import picture_section, style
from advisor.show.pictures.frequencies import draw_order
from advisor.show.rank.data import request_data
from advisor.show.rank.document import rank_document
from advisor.show.rank.table import Field
from advisor.show.sentences import size_text
from simulator.places import Places
from simulator.seeding import rng_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOVED = "mean distance between the true and the reported place, in the unit of the places"
GUESSED = "mean distance between the true place and the best guess of somebody who knows the true frequencies"
Panel: TypeAlias = tuple[str, NDArray[np.float64] | None]  # title and frequencies ``(k,)`` of a map
PANEL = style.WIDTH / 3 - 0.1  # width of a map, in inches
TALLEST = 1.6  # times its width, at most
TICKS = (-1.0, -0.25, 0.0, 0.25, 1.0)  # of the highest frequency
METHODS_LEGEND = (
    "Methods: none is matrix inversion for a channel, and the raw estimate of another protocol; norm_mul and norm_sub "
    "cut its negative frequencies and scale the rest, or project it on the simplex; ibu (iterative Bayesian update) "
    "finds the likeliest frequencies."
)
SEVERAL = 10  # reports of one user, as an example


def leak(value: float) -> str:
    """Return a log-ratio.

    >>> leak(2.0794415), leak(float("inf"))
    ('2.08', '∞')
    """
    return "∞" if math.isinf(value) else f"{value:.3g}"


def odds(epsilon: float) -> str:
    """Return e^epsilon as people read it.

    >>> odds(2.0794415), odds(30.1)
    ('8', '1.2e+13')
    """
    return f"{math.exp(epsilon):.3g}" if epsilon < 14 else f"{math.exp(min(epsilon, 700)):.1e}"


def length(value: float, unit: str) -> str:
    """Return a distance with its unit.

    >>> length(1.0, "cells"), length(2.5, "km")
    ('1 cell', '2.5 km')
    """
    return f"{value:g} {unit.removesuffix('s') if value == 1 else unit}"


def promise_sentences(advice: PlacesAdvice) -> list[str]:
    """Return what is protected and what is not."""
    request = advice.request
    radius, unit, epsilon = request.radius, request.unit, request.epsilon
    adding_up = (
        f"Several reports of one user add up: m of them promise m·ε ({SEVERAL} reports: ε = {SEVERAL * epsilon:.4g})."
    )
    if radius is None:
        return [
            f"Promise: ε-local differential privacy, ε = {epsilon:g}: no report is more than {odds(epsilon)} times "
            "likelier from one place than from any other, however far apart they are.",
            adding_up,
        ]
    near = length(radius, unit)
    lines = [
        f"Promise: within {near}, ε = {epsilon:.4g}: no report is more than {odds(epsilon)} times likelier from one "
        f"place than from another at most {near} away.",
        adding_up,
        f"Protected: where exactly within about {near} somebody is. Not protected in the same way: in which part of "
        "the map; noise that falls with the distance tells places that are far apart from each other.",
        "This is d-privacy, not ε-local differential privacy with the same ε: do not compare these errors with those "
        "of an ε-LDP ranking.",
    ]
    leaks = {key: request.channels[key].epsilon for key in request.protocols}
    spread = [
        f"{key} up to {odds(anywhere)} times (ε = {leak(anywhere)})"
        for key, anywhere in leaks.items()
        if anywhere > epsilon * (1 + 1e-9)
    ]
    if spread:
        lines.append("For the two places easiest to tell apart: " + ", ".join(spread) + ".")
    if "krr" in leaks:
        lines.append(
            f"krr at the same promise keeps ε = {epsilon:.4g} between any two places: a stronger promise, "
            "which costs accuracy, and reports come from anywhere."
        )
    return lines


def method_sentences(advice: PlacesAdvice) -> list[str]:
    """Return how exact distances are, and for which channels the answer of ibu is the only one of its likelihood."""
    lines = []
    if advice.emd_error:
        lines.append(
            "emd: earth mover's distance on the ground, a fast value proven to be within "
            f"{100 * advice.emd_error:.2g} % of the exact one."
        )
    unique = [key for key in advice.ibu_fits if advice.request.channels[key].offers("estimate")]
    several = [key for key in advice.ibu_fits if key not in unique]
    if unique:
        lines.append(
            f"ibu has one answer only for {listed(unique)} (the matrix can be inverted) as soon as every place was "
            "reported."
        )
    if several:
        lines.append(
            f"ibu may have several answers for {listed(several)}: shown is the one that updates reach from equal "
            "frequencies."
        )
    return [*lines, METHODS_LEGEND]


def curve_sentences(advice: PlacesAdvice) -> list[str]:
    """Return how to read privacy against quality of service."""
    request = advice.request
    nothing = number(float((request.truth @ request.ground.distances()).min()), 3)
    return [
        f"The adversary knows the true frequencies. Its best guess without a report is {nothing} {request.unit} off; "
        "with a report, never farther than the report itself.",
        "cloaking (a cell reports the middle of its block) keeps no ε: two places of a block look the same, any others "
        "are told apart with certainty, on two sides of a border too.",
    ]


def describe(request: PlacesRequest) -> str:
    """Return the promise in a few words, for titles."""
    if request.radius is None:
        return f"ε = {request.epsilon:g}, any two places"
    return f"ε = {request.epsilon:.4g} within {length(request.radius, request.unit)}"


def places_document(advice: PlacesAdvice) -> Document:
    """Return the document of the ranking with what is its own: leaks, the promise, maps and a curve."""
    request, first = advice.request, advice.answer.first
    curve: list[Part] = [_curve(advice), *sentences(curve_sentences(advice))] if advice.trade_offs else []
    promise, *more = promise_sentences(advice)
    below = [*curve, Sentence(promise), *sentences((*more, *method_sentences(advice)), Role.LEGEND)]
    document = rank_document(advice.answer.rankings, _columns(request), below)
    return replace(
        document,
        title=f"{' with '.join(first.best.pair)}: LDP advice for places",
        data={**document.data, **_data(advice)},
        records=_records(advice, document.records),
        setting=f"{describe(request)}; n = {request.n:,}",
        sections=partial(_sections, advice),
        picture=partial(curve_figure if advice.trade_offs else places_figure, advice),
    )


def _columns(request: PlacesRequest) -> list[Field]:
    """Return the columns of what reports cost and give away; under local privacy little of it differs."""

    def column(header: str, meaning: str, name: str, drop: int, text: Callable[[float], str]) -> Field:
        verbose = request.radius is None or header not in ("moved", "any two")
        return (
            Column(header, meaning, drop=drop, verbose=verbose),
            lambda row: figure_cell(request.figures[row.protocol][name], text),
        )

    near = (
        column("ε near", "largest log-ratio for places within the radius", "epsilon_within_radius", 2, leak),
        column("per unit", "largest log-ratio per unit of distance", "epsilon_per_unit", 7, leak),
        column("adversary", GUESSED, "adversary_error", 5, size_text),
    )
    return [
        column("moved", MOVED, "expected_distance", 1, size_text),
        *(() if request.radius is None else near),
        column("any two", "largest log-ratio for any two places", "epsilon_any_two", 1, leak),
    ]


def _curve(advice: PlacesAdvice) -> Table:
    """Return the table of privacy against quality of service."""
    columns = (
        Column("mechanism", text=True),
        Column("ε", "budget within the radius"),
        Column("moved", MOVED),
        Column("adversary", GUESSED),
        Column("kept", "adversary over moved: how much of the lost quality is privacy", drop=1),
        Column("any two", "largest log-ratio for any two places", drop=2),
    )
    rows = [
        Row.of(
            [
                point.mechanism,
                figure_cell(point.epsilon, leak),
                figure_cell(point.expected_distance, size_text),
                figure_cell(point.adversary_error, size_text),
                figure_cell(_share(point), lambda share: f"{100 * share:.0f} %"),
                figure_cell(point.epsilon_any_two, leak),
            ]
        )
        for point in advice.trade_offs
    ]
    title = "Privacy (error of an adversary) against quality of service (distance moved)"
    return Table(columns, tuple(rows), title=title, noun="mechanisms", cut=False)


def _share(point: TradeOff) -> float | None:
    return point.adversary_error / point.expected_distance if point.expected_distance > 0 else None


def _data(advice: PlacesAdvice) -> dict[str, Json]:
    """Return what is added to the data of the ranking."""
    request, places = advice.request, advice.request.ground
    promise: dict[str, Json] = {"privacy": request.question.ground.privacy, "radius": request.radius}
    return {
        "request": request_data(advice.answer.first) | promise,
        "metric": request.metrics[0],
        "places": {
            "rows": places.rows,
            "columns": places.columns,
            "distance": places.ground,
            "cell_height": places.height,
            "cell_width": places.width,
            "unit": request.unit,
        },
        "promise": promise_sentences(advice),
        "curve": [point._asdict() for point in advice.trade_offs],
        "emd_relative_error": advice.emd_error,
        "ibu": {
            key: {
                name: [getattr(fit, name) for fit in fits] for name in ("log_likelihood", "gap", "updates", "converged")
            }
            for key, fits in advice.ibu_fits.items()
        },
    }


def _records(advice: PlacesAdvice, ranked: Records) -> Records:
    """Return the rows of all rankings with the promise before them."""
    request = advice.request
    promise = request.question.ground.privacy, request.epsilon, request.radius
    return Records(("privacy", "eps", "radius", *ranked.columns), tuple((*promise, *row) for row in ranked.rows))


def _sections(advice: PlacesAdvice) -> tuple[Section, ...]:
    """Return the maps for a page, and the curve."""
    maps = picture_section("Maps", "maps of one collection", partial(places_figure, advice), "maps")
    curve = picture_section("Privacy against quality of service", "a curve", partial(curve_figure, advice), "curve")
    return (maps, curve) if advice.trade_offs else (maps,)


def places_figure(advice: PlacesAdvice) -> Figure:
    """Return the truth, what the pair to use shows of it, and the difference; below that what went before.

    All maps share one scale of square roots, blue above 0 and orange below. Places in a line have curves.
    """
    request, first = advice.request, advice.answer.first
    best, (protocol, method) = first.best, first.best.pair
    places, oracle, collection = request.ground, request.oracle(protocol), one_collection(first)
    truth, answer, raw = collection.truth, collection.answer, None if method == UNPROCESSED else collection.raw
    after = "no post-processing" if method == UNPROCESSED else method_name(method)
    panels: list[Panel] = [("truth", truth), (after, answer), ("minus the truth", answer - truth)]
    if raw is not None:
        tally = oracle.sample_tally(request.counts, rng_for(request.seed, "collect", protocol, 0))
        reported = tally.counts / request.n if oracle.report_kind == "value" else None
        panels += [("reported", reported), ("raw estimate", raw), ("minus the truth", raw - truth)]
    without = best.error_without_postprocessing
    name = oracle.title if protocol in request.channels else protocol_text(protocol)
    name = f"{name[:1].upper()}{name[1:]} with {after}"
    error = f"{first.metric} {style.plain(best.error, 3)} {first.unit}"
    error += "" if raw is None or without is None else f", raw {style.plain(without, 3)}"
    with style.settings():
        if places.rows == 1:
            figure = style.empty(3.6)
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
    unit, truth, distances = advice.request.unit, advice.request.truth, advice.request.ground.distances()
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
