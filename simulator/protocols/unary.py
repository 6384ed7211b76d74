"""Encodings of the true value: a bit per value, flipped independently; or Laplace noise per value, added up or cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports, evenly_confused
from simulator.protocols.oracle import IndependentSupports, MeanOracle, Noise, check_users, targets_and_others
from simulator.protocols.protocol import Blanket, Probabilities, Tally

ROUNDING = 1e-9  # of a budget that was computed from p and q


class UnaryEncoding(IndependentSupports):
    """Send k bits: that of the true value is 1 with probability p, each other bit with probability q.

    Reports are a ``(n, k)`` array of 0 and 1.
    """

    report_kind = "bits"
    acronym = True

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
    fakes: ClassVar[tuple[str | None, ...]] = ("z", "r")

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
    aliases = ("sue", "basicrappor")

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

    @property
    def p(self) -> float:
        return 0.5 if self.own_rate is None else self.own_rate

    @property
    def q(self) -> float:
        return 1 / (math.exp(self.epsilon) + 1) if self.other_rate is None else self.other_rate


STEPS = 400  # of an integral over likelihoods
DIGITS = 4  # of the logarithms of frequencies that count as equal
PANEL, NODES = 1.0, 20  # Gauss-Legendre: 20 nodes per unit of the noise scale


class SHE(MeanOracle):
    """Report the one-hot vector with Laplace(2/epsilon) noise on each cell; the estimate is the mean report.

    Reports are a ``(n, k)`` float array. Wang, Blocki, Li, Jha, "Locally differentially private protocols
    for frequency estimation", USENIX Security 2017, Section 4.2 (SHE); the Laplace mechanism of Dwork, McSherry,
    Nissim, Smith, TCC 2006.
    """

    key = "she"
    title = "Summation with histogram encoding"
    reference = "Wang, Blocki, Li, Jha, USENIX Security 2017"
    acronym = True
    report_kind = "cells"

    @property
    def scale(self) -> float:
        """Noise scale of a cell (unit: that of the one-hot cells, 0 and 1)."""
        return 2 / self.epsilon

    @property
    def report_bits(self) -> int:
        return 64 * self.k

    @property
    def attack_success(self) -> float:
        """Probability that the largest of the k cells is the user's: no guess is better.

        The likelihood of a value rises with its cell and depends on no other, so the best guess is the largest cell.
        Measure the noise in units of its scale, with distribution function F; let h = epsilon/2 be the height of the
        true value's cell. The success is the integral of ``F'(s - h) F(s)^(k-1)``, in closed form below 0 and above h.
        Between them it is the integral of ``e^(s-h) (1 - e^-s/2)^(k-1) / 2``, a smooth function: Gauss-Legendre panels
        give it to rounding.
        """
        h, k = self.epsilon / 2, self.k
        below = math.exp(-h) * 0.5**k / k
        tail = math.exp(-h) / 2
        above = -math.expm1(k * math.log1p(-tail)) / (k * 2 * tail)
        panels = max(1, math.ceil(h / PANEL))
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        s = (np.arange(panels)[:, None] + (nodes + 1) / 2) * (h / panels)
        values = np.exp(s - h + (k - 1) * np.log1p(-np.exp(-s) / 2)) / 2
        return below + above + float((values * weights).sum()) * h / (2 * panels)

    def informed_guess(self, frequencies: FloatArray) -> float:
        """Return the mean of the largest of k independent weighed likelihoods.

        The logarithm of a cell's likelihood ratio is -epsilon/2 up to 0, epsilon/2 from 1 on, and rises in between.
        """
        half, most = self.epsilon / 2, float(frequencies.max())
        logs, numbers = np.unique(np.round(np.log(frequencies[frequencies > 0]), DIGITS), return_counts=True)
        t = math.log(most) + np.linspace(-half, half, STEPS + 1)
        below = np.zeros(len(t))  # logarithm of the probability that all are below e^t
        for log, number in zip(logs.tolist(), numbers.tolist(), strict=True):
            place = np.clip(((t - log) / half + 1) / 2, 0.0, 1.0)
            below += np.where(t - log < half + 10**-DIGITS, number * np.log1p(-np.exp(-half * place) / 2), 0.0)
        return float(np.exp(t[0]) + np.trapezoid(-np.expm1(below) * np.exp(t), t))

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        cells = rng.laplace(scale=self.scale, size=(len(values), self.k))
        cells[np.arange(len(values)), values] += 1
        return cells

    def support(self, reports: Reports) -> FloatArray:
        return reports.sum(axis=0, dtype=np.float64)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> FloatArray:
        # A Laplace variable is the difference of two exponential ones, and n exponentials add up to Gamma(n).
        n = np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape)
        return counts + self.scale * (rng.standard_gamma(n) - rng.standard_gamma(n))

    def chances(self, reports: Reports, values: tuple[int, int], attack: str) -> FloatArray:
        if attack == "guess":
            return super().chances(reports, values, attack)
        # The likelihood ratio of two cells is largest, e^epsilon, if the first is 1 or more and the second 0 or less.
        return ((reports[:, values[0]] >= 1) & (reports[:, values[1]] <= 0)).astype(np.float64)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        if attack == "guess":
            return evenly_confused(self.attack_success, self.k)
        return 0.25, math.exp(-self.epsilon) / 4

    def noise(self, n: int) -> Noise:
        check_users(n)
        return Noise(n, None, None, 2 * self.scale**2 / n, 0.0, self.sums_to_one)


class THE(UnaryEncoding):
    """Add Laplace(2/epsilon) noise to each cell of the one-hot vector and report which cells exceed a threshold.

    Reports are a ``(n, k)`` array of 0 and 1. The noise of the cells is independent, so the bits are those of a unary
    encoding with the p and q below. Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency
    estimation", USENIX Security 2017, Section 4.2 (THE). They find the threshold numerically; here in closed form. It
    is the best at f = 0; where another threshold has a 5 % lower mean variance, subset selection has a seventh of that.

    The bits reveal less than the noisy cells: the budget of the bits, ``ln(p(1-q) / (q(1-p)))``, is below `epsilon`
    (0.90 at epsilon = 1, about epsilon/2 + 1 at large epsilon).
    """

    key = "the"
    title = "Thresholding with histogram encoding"
    reference = "Wang, Blocki, Li, Jha, USENIX Security 2017"

    @property
    def _x(self) -> float:
        """``x = e^(epsilon theta / 2)``, from the threshold theta in (1/2, 1) that minimises the variance at f = 0.

        With ``a = e^(epsilon/2)``: p = 1 - x/(2a), q = 1/(2x), ``q(1-q)/(p-q)^2 = a^2 (2x-1) / (2ax - x^2 - a)^2``,
        whose derivative vanishes where ``3x^2 - 2(a+1)x + a = 0``; the larger root is the minimum.
        """
        a = math.exp(self.epsilon / 2)
        return (a + 1 + math.sqrt(a * (a - 1) + 1)) / 3

    @property
    def threshold(self) -> float:
        """Value (unit: that of the one-hot cells, 0 and 1) above which a noisy cell is reported as 1."""
        return 2 * math.log(self._x) / self.epsilon

    @property
    def p(self) -> float:
        return 1 - self._x * math.exp(-self.epsilon / 2) / 2

    @property
    def q(self) -> float:
        return 1 / (2 * self._x)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return (SHE(self.k, self.epsilon).perturb(values, rng) > self.threshold).view(np.uint8)
