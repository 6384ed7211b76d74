"""The probability that the best single guess from one report is right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from simulator import frequency_oracles
from simulator.attacks import expected_inverse, independent_support_attack
from simulator.hashing import HASHES
from tests.cells import failures

from .law import accept, channel_of, oracle_of, stream, two_sided

PROTOCOLS = frequency_oracles()

USERS = 20_000


def supports(oracle, reports):
    """Which values each report supports, ``(n, k)``."""
    if oracle.key == "grr":
        return reports[:, None] == np.arange(oracle.k)
    if oracle.key == "ss":
        return (reports[:, :, None] == np.arange(oracle.k)).any(axis=1)
    if oracle.key in {"blh", "olh"}:
        return HASHES[oracle.hash](np.arange(oracle.k), reports[:, :1], oracle.g) == reports[:, 1:]
    if oracle.key in {"hr", "pgr"}:
        return channel_of(oracle)[1][reports] == 1
    if oracle.key == "she":  # no sets: the largest cell
        return reports == reports.max(axis=1, keepdims=True)
    return reports.astype(bool)


def guess(sets, rng):
    """Uniform in the support set, or in the whole domain when it is empty."""
    empty = ~sets.any(axis=1, keepdims=True)
    return np.where(sets | empty, rng.random(sets.shape), -1.0).argmax(axis=1)


def test_closed_form_is_what_an_attacker_reaches():
    def check(cell):
        key, (k, epsilon) = cell
        oracle, rng = oracle_of(key, k, epsilon), stream("attack", key, k, repr(epsilon))
        values = rng.integers(0, k, size=USERS)
        sets = supports(oracle, oracle.perturb(values, rng))
        hits = (guess(sets, rng) == values).mean()
        a = oracle.attack_success
        se = np.sqrt(a * (1 - a) / USERS)
        assert accept(two_sided((hits - a) / se))
        # Negative control: 5 % more than the closed form is told apart wherever the sample can do it.
        if 0.05 * a > 14 * se:
            assert not accept(two_sided((hits - 1.05 * a) / se))

    assert failures(itertools.product(PROTOCOLS, [(2, 1.0), (5, 3.0), (40, 0.5)]), check) == {}


def test_closed_form_is_the_sum_over_set_sizes():
    def check(cell):
        k, (p, q) = cell
        m = np.arange(k)
        others = stats.binom.pmf(m, k - 1, q)
        direct = p * (others / (1 + m)).sum() + (1 - p) * (1 - q) ** (k - 1) / k
        # scipy's binomial probabilities carry about 1e-12
        assert independent_support_attack(k, p, q) == pytest.approx(direct, rel=1e-10)
        assert expected_inverse(k - 1, q) == pytest.approx((others / (1 + m)).sum(), rel=1e-10)

    cells = itertools.product([2, 3, 10, 300], [(0.5, 0.3), (0.9, 0.1), (0.5, 1e-9), (0.99, 0.5), (0.7, 0.0)])
    assert failures(cells, check) == {}


def test_an_attacker_gains_with_the_budget_and_ends_between_guessing_and_knowing():
    def check(key):
        for k in (2, 10, 500):
            successes = [oracle_of(key, k, epsilon).attack_success for epsilon in (1e-6, 0.5, 2.0, 5.0, 12.0)]
            assert successes[0] == pytest.approx(1 / k, rel=1e-5)  # a budget of 1e-6 changes the odds by about 1e-6
            assert all(0 < s < 1 for s in successes)
            if key in {"grr", "ss", "rappor"}:
                assert all(a < b for a, b in itertools.pairwise(successes))

    assert failures(PROTOCOLS, check) == {}
