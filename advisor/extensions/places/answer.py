"""From a question about places to a ranking: what competes, on a domain with a ground distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.extensions.places.question import BY_NAME, CHANNEL_METHODS, PlacesRequest
from advisor.question.constraints import removals_of
from advisor.question.request import Removal, removal_sentences
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, channels
from simulator.benchmark import Experiment
from simulator.channels import MOST_MEASURED, PLANAR, FixedChannel, SingularChannelError, Update
from simulator.methods import observe, possible
from simulator.methods.maximum_likelihood import remembered_maxima
from simulator.metrics import EMD_SLACK
from simulator.progress import Progress, silent
from simulator.protocols.protocol import Protocol, Tally
from simulator.race import race
from simulator.ranking import Standing, rank
from simulator.seeding import rng_for

LEAK_SLACK = 1e-9  # relative: rounding of logarithms
BLOCKS = (3, 5, 7)  # sides of the blocks of cloaking


class Leakage(NamedTuple):
    """What reports give away at most."""

    # within, per_unit, anywhere: largest log-ratio of two places within the radius (None without one), per unit of
    # distance (None where it was not measured), and of any two
    within: float | None
    per_unit: float | None
    anywhere: float


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One protocol on places, what its reports give away, and what it costs."""

    protocol: Protocol
    leakage: Leakage
    channel: FixedChannel | None  # its matrix, if a report is a place
    methods: tuple[str, ...] = ()  # those that go with it
    # expected_distance, adversary_error: mean distance of the true place from the reported one, and from the best guess
    # of an adversary who knows the true frequencies; None without, or for many cells
    expected_distance: float | None = None
    adversary_error: float | None = None
    ibu_fits: tuple[Update, ...] = ()  # how the iterative Bayesian update of each collection with a channel ended
    # reported, estimates: of one collection the shares of the reported places, if a report is one, and the estimates by
    # method, ``(k,)`` each
    reported: NDArray[np.float64] | None = field(default=None, repr=False)
    estimates: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    @cached_property
    def attack_success(self) -> float:
        """How often the best guess from one report is the user's place: worked out once."""
        return self.protocol.attack_success


def places_menu(request: PlacesRequest) -> tuple[dict[str, Mechanism], tuple[Removal, ...], list[str]]:
    """Return what competes by key, what each constraint removed, and warnings about what cannot compete.

    Raises InputError if a channel leaks more than is promised, or nothing is left.
    """
    competitors, warnings = _competitors(request)
    methods_asked = request.question.methods
    protocols = {key: mechanism.protocol for key, mechanism in competitors.items()}
    limits, methods = request.question.limits, {name: POSTPROCESSORS[name] for name in methods_asked}
    removals = removals_of(protocols, methods, request.n, limits)
    gone = {name for removal in removals for name in (*removal.protocols, *removal.methods)}
    methods_asked = tuple(name for name in methods_asked if name not in gone)
    mechanisms = {
        key: replace(mechanism, methods=tuple(name for name in methods_asked if _possible(mechanism, name, request)))
        for key, mechanism in competitors.items()
        if key not in gone
    }
    if not any(mechanism.methods for mechanism in mechanisms.values()):
        why = " ".join(removal_sentences(removals)) or "no method here goes with these protocols."
        raise InputError(f"nothing is left to rank: {why}")
    if "optimal" in mechanisms:
        warnings.append(
            "optimal is made for the frequencies of the sample, which every device gets with the mechanism: they must "
            "be public (optimal_uniform is made for equal ones)"
        )
    if {"none", "norm_mul", "norm_sub"} & {*methods_asked}:
        warnings += [
            text for key, mechanism in mechanisms.items() for text in _without_inversion(key, mechanism.protocol)
        ]
    return mechanisms, removals, warnings


def _competitors(request: PlacesRequest) -> tuple[dict[str, Mechanism], list[str]]:
    """Return what may compete by key, and why others cannot."""
    question, k, warnings = request.question, request.places.k, list[str]()
    mechanisms: dict[str, Mechanism] = {}
    if request.radius is None:
        for name in question.protocols:
            protocol = PROTOCOLS[name](k, question.epsilon)
            channel = channels.krr(k, question.epsilon) if protocol.report_kind == "value" else None
            mechanisms[name] = Mechanism(protocol, Leakage(None, None, question.epsilon), channel)
    else:
        for name in question.protocols:
            rate = question.epsilon / request.radius if name in (*PLANAR, *BY_NAME) else None
            try:
                channel = _metric_channel(name, request, question.epsilon)
                leakage = _leakage(channel, request, rate)
            except ValueError as error:
                warnings.append(f"{name} is left out: {error}")
            else:
                mechanisms[name] = Mechanism(channel, leakage, channel)
    if (own_channel := request.channel) is not None:
        square = own_channel.report_kind == "value"
        mechanisms[own_channel.key] = Mechanism(
            own_channel, _leakage(own_channel, request, None), own_channel if square else None
        )
    if not mechanisms:
        raise InputError("nothing is left to compare: " + "; ".join(warnings))
    return mechanisms, warnings


def _metric_channel(name: str, request: PlacesRequest, epsilon: float) -> FixedChannel:
    """Return a channel that keeps a budget within the radius; raise ValueError if there is none for these places."""
    places, radius = request.places, request.radius
    if radius is not None and name in PLANAR:
        return PLANAR[name](places, epsilon / radius)
    if radius is not None and name in BY_NAME:
        prior = request.truth if name == "optimal" else np.full(places.k, 1 / places.k)
        return replace(channels.optimal(places.distances(), epsilon / radius, prior), key=name)
    return channels.krr(places.k, epsilon)


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
    question, places = request.question, request.places
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


def _leakage(channel: FixedChannel, request: PlacesRequest, rate: float | None) -> Leakage:
    """Return what a channel gives away.

    rate: that of noise which falls with the distance, by construction: measuring it takes seconds.

    Raises InputError if that is more than is promised.
    """
    places, epsilon, within, per_unit = request.places, request.question.epsilon, None, rate
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
    return Leakage(within, per_unit, channel.epsilon)


def _possible(mechanism: Mechanism, method: str, request: PlacesRequest) -> bool:
    if isinstance(mechanism.protocol, FixedChannel):
        line = 1 in (request.places.rows, request.places.columns)
        if method not in CHANNEL_METHODS or (line and method == "wavelet_eb"):
            return False
    return possible(POSTPROCESSORS[method], mechanism.protocol, request.domain, request.n)


def _without_inversion(key: str, protocol: Protocol) -> list[str]:
    """Warn of a channel whose estimates have to do without matrix inversion."""
    if not isinstance(protocol, FixedChannel) or protocol.offers("estimate"):
        return []
    try:
        protocol.decoder  # noqa: B018 - worked out when it is first asked for
    except SingularChannelError as error:
        return [f"{key} without matrix inversion: {error}"]
    return []


@dataclass(frozen=True, eq=False)
class PlacesAdvice:
    """The answer: for each metric a ranking of pairs."""

    request: PlacesRequest
    mechanisms: Mapping[str, Mechanism]  # what competed, by key
    removals: tuple[Removal, ...]  # what each constraint took off the menu
    warnings: tuple[str, ...]
    rankings: Mapping[str, tuple[Standing, ...]]  # for each metric the standings, the best first
    uniform_errors: Mapping[str, float]  # for each metric the error of equal frequencies, which need no data
    emd_error: float | None  # largest proven relative error of the earth mover's distances, None without that metric
    repetitions: int  # most repetitions behind any row of the rankings
    trade_offs: tuple[TradeOff, ...]  # privacy against quality of service, if a curve was asked for

    @property
    def metric(self) -> str:
        """The metric that was named first."""
        return next(iter(self.rankings))

    def best(self, metric: str) -> Standing:
        """Return the first of the ranking of a metric."""
        return self.rankings[metric][0]

    def error_of(self, metric: str, protocol: str, method: str) -> float | None:
        """Return the mean error of a pair, None if it did not compete."""
        return next((row.error for row in self.rankings[metric] if row.pair == (protocol, method)), None)

    def unit_of(self, metric: str) -> str:
        """Return the unit of a metric's errors."""
        return self.request.unit if metric == "emd" else METRICS[metric].unit


def answer_places(request: PlacesRequest, progress: Progress = silent) -> PlacesAdvice:
    """Simulate the collections of all mechanisms, the leading ones until they are separated, and rank all pairs.

    Raises InputError if a channel leaks more than is promised, or constraints leave nothing.
    """
    question, names = request.question, request.question.metrics
    options = question.terms.metric_settings.resolved(request.places.k).options(question.simulation.seed)
    curve = trade_offs(request)  # refuses too many cells before anything takes long
    menu, removals, warnings = places_menu(request)
    metrics = {name: METRICS[name] for name in names} | ({EMD_SLACK.name: EMD_SLACK} if "emd" in names else {})
    experiment = Experiment(
        counts=request.counts,
        oracles={key: mechanism.protocol for key, mechanism in menu.items()},
        methods=POSTPROCESSORS,
        metrics={name: mechanism.with_options(**options, ground=request.places) for name, mechanism in metrics.items()},
        pairs=tuple((key, method) for key, mechanism in menu.items() for method in mechanism.methods),
        seed=question.simulation.seed,
        domain=request.domain,
    )
    runs = race(
        experiment,
        names,
        repetitions=request.repetitions,
        max_repetitions=request.max_repetitions,
        jobs=question.simulation.jobs or 1,
        progress=progress,
    )
    cost = {key: (float(mechanism.protocol.report_bits),) for key, mechanism in menu.items()}
    uniform = np.full(request.places.k, 1 / request.places.k)
    slack = runs.of(EMD_SLACK.name).values() if "emd" in names else ()
    return PlacesAdvice(
        request=request,
        mechanisms={key: _with_collections(key, mechanism, request) for key, mechanism in menu.items()},
        removals=removals,
        warnings=(*request.warnings, *warnings),
        rankings={metric: rank(runs.of(metric), cost) for metric in names},
        uniform_errors={metric: float(experiment.metrics[metric](uniform, request.truth)) for metric in names},
        emd_error=max((float(block.max()) for block in slack), default=None),
        repetitions=runs.repetitions,
        trade_offs=curve,
    )


def _with_collections(key: str, mechanism: Mechanism, request: PlacesRequest) -> Mechanism:
    """Return a mechanism with what comes out of its simulated collections, each of them drawn again."""

    def collection(repetition: int) -> Tally:
        rng = rng_for(request.question.simulation.seed, "collect", key, repetition)
        return mechanism.protocol.sample_tally(request.counts, rng)

    first, methods = collection(0), {name: POSTPROCESSORS[name] for name in mechanism.methods}
    needs = frozenset[str]().union(*(method.needs for method in methods.values()))
    observed = observe(mechanism.protocol, first, request.domain, needs=needs)
    moved, guessed, reported = None, None, None
    if mechanism.channel is not None:
        distances = request.places.distances()
        moved = mechanism.channel.expected_distance(request.truth, distances)
        if request.places.k <= MOST_MEASURED:
            guessed = mechanism.channel.adversary_error(request.truth, distances)
        reported = first.counts / request.n
    fits: tuple[Update, ...] = ()
    if isinstance(mechanism.protocol, FixedChannel) and "ibu" in methods:
        tallies = [collection(repetition).counts for repetition in range(request.repetitions)]
        fits = tuple(remembered_maxima(mechanism.protocol.likelihood, np.stack(tallies)))
    return replace(
        mechanism,
        expected_distance=moved,
        adversary_error=guessed,
        ibu_fits=fits,
        reported=reported,
        estimates={name: method.apply(observed) for name, method in methods.items()},
    )
