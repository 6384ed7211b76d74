"""From a question about places to a ranking: simulate, measure, rank. Pure; nothing is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from advisor.places.constraints import competitors
from advisor.places.menu import Mechanism
from advisor.places.request import PlacesRequest
from simulator import METRICS
from simulator.ranking import Pair, Standing, rank
from simulator.transport import differences, transport


@dataclass(frozen=True, eq=False)
class Pictured:
    """One collection to look at: shares of the reported places, and the estimates by method."""

    reported: NDArray[np.float64] | None
    estimates: dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class PlacesAdvice:
    """The answer: for each metric a ranking of pairs.

    Attributes
    ----------
    mechanisms
        What competed, by key.
    rankings
        For each metric the standings, the best first.
    uniform_errors
        For each metric the error of equal frequencies everywhere, which need no data.
    emd_error
        Largest proven relative error of the earth mover's distances behind the ranking, None without that metric.
    pictured
        The first collection of every mechanism.
    """

    request: PlacesRequest
    mechanisms: dict[str, Mechanism]
    rankings: dict[str, tuple[Standing, ...]]
    uniform_errors: dict[str, float]
    emd_error: float | None
    pictured: dict[str, Pictured] = field(repr=False)

    def best(self, metric: str | None = None) -> Standing:
        """Return the first of the ranking of a metric (default: the first metric)."""
        return self.rankings[metric or self.request.metrics[0]][0]

    def error_of(self, metric: str, protocol: str, method: str) -> float | None:
        """Return the mean error of a pair, None if it did not compete."""
        return next((row.error for row in self.rankings[metric] if row.pair == (protocol, method)), None)


def answer_places(request: PlacesRequest, progress: Callable[[int, int], None] | None = None) -> PlacesAdvice:
    """Simulate the collections of every mechanism and rank all pairs for each metric.

    Raises
    ------
    InputError
        If a channel leaks more than is promised, or constraints leave nothing.
    """
    request, members = competitors(request)
    errors: dict[str, dict[Pair, NDArray[np.float64]]] = {metric: {} for metric in request.metrics}
    worst = 0.0
    pictured: dict[str, Pictured] = {}
    total, done = sum(len(member.methods) for member in members), 0
    for member in members:
        estimates = member.estimates(range(request.repetitions))
        pictured[member.key] = Pictured(member.reported(), {name: block[0] for name, block in estimates.items()})
        for method, block in estimates.items():
            for metric in request.metrics:
                measured, off = measure(metric, block, request)
                errors[metric][member.key, method] = measured
                worst = max(worst, off)
            done += 1
            if progress is not None:
                progress(done, total)
    cost = {member.key: float(member.report_bits) for member in members}
    uniform = np.full((1, request.places.k), 1 / request.places.k)
    return PlacesAdvice(
        request,
        {member.key: member for member in members},
        {metric: rank(blocks, cost) for metric, blocks in errors.items()},
        {metric: float(measure(metric, uniform, request)[0][0]) for metric in request.metrics},
        worst if "emd" in request.metrics else None,
        pictured,
    )


def measure(metric: str, estimates: NDArray[np.float64], request: PlacesRequest) -> tuple[NDArray[np.float64], float]:
    """Return the error of each estimate ``(repetitions, k)``, and how far off, relatively, it can be at most."""
    if metric != "emd":
        return METRICS[metric].with_options(**request.metric_options)(estimates, request.truth), 0.0
    found = [transport(row, request.places) for row in differences(estimates, request.truth)]
    off = max((one.high / one.value - 1 for one in found if one.value), default=0.0)
    return np.array([one.value for one in found]), off


def unit_of(metric: str, request: PlacesRequest) -> str:
    """Return the unit of a metric's errors here."""
    return request.unit if metric == "emd" else METRICS[metric].unit
