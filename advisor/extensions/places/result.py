"""What comes out of a question about places."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from advisor.extensions.places.promise import Leakage
from advisor.extensions.places.request import PlacesRequest
from simulator import METRICS
from simulator.channels import Channel, Update
from simulator.protocols.protocol import Protocol
from simulator.ranking import Standing


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One protocol on places, what its reports give away, and what it costs."""

    protocol: Protocol
    leakage: Leakage
    channel: Channel | None  # its matrix, if a report is a place
    methods: tuple[str, ...] = ()  # those that go with it
    expected_distance: float | None = None  # mean distance between the true and the reported place; None without
    ibu_fits: tuple[Update, ...] = ()  # how the iterative Bayesian update of each collection with a channel ended

    @cached_property
    def attack_success(self) -> float:
        """How often the best guess from one report is the user's place: worked out once."""
        return self.protocol.attack_success


@dataclass(frozen=True, eq=False)
class Pictured:
    """One collection to look at: shares of the reported places, and the estimates by method."""

    reported: NDArray[np.float64] | None
    estimates: dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class PlacesAdvice:
    """The answer: for each metric a ranking of pairs."""

    request: PlacesRequest
    mechanisms: dict[str, Mechanism]  # what competed, by key
    rankings: dict[str, tuple[Standing, ...]]  # for each metric the standings, the best first
    uniform_errors: dict[str, float]  # for each metric the error of equal frequencies, which need no data
    emd_error: float | None  # largest proven relative error of the earth mover's distances, None without that metric
    repetitions: int  # most repetitions behind any row of the rankings
    pictured: dict[str, Pictured] = field(repr=False)  # the first collection of every mechanism

    def best(self, metric: str | None = None) -> Standing:
        """Return the first of the ranking of a metric (default: the first metric)."""
        return self.rankings[metric or self.request.metrics[0]][0]

    def error_of(self, metric: str, protocol: str, method: str) -> float | None:
        """Return the mean error of a pair, None if it did not compete."""
        return next((row.error for row in self.rankings[metric] if row.pair == (protocol, method)), None)


def unit_of(metric: str, request: PlacesRequest) -> str:
    """Return the unit of a metric's errors here."""
    return request.unit if metric == "emd" else METRICS[metric].unit
