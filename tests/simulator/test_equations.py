import itertools
import math

import numpy as np
import pytest

from simulator.protocols.equations import (
    collect,
    field,
    is_prime_power,
    numbers_of,
    points,
    smallest_divisor,
    solutions,
    spread,
    vectors,
)
from tests.cells import over

from .law import accept, all_points, chi_square_p, inner_products, moments_p, slow_field, stream


@over([2, 3, 4, 5, 7, 8, 9, 13, 16, 25, 27, 32, 49, 64, 81])
def test_sums_and_products_are_those_of_polynomials(q):
    sums, products = slow_field(q)
    a = np.arange(q)
    np.testing.assert_array_equal(field(q).add(a[:, None], a), sums)
    np.testing.assert_array_equal(field(q).mul(a[:, None], a), products)


@over([4, 8, 9, 16, 27, 121, 128, 243, 256, 257])
def test_the_axioms_of_a_field_hold(q):
    one, other = field(q), np.arange(q)
    a, b, c = np.random.default_rng(q).integers(0, q, size=(3, 50_000))
    np.testing.assert_array_equal(one.mul(a, one.add(b, c)), one.add(one.mul(a, b), one.mul(a, c)))
    np.testing.assert_array_equal(one.mul(a, one.mul(b, c)), one.mul(one.mul(a, b), c))
    np.testing.assert_array_equal(one.add(a, one.add(b, c)), one.add(one.add(a, b), c))
    assert (one.mul(other, one.inverses)[1:] == 1).all()
    assert one.inverses[0] == 0
    assert (one.add(other, one.negatives) == 0).all()
    assert (one.mul(a, b) == 0).tolist() == ((a == 0) | (b == 0)).tolist()


def test_prime_powers_and_inner_products_are_those_of_the_definition():
    for number in range(2, 600):
        divisors = [m for m in range(2, number + 1) if number % m == 0]
        assert smallest_divisor(number) == divisors[0]
        powers = {divisors[0] ** i for i in range(1, round(math.log2(number)) + 2)}
        assert is_prime_power(number) == (number in powers)
    left, right = np.random.default_rng(1).integers(0, 9, size=(2, 40, 3))
    np.testing.assert_array_equal(field(9).inner(left, right), inner_products(left, right, 9).diagonal())


@over([(1, 2), (1, 7), (2, 2), (2, 5), (3, 2), (3, 3), (4, 3), (5, 2), (3, 7), (3, 4), (2, 9)])
def test_points_are_numbered_in_order_and_up_to_a_factor(t, q):
    expected = all_points(t, q)
    total = points(t, q)
    assert len(expected) == total
    every = np.vstack([expected, np.zeros((1, t), dtype=int)])
    np.testing.assert_array_equal(vectors(np.arange(total + 1), t, q), every)
    for factor in range(1, q):
        np.testing.assert_array_equal(numbers_of(slow_field(q)[1][factor, every], q), np.arange(total + 1))
    # putting zeros in front keeps the number
    padded = np.hstack([np.zeros((total, 2), dtype=int), expected])
    np.testing.assert_array_equal(numbers_of(padded, q), np.arange(total))


def solved(d, q):
    """Which y in F_q^d solves which equation: ``(equations, q^d)``, by trying all."""
    equations = np.vstack([all_points(d + 1, q), np.zeros((1, d + 1), dtype=int)])
    y = np.array(list(itertools.product(range(q), repeat=d)))
    return inner_products(equations, np.hstack([np.ones((len(y), 1), dtype=int), y]), q) == 0


AFFINE = [(1, 2), (1, 5), (2, 2), (2, 3), (3, 2), (4, 2), (3, 3), (2, 5), (1, 4), (2, 4), (3, 4), (2, 9)]


@over(AFFINE)
def test_solutions_are_counted_collected_and_drawn_equally_often(d, q):
    table = solved(d, q)
    np.testing.assert_array_equal(solutions(np.arange(len(table)), d, q), table.sum(axis=1))
    histogram = stream("collect", d, q).integers(0, 50, size=(3, q**d))
    np.testing.assert_array_equal(collect(histogram, d, q, len(table)), histogram @ table.T)
    np.testing.assert_array_equal(collect(histogram, d, q, len(table) - 2), (histogram @ table.T)[:, :-2])
    users = 200 * q**d
    for equation in np.flatnonzero(table.any(axis=1)):
        held = np.zeros((1, len(table)), dtype=np.int64)
        held[0, equation] = users
        drawn = spread(held, d, q, stream("spread", d, q, int(equation)))[0]
        assert drawn.sum() == users
        assert not drawn[~table[equation]].any()
        observed = drawn[table[equation]].astype(float)
        if len(observed) > 1:
            assert accept(chi_square_p(observed, np.full(len(observed), users / len(observed))))


@pytest.mark.parametrize(("d", "q"), [(3, 2), (2, 4)])
def test_mixed_users_spread_like_users_one_by_one(d, q):
    # Merging users must not tie them together: variance and covariance of the histogram are the sums over users.
    times = 10_000
    table = solved(d, q)
    chance = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    held = np.where(table.any(axis=1), np.arange(len(table)) % 4, 0)
    drawn = spread(np.broadcast_to(held, (times, len(held))), d, q, stream("mixed", d, q))
    mean = held @ chance
    covariance = np.diag(mean) - (chance * held[:, None]).T @ chance
    assert all(map(accept, moments_p(drawn, mean, covariance)))
    assert not accept(moments_p(drawn, mean, np.diag(mean * (1 - mean / mean.sum())))[1])  # independent
