"""What is promised of places, and what is not, in words; the answer and what it rests on."""

from __future__ import annotations

import math

import numpy as np

from advisor.places.answer import PlacesAdvice, unit_of
from advisor.places.constraints import removal_sentences
from advisor.places.request import PlacesRequest
from advisor.rank.words import margin, number
from simulator.ranking import Standing


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
    return f"{value:g} {'cell' if unit == 'cells' and value == 1 else unit}"


def promise_sentences(advice: PlacesAdvice) -> list[str]:
    """Return what is protected and what is not."""
    request = advice.request
    if request.privacy == "ldp":
        return [
            f"Promise: ε-local differential privacy, ε = {request.epsilon:g}: no report is more than "
            f"{odds(request.epsilon)} times likelier from one place than from any other, however far apart they are."
        ]
    assert request.radius is not None  # noqa: S101 - for the type checker: a metric promise has a radius
    near = length(request.radius, request.unit)
    said = [
        f"Promise: within {near}, ε = {request.epsilon:.4g}: no report is more than {odds(request.epsilon)} times "
        f"likelier from one place than from another at most {near} away.",
        f"Protected: where exactly within about {near} somebody is. Not protected in the same way: in which part of "
        "the map; noise that falls with the distance tells places that are far apart from each other.",
        "This is d-privacy, not ε-local differential privacy with the same ε: do not compare these errors with those "
        "of an ε-LDP ranking.",
    ]
    spread = [
        f"{member.key} up to {odds(member.anywhere)} times (ε = {leak(member.anywhere)})"
        for member in advice.mechanisms.values()
        if member.anywhere > request.epsilon * (1 + 1e-9)
    ]
    if spread:
        said.append("For the two places easiest to tell apart: " + ", ".join(spread) + ".")
    if "krr" in advice.mechanisms:
        said.append(
            f"krr at the same promise keeps ε = {request.epsilon:.4g} between any two places: more than was asked for, "
            "and paid for with accuracy and with reports from anywhere."
        )
    return said


def error_text(row: Standing) -> str:
    """Return the error and the half-width of its interval."""
    return f"{number(row.error)} ± {margin(row.error, row.high - row.error)}"


def answer_sentence(advice: PlacesAdvice, metric: str) -> str:
    """Return the answer in one sentence."""
    best, unit = advice.best(metric), unit_of(metric, advice.request)
    pair = f"{best.pair[0]} with {best.pair[1]}"
    figure = f"{metric} error {error_text(best)} {unit}"
    lowest = min(row.error for row in advice.rankings[metric])
    if lowest >= advice.uniform_errors[metric]:
        return (
            "Nothing beats an answer without any data (every place equally frequent): this setting is too noisy for "
            f"these places. First of the ranking: {pair}, {figure}."
        )
    ties = sum(row.tier == 1 for row in advice.rankings[metric])
    if len(advice.rankings[metric]) == 1:
        return f"{pair}: {figure}; no other pair was asked for."
    if ties == 1:
        return f"Use {pair}: {figure}; no other pair comes within 5 % of it."
    others = "1 other pair is" if ties == 2 else f"{ties - 1} other pairs are"
    return (
        f"Use {pair}: {figure}. {others} in the same tier (not told apart from the lowest error, or within 5 % of it); "
        f"this one is listed first because {_why_first(advice, metric)}."
    )


def _why_first(advice: PlacesAdvice, metric: str) -> str:
    """Return why the first of several that are not told apart is the first."""
    best, tier = advice.best(metric), [row for row in advice.rankings[metric] if row.tier == 1]
    bits = [advice.mechanisms[row.pair[0]].report_bits for row in tier]
    if best.error <= min(row.error for row in tier):
        return "it has the lowest error" + ("" if min(bits) == max(bits) else ", and no report is shorter")
    if bits.count(bits[0]) == 1:
        return "its report is the shortest"
    return "no report is shorter, and of those its error is the lowest"


def quality_sentence(advice: PlacesAdvice, metric: str) -> str | None:
    """Return how far the best pair's reports are from the truth, beside those of randomised response."""
    best = advice.mechanisms[advice.best(metric).pair[0]]
    if best.expected_distance is None:
        return None
    unit = advice.request.unit
    flat = advice.mechanisms.get("krr")
    other = ""
    if flat is not None and flat is not best and flat.expected_distance is not None:
        other = f"; krr: {number(flat.expected_distance, 3)} {unit}"
    return f"Its reports are {number(best.expected_distance, 3)} {unit} from the truth on average{other}."


def footer_sentences(advice: PlacesAdvice) -> list[str]:
    """Return what the figures rest on."""
    request, places = advice.request, advice.request.places
    shape = f"a line of {places.k}" if places.rows == 1 else f"{places.rows}x{places.columns} cells"
    said = [
        f"Simulated from {request.sample}: {shape}, {places.ground} distance in {request.unit}, n = {request.n:,}; "
        f"{request.repetitions} repetitions, seed {request.seed}; intervals are 95 %."
    ]
    said += removal_sentences(request.removals)
    if "emd" in request.metrics and advice.emd_error:
        said.append(
            "emd: earth mover's distance on the ground, a fast value proven to be within "
            f"{100 * advice.emd_error:.2g} % of the exact one."
        )
    fits = {key: member.ibu_fits for key, member in advice.mechanisms.items() if member.ibu_fits}
    if fits:
        each = ", ".join(
            f"{key} {np.mean([fit.log_likelihood for fit in own]):.4f} (at most "
            f"{max(fit.gap for fit in own):.1g} below the highest)"
            for key, own in fits.items()
        )
        said.append(f"ibu: mean log-likelihood of a report in nats: {each}.")
    if request.assumptions:
        said.append("Assumed: " + "; ".join(request.assumptions) + ".")
    return said


LEGEND = (
    "none: matrix inversion for a channel, the raw estimate for another protocol; norm_mul, norm_sub: that, with "
    "negative frequencies cut and the rest scaled, or projected on the simplex; ibu: iterative Bayesian update, the "
    "likeliest frequencies; moved: mean distance between the true and the reported place; ε near, per unit, any two: "
    "largest log-ratio for places within the radius, per unit of distance, and for any two; attack: how often one "
    "report gives its user away."
)


def describe(request: PlacesRequest) -> str:
    """Return the promise in a few words, for titles."""
    if request.radius is None:
        return f"ε = {request.epsilon:g}, any two places"
    return f"ε = {request.epsilon:.4g} within {length(request.radius, request.unit)}"
