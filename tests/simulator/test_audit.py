"""Audits of our own protocols: exact intervals, closed forms against slower references, trials against closed forms."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from simulator import frequency_oracles
from simulator.attacks import Supports, expected_inverse
from simulator.audit import ATTACKS, audit_protocol, ceiling, clopper_pearson, hashing_subject, run_audit
from simulator.audit.closed_form import hashing_only, log_ratio
from simulator.audit.confidence import lowest_likely, ratio_bounds
from simulator.audit.run import protocol_subject
from simulator.protocols import FrequencyOracle
from tests.cells import failures

from .law import channel_of, oracle_of, stream

PROTOCOLS = frequency_oracles()

SETTINGS = [(2, 0.5), (3, 1.0), (12, 1.0), (40, 2.5)]
RARE = 1e-6  # probability that the trials of this file together contradict what they should agree with


def test_intervals_are_scipys_exact_ones():
    def check(cell):
        (successes, trials), alpha = cell
        exact = stats.binomtest(successes, trials).proportion_ci(1 - alpha, method="exact")
        # scipy finds its limits by bisection, to about 1e-12
        assert clopper_pearson(successes, trials, alpha) == pytest.approx((exact.low, exact.high), rel=1e-8, abs=1e-12)

    assert failures(itertools.product([(0, 50), (50, 50), (3, 50), (499_000, 10**6), (1, 1)], [0.01, 0.2]), check) == {}


def test_ceiling_is_the_published_one():
    assert ceiling(10**4, 0.01) == pytest.approx(7.42, abs=0.005)
    assert ceiling(10**6, 0.01) == pytest.approx(12.025, abs=0.0005)


def test_nothing_seen_bounds_nothing():
    assert ratio_bounds(0, 0, 100, 0.05).low == 0
    assert ratio_bounds(0, 0, 100, 0.05).high == math.inf
    assert ratio_bounds(100, 0, 100, 0.05).low == ceiling(100, 0.05)


@pytest.mark.parametrize(("p0", "p1"), [(0.3, 0.1), (0.02, 0.01)])
def test_bounds_miss_no_more_often_than_they_say_and_slack_is_kept(p0, p1):
    trials, alpha, many = 2000, 0.1, 1000
    rng = stream("audit-coverage", repr(p0))
    found = [ratio_bounds(*pair, trials, alpha) for pair in rng.binomial(trials, [p0, p1], size=(many, 2)).tolist()]
    truth = math.log(p0 / p1)
    limit = stats.binom.isf(RARE, many, alpha)
    assert sum(not bounds.low <= truth <= bounds.high for bounds in found) <= limit
    assert sum(bounds.low < lowest_likely(p0, p1, trials, alpha) for bounds in found) <= limit
    # Negative control: a loss that is 0.8 higher is outside far more often.
    assert sum(not bounds.low <= truth + 0.8 <= bounds.high for bounds in found) > limit


@pytest.mark.parametrize(("k", "p", "q"), [(2, 0.5, 0.3), (30, 0.75, 0.25), (200, 0.5, 0.01)])
def test_confusion_is_the_sum_over_sets(k, p, q):
    """The chance of v1 when v2 is held, from the sets that hold both, v1 alone, or nothing."""
    m = np.arange(k - 1)
    others = stats.binom.pmf(m, k - 2, q)
    direct = (
        q * (p * (others / (2 + m)).sum() + (1 - p) * expected_inverse(k - 2, q)) + (1 - p) * (1 - q) ** (k - 1) / k
    )

    oracle = type("Oracle", (PROTOCOLS["oue"],), {"p": p, "q": q})(k, 1.0)
    assert oracle.attack_probabilities("guess", (0, 1))[1] == pytest.approx(direct, rel=1e-9)


def test_symbols_add_up_to_the_channel():
    def check(cell):
        key, (k, epsilon), values = cell
        oracle = oracle_of(key, k, epsilon)
        channel, score = channel_of(oracle)
        sets = score == 1
        guess = np.where(sets.any(axis=1), sets[:, values[0]] / np.maximum(sets.sum(axis=1), 1), 1 / k)
        pair = sets[:, values[0]] & ~sets[:, values[1]]
        for attack, chance in (("guess", guess), ("pair", pair)):
            expected = [float(channel[value] @ chance) for value in values]
            assert oracle.attack_probabilities(attack, values) == pytest.approx(expected, rel=1e-9)

    assert failures(itertools.product(["hr", "pgr"], [*SETTINGS, (25, 6.0), (9, 0.2)], [(0, 1), (1, 0)]), check) == {}


def test_quick_readers_see_what_the_server_counts():
    def check(cell):
        key, (k, epsilon) = cell
        oracle, rng = oracle_of(key, k, epsilon), stream("readers", key, k)
        reports = oracle.perturb(rng.integers(0, k, size=300), rng)
        quick, slow = (read(oracle, reports, (1, 0)) for read in (type(oracle).supports, FrequencyOracle.supports))
        for attack in ATTACKS:
            assert np.array_equal(quick.chances(attack), slow.chances(attack))

    assert failures(itertools.product([key for key in PROTOCOLS if key != "she"], SETTINGS), check) == {}


def test_an_empty_set_is_guessed_from_the_whole_domain():
    nothing = Supports(np.array([False]), np.array([False]), np.array([0]), 8)
    assert nothing.chances("guess").tolist() == [1 / 8]
    assert nothing.chances("pair").tolist() == [0.0]


@pytest.mark.parametrize("key", PROTOCOLS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_trials_agree_with_the_closed_form_for_every_protocol(key, attack):
    comparisons = len(PROTOCOLS) * len(ATTACKS) * len(SETTINGS)
    for k, epsilon in SETTINGS:
        found = run_audit(
            protocol_subject(oracle_of(key, k, epsilon), attack),
            trials=10_000,
            alpha=RARE,
            seed=1,
            comparisons=comparisons,
        )
        assert found.agrees
        assert found.epsilon_analytic <= epsilon * (1 + 1e-9)
        assert not found.leaks


def test_trials_contradict_a_wrong_closed_form():
    found = audit_protocol(PROTOCOLS["grr"](4, 2.0), trials=60_000)
    assert found.epsilon_lower_bound <= 2.0 <= found.epsilon_upper_bound
    assert not found.epsilon_lower_bound <= 1.05 * 2.0 <= found.epsilon_upper_bound


@pytest.mark.parametrize("key", ["oue", "olh"])
def test_jobs_change_no_number(key):
    oracle = PROTOCOLS[key](100, 1.0)
    one, two, other = (
        audit_protocol(oracle, trials=12_000, jobs=jobs, seed=seed) for jobs, seed in ((1, 5), (3, 5), (1, 6))
    )
    assert one == two
    assert (one.hits, one.confusions) != (other.hits, other.confusions)


def test_progress_goes_through_all_trials():
    seen = []
    run_audit(
        protocol_subject(PROTOCOLS["oue"](100, 1.0)),
        trials=12_000,
        alpha=0.01,
        seed=0,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (24_000, 24_000)
    assert seen == sorted(seen)
    assert len(seen) == 6  # blocks of 5,000


def test_chances_come_from_the_client_itself(monkeypatch):
    """An audit of a client that sends the true value in clear finds the ceiling, whatever p and q claim."""
    oracle = PROTOCOLS["grr"](10, 1.0)
    monkeypatch.setattr(type(oracle), "perturb", lambda self, values, rng: values)
    found = audit_protocol(oracle, trials=1000)
    assert found.epsilon_lower_bound == found.epsilon_ceiling
    assert found.leaks
    assert not found.agrees


def test_members_of_other_packages_are_audited_through_their_own_support():
    class Foreign(PROTOCOLS["grr"]):  # type: ignore[misc,name-defined]
        key = "foreign"

    subject = protocol_subject(Foreign(6, 1.0))
    sampled = protocol_subject(Foreign(6, 1.0)).sampler(0, 500, stream("foreign"))
    assert subject.epsilon_guaranteed == 1.0
    assert set(np.unique(sampled)) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attack": "best"}, "attack must be one of guess, pair"),
        ({"values": (0, 0)}, "two different ones of 0..9"),
        ({"values": (0, 10)}, "two different ones of 0..9"),
        ({"trials": 0}, "trials must be at least 1"),
        ({"alpha": 1.0}, "alpha must be between 0 and 1"),
    ],
)
def test_bad_parameters_are_told(change, said):
    with pytest.raises(ValueError, match=said):
        audit_protocol(PROTOCOLS["grr"](10, 1.0), **{"trials": 10, **change})


# ------------------------------------------------------------------------------ what the paper says (Section 4.2)

EPS, DOMAINS = (0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 10.0), (25, 50, 100, 150, 200)


def analytic(key, k, epsilon):
    return log_ratio(oracle_of(key, k, epsilon).attack_probabilities("guess", (0, 1)))


def test_randomised_response_is_tight_and_its_bound_within_the_slack():
    for k in DOMAINS:
        for epsilon in EPS:
            assert analytic("grr", k, epsilon) == pytest.approx(epsilon, rel=1e-12)
    found = audit_protocol(PROTOCOLS["grr"](25, 1.0), trials=200_000)
    assert 0 < found.epsilon_analytic - found.epsilon_lower_bound <= found.epsilon_slack


def test_the_others_are_far_below_at_small_budgets():
    for key in ("rappor", "oue", "blh", "olh", "ss", "the", "she"):
        assert all(1.75 < 0.25 / analytic(key, k, 0.25) < 2.25 for k in DOMAINS)


def test_the_pair_attack_comes_to_the_promise_itself():
    for key in PROTOCOLS:
        for k, epsilon in SETTINGS:
            loss = log_ratio(PROTOCOLS[key](k, epsilon).attack_probabilities("pair", (0, 1)))
            if key == "the":  # its bits are worth less than the noisy cells they come from
                oracle = PROTOCOLS["the"](k, epsilon)
                epsilon = math.log(oracle.p * (1 - oracle.q) / (oracle.q * (1 - oracle.p)))
                assert epsilon < oracle.epsilon
            assert loss == pytest.approx(epsilon, rel=1e-9)


def test_binary_hashing_stays_below_one():
    assert all(analytic("blh", k, epsilon) < 1 for k in DOMAINS for epsilon in (2.0, 4.0, 6.0, 10.0, 30.0))


def test_subset_selection_of_one_value_is_randomised_response():
    alone = [(k, epsilon) for k in DOMAINS for epsilon in EPS if PROTOCOLS["ss"](k, epsilon).omega == 1]
    assert len(alone) >= 10
    for k, epsilon in alone:
        subset, value = (PROTOCOLS[key](k, epsilon).attack_probabilities("guess", (0, 1)) for key in ("ss", "grr"))
        assert subset == pytest.approx(value)


@pytest.mark.parametrize("key", ["oue", "olh"])
def test_optimised_protocols_reach_a_plateau(key):
    for k in DOMAINS:
        assert analytic(key, k, 30.0) - analytic(key, k, 10.0) < 0.01
        # From 6 to 10 the budget grows by 4, what is shown by half of 1 at most.
        assert analytic(key, k, 10.0) - analytic(key, k, 6.0) < 0.5


@pytest.mark.parametrize(("k", "g"), [(25, 2), (100, 4), (100, 10)])
def test_hashing_alone_hides_what_collides(k, g):
    found = run_audit(hashing_subject(k, g), trials=40_000, alpha=RARE, seed=0)
    assert found.agrees
    assert found.epsilon is None
    assert not found.leaks
    assert (found.epsilon_analytic < 1) == (g == 2)
    own, other = hashing_only(k, g)
    assert own + (k - 1) * other == pytest.approx(1.0)


def test_hashing_alone_needs_two_symbols():
    with pytest.raises(ValueError, match="at least 2"):
        hashing_subject(10, 1)


def test_what_was_attacked_already_is_not_sampled() -> None:
    done = replace(protocol_subject(PROTOCOLS["grr"](4, 1.0)), sampler=None)
    with pytest.raises(ValueError, match="attacked already"):
        run_audit(done, trials=100, alpha=0.05, seed=0)
