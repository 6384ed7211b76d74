"""Users whose reports are even draws from the solutions of one linear equation each, sampled and counted together.

Two protocols report a vector that solves an equation of the user's value: Hadamard response over the field of two
elements, projective geometry response over a prime field of q elements. Here the equation is ``s + <w, y> = 0`` with y
in F_q^d. It is given by the vector ``(s, w)`` up to a factor, so there are about q^d different ones, and once the
first coordinate of y is fixed what remains is an equation of the same kind, with one coordinate less. Users whose
equations have become the same can be merged, whoever they are: that is why neither `spread` (draw a histogram of y)
nor `collect` (add up a histogram over the solutions) needs to go through the q^(d-1) solutions of every equation. The
recursion is the one by which Feldman, Nelson, Nguyen, Talwar, "Private frequency estimation via projective geometry",
ICML 2022, count in; drawing with it is ours.

Vectors up to a factor are points: `points(t, q)` of them have t coordinates. The canonical one has a leading 1, and
point i is the i-th in the order of the number that its coordinates spell in base q, so that a point keeps its number
when zeros are put in front. The zero vector (no condition at all) comes last, as number ``points(t, q)``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from simulator._types import IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    starts = np.array([points(j, q) for j in range(t + 1)])
    free = np.searchsorted(starts, numbers, side="right") - 1  # coordinates after the leading 1
    spelled = np.where(free < t, numbers - starts[free] + q ** np.minimum(free, t - 1), 0)
    return spelled[:, None] // q ** np.arange(t - 1, -1, -1) % q


def numbers_of(rows: IntArray, q: int) -> IntArray:
    """Return the numbers ``(m,)`` of vectors ``(m, t)``, canonical or not: the inverse of `vectors`.

    >>> numbers_of(np.array([[0, 2], [2, 0], [2, 2], [2, 1], [0, 0]]), 3).tolist()
    [0, 1, 2, 3, 4]
    """
    t = rows.shape[1]
    lead = np.where(rows.any(axis=1), (rows != 0).argmax(axis=1), t)
    factor = inverses(q)[rows[np.arange(len(rows)), np.minimum(lead, t - 1)]]
    free = t - 1 - lead
    spelled = (rows * factor[:, None] % q) @ q ** np.arange(t - 1, -1, -1)
    starts = np.array([points(j, q) for j in range(t)])
    return np.where(free >= 0, spelled - q ** np.maximum(free, 0) + starts[free], points(t, q))


@lru_cache(maxsize=8)
def inverses(q: int) -> IntArray:
    """Return the inverses modulo a prime q of 0..q-1; 0 for 0."""
    # Fermat: a^(q-2), by squaring
    result, base, exponent = np.ones(q, dtype=np.int64), np.arange(q), q - 2
    while exponent:
        if exponent & 1:
            result = result * base % q
        base = base * base % q
        exponent >>= 1
    result[0] = 0
    result.flags.writeable = False
    return result


@lru_cache(maxsize=64)
def successors(d: int, q: int, size: int) -> NDArray[np.int32]:
    """Return what is left of the equations 0..size-1 in d >= 2 unknowns once the first unknown is 0..q-1, (size, q)."""
    table = np.empty((size, q), dtype=np.int32)
    step = max(1, TABLE_CELLS // (q * d))
    for start in range(0, size, step):
        rows = vectors(np.arange(start, min(start + step, size)), d + 1, q)
        constant = (rows[:, :1] + rows[:, 1:2] * np.arange(q)) % q
        rest = np.broadcast_to(rows[:, None, 2:], (*constant.shape, d - 1))
        left = np.concatenate([constant[:, :, None], rest], axis=2)
        table[start : start + step] = numbers_of(left.reshape(-1, d), q).reshape(-1, q)
    table.flags.writeable = False
    return table


def solutions(numbers: IntArray, d: int, q: int) -> IntArray:
    """Return how many y in F_q^d solve each equation; `numbers` are those of the vectors (s, w)."""
    impossible, no_condition = numbers == points(d, q), numbers == points(d + 1, q)
    return np.where(impossible, 0, np.where(no_condition, q**d, q ** max(d - 1, 0)))


def evenly(users: IntArray, cells: int, rng: np.random.Generator) -> IntArray:
    """Draw for every user one of the cells, all equally likely: counts ``(m, cells)`` of users ``(m,)``."""
    result = np.empty((len(users), cells), dtype=np.int64)
    few = users < cells  # then it is quicker to go user by user
    result[~few] = rng.multinomial(users[~few], np.full(cells, 1 / cells))
    row = np.repeat(np.arange(int(few.sum())), users[few])
    cell = row * cells + rng.integers(0, cells, size=len(row))
    result[few] = np.bincount(cell, minlength=int(few.sum()) * cells).reshape(-1, cells)
    return result


def spread(users: IntArray, d: int, q: int, rng: np.random.Generator) -> IntArray:
    """Draw for every user a solution of the user's equation, and count each y.

    users: ``(rows, equations)`` users by the number of their equation in d unknowns; the last equations may be left
        out.
    d, q: number of unknowns, at least 1, and of elements of the field, a prime.

    Returns ``(rows, q^d)`` counts of y, its coordinates read as a number in base q. The cost grows with ``d q^(d+1)``
    at most, and with the number of users not at all.
    """
    for unknowns in range(d, 1, -1):
        rows, size = users.shape
        table = successors(unknowns, q, size)
        zero = points(unknowns, q)  # in the equations that come next
        width = zero + 1
        held = np.nonzero(users)
        users, before = np.zeros(rows * q * width, dtype=np.int64), users[held]
        step = max(1, TABLE_CELLS // q)
        for start in range(0, len(before), step):
            row, equation = (index[start : start + step] for index in held)
            count = before[start : start + step]
            # An equation in the first unknown alone settles it; all values of it solve the others equally often.
            settled = _first_unknown_only(equation, unknowns, q)
            some, one = np.flatnonzero(~settled), np.flatnonzero(settled)
            after = (row[some, None] * q + np.arange(q)) * width + table[equation[some]]
            value = (table[equation[one]] == zero).argmax(axis=1)
            cells = np.concatenate([after.ravel(), (row[one] * q + value) * width + zero])
            users += tally(cells, np.concatenate([evenly(count[some], q, rng).ravel(), count[one]]), len(users))
        users = users.reshape(rows * q, width)
    result = np.zeros((len(users), q), dtype=np.int64)
    root = _roots(q)
    size = min(users.shape[1], q + 1)
    solvable = np.flatnonzero(root[:size] >= 0)
    result[:, root[solvable]] = users[:, solvable]
    if users.shape[1] > q + 1:
        result += evenly(users[:, q + 1], q, rng)
    return result.reshape(-1, q**d)


def collect(histogram: IntArray, d: int, q: int, size: int) -> IntArray:
    """Add up a histogram ``(rows, q^d)`` of y over the solutions of the equations 0..size-1: ``(rows, size)``."""
    cells = histogram.reshape(-1, q)
    values = np.zeros((len(cells), q + 2), dtype=np.int64)
    root = _roots(q)
    solvable = np.flatnonzero(root >= 0)
    values[:, solvable] = cells[:, root[solvable]]
    values[:, q + 1] = cells.sum(axis=1)
    for unknowns in range(2, d + 1):
        table = successors(unknowns, q, size if unknowns == d else points(unknowns + 1, q) + 1)
        below = values.reshape(-1, q, values.shape[1])
        values = np.zeros((len(below), len(table)), dtype=np.int64)
        for first in range(q):
            values += below[:, first, table[:, first]]
    return values[:, :size]


def _roots(q: int) -> IntArray:
    """Solution of each equation 0..q in one unknown; -1 for the one that has none."""
    # Point 0 is (0, 1): y = 0. Point 1 + a is (1, a): 1 + a y = 0, impossible for a = 0.
    root = np.concatenate([[0], (-inverses(q)) % q])
    root[1] = -1
    return root


def _first_unknown_only(equation: IntArray, d: int, q: int) -> NDArray[np.bool_]:
    """Whether the equation is one of ``s + w y_1 = 0``, w not 0: points (0, 1, 0, ..., 0) and (1, w, 0, ..., 0)."""
    offset = equation - points(d, q)
    return (equation == points(d - 1, q)) | ((offset > 0) & (offset < q**d) & (offset % q ** (d - 1) == 0))


def tally(cells: IntArray, weights: IntArray, size: int) -> IntArray:
    """Add weights up by cell; exact, since float64 holds integers up to 9e15."""
    return np.bincount(cells, weights=weights, minlength=size).astype(np.int64)
