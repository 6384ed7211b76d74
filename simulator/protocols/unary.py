"""Unary encodings: a bit per value, each flipped independently."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator._types import IntArray, Reports
from simulator.attacks import Supports
from simulator.protocols.oracle import IndependentSupports, targets_and_others
from simulator.protocols.protocol import Blanket, Tally

ROUNDING = 1e-9  # of a budget that was computed from p and q


class UnaryEncoding(IndependentSupports):
    """Send k bits: that of the true value is 1 with probability p, each other bit with probability q.

    Reports are a ``(n, k)`` array of 0 and 1.
    """

    report_kind = "bits"

    @property
    def blanket(self) -> Blanket:
        return Blanket.of_bits(self.p, self.q)

    @property
    def report_bits(self) -> int:
        return self.k

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        draws = rng.random((len(values), self.k))
        bits = draws < self.q
        users = np.arange(len(values))
        bits[users, values] = draws[users, values] < self.p
        return bits.view(np.uint8)

    def support(self, reports: Reports) -> IntArray:
        return reports.sum(axis=0, dtype=np.int64)

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        bits = reports.view(np.bool_) if reports.dtype == np.uint8 else reports.astype(np.bool_)
        return Supports(bits[:, values[0]], bits[:, values[1]], np.count_nonzero(bits, axis=1), self.k)

    def fake_reports(self, fake: str | None, users: int, rng: np.random.Generator) -> Reports:
        """Return the protocol's report of a vector of zeros (``"z"``), or of a random one-hot vector (``"r"``)."""
        if fake == "z":
            return (rng.random((users, self.k)) < self.q).view(np.uint8)
        return super().fake_reports(fake, users, rng)

    @property
    def random_rate(self) -> float:
        return 0.5

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        """Return reports that support all targets, and others too, so that each has as many ones as are usual."""
        usual = self.p + (self.k - 1) * self.q
        others = max(0, round(usual) - len(targets))
        return Tally(targets_and_others(self.k, targets, fakes, others, rng), fakes)


@dataclass(frozen=True, repr=False)
class RatedBits(UnaryEncoding):
    """A unary encoding whose p and q may be others than the usual ones of its budget, as `own_rate` and `other_rate`.

    Raises
    ------
    ValueError
        If they are not probabilities with p above q, or break the promise of `epsilon`.
    """

    own_rate: float | None = None
    other_rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.own_rate is None and self.other_rate is None:
            return
        if not 0 < self.q < self.p < 1 or Blanket.of_bits(self.p, self.q).loss > self.epsilon + ROUNDING:
            raise ValueError(f"p={self.p} and q={self.q} are no probabilities, or exceed epsilon={self.epsilon}")

    def __repr__(self) -> str:
        return super().__repr__() + ("" if self.own_rate is None else f" with p={self.p!r} and q={self.q!r}")


class RAPPOR(RatedBits):
    """Basic one-time RAPPOR, the symmetric unary encoding (SUE): p + q = 1.

    Erlingsson, Pihur, Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response", CCS 2014.
    """

    key = "rappor"
    title = "Basic one-time RAPPOR (symmetric unary encoding)"
    reference = "Erlingsson, Pihur, Korolova, CCS 2014"
    acronym = True
    aliases = ("sue", "basicrappor")
    fakes = ("z", "r")

    @property
    def p(self) -> float:
        return 1 / (1 + math.exp(-self.epsilon / 2)) if self.own_rate is None else self.own_rate

    @property
    def q(self) -> float:
        return math.exp(-self.epsilon / 2) * self.p if self.other_rate is None else self.other_rate


class OUE(RatedBits):
    """Optimised unary encoding: p = 1/2, and q as small as the budget allows.

    Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security 2017.
    The law is `IndependentSupports.sample_support`, the variance `FrequencyOracle.variance`.
    """

    key = "oue"
    title = "Optimised unary encoding"
    reference = "Wang, Blocki, Li, Jha, USENIX Security 2017"
    acronym = True
    fakes = ("z", "r")

    @property
    def p(self) -> float:
        return 0.5 if self.own_rate is None else self.own_rate

    @property
    def q(self) -> float:
        return 1 / (math.exp(self.epsilon) + 1) if self.other_rate is None else self.other_rate
