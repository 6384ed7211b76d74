import itertools
import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from simulator import PROTOCOLS as TABLE
from simulator import frequency_oracles
from simulator.attacks import MOST_SYMBOLS, Supports, expected_inverse, independent_support_attack
from simulator.audit import ATTACKS, ceiling, clopper_pearson, hashing_subject, run_audit
from simulator.audit.run import hashing_only, log_ratio, lowest_likely, protocol_subject, ratio_bounds
from simulator.protocols import FrequencyOracle
from tests.cells import failures, over

from .law import channel_of, oracle_of, stream

PROTOCOLS = frequency_oracles()

CHANCES = [(0.5, 0.3), (0.9, 0.1), (0.75, 0.25), (0.5, 0.01), (0.5, 1e-9), (0.99, 0.5), (0.7, 0.0)]
SETTINGS = [(2, 0.5), (3, 1.0), (12, 1.0), (40, 2.5)]
RARE = 1e-6  # probability that the trials of this file together contradict what they should agree with


@over(itertools.product([(0, 50), (50, 50), (3, 50), (499_000, 10**6), (1, 1)], [0.01, 0.2]))
def test_intervals_are_scipys_exact_ones(setting, alpha):
    successes, trials = setting
    exact = stats.binomtest(successes, trials).proportion_ci(1 - alpha, method="exact")
    # scipy finds its limits by bisection, to about 1e-12
    assert clopper_pearson(successes, trials, alpha) == pytest.approx((exact.low, exact.high), rel=1e-8, abs=1e-12)


def test_the_ceiling_is_the_published_one_and_nothing_seen_bounds_nothing():
    assert ceiling(10**4, 0.01) == pytest.approx(7.42, abs=0.005)
    assert ceiling(10**6, 0.01) == pytest.approx(12.025, abs=0.0005)
    assert ratio_bounds(0, 0, 100, 0.05) == (0, math.inf)
    assert ratio_bounds(100, 0, 100, 0.05)[0] == ceiling(100, 0.05)


@pytest.mark.parametrize(("p0", "p1"), [(0.3, 0.1), (0.02, 0.01)])
def test_bounds_miss_no_more_often_than_they_say_and_slack_is_kept(p0, p1):
    trials, alpha, many = 2000, 0.1, 500
    rng = stream("audit-coverage", repr(p0))
    found = [ratio_bounds(*pair, trials, alpha) for pair in rng.binomial(trials, [p0, p1], size=(many, 2)).tolist()]
    truth = math.log(p0 / p1)
    limit = stats.binom.isf(RARE, many, alpha)
    assert sum(not low <= truth <= high for low, high in found) <= limit
    assert sum(low < lowest_likely(p0, p1, trials, alpha) for low, _ in found) <= limit
    # Negative control: a loss that is 0.8 higher is outside far more often.
    assert sum(not low <= truth + 0.8 <= high for low, high in found) > limit


@over(itertools.product([2, 3, 10, 30, 200, 300], CHANCES))
def test_closed_forms_are_sums_over_the_sizes_of_sets(k, chances):
    """The own value is in the set or not; another one is in it too, or alone, or nothing is."""
    p, q = chances
    own, both = (stats.binom.pmf(np.arange(m + 1), m, q) for m in (k - 1, k - 2))
    alone, even = (1 - p) * (1 - q) ** (k - 1) / k, (own / np.arange(1, k + 1)).sum()
    right = p * even + alone
    wrong = q * (p * (both / np.arange(2, k + 1)).sum() + (1 - p) * (both / np.arange(1, k)).sum()) + alone
    # scipy's binomial probabilities carry about 1e-12
    assert expected_inverse(k - 1, q) == pytest.approx(even, rel=1e-10)
    assert independent_support_attack(k, p, q) == pytest.approx(right, rel=1e-10)
    oracle = type("Oracle", (PROTOCOLS["oue"],), {"p": p, "q": q})(k, 1.0)
    assert oracle.attack_probabilities("guess", (0, 1)) == pytest.approx((right, wrong), rel=1e-9)


@over(
    [
        *itertools.product(["hr", "pgr"], [*SETTINGS, (25, 6.0), (9, 0.2)], [(0, 1), (1, 0)]),
        *itertools.product(["grr", "rappor", "oue", "ss"], [*SETTINGS[:3], (9, 0.2)], [(0, 1), (1, 0)]),
    ]
)
def test_closed_forms_are_sums_over_all_reports(key, setting, values):
    k, epsilon = setting
    oracle = oracle_of(key, k, epsilon)
    channel, score = channel_of(oracle)
    sets = score == 1
    guess = np.where(sets.any(axis=1), sets[:, values[0]] / np.maximum(sets.sum(axis=1), 1), 1 / k)
    pair = sets[:, values[0]] & ~sets[:, values[1]]
    for attack, chance in (("guess", guess), ("pair", pair)):
        expected = [float(channel[value] @ chance) for value in values]
        assert oracle.attack_probabilities(attack, values) == pytest.approx(expected, rel=1e-9)


@over(itertools.product(PROTOCOLS, [*SETTINGS, (200, 10.0)]))
def test_the_pair_attack_comes_to_the_promise_itself_and_so_does_any_on_randomised_response(key, setting):
    k, epsilon = setting
    oracle = oracle_of(key, k, epsilon)
    promise = epsilon
    if key == "the":  # its bits are worth less than the noisy cells they come from
        promise = math.log(oracle.p * (1 - oracle.q) / (oracle.q * (1 - oracle.p)))
        assert promise < epsilon
    for attack in ATTACKS if key == "grr" else ("pair",):
        assert log_ratio(oracle.attack_probabilities(attack, (0, 1))) == pytest.approx(promise, rel=1e-9)


def test_quick_readers_see_what_the_server_counts():
    def check(cell):
        key, (k, epsilon) = cell
        oracle, rng = oracle_of(key, k, epsilon), stream("readers", key, k)
        reports = oracle.perturb(rng.integers(0, k, size=100), rng)
        quick, slow = (read(oracle, reports, (1, 0)) for read in (type(oracle).supports, FrequencyOracle.supports))
        for attack in ATTACKS:
            assert np.array_equal(quick.chances(attack), slow.chances(attack))

    assert failures(itertools.product([key for key in PROTOCOLS if key != "she"], SETTINGS), check) == {}
    nothing = Supports(np.array([False]), np.array([False]), np.array([0]), 8)
    assert [nothing.chances(attack).tolist() for attack in ("guess", "pair")] == [[1 / 8], [0.0]]


def test_trials_agree_with_the_closed_form_for_every_protocol():
    cells = list(itertools.product(PROTOCOLS, ATTACKS, SETTINGS))

    def check(cell):
        key, attack, (k, epsilon) = cell
        subject = protocol_subject(oracle_of(key, k, epsilon), attack)
        found = run_audit(subject, trials=5_000, alpha=RARE, seed=1, comparisons=len(cells))
        assert found.agrees
        assert found.epsilon_analytic <= epsilon * (1 + 1e-9)
        assert not found.leaks

    assert failures(cells, check) == {}


def test_trials_contradict_a_wrong_closed_form_and_bounds_are_within_the_slack():
    found = run_audit(protocol_subject(PROTOCOLS["grr"](4, 2.0)), trials=60_000, alpha=0.01, seed=0)
    assert found.epsilon_lower_bound <= 2.0 <= found.epsilon_upper_bound
    assert not found.epsilon_lower_bound <= 1.05 * 2.0 <= found.epsilon_upper_bound
    assert 0 < found.epsilon_analytic - found.epsilon_lower_bound <= found.epsilon_slack


def test_jobs_change_no_number_and_progress_goes_through_all_trials():
    subject, seen = protocol_subject(PROTOCOLS["olh"](100, 1.0)), []
    one, two, other = (
        run_audit(subject, trials=12_000, alpha=0.01, jobs=jobs, seed=seed) for jobs, seed in ((1, 5), (3, 5), (1, 6))
    )
    assert one == two
    assert (one.hits, one.confusions) != (other.hits, other.confusions)
    subject = protocol_subject(PROTOCOLS["oue"](100, 1.0))
    run_audit(subject, trials=12_000, alpha=0.01, seed=0, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (24_000, 24_000)
    assert seen == sorted(seen)
    assert len(seen) == 6  # blocks of 5,000


def test_chances_come_from_the_client_itself(monkeypatch):
    oracle = PROTOCOLS["grr"](10, 1.0)
    monkeypatch.setattr(type(oracle), "perturb", lambda self, values, rng: values)
    found = run_audit(protocol_subject(oracle), trials=1000, alpha=0.01, seed=0)
    assert found.epsilon_lower_bound == found.epsilon_ceiling
    assert found.leaks
    assert not found.agrees


@over([(25, 2), (100, 4), (100, 10)])
def test_hashing_alone_hides_what_collides(k, g):
    found = run_audit(hashing_subject(k, g), trials=20_000, alpha=RARE, seed=0)
    assert found.agrees
    assert found.epsilon is None
    assert not found.leaks
    assert (found.epsilon_analytic < 1) == (g == 2)
    own, other = hashing_only(k, g)
    assert own + (k - 1) * other == pytest.approx(1.0)


GUESSED = ((6, 0.5), (6, 2.0), (13, 1.0))


@over(product(("grr", "rappor", "oue", "ss", "hr", "pgr"), (0.3, 1.0, 1.5, 3.0)))
def test_likelihoods_of_all_reports_give_the_same(key, epsilon):
    oracle, f = TABLE[key](6, epsilon), np.array([0.05, 0.4, 0.1, 0.25, 0.15, 0.05])
    chance, _ = channel_of(oracle)
    assert oracle.informed_guess(f) == pytest.approx((f[:, None] * chance).max(axis=0).sum(), rel=1e-9)


def test_the_informed_guess_is_the_known_success_at_even_frequencies_and_within_its_bounds_at_others():
    wrong = [
        (key, k, epsilon)
        for key, kind in TABLE.items()
        for k, epsilon in GUESSED
        if (guess := kind(k, epsilon).informed_guess(np.full(k, 1 / k))) is not None
        and guess != pytest.approx(kind(k, epsilon).attack_success, rel=1e-3)  # of summation it is a sum of steps
    ]
    assert not wrong
    rng = stream("informed", "bounds")
    for (key, kind), (k, epsilon) in product(TABLE.items(), GUESSED):
        f = rng.dirichlet(np.full(k, 0.5))
        guess = kind(k, epsilon).informed_guess(f)
        assert guess is not None, key
        assert f.max() * (1 - 1e-3) <= guess <= min(1.0, f.max() * np.exp(epsilon) * (1 + 1e-3)), key
    f = 1 / np.arange(1, 1001)
    f /= f.sum()
    small, large = (TABLE["pgr"](k, 1.0) for k in (1000, 8000))
    assert small.symbols <= MOST_SYMBOLS < large.symbols
    padded = np.append(f, np.zeros(7000))
    assert large.informed_guess(padded) == pytest.approx(small.informed_guess(f) or 0.0, rel=0.02)
