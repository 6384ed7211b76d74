"""Several columns of one user at once: who reports which, at which budget.

What is kept low is the mean over the columns of the mean squared error of a category. Reports are of the whole budget
and of one column each (sampling), or of all columns and parts of the budget (splitting).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from simulator._types import FloatArray

PARTS = 64  # into which a budget is divided


def sampling_shares(single: FloatArray, spread: FloatArray) -> FloatArray:
    """Return the share of the users that reports each column, ``(d,)``.

    single: mean variance of the estimates of a category from one report at the whole budget, ``(d,)``.
    spread: mean of ``f (1 - f)``, ``(d,)``: who reports a column is a sample of all users.

    A column with share s has the error ``(single + spread) / (s n) - spread / n``, and by the inequality of Cauchy and
    Schwarz their sum is lowest where s is as the square root of what it divides.
    """
    roots = np.sqrt(single + spread)
    result: FloatArray = roots / roots.sum()
    return result


def sampling_errors(single: FloatArray, spread: FloatArray, shares: FloatArray, n: int) -> FloatArray:
    """Return the mean squared error of a category of each column, ``(d,)``."""
    result: FloatArray = ((single + spread) / shares - spread) / n
    return result


def split_budgets(error: Sequence[Callable[[float], float]], epsilon: float) -> FloatArray:
    """Return the budgets ``(d,)`` of all columns that make the sum of their errors lowest, in parts of epsilon.

    error: of each column at a budget, falling and convex. Then giving one part after the other to the column that it
    helps most is best.

    Raises
    ------
    ValueError
        If there are more columns than parts.
    """
    d = len(error)
    if d > PARTS:
        raise ValueError(f"a budget has {PARTS} parts, got {d} columns")
    parts = np.ones(d, dtype=np.int64)
    now = np.array([one(epsilon / PARTS) for one in error])
    after = np.array([one(2 * epsilon / PARTS) for one in error])
    for _ in range(PARTS - d):
        most = int(np.argmax(now - after))
        parts[most] += 1
        now[most], after[most] = after[most], error[most]((parts[most] + 1) * epsilon / PARTS)
    result: FloatArray = parts * epsilon / PARTS
    return result
