"""Forced response: a question with two answers, which dice, coins or cards force with unequal probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.draws import binomial, multinomial
from simulator.protocols.grr import GRR
from simulator.protocols.oracle import FrequencyOracle, Noise, Support, check_users, shared_out
from simulator.protocols.protocol import Tally

ROUNDING = 1e-9  # of a budget that was computed from the rates


@dataclass(frozen=True)
class ForcedResponse(FrequencyOracle):
    """Report the first of two values with probability `own_rate` if it is the true one, else with `other_rate`.

    Randomised response is the case where they sum to 1. There are no p and q that hold for both values, so those are
    None. Blair, Imai, Zhou, "Design and analysis of the randomized response technique", JASA 2015.

    Raises
    ------
    ValueError
        If k is not 2, or the rates are not probabilities with `own_rate` above `other_rate`, or exceed `epsilon`.
    """

    key = GRR.key
    title = "Forced response"
    reference = "Blair, Imai, Zhou, JASA 2015"
    report_kind = GRR.report_kind
    report_bits = 1
    sums_to_one = True
    p = q = None

    own_rate: float
    other_rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        p, q = self.own_rate, self.other_rate
        if self.k != 2 or not 0 < q < p < 1 or forced_budget(p, q) > self.epsilon + ROUNDING:
            raise ValueError(f"p={p} and q={q} are no probabilities of 2 answers, or exceed epsilon={self.epsilon}")

    @property
    def attack_success(self) -> float:
        return (1 + self.own_rate - self.other_rate) / 2

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return (rng.random(len(values)) >= np.array([self.own_rate, self.other_rate])[values]).astype(np.int64)

    def support(self, reports: Reports) -> IntArray:
        return np.bincount(reports, minlength=2)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        first = binomial(counts, np.array([self.own_rate, self.other_rate]), rng).sum(axis=-1)
        return np.stack([first, counts.sum(axis=-1) - first], axis=-1)

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally:
        return Tally(multinomial(fakes, np.full(2, 0.5), rng), fakes)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        return Tally(shared_out(self.k, targets, fakes, rng), fakes)

    def estimate(self, support: Support, n: int) -> FloatArray:
        check_users(n)
        p, q = self.own_rate, self.other_rate
        return (support / n - np.array([q, 1 - p])) / (p - q)

    def noise(self, n: int) -> ForcedNoise:
        check_users(n)
        p, q = self.own_rate, self.other_rate
        first, second = (rate * (1 - rate) / (n * (p - q) ** 2) for rate in (q, p))
        return ForcedNoise(n, None, None, (first + second) / 2, 0.0, self.sums_to_one, at_zero=(first, second))


@dataclass(frozen=True)
class ForcedNoise(Noise):
    """Noise of a forced response: equal for both values, and between those of everybody holding one or the other.

    `variance_at_zero` and `variance_slope` are means over the values.
    """

    at_zero: tuple[float, float] = (0.0, 0.0)  # variance where nobody holds the first value, and the second

    def entry(self, frequency: FloatArray) -> FloatArray:
        at_zero, slope = self.line(frequency)
        return at_zero + slope * frequency

    def line(self, estimate: FloatArray) -> tuple[FloatArray, FloatArray]:
        at_zero = np.array(self.at_zero)
        return at_zero, at_zero[::-1] - at_zero


def forced_budget(p: float, q: float) -> float:
    """Return the largest log-ratio of the probabilities of either report."""
    return max(math.log(p) - math.log(q), math.log1p(-q) - math.log1p(-p))
