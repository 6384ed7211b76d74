"""What is odd about an estimate, and yet possible: its sum, and how far it spreads. Warned of, never refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simulator import Noise
from simulator._types import FloatArray

CHANCE = 1e-3  # probability of a warning for an estimate that is as stated
FEWEST = 8  # categories from which a spread is looked at
FEWEST_SUPPORTS = 10.0  # variance of a support count from which its noise is normal enough
SHARES = (0.5, 0.75, 0.9)  # of the values that may lie closer together than their noise allows
DIGITS = 12  # decimals to which values may have been rounded
PRECISION = 1e-9  # relative: sums of figures that are not rounded further


def sum_doubt(values: FloatArray, noise: Noise, protocol: str) -> str | None:
    """Return a warning for an estimate of a protocol whose raw estimates sum to 1, if this one does not.

    values: ``(k,)`` as they were given, frequencies or counts.

    How far a sum may be off is what the decimals of the values leave open: half a unit of the last one for each.
    """
    if not noise.sums_to_one:
        return None
    total = float(values.sum())
    whole = float(noise.n) if abs(total / noise.n - 1) < abs(total - 1) else 1.0
    decimals = next((at for at in range(DIGITS + 1) if np.allclose(values, values.round(at), rtol=0, atol=1e-14)), None)
    rounding = 0.0 if decimals is None else len(values) * 0.5 * 10.0**-decimals
    if abs(total - whole) <= rounding + PRECISION * whole:
        return None
    return (
        f"a raw estimate of {protocol} sums to exactly {whole:,.0f}, and this one to {total:,.7g}: it was changed "
        "before, a category is missing, or the protocol or n is another one; the answer is less sure"
    )


def spread_doubt(values: FloatArray, noise: Noise) -> str | None:
    """Return a warning for frequencies ``(k,)`` that spread too much or too little for their noise, by some factor."""
    counts = None if noise.q is None else noise.n * noise.q * (1 - noise.q)
    if len(values) < FEWEST or not noise.sd or (counts is not None and counts < FEWEST_SUPPORTS):
        return None
    more, less = _times_more(values, noise), _times_less(values, noise)
    if more > 1:
        what, which = _factor(more, "more than", "times as far as"), "eps or n is smaller than given"
    elif less > 1:
        what, which = (
            _factor(less, "less than", "times less than"),
            "eps or n is larger than given, or it was smoothed before",
        )
    else:
        return None
    return (
        f"the values of the estimate spread {what} the noise of this protocol at this eps and n explains "
        f"(standard deviation {noise.sd:.3g}): {which}, or the protocol is another one; check them first, the answer, "
        "its error and the intervals depend on it"
    )


def _factor(factor: float, percent: str, times: str) -> str:
    """Return by how much, at least.

    >>> _factor(1.024, "more than", "times as far as"), _factor(2.31, "more than", "times as far as")
    ('at least 2 % more than', 'at least 2.3 times as far as')
    """
    return f"at least {100 * (factor - 1):.1g} % {percent}" if factor < 1.1 else f"at least {factor:.2g} {times}"


def _times_more(values: FloatArray, noise: Noise) -> float:
    """Return how many times as large as it is the noise must be, at least, for the values below 0; 1 if it need not be.

    Were every true frequency 0, half of the values would lie below 0, and their squares, in units of the variance,
    would add up to a chi-squared variable of as many degrees of freedom. True frequencies above 0 only make it smaller.
    """
    from scipy.special import chdtrc, gammaln  # a tenth of what scipy.stats takes to load

    k = len(values)
    squares = float((np.minimum(values, 0.0) ** 2 / noise.line(values)[0]).sum())
    below = np.arange(1, k + 1)
    weights = np.exp(gammaln(k + 1) - gammaln(below + 1) - gammaln(k - below + 1) - k * math.log(2))  # binomial

    def chance(scale: float) -> float:
        return float((weights * chdtrc(below, squares / scale**2)).sum())

    return _smallest(chance)


def _smallest(chance: Callable[[float], float]) -> float:
    """Return the smallest factor from 1 on at which something is not too rare; 1 where it is not rare at all."""
    low, high = 1.0, 2.0
    if chance(low) >= CHANCE:
        return 1.0
    while chance(high) < CHANCE and high < 1e6:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) < CHANCE else (low, middle)
    return high


def _times_less(values: FloatArray, noise: Noise) -> float:
    """Return how many times smaller than it is the noise must be, at least, for values that lie close together.

    Whatever the true frequencies are, noise of standard deviation s puts a value into an interval of width w with
    probability P(|N| < w / 2s) at most. So the chance that some interval that begins at a value holds m of the k
    is at most k P(Bin(k - 1, that) >= m - 1). Here m are a half and more of k, and w the narrowest such intervals; each
    of them is allowed its part of the chance.
    """
    from scipy.special import bdtrc

    k, ordered = len(values), np.sort(values)
    at_zero, slope = noise.line(values)
    least = float(np.min(at_zero)) + min(0.0, float(np.min(slope)))  # of any value, whatever its true frequency is
    if least <= 0:
        return 1.0
    # Counts are whole numbers: what is alike may differ by less than one of them.
    step = 0.0 if noise.p is None or noise.q is None else 1 / (noise.n * (noise.p - noise.q))

    def factor(m: int) -> float:
        width = float((ordered[m - 1 :] - ordered[: k - m + 1]).min()) + step

        def chance(scale: float) -> float:
            inside = math.erf(width * scale / (2 * math.sqrt(2 * least)))
            return len(SHARES) * k * float(bdtrc(m - 2, k - 1, inside))

        return _smallest(chance)

    return max(factor(math.floor(share * k) + 1) for share in SHARES)
