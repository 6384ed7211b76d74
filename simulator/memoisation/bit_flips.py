"""dBitFlipPM: some bits of the value's unary encoding, flipped once permanently; each round repeats the same report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.memoisation.changes import Changes, Moments
from simulator.memoisation.repeated import Report, TwoBudgets, remembered
from simulator.protocols.protocol import Probabilities
from simulator.seeding import rng_for

DEVICES, DEVICE_CELLS = 20_000, 20_000_000  # devices that are drawn, and the numbers they take at most
NONE = -1  # stands for the values whose bit is not among those of a device


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
