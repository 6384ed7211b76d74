"""The best guess of who knows the frequencies, against enumeration of all reports and against simulation."""

from itertools import combinations, product

import numpy as np
import pytest

from simulator import PROTOCOLS
from simulator.attacks import MOST_SYMBOLS

from .law import stream

K, SETTINGS = 6, ((6, 0.5), (6, 2.0), (13, 1.0))


def test_likelihoods_of_all_reports_give_the_same() -> None:
    """Sum over all reports of the largest frequency times likelihood, as written down from the definitions."""
    f = np.array([0.05, 0.4, 0.1, 0.25, 0.15, 0.05])
    for epsilon in (0.3, 1.0, 3.0):
        grr, oue, ss = (PROTOCOLS[key](K, epsilon) for key in ("grr", "oue", "ss"))
        assert grr.informed_guess(f) == pytest.approx(
            sum(max(f[v] * (grr.p if v == y else grr.q) for v in range(K)) for y in range(K))
        )
        bits = [
            max(
                f[v] * np.prod([(p if b else 1 - p) for u, b in enumerate(y) for p in [oue.p if u == v else oue.q]])
                for v in range(K)
            )
            for y in product((0, 1), repeat=K)
        ]
        assert oue.informed_guess(f) == pytest.approx(sum(bits))
        inside, outside = (len(list(combinations(range(K - 1), size))) for size in (ss.omega - 1, ss.omega))
        subsets = [
            max(f[v] * (ss.p / inside if v in y else (1 - ss.p) / outside) for v in range(K))
            for y in combinations(range(K), ss.omega)
        ]
        assert ss.informed_guess(f) == pytest.approx(sum(subsets))


def test_of_equally_likely_values_it_is_the_known_success() -> None:
    wrong = [
        (key, k, epsilon)
        for key, kind in PROTOCOLS.items()
        for k, epsilon in SETTINGS
        if (guess := kind(k, epsilon).informed_guess(np.full(k, 1 / k))) is not None
        and guess != pytest.approx(kind(k, epsilon).attack_success, rel=1e-3)  # of summation it is a sum of steps
    ]
    assert not wrong


def test_it_is_never_below_a_guess_without_a_report_nor_above_what_epsilon_allows() -> None:
    rng = stream("informed", "bounds")
    for (key, kind), (k, epsilon) in product(PROTOCOLS.items(), SETTINGS):
        f = rng.dirichlet(np.full(k, 0.5))
        guess = kind(k, epsilon).informed_guess(f)
        assert guess is not None, key
        assert f.max() * (1 - 1e-3) <= guess <= min(1.0, f.max() * np.exp(epsilon) * (1 + 1e-3)), key


def test_an_attacker_who_keeps_to_the_rule_has_this_success() -> None:
    """Simulated reports of what supports sets: name the likeliest value by frequency and support."""
    k, epsilon, users = 9, 1.5, 40_000
    rng = stream("informed", "attack")
    f = rng.dirichlet(np.full(k, 0.7))
    for key in ("olh", "hr", "pgr", "rappor"):
        protocol = PROTOCOLS[key](k, epsilon)
        values = rng.choice(k, users, p=f)
        reports = protocol.perturb(values, rng)
        supported = np.stack([protocol.supports(reports, (v, v)).first for v in range(k)], axis=1)
        ratio = {"hr": np.exp(epsilon), "pgr": np.exp(epsilon)}.get(key) or (
            protocol.p * (1 - protocol.q) / (protocol.q * (1 - protocol.p))
        )
        right = ((f * np.where(supported, ratio, 1.0)).argmax(axis=1) == values).mean()
        guess = protocol.informed_guess(f)
        assert guess is not None
        assert abs(right - guess) < 4 * np.sqrt(guess / users), key


def test_of_many_symbols_sets_are_taken_for_random_and_that_is_near() -> None:
    f = 1 / np.arange(1, 1001)
    f /= f.sum()
    small, large = (PROTOCOLS["pgr"](k, 1.0) for k in (1000, 8000))
    assert small.symbols <= MOST_SYMBOLS < large.symbols
    padded = np.append(f, np.zeros(7000))
    assert large.informed_guess(padded) == pytest.approx(small.informed_guess(f) or 0.0, rel=0.02)
