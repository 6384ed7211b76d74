"""A shuffler between users and server: the guarantee of shuffled reports, and the accuracy of a trusted server.

Two collections differ in the value of a single user. Give the attacker, of the n - 1 others, all reports that are not
drawn from the common distribution (`Blanket`). Of the m others that are, each supports either of the two values with
probability r / share; that user's report supports the true value with probability r e^loss, for the other with r, and
hides among the silent ones with probability share - 2 r (the rest has no information). So the collections differ only
in two counts: the reports that support each value.

Balle, Bell, Gascón, Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019; the two counts are those of
Feldman, McMillan, Talwar, SODA 2023, and Wang, Li, Peng, Li, Shi, Qin, "Privacy amplification via shuffling: unified,
simplified, and tightened", VLDB 2024, who do not reveal m. That is slightly too optimistic: three users of value 0,
with a fourth whose value is 0 or 1, exceed it with GRR at k = 3 (`tests/simulator/test_shuffler.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.protocols.protocol import EPSILON_MAX, EPSILON_MIN, Blanket, Protocol, StandardProtocol

TOTALS = 192  # totals of the two counts evaluated for each m; if more are likely, as many at even distances
BLANKETS = 8  # numbers m evaluated; if more are likely, each represents those up to the next
MARGIN = 1e-3  # share of delta reserved for totals outside the windows
OUTSIDE = 1e-4  # probability outside of the windows, as a share of delta
WIDEST = 2.0  # standard deviations above the mean, up to which numbers m are distinguished: more users hide better
HALVINGS = 60
FIRST_STEP = 0.01  # by which share a budget is raised first
PRECISION = 1e-5  # of budgets, relative


def hockey_stick(epsilon: float, blanket: Blanket, n: int, smallest: float) -> float:
    """Return a delta for which n shuffled reports are (epsilon, delta)-differentially private.

    smallest: the least delta that matters; the omitted part of the sum is a share `OUTSIDE` of it, and is added.
    """
    if epsilon >= blanket.loss:
        return 0.0
    if blanket.silent <= 1e-12 * blanket.share:  # all of m favour a value: both counts together reveal m anyway
        return _delta(epsilon, blanket, np.array([n - 1]), np.ones(1), blanket.share, smallest)
    from scipy.stats import binom  # heavy

    low, high, _ = _window(n - 1, blanket.share, smallest)
    others = binom(n - 1, blanket.share)
    mean, sd = others.stats()
    high = min(high, math.ceil(mean + WIDEST * math.sqrt(sd)))
    starts = np.unique(np.linspace(low, max(low, high), BLANKETS).astype(np.int64))
    masses = np.diff(np.append(others.cdf(starts - 1), 1.0))
    outside = float(others.cdf(starts[0] - 1))
    return _delta(epsilon, blanket, starts, masses, 2 * blanket.opposite / blanket.share, smallest) + outside


def _delta(
    epsilon: float, blanket: Blanket, others: IntArray, masses: FloatArray, chance: float, smallest: float
) -> float:
    """Return the mean delta over numbers of others ``(m,)``, each of whom favours a value with this probability."""
    from scipy.stats import binom  # heavy

    windows = [_window(int(count), chance, smallest) for count in others]
    stride = max(1, max(high - low for low, high, _ in windows) // TOTALS)
    steps = np.arange(max((high + 1 - low) // stride + 1 for low, high, _ in windows))
    totals = np.array([[low] for low, _, _ in windows]) + stride * steps.astype(np.float64)
    m = np.asarray(others, dtype=np.float64)[:, None]
    share, silent = blanket.opposite, blanket.silent
    more, grown = math.expm1(blanket.loss), math.expm1(epsilon)
    against = grown + more + grown * more  # e^(epsilon + loss) - 1
    # Which first counts of a total speak for the first collection: a line in the total.
    odds = silent / share * np.maximum(m + 1 - totals, 0.0) * chance / (2 * (1 - chance)) if silent else 0.0
    least = np.ceil((against * totals + grown * odds) / (more * (grown + 2)))
    with_one, without = _tail(least - 1, totals - 1), _tail(least, totals - 1)
    joined = share * ((more - grown) * with_one - against * without) * binom.pmf(totals - 1, m, chance)
    alone = silent * grown * (with_one + without) / 2 * binom.pmf(totals, m, chance)
    sums = np.maximum(joined - alone, 0.0).sum(axis=1) * stride + [outside for _, _, outside in windows]
    return float(masses @ sums)


def _window(draws: int, chance: float, smallest: float) -> tuple[int, int, float]:
    """Return bounds between which a binomial number is likely, and the probability that it is outside of them.

    Bernstein's inequality: where few draws are expected, or all but few, the number is as skewed as a Poisson number.
    """
    from scipy.stats import binom  # heavy

    mean, squared = draws * chance, 2 * math.log(1 / (OUTSIDE * min(smallest, 0.5)))
    reach = squared / 6 + math.sqrt((squared / 6) ** 2 + squared * mean * (1 - chance))
    low, high = max(0, math.floor(mean - reach)), min(draws, math.ceil(mean + reach))
    return low, high, float(binom.cdf(low - 1, draws, chance) + binom.sf(high, draws, chance))


def _tail(least: FloatArray, coins: FloatArray) -> FloatArray:
    """Return the probability of at least this number of heads in fair coin tosses."""
    from scipy.special import betainc  # heavy

    inside = (least > 0) & (least <= coins)
    a, b = np.where(inside, least, 1.0), np.where(inside, coins - least + 1, 1.0)
    tail: FloatArray = np.where(inside, betainc(a, b, 0.5), np.where(least <= 0, 1.0, 0.0))
    return tail


def blanket_of(protocol: Protocol) -> Blanket:
    """Return the blanket of a protocol, or the worst case of its budget."""
    return Blanket.generic(protocol.epsilon) if protocol.blanket is None else protocol.blanket


def _blanket_at(protocol: type[StandardProtocol], k: int, budget: float) -> Blanket:
    return blanket_of(protocol(k, budget))


@dataclass(frozen=True)
class Shuffler:
    """A trusted shuffler: it forwards the reports of n users in random order, without identifiers.

    Attributes
    ----------
    n
        Users who report.
    delta
        Of the central guarantee, between 0 and 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    n: int
    delta: float

    def __post_init__(self) -> None:
        if self.n < 1 or not 0 < self.delta < 1:
            raise ValueError(f"n must be at least 1 and delta between 0 and 1, got n={self.n} and delta={self.delta}")

    def keeps(self, epsilon: float, blanket: Blanket) -> bool:
        """Return whether shuffled reports provably satisfy (epsilon, delta)."""
        return hockey_stick(epsilon, blanket, self.n, self.delta) <= self.delta * (1 - MARGIN)

    def central(self, blanket: Blanket) -> float:
        """Return the smallest central budget that shuffled reports are shown to keep.

        Never above the local epsilon.
        """
        if self.keeps(0.0, blanket):
            return 0.0
        low, high = 0.0, blanket.loss
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.keeps(middle, blanket) else (middle, high)
            if high - low <= PRECISION * high:
                break
        return high

    def local(self, epsilon: float, protocols: Mapping[str, type[StandardProtocol]], k: int) -> dict[str, float]:
        """Return the largest budget at which reports of each protocol, shuffled, are shown to keep (epsilon, delta).

        At least epsilon itself, which needs no shuffler.

        Raises
        ------
        ValueError
            If even reports of the smallest budget do not.
        """
        if epsilon < EPSILON_MIN and not self.keeps(epsilon, Blanket.generic(EPSILON_MIN)):
            raise ValueError(f"{self.n} reports of the smallest budget, {EPSILON_MIN:g}, lose more than {epsilon:g}")
        # The worst case holds for all protocols; some provably do better.
        anyone = self._largest(epsilon, max(epsilon, EPSILON_MIN), Blanket.generic)
        result = dict.fromkeys(protocols, anyone)
        for key, protocol in protocols.items():
            if protocol(k, anyone).blanket is not None:
                result[key] = self._largest(epsilon, anyone, partial(_blanket_at, protocol, k))
        return result

    def _largest(self, epsilon: float, kept: float, blanket: Callable[[float], Blanket]) -> float:
        """Return the largest budget that satisfies the guarantee, starting from a budget that does."""
        low, high, step = kept, EPSILON_MAX, FIRST_STEP
        while low < high and step < high:
            tried = min(high, low * (1 + step))
            if not self.keeps(epsilon, blanket(tried)):
                high = tried
                break
            low, step = tried, 2 * step
        while high - low > PRECISION * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.keeps(epsilon, blanket(middle)) else (low, middle)
        return low


def clones_2021(local: float, n: int, delta: float) -> float | None:
    """Return the central budget by Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021, Theorem III.1.

    None where n is too small for it.
    """
    if local > math.log(n / (16 * math.log(2 / delta))):
        return None
    odds = math.exp(local)
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / n) + 8 * odds / n
    return math.log1p(math.tanh(local / 2) * spread)


def clones_2023(local: float, n: int, delta: float) -> float | None:
    """Return the central budget by Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling", SODA 2023.

    Their Theorem 3.2 for any protocol. None where n is too small for it.
    """
    share = 1 / (math.exp(local) + 1)
    if n <= 8 * math.log(4 / delta) / share:
        return None
    spread = math.sqrt(32 * math.log(4 / delta) / (share * (n - 1))) + 4 / (share * (n - 1))
    return math.log1p(math.tanh(local / 2) * spread)


REPLACED = 2  # another value of a user changes two counts by 1 each
NOISE_HALVINGS = 100


@dataclass(frozen=True)
class CentralHistogram:
    """Counts of all users with noise added once, by the mechanism of the lower variance.

    Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy mechanisms", 2009 (discrete Laplace);
    Balle, Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018, Theorem 8.

    Attributes
    ----------
    epsilon, delta
        Of the guarantee when a user's value is replaced by another.
    """

    epsilon: float
    delta: float

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the Gaussian noise of a count."""
        low, high = 0.0, 1.0
        while not self._kept(high):
            low, high = high, 2 * high
        for _ in range(NOISE_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._kept(middle) else (middle, high)
        return high

    def _kept(self, deviation: float) -> bool:
        distance = math.sqrt(REPLACED) / deviation
        near, far = distance / 2 - self.epsilon / distance, -distance / 2 - self.epsilon / distance
        first, second = (math.erfc(-z / math.sqrt(2)) / 2 for z in (near, far))
        # Far in the tail both are 0, and so is the loss.
        return first - (math.exp(self.epsilon) * second if second else 0.0) <= self.delta

    @property
    def laplace_variance(self) -> float:
        """Variance of the discrete Laplace noise of a count."""
        return 1 / (2 * math.sinh(self.epsilon / (2 * REPLACED)) ** 2)

    @property
    def gaussian(self) -> bool:
        """Whether Gaussian noise is lower than the other noise: only if delta is large."""
        return self.deviation**2 < self.laplace_variance

    @property
    def title(self) -> str:
        """Name in words."""
        return "Gaussian" if self.gaussian else "discrete Laplace"

    @property
    def variance(self) -> float:
        """Variance of the noise of a count."""
        return self.deviation**2 if self.gaussian else self.laplace_variance

    def estimate(self, counts: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return noisy frequencies ``(..., k)`` of true counts."""
        if self.gaussian:
            noise = rng.normal(scale=self.deviation, size=counts.shape)
        else:
            chance = -math.expm1(-self.epsilon / REPLACED)
            noise = (rng.geometric(chance, counts.shape) - rng.geometric(chance, counts.shape)).astype(np.float64)
        return (counts + noise) / counts.sum(axis=-1, keepdims=True)
