"""From a question about places to a ranking: the ordinary experiment on a domain with a ground distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from advisor.extensions.places.menu import places_menu
from advisor.extensions.places.request import PlacesRequest
from advisor.extensions.places.result import Mechanism, Pictured, PlacesAdvice
from simulator import METRICS, POSTPROCESSORS, Metric
from simulator.benchmark import Experiment
from simulator.channels import Channel, Update
from simulator.methods import observe
from simulator.methods.maximum_likelihood import remembered_maxima
from simulator.metrics import EMD_SLACK
from simulator.protocols.protocol import Tally
from simulator.race import race
from simulator.ranking import rank
from simulator.seeding import rng_for


def answer_places(
    request: PlacesRequest, progress: Callable[[int, int], None] | None = None, *, jobs: int = 1
) -> PlacesAdvice:
    """Simulate the collections of every mechanism, the leading ones until they are told apart, and rank all pairs.

    Raises InputError if a channel leaks more than is promised, or constraints leave nothing.
    """
    request, menu = places_menu(request)
    experiment = Experiment(
        counts=request.counts,
        oracles={key: one.protocol for key, one in menu.items()},
        methods=POSTPROCESSORS,
        metrics=_metrics(request),
        pairs=tuple((key, method) for key, one in menu.items() for method in one.methods),
        seed=request.seed,
        domain=request.domain,
    )
    runs = race(
        experiment,
        request.metrics,
        repetitions=request.repetitions,
        max_repetitions=request.max_repetitions,
        jobs=jobs,
        progress=progress,
    )
    cost = {key: (float(one.protocol.report_bits),) for key, one in menu.items()}
    rankings = {metric: rank(runs.of(metric), cost) for metric in request.metrics}
    uniform = np.full(request.places.k, 1 / request.places.k)
    slack = runs.of(EMD_SLACK.name).values() if "emd" in request.metrics else ()
    return PlacesAdvice(
        request,
        {key: _measured(key, one, request) for key, one in menu.items()},
        rankings,
        {metric: float(experiment.metrics[metric](uniform, request.truth)) for metric in request.metrics},
        max((float(block.max()) for block in slack), default=0.0) if "emd" in request.metrics else None,
        runs.repetitions,
        {key: _picture(key, one, request) for key, one in menu.items()},
    )


def _metrics(request: PlacesRequest) -> dict[str, Metric]:
    """Return the metrics asked for with their ground distance, and how far off the earth mover's distance can be."""
    metrics = {name: METRICS[name] for name in request.metrics}
    if "emd" in metrics:
        metrics[EMD_SLACK.name] = EMD_SLACK
    return {
        name: metric.with_options(**request.metric_values.options(request.seed), ground=request.places)
        for name, metric in metrics.items()
    }


def _collection(key: str, one: Mechanism, request: PlacesRequest, repetition: int) -> Tally:
    """Return one of the simulated collections again."""
    return one.protocol.sample_tally(request.counts, rng_for(request.seed, "collect", key, repetition))


def _measured(key: str, one: Mechanism, request: PlacesRequest) -> Mechanism:
    """Return a mechanism with how far its reports are off, and how well the likeliest frequencies were found."""
    moved = None
    if one.channel is not None:
        moved = one.channel.expected_distance(request.truth, request.places.distances())
    fits: tuple[Update, ...] = ()
    if isinstance(one.protocol, Channel) and "ibu" in one.methods:
        likelihood = one.protocol.likelihood
        every = [_collection(key, one, request, repetition).counts for repetition in range(request.repetitions)]
        fits = tuple(remembered_maxima(likelihood, np.stack(every)))
    return replace(one, expected_distance=moved, ibu_fits=fits)


def _picture(key: str, one: Mechanism, request: PlacesRequest) -> Pictured:
    methods = {name: POSTPROCESSORS[name] for name in one.methods}
    tally = _collection(key, one, request, 0)
    needs = frozenset[str]().union(*(method.needs for method in methods.values()))
    observed = observe(one.protocol, tally, request.domain, needs=needs)
    reported = tally.counts / request.n if one.channel is not None else None
    return Pictured(reported, {name: method.apply(observed) for name, method in methods.items()})
