"""A question about places that can be answered: the options, joined with the sample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from advisor.question.metric_settings import MetricValues
from advisor.question.removals import Removal
from advisor.question.settings import Limits
from simulator.channels import Channel
from simulator.domain import Domain
from simulator.places import Places


@dataclass(frozen=True, eq=False)
class PlacesRequest:
    """A question about places that can be answered."""

    privacy: str  # ``"metric"``: `epsilon` bounds the log-ratio of places at most `radius` apart; ``"ldp"``: of any two
    epsilon: float
    radius: float | None
    # places, counts, unit: the cells, the users who hold each ``(k,)``, and the unit of distances
    places: Places
    counts: NDArray[np.int64] = field(repr=False)
    unit: str
    metrics: tuple[str, ...]
    metric_values: MetricValues
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    seed: int
    # repetitions, max_repetitions: to start with, and at most, for the pairs that lead
    repetitions: int
    max_repetitions: int
    sample: str
    channel: Channel | None  # the user's own, or None
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    # limits, removals: what a pair must keep to be ranked, and what each constraint took off the menu, once it has been
    # applied
    limits: Limits = field(default_factory=Limits)
    removals: tuple[Removal, ...] = ()

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def truth(self) -> NDArray[np.float64]:
        """True frequencies ``(k,)``."""
        result: NDArray[np.float64] = self.counts / self.n
        return result

    @property
    def domain(self) -> Domain:
        """What methods may know of the cells: how far apart they are."""
        return Domain(ground=self.places)
