"""Gains of poisoning attacks on raw estimates against the formulas of Cao et al. (2021), and fakes that can be sent."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.hashing import HASHES, SEED_BITS
from simulator.methods import POSTPROCESSORS
from simulator.poisoning import ATTACKS, draw_targets, gains
from simulator.poisoning.fakes import maximal_gain, random_value
from simulator.populations import apportion, frequencies
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.fakes import GROUPS
from simulator.protocols.local_hashing import HASHES_TRIED

from .law import accept, stream, two_sided

K, N, SHARE = 40, 50_000, 0.05
COUNTS = apportion(frequencies("zipf", K), N)
TARGETS = draw_targets(K, 0)
FAKES = 2500


def gain_of(key, epsilon=1.0, repetitions=200, method="none"):
    oracle = PROTOCOLS[key](K, epsilon)
    found = gains(
        COUNTS, {key: oracle}, POSTPROCESSORS, [(key, method)],
        share=SHARE, targets=TARGETS, repetitions=repetitions, seed=0,
    )  # fmt: skip
    return oracle, found[key, method]


def agrees(oracle, found, supports_of_one, repetitions=200):
    """Whether the mean gain is that of fakes who support so many of the r targets on average."""
    r, p, q = len(TARGETS), oracle.p, oracle.q
    honest = apportion(COUNTS, N - FAKES) / (N - FAKES)
    expected = SHARE * ((supports_of_one - r * q) / (p - q) - honest[TARGETS].sum())
    # The honest noise counts with the share of the fakes alone; what fakes add has at most r/4 variance each, and the
    # supports of one report add up to r at most.
    noise = SHARE * np.sqrt(r * oracle.variance(honest[TARGETS], N - FAKES).sum())
    fake = np.sqrt(FAKES * r * r / 4) / N / (p - q)
    return accept(two_sided((found - expected) / np.hypot(noise, fake) * np.sqrt(repetitions)))


@pytest.mark.parametrize("key", ["rappor", "oue", "the"])
def test_gains_on_unary_encodings_are_those_of_the_paper(key):
    oracle, found = gain_of(key)
    assert agrees(oracle, found["maximal_gain"], len(TARGETS))
    assert agrees(oracle, found["random_value"], len(TARGETS) / 2)
    assert not agrees(oracle, found["maximal_gain"], 0.9 * len(TARGETS))  # negative control


def test_gains_on_randomised_response_are_those_of_the_paper():
    oracle, found = gain_of("grr")
    assert agrees(oracle, found["maximal_gain"], 1)
    assert agrees(oracle, found["random_value"], len(TARGETS) / K)


@pytest.mark.parametrize("epsilon", [1.0, 3.5])
def test_gains_on_subset_selection(epsilon):
    oracle, found = gain_of("ss", epsilon, repetitions=40)
    assert agrees(oracle, found["maximal_gain"], min(oracle.omega, len(TARGETS)), 40)
    assert agrees(oracle, found["random_value"], len(TARGETS) * oracle.omega / K, 40)


@pytest.mark.parametrize("key", ["blh", "olh"])
def test_random_reports_do_not_help_with_local_hashing(key):
    oracle, found = gain_of(key)
    assert agrees(oracle, found["random_value"], len(TARGETS) / oracle.g)
    assert found["maximal_gain"] > found["random_value"]


@pytest.mark.parametrize("key", ["hr", "pgr"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_best_symbols_are_the_best_of_all(key, epsilon):
    oracle = PROTOCOLS[key](K, epsilon)
    symbols = oracle.symbols if key == "pgr" else oracle.blocks * oracle.block_size
    best = max(int(oracle.support(np.array([symbol]))[TARGETS].sum()) for symbol in range(symbols))
    sent = maximal_gain(oracle, TARGETS, FAKES, stream("symbols", key)).counts
    assert sent[TARGETS].sum() == best * FAKES
    reports = stream("even", key).integers(0, symbols, size=200_000)
    expected = oracle.support(reports) / 200_000
    got = random_value(oracle, TARGETS, 200_000, stream("value", key)).counts / 200_000
    assert accept(two_sided((got - expected) / np.sqrt(2 / 200_000)))  # an entry of a report is within -1 and 1


def test_hashes_are_the_best_of_those_tried():
    oracle = PROTOCOLS["olh"](K, 1.0)
    sent = maximal_gain(oracle, TARGETS, GROUPS, stream("hashes")).counts
    rng, best = stream("hashes"), 0
    for _ in range(GROUPS):
        for seed in rng.integers(0, 2**SEED_BITS, size=HASHES_TRIED):
            symbols = HASHES["mix64"](TARGETS, np.array([seed]), oracle.g)
            best = max(best, int(np.bincount(symbols).max()))
    assert sent[TARGETS].sum() == best * GROUPS  # four targets of three symbols: all collide somewhere in a thousand


@pytest.mark.parametrize("key", ["grr", "ss"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_reports_of_a_fixed_size_stay_so(key, attack):
    for epsilon in (0.5, 1.0, 5.0):
        oracle = PROTOCOLS[key](K, epsilon)
        sent = ATTACKS[attack](oracle, TARGETS, 777, stream("size", key)).counts
        assert sent.sum() == 777 * getattr(oracle, "omega", 1)
        assert ((sent >= 0) & (sent <= 777)).all()


def test_unary_fakes_have_as_many_ones_as_are_usual():
    oracle = PROTOCOLS["oue"](K, 1.0)
    sent = maximal_gain(oracle, TARGETS, 100, stream("ones")).counts
    assert (sent[TARGETS] == 100).all()
    assert sent.sum() == 100 * round(oracle.p + (K - 1) * oracle.q)


def test_numbers_without_a_bound_have_no_gain():
    assert gain_of("she", repetitions=2)[1] == {"random_value": None, "maximal_gain": None}


def test_members_of_other_packages_are_attacked_with_the_best_of_many_honest_reports():
    class Foreign(FrequencyOracle):
        key, title, reference = "foreign", "Foreign", ""
        p = property(lambda self: PROTOCOLS["oue"](self.k, self.epsilon).p)
        q = property(lambda self: PROTOCOLS["oue"](self.k, self.epsilon).q)
        report_bits, attack_success = 1, 0.5
        perturb = PROTOCOLS["oue"].perturb
        support = PROTOCOLS["oue"].support
        sample_support = PROTOCOLS["oue"].sample_support

    sent = maximal_gain(Foreign(K, 1.0), TARGETS, 10, stream("foreign")).counts
    assert sent[TARGETS].sum() >= 30  # of forty: the best of a thousand reports supports at least three of the four


def test_consistency_limits_the_gain():
    raw, projected = (
        gain_of("oue", method=method, repetitions=10)[1]["maximal_gain"] for method in ("none", "norm_sub")
    )
    assert 0 < projected < raw


def test_targets_and_gains_follow_the_seed():
    assert np.array_equal(draw_targets(1000, 1), draw_targets(1000, 1))
    assert not np.array_equal(draw_targets(1000, 1), draw_targets(1000, 2))
    assert [len(draw_targets(k, 0)) for k in (2, 19, 40, 1000)] == [1, 1, 4, 10]
    assert gain_of("olh", repetitions=3) == gain_of("olh", repetitions=3)


@pytest.mark.parametrize("share", [0.0, 1.0, 0.99999])
def test_a_share_must_leave_honest_users(share):
    with pytest.raises(ValueError, match="leaves no honest one"):
        gains(np.array([3, 2]), {}, {}, [], share=share, targets=np.array([0]), repetitions=1, seed=0)
