"""The standard normal distribution, without the modules that the one of the standard library imports."""

from __future__ import annotations

import math


def normal_quantile(probability: float) -> float:
    """Return the number that a standard normal variable is below with a probability: by Newton's steps on `math.erfc`.

    Raises ValueError if the probability is not between 0 and 1.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    if not 0 < probability < 1:
        raise ValueError(f"a probability must be above 0 and below 1, got {probability:g}")
    if probability > 0.5:
        return -normal_quantile(1 - probability)
    # Below the answer, where the distribution function is convex: the first step passes it, all others come back to it.
    now, last = -math.sqrt(-2 * math.log(probability)), -math.inf
    for _ in range(100):
        excess = math.erfc(-now / math.sqrt(2)) / 2 - probability
        last, now = now, now - excess * math.sqrt(2 * math.pi) * math.exp(now * now / 2)
        if abs(now - last) <= 1e-15 * abs(now):
            break
    return now
