"""The budget of one report at a central promise, for numbers of users that a plan tries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from advisor.errors import InputError
from advisor.question.settings import N_MAX
from simulator import PROTOCOLS
from simulator.protocols import EPSILON_MIN
from simulator.shuffler import Shuffler

PLACES = np.geomspace(1e3, 1e9, 7)  # numbers of users between which a first answer takes straight lines


@dataclass(frozen=True)
class PlanShuffling:
    """A central promise that the shuffled reports of k categories keep, whatever the number of users.

    Raises InputError if the promise is below every budget, so that few users could not keep it.
    """

    epsilon: float
    delta: float
    k: int

    def __post_init__(self) -> None:
        if self.epsilon < EPSILON_MIN:
            raise InputError(f"central-eps must be at least {EPSILON_MIN:g} in a plan, got {self.epsilon:g}")

    @property
    def text(self) -> str:
        """The promise in a few words."""
        return f"central ε = {self.epsilon:g} and δ = {self.delta:g} with a shuffler"

    def local(self, protocol: str, n: int) -> float:
        """Return the largest budget that keeps the promise of n users: at least the central one itself."""
        return _local(self.epsilon, self.delta, self.k, protocol, min(n, N_MAX))

    def near(self, protocol: str, n: float) -> float:
        """Return about that, at once: straight lines between logarithms."""
        known = [self.local(protocol, round(place)) for place in PLACES.tolist()]
        return float(np.exp(np.interp(np.log(n), np.log(PLACES), np.log(known))))


@lru_cache(maxsize=4096)
def _local(epsilon: float, delta: float, k: int, protocol: str, n: int) -> float:
    return Shuffler(n, delta).local(epsilon, {protocol: PROTOCOLS[protocol]}, k)[protocol]
