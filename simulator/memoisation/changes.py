"""Users whose values change between rounds, and the effect on errors and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray, IntArray

GRID, RARE = 4096, 1e-4  # points of masses between 0 and 1, and the frequency below which categories are pooled
SAME = 1e-12  # shares that differ by rounding only


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

    def draw(self, n: int, rng: np.random.Generator) -> IntArray:
        """Return ``(n, rounds)`` values of n users."""
        values = rng.choice(len(self.frequencies), size=(n, self.rounds), p=self.frequencies)
        again = rng.random((n, self.rounds)) < self.redraw
        again[:, 0] = True
        latest = np.maximum.accumulate(np.where(again, np.arange(self.rounds), 0), axis=1)
        return np.take_along_axis(values, latest, axis=1)

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
