"""What the reports of a protocol hide others behind, once a shuffler has cut the ties to users."""

from __future__ import annotations

import math
from typing import NamedTuple


class Blanket(NamedTuple):
    """What is known of the reports of two values, and of those that hold nothing of any value.

    With probability `share` a report is drawn from one distribution, the same for all values. A report says that one
    of two values is `loss` likelier (in logarithms) than the other, or that none is.
    """

    loss: float  # largest log-ratio of the probabilities of a report
    variation: float  # largest total variation distance between the reports of two values
    share: float  # of the reports of any value that are drawn from the distribution common to all

    @classmethod
    def of_symbols(cls, epsilon: float, p: float, variation: float) -> Blanket:
        """Return that of reports that are e^epsilon times likelier where they support the own value: p of them do."""
        return cls(epsilon, variation, 1 + p * math.expm1(-epsilon))

    @classmethod
    def of_bits(cls, p: float, q: float) -> Blanket:
        """Return that of independent bits: the own one is 1 with probability p, every other one with q."""
        return cls(math.log(p) - math.log(q) + math.log1p(-q) - math.log1p(-p), p - q, (1 - p) / (1 - q))

    @classmethod
    def generic(cls, epsilon: float) -> Blanket:
        """Return what any reports of this budget have at least: a yes/no answer is the worst of them.

        Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling for Rényi and approximate differential
        privacy", SODA 2023, Lemma 3.1.
        """
        return cls(epsilon, math.tanh(epsilon / 2), 2 / (math.exp(epsilon) + 1))

    @property
    def opposite(self) -> float:
        """Probability of a report that speaks for the other value."""
        return self.variation / math.expm1(self.loss)

    @property
    def silent(self) -> float:
        """Probability that a report is drawn from the common distribution, and speaks for neither of two values."""
        return max(0.0, self.share - 2 * self.opposite)
