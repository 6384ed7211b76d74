"""Arithmetic in finite fields of prime or prime-power order."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from simulator._types import IntArray


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


@lru_cache(maxsize=32)
def field(q: int) -> Field:
    """Return the field of q elements."""
    return Field(q)


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
