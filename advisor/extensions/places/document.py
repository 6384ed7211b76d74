"""The document of an answer about places."""

from __future__ import annotations

import math
from functools import partial

from advisor.extensions.places import words
from advisor.extensions.places.answer import PlacesAdvice
from advisor.extensions.places.mechanisms import TradeOff
from advisor.extensions.places.picture import curve_figure, places_figure
from advisor.figures import change, error_text, number, percent, times
from advisor.names import method_name, protocol_text
from advisor.show.model import (
    Cell,
    Column,
    Document,
    Figure,
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
    figure_cell,
    sentences,
)
from advisor.show.pictures import to_svg
from advisor.show.rank.table import PICK, note_in_words
from simulator.ranking import Standing

MOVED = "mean distance between the true and the reported place"
GUESSED = "mean distance between the true place and the best guess of somebody who knows the true frequencies"


def places_document(advice: PlacesAdvice) -> Document:
    """Return for each metric the answer and the ranking, then the promise and its assumptions."""
    request, metrics = advice.request, tuple(advice.rankings)
    parts: list[Part] = [Sentence(text, Role.WARNING) for text in advice.warnings]
    for metric in metrics:
        parts += words.verdict(advice, metric).sentences if metric != metrics[0] else ()
        parts += [*(Sentence(text) for text in words.quality_sentences(advice, metric)), _table(advice, metric)]
    if advice.trade_offs:
        parts += [_curve(advice), *(Sentence(text) for text in words.curve_sentences(advice))]
    promise, *more = words.promise_sentences(advice)
    parts += [Sentence(promise), *sentences(more, Role.LEGEND), *sentences(words.footer_sentences(advice), Role.NOTE)]
    parts += sentences(words.method_sentences(advice), Role.LEGEND)
    parts.append(Sentence(words.METHODS_LEGEND, Role.LEGEND))
    several = len(metrics) > 1
    return Document(
        title=f"{' with '.join(advice.best(metrics[0]).pair)}: LDP advice for places",
        verdict=words.verdict(advice, metrics[0]),
        parts=tuple(parts),
        data=_data(advice),
        records=_records(advice),
        value="\n".join(f"{f'{name} ' if several else ''}{' '.join(advice.best(name).pair)}" for name in metrics),
        setting=f"{words.describe(request)}; n = {request.n:,}",
        sections=partial(_sections, advice),
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
        Column("", text=True, drop=1, names=note_in_words),
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
    near: list[Cell] = [(words.leak(within), within), (words.leak(per_unit), per_unit), guessed]
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
        (words.leak(anywhere), _finite(anywhere)),
        (f"{mechanism.protocol.report_bits:,}", mechanism.protocol.report_bits),
        (percent(mechanism.attack_success), mechanism.attack_success),
    ]
    return Row.of(
        cells,
        Tone.PICK if best else Tone.FAINT if row.rank == 1 else Tone.PLAIN,
        kept=best,
        group=protocol if row.rank == 1 else "",
        name=method,
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
                figure_cell(point.epsilon, words.leak),
                _distance(point.expected_distance, advice),
                _distance(point.adversary_error, advice),
                figure_cell(_share(point), lambda share: f"{100 * share:.0f} %"),
                (words.leak(point.epsilon_any_two), _finite(point.epsilon_any_two)),
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
            "summary": words.summary(advice, metric),
            "error_without_data": advice.uniform_errors[metric],
            "recommendations": [_figures(advice, metric, row) for row in rows],
        }
        for metric, rows in advice.rankings.items()
    ]
    first, *others = rankings
    return {
        "request": {
            "eps": question.epsilon,
            "privacy": question.privacy.privacy,
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
        "promise": words.promise_sentences(advice),
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
    promise: dict[str, Scalar] = {
        "privacy": question.privacy.privacy,
        "eps": question.epsilon,
        "radius": question.privacy.radius,
    }
    rows: list[dict[str, Scalar]] = [
        {"metric": metric, **promise, **_figures(advice, metric, row)}
        for metric, ranking in advice.rankings.items()
        for row in ranking
    ]
    return Records(tuple(rows[0]), tuple(tuple(row.values()) for row in rows))


def _sections(advice: PlacesAdvice) -> tuple[Section, ...]:
    """Return the maps for a page, and the curve."""
    figures = [Figure("Maps", "maps of one collection", lambda: to_svg(places_figure(advice), "maps"))]
    if advice.trade_offs:
        title = "Privacy against quality of service"
        figures.append(Figure(title, "a curve", lambda: to_svg(curve_figure(advice), "curve")))
    return tuple(Section(figure.title, (figure,)) for figure in figures)
