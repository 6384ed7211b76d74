"""Projective geometry response: report a point of a projective space that lies on the own value's hyperplane or not."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simulator._types import IntArray, Reports
from simulator.protocols.equations import collect, evenly, numbers_of, points, solutions, spread, tally, vectors
from simulator.protocols.oracle import Noise, bits_for
from simulator.protocols.symbols import SymbolOracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Larger spaces are passed over, as time and memory grow with them: points (4k if more), k times elements of the field.
SYMBOLS_MAX, CELLS_MAX = 2**16, 2**24
NEARLY = 1.01  # of the spaces whose variance is within 1 % of the best one's, the smallest is taken
EXACT_DOMAIN = 1024  # up to here the supported values of each point are counted to describe the noise
GOLDEN = (math.sqrt(5) - 1) / 2
CHUNK_CELLS = 1_000_000  # symbols x elements of the field drawn at once: bounds memory


class ProjectiveGeometry(SymbolOracle):
    """Report one of K points: those on the own value's hyperplane are e^epsilon times as likely as the others.

    Values are points of the projective space of t coordinates over a field of `order` elements, and so are reports: a
    report supports the values it is orthogonal to. There are ``K = (order^t - 1) / (order - 1)`` points; c of them
    are on one hyperplane, and of those d on another given one, c and d being K at t - 1 and t - 2 coordinates, so that
    q is the same for all pairs of values. A report is the number of the point.

    Feldman, Nelson, Nguyen, Talwar, "Private frequency estimation via projective geometry", ICML 2022. They take the
    prime power nearest to e^epsilon + 1. Here the order is a prime (which costs up to 3 % of variance), chosen by the
    variance: among the primes next to e^epsilon + 1 and those whose space is hardly larger than k, the one with the
    fewest points of all within 1 % of the lowest variance. Spaces of more than 2^16 and 4k points are passed over. For
    large epsilon or small k that leaves t = 2: randomised response with up to a few symbols more than k.

    Which point stands for which value is free. Noise is shared along a line by as much as the values on it hold, and
    points with numbers in a row are on one line: were they to stand for values in a row, smoothing over neighbours
    would take their common noise for signal (up to 5 times the error of other protocols). So value v is the point
    ``v m mod k``, with m near k over the golden ratio: neighbours are far apart.

    Raw estimates sum to 1 where k = K and only there: `sums_to_one` is false, and `noise` says it case by case.
    """

    key = "pgr"
    title = "Projective geometry response"
    reference = "Feldman, Nelson, Nguyen, Talwar, ICML 2022"

    @property
    def order(self) -> int:
        """Number of elements of the field, a prime."""
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
        """Probability of an even draw from the own hyperplane; else a report is an even draw of all points."""
        return self.p * -math.expm1(-self.epsilon)

    @property
    def report_bits(self) -> int:
        return bits_for(self.symbols)

    @property
    def attack_success(self) -> float:
        # The best guess is any value the point is orthogonal to. The first order + 1 points are those of a line,
        # which meets every hyperplane, so there always is one; unless t = 2, where each point is orthogonal to one.
        on_one = points(self.dimension - 1, self.order)
        guessed = self.symbols if self.dimension > 2 else self.k
        x = math.exp(-self.epsilon)
        return self.p / on_one * (guessed + (self.symbols - guessed) * x) / self.k

    def server_operations(self, n: int) -> int:  # noqa: ARG002
        return self.dimension * self.order * self.symbols

    def noise(self, n: int) -> Noise:
        noise = super().noise(n)
        if self.k == self.symbols:
            return replace(noise, sums_to_one=True)
        share = (self.k - 1) / (self.symbols - 1)  # as for k points drawn at random
        if self.k <= EXACT_DOMAIN:
            estimates = self.k * noise.variance_at_zero + noise.variance_slope
            share = 1 - self._variance_of_size() / (n * (self.p - self.q) ** 2 * estimates)
        return replace(noise, cancels=min(max(share, 0.0), 1.0))

    def _variance_of_size(self) -> float:
        """Return the variance of the number of values that a report supports, averaged over the own value."""
        supported = _supported(self.k, self.order, self.dimension)
        own = (
            self._keep * supported / (self.k * points(self.dimension - 1, self.order)) + (1 - self._keep) / self.symbols
        )
        # Its mean is the same for all own values, since q is the same for all pairs of values.
        return float(own @ supported**2) - (self.p + (self.k - 1) * self.q) ** 2

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        order, t, users = self.order, self.dimension, np.arange(len(values))
        own = vectors(self.point_of(values), t, order)
        lead = (own != 0).argmax(axis=1, keepdims=True)
        y = np.zeros_like(own)
        open_users = users
        while open_users.size:  # the zero vector is no point: those who drew it draw again
            some = rng.integers(0, order, size=(len(open_users), t))
            np.put_along_axis(some, lead[open_users], 0, axis=1)
            # The own vector has a 1 in front: the coordinate there is what makes the product zero.
            balance = -(some * own[open_users]).sum(axis=1, keepdims=True) % order
            np.put_along_axis(some, lead[open_users], balance, axis=1)
            y[open_users] = some
            open_users = open_users[~some.any(axis=1)]
        anything = rng.integers(0, self.symbols, size=len(values))
        return np.where(rng.random(len(values)) < self._keep, numbers_of(y, order), anything)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the aggregate of the base class's law.

        Time and memory grow with ``t K order`` and ``k order``, whichever is more: one histogram of the K reports is
        drawn, coordinate by coordinate, and counted for all values in the same way.
        """
        if not counts.size:
            return np.zeros(counts.shape, dtype=np.int64)
        rows = counts.reshape(-1, self.k)
        step = max(1, CHUNK_CELLS // (self.symbols * self.order))
        parts = [self._sample(rows[start : start + step], rng) for start in range(0, len(rows), step)]
        return np.concatenate(parts).reshape(counts.shape)

    def _sample(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        order, t = self.order, self.dimension
        kept = rng.binomial(rows, self._keep)
        histogram = evenly(rows.sum(axis=1) - kept.sum(axis=1), self.symbols, rng)
        equations = _equations(self)
        # Points by the coordinates after their leading 1: what is left of the own equation is one in those unknowns.
        sizes = np.stack([solutions(equation, d, order) for d, equation in enumerate(equations)], axis=1)
        led = rng.multinomial(kept, sizes / points(t - 1, order))
        for d, equation in enumerate(equations):
            start, users = points(d, order), led[:, :, d]
            if d == 0:
                histogram[:, start] += users.sum(axis=1)
                continue
            width = int(equation.max()) + 1
            cells = np.arange(len(rows))[:, None] * width + equation
            merged = tally(cells.ravel(), users.ravel(), len(rows) * width).reshape(-1, width)
            histogram[:, start : start + order**d] += spread(merged, d, order, rng)
        return self._decode(histogram)

    def point_of(self, values: IntArray) -> IntArray:
        """Return the numbers of the points that stand for values ``(m,)``: ``(m,)``, all of the first k."""
        return values * _stride(self.k) % self.k

    def supporting(self, value: int) -> NDArray[np.bool_]:
        t, order = self.dimension, self.order
        own = vectors(self.point_of(np.array([value])), t, order)[0]
        return (vectors(np.arange(self.symbols), t, order) @ own) % order == 0

    def supported_values(self) -> IntArray:
        return _supported(self.k, self.order, self.dimension).copy()

    def decode(self, histogram: IntArray) -> IntArray:
        return self._decode(histogram[None, :])[0]

    def _decode(self, histogram: IntArray) -> IntArray:
        return _add_up(histogram, _equations(self), self.order)


def _add_up(histogram: IntArray, equations: tuple[IntArray, ...], order: int) -> IntArray:
    """Add up reports ``(rows, K)`` over the points that solve each of the equations: ``(rows, equations)``."""
    result = np.zeros((len(histogram), len(equations[0])), dtype=np.int64)
    for d, equation in enumerate(equations):
        start = points(d, order)
        part = histogram[:, start : start + order**d]
        if d == 0:
            result += part * (equation == 1)
        else:
            result += collect(part, d, order, int(equation.max()) + 1)[:, equation]
    return result


@lru_cache(maxsize=16)
def _equations(oracle: ProjectiveGeometry) -> tuple[IntArray, ...]:
    return _equations_of(oracle.point_of(np.arange(oracle.k)), oracle.order, oracle.dimension)


def _equations_of(numbers: IntArray, order: int, t: int) -> tuple[IntArray, ...]:
    """For d = 0..t-1, the numbers of the equations that points ``(m,)`` make of points with d free coordinates."""
    own = vectors(numbers, t, order)
    return tuple(numbers_of(own[:, t - 1 - d :], order) for d in range(t))


@lru_cache(maxsize=256)
def _probabilities(order: int, t: int, epsilon: float) -> tuple[float, float]:
    return _supporting(points(t, order), points(t - 1, order), points(t - 2, order), epsilon)


def _supporting(total: int, on_one: int, on_two: int, epsilon: float) -> tuple[float, float]:
    """Return p and q from the numbers of points."""
    x = math.exp(-epsilon)
    weight = on_one + (total - on_one) * x
    return on_one / weight, (on_two + (on_one - on_two) * x) / weight


def _stride(k: int) -> int:
    """Return the first number from k over the golden ratio on that has no divisor in common with k."""
    return next(m for m in count(round(k * GOLDEN)) if math.gcd(m, k) == 1)


@lru_cache(maxsize=256)
def _space(k: int, epsilon: float) -> tuple[int, int]:
    """Choose the order of the field and the number of coordinates."""
    tight, large = _tight_spaces(k), _large_orders(k)
    # No prime beyond the first one of t = 2 is of use: it only adds symbols.
    aim = math.floor(min(math.exp(epsilon) + 1, tight[0][0]))
    spaces = _spaces(k, frozenset((*_primes_next_to(aim), *large)))
    variances = {space: _variance(space, epsilon) for space in spaces}
    limit = NEARLY * min(variances.values())
    good = [(space.points, variance, space) for space, variance in variances.items() if variance <= limit]
    chosen = min(good)[-1]
    return chosen.order, chosen.coordinates


class _Space(NamedTuple):
    """A projective space: how many points it has, how many of them a hyperplane, and how many two of those share."""

    order: int
    coordinates: int
    points: int
    on_one: int
    on_two: int


@lru_cache(maxsize=256)  # budgets next to each other have the same primes next to them
def _spaces(k: int, orders: frozenset[int]) -> list[_Space]:
    """Return the tight spaces, and the smallest one of each of the fields, as far as none is passed over."""
    most = max(SYMBOLS_MAX, 4 * k)
    spaces = {*_tight_spaces(k), *((order, next(t for t in count(2) if points(t, order) >= k)) for order in orders)}
    # Two coordinates need no table of cells. There always is such a space of less than 4k points, or of 3.
    return [
        _Space(order, t, points(t, order), points(t - 1, order), points(t - 2, order))
        for order, t in sorted(spaces)
        if points(t, order) <= most and (t == 2 or k * order <= CELLS_MAX)
    ]


def _variance(space: _Space, epsilon: float) -> float:
    p, q = _supporting(space.points, space.on_one, space.on_two, epsilon)
    return q * (1 - q) / (p - q) ** 2


@lru_cache(maxsize=64)
def _tight_spaces(k: int) -> list[tuple[int, int]]:
    """Return the smallest space of 2, 3, ... coordinates, until the field cannot be smaller."""
    tight = []
    for t in count(2):
        tight.append((_prime_from(_root(k, t)), t))
        if tight[-1][0] == 2:
            break
    return tight


@lru_cache(maxsize=64)
def _large_orders(k: int) -> frozenset[int]:
    """Return the fields of the largest spaces that are not passed over, should the best ones be."""
    most = max(SYMBOLS_MAX, 4 * k)
    return frozenset(_prime_to(min(_root(most, t) - 1, CELLS_MAX // k)) for _, t in _tight_spaces(k)[1:])


def _root(k: int, t: int) -> int:
    """Return the smallest field, prime or not, whose points of t coordinates are at least k."""
    guess = max(2, math.floor(k ** (1 / (t - 1))) - 2)
    return next(order for order in count(guess) if points(t, order) >= k)


@lru_cache(maxsize=256)
def _primes_next_to(number: int) -> tuple[int, int]:
    """Return the largest prime up to a number, and the smallest above."""
    return _prime_to(number), _prime_from(number + 1)


def _prime_from(low: int) -> int:
    return next(order for order in count(low) if _is_prime(order))


def _prime_to(high: int) -> int:
    return next(order for order in range(max(2, high), 1, -1) if _is_prime(order))


def _is_prime(number: int) -> bool:
    return number >= 2 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


@lru_cache(maxsize=32)  # the same for all budgets that choose this space
def _supported(k: int, order: int, t: int) -> IntArray:
    """Return how many of the k values each point supports, ``(K,)``."""
    symbols = points(t, order)
    values = (np.arange(symbols) < k).astype(np.int64)  # the first points stand for the values
    return _add_up(values[None, :], _equations_of(np.arange(symbols), order, t), order)[0]
