"""Probabilities of clients as whole numbers out of 2^64, rounded so that the promise still holds."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from functools import lru_cache

WORD = 2**64  # what clients draw: whole numbers below it
BITS = 256  # of the lower bound of e^x after the point
DIGITS = 40  # of logarithms, before they are rounded up to `SHOWN`
SHOWN = 22


def exact(epsilon: float) -> Fraction:
    """Return a budget as it is written: 0.1 is one tenth, not the float next to it."""
    return Fraction(repr(float(epsilon)))


@lru_cache(maxsize=256)
def exp_below(x: Fraction) -> Fraction:
    """Return a fraction that is at most e^x for x of at least 0, and within 2^-200 of it relatively.

    The terms of the series are positive, so that each partial sum lies below; what is cut off lies below too.
    """
    total, term, index = Fraction(1), Fraction(1), 1
    while term * 2**BITS > 1 or index <= x:
        term = Fraction(int(term * x / index * 2 ** (2 * BITS)), 2 ** (2 * BITS))  # cut off: fractions stay short
        total += term
        index += 1
    return Fraction(int(total * 2**BITS), 2**BITS)


def threshold(epsilon: float, true_odds: int, false_odds: int) -> int:
    """Return the largest T out of 2^64 with which symbols of the one kind are at most e^epsilon times as likely.

    own, other: symbols that share T / 2^64 evenly, and symbols that share the rest of 1.

    T is rounded down, so that T / own is at most e^epsilon times (2^64 - T) / other.
    """
    e = exp_below(exact(epsilon))
    return int(WORD * true_odds * e / (true_odds * e + false_odds))


def ratio(chance: int, own: int, other: int) -> Fraction:
    """Return how much likelier each of `own` symbols is than each of the others, for a threshold `chance`."""
    return Fraction(chance * other, (WORD - chance) * own)


def log_above(number: Fraction) -> str:
    """Return the logarithm of a fraction of at least 1 as a decimal that is not below it.

    >>> log_above(Fraction(2))
    '0.6931471805599453094173'
    """
    up = Context(prec=DIGITS, rounding=ROUND_CEILING)
    above = up.divide(
        up.create_decimal(number.numerator),
        Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal(number.denominator),
    )
    # Decimal.ln is rounded to the nearest, so that one unit in the last place is added.
    return format(Context(prec=SHOWN, rounding=ROUND_CEILING).plus(up.next_plus(up.ln(above))).normalize(), "f")
