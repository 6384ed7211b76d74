"""What comes out of a question about places."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from advisor.places.request import PlacesRequest
from simulator import METRICS
from simulator.channels import Update
from simulator.ranking import Standing


@dataclass(frozen=True)
class Mechanism:
    """One protocol on places, what it promises and what it costs.

    Attributes
    ----------
    within, per_unit, anywhere
        As in `advisor.places.promise.Leakage`.
    expected_distance
        Mean distance between the true and the reported place, None where a report is no place.
    ibu_fits
        How the iterative Bayesian update of each collection with a channel ended.
    """

    key: str
    title: str
    methods: tuple[str, ...]
    within: float | None
    per_unit: float | None
    anywhere: float
    expected_distance: float | None
    report_bits: int
    attack_success: float
    ibu_fits: tuple[Update, ...]


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


def unit_of(metric: str, request: PlacesRequest) -> str:
    """Return the unit of a metric's errors here."""
    return request.unit if metric == "emd" else METRICS[metric].unit
