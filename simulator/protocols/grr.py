"""Generalised randomised response: report the true value, or another value."""

from __future__ import annotations

import math

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports, of_values
from simulator.draws import binomial, multinomial
from simulator.protocols.oracle import FrequencyOracle, bits_for, shared_out
from simulator.protocols.protocol import Blanket, Probabilities, Tally


class GRR(FrequencyOracle):
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

    @property
    def blanket(self) -> Blanket:
        return Blanket.of_symbols(self.epsilon, self.p, self.p - self.q)

    def server_operations(self, n: int) -> int:
        return self.k

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return kept_or_moved(values, self.p, self.k, rng)

    def support(self, reports: Reports) -> IntArray:
        return np.bincount(reports, minlength=self.k)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        return kept_or_redrawn(counts, self.p - self.q, rng)

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


def kept_or_redrawn(counts: IntArray, kept_share: float, rng: np.random.Generator) -> IntArray:
    """Draw the counts ``(..., k)`` of reports that keep their value with `kept_share`, and else are even among all k.

    With probability p - q this is the channel that keeps with p, and else reports each other value with q.
    """
    kept = binomial(counts, kept_share, rng)
    k, rest = counts.shape[-1], counts.sum(axis=-1) - kept.sum(axis=-1)
    return kept + multinomial(rest, np.full(k, 1 / k), rng)
