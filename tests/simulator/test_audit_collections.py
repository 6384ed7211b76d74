"""Audits of repeated collections and of several attributes, against attacks played out report by report."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from simulator import frequency_oracles
from simulator.attributes import one_attribute_loss, published_budget
from simulator.audit import attribute_subjects, audit_protocol, rounds_subject, run_audit
from simulator.audit.attributes import prior_of
from simulator.audit.closed_form import log_ratio, most_supported
from tests.cells import failures

from .law import accept, channel_of, oracle_of, stream, two_sided
from .test_attacks import guess, supports

PROTOCOLS = frequency_oracles()

RARE = 1e-6


def played_rounds(oracle, held, rounds, trials, rng):
    """Algorithm 2, round by round; ties are broken evenly."""
    z = np.zeros((trials, oracle.k))
    for _ in range(rounds):
        reports = oracle.perturb(np.full(trials, held), rng)
        if oracle.key == "she":
            z += reports
        elif oracle.key == "hr":
            z += channel_of(oracle)[1][reports]
        else:
            z += supports(oracle, reports)
    return (guess(z == z.max(axis=1, keepdims=True), rng) == 0).sum()


def test_averaging_attack_is_algorithm_2():
    def check(cell):
        key, (k, rounds) = cell
        oracle, rng, trials = oracle_of(key, k, 1.0), stream("rounds", key, k), 4000
        subject = rounds_subject(oracle, rounds)
        for held in (0, 1):
            slow = played_rounds(oracle, held, rounds, trials, rng)
            quick = subject.sampler(held, trials, rng)
            p = (slow + quick.sum()) / (2 * trials)
            assert accept(two_sided((slow - quick.sum()) / np.sqrt(2 * trials * p * (1 - p))))
        assert subject.epsilon_guaranteed == rounds

    assert failures(itertools.product(PROTOCOLS, [(2, 3), (6, 5)]), check) == {}


@pytest.mark.parametrize(("k", "rounds", "key"), [(2, 1, "oue"), (3, 2, "rappor"), (3, 3, "olh"), (4, 2, "oue")])
def test_closed_form_of_the_averaging_attack_is_the_sum_over_all_counts(k, rounds, key):
    oracle = PROTOCOLS[key](k, 1.3)
    own = 0.0
    for counts in itertools.product(range(rounds + 1), repeat=k):
        chance = stats.binom.pmf(counts[0], rounds, oracle.p) * stats.binom.pmf(counts[1:], rounds, oracle.q).prod()
        own += chance * (counts[0] == max(counts)) / counts.count(max(counts))
    assert most_supported(oracle, rounds)[0] == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("key", ["rappor", "oue", "blh", "olh", "the"])
def test_one_round_is_the_guess_and_more_rounds_tell_more(key):
    oracle = PROTOCOLS[key](100, 1.0)
    assert most_supported(oracle, 1) == pytest.approx(oracle.attack_probabilities("guess", (0, 1)), rel=1e-8)
    losses = [log_ratio(most_supported(oracle, rounds)) for rounds in (1, 5, 10, 25, 50, 75, 100)]
    assert all(a < b for a, b in itertools.pairwise(losses))
    for rounds, loss in zip((1, 5, 10, 25, 50, 75, 100), losses, strict=True):
        assert loss < rounds * 1.0


@pytest.mark.parametrize("key", ["rappor", "olh", pytest.param("oue", marks=pytest.mark.slow)])
def test_trials_of_many_rounds_agree_with_the_closed_form(key):
    found = run_audit(rounds_subject(PROTOCOLS[key](20, 0.5), 30), trials=20_000, alpha=RARE, seed=0)
    assert found.agrees
    assert found.rounds == 30


@pytest.mark.slow
def test_randomised_response_gives_most_away_in_many_rounds_of_a_binary_value_and_least_of_a_large_domain():
    """Section 4.4: over rounds at k = 100 randomised response is the hardest to attack."""
    losses = {
        key: run_audit(
            rounds_subject(PROTOCOLS[key](100, 0.5), 50), trials=2000, alpha=0.01, seed=0
        ).epsilon_lower_bound
        for key in ("grr", "she", "oue", "rappor", "ss", "olh")
    }
    assert sorted(losses, key=losses.__getitem__)[:2] == ["grr", "she"]


def test_rounds_must_be_positive():
    with pytest.raises(ValueError, match="rounds must be at least 1"):
        rounds_subject(PROTOCOLS["oue"](10, 1.0), 0)


VARIANTS = [("grr", None), ("rappor", "z"), ("rappor", "r"), ("oue", "z"), ("oue", "r")]


def chances_of_reports(key, k, epsilon):
    """Every report of one attribute, and its probability for each value: written out bit by bit."""
    oracle = PROTOCOLS[key](k, epsilon)
    if key == "grr":
        return {(y,): [oracle.p if y == value else oracle.q for value in range(k)] for y in range(k)}, None
    bits = list(itertools.product((0, 1), repeat=k))
    one = {
        y: [math.prod(abs(1 - bit - (oracle.p if v == x else oracle.q)) for v, bit in enumerate(y)) for x in range(k)]
        for y in bits
    }
    zero = {y: math.prod(oracle.q if bit else 1 - oracle.q for bit in y) for y in bits}
    return one, zero


def chances_of_tuples(key, fake, k, epsilon, d, prior=None):
    """The probability of every tuple of reports for every tuple of values: RS+FD, or RS+RFD with a prior."""
    own, zero = chances_of_reports(key, k, epsilon)
    values = np.full(k, 1 / k) if prior is None else prior
    if key == "grr":  # a value as it is drawn
        faked = {(y,): values[y] for y in range(k)}
    else:
        faked = zero if fake == "z" else {y: values @ np.array(chances) for y, chances in own.items()}
    tuples = list(itertools.product(range(k), repeat=d))
    table = []
    for sent in itertools.product(own, repeat=d):
        fakes = [faked[y] for y in sent]
        others = [math.prod(fakes[:j] + fakes[j + 1 :]) / d for j in range(d)]
        table.append([sum(own[sent[j]][x[j]] * others[j] for j in range(d)) for x in tuples])
    table = np.array(table)
    assert table.sum(axis=0) == pytest.approx(np.ones(len(tuples)), abs=1e-12)
    return tuples, table


def largest_losses(key, fake, k, epsilon, d, prior=None):
    """The largest log-ratio between any two tuples, and between tuples that differ in one attribute."""
    tuples, table = chances_of_tuples(key, fake, k, epsilon, d, prior)
    worst = {True: 0.0, False: 0.0}
    logs = np.log(table)
    for a, b in itertools.permutations(range(len(tuples)), 2):
        one = sum(x != y for x, y in zip(tuples[a], tuples[b], strict=True)) == 1
        worst[one] = max(worst[one], float((logs[:, a] - logs[:, b]).max()))
    return max(worst.values()), worst[True]


REALISTIC = [("grr", None), ("rappor", "r"), ("oue", "r")]
SMALL = [(k, d) for k in (2, 3) for d in (2, 3)]


def test_both_promises_of_fake_data_are_the_largest_losses_of_all_tuples():
    def check(cell):
        (key, fake), (k, d) = cell
        subject = next(s for s in attribute_subjects(PROTOCOLS[key], k, 1.0, d, "rsfd", trials=100) if s.fake == fake)
        whole, one = largest_losses(key, fake, k, 1.0, d)
        assert subject.epsilon_guaranteed == pytest.approx(whole, rel=1e-12) == 1.0
        assert subject.epsilon_one_attribute == pytest.approx(one, rel=1e-12)

    assert failures(itertools.product(VARIANTS, SMALL), check) == {}


def test_both_promises_of_realistic_fakes_are_the_largest_losses_of_all_tuples():
    def check(cell):
        (key, fake), (k, d) = cell
        (subject,) = attribute_subjects(PROTOCOLS[key], k, 1.0, d, "rsrfd", trials=100)
        whole, one = largest_losses(key, fake, k, 1.0, d, prior_of(k))
        assert subject.fake == fake
        assert subject.epsilon_guaranteed == pytest.approx(whole, rel=1e-12) == 1.0
        assert subject.epsilon_one_attribute == pytest.approx(one, rel=1e-12)
        # Even fakes are those of RS+FD, and the rarer the rarest value is, the less they hide.
        assert one_attribute_loss(k, 1.0, d, fake, np.full(k, 1 / k)) == pytest.approx(
            one_attribute_loss(k, 1.0, d, fake)
        )
        assert one > one_attribute_loss(k, 1.0, d, fake)

    assert failures(itertools.product(REALISTIC, SMALL), check) == {}


def test_the_published_budget_is_what_a_whole_tuple_loses():
    def check(cell):
        (key, fake), (k, d) = cell
        budget = published_budget(1.0, d)
        whole, one = largest_losses(key, fake, k, budget, d)
        assert whole == pytest.approx(budget, rel=1e-12)
        assert one == pytest.approx(one_attribute_loss(k, budget, d, fake), rel=1e-12)
        if fake != "r" or k == 2:
            assert one == pytest.approx(1.0, rel=1e-12)
        else:
            assert one > 1.1

    assert failures(itertools.product(VARIANTS, SMALL), check) == {}


def test_fakes_of_random_values_exceed_the_published_promise_for_one_attribute():
    for k, epsilon, loss in ((3, 1.0, 1.125), (4, 1.0, 1.182), (3, 2.0, 2.223)):
        assert one_attribute_loss(k, published_budget(epsilon, 2), 2, "r") == pytest.approx(loss, abs=5e-4)


def test_the_whole_tuple_is_attacked_by_the_likelihood_ratio():
    """Over all reports that there are: v1 is named where the ratio is high, as often as the closed form says."""

    def check(cell):
        (key, fake, solution), (k, d) = cell
        subject = next(
            s for s in attribute_subjects(PROTOCOLS[key], k, 1.0, d, solution, trials=2000) if s.fake == fake
        )
        tuples, table = chances_of_tuples(key, fake, k, 1.0, d, prior_of(k) if solution == "rsrfd" else None)
        first, second = (table[:, tuples.index((value,) * d)] for value in (0, 1))
        own, trials = chances_of_reports(key, k, 1.0)[0], 20_000
        losses = np.log(first / second)
        named = losses >= np.unique(losses.round(9))[:, None] - 2e-9  # of each threshold, which reports are above it
        cuts = np.stack([named @ first, named @ second], axis=1)
        assert len(own) ** d == len(losses)
        if subject.probabilities is not None:
            assert np.isclose(cuts, subject.probabilities, rtol=1e-9, atol=0).all(axis=1).any()
        hits = [subject.sampler(value, trials, stream("tuples", key, fake or "", k, value)).sum() for value in (0, 1)]
        scores = two_sided((hits - trials * cuts) / np.sqrt(np.maximum(trials * cuts * (1 - cuts), 0) + 1e-9))
        assert any(accept(score) for score in scores)

    cells = itertools.product(
        [*((*one, "rsfd") for one in VARIANTS), *((*one, "rsrfd") for one in REALISTIC)], SMALL[:3]
    )
    assert failures(cells, check) == {}


def test_audits_of_fake_data_keep_the_promise_and_agree_with_the_closed_form():
    def check(cell):
        (key, fake), (k, d) = cell
        trials = 20_000
        subjects = attribute_subjects(PROTOCOLS[key], k, 2.0, d, "rsfd", trials=trials, alpha=RARE)
        found = run_audit(next(one for one in subjects if one.fake == fake), trials=trials, alpha=RARE, seed=0)
        assert found.attack == "likelihood"
        assert found.agrees in (True, None)
        assert (found.agrees is None) == (fake == "r")
        assert not found.leaks
        assert found.epsilon_lower_bound > found.epsilon_one_attribute / 2

    assert failures(itertools.product(VARIANTS, [(3, 2), (20, 4)]), check) == {}


def test_the_published_budget_is_shown_to_leak():
    """What RS+FD was published with: reports at a higher budget, which the attack on whole tuples takes."""
    trials, budget = 200_000, published_budget(1.0, 2)
    for subject in attribute_subjects(PROTOCOLS["grr"], 3, budget, 2, "rsfd", trials=trials, alpha=RARE):
        found = run_audit(subject, trials=trials, alpha=RARE, seed=0)
        assert 1.3 < found.epsilon_lower_bound <= 1.49


def test_fake_vectors_are_what_they_are_called():
    oracle, rng, trials = PROTOCOLS["rappor"](5, 1.0), stream("fakes"), 20_000
    for fake, rate in (("z", oracle.q), ("r", oracle.p / 5 + 4 * oracle.q / 5)):
        ones = oracle.fake_reports(fake, trials, rng).sum()
        n = 5 * trials  # bits of a one-hot report are negatively dependent: the binomial error is an upper bound
        assert accept(two_sided((ones - n * rate) / np.sqrt(n * rate * (1 - rate))))


def test_splitting_and_sampling_are_one_report():
    for solution, epsilon in (("spl", 0.25), ("smp", 1.0)):
        (subject,) = attribute_subjects(PROTOCOLS["oue"], 10, 1.0, 4, solution)
        assert subject.probabilities == PROTOCOLS["oue"](10, epsilon).attack_probabilities("guess", (0, 1))
        assert (subject.epsilon, subject.epsilon_guaranteed) == (1.0, 1.0)
        assert subject.epsilon_one_attribute == epsilon
        found = run_audit(subject, trials=20_000, alpha=RARE, seed=0)
        assert found.agrees


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attributes": 1}, "attributes must be at least 2"),
        ({"solution": "sum"}, "solution must be one of spl, smp, rsfd"),
        ({"protocol": PROTOCOLS["olh"]}, "fake data for grr, rappor, oue"),
        ({"protocol": PROTOCOLS["olh"], "solution": "rsrfd"}, "solution rsrfd has fake data for grr, rappor, oue"),
    ],
)
def test_bad_requests_are_told(change, said):
    given = {"protocol": PROTOCOLS["oue"], "k": 10, "epsilon": 1.0, "attributes": 2, "solution": "rsfd"} | change
    with pytest.raises(ValueError, match=said):
        attribute_subjects(**given)


def test_one_collection_is_audited_as_before():
    whole = audit_protocol(PROTOCOLS["oue"](10, 1.0), trials=500)
    assert (whole.rounds, whole.attributes, whole.solution) == (1, 1, None)


@pytest.mark.parametrize(
    ("key", "k", "rounds", "epsilon"), [("rappor", 2, 8, 20.0), ("rappor", 4, 6, 16.0), ("oue", 3, 60, 6.0)]
)
def test_a_loss_of_many_rounds_keeps_its_digits_where_the_guess_is_nearly_sure(key, k, rounds, epsilon):
    """Against the sum over all counts, in exact fractions."""
    oracle = PROTOCOLS[key](k, epsilon)
    masses = [
        [math.comb(rounds, z) * chance**z * (1 - chance) ** (rounds - z) for z in range(rounds + 1)]
        for chance in (Fraction(oracle.p), Fraction(oracle.q))
    ]
    own = Fraction(0)
    for z, mass in enumerate(masses[0]):
        below, same = sum(masses[1][:z], Fraction(0)), masses[1][z]
        for ties in range(k):
            own += mass * math.comb(k - 1, ties) * same**ties * below ** (k - 1 - ties) / (ties + 1)
    exact = math.log(own) - math.log((1 - own) / (k - 1))
    assert log_ratio(most_supported(oracle, rounds)) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("rounds", [1000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_a_loss_beyond_all_digits_is_no_error(rounds):
    for key in ("rappor", "oue", "olh"):
        loss = log_ratio(most_supported(PROTOCOLS[key](4, 8.0), rounds))
        assert loss > 100
