"""Sampling and counting of users whose reports are uniform draws from the solutions of a linear equation each.

Two protocols report a vector that solves an equation of the user's value: Hadamard response over the field of two
elements, projective geometry response over a field of q elements. Here the equation is ``s + <w, y> = 0`` with y in
F_q^d. It is given by the vector ``(s, w)`` up to a factor, so there are about q^d different equations. Once the first
coordinate of y is fixed, the rest is an equation of the same kind, without that coordinate. Users whose equations have
become the same are merged. So neither `spread` (draw a histogram of y) nor `collect` (add up a histogram over the
solutions) needs to list the q^(d-1) solutions of each equation. The recursion is that of Feldman, Nelson, Nguyen,
Talwar, "Private frequency estimation via projective geometry", ICML 2022, who count with it; drawing with it is new
here.

Vectors up to a factor are points: `points(t, q)` of them have t coordinates. The canonical vector has a leading 1.
Points are ordered by the base-q number of their coordinates, so that a point keeps its number when zeros are put in
front. The zero vector (no condition at all) comes last, as number ``points(t, q)``.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray
from simulator.draws import multinomial


class Field:
    """The elements 0..q-1, of which 0 and 1 are zero and one.

    For a prime q, numbers modulo q. For ``q = p^m``, element number ``a_0 + a_1 p + ... + a_(m-1) p^(m-1)`` is the
    polynomial with these coefficients modulo p, and products are taken modulo the first monic polynomial, by the number
    of the terms below x^m, for which x generates all elements but 0.
    """

    def __init__(self, q: int) -> None:
        self._q = q
        prime = smallest_divisor(q)
        self._tables = None if prime == q else _tables(prime, q)

    def add(self, a: IntArray, b: IntArray) -> IntArray:
        """Return sums; the two broadcast."""
        return (a + b) % self._q if self._tables is None else self._tables[0][a, b]

    def mul(self, a: IntArray, b: IntArray) -> IntArray:
        """Return products; the two broadcast."""
        return a * b % self._q if self._tables is None else self._tables[1][a, b]

    def inner(self, left: IntArray, right: IntArray) -> IntArray:
        """Return the inner products over the last axis; the two broadcast."""
        result = self.mul(left[..., 0], right[..., 0])
        for column in range(1, left.shape[-1]):
            result = self.add(result, self.mul(left[..., column], right[..., column]))
        return result

    @cached_property
    def negatives(self) -> IntArray:
        """Additive inverses of 0..q-1."""
        return -np.arange(self._q) % self._q if self._tables is None else (self._tables[0] == 0).argmax(axis=1)

    @cached_property
    def inverses(self) -> IntArray:
        """Inverses of 0..q-1; 0 for 0."""
        # Every element but 0 is 1 to the power of q - 1; by squaring
        result, base, exponent = np.ones(self._q, dtype=np.int64), np.arange(self._q), self._q - 2
        while exponent:
            if exponent & 1:
                result = self.mul(result, base)
            base = self.mul(base, base)
            exponent >>= 1
        result[0] = 0
        return result


field = lru_cache(maxsize=32)(Field)  # their tables are worked out once


def smallest_divisor(number: int) -> int:
    """Return the smallest divisor of a number of at least 2 that is not 1: itself, if it is prime."""
    small = np.arange(2, math.isqrt(number) + 1)
    divisors = small[number % small == 0]
    return int(divisors[0]) if len(divisors) else number


def is_prime_power(number: int) -> bool:
    """Return whether a field with this number of elements exists."""
    prime = smallest_divisor(number)
    while number % prime == 0:
        number //= prime
    return number == 1


def _tables(prime: int, q: int) -> tuple[IntArray, IntArray]:
    """Return the tables of addition and of multiplication, ``(q, q)`` each."""
    places = [place for place in (prime**i for i in range(q.bit_length())) if place < q]
    digits = np.arange(q)[:, None] // places % prime
    sums = (digits[:, None] + digits) % prime @ np.array(places)
    powers = next(filter(len, (_powers(prime, q, sums, low) for low in range(1, q) if low % prime)))
    logs = np.zeros(q, dtype=np.int64)
    logs[powers] = np.arange(q - 1)
    products = powers[(logs[:, None] + logs) % (q - 1)]
    products[0] = products[:, 0] = 0
    return sums, products


def _powers(prime: int, q: int, sums: IntArray, low: int) -> IntArray:
    """Return the powers 0..q-2 of x where ``x^m`` equals element `low`; none if they are not all different."""
    multiples = [0]
    for _ in range(prime - 1):
        multiples.append(int(sums[multiples[-1], low]))
    result = [1]
    while len(result) < q - 1:
        top, rest = divmod(result[-1], q // prime)
        following = int(sums[rest * prime, multiples[top]])
        if following == 1:  # x has an inverse, so that its powers come round to 1 before anything else comes again
            return np.empty(0, dtype=np.int64)
        result.append(following)
    return np.array(result)


TABLE_CELLS = 4_000_000  # cells of a table that are worked out at once


def points(t: int, q: int) -> int:
    """Return the number of vectors of t coordinates over F_q, up to a factor and without zero.

    >>> [points(t, 2) for t in range(4)], points(3, 3)
    ([0, 1, 3, 7], 13)
    """
    return int((q**t - 1) // (q - 1))


def vectors(numbers: IntArray, t: int, q: int) -> IntArray:
    """Return the canonical vectors ``(m, t)`` of points ``(m,)``.

    >>> vectors(np.arange(5), 2, 3).tolist()
    [[0, 1], [1, 0], [1, 1], [1, 2], [0, 0]]
    """
    return _spelled(numbers, t, q)[:, None] // q ** np.arange(t - 1, -1, -1) % q


def _spelled(numbers: IntArray, t: int, q: int) -> IntArray:
    """Return the base-q numbers of the canonical vectors of points ``(m,)``."""
    starts = np.array([points(j, q) for j in range(t + 1)])
    free = np.searchsorted(starts, numbers, side="right") - 1  # coordinates after the leading 1
    added = np.array([q**j - points(j, q) for j in range(t)] + [-points(t, q)])
    return numbers + added[free]


def numbers_of(rows: IntArray, q: int) -> IntArray:
    """Return the numbers ``(m,)`` of vectors ``(m, t)``, canonical or not: the inverse of `vectors`.

    >>> numbers_of(np.array([[0, 2], [2, 0], [2, 2], [2, 1], [0, 0]]), 3).tolist()
    [0, 1, 2, 3, 4]
    """
    t = rows.shape[1]
    lead = np.where(rows.any(axis=1), (rows != 0).argmax(axis=1), t)
    factor = field(q).inverses[rows[np.arange(len(rows)), np.minimum(lead, t - 1)]]
    free = t - 1 - lead
    spelled = field(q).mul(rows, factor[:, None]) @ q ** np.arange(t - 1, -1, -1)
    starts = np.array([points(j, q) for j in range(t)])
    return np.where(free >= 0, spelled - q ** np.maximum(free, 0) + starts[free], points(t, q))


@lru_cache(maxsize=8)
def _numbers_left(d: int, q: int) -> NDArray[np.int32]:
    """Return the numbers of equations in d - 1 unknowns, by constant and number of their factors: (q, q^(d-1))."""
    rest = q ** (d - 1)
    table = np.empty((q, rest), dtype=np.int32)
    step = max(1, TABLE_CELLS // (q * d))
    for start in range(0, rest, step):
        factors = np.arange(start, min(start + step, rest))[:, None] // q ** np.arange(d - 2, -1, -1) % q
        constants = np.repeat(np.arange(q), len(factors))
        rows = np.concatenate([constants[:, None], np.tile(factors, (q, 1))], axis=1)
        table[:, start : start + step] = numbers_of(rows, q).reshape(q, -1)
    table.flags.writeable = False
    return table


def solutions(numbers: IntArray, d: int, q: int) -> IntArray:
    """Return how many y in F_q^d solve each equation; `numbers` are those of the vectors (s, w)."""
    impossible, no_condition = numbers == points(d, q), numbers == points(d + 1, q)
    return np.where(impossible, 0, np.where(no_condition, q**d, q ** max(d - 1, 0)))


def evenly(users: IntArray, cells: int, rng: np.random.Generator) -> IntArray:
    """Draw a cell for each user, all cells equally likely: counts ``(m, cells)`` of users ``(m,)``."""
    many, counts, row, cell = _drawn(users, cells, rng)
    result = np.bincount(row * cells + cell, minlength=len(users) * cells).reshape(-1, cells)
    result[many] = counts
    return result


def _drawn(
    users: IntArray, cells: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], IntArray, IntArray, IntArray]:
    """Draw as `evenly`: which rows have many users and their counts; of the others, row and cell of each user."""
    many = users >= cells  # where there are fewer it is quicker to go user by user
    counts = multinomial(users[many], np.full(cells, 1 / cells), rng)
    row = np.repeat(np.arange(len(users)), np.where(many, 0, users))
    return many, counts, row, rng.integers(0, cells, size=len(row))


def spread(users: IntArray, d: int, q: int, rng: np.random.Generator) -> IntArray:
    """Draw for each user a solution of the user's equation, and count each y.

    users: ``(rows, equations)`` users by the number of their equation in d unknowns; the last equations may be omitted.
    d, q: number of unknowns, at least 1, and of elements of the field.

    Returns ``(rows, q^d)`` counts of y, its coordinates read as a number in base q. The cost grows with ``d q^(d+1)``
    at most, and with the number of users not at all.
    """
    for unknowns in range(d, 1, -1):
        width = points(unknowns, q) + 1  # of the equations that come next
        held = np.nonzero(users)
        users, before = np.zeros(len(users) * q * width, dtype=np.int64), users[held]
        step = max(1, TABLE_CELLS // q)
        for start in range(0, len(before), step):
            row, equation, count = (part[start : start + step] for part in (*held, before))
            _spread_unknown(users, row, equation, count, unknowns, q, rng)
        users = users.reshape(-1, width)
    result = np.zeros((len(users), q), dtype=np.int64)
    root = _roots(q)
    size = min(users.shape[1], q + 1)
    solvable = np.flatnonzero(root[:size] >= 0)
    result[:, root[solvable]] = users[:, solvable]
    if users.shape[1] > q + 1:
        result += evenly(users[:, q + 1], q, rng)
    return result.reshape(-1, q**d)


def _spread_unknown(
    users: IntArray, row: IntArray, equation: IntArray, count: IntArray, d: int, q: int, rng: np.random.Generator
) -> None:
    """Draw the first of d >= 2 unknowns for the users of each row and equation, and add them to `users`.

    `users` are, in sequence, those of each row, of each value of that unknown, of each remaining equation.
    """
    arithmetic, left, width = field(q), _numbers_left(d, q), points(d, q) + 1
    others, rest = np.divmod(_spelled(equation, d + 1, q), q ** (d - 1))
    constant, factor = np.divmod(others, q)

    def cells(some: IntArray, first: IntArray) -> IntArray:
        left_over = arithmetic.add(constant[some], arithmetic.mul(factor[some], first))
        return (row[some] * q + first) * width + left[left_over, rest[some]]

    # An equation in the first unknown alone settles it; all values of it solve the others equally often.
    settled = (rest == 0) & (factor != 0)
    some, one = np.flatnonzero(~settled), np.flatnonzero(settled)
    many, counts, place, first = _drawn(count[some], q, rng)
    users += np.bincount(cells(some[place], first), minlength=len(users))
    value = arithmetic.negatives[arithmetic.mul(constant[one], arithmetic.inverses[factor[one]])]
    into = np.concatenate([cells(some[many][:, None], np.arange(q)).ravel(), cells(one, value)])
    users += tally(into, np.concatenate([counts.ravel(), count[one]]), len(users))


def collect(histogram: IntArray, d: int, q: int, size: int) -> IntArray:
    """Add up a histogram ``(rows, q^d)`` of y over the solutions of the equations 0..size-1: ``(rows, size)``."""
    cells = histogram.reshape(-1, q)
    values = np.zeros((len(cells), q + 2), dtype=np.int64)
    root = _roots(q)
    solvable = np.flatnonzero(root >= 0)
    values[:, solvable] = cells[:, root[solvable]]
    values[:, q + 1] = cells.sum(axis=1)
    for unknowns in range(2, d + 1):
        below = values.reshape(-1, q, values.shape[1])
        values = _collect_unknown(below, unknowns, q, size if unknowns == d else points(unknowns + 1, q) + 1)
    return values[:, :size]


def _collect_unknown(below: IntArray, d: int, q: int, size: int) -> IntArray:
    """Add up the first of d >= 2 unknowns: from ``(cells, q, equations in d - 1 unknowns)`` to ``(cells, size)``."""
    left = _numbers_left(d, q)
    # In the order of their numbers: equations without constant and first unknown, which stay unchanged; then stretches
    # with all other factors, for constant 0 and first factor 1, and for constant 1 and first factor 0..q-1.
    same, stretch = points(d - 1, q), left.shape[1]
    stretches = min(q + 1, -(-(size - same) // stretch))
    result = np.zeros((len(below), same + stretches * stretch + 1), dtype=np.int64)
    result[:, :same] = below[:, :, :same].sum(axis=1)
    result[:, -1] = below[:, :, points(d, q)].sum(axis=1)  # no condition: the last equation, which all users satisfy
    for first in range(q):
        constants = np.append(first, field(q).add(np.array(1), field(q).mul(np.arange(stretches - 1), np.array(first))))
        result[:, same:-1] += np.take(below[:, first], left[constants].reshape(-1), axis=1)
    return result[:, :size]


def _roots(q: int) -> IntArray:
    """Solution of each equation 0..q in one unknown; -1 for the equation without a solution."""
    # Point 0 is (0, 1): y = 0. Point 1 + a is (1, a): 1 + a y = 0, impossible for a = 0.
    root = np.append(0, field(q).negatives[field(q).inverses])
    root[1] = -1
    return root


def tally(cells: IntArray, weights: IntArray, size: int) -> IntArray:
    """Add weights up by cell; exact, since float64 holds integers up to 9e15."""
    return np.bincount(cells, weights=weights, minlength=size).astype(np.int64)
