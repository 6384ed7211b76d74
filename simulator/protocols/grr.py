"""Randomised response: report the true value, or another value; of two answers also with unequal probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports, of_values
from simulator.draws import binomial, multinomial
from simulator.protocols.oracle import FrequencyOracle, Noise, Support, SupportOracle, bits_for, check_users, shared_out
from simulator.protocols.protocol import Probabilities, Tally


class GRR(SupportOracle):
    """Report the true value with probability p, each other value with probability q.

    A report is a value in 0..k-1. Kairouz, Bonawitz, Ramage, "Discrete distribution estimation under local privacy",
    ICML 2016 (k-RR).
    """

    key = "grr"
    title = "Generalised randomised response (k-RR)"
    reference = "Kairouz, Bonawitz, Ramage, ICML 2016"
    acronym = True
    aliases = ("krr", "rr", "flat", "de")
    report_kind = "value"
    fakes = (None,)
    sums_to_one = True

    @property
    def p(self) -> float:
        return 1 / (1 + (self.k - 1) * math.exp(-self.epsilon))

    @property
    def q(self) -> float:
        return math.exp(-self.epsilon) * self.p

    @property
    def report_bits(self) -> int:
        return bits_for(self.k)

    @property
    def attack_success(self) -> float:
        return self.p

    def server_operations(self, n: int) -> int:
        return self.k

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return kept_or_moved(values, self.p, self.k, rng)

    def support(self, reports: Reports) -> IntArray:
        return np.bincount(reports, minlength=self.k)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        # Keeping the value with probability p - q, and else drawing from all k, is the same channel.
        kept = binomial(counts, self.p - self.q, rng)
        rest = counts.sum(axis=-1) - kept.sum(axis=-1)
        return kept + multinomial(rest, np.full(self.k, 1 / self.k), rng)

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        return of_values(reports, self.k, values)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        return self.p, self.q

    def informed_guess(self, frequencies: FloatArray) -> float:
        falling = -np.sort(-frequencies)
        others = np.append(falling[1], np.full(self.k - 1, falling[0]))
        return float(np.maximum(falling * self.p, others * self.q).sum())

    def fake_reports(self, fake: str | None, users: int, rng: np.random.Generator) -> Reports:
        return rng.integers(0, self.k, size=users)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        return Tally(shared_out(self.k, targets, fakes, rng), fakes)


def kept_or_moved(symbols: IntArray, p: float, size: int, rng: np.random.Generator) -> IntArray:
    """Return each of some symbols with probability p, else a uniform draw of the other symbols."""
    kept = rng.random(len(symbols)) < p
    # Shifting by 1..size-1 reaches each of the other symbols equally often, and never the symbol itself.
    return np.where(kept, symbols, (symbols + rng.integers(1, size, size=len(symbols))) % size)


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
