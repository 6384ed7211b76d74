"""The two steps for randomised response, unary encodings and local hashing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from simulator._types import IntArray, Reports
from simulator.hashing import HASHES, SEED_BITS
from simulator.memoisation.changes import Changes, Moments
from simulator.memoisation.repeated import Report, TwoSteps, one_value_loss, remembered, two_bits_loss
from simulator.protocols.grr import GRR, kept_or_moved
from simulator.protocols.local_hashing import BLH, OLH, LocalHashing
from simulator.protocols.oracle import FrequencyOracle
from simulator.protocols.unary import OUE, RAPPOR


class LongitudinalGRR(TwoSteps):
    """Randomised response twice, with the exact second step.

    The published step omits a term ``(k - 2) q1 q2``, and so adds more noise than epsilon needs.
    """

    key = "grr"
    title = "Longitudinal GRR, exact second step"
    reference = "Arcolezi, Couchot, Al Bouna, Xiao, Digital Communications and Networks 2022; second step ours"
    kind = GRR

    def perturb_again(self, memos: Reports, rng: np.random.Generator) -> Reports:
        return kept_or_moved(memos, self.second[0], self.k, rng)

    def loss(self, rounds: int) -> float:
        return one_value_loss(self.first[0], self.second, self.k, rounds)


class LongitudinalBits(TwoSteps):
    """A unary encoding whose bits are flipped once for ever, and once more in each round."""

    def perturb_again(self, memos: Reports, rng: np.random.Generator) -> Reports:
        chances = np.where(memos, *self.second)
        return (rng.random(memos.shape) < chances).view(np.uint8)

    def loss(self, rounds: int) -> float:
        return two_bits_loss(self.first, self.second, rounds)


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


@dataclass(frozen=True)
class LOLOHA(TwoSteps):
    """Local hashing with a hash function for ever, and randomised response twice on its symbol.

    With the exact second step the variance of a round depends on g as ``(e^epsilon + g - 1)^2 / (g - 1)``: the best g
    is next to ``e^epsilon + 1``, above or below. Devices keep a memo per symbol.
    """

    key: ClassVar[str] = "olh"
    title: ClassVar[str] = "LOLOHA with the best g, exact second step"
    reference: ClassVar[str] = "Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023; g and second step ours"
    kind: ClassVar[type[FrequencyOracle]] = OLH

    @property
    def g(self) -> int:
        """Number of symbols."""
        return self.once.g

    @cached_property
    def once(self) -> LocalHashing:
        odds = math.exp(self.epsilon)
        low = math.floor(odds)
        return OLH(self.k, self.epsilon, hash_range=low + (1 if odds * odds <= low * (low + 1) else 2))

    @cached_property
    def permanent(self) -> FrequencyOracle:
        return OLH(self.k, self.epsilon_forever, hash_range=self.g)

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

    def perturb_again(self, memos: Reports, rng: np.random.Generator) -> Reports:
        """Return the symbols of a round from those that were kept."""
        return kept_or_moved(memos, self.second[0], self.g, rng)

    def loss(self, rounds: int) -> float:
        """Return the loss between values with different hashes."""
        return one_value_loss(self.first[0], self.second, self.g, rounds)


class BiLOLOHA(LOLOHA):
    """Local hashing to two symbols: a user never spends more than two budgets, whatever the value does."""

    key = "blh"
    title = "BiLOLOHA (g = 2)"
    reference = "Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023"
    kind = BLH

    @cached_property
    def once(self) -> LocalHashing:
        return BLH(self.k, self.epsilon)

    @cached_property
    def permanent(self) -> FrequencyOracle:
        return BLH(self.k, self.epsilon_forever)
