"""Projective geometry response: report a point of a projective space, more likely on the true value's hyperplane."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.draws import binomial, multinomial
from simulator.protocols.equations import (
    collect,
    evenly,
    field,
    is_prime_power,
    numbers_of,
    points,
    smallest_divisor,
    solutions,
    spread,
    tally,
    vectors,
)
from simulator.protocols.oracle import Chance, Noise, SymbolOracle, mean_variance

# Limits of a space: memory grows with the number of points, time with the number of counting steps.
POINTS_MAX, STEPS_A_POINT = 2**23, 32
POWER_MAX = 256  # above, primes are so dense that powers of primes gain less than 0.2 %
NEARLY = 1.01  # the smallest space with a variance within 1 % of the lowest is used
EXACT_DOMAIN, EXACT_POINTS = 1024, 2**16  # up to these sizes the noise is computed from counts of supported values
GOLDEN = (math.sqrt(5) - 1) / 2
CHUNK_CELLS = 1_000_000  # symbols x elements of the field drawn at once: bounds memory


class ProjectiveGeometry(SymbolOracle):
    """Report a point out of K: those on the true value's hyperplane are e^epsilon times as likely as the others.

    Values are points of the projective space of t coordinates over a field of `order` elements, and so are reports: a
    report supports the values it is orthogonal to. There are ``K = (order^t - 1) / (order - 1)`` points; c of them are
    on a hyperplane, and d on both of two hyperplanes. c and d are K at t - 1 and t - 2 coordinates, so that q is the
    same for all pairs of values. A report is the number of the point.

    Feldman, Nelson, Nguyen, Talwar, "Private frequency estimation via projective geometry", ICML 2022. They use the
    prime power nearest to e^epsilon + 1. Here the order is any prime power whose space is not too large (2^23 points,
    or 4k) or too slow to count in. Of the spaces within 1 % of the lowest variance, averaged over the domain, this
    picks that with the fewest points. For large epsilon or small k that is t = 2: randomised response with up to a few
    symbols more than k.

    The assignment of points to values is free. Values on a line share noise in proportion to their frequencies, and
    consecutive points are on the same line. If they stood for consecutive values, smoothing over neighbours would take
    their common noise for signal (up to 5 times the error of other protocols). So value v is the point ``v m mod k``,
    with m near k over the golden ratio: neighbours are far apart.

    Raw estimates sum to 1 only if k = K: the class attribute `sums_to_one` is false, and `noise` sets it in each case.
    """

    key = "pgr"
    title = "Projective geometry response"
    reference = "Feldman, Nelson, Nguyen, Talwar, ICML 2022"
    acronym = True

    @property
    def order(self) -> int:
        """Number of elements of the field, a power of a prime."""
        return _space(self.k, self.epsilon)[0]

    @property
    def dimension(self) -> int:
        """Number t of coordinates of a point."""
        return _space(self.k, self.epsilon)[1]

    @property
    def symbols(self) -> int:
        return points(self.dimension, self.order)

    @property
    def p(self) -> float:
        return _probabilities(self.order, self.dimension, self.epsilon)[0]

    @property
    def q(self) -> float:
        return _probabilities(self.order, self.dimension, self.epsilon)[1]

    @property
    def _keep(self) -> float:
        """Probability of a uniform draw from the true value's hyperplane, instead of one from all points."""
        return self.p * -math.expm1(-self.epsilon)

    @property
    def attack_success(self) -> float:
        # The best guess is any value the point is orthogonal to. The first order + 1 points are those of a line, which
        # meets all hyperplanes, so such a value always exists. If t = 2, each point is orthogonal to a single point.
        on_one = points(self.dimension - 1, self.order)
        guessed = self.symbols if self.dimension > 2 else self.k
        x = math.exp(-self.epsilon)
        return self.p / on_one * (guessed + (self.symbols - guessed) * x) / self.k

    def server_operations(self, n: int) -> int:
        return self.dimension * self.order * self.symbols

    def noise(self, n: int) -> Noise:
        noise = super().noise(n)
        if self.k == self.symbols:
            return replace(noise, sums_to_one=True)
        share = (self.k - 1) / (self.symbols - 1)  # as for k points drawn at random
        if self.k <= EXACT_DOMAIN and self.symbols <= EXACT_POINTS:
            estimates = self.k * noise.variance_at_zero + noise.variance_slope
            supported, kept = _supported(self.k, self.order, self.dimension), self._keep
            shares = kept * supported / (self.k * points(self.dimension - 1, self.order)) + (1 - kept) / self.symbols
            # How many values a report supports, on average, is the same for all true values, as q is for all pairs.
            variance_of_size = float(shares @ supported**2) - (self.p + (self.k - 1) * self.q) ** 2
            share = 1 - variance_of_size / (n * (self.p - self.q) ** 2 * estimates)
        return replace(noise, cancels=min(max(share, 0.0), 1.0))

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        order, t, users = self.order, self.dimension, np.arange(len(values))
        normal = vectors(self.point_of(values), t, order)
        lead = (normal != 0).argmax(axis=1, keepdims=True)
        y = np.zeros_like(normal)
        open_users = users
        while open_users.size:  # the zero vector is not a point: users who drew it draw again
            some = rng.integers(0, order, size=(len(open_users), t))
            np.put_along_axis(some, lead[open_users], 0, axis=1)
            # The leading coordinate of the value's vector is 1: the coordinate there is chosen to make the product
            # zero.
            balance = field(order).negatives[field(order).inner(some, normal[open_users])]
            np.put_along_axis(some, lead[open_users], balance[:, None], axis=1)
            y[open_users] = some
            open_users = open_users[~some.any(axis=1)]
        anything = rng.integers(0, self.symbols, size=len(values))
        return np.where(rng.random(len(values)) < self._keep, numbers_of(y, order), anything)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Return support counts drawn from the law of the aggregate.

        Time and memory grow with ``t K order`` and ``k order``, whichever is more. A histogram of the K reports is
        drawn coordinate by coordinate, and counted for all values in the same way.
        """
        rows = counts.reshape(-1, self.k)
        step = max(1, CHUNK_CELLS // (self.symbols * self.order))
        parts = [self._sample(rows[start : start + step], rng) for start in range(0, len(rows), step)]
        return np.concatenate([rows[:0], *parts]).reshape(counts.shape)

    def _sample(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        order, t = self.order, self.dimension
        kept = binomial(rows, self._keep, rng)
        histogram = evenly(rows.sum(axis=1) - kept.sum(axis=1), self.symbols, rng)
        equations = _equations(self)
        # Points by the coordinates after their leading 1: the rest of the value's equation is an equation in those
        # unknowns.
        sizes = np.stack([solutions(equation, d, order) for d, equation in enumerate(equations)], axis=1)
        led = multinomial(kept, sizes / points(t - 1, order), rng)
        for d, equation in enumerate(equations):
            start, users = points(d, order), led[:, :, d]
            if d == 0:
                histogram[:, start] += users.sum(axis=1)
                continue
            width = int(equation.max()) + 1
            cells = np.arange(len(rows))[:, None] * width + equation
            merged = tally(cells.ravel(), users.ravel(), len(rows) * width).reshape(-1, width)
            histogram[:, start : start + order**d] += spread(merged, d, order, rng)
        return self.decode(histogram)

    def point_of(self, values: IntArray) -> IntArray:
        """Return the numbers of the points that stand for values ``(m,)``: ``(m,)``, all of the first k."""
        # The stride is the first number from k over the golden ratio on that has no divisor in common with k.
        stride = next(m for m in count(round(self.k * GOLDEN)) if math.gcd(m, self.k) == 1)
        return values * stride % self.k

    def supporting(self, value: int) -> NDArray[np.bool_]:
        t, order = self.dimension, self.order
        normal = vectors(self.point_of(np.array([value])), t, order)[0]
        return field(order).inner(vectors(np.arange(self.symbols), t, order), normal) == 0

    @property
    def supported_values(self) -> IntArray:
        return _supported(self.k, self.order, self.dimension)

    def decode(self, histogram: IntArray) -> IntArray:
        order, rows = self.order, histogram.reshape(-1, self.symbols)
        result = np.zeros((len(rows), self.k), dtype=np.int64)
        for d, equation in enumerate(_equations(self)):
            part = rows[:, points(d, order) : points(d, order) + order**d]
            if d == 0:
                result += part * (equation == 1)
            else:
                result += collect(part, d, order, int(equation.max()) + 1)[:, equation]
        return result.reshape(*histogram.shape[:-1], self.k)


@lru_cache(maxsize=16)
def _equations(oracle: ProjectiveGeometry) -> tuple[IntArray, ...]:
    """For d = 0..t-1, the numbers of the equations that the values make of points with d free coordinates."""
    t, order = oracle.dimension, oracle.order
    coordinates = vectors(oracle.point_of(np.arange(oracle.k)), t, order)
    return tuple(numbers_of(coordinates[:, t - 1 - d :], order) for d in range(t))


@lru_cache(maxsize=256)
def _probabilities(order: int, t: int, epsilon: float) -> tuple[float, float]:
    return _supporting(points(t, order), points(t - 1, order), points(t - 2, order), epsilon)


def _supporting(total: Chance, on_one: Chance, on_two: Chance, epsilon: float) -> tuple[Chance, Chance]:
    """Return p and q from the numbers of points, of a single space or several."""
    x = math.exp(-epsilon)
    weight = on_one + (total - on_one) * x
    return on_one / weight, (on_two + (on_one - on_two) * x) / weight


@lru_cache(maxsize=256)
def _space(k: int, epsilon: float) -> tuple[int, int]:
    """Choose the order of the field and the number of coordinates."""
    order, coordinates, total, on_one, on_two = _spaces(k)
    p, q = _supporting(total, on_one, on_two, epsilon)
    variance = mean_variance(k, p, q)
    nearly = np.flatnonzero(variance <= NEARLY * variance.min())
    chosen = nearly[np.lexsort((variance[nearly], total[nearly]))[0]]
    return int(order[chosen]), int(coordinates[chosen])


@lru_cache(maxsize=64)
def _spaces(k: int) -> FloatArray:
    """Return candidate spaces: order, coordinates, and points of the space, of a hyperplane and of two hyperplanes."""
    # With t = 2, only the first field is useful: larger fields only add symbols. It always exists.
    spaces = [(next(order for order in count(max(2, k - 1)) if _exists(order)), 2)]
    for t in count(3):
        least, most = _root(k, t), _root(k, t - 1)
        for order in range(least, most):
            steps = order * (k + (t - 3) * points(t, order))
            if max(points(t, order), steps / STEPS_A_POINT) > max(POINTS_MAX, 4 * k):
                break
            if _exists(order):
                spaces.append((order, t))
        if least == 2:
            break
    return np.array([(order, t, *(points(t - less, order) for less in range(3))) for order, t in spaces], dtype=float).T


def _root(k: int, t: int) -> int:
    """Return the smallest order, of a field or not, with which t coordinates make at least k points."""
    guess = max(2, math.floor(k ** (1 / (t - 1))) - 2)
    return next(order for order in count(guess) if points(t, order) >= k)


def _exists(order: int) -> bool:
    prime = smallest_divisor(order)
    return prime == order or (order <= POWER_MAX and is_prime_power(order))


@lru_cache(maxsize=32)  # the same for all budgets that choose this space
def _supported(k: int, order: int, t: int) -> IntArray:
    """Return how many of the k values each point supports, ``(K,)``."""
    every, rest = vectors(np.arange(points(t, order)), t, order), k
    # The first points stand for the values: all that have j coordinates, and of those with a 1 before them so many
    # whose j coordinates spell a number below `rest`.
    j = next(j for j in range(t, 0, -1) if points(j, order) <= k)
    tail, rest = every[:, t - j :], k - points(j, order)
    result = np.where(tail.any(axis=1), points(j - 1, order), points(j, order))
    if rest:
        result += _solutions_below(every[:, t - j - 1], tail, rest, order)
    return result


def _solutions_below(constant: IntArray, factors: IntArray, bound: int, order: int) -> IntArray:
    """Return how many x in F_q^j that spell a number below a bound solve ``constant + <factors, x> = 0``, ``(m,)``."""
    result, unknowns = np.zeros(len(constant), dtype=np.int64), factors.shape[1]
    arithmetic = field(order)
    for place in range(unknowns):
        # Those that differ from the bound first at this place: a smaller digit here, and anything in the free ones.
        free = unknowns - 1 - place
        digit, factor = bound // order**free % order, factors[:, place]
        root = arithmetic.negatives[arithmetic.mul(constant, arithmetic.inverses[factor])]
        here = np.where(factor == 0, np.where(constant == 0, digit, 0), root < digit)
        result += np.where(factors[:, place + 1 :].any(axis=1), digit * order**free // order, here * order**free)
        constant = arithmetic.add(constant, arithmetic.mul(factor, np.array(digit)))
    return result
