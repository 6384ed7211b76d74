"""Memoised protocols: two budgets, and devices that remember; a permanent step, and an instantaneous one each round."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.memoisation.changes import Changes, Moments
from simulator.protocols.oracle import FrequencyOracle
from simulator.protocols.protocol import Probabilities, check_setting

Report = Callable[[IntArray, np.random.Generator], Reports]
"""Devices of n users: ``(n,)`` values of a round to its reports; what they once drew for a value they keep."""


@dataclass(frozen=True)
class TwoBudgets:
    """A protocol whose reports of a value use the same permanent randomisation in all rounds.

    It has the methods that `TwoSteps` documents.

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


@dataclass(frozen=True)
class TwoSteps(TwoBudgets, ABC):
    """A frequency oracle at epsilon_forever, randomised anew in each round down to the same oracle at epsilon.

    The second step keeps a support of the first with probability p2, and adds another support with q2. They are chosen
    so that both steps together have the p and q of the oracle at epsilon: with p1 and q1 those of the first step,
    ``p2 - q2 = (p - q) / (p1 - q1)`` and ``q2 = q - q1 (p2 - q2)``. So a single round is the one-shot oracle.

    Parameters and errors as for `TwoBudgets`; epsilon must be below epsilon_forever.
    """

    kind: ClassVar[type[FrequencyOracle]]  # the oracle

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon >= self.epsilon_forever:
            raise ValueError(
                f"eps of one report must be below eps-forever, got eps {self.epsilon:g} and eps-forever "
                f"{self.epsilon_forever:g}"
            )

    @cached_property
    def once(self) -> FrequencyOracle:
        """The one-shot oracle that a single round is."""
        return self.kind(self.k, self.epsilon)

    @cached_property
    def permanent(self) -> FrequencyOracle:
        """The first step."""
        return self.kind(self.k, self.epsilon_forever)

    @property
    def first(self) -> Probabilities:
        """p1 and q1."""
        return self.permanent.probabilities

    @cached_property
    def second(self) -> Probabilities:
        """p2 and q2."""
        (p, q), (p1, q1) = self.once.probabilities, self.first
        kept = (p - q) / (p1 - q1)
        other = max(0.0, q - q1 * kept)
        return other + kept, other

    @property
    def report_bits(self) -> int:
        """Report size in bits."""
        return self.once.report_bits

    @property
    def most_memos(self) -> int:
        """Most permanent randomisations that a device can ever keep: that many times epsilon_forever is spent."""
        return self.k

    def mean_memos(self, changes: Changes) -> float:
        """Return how many permanent randomisations a user uses in all rounds, on average."""
        return changes.values_held

    @property
    def moments(self) -> Moments:
        """Variances and covariances of a user's contribution to an estimate."""
        (p, q), (p1, q1) = self.once.probabilities, self.first
        once, forever = (p - q) ** 2, (p1 - q1) ** 2
        return Moments(p * (1 - p) / once, q * (1 - q) / once, p1 * (1 - p1) / forever, q1 * (1 - q1) / forever)

    def support(self, reports: Reports) -> IntArray:
        """Server: support counts of the reports of a round."""
        return self.once.support(reports).astype(np.int64)

    def estimate(self, support: IntArray, n: int) -> FloatArray:
        """Return the unbiased estimates ``(..., k)`` from the counts of rounds in which n users reported."""
        return self.once.estimate(support, n)

    def devices(self, n: int, rng: np.random.Generator) -> Report:
        """Return the devices of n users, which report round by round: the slow reference that defines the law."""
        del rng  # nothing is drawn before the first value
        memos: dict[int, Reports] = {}  # by value

        def report(values: IntArray, rng: np.random.Generator) -> Reports:
            kept = remembered(memos, values, lambda value: self.permanent.perturb(np.full(n, value), rng))
            return self.perturb_again(kept, rng)

        return report

    @abstractmethod
    def loss(self, rounds: int) -> float:
        """Return the largest log-ratio of the likelihoods of several reports of a value: the leakage by averaging."""

    @abstractmethod
    def perturb_again(self, memos: Reports, rng: np.random.Generator) -> Reports:
        """Client: the second step, drawn anew for each report."""


def one_value_loss(p1: float, second: Probabilities, size: int, rounds: int) -> float:
    """Return the loss of randomised response over `size` symbols, twice, the second time in each of some rounds.

    The most revealing sequence is v1 in each round: ``p1 p2^R + (1 - p1) q2^R`` against
    ``q1 p2^R + p1 q2^R + (size - 2) q1 q2^R``, both divided by p2^R here.
    """
    q1, rare = (1 - p1) / (size - 1), (second[1] / second[0]) ** rounds
    return math.log((p1 + (1 - p1) * rare) / (q1 + (1 - q1) * rare))


def two_bits_loss(first: Probabilities, second: Probabilities, rounds: int) -> float:
    """Return the loss of two bits that are flipped twice: that of v1 is 1 in each round, and that of v2 is 0."""
    (p1, q1), (p2, q2) = first, second
    ones, zeros = (q2 / p2) ** rounds, ((1 - p2) / (1 - q2)) ** rounds
    own = math.log((p1 + (1 - p1) * ones) / (q1 + (1 - q1) * ones))
    return own + math.log((1 - q1 + q1 * zeros) / (1 - p1 + p1 * zeros))
