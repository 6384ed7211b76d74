"""From a question about places to a ranking: the channels that keep its promise, and what they cost and give away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from advisor.answers.rank.result import Answer, Ranking, Recommendation
from advisor.answers.rank.simulate import simulated_answer
from advisor.errors import InputError
from advisor.extensions.places.question import BY_NAME, PlacesRequest
from advisor.question.constraints import constrained, nothing_left
from advisor.question.request import nothing_left_sentence
from simulator import channels
from simulator.channels import MOST_MEASURED, PLANAR, FixedChannel, SingularChannelError, Update
from simulator.methods.maximum_likelihood import remembered_maxima
from simulator.metrics import EMD_SLACK
from simulator.progress import Progress, silent
from simulator.seeding import rng_for

LEAK_SLACK = 1e-9  # relative: rounding of logarithms
BLOCKS = (3, 5, 7)  # sides of the blocks of cloaking


class PlaceFigures(NamedTuple):
    """What reports of a protocol give away at most, and what they cost."""

    # epsilon_within_radius, epsilon_per_unit, epsilon_any_two: largest log-ratio of two places within the radius (None
    # without one), per unit of distance (None where it was not measured), and of any two
    epsilon_within_radius: float | None
    epsilon_per_unit: float | None
    epsilon_any_two: float
    # expected_distance, adversary_error: mean distance of the true place from the reported one, and from the best guess
    # of an adversary who knows the true frequencies; None where a report is no place, or for many cells
    expected_distance: float | None = None
    adversary_error: float | None = None


def with_channels(request: PlacesRequest) -> PlacesRequest:
    """Return the request with the channels that compete, the figures of all protocols, and what constraints leave.

    Raises InputError if a channel leaks more than is promised, or nothing is left.
    """
    made, figures, warnings = dict[str, FixedChannel](), dict[str, PlaceFigures](), list[str]()
    for name in request.protocols:
        if request.radius is None:
            reports_places = request.oracle(name).report_kind == "value"
            flat = channels.krr(request.k, request.epsilon) if reports_places else None
            figures[name] = PlaceFigures(None, None, request.epsilon) if flat is None else _figures(flat, request)
            continue
        try:
            channel = _metric_channel(name, request, request.epsilon)
            rate = request.epsilon / request.radius if name in (*PLANAR, *BY_NAME) else None
            made[name], figures[name] = channel, _figures(channel, request, rate)
        except ValueError as error:
            warnings.append(f"{name} is left out: {error}")
    if (own := request.channel) is not None:
        made[own.key], figures[own.key] = own, _figures(own, request)
    if not figures:
        raise InputError("nothing is left to compare: " + "; ".join(warnings))
    rows = {key: row._asdict() for key, row in figures.items()}
    full = replace(request, channels=made, protocols=tuple(figures), figures=rows)
    result = constrained(full, request.question.limits)
    if nothing_left(result):
        raise InputError(nothing_left_sentence(result.removals))
    if "optimal" in result.protocols:
        warnings.append(
            "optimal is made for the frequencies of the sample, which every device gets with the mechanism: they must "
            "be public (optimal_uniform is made for equal ones)"
        )
    if {"none", "norm_mul", "norm_sub"} & {*result.methods}:
        warnings += [text for key in result.protocols if key in made for text in _without_inversion(made[key])]
    return replace(result, warnings=(*result.warnings, *warnings))


def _metric_channel(name: str, request: PlacesRequest, epsilon: float) -> FixedChannel:
    """Return a channel that keeps a budget within the radius; raise ValueError if there is none for these places."""
    places, radius = request.ground, request.radius
    if radius is not None and name in PLANAR:
        return PLANAR[name](places, epsilon / radius)
    if radius is not None and name in BY_NAME:
        prior = request.truth if name == "optimal" else np.full(request.k, 1 / request.k)
        return replace(channels.optimal(places.distances(), epsilon / radius, prior), key=name)
    return channels.krr(request.k, epsilon)


class TradeOff(NamedTuple):
    """Privacy against quality of service of one mechanism."""

    mechanism: str
    epsilon: float | None  # within the radius; None for a matrix of the user, and for cloaking, which keeps none
    expected_distance: float
    adversary_error: float
    epsilon_any_two: float


def trade_offs(request: PlacesRequest) -> tuple[TradeOff, ...]:
    """Return the mechanisms of the menu at each budget of the curve, then the user's own, and cloaking by blocks.

    Raises InputError for too many cells, or a mechanism that there is not for these places.
    """
    question, places = request.question, request.ground
    if not question.ground.curve:
        return ()
    if places.k > MOST_MEASURED:
        raise InputError(f"--curve takes at most {MOST_MEASURED:,} cells, got {places.k:,}: take a coarser grid")
    competitors: list[tuple[str, float | None, FixedChannel]] = []
    for name, epsilon in product(question.protocols, question.ground.curve):
        try:
            competitors.append((name, epsilon, _metric_channel(name, request, epsilon)))
        except ValueError as error:
            raise InputError(f"--curve: {error}") from None
    if request.channel is not None and request.channel.report_kind == "value":
        competitors.append((request.channel.key, None, request.channel))
    sides = [side for side in BLOCKS if side < max(places.rows, places.columns)]
    competitors += [(f"cloaking {side}x{side}", None, channels.cloaking(places, side)) for side in sides]
    truth, distances = request.truth, places.distances()

    def measured(name: str, epsilon: float | None, channel: FixedChannel) -> TradeOff:
        moved, guessed = channel.expected_distance(truth, distances), channel.adversary_error(truth, distances)
        return TradeOff(name, epsilon, moved, guessed, channel.epsilon)

    return tuple(measured(*competitor) for competitor in competitors)


def _figures(channel: FixedChannel, request: PlacesRequest, rate: float | None = None) -> PlaceFigures:
    """Return the figures of a channel.

    rate: that of noise which falls with the distance, by construction: measuring it takes seconds.

    Raises InputError if it leaks more than is promised.
    """
    places, epsilon, within, per_unit = request.ground, request.epsilon, None, rate
    if request.radius is not None:
        by_construction = rate is not None and places.k > MOST_MEASURED
        within = epsilon if by_construction else channels.epsilon_within(channel, places, request.radius)
    if rate is None and (channel.key == "krr" or places.k <= MOST_MEASURED):
        per_unit = channels.epsilon_per_unit(channel, places)
    leak = channel.epsilon if within is None else within
    if leak > epsilon * (1 + LEAK_SLACK):
        where = "any two places" if within is None else f"places at most {request.radius:g} {request.unit} apart"
        raise InputError(
            f"{channel.title} leaks more than is promised: its largest log-ratio for {where} is {leak:.6g}, "
            f"--eps claims {epsilon:g}"
        )
    if channel.report_kind != "value":
        return PlaceFigures(within, per_unit, channel.epsilon)
    distances = places.distances()
    moved = channel.expected_distance(request.truth, distances)
    guessed = channel.adversary_error(request.truth, distances) if places.k <= MOST_MEASURED else None
    return PlaceFigures(within, per_unit, channel.epsilon, moved, guessed)


def _without_inversion(channel: FixedChannel) -> list[str]:
    """Warn of a channel whose estimates have to do without matrix inversion."""
    try:
        channel.decoder  # noqa: B018 - worked out when it is first asked for
    except SingularChannelError as error:
        return [f"{channel.key} without matrix inversion: {error}"]
    return []


@dataclass(frozen=True, eq=False, repr=False)
class PlacesAdvice:
    """The answer: for each metric a ranking of pairs, and what is said of channels beside."""

    request: PlacesRequest  # with the channels that competed
    answer: Answer
    ibu_fits: Mapping[str, tuple[Update, ...]]  # how the iterative Bayesian update of each collection ended, by channel
    trade_offs: tuple[TradeOff, ...]  # privacy against quality of service, if a curve was asked for

    @property
    def rankings(self) -> Mapping[str, Ranking]:
        """The ranking for each metric, that which was named first before the others."""
        return {ranking.metric: ranking for ranking in self.answer.rankings}

    def best(self, metric: str) -> Recommendation:
        """Return the first of the ranking of a metric."""
        return self.rankings[metric].best

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the reader."""
        return self.answer.first.warnings

    @property
    def emd_error(self) -> float | None:
        """Largest proven relative error of the earth mover's distances; None without that metric."""
        (runs,) = self.answer.runs
        return max(float(block.max()) for block in runs.of(EMD_SLACK.name).values()) if "emd" in self.rankings else None


def answer_places(request: PlacesRequest, progress: Progress = silent) -> PlacesAdvice:
    """Rank what competes on the ground of the places, and work out what is said of channels beside.

    Raises InputError if a channel leaks more than is promised, or constraints leave nothing.
    """
    curve = trade_offs(request)  # refuses too many cells before anything takes long
    request = with_channels(request)
    answer = simulated_answer(request, jobs=request.question.simulation.jobs, progress=progress)
    return PlacesAdvice(request, answer, _ibu_fits(request), curve)


def _ibu_fits(request: PlacesRequest) -> dict[str, tuple[Update, ...]]:
    """Return how the iterative Bayesian update of the first collections with each channel ended."""
    fits = {}
    for key in request.protocols if "ibu" in request.methods else ():
        if key in request.channels:
            channel = request.channels[key]
            streams = (rng_for(request.seed, "collect", key, repetition) for repetition in range(request.repetitions))
            tallies = np.stack([channel.sample_tally(request.counts, rng).counts for rng in streams])
            fits[key] = tuple(remembered_maxima(channel.likelihood, tallies))
    return fits
