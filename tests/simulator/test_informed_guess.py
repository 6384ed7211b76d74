from itertools import product

import numpy as np
import pytest

from simulator import PROTOCOLS
from simulator.attacks import MOST_SYMBOLS
from tests.cells import over

from .law import channel_of, stream

K, SETTINGS = 6, ((6, 0.5), (6, 2.0), (13, 1.0))


@over(product(("grr", "rappor", "oue", "ss", "hr", "pgr"), (0.3, 1.0, 1.5, 3.0)))
def test_likelihoods_of_all_reports_give_the_same(key, epsilon):
    oracle, f = PROTOCOLS[key](K, epsilon), np.array([0.05, 0.4, 0.1, 0.25, 0.15, 0.05])
    chance, _ = channel_of(oracle)
    assert oracle.informed_guess(f) == pytest.approx((f[:, None] * chance).max(axis=0).sum(), rel=1e-9)


def test_of_equally_likely_values_it_is_the_known_success():
    wrong = [
        (key, k, epsilon)
        for key, kind in PROTOCOLS.items()
        for k, epsilon in SETTINGS
        if (guess := kind(k, epsilon).informed_guess(np.full(k, 1 / k))) is not None
        and guess != pytest.approx(kind(k, epsilon).attack_success, rel=1e-3)  # of summation it is a sum of steps
    ]
    assert not wrong


def test_it_is_never_below_a_guess_without_a_report_nor_above_what_epsilon_allows():
    rng = stream("informed", "bounds")
    for (key, kind), (k, epsilon) in product(PROTOCOLS.items(), SETTINGS):
        f = rng.dirichlet(np.full(k, 0.5))
        guess = kind(k, epsilon).informed_guess(f)
        assert guess is not None, key
        assert f.max() * (1 - 1e-3) <= guess <= min(1.0, f.max() * np.exp(epsilon) * (1 + 1e-3)), key


def test_of_many_symbols_sets_are_taken_for_random_and_that_is_near():
    f = 1 / np.arange(1, 1001)
    f /= f.sum()
    small, large = (PROTOCOLS["pgr"](k, 1.0) for k in (1000, 8000))
    assert small.symbols <= MOST_SYMBOLS < large.symbols
    padded = np.append(f, np.zeros(7000))
    assert large.informed_guess(padded) == pytest.approx(small.informed_guess(f) or 0.0, rel=0.02)
