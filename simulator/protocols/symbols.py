"""Base class of protocols with few symbols: the values that each symbol supports, computed once."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import MOST_SYMBOLS, Supports, informed_guess_of_sets, informed_guess_of_symbols
from simulator.draws import multinomial
from simulator.protocols.oracle import GROUPS, Support, SupportOracle, shared_by_best
from simulator.protocols.protocol import Probabilities, Tally


class SymbolOracle(SupportOracle):
    """Report a symbol out of K: those that support the true value are e^epsilon times as likely as the others."""

    report_kind = "symbol"

    @property
    @abstractmethod
    def symbols(self) -> int:
        """Number K of symbols: of different reports."""

    @abstractmethod
    def supporting(self, value: int) -> NDArray[np.bool_]:
        """Return which of the K symbols support a value, ``(K,)``."""

    @abstractmethod
    def supported_values(self) -> IntArray:
        """Return how many of the k values each of the K symbols supports, ``(K,)``."""

    @abstractmethod
    def decode(self, histogram: IntArray) -> IntArray:
        """Return the support counts ``(..., k)`` for histograms ``(..., K)`` of the symbols."""

    def added_support(self, value: int) -> IntArray:
        """Return the contribution ``(K,)`` of each symbol to the support of a value."""
        return self.supporting(value).astype(np.int64)

    def support(self, reports: Reports) -> Support:
        return self.decode(np.bincount(reports, minlength=self.symbols))

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        first, second = (_supporting(self, value)[reports] for value in values)
        return Supports(first, second, _supported_values(self)[reports], self.k)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        """Add up over all symbols: those that support the true value are e^epsilon times as likely as the others."""
        supported, rare = self.supports(np.arange(self.symbols), values), math.exp(-self.epsilon)
        chance = supported.chances(attack)
        own, other = (float((chance * np.where(held, 1.0, rare)).sum()) for held in (supported.first, supported.second))
        # All values have equally many supporting symbols, so both sums have the same unit.
        unit = self.p / int(supported.first.sum())
        return own * unit, other * unit

    def informed_guess(self, frequencies: FloatArray) -> float:
        if self.symbols > MOST_SYMBOLS:
            return informed_guess_of_sets(frequencies, self.p, self.q)
        inside = self.p / int(np.count_nonzero(self.supporting(0)))
        outside = inside * math.exp(-self.epsilon)
        return informed_guess_of_symbols(frequencies, self.supporting, inside, outside)

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally:
        return Tally(self.decode(multinomial(fakes, np.full(self.symbols, 1 / self.symbols), rng)), fakes)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        helped = np.sum([self.added_support(int(target)) for target in targets], axis=0)
        return Tally(self.decode(shared_by_best(helped, fakes, rng, GROUPS)), fakes)


@lru_cache(maxsize=8)
def _supporting(oracle: SymbolOracle, value: int) -> NDArray[np.bool_]:
    return oracle.supporting(value)


@lru_cache(maxsize=4)
def _supported_values(oracle: SymbolOracle) -> IntArray:
    return oracle.supported_values()
