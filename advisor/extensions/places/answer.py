"""From a question about places to a ranking: the ordinary experiment on a domain with a ground distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from advisor.extensions.places.mechanisms import Mechanism, TradeOff, places_menu, trade_offs
from advisor.extensions.places.reading import PlacesRequest
from advisor.question.request import Removal
from simulator import METRICS, POSTPROCESSORS
from simulator.benchmark import Experiment
from simulator.channels import MOST_MEASURED, FixedChannel, Update
from simulator.methods import observe
from simulator.methods.maximum_likelihood import remembered_maxima
from simulator.metrics import EMD_SLACK
from simulator.progress import Progress, silent
from simulator.protocols.protocol import Tally
from simulator.race import race
from simulator.ranking import Standing, rank
from simulator.seeding import rng_for


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


def answer_places(request: PlacesRequest, progress: Progress = silent, *, jobs: int = 1) -> PlacesAdvice:
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
        jobs=jobs,
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
