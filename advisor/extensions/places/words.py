"""Sentences about places: the promise and its limits, the answer and its assumptions."""

from __future__ import annotations

import math

import numpy as np

from advisor.answers.rank.verdict import USELESS, WORTH_IT
from advisor.errors import listed
from advisor.extensions.places.answer import PlacesAdvice
from advisor.extensions.places.mechanisms import Mechanism
from advisor.extensions.places.reading import PlacesRequest
from advisor.figures import error_text, number
from advisor.names import method_name, pair_text, protocol_text, title_inside
from advisor.question.request import removal_sentences
from advisor.show.model import Badge, Verdict
from advisor.show.sentences import assumed_sentences

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
    numbers = f"Expected: {_error(advice, metric)}; without data {number(advice.uniform_errors[metric], 3)}."
    if _is_useless(advice, metric):
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
    text = f"{_in_full(advice.mechanisms[protocol])} with {method_name(method)}{why}."
    return Verdict(WORTH_IT, text, Badge.TIED if ties > 1 else Badge.USE, figures=figures, numbers=numbers)


def _is_useless(advice: PlacesAdvice, metric: str) -> bool:
    return min(row.error for row in advice.rankings[metric]) >= advice.uniform_errors[metric]


def _error(advice: PlacesAdvice, metric: str) -> str:
    best = advice.best(metric)
    return f"{metric} error {error_text(best.error, best.low, best.high)} {advice.unit_of(metric)}"


def _in_full(member: Mechanism) -> str:
    """Return the name of a protocol in commands, its full name, and its full name."""
    protocol = member.protocol
    title = title_inside(protocol.title if member.channel is None else member.channel.title)
    return f"{protocol_text(protocol.key)} ({title})"


def summary(advice: PlacesAdvice, metric: str) -> str:
    """Return the answer in one paragraph."""
    return verdict(advice, metric).summary


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


METHODS_LEGEND = (
    "Methods: none is matrix inversion for a channel, and the raw estimate of another protocol; norm_mul and norm_sub "
    "cut its negative frequencies and scale the rest, or project it on the simplex; ibu (iterative Bayesian update) "
    "finds the likeliest frequencies."
)


def describe(request: PlacesRequest) -> str:
    """Return the promise in a few words, for titles."""
    epsilon = request.question.epsilon
    if request.radius is None:
        return f"ε = {epsilon:g}, any two places"
    return f"ε = {epsilon:.4g} within {length(request.radius, request.unit)}"
