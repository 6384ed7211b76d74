"""Finite fields by schoolbook arithmetic of polynomials: slow, and independent of the tables of `simulator`."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np


def polynomial(number: int, p: int) -> list[int]:
    """Coefficients, the constant first, of the polynomial that a number spells in base p."""
    digits = []
    while number:
        number, digit = divmod(number, p)
        digits.append(digit)
    return digits


def remainder(dividend: list[int], divisor: list[int], p: int) -> list[int]:
    """What a division by a monic polynomial leaves."""
    rest = list(dividend)
    for shift in range(len(rest) - len(divisor), -1, -1):
        factor = rest[shift + len(divisor) - 1]
        for place, coefficient in enumerate(divisor):
            rest[shift + place] = (rest[shift + place] - factor * coefficient) % p
    return rest[: len(divisor) - 1]


def product(a: int, b: int, modulus: list[int], p: int) -> int:
    left, right = polynomial(a, p), polynomial(b, p)
    whole = [0] * (len(left) + len(right))
    for i, j in itertools.product(range(len(left)), range(len(right))):
        whole[i + j] = (whole[i + j] + left[i] * right[j]) % p
    return sum(digit * p**place for place, digit in enumerate(remainder(whole, modulus, p)))


def order_of_x(modulus: list[int], p: int, q: int) -> int:
    """How many steps of multiplying by x lead from 1 to 1, or q where none up to q do."""
    power = 1
    for step in range(1, q):
        power = product(power, p, modulus, p)
        if power == 1:
            return step
    return q


@cache
def slow_field(q: int):
    """Tables of sums and products, ``(q, q)`` each."""
    p = next(m for m in range(2, q + 1) if q % m == 0)
    if p == q:
        elements = np.arange(q)
        return (elements[:, None] + elements) % q, elements[:, None] * elements % q
    m = next(m for m in range(2, q) if p**m == q)
    for low in range(1, q):
        digits = polynomial(low, p)
        modulus = [(-digit) % p for digit in digits + [0] * (m - len(digits))] + [1]
        if order_of_x(modulus, p, q) == q - 1:
            break
    sums, products = np.empty((q, q), dtype=int), np.empty((q, q), dtype=int)
    for a, b in itertools.product(range(q), repeat=2):
        pairs = itertools.zip_longest(polynomial(a, p), polynomial(b, p), fillvalue=0)
        sums[a, b] = sum((x + y) % p * p**place for place, (x, y) in enumerate(pairs))
        products[a, b] = product(a, b, modulus, p)
    return sums, products


def all_points(t: int, q: int):
    """Vectors whose first coordinate other than 0 is 1, in the order of the numbers they spell."""
    space = itertools.product(range(q), repeat=t)
    return np.array([point for point in space if any(point) and next(filter(None, point)) == 1])


def inner_products(rows, columns, q: int):
    """Inner products ``(m, l)`` of vectors ``(m, t)`` and ``(l, t)``, coordinate by coordinate."""
    sums, products = slow_field(q)
    result = np.zeros((len(rows), len(columns)), dtype=int)
    for place in range(rows.shape[1]):
        result = sums[result, products[rows[:, place][:, None], columns[:, place]]]
    return result
