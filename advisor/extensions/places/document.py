"""The document of an answer about places."""

from __future__ import annotations

import math

from advisor.extensions.places.picture import places_figure
from advisor.extensions.places.result import PlacesAdvice, unit_of
from advisor.extensions.places.words import (
    METHODS_LEGEND,
    answer_sentences,
    describe,
    footer_sentences,
    leak,
    promise_sentences,
    quality_sentence,
    summary,
    verdict,
)
from advisor.figures import change, error_text, number, percent, times
from advisor.show.model import (
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
)
from advisor.show.pictures import to_svg
from simulator.ranking import Standing


def places_document(advice: PlacesAdvice) -> Document:
    """Return for each metric the answer and the ranking, then the promise and what it rests on."""
    request, metrics = advice.request, advice.request.metrics
    parts: list[Part] = [Sentence(text, Role.WARNING) for text in request.warnings]
    for metric in metrics:
        sentences = answer_sentences(advice, metric)
        quality = quality_sentence(advice, metric)
        parts += [verdict(advice, metric).sentence] if metric != metrics[0] else []
        parts += [sentence for sentence in sentences if sentence.role is Role.ANSWER]
        parts += [] if quality is None else [Sentence(quality)]
        parts += [sentence for sentence in sentences if sentence.role is not Role.ANSWER]
        parts.append(_table(advice, metric))
        parts.append(Sentence(_without_data(advice, metric)))
    parts += [Sentence(text) for text in promise_sentences(advice)]
    parts += [Sentence(text, Role.NOTE) for text in footer_sentences(advice)]
    parts.append(Sentence(METHODS_LEGEND, Role.LEGEND))
    several = len(metrics) > 1
    best = " with ".join(advice.best().pair)
    return Document(
        title=f"{best}: LDP advice for places",
        verdict=verdict(advice, metrics[0]),
        parts=tuple(parts),
        data=_data(advice),
        records=_records(advice),
        value="\n".join(f"{f'{one} ' if several else ''}{' '.join(advice.best(one).pair)}" for one in metrics),
        setting=f"{describe(request)}; n = {request.n:,}",
    )


def _without_data(advice: PlacesAdvice, metric: str) -> str:
    error = number(advice.uniform_errors[metric])
    return f"Without any data (every place equally frequent): {metric} error {error} {unit_of(metric, advice.request)}."


def _table(advice: PlacesAdvice, metric: str) -> Table:
    near = advice.request.privacy == "metric"
    columns = (
        Column("rank"),
        Column("protocol", text=True),
        Column("method", text=True),
        Column(f"{metric} error"),
        Column("to best", "error over the lowest one", drop=1),
        Column("vs raw", "change against the raw estimate of the same protocol", drop=4),
        Column("moved", "mean distance between the true and the reported place", drop=1),
        *((
            Column("ε near", "largest log-ratio for places within the radius", drop=2),
            Column("per unit", "largest log-ratio per unit of distance", drop=7),
        ) if near else ()),
        Column("any two", "largest log-ratio for any two places", drop=3),
        Column("bits", "size of one report", drop=8),
        Column("attack", "how often the best guess from one report is the user's place", drop=6),
    )  # fmt: skip
    rows = tuple(_row(advice, metric, row, near=near) for row in advice.rankings[metric])
    return Table(columns, rows, noun="pairs")


def _row(advice: PlacesAdvice, metric: str, row: Standing, *, near: bool) -> Row:
    protocol, method = row.pair
    member, raw = advice.mechanisms[protocol], advice.error_of(metric, protocol, "none")
    moved, ratio = member.expected_distance, _finite(row.ratio.value)
    cells: list[tuple[str, float | None]] = [
        (f"{row.rank}=" if row.tied else str(row.rank), row.rank),
        (protocol, None),
        (method, None),
        (error_text(row.error, row.low, row.high), row.error),
        (times(ratio), ratio),
        ("–" if raw is None else change(row.error, raw), row.error / raw if raw else None),
        ("–" if moved is None else f"{number(moved, 3)} {advice.request.unit}", moved),
    ]
    cells += (
        [(leak(member.leakage.within), member.leakage.within), (leak(member.leakage.per_unit), member.leakage.per_unit)]
        if near
        else []
    )
    cells += [
        (leak(member.leakage.anywhere), _finite(member.leakage.anywhere)),
        (f"{member.protocol.report_bits:,}", member.protocol.report_bits),
        (percent(member.attack_success), member.attack_success),
    ]
    tone = Tone.GOOD if row.rank == 1 else Tone.PLAIN
    return Row(tuple(text for text, _ in cells), tuple(value for _, value in cells), tone)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _figures(advice: PlacesAdvice, metric: str, row: Standing) -> dict[str, Scalar]:
    """Return one row of the ranking as plain figures; None where there is none, or an infinite one."""
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
        "epsilon_within_radius": _finite(member.leakage.within),
        "epsilon_per_unit": _finite(member.leakage.per_unit),
        "epsilon_any_two": _finite(member.leakage.anywhere),
        "report_bits": member.protocol.report_bits,
        "attack_success": member.attack_success,
    }


def _data(advice: PlacesAdvice) -> dict[str, Json]:
    request, places = advice.request, advice.request.places
    rankings: list[dict[str, Json]] = [
        {
            "metric": metric,
            "unit": unit_of(metric, request),
            "summary": summary(advice, metric),
            "error_without_data": advice.uniform_errors[metric],
            "recommendations": [_figures(advice, metric, row) for row in advice.rankings[metric]],
        }
        for metric in request.metrics
    ]
    first, *others = rankings
    return {
        "request": {
            "eps": request.epsilon,
            "privacy": request.privacy,
            "radius": request.radius,
            "k": places.k,
            "n": request.n,
            "metric": request.metrics[0],
            "metrics": list(request.metrics),
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
        "seed": request.seed,
        "emd_relative_error": advice.emd_error,
        "ibu": {
            key: {
                name: [getattr(fit, name) for fit in member.ibu_fits]
                for name in ("log_likelihood", "gap", "updates", "converged")
            }
            for key, member in advice.mechanisms.items()
            if member.ibu_fits
        },
        "constraints": [removal._asdict() for removal in request.removals],
        "assumptions": list(request.assumptions),
        "warnings": list(request.warnings),
        **first,
        "further_metrics": others,
    }


def _records(advice: PlacesAdvice) -> Records:
    """Return all rankings: metric, promise, then the figures of a row."""
    request = advice.request
    promise = (request.privacy, request.epsilon, request.radius)
    rows = [(metric, _figures(advice, metric, row)) for metric in request.metrics for row in advice.rankings[metric]]
    return Records(
        ("metric", "privacy", "eps", "radius", *rows[0][1]),
        tuple((metric, *promise, *figures.values()) for metric, figures in rows),
    )


def places_sections(advice: PlacesAdvice) -> tuple[Section, ...]:
    """Return the maps for a page."""
    return (
        Section("Maps", (Figure("Maps", "maps of one collection", lambda: to_svg(places_figure(advice), "maps")),)),
    )
