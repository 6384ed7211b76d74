"""Instant advice: the same answer from the shipped knowledge, without simulating anything."""

from __future__ import annotations

import json
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from advisor.errors import InputError, listed
from advisor.question.constraints import nothing_left
from advisor.question.request import Request, metric_settings
from advisor.rank.advice import DEFAULT_PAIR, DETECTION_LEVEL, Advice, Baseline, Recommendation, empty_advices
from knowledge import grid
from knowledge.assumed import AssumedSkew
from knowledge.changes import COMMON_USERS, Choice
from knowledge.listing import tiers
from knowledge.menu import ALIASES, METHODS
from knowledge.profile import remembered_profile
from simulator import METRICS, PROTOCOLS
from simulator._normal import normal_quantile
from simulator.ranking import PRACTICAL_RATIO

if TYPE_CHECKING:
    from numpy.typing import NDArray

METRICS_OF_SETTING = {"top_values": ("topk",), "set_share": ("set",), "mix": ("kl", "js")}


class _Known(NamedTuple):
    """A request with what is predicted for it."""

    request: Request
    asked: grid.Asked
    prediction: grid.Prediction
    frequencies: NDArray[np.float64]


def look_up(request: Request) -> tuple[Advice, ...]:
    """Answer a request from the shipped grid: one advice for each of its metrics.

    Raises
    ------
    InputError
        If the grid does not know a metric, or that setting of it, or none of the methods.
    """
    if nothing_left(request):
        return empty_advices(request)
    check_settings_known(request)
    asked = asked_by(request)
    noises = grid.noises_of(request.k, request.epsilon, request.n, request.protocols)
    known = _Known(request, asked, grid.predict(asked, noises), request.counts / request.counts.sum())
    return tuple(_advice(metric, known) for metric in request.metrics)


def asked_by(request: Request) -> grid.Asked:
    """Return the histogram that a request asks about, or the skew where no more is assumed."""
    if request.skew is not None:
        return AssumedSkew(request.k, request.skew)
    return remembered_profile(request.counts, request.n)


def check_settings_known(request: Request) -> None:
    """Refuse settings of metrics that were not simulated for the grid.

    Raises
    ------
    InputError
        If a metric is asked for with another setting than the usual.
    """
    usual = metric_settings({}, request.k)
    for name, metrics in METRICS_OF_SETTING.items():
        given = request.metric_options[name]
        asked = [metric for metric in request.metrics if metric in metrics]
        if asked and given != usual[name]:
            raise InputError(
                f"the grid knows {asked[0]} with {name.replace('_', '-')} {usual[name]:g} only, got {given:g}: "
                "give a sample to simulate"
            )


def _found(metric: str, known: _Known, prediction: grid.Prediction | None = None, n: int | None = None) -> grid.LookUp:
    request = known.request
    if not any(ALIASES.get(method, method) in METHODS for method in request.methods):
        raise InputError(f"the grid does not know {listed(request.methods)}: give a sample to simulate")
    try:
        return grid.rank(
            known.prediction if prediction is None else prediction,
            metric,
            epsilon=request.epsilon,
            n=request.n if n is None else n,
            ordered=request.ordered,
            methods=request.methods,
        )
    except ValueError as error:
        raise InputError(str(error)) from None


def _advice(metric: str, known: _Known) -> Advice:
    request = known.request
    found = _found(metric, known)
    oracles = {
        name: PROTOCOLS[name](request.k, request.epsilon) for name in dict.fromkeys(r.protocol for r in found.rows)
    }
    bits = {name: oracle.report_bits for name, oracle in oracles.items()}
    attack = {name: oracle.attack_success for name, oracle in oracles.items()}
    rows: list[Recommendation] = []
    for tier, members in enumerate(tiers(found.rows, bits, known.prediction.noises, metric), start=1):
        place, tied = len(rows) + 1, len(members) > 1
        # By position, in the order of the fields: by name takes five times as long, for a hundred rows and more.
        rows += [
            Recommendation._make(
                (
                    place, tier, tied, protocol, method,
                    error, low, high, None, None,
                    ratio, ratio_low, ratio_high, None, None,
                    raw_error, None, per_category, bits[protocol], attack[protocol],
                    None, source, None, None,
                )
            )
            for protocol, method, error, low, high, ratio, ratio_low, ratio_high, raw_error, per_category, source
            in members
        ]  # fmt: skip
    uniform, zero = _without_data(metric, known)
    first = rows[0]
    return Advice(
        request=request,
        metric=metric,
        source="grid",
        recommendations=tuple(rows),
        baselines=_baselines(rows, found, metric, known, uniform),
        repetitions=0,
        detectable_frequency=normal_quantile(1 - DETECTION_LEVEL) * known.prediction.noises[first.protocol].sd,
        warnings=(*request.warnings, *(str(warning) for warning in found.warnings), *_unknown(found)),
        error_without_data=min(uniform, zero),
        beats_uniform_guess=found.best.high < min(uniform, zero),
        resolved=not first.tied,
        identify=partial(_digest, known),
        elsewhere=partial(_other_users, metric, known, first.pair),
    )


def stays(pair: tuple[str, str]) -> Choice:
    """Return a choice that stays with a pair as long as no other is predicted to be more than 5 % better.

    What it chooses else, is what a look-up there lists first.
    """

    def choose(found: grid.LookUp) -> tuple[str, str]:
        near = any((row.protocol, row.method) == pair and row.ratio <= PRACTICAL_RATIO for row in found.rows)
        if near:
            return pair
        oracles = {row.protocol: PROTOCOLS[row.protocol](found.k, found.epsilon) for row in found.rows}
        bits = {name: oracle.report_bits for name, oracle in oracles.items()}
        noises = {name: oracle.noise(found.n) for name, oracle in oracles.items()}
        first = tiers(found.rows, bits, noises, found.metric)[0][0]
        return first.protocol, first.method

    return choose


def _unknown(found: grid.LookUp) -> list[str]:
    if not found.unknown:
        return []
    return [f"the grid does not know {listed(found.unknown)}, so they are not ranked: give a sample to simulate"]


def _digest(known: _Known) -> str:
    """Return a name for the figures: of the grid, the noise of each protocol, the frequencies, and the skew if any."""
    import hashlib  # takes as long to import as the rest of a small answer; only some formats show the name

    text = json.dumps([grid.load().provenance, repr(known.prediction.noises), known.request.skew], sort_keys=True)
    return hashlib.blake2b(text.encode() + known.frequencies.tobytes(), digest_size=16).hexdigest()


def _other_users(metric: str, known: _Known, pair: tuple[str, str]) -> tuple[tuple[int, str, str], ...]:
    choose, request = stays(pair), known.request
    others = [n for n in COMMON_USERS if n != request.n]
    noises = [grid.noises_of(request.k, request.epsilon, n, request.protocols) for n in others]
    predictions = dict(zip(others, grid.predict_several(known.asked, noises), strict=True))
    predictions[request.n] = known.prediction
    return tuple((n, *choose(_found(metric, known, predictions[n], n))) for n in COMMON_USERS)


def _without_data(metric: str, known: _Known) -> tuple[float, float]:
    """Return the errors of two answers that use no data: all categories equally frequent, and 0 for all."""
    options = tuple(sorted(known.request.metric_options.items()))
    return _errors_without_data(metric, options, known.frequencies.tobytes())


@lru_cache(maxsize=16)  # in a large domain they take as long as all the rest; the budget is no part of them
def _errors_without_data(metric: str, options: tuple[tuple[str, float], ...], content: bytes) -> tuple[float, float]:
    frequencies = np.frombuffer(content)
    k = len(frequencies)
    errors = METRICS[metric].with_options(**dict(options))(np.stack([np.full(k, 1 / k), np.zeros(k)]), frequencies)
    return float(errors[0]), float(errors[1])


def _baselines(
    rows: list[Recommendation], found: grid.LookUp, metric: str, known: _Known, uniform: float
) -> tuple[Baseline, ...]:
    lowest = found.best.error

    def row_of(kind: str, pair: tuple[str, str]) -> Baseline:
        inside = next((row for row in rows if row.pair == pair), None)
        if inside is not None:
            return Baseline(
                kind, *pair, inside.error, inside.error_low, inside.error_high,
                inside.ratio_to_best, inside.ratio_low, inside.ratio_high,
            )  # fmt: skip
        request = known.request
        prediction = known.prediction
        if pair[0] not in prediction.noises:
            prediction = grid.predict(known.asked, grid.noises_of(request.k, request.epsilon, request.n, [pair[0]]))
        found_rows = grid.rank(
            prediction, metric, epsilon=request.epsilon, n=request.n, ordered=request.ordered, methods=[pair[1]]
        ).rows
        single = next(row for row in found_rows if row.protocol == pair[0])
        return Baseline(kind, *pair, single.error, single.low, single.high, single.error / lowest, None, None)

    return (
        row_of("raw", (rows[0].protocol, "none")),
        Baseline("uniform", None, None, uniform, uniform, uniform, uniform / lowest if lowest else None, None, None),
        row_of("default", DEFAULT_PAIR),
    )
