"""The document of an answer about places: the promise and its limits, rankings, maps of one collection, and a curve."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.apply import OneCollection
from advisor.answers.rank.verdict import USELESS, WORTH_IT
from advisor.errors import listed
from advisor.extensions.places.answer import PlacesAdvice, TradeOff
from advisor.extensions.places.question import PlacesRequest
from advisor.figures import change, error_text, number, percent, times
from advisor.members.names import UNPROCESSED, method_name, pair_text, protocol_text, title_inside
from advisor.question.request import removal_sentences
from advisor.show.model import (
    Badge,
    Cell,
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Scalar,
    Section,
    Sentence,
    Table,
    Tone,
    Verdict,
    figure_cell,
    sentences,
)
from advisor.show.pictures import picture_section, style
from advisor.show.pictures.frequencies import draw_order
from advisor.show.rank.table import PICK
from advisor.show.sentences import assumed_sentences
from simulator.places import Places
from simulator.ranking import Standing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOVED = "mean distance between the true and the reported place"
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


def leak(value: float | None) -> str:
    """Return a log-ratio.

    >>> leak(2.0794415), leak(float("inf")), leak(None)
    ('2.08', '∞', '–')
    """
    return "–" if value is None else "∞" if math.isinf(value) else f"{value:.3g}"


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
    radius, unit, epsilon = advice.request.radius, advice.request.unit, advice.request.question.epsilon
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
    spread = [
        f"{key} up to {odds(member.leakage.anywhere)} times (ε = {leak(member.leakage.anywhere)})"
        for key, member in advice.mechanisms.items()
        if member.leakage.anywhere > epsilon * (1 + 1e-9)
    ]
    if spread:
        lines.append("For the two places easiest to tell apart: " + ", ".join(spread) + ".")
    if "krr" in advice.mechanisms:
        lines.append(
            f"krr at the same promise keeps ε = {epsilon:.4g} between any two places: a stronger promise, "
            "which costs accuracy, and reports come from anywhere."
        )
    return lines


def verdict(advice: PlacesAdvice, metric: str) -> Verdict:
    """Return the pair to use, or that nothing beats an answer without data."""
    best = advice.best(metric)
    protocol, method = best.pair
    figures = {"error": best.error, "error_low": best.low, "error_high": best.high}
    error = f"{metric} error {error_text(best.error, best.low, best.high)} {advice.unit_of(metric)}"
    numbers = f"Expected: {error}; without data {number(advice.uniform_errors[metric], 3)}."
    if min(row.error for row in advice.rankings[metric]) >= advice.uniform_errors[metric]:
        return Verdict(
            USELESS,
            f"even {pair_text(protocol, method)} is no better than assuming that every place is equally frequent.",
            Badge.DO_NOT_COLLECT,
            figures=figures,
            numbers=numbers,
        )
    rows = advice.rankings[metric]
    ties = sum(row.rank == 1 for row in rows)
    why = f", {_why_first(advice, metric)} of {ties} tied pairs"
    if ties == 1:
        why = ": no other pair " + ("comes within 5 % of its error" if len(rows) > 1 else "was asked for")
    member = advice.mechanisms[protocol]
    title = title_inside(member.protocol.title if member.channel is None else member.channel.title)
    text = f"{protocol_text(member.protocol.key)} ({title}) with {method_name(method)}{why}."
    return Verdict(WORTH_IT, text, Badge.TIED if ties > 1 else Badge.USE, figures=figures, numbers=numbers)


def _why_first(advice: PlacesAdvice, metric: str) -> str:
    """Return why the first of several pairs that cannot be separated is the first."""
    best, tier = advice.best(metric), [row for row in advice.rankings[metric] if row.rank == 1]
    bits = [advice.mechanisms[row.pair[0]].protocol.report_bits for row in tier]
    if best.ratio.value <= min(row.ratio.value for row in tier):
        return "the lowest error" + ("" if min(bits) == max(bits) else " and shortest report")
    return "the shortest report" if bits.count(bits[0]) == 1 else "the cheapest report"


def quality_sentences(advice: PlacesAdvice, metric: str) -> list[str]:
    """Return how far the best pair's reports are from the truth, beside those of randomised response."""
    best = advice.mechanisms[advice.best(metric).pair[0]]
    if best.expected_distance is None:
        return []
    unit = advice.request.unit
    flat = advice.mechanisms.get("krr")
    other = ""
    if flat is not None and flat is not best and flat.expected_distance is not None:
        other = f"; krr: {number(flat.expected_distance, 3)} {unit}"
    return [f"Its reports are {number(best.expected_distance, 3)} {unit} from the truth on average{other}."]


def footer_sentences(advice: PlacesAdvice) -> list[str]:
    """Return what the figures rest on."""
    request, places = advice.request, advice.request.places
    shape = f"a line of {places.k}" if places.rows == 1 else f"{places.rows}x{places.columns} cells"
    more = f" to {advice.repetitions}" if advice.repetitions > request.repetitions else ""
    return [
        f"Simulated {request.repetitions}{more} times: {shape}, {places.ground} distance in {request.unit}, "
        f"n = {request.n:,}, seed {request.question.simulation.seed}.",
        *assumed_sentences(request.assumptions),
    ]


def method_sentences(advice: PlacesAdvice) -> list[str]:
    """Return how the figures were computed, and what was left out."""
    lines = removal_sentences(advice.removals)
    if advice.emd_error:
        lines.append(
            "emd: earth mover's distance on the ground, a fast value proven to be within "
            f"{100 * advice.emd_error:.2g} % of the exact one."
        )
    fits = ", ".join(
        f"{key} {np.mean([fit.log_likelihood for fit in mechanism.ibu_fits]):.4f} (at most "
        f"{max(fit.gap for fit in mechanism.ibu_fits):.1g} below the highest)"
        for key, mechanism in advice.mechanisms.items()
        if mechanism.ibu_fits
    )
    if fits:
        lines.append(f"ibu: mean log-likelihood of a report in nats: {fits}.")
    return [*lines, *_uniqueness(advice)]


def _uniqueness(advice: PlacesAdvice) -> list[str]:
    """Return for which channels the answer of ibu is the only one of its likelihood."""
    fitted = {key: mechanism.protocol for key, mechanism in advice.mechanisms.items() if mechanism.ibu_fits}
    unique = [key for key, protocol in fitted.items() if protocol.offers("estimate")]
    several = [key for key in fitted if key not in unique]
    one = f"has one answer only for {listed(unique)} (the matrix can be inverted) as soon as every place was reported"
    more = f"may have several for {listed(several)}: shown is the one that updates reach from equal frequencies"
    parts = [*([one] if unique else []), *([more] if several else [])]
    return [f"ibu {'; it '.join(parts)}."] if parts else []


def curve_sentences(advice: PlacesAdvice) -> list[str]:
    """Return how to read privacy against quality of service."""
    request = advice.request
    nothing = number(float((request.truth @ request.places.distances()).min()), 3)
    return [
        f"The adversary knows the true frequencies. Its best guess without a report is {nothing} {request.unit} off; "
        "with a report, never farther than the report itself.",
        "cloaking (a cell reports the middle of its block) keeps no ε: two places of a block look the same, any others "
        "are told apart with certainty, on two sides of a border too.",
    ]


def describe(request: PlacesRequest) -> str:
    """Return the promise in a few words, for titles."""
    epsilon = request.question.epsilon
    if request.radius is None:
        return f"ε = {epsilon:g}, any two places"
    return f"ε = {epsilon:.4g} within {length(request.radius, request.unit)}"


def places_document(advice: PlacesAdvice) -> Document:
    """Return for each metric the answer and the ranking, then the promise and its assumptions."""
    request, metrics = advice.request, tuple(advice.rankings)
    parts: list[Part] = [Sentence(text, Role.WARNING) for text in advice.warnings]
    for metric in metrics:
        parts += verdict(advice, metric).sentences if metric != metrics[0] else ()
        parts += [*(Sentence(text) for text in quality_sentences(advice, metric)), _table(advice, metric)]
    if advice.trade_offs:
        parts += [_curve(advice), *(Sentence(text) for text in curve_sentences(advice))]
    promise, *more = promise_sentences(advice)
    parts += [Sentence(promise), *sentences(more, Role.LEGEND), *sentences(footer_sentences(advice), Role.NOTE)]
    parts += sentences(method_sentences(advice), Role.LEGEND)
    parts.append(Sentence(METHODS_LEGEND, Role.LEGEND))
    several = len(metrics) > 1
    return Document(
        title=f"{' with '.join(advice.best(metrics[0]).pair)}: LDP advice for places",
        verdict=verdict(advice, metrics[0]),
        parts=tuple(parts),
        data=_data(advice),
        records=_records(advice),
        value="\n".join(f"{f'{name} ' if several else ''}{' '.join(advice.best(name).pair)}" for name in metrics),
        setting=f"{describe(request)}; n = {request.n:,}",
        sections=partial(_sections, advice),
        picture=partial(curve_figure if advice.trade_offs else places_figure, advice),
    )


def _table(advice: PlacesAdvice, metric: str) -> Table:
    near = (
        Column("ε near", "largest log-ratio for places within the radius", drop=2, verbose=True),
        Column("per unit", "largest log-ratio per unit of distance", drop=7, verbose=True),
        Column("adversary", GUESSED, drop=5, verbose=True),
    )
    columns = (
        Column("rank"),
        Column("protocol", text=True, names=protocol_text),
        Column("method", text=True, names=method_name),
        Column("", text=True, drop=1),
        Column(f"{metric} error"),
        Column("ratio", "error over the lowest one", drop=1),
        Column("vs raw", "change against the raw estimate of the same protocol", drop=4, verbose=True),
        Column("moved", MOVED, drop=1, verbose=True),
        *(() if advice.request.radius is None else near),
        Column("any two", "largest log-ratio for any two places", drop=3, verbose=advice.request.radius is None),
        Column("bits", "size of one report", drop=8, verbose=advice.request.radius is not None),
        Column("attack", "how often the best guess from one report is the user's place", drop=6, verbose=True),
    )
    rows = tuple(_row(advice, metric, row) for row in advice.rankings[metric])
    return Table(columns, rows, noun="pairs", brief=True)


def _row(advice: PlacesAdvice, metric: str, row: Standing) -> Row:
    protocol, method = row.pair
    mechanism, raw = advice.mechanisms[protocol], advice.error_of(metric, protocol, "none")
    moved, ratio, (within, per_unit, anywhere) = (
        mechanism.expected_distance,
        _finite(row.ratio.value),
        mechanism.leakage,
    )
    best = row.pair == advice.best(metric).pair
    guessed = _distance(mechanism.adversary_error, advice)
    near: list[Cell] = [(leak(within), within), (leak(per_unit), per_unit), guessed]
    cells: list[Cell] = [
        (f"{row.rank}=" if row.tied else str(row.rank), row.rank),
        (protocol, None),
        (method, None),
        (f"◂ {PICK}" if best else "", None),
        (error_text(row.error, row.low, row.high), row.error),
        (times(ratio), ratio),
        ("–" if raw is None else change(row.error, raw), row.error / raw if raw else None),
        _distance(moved, advice),
        *([] if advice.request.radius is None else near),
        (leak(anywhere), _finite(anywhere)),
        (f"{mechanism.protocol.report_bits:,}", mechanism.protocol.report_bits),
        (percent(mechanism.attack_success), mechanism.attack_success),
    ]
    return Row.of(
        cells,
        Tone.PICK if best else Tone.FAINT if row.rank == 1 else Tone.PLAIN,
        kept=best,
        group=protocol if row.rank == 1 else "",
        ratio=None if ratio is None else row.ratio,
    )


def _distance(value: float | None, advice: PlacesAdvice) -> Cell:
    return figure_cell(value, lambda length: f"{number(length, 3)} {advice.request.unit}")


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
                _distance(point.expected_distance, advice),
                _distance(point.adversary_error, advice),
                figure_cell(_share(point), lambda share: f"{100 * share:.0f} %"),
                (leak(point.epsilon_any_two), _finite(point.epsilon_any_two)),
            ]
        )
        for point in advice.trade_offs
    ]
    title = "Privacy (error of an adversary) against quality of service (distance moved)"
    return Table(columns, tuple(rows), title=title, noun="mechanisms", cut=False)


def _share(point: TradeOff) -> float | None:
    return point.adversary_error / point.expected_distance if point.expected_distance > 0 else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _figures(advice: PlacesAdvice, metric: str, row: Standing) -> dict[str, Scalar]:
    """Return a row of the ranking as plain figures; None for a missing or infinite figure."""
    protocol, method = row.pair
    member = advice.mechanisms[protocol]
    return {
        "rank": row.rank,
        "tier": 1 if row.rank == 1 else 2,
        "tied": row.tied,
        "protocol": protocol,
        "method": method,
        "error": _finite(row.error),
        "error_low": _finite(row.low),
        "error_high": _finite(row.high),
        "standard_error": _finite(row.standard_error),
        "ratio_to_best": _finite(row.ratio.value),
        "ratio_low": _finite(row.ratio.low),
        "ratio_high": _finite(row.ratio.high),
        "win_share": row.win_share,
        "repetitions": row.repetitions,
        "error_without_postprocessing": _finite(advice.error_of(metric, protocol, "none")),
        "expected_distance": _finite(member.expected_distance),
        "adversary_error": _finite(member.adversary_error),
        "epsilon_within_radius": _finite(member.leakage.within),
        "epsilon_per_unit": _finite(member.leakage.per_unit),
        "epsilon_any_two": _finite(member.leakage.anywhere),
        "report_bits": member.protocol.report_bits,
        "attack_success": member.attack_success,
    }


def _data(advice: PlacesAdvice) -> dict[str, Json]:
    request, places, question = advice.request, advice.request.places, advice.request.question
    rankings: list[dict[str, Json]] = [
        {
            "metric": metric,
            "unit": advice.unit_of(metric),
            "summary": verdict(advice, metric).summary,
            "error_without_data": advice.uniform_errors[metric],
            "recommendations": [_figures(advice, metric, row) for row in rows],
        }
        for metric, rows in advice.rankings.items()
    ]
    first, *others = rankings
    return {
        "request": {
            "eps": question.epsilon,
            "privacy": question.ground.privacy,
            "radius": request.radius,
            "k": places.k,
            "n": request.n,
            "metric": advice.metric,
            "metrics": list(advice.rankings),
            "sample": request.sample,
            "repetitions": request.repetitions,
            "max_repetitions": request.max_repetitions,
        },
        "places": {
            "rows": places.rows,
            "columns": places.columns,
            "distance": places.ground,
            "cell_height": places.height,
            "cell_width": places.width,
            "unit": request.unit,
        },
        "promise": promise_sentences(advice),
        "source": "simulation",
        "repetitions": advice.repetitions,
        "seed": question.simulation.seed,
        "curve": [point._asdict() | {"epsilon_any_two": _finite(point.epsilon_any_two)} for point in advice.trade_offs],
        "emd_relative_error": advice.emd_error,
        "ibu": {
            key: {
                name: [getattr(fit, name) for fit in member.ibu_fits]
                for name in ("log_likelihood", "gap", "updates", "converged")
            }
            for key, member in advice.mechanisms.items()
            if member.ibu_fits
        },
        "constraints": [removal._asdict() for removal in advice.removals],
        "assumptions": list(request.assumptions),
        "warnings": list(advice.warnings),
        **first,
        "further_metrics": others,
    }


def _records(advice: PlacesAdvice) -> Records:
    """Return all rankings: metric, promise, then the figures of a row."""
    question = advice.request.question
    privacy, radius = question.ground.privacy, question.cells.radius
    promise: dict[str, Scalar] = {"privacy": privacy, "eps": question.epsilon, "radius": radius}
    rows: list[dict[str, Scalar]] = [
        {"metric": metric, **promise, **_figures(advice, metric, row)}
        for metric, ranking in advice.rankings.items()
        for row in ranking
    ]
    return Records.of(rows)


def _sections(advice: PlacesAdvice) -> tuple[Section, ...]:
    """Return the maps for a page, and the curve."""
    maps = picture_section("Maps", "maps of one collection", partial(places_figure, advice), "maps")
    if not advice.trade_offs:
        return (maps,)
    title = "Privacy against quality of service"
    return maps, picture_section(title, "a curve", partial(curve_figure, advice), "curve")


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
