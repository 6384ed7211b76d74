"""Base class of memoised protocols: two budgets, and devices that remember."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.memoisation.changes import Changes, Moments
from simulator.protocols.protocol import check_setting

Report = Callable[[IntArray, np.random.Generator], Reports]
"""Devices of n users: ``(n,)`` values of a round to its reports; what they once drew for a value they keep."""


@dataclass(frozen=True)
class Repeated(ABC):
    """A protocol whose reports of a value use the same permanent randomisation in all rounds.

    Parameters
    ----------
    k
        Domain size, at least 2.
    epsilon_forever
        Budget of all reports of a value together.
    epsilon
        Budget per report.

    Raises
    ------
    ValueError
        If a parameter is outside its range.
    """

    k: int
    epsilon_forever: float
    epsilon: float

    key: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]

    def __post_init__(self) -> None:
        check_setting(self.k, self.epsilon_forever)
        check_setting(self.k, self.epsilon)

    @property
    @abstractmethod
    def most_memos(self) -> int:
        """Most permanent randomisations that a device can ever keep: that many times epsilon_forever is spent."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Report size in bits."""

    @property
    @abstractmethod
    def moments(self) -> Moments:
        """Variances and covariances of a user's contribution to an estimate."""

    @abstractmethod
    def devices(self, n: int, rng: np.random.Generator) -> Report:
        """Return the devices of n users, which report round by round: the slow reference that defines the law."""

    @abstractmethod
    def support(self, reports: Reports) -> IntArray:
        """Server: support counts of the reports of a round."""

    @abstractmethod
    def estimate(self, support: IntArray, n: int) -> FloatArray:
        """Return the unbiased estimates ``(..., k)`` from the counts of rounds in which n users reported."""

    @abstractmethod
    def mean_memos(self, changes: Changes) -> float:
        """Return how many permanent randomisations a user uses in all rounds, on average."""

    @abstractmethod
    def loss(self, rounds: int) -> float:
        """Return the largest log-ratio of the likelihoods of several reports of a value: the leakage by averaging."""


def remembered(memos: dict[int, Reports], states: IntArray, draw: Callable[[int], Reports]) -> Reports:
    """Return the memo of each device for the state ``(n,)`` that it is in.

    memos: those of all devices for each state that any device was in; `draw` makes those that are missing.
    """
    current = np.unique(states).tolist()
    memos.update({state: draw(state) for state in current if state not in memos})
    result = memos[current[0]].copy()
    for state in current[1:]:
        result[states == state] = memos[state][states == state]
    return result
