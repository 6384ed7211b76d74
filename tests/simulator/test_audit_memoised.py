"""Audits of devices that remember: the loss over rounds stops at the permanent budget, and fresh noise goes on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from simulator.audit import fresh_subject, memoised_subject, run_audit
from simulator.audit.memoised import _fresh_law
from simulator.audit.run import conclude
from simulator.memoisation import MEMOISED
from tests.cells import failures

from .law import accept, stream, two_sided
from .memoised_law import sequences, supports

RARE, TRIALS = 1e-6, 20_000  # RARE: how often a bound of one audit may miss


def subject_of(key, rounds, k=10, **more):
    return memoised_subject(MEMOISED[key](k, 2.0, 1.0), rounds, trials=TRIALS, alpha=RARE, **more)


@pytest.mark.parametrize("key", MEMOISED)
def test_the_loss_grows_with_rounds_and_stops_at_the_permanent_budget(key):
    found = [run_audit(subject_of(key, rounds), trials=TRIALS, alpha=RARE, seed=0) for rounds in (1, 2, 20, 500)]
    analytic = [one.epsilon_analytic for one in found]
    assert analytic[0] == pytest.approx(1, rel=1e-9)
    assert all(a < b for a, b in itertools.pairwise(analytic))
    assert analytic[-1] == pytest.approx(2, rel=1e-6)
    for one in found:
        assert one.agrees
        assert not one.leaks
        assert one.epsilon_lower_bound <= one.epsilon_guaranteed == one.epsilon_forever == 2
    assert found[-1].epsilon_lower_bound > 1.5


@pytest.mark.parametrize("key", MEMOISED)
def test_the_attack_is_the_likelihood_ratio_of_both_counts_over_all_sequences(key):
    """The two probabilities of the attack, from every sequence of two rounds at k = 3."""
    member = MEMOISED[key](3, 2.0, 1.0)
    tables = []
    for value in (0, 1):
        counts = {}
        for sent, chance in sequences(member, (value, value)).items():
            place = tuple(supports(member, sent)[:, :2].sum(axis=0).astype(int))
            counts[place] = counts.get(place, 0) + chance
        tables.append(counts)
    ratios = {place: tables[0][place] / tables[1][place] for place in tables[0]}
    cuts = [
        tuple(sum(table[place] for place in ratios if ratios[place] >= cut * (1 - 1e-9)) for table in tables)
        for cut in ratios.values()
    ]
    subject = memoised_subject(member, 2, trials=TRIALS, alpha=RARE)
    assert any(subject.probabilities == pytest.approx(cut, rel=1e-9) for cut in cuts)
    for held, chance in zip((0, 1), subject.probabilities, strict=True):
        hits = subject.sampler(held, 50_000, stream("audit memoised", key, held)).sum()
        assert accept(two_sided((hits - 50_000 * chance) / np.sqrt(50_000 * chance * (1 - chance))))


@pytest.mark.parametrize("key", MEMOISED)
def test_counts_of_devices_give_the_same_attack(key):
    """Reports of the client itself, round by round, instead of counts drawn at once."""
    member, rounds, n = MEMOISED[key](3, 2.0, 1.0), 3, 10_000
    subject = memoised_subject(member, rounds, trials=TRIALS, alpha=RARE)
    chances = chances_by_counts(subject, member, rounds)
    for held, chance in zip((0, 1), subject.probabilities, strict=True):
        rng = stream("audit devices", key, held)
        report, counts = member.devices(n, rng), np.zeros((2, n), dtype=int)
        for _ in range(rounds):
            seen = member.once.supports(report(np.full(n, held), rng), (0, 1))
            counts += np.array([seen.first, seen.second])
        assert set(map(tuple, np.unique(counts, axis=1).T)) <= set(chances)
        hits = sum(chances[tuple(pair)] for pair in counts.T.tolist())
        assert accept(two_sided((hits - n * chance) / np.sqrt(n * chance * (1 - chance))))


def chances_by_counts(subject, member, rounds):
    """Whether the attack says v1, by both counts, from the exact tables of all sequences."""
    tables = []
    for value in (0, 1):
        counts = {}
        for sent, chance in sequences(member, (value,) * rounds).items():
            place = tuple(supports(member, sent)[:, :2].sum(axis=0).astype(int).tolist())
            counts[place] = counts.get(place, 0) + chance
        tables.append(counts)
    ratios = {place: tables[0][place] / tables[1][place] for place in tables[0]}
    for cut in sorted(ratios.values()):
        said = {place: ratio >= cut * (1 - 1e-9) for place, ratio in ratios.items()}
        if sum(tables[0][place] for place in said if said[place]) == pytest.approx(subject.probabilities[0], rel=1e-9):
            return said
    raise AssertionError("the attack is none of the likelihood ratio")


@pytest.mark.parametrize("key", MEMOISED)
def test_fresh_noise_goes_on_to_lose_more(key):
    """The same attack on fresh reports: above the permanent budget soon, and never above the sum of all."""
    once = MEMOISED[key](10, 2.0, 1.0).once
    subjects = [fresh_subject(once, rounds, trials=10**6, alpha=RARE) for rounds in (1, 2, 4, 8)]
    found = [run_audit(subject, trials=TRIALS, alpha=RARE, seed=0) for subject in subjects]
    analytic = [one.epsilon_analytic for one in found]
    assert analytic[0] == pytest.approx(1, rel=1e-9)
    assert all(a < b for a, b in itertools.pairwise(analytic))
    assert analytic[-1] > 3
    for one, rounds in zip(found, (1, 2, 4, 8), strict=True):
        assert one.agrees
        assert one.epsilon_lower_bound <= rounds == one.epsilon_guaranteed


def test_all_fresh_reports_together_lose_the_sum_of_their_budgets():
    """The largest ratio of the two counts: each budget once for every round."""

    def check(cell):
        key, rounds = cell
        law = _fresh_law(MEMOISED[key](6, 2.0, 1.0).once, rounds)
        assert law.sum() == pytest.approx(1, rel=1e-12)
        possible = law > 0
        assert np.log(law[possible] / law.T[possible]).max() == pytest.approx(rounds, rel=1e-9)

    assert failures(itertools.product(MEMOISED, [1, 2, 5]), check) == {}


def test_a_device_that_forgets_is_shown_to_leak():
    """Negative control: fresh reports, read as if they were memoised, exceed what is promised."""
    member = MEMOISED["grr"](10, 2.0, 1.0)
    subject = memoised_subject(member, 20, trials=TRIALS, alpha=RARE)
    (p, q), hits, n = (member.once.p, member.once.q), [], 200_000
    for held, (own, other) in enumerate([(p, q), (q, p)]):
        rng = stream("forgets", held)
        first = rng.binomial(20, own, size=n)
        second = rng.binomial(20 - first, other / (1 - own))
        hits.append(int((first - second >= 8).sum()))
    assert conclude(subject, *hits, trials=n, alpha=RARE).leaks


@pytest.mark.parametrize("rounds", [0, 2001])
def test_rounds_of_an_audit_are_few_enough_for_a_table(rounds):
    with pytest.raises(ValueError, match="must be between 1 and 2,000"):
        subject_of("grr", rounds)
