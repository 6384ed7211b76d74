"""The same users again and again: protocols that remember a permanent randomisation of each value.

A collection plan, not a protocol: it is made of two, the first step at the budget of all rounds together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.hashing import HASHES, SEED_BITS
from simulator.protocols.grr import GRR, kept_or_moved
from simulator.protocols.local_hashing import BLH, OLH, LocalHashing
from simulator.protocols.oracle import FrequencyOracle
from simulator.protocols.protocol import Probabilities, check_setting
from simulator.protocols.unary import OUE, RAPPOR
from simulator.seeding import rng_for

GRID, RARE = 4096, 1e-4  # points of masses between 0 and 1, and the frequency below which categories are pooled
SAME = 1e-12  # shares that differ by rounding only
DEVICES, DEVICE_CELLS = 20_000, 20_000_000  # devices that are drawn, and the numbers they take at most
NONE = -1  # stands for the values whose bit is not among those of a device


class Moments(NamedTuple):
    """Variances and covariances of a user's contribution to an unbiased estimate (unit: frequency squared)."""

    # own, other: variance per round, for the user's category, and for another category
    own: float
    other: float
    # same_own, same_other: covariance of two rounds in which the user holds the same value
    same_own: float
    same_other: float
    # moved_one, moved_none: the same where the two values differ: for either of the two, and for a third category
    moved_one: float = 0.0
    moved_none: float = 0.0


@dataclass(frozen=True, eq=False)  # holds an array, whose comparison is not a single truth value
class Changes:
    """A population in which in each round a share of the users changes its value, and frequencies stay.

    A random share of users draws a new value from the same frequencies, such that the given share changes. A new value
    may equal the old value, and an earlier value may return.

    Parameters
    ----------
    frequencies
        ``(k,)`` frequencies of the values; they sum to 1.
    rounds
        Collections, at least 1.
    share
        Share of the users whose value differs from that of the round before, on average.

    Raises
    ------
    ValueError
        If there is no round, or the share is outside 0 to `most`.
    """

    frequencies: FloatArray
    rounds: int
    share: float = 0.0

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, got {self.rounds}")
        if not 0 <= self.share <= 1:
            raise ValueError(f"changes must be a number between 0 and 1, got {self.share:g}")
        if self.share > self.most + SAME:
            raise ValueError(
                f"changes must be at most {self.most:.3g} for these frequencies, got {self.share:g}: so many change "
                "where all draw a new value"
            )

    @property
    def most(self) -> float:
        """The share that changes if all users draw a new value in each round."""
        return 1 - float(self.frequencies @ self.frequencies)

    @property
    def redraw(self) -> float:
        """Probability that a user draws a new value in a round, the same value included."""
        return min(1.0, self.share / self.most) if self.share else 0.0

    def round_variance(self, moments: Moments, n: int) -> FloatArray:
        """Return the variance ``(k,)`` of the estimates of a round (frequency squared)."""
        return (self.frequencies * moments.own + (1 - self.frequencies) * moments.other) / n

    def average_variance(self, moments: Moments, n: int) -> FloatArray:
        """Return the variance ``(k,)`` of the estimates averaged over the rounds, against the average frequencies.

        Where nothing changes it is ``C + (V - C) / rounds``, V the variance of a round and C the covariance of two.
        """
        f, once = self.frequencies, self.round_variance(moments, n)
        # Mean probability over all ordered pairs of different rounds that no new value was drawn in between.
        lags = np.arange(1, self.rounds)
        kept = 2 * float((self.rounds - lags) @ (1 - self.redraw) ** lags)
        pairs = self.rounds * (self.rounds - 1.0)
        both = f * kept + f * f * (pairs - kept)  # this category in both rounds
        same = kept + float(f @ f) * (pairs - kept) - both  # another category in both
        in_one = 2 * (pairs * f - both)  # in a single round of the two
        none = pairs - both - same - in_one
        between = both * moments.same_own + same * moments.same_other
        between += in_one * moments.moved_one + none * moments.moved_none
        return (self.rounds * once + between / n) / self.rounds**2

    @cached_property
    def values_held(self) -> float:
        """Mean number of different values that a user holds in all rounds."""
        return float((1 - self.never_in(self.frequencies)).sum()) if self.redraw else 1.0

    def never_in(self, mass: FloatArray) -> FloatArray:
        """Return the probability that a user never holds a value of sets of these masses."""
        return (1 - mass) * (1 - self.redraw * mass) ** (self.rounds - 1)

    def mean_never_in(self, share: float) -> float:
        """Return the mean of `never_in` over random sets that hold each category with this probability.

        The law of the mass of such a set is laid out on a grid, category by category; what lies between two points is
        shared by them, which keeps the mean. Categories below `RARE` add their mean mass, which is all but certain.
        """
        common = self.frequencies[self.frequencies >= RARE]
        law = np.zeros(2 * GRID)
        law[0] = 1.0
        for step in (common * GRID).tolist():
            whole = int(step)
            held = np.zeros_like(law)
            held[whole:] = (whole + 1 - step) * law[: len(law) - whole]
            held[whole + 1 :] += (step - whole) * law[: len(law) - whole - 1]
            law = (1 - share) * law + share * held
        rest = share * (1 - float(common.sum()))
        return float(law @ self.never_in(np.arange(len(law)) / GRID + rest))


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
        """The first step: the same oracle at the budget of all rounds."""
        return replace(self.once, epsilon=self.epsilon_forever)

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


class LongitudinalGRR(TwoSteps):
    """Randomised response twice, with the exact second step.

    The published step omits a term ``(k - 2) q1 q2``, and so adds more noise than epsilon needs.
    """

    key = "grr"
    title = "Longitudinal GRR, exact second step"
    reference = "Arcolezi, Couchot, Al Bouna, Xiao, Digital Communications and Networks 2022; second step ours"
    kind = GRR

    @property
    def g(self) -> int:
        """Number of symbols."""
        return self.k

    def perturb_again(self, memos: Reports, rng: np.random.Generator) -> Reports:
        """Return the symbols of a round from those that were kept."""
        return kept_or_moved(memos, self.second[0], self.g, rng)

    def loss(self, rounds: int) -> float:
        """Return the loss between values with different symbols.

        The most revealing sequence is v1 in each round: ``p1 p2^R + (1 - p1) q2^R`` against
        ``q1 p2^R + p1 q2^R + (g - 2) q1 q2^R``, both divided by p2^R here.
        """
        p1, (p2, q2) = self.first[0], self.second
        q1, rare = (1 - p1) / (self.g - 1), (q2 / p2) ** rounds
        return math.log((p1 + (1 - p1) * rare) / (q1 + (1 - q1) * rare))


class LongitudinalBits(TwoSteps):
    """A unary encoding whose bits are flipped once for ever, and once more in each round."""

    def perturb_again(self, memos: Reports, rng: np.random.Generator) -> Reports:
        chances = np.where(memos, *self.second)
        return (rng.random(memos.shape) < chances).view(np.uint8)

    def loss(self, rounds: int) -> float:
        """Return the loss of two bits: that of v1 is 1 in each round, and that of v2 is 0."""
        (p1, q1), (p2, q2) = self.first, self.second
        ones, zeros = (q2 / p2) ** rounds, ((1 - p2) / (1 - q2)) ** rounds
        own = math.log((p1 + (1 - p1) * ones) / (q1 + (1 - q1) * ones))
        return own + math.log((1 - q1 + q1 * zeros) / (1 - p1 + p1 * zeros))


class LongitudinalRAPPOR(LongitudinalBits):
    """RAPPOR with both of its steps: symmetric unary encoding twice."""

    key = "rappor"
    title = "RAPPOR, both steps (L-SUE)"
    reference = "Erlingsson, Pihur, Korolova, CCS 2014"
    kind = RAPPOR


class LongitudinalOUE(LongitudinalBits):
    """Optimised unary encoding, then symmetric flips (L-OSUE)."""

    key = "oue"
    title = "Longitudinal optimised unary encoding (L-OSUE)"
    reference = "Arcolezi, Couchot, Al Bouna, Xiao, Digital Communications and Networks 2022"
    kind = OUE


class LOLOHA(LongitudinalGRR):
    """Local hashing with a hash function for ever, and randomised response twice on its symbol.

    With the exact second step the variance of a round depends on g as ``(e^epsilon + g - 1)^2 / (g - 1)``: the best g
    is next to ``e^epsilon + 1``, above or below. Devices keep a memo per symbol.
    """

    key = "olh"
    title = "LOLOHA with the best g, exact second step"
    reference = "Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023; g and second step ours"

    @property
    def g(self) -> int:
        return self.once.g

    @cached_property
    def once(self) -> LocalHashing:
        odds = math.exp(self.epsilon)
        low = math.floor(odds)
        return OLH(self.k, self.epsilon, hash_range=low + (1 if odds * odds <= low * (low + 1) else 2))

    @property
    def most_memos(self) -> int:
        return min(self.g, self.k)

    def mean_memos(self, changes: Changes) -> float:
        """Return the mean number of symbols: g times the probability that a value of a given symbol is held."""
        return self.g * (1 - changes.mean_never_in(1 / self.g)) if changes.redraw else 1.0

    @property
    def moments(self) -> Moments:
        """Return the moments; hash functions stay, so that rounds with different values are dependent too.

        Of g symbols, w have a memo that is the symbol of a third category, each with its own probability; a value with
        a uniform hash meets such a symbol with probability w / g.
        """
        p1 = self.first[0]
        q1 = (1 - p1) / (self.g - 1)
        scale = (p1 - 1 / self.g) ** 2
        drawn = p1 * (1 - p1) + (self.g - 1) * q1 * (1 - q1)
        return super().moments._replace(
            moved_one=p1 * (1 - p1) / (self.g * scale), moved_none=drawn / (self.g**2 * scale)
        )

    def devices(self, n: int, rng: np.random.Generator) -> Report:
        seeds = rng.integers(0, 2**SEED_BITS, size=n)
        memos: dict[int, Reports] = {}  # by symbol

        def report(values: IntArray, rng: np.random.Generator) -> Reports:
            symbols = HASHES[self.once.hash](values, seeds, self.g)
            kept = remembered(memos, symbols, lambda one: kept_or_moved(np.full(n, one), self.first[0], self.g, rng))
            return np.stack([seeds, self.perturb_again(kept, rng)], axis=1)

        return report


class BiLOLOHA(LOLOHA):
    """Local hashing to two symbols: a user never spends more than two budgets, whatever the value does."""

    key = "blh"
    title = "BiLOLOHA (g = 2)"
    reference = "Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023"

    @cached_property
    def once(self) -> LocalHashing:
        return BLH(self.k, self.epsilon)


@dataclass(frozen=True)
class DBitFlipPM(TwoBudgets):
    """A device draws `bits` categories for ever, and reports whether its value is each of them, flipped once for ever.

    There is no second step: a report is the memo itself, so one round spends what all rounds do, and the two budgets
    must be the same. Values outside the device's categories share a memo. Reports are ``(n, k)`` integers: -1 where a
    bit is not among those of the device.

    Ding, Kulkarni, Yekhanin, "Collecting telemetry data privately", NIPS 2017, flip each bit at half the budget. That
    is for two bits, which differ between two values of a device. If a device has a single bit, the whole budget is for
    that bit, and so it is here.

    Parameters
    ----------
    k, epsilon_forever, epsilon
        As for `TwoBudgets`, both budgets the same.
    bits
        Categories of a device, at least 1 and at most k.

    Raises
    ------
    ValueError
        If a parameter is outside its range, or the budgets differ.
    """

    bits: int = 1
    key: ClassVar[str] = "dbitflip"
    title: ClassVar[str] = "dBitFlipPM"
    reference: ClassVar[str] = "Ding, Kulkarni, Yekhanin, NIPS 2017"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.bits <= self.k:
            raise ValueError(f"bits must be between 1 and k={self.k}, got {self.bits}")
        if self.epsilon != self.epsilon_forever:
            raise ValueError(
                f"dbitflip repeats its report, so both budgets must be the same, got {self.epsilon:g} and "
                f"{self.epsilon_forever:g}"
            )

    @property
    def flips(self) -> Probabilities:
        """Probabilities that the bit of the true value, and any other bit, is reported as 1."""
        p = 1 / (1 + math.exp(-self.epsilon / (1 if self.bits == 1 else 2)))
        return p, 1 - p

    @property
    def most_memos(self) -> int:
        return min(self.bits + 1, self.k)

    @property
    def report_bits(self) -> int:
        return self.bits

    @property
    def moments(self) -> Moments:
        """Return the moments, over the categories that devices draw too.

        A third category has the same memo in two rounds with different values where both are none of the device's.
        """
        (p, q), k, d = self.flips, self.k, self.bits
        scale = k / d
        noise = scale * p * (1 - p) / (p - q) ** 2
        shared = (k - d) * (k - d - 1) / ((k - 1) * (k - 2)) if k > 2 else 0.0
        own = noise + scale - 1
        return Moments(own, noise, own, noise, moved_none=noise * shared)

    def mean_memos(self, changes: Changes) -> float:
        """Return the mean number of memos: of the device's values held so far, and of all others together."""
        if not changes.redraw or self.bits == self.k:
            return changes.values_held
        masses = changes.frequencies if self.bits == 1 else self._masses(changes.frequencies)
        only = float(changes.never_in(1 - masses).mean())  # all values are among the device's
        return self.bits / self.k * changes.values_held + 1 - only

    def _masses(self, frequencies: FloatArray) -> FloatArray:
        """Draw the masses of the values of many devices, from a separate random stream."""
        rng = rng_for(0, "device bits", self.k, self.bits)
        devices = max(100, min(DEVICES, DEVICE_CELLS // self.k))
        return np.array([frequencies[rng.permutation(self.k)[: self.bits]].sum() for _ in range(devices)])

    def loss(self, rounds: int) -> float:
        del rounds  # all reports are the same
        return self.epsilon

    def devices(self, n: int, rng: np.random.Generator) -> Report:
        drawn = np.zeros((n, self.k), dtype=np.bool_)
        np.put_along_axis(drawn, np.argsort(rng.random((n, self.k)), axis=1)[:, : self.bits], True, 1)
        memos: dict[int, Reports] = {}  # by category of the device, plus an entry for all others

        def draw(state: int, rng: np.random.Generator) -> Reports:
            chances = np.full(self.k, self.flips[1])
            if state != NONE:
                chances[state] = self.flips[0]
            return np.where(drawn, rng.random((n, self.k)) < chances, NONE)

        def report(values: IntArray, rng: np.random.Generator) -> Reports:
            states = np.where(drawn[np.arange(n), values], values, NONE)
            return remembered(memos, states, lambda state: draw(state, rng))

        return report

    def support(self, reports: Reports) -> IntArray:
        """Count for each value the bits that are 1, and those that are 0: ``(2, k)``."""
        return np.stack([np.count_nonzero(reports == bit, axis=0) for bit in (1, 0)])

    def estimate(self, support: IntArray, n: int) -> FloatArray:
        p, q = self.flips
        result: FloatArray = (support[..., 0, :] * (1 - q) - support[..., 1, :] * q) * self.k
        return result / (n * self.bits * (p - q))


Repeated: TypeAlias = TwoSteps | DBitFlipPM
"""A protocol with devices that remember."""

MEMOISED: dict[str, type[TwoSteps]] = {
    kind.key: kind for kind in (LongitudinalGRR, LongitudinalRAPPOR, LongitudinalOUE, BiLOLOHA, LOLOHA)
}
"""Protocols of the table with a permanent and an instantaneous step, by the key of the protocol."""
