"""Audits of repeated collections and of several attributes, against attacks played out report by report."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from simulator.audit import attribute_subjects, audit_protocol, rounds_subject, run_audit
from simulator.audit.attributes import amplified
from simulator.audit.closed_form import log_ratio, most_supported
from simulator.protocols import PROTOCOLS

from .law import accept, oracle_of, stream, two_sided
from .test_attacks import guess, supports

RARE = 1e-6


def played_rounds(oracle, held, rounds, trials, rng):
    """Algorithm 2, round by round; ties are broken evenly."""
    z = np.zeros((trials, oracle.k))
    for _ in range(rounds):
        reports = oracle.perturb(np.full(trials, held), rng)
        if oracle.key == "she":
            z += reports
        elif oracle.key == "hr":
            z += np.array([oracle.support(reports[row : row + 1]) for row in range(trials)])
        else:
            z += supports(oracle, reports)
    return (guess(z == z.max(axis=1, keepdims=True), rng) == 0).sum()


@pytest.mark.parametrize("key", PROTOCOLS)
@pytest.mark.parametrize(("k", "rounds"), [(2, 3), (6, 5)])
def test_averaging_attack_is_algorithm_2(key, k, rounds):
    oracle, rng, trials = oracle_of(key, k, 1.0), stream("rounds", key, k), 4000
    subject = rounds_subject(oracle, rounds)
    for held in (0, 1):
        slow = played_rounds(oracle, held, rounds, trials, rng)
        quick = subject.sampler(held, trials, rng)
        p = (slow + quick.sum()) / (2 * trials)
        assert accept(two_sided((slow - quick.sum()) / np.sqrt(2 * trials * p * (1 - p))))
    assert subject.guaranteed == rounds


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


@pytest.mark.parametrize("key", ["rappor", "oue", "olh"])
def test_trials_of_many_rounds_agree_with_the_closed_form(key):
    found = run_audit(rounds_subject(PROTOCOLS[key](20, 0.5), 30), trials=20_000, alpha=RARE, seed=0)
    assert found.agrees
    assert found.rounds == 30


def test_randomised_response_gives_most_away_in_many_rounds_of_a_binary_value_and_least_of_a_large_domain():
    """Section 4.4: over rounds at k = 100 randomised response is the hardest to attack."""
    losses = {
        key: run_audit(
            rounds_subject(PROTOCOLS[key](100, 0.5), 50), trials=4000, alpha=0.01, seed=0
        ).epsilon_lower_bound
        for key in ("grr", "she", "oue", "rappor", "ss", "olh")
    }
    assert sorted(losses, key=losses.__getitem__)[:2] == ["grr", "she"]


def test_rounds_must_be_positive():
    with pytest.raises(ValueError, match="rounds must be at least 1"):
        rounds_subject(PROTOCOLS["oue"](10, 1.0), 0)


def played_attributes(protocol, fake, k, epsilon, d, held, trials, rng):
    """Algorithm 3 with a whole client: every attribute is reported, and the attacker draws one."""
    oracle = protocol(k, amplified(epsilon, d))
    sampled, drawn = rng.integers(0, d, size=trials), rng.integers(0, d, size=trials)
    named = np.zeros(trials, dtype=bool)
    for attribute in range(d):
        true = oracle.perturb(np.full(trials, held), rng)
        if fake == "z":
            other = (rng.random((trials, k)) < oracle.q).view(np.uint8)
        else:
            other = rng.integers(0, k, size=trials)
            other = other if fake is None else oracle.perturb(other, rng)
        mine = sampled == attribute
        reports = np.where(mine if true.ndim == 1 else mine[:, None], true, other)
        named = np.where(drawn == attribute, guess(supports(oracle, reports), rng) == 0, named)
    return named.sum()


@pytest.mark.parametrize(("key", "fake"), [("grr", None), ("rappor", "z"), ("rappor", "r"), ("oue", "z"), ("oue", "r")])
@pytest.mark.parametrize(("k", "d"), [(2, 2), (10, 3)])
def test_random_sampling_plus_fake_data_is_algorithm_3(key, fake, k, d):
    trials, rng = 20_000, stream("rsfd", key, fake or "", k)
    subjects = attribute_subjects(PROTOCOLS[key], k, 1.0, d, "rsfd")
    subject = next(one for one in subjects if one.fake == fake)
    for held, chance in zip((0, 1), subject.known, strict=True):
        slow = played_attributes(PROTOCOLS[key], fake, k, 1.0, d, held, trials, rng)
        assert accept(two_sided((slow - trials * chance) / np.sqrt(trials * chance * (1 - chance))))
    assert run_audit(subject, trials=20_000, alpha=RARE, seed=0).agrees


def test_fake_vectors_are_what_they_are_called():
    oracle, rng, trials = PROTOCOLS["rappor"](5, 1.0), stream("fakes"), 20_000
    for fake, rate in (("z", oracle.q), ("r", oracle.p / 5 + 4 * oracle.q / 5)):
        ones = oracle.fake_reports(fake, trials, rng).sum()
        n = 5 * trials  # bits of a one-hot report are negatively dependent: the binomial error is an upper bound
        assert accept(two_sided((ones - n * rate) / np.sqrt(n * rate * (1 - rate))))


def test_amplified_budget_makes_the_whole_report_private():
    """The likelihood ratio of a true report hidden among d, with the amplified budget, is e^epsilon."""
    for epsilon, d in ((0.5, 2), (2.0, 10)):
        oracle = PROTOCOLS["grr"](8, amplified(epsilon, d))
        ratio = (oracle.p / d + (d - 1) / (d * 8)) / (oracle.q / d + (d - 1) / (d * 8))
        assert ratio <= np.exp(epsilon) * (1 + 1e-12)


def test_splitting_and_sampling_are_one_report():
    for solution, epsilon in (("spl", 0.25), ("smp", 1.0)):
        (subject,) = attribute_subjects(PROTOCOLS["oue"], 10, 1.0, 4, solution)
        assert subject.known == PROTOCOLS["oue"](10, epsilon).attack_probabilities("guess", (0, 1))
        assert (subject.epsilon, subject.guaranteed) == (1.0, 1.0)
        found = run_audit(subject, trials=20_000, alpha=RARE, seed=0)
        assert found.agrees


def test_paper_on_fake_data():
    """Section 4.5: randomised response is highest, and levels off; symmetric bits beat optimised ones at k = 2 only."""

    def loss(key, k, epsilon):
        return log_ratio(attribute_subjects(PROTOCOLS[key], k, epsilon, 2, "rsfd")[0].known)

    for k in (2, 100):
        assert loss("grr", k, 30.0) - loss("grr", k, 10.0) < 0.01  # fake data names every value equally often
        assert all(
            loss("grr", k, epsilon) > loss(key, k, epsilon) for key in ("rappor", "oue") for epsilon in (1.0, 4.0)
        )
    assert loss("rappor", 2, 2.0) > loss("oue", 2, 2.0)
    assert loss("rappor", 100, 2.0) < loss("oue", 100, 2.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attributes": 1}, "attributes must be at least 2"),
        ({"solution": "sum"}, "solution must be one of spl, smp, rsfd"),
        ({"protocol": PROTOCOLS["olh"]}, "fake data for grr, rappor, oue"),
    ],
)
def test_bad_requests_are_told(change, said):
    given = {"protocol": PROTOCOLS["oue"], "k": 10, "epsilon": 1.0, "attributes": 2, "solution": "rsfd"} | change
    with pytest.raises(ValueError, match=said):
        attribute_subjects(**given)


def test_one_collection_is_audited_as_before():
    whole = audit_protocol(PROTOCOLS["oue"](10, 1.0), trials=500)
    assert (whole.rounds, whole.attributes, whole.solution) == (1, 1, None)
