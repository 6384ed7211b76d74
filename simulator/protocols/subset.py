"""Subset selection: report a random set of fixed size, which contains the true value more often than the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports
from simulator.draws import binomial, multinomial
from simulator.protocols.grr import GRR
from simulator.protocols.oracle import (
    Support,
    SupportOracle,
    binomial_support,
    bits_for,
    mean_variance,
    shared_out,
    targets_and_others,
)
from simulator.protocols.protocol import Probabilities, Tally

CHAIN_LIMIT = 10**9  # largest population for hypergeometric variates of numpy
CHAIN_VARIANCE = 1000  # variance of a support count above which the Gaussian law of the aggregate is used
CHAIN_LARGEST = 1024  # larger domains never use the chain: conditioned binomials are as good, to a share 1/k
CHAIN_DOMAIN = 64  # domains up to this size always use the exact chain: it costs next to nothing


@dataclass(frozen=True)
class SubsetSelection(SupportOracle):
    """Report omega values: the true value is among them with probability p, the rest is drawn uniformly.

    Reports are a ``(n, omega)`` array of distinct values. Ye, Barg, "Optimal schemes for discrete distribution
    estimation under locally differential privacy", 2018; Wang et al., "Mutual information optimally local private
    discrete distribution estimation", 2016.

    Parameters
    ----------
    k, epsilon
        As in `FrequencyOracle`.
    subset_size
        Omega, for reports made with another subset size than the best.

    Raises
    ------
    ValueError
        If `subset_size` is not in 1..k-1.
    """

    subset_size: int | None = None
    key: ClassVar[str] = "ss"
    title: ClassVar[str] = "Subset selection"
    reference: ClassVar[str] = "Ye, Barg, IEEE Trans. Inf. Theory 2018"
    acronym: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("subset", "subsetselection")
    report_kind: ClassVar[str] = "subset"
    sums_to_one: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subset_size is not None and not 1 <= self.subset_size < self.k:
            raise ValueError(f"the size of subsets of k={self.k} values is 1 to {self.k - 1}, got {self.subset_size}")

    @property
    def omega(self) -> int:
        """Subset size: the integer next to k / (e^epsilon + 1), above or below, with the lower mean variance.

        The mean is over the domain, as in l1, l2 and mse; then no other integer is better. The choice by the variance
        at f = 0 alone would make it up to 14 % larger.
        """
        if self.subset_size is not None:
            return self.subset_size
        size = self.k / (math.exp(self.epsilon) + 1)
        low, high = max(1, math.floor(size)), max(1, math.ceil(size))
        return min((low, high), key=lambda omega: mean_variance(self.k, *self._rates(omega)))

    @property
    def same_as(self) -> str | None:
        return GRR.key if self.omega == 1 else None

    def _rates(self, omega: int) -> Probabilities:
        """Return p and q of subsets of this size."""
        p = omega / (omega + (self.k - omega) * math.exp(-self.epsilon))
        return p, (p * (omega - 1) + (1 - p) * omega) / (self.k - 1)

    @property
    def p(self) -> float:
        return self._rates(self.omega)[0]

    @property
    def q(self) -> float:
        return self._rates(self.omega)[1]

    @property
    def report_bits(self) -> int:
        return min(self.k, self.omega * bits_for(self.k))

    @property
    def attack_success(self) -> float:
        return self.p / self.omega

    def informed_guess(self, frequencies: FloatArray) -> float:
        k, omega, p = self.k, self.omega, self.p
        falling = -np.sort(-frequencies)
        # Shares of all subsets whose most frequent value is number j, as products of conditional probabilities.
        left = k - np.arange(k)
        miss = np.maximum(left - omega, 0) / left
        first = np.concatenate([[1.0], np.cumprod(miss)[:-1]]) * np.minimum(omega / left, 1.0)
        best = np.maximum(p * k / omega * falling, (1 - p) * k / (k - omega) * falling[0])
        best[0] = p * k / omega * falling[0]
        return float(first @ best)

    def server_operations(self, n: int) -> int:
        return n * (self.omega - 1) + self.k

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        omega, users = self.omega, np.arange(len(values))
        # The omega smallest of k random keys are a uniform draw; the true value's key puts it in or out.
        keys = rng.random((len(values), self.k))
        keys[users, values] = np.where(rng.random(len(values)) < self.p, -1.0, 2.0)
        return np.argpartition(keys, omega - 1, axis=1)[:, :omega]

    def support(self, reports: Reports) -> IntArray:
        return np.bincount(reports.reshape(-1), minlength=self.k)

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        first, second = ((reports == value).any(axis=1) for value in values)
        return Supports(first, second, np.full(len(reports), reports.shape[1]), self.k)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        if attack == "guess":
            return self.p / self.omega, self.q / self.omega
        others = self.k - 1
        return self.p * (self.k - self.omega) / others, (1 - self.p) * self.omega / others

    def sample_rounds(self, value: int, rounds: int, trials: int, rng: np.random.Generator) -> Support:
        """Return the support ``(trials, k)``, round by round: for few users the law of the aggregate is slow."""
        result = np.zeros((trials, self.k))
        users = np.arange(trials)[:, None]
        for _ in range(rounds):
            result[users, self.perturb(np.full(trials, value), rng)] += 1  # the values of a report are distinct
        return result

    def rounds_cells(self, rounds: int) -> int:
        return self.k * rounds

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        """Return subsets of the targets, filled up with other values where they are too few."""
        if self.omega <= len(targets):
            return Tally(shared_out(self.k, targets, fakes * self.omega, rng), fakes)
        return Tally(targets_and_others(self.k, targets, fakes, self.omega - len(targets), rng), fakes)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        if self.omega == 1:  # a set of size 1: the same channel as randomised response
            return GRR(self.k, self.epsilon).sample_support(counts, rng)
        result = np.empty(counts.shape, dtype=np.int64)
        for row, out in zip(counts.reshape(-1, self.k), result.reshape(-1, self.k), strict=True):
            out[:] = self._law_for(row)(row, rng)
        return result

    def _law_for(self, counts: IntArray) -> Callable[[IntArray, np.random.Generator], IntArray]:
        """Return the cheapest law that is exact, or as good, for a row ``(k,)``."""
        n, q = int(counts.sum()), self.q
        if n < CHAIN_LIMIT and self.k <= CHAIN_DOMAIN:
            return self._chain
        if n * q * (1 - q) >= CHAIN_VARIANCE or n * self.omega >= CHAIN_LIMIT:
            return self._gaussian
        return self._chain if self.k <= CHAIN_LARGEST else self._conditioned

    def _conditioned(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a row ``(k,)`` as independent binomials, corrected to the known total of all reports.

        If the sum is too large, supports chosen uniformly are removed; if too small, missing supports chosen uniformly
        are added. For equal counts this is the binomial law given its total. The mean is exact. Variances and
        covariances are those of the true law up to a relative error of 1/k: here only the total size is fixed, there
        the size of each report.
        """
        support = binomial_support(counts, self.p, self.q, rng)
        n = int(counts.sum())
        surplus = int(support.sum()) - n * self.omega
        if surplus >= 0:
            return support - rng.multivariate_hypergeometric(support, surplus)
        missing = n - support
        if n * self.k < CHAIN_LIMIT:
            return support + rng.multivariate_hypergeometric(missing, -surplus)
        # So many are missing that drawing with replacement is the same.
        return support + multinomial(-surplus, missing / missing.sum(), rng)

    def _chain(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the aggregate exactly, value by value, for a row ``(k,)``; time grows with k times omega.

        A report is either a uniform draw of omega of all k values, or (probability `forced`) the true value and a
        uniform draw of omega - 1 of the others. The next value fills an open slot of a report with probability slots /
        candidates. So two histograms of users over open slots are enough: of users without a forced value ahead of
        them, and of users before their forced value.
        """
        k, omega = self.k, self.omega
        if not counts.any():
            return np.zeros(k, dtype=np.int64)
        forced = (self.p - omega / k) / (1 - omega / k)
        forced_users = binomial(counts, forced, rng)
        free, waiting = np.zeros(omega + 1, dtype=np.int64), np.zeros(omega + 1, dtype=np.int64)
        free[omega], waiting[omega - 1] = counts.sum() - forced_users.sum(), forced_users.sum()
        result = np.empty(k, dtype=np.int64)
        slots = np.arange(omega + 1)
        low = 0
        high = omega + 1
        for value in range(k):
            # Users only move down, and few stay far above the mean: process only the occupied range.
            occupied = np.flatnonzero(free[:high] + waiting[:high])
            low, high = int(occupied[0]), int(occupied[-1]) + 1
            some = slots[low:high]
            arrived = np.zeros(high - low, dtype=np.int64)
            if forced_users[value]:
                arrived = rng.multivariate_hypergeometric(waiting[low:high], forced_users[value])
                waiting[low:high] -= arrived
            candidates = k - value
            filled = binomial(free[low:high], some / candidates, rng)
            total = int(forced_users[value]) + int(filled.sum())
            _move_down(free, filled, low, high)
            if candidates > 1 and forced_users[value + 1 :].any():
                filled = binomial(waiting[low:high], np.minimum(some / (candidates - 1), 1.0), rng)
                total += int(filled.sum())
                _move_down(waiting, filled, low, high)
            free[low:high] += arrived
            result[value] = total
        return result

    def _gaussian(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a row ``(k,)`` with the exact mean and covariance and, up to O(1/k), the third cumulants.

        Off the diagonal, the covariance of the aggregate is ``n b + (c - b)(n_u + n_v)``. Here b is the covariance of
        two values that are not the user's, and c that of the true value and another value. Independent variables of
        variance ``s_v`` less their common mean have the covariance ``S / k^2 - (s_u + s_v) / k``: of the same form, so
        that matching the two is exact, diagonal included, because all rows sum to zero on both sides.
        """
        k, omega, p, q, n = self.k, self.omega, self.p, self.q, int(counts.sum())
        pair = (omega - 1) / ((k - 1) * (k - 2)) * (p * (omega - 2) + (1 - p) * omega)
        b = pair - q * q
        c = p * (omega - 1) / (k - 1) - p * q
        slope = k * (b - c)
        variances = slope * (counts + n / k) - k * n * b
        cumulant = counts * _third_cumulant(p) + (n - counts) * _third_cumulant(q)
        z = rng.standard_normal(k)
        # Cornish-Fisher: the quadratic term carries the third cumulant; its variance is subtracted from the linear
        # term.
        bend = cumulant / (6 * variances)
        noise = np.sqrt(variances - 2 * bend**2) * z + bend * (z * z - 1)
        mean = n * q + counts * (p - q)
        return _round_keeping_sum(mean + noise - noise.mean())


def _move_down(histogram: IntArray, filled: IntArray, low: int, high: int) -> None:
    """Move the users who filled a slot down by 1; users at 0 slots cannot move."""
    histogram[low:high] -= filled
    histogram[max(low - 1, 0) : high - 1] += filled[1:] if low == 0 else filled


def _third_cumulant(p: float) -> float:
    return p * (1 - p) * (1 - 2 * p)


def _round_keeping_sum(row: FloatArray) -> IntArray:
    """Round to integers whose running sums are the rounded running sums, so that the total stays."""
    return np.diff(np.rint(np.cumsum(row)), prepend=0.0).astype(np.int64)
