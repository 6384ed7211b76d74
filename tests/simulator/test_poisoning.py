import itertools

import numpy as np
import pytest

from simulator import frequency_oracles
from simulator.benchmark import Experiment
from simulator.channels import FixedChannel
from simulator.gains import gains
from simulator.methods import POSTPROCESSORS
from simulator.poisoning import ATTACKS, MAXIMAL, Attack, draw_targets
from simulator.populations import apportion, frequencies
from simulator.protocols import FrequencyOracle
from simulator.protocols.protocol import Tally
from simulator.protocols.square_wave import SquareWave
from tests.cells import over

from .law import accept, channel_of, stream, two_sided

PROTOCOLS = frequency_oracles()

K, N, SHARE = 40, 50_000, 0.05
COUNTS = apportion(frequencies("zipf", K), N)
TARGETS = draw_targets(K, 0)
FAKES = 2500


def gain_of(key, epsilon=1.0, *, repetitions, method="none"):
    oracle = PROTOCOLS[key](K, epsilon)
    attack = Attack(MAXIMAL, SHARE, tuple(TARGETS.tolist()))
    task = Experiment(COUNTS, {key: oracle}, POSTPROCESSORS, {}, ((key, method),), attack=attack)
    found = gains(task, task.pairs, repetitions=repetitions)
    return oracle, found[key, method]


def agrees(oracle, found, supports_of_one, repetitions):
    """Whether the mean gain is that of fakes who support so many of the r targets on average."""
    r, p, q = len(TARGETS), oracle.p, oracle.q
    honest = apportion(COUNTS, N - FAKES) / (N - FAKES)
    expected = SHARE * ((supports_of_one - r * q) / (p - q) - honest[TARGETS].sum())
    # The honest noise counts with the share of the fakes alone; what fakes add has at most r/4 variance each, and the
    # supports of one report add up to r at most.
    noise = SHARE * np.sqrt(r * oracle.variance(honest[TARGETS], N - FAKES).sum())
    fake = np.sqrt(FAKES * r * r / 4) / N / (p - q)
    return accept(two_sided((found - expected) / np.hypot(noise, fake) * np.sqrt(repetitions)))


@over(
    [*((key, 1.0, 50) for key in ("oue", "grr", "olh")), ("ss", 1.0, 10)],
    slow=[*((key, 1.0, 50) for key in ("the", "rappor", "blh")), ("ss", 3.5, 10)],
)
def test_gains_are_those_of_the_paper(key, epsilon, repetitions):
    oracle, found = gain_of(key, epsilon, repetitions=repetitions)
    size, r = getattr(oracle, "omega", 1), len(TARGETS)
    most, share = {"value": (1, 1 / K), "subset": (min(size, r), size / K)}.get(oracle.report_kind, (r, 1 / 2))
    if oracle.report_kind == "hash":
        share = 1 / oracle.g
    else:
        assert agrees(oracle, found["maximal_gain"], most, repetitions)
        assert not agrees(oracle, found["maximal_gain"], most - 0.4, repetitions)  # negative control
    assert agrees(oracle, found["random_value"], r * share, repetitions)
    assert found["maximal_gain"] > found["random_value"]


@pytest.mark.parametrize("key", [key for key, protocol in PROTOCOLS.items() if protocol.report_kind != "cells"])
@pytest.mark.parametrize(("k", "targets", "epsilon"), [(4, [1], 1.0), (5, [0, 3], 0.5), (6, [1, 2, 5], 1.2)])
def test_no_report_gains_more_than_the_maximal_gain(key, k, targets, epsilon):
    oracle, fakes, targets = PROTOCOLS[key](k, epsilon), 40, np.array(targets)
    most = max(oracle.estimate(support, 1)[targets].sum() for support in channel_of(oracle)[1])
    sent = oracle.crafted(targets, fakes, stream("maximum", key, k)).counts
    assert oracle.estimate(sent, fakes)[targets].sum() == pytest.approx(most, rel=1e-12)


def test_reports_that_can_be_sent_have_a_bounded_gain():
    rows = stream("matrix").dirichlet(np.ones(6), size=4)
    channel, targets, fakes = FixedChannel("m", "matrix", 0.9 * rows + 0.1 * np.eye(4, 6)), np.array([0, 2]), 40
    whole = channel.linear.estimate
    most = max(float(whole(Tally(np.eye(6)[output], 1))[targets].sum()) for output in range(6))
    sent = channel.crafted(targets, fakes, stream("matrix", "fakes"))
    assert whole(sent)[targets].sum() == pytest.approx(most, rel=1e-9)
    with pytest.raises(ValueError, match="nothing bounds what one fake report of she may claim"):
        gain_of("she", repetitions=2)


@pytest.mark.parametrize("key", ["hr", "pgr"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_random_symbols_are_even_draws_of_all(key, epsilon):
    oracle = PROTOCOLS[key](K, epsilon)
    reports = stream("even", key).integers(0, oracle.symbols, size=200_000)
    expected = oracle.support(reports) / 200_000
    got = oracle.random_fakes(200_000, stream("value", key)).counts / 200_000
    assert accept(two_sided((got - expected) / np.sqrt(2 / 200_000)))  # an entry of a report is within -1 and 1


def test_fake_reports_of_local_hashing_support_the_other_values_by_chance():
    sent = PROTOCOLS["olh"](256, 1.0).crafted(np.arange(10), 1000, stream("bound")).counts
    assert accept(two_sided((sent[10:] - 250) / np.sqrt(1000 * 3 / 16)))


@over([*itertools.product(["grr", "ss"], ATTACKS, [0.5, 1.0, 5.0]), ("oue", MAXIMAL, 1.0)])
def test_reports_of_a_fixed_size_stay_so_and_of_bits_have_as_many_as_are_usual(key, attack, epsilon):
    oracle, rng = PROTOCOLS[key](K, epsilon), stream("size", key)
    sent = (oracle.random_fakes(777, rng) if attack == "random_value" else oracle.crafted(TARGETS, 777, rng)).counts
    assert sent.sum() == 777 * round(oracle.p + (K - 1) * oracle.q)
    assert ((sent >= 0) & (sent <= 777)).all()


def test_members_of_other_packages_are_attacked_with_the_best_of_many_honest_reports():
    class Foreign(FrequencyOracle):
        key, title, reference = "foreign", "Foreign", ""
        p = property(lambda self: PROTOCOLS["oue"](self.k, self.epsilon).p)
        q = property(lambda self: PROTOCOLS["oue"](self.k, self.epsilon).q)
        report_bits, attack_success = 1, 0.5
        perturb = PROTOCOLS["oue"].perturb
        support = PROTOCOLS["oue"].support
        sample_support = PROTOCOLS["oue"].sample_support

    sent = Foreign(K, 1.0).crafted(TARGETS, 10, stream("foreign")).counts
    assert sent[TARGETS].sum() >= 30  # of forty: the best of a thousand reports supports at least three of the four


def test_targets_and_gains_follow_the_seed_and_consistency_limits_them():
    assert np.array_equal(draw_targets(1000, 1), draw_targets(1000, 1))
    assert not np.array_equal(draw_targets(1000, 1), draw_targets(1000, 2))
    assert [len(draw_targets(k, 0)) for k in (2, 19, 40, 1000)] == [1, 1, 4, 10]
    assert gain_of("olh", repetitions=3) == gain_of("olh", repetitions=3)
    raw, projected = (
        gain_of("oue", method=method, repetitions=10)[1]["maximal_gain"] for method in ("none", "norm_sub")
    )
    assert 0 < projected < raw


@pytest.mark.parametrize("share", [0.0, 1.0, 0.99999])
def test_a_share_must_leave_honest_users(share):
    with pytest.raises(ValueError, match="leaves no honest one"):
        Attack(MAXIMAL, share, (0,)).fakes(5)


@pytest.mark.parametrize(("k", "epsilon"), [(5, 0.5), (20, 1.0), (20, 3.0)])
def test_places_of_a_square_wave_that_fakes_send_are_those_where_the_targets_are_likeliest(k, epsilon):
    wave, targets = SquareWave(k, epsilon), np.array([1, k - 2])
    likelihood = np.full((k, wave.symbols), wave.q)
    for value in range(k):
        likelihood[value, value : value + wave.width] = wave.p
    chance = likelihood[targets].sum(axis=0) / likelihood.sum(axis=0)
    sent = wave.crafted(targets, 1000, stream("wave", k)).counts
    assert sent.sum() == 1000
    np.testing.assert_array_equal(sent > 0, np.isclose(chance, chance.max(), rtol=1e-12))
