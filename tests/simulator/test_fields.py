"""Arithmetic in finite fields, against schoolbook polynomials and the axioms."""

from __future__ import annotations

import math

import numpy as np

from simulator.protocols.fields import field, is_prime_power, smallest_divisor
from tests.cells import failures

from .slow_field import slow_field


def test_sums_and_products_are_those_of_polynomials():
    def check(q):
        sums, products = slow_field(q)
        a = np.arange(q)
        np.testing.assert_array_equal(field(q).add(a[:, None], a), sums)
        np.testing.assert_array_equal(field(q).mul(a[:, None], a), products)

    assert failures([2, 3, 4, 5, 7, 8, 9, 13, 16, 25, 27, 32, 49, 64, 81], check) == {}


def test_the_axioms_of_a_field_hold():
    def check(q):
        one, other = field(q), np.arange(q)
        a, b, c = np.random.default_rng(q).integers(0, q, size=(3, 50_000))
        np.testing.assert_array_equal(one.mul(a, one.add(b, c)), one.add(one.mul(a, b), one.mul(a, c)))
        np.testing.assert_array_equal(one.mul(a, one.mul(b, c)), one.mul(one.mul(a, b), c))
        np.testing.assert_array_equal(one.add(a, one.add(b, c)), one.add(one.add(a, b), c))
        assert (one.mul(other, one.inverses)[1:] == 1).all()
        assert one.inverses[0] == 0
        assert (one.add(other, one.negatives) == 0).all()
        assert (one.mul(a, b) == 0).tolist() == ((a == 0) | (b == 0)).tolist()

    assert failures([4, 8, 9, 16, 27, 121, 128, 243, 256, 257], check) == {}


def test_inner_products_are_sums_of_products():
    left, right = np.random.default_rng(1).integers(0, 9, size=(2, 40, 3))
    sums, products = slow_field(9)
    expected = [
        sums[sums[products[x[0], y[0]], products[x[1], y[1]]], products[x[2], y[2]]]
        for x, y in zip(left, right, strict=True)
    ]
    assert field(9).inner(left, right).tolist() == expected


def test_prime_powers_are_told_from_other_numbers():
    for number in range(2, 600):
        divisors = [m for m in range(2, number + 1) if number % m == 0]
        assert smallest_divisor(number) == divisors[0]
        powers = {divisors[0] ** i for i in range(1, round(math.log2(number)) + 2)}
        assert is_prime_power(number) == (number in powers)
