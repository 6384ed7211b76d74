import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from simulator import frequency_oracles
from simulator.audit import bit_flips_subject, fresh_subject, memoised_subject, rounds_subject, run_audit
from simulator.audit.run import conclude, log_ratio, most_supported
from simulator.audit.several import _law
from simulator.memoisation import MEMOISED
from tests.cells import over

from .law import accept, oracle_of, scores_of, stream, two_sided
from .memoised_law import member_of, sequences, supports

PROTOCOLS = frequency_oracles()
RARE, TRIALS = 1e-6, 10_000  # RARE: how often a bound of one audit may miss


def off(hits, chance, n):
    return two_sided((hits - n * chance) / np.sqrt(n * chance * (1 - chance)))


@over(itertools.product(PROTOCOLS, [(2, 3), (6, 5), (5, 1)]))
def test_averaging_attack_is_algorithm_2(key, setting):
    """Round by round; ties are broken evenly. One round is the guess of the closed forms."""
    k, rounds = setting
    oracle, rng, trials = oracle_of(key, k, 1.0), stream("rounds", key, k), 2000
    subject = rounds_subject(oracle, rounds)
    for held in (0, 1):
        z = np.zeros((trials, k))
        for _ in range(rounds):
            z += scores_of(oracle, oracle.perturb(np.full(trials, held), rng))
        top = np.where(z == z.max(axis=1, keepdims=True), rng.random(z.shape), -1.0)
        slow, quick = (top.argmax(axis=1) == 0).sum(), subject.sampler(held, trials, rng).sum()
        p = (slow + quick) / (2 * trials)
        assert accept(two_sided((slow - quick) / np.sqrt(2 * trials * p * (1 - p))))
        stated = oracle.attack_probabilities("guess", (0, 1)) if rounds == 1 else subject.probabilities
        assert stated is None or accept(off(slow, stated[held], trials))
    assert subject.epsilon_guaranteed == rounds


FEW = [("oue", 2, 1, 1.3), ("rappor", 3, 2, 1.3), ("olh", 3, 3, 1.3), ("oue", 4, 2, 1.3)]
NEARLY_SURE = [("rappor", 2, 8, 20.0), ("rappor", 4, 6, 16.0), ("oue", 3, 60, 6.0)]


@over([*FEW, *NEARLY_SURE])
def test_the_closed_form_is_the_sum_over_all_counts_and_keeps_its_digits_where_it_is_nearly_sure(
    key, k, rounds, epsilon
):
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
    found = most_supported(oracle, rounds)
    assert found == pytest.approx((float(own), float((1 - own) / (k - 1))), rel=1e-6)
    assert found[0] == pytest.approx(float(own), rel=1e-9)
    assert log_ratio(found) == pytest.approx(math.log(own) - math.log((1 - own) / (k - 1)), rel=1e-6)


@over(itertools.product(("rappor", "oue", "olh"), [1000]), slow=[("olh", 10**6)])
def test_a_loss_beyond_all_digits_is_no_error(key, rounds):
    assert log_ratio(most_supported(PROTOCOLS[key](4, 8.0), rounds)) > 100


def subject_of(key, rounds, k=10):
    return memoised_subject(MEMOISED[key](k, 2.0, 1.0), rounds, trials=TRIALS, alpha=RARE)


@over(itertools.product(MEMOISED, (True, False)))
def test_the_loss_stops_at_the_permanent_budget_and_goes_on_with_fresh_noise(key, remembers):
    once, many = MEMOISED[key](10, 2.0, 1.0).once, (1, 2, 20, 500) if remembers else (1, 2, 4, 8)
    fresh = (fresh_subject(once, rounds, trials=10**6, alpha=RARE) for rounds in many)
    subjects = (subject_of(key, rounds) for rounds in many) if remembers else fresh
    found = [run_audit(subject, trials=TRIALS, alpha=RARE, seed=0) for subject in subjects]
    analytic = [one.epsilon_analytic for one in found]
    assert analytic[0] == pytest.approx(1, rel=1e-9)
    assert all(a < b for a, b in itertools.pairwise(analytic))
    for one, rounds in zip(found, many, strict=True):
        assert (one.agrees, one.leaks, one.epsilon_forever) == (True, False, 2 if remembers else None)
        assert one.epsilon_lower_bound <= one.epsilon_guaranteed == (2 if remembers and rounds > 1 else rounds)
    if remembers:
        assert analytic[-1] == pytest.approx(2, rel=1e-6)
        assert found[-1].epsilon_lower_bound > 1.5
        return
    assert analytic[-1] > 3
    for rounds in many:  # the largest ratio of the two counts: each budget once for every round
        law = _law((1.0, 0.0), once.probabilities, rounds, None if once.independent_supports else once.k)
        assert law.sum() == pytest.approx(1, rel=1e-12)
        assert np.log(law[law > 0] / law.T[law > 0]).max() == pytest.approx(rounds, rel=1e-9)


def likeliest(member, rounds, seen, subject):
    """Ratios of the likelihoods of all that is seen of a history, and what is above the threshold of an audit."""
    tables = [Counter(), Counter()]
    for value, table in enumerate(tables):
        for sent, chance in sequences(member, (value,) * rounds).items():
            table[seen(sent)] += chance
    ratios = {place: tables[0][place] / tables[1][place] for place in tables[0]}
    for least in ratios.values():
        cut = {place for place, ratio in ratios.items() if ratio >= least * (1 - 1e-9)}
        chances = [sum(table[place] for place in cut) for table in tables]
        if subject.probabilities == pytest.approx(chances, rel=1e-9):
            return ratios, cut
    pytest.fail("no threshold of the ratio has the probabilities of the audit")


@over(itertools.product(MEMOISED, [2]), slow=itertools.product(MEMOISED, [3]))
def test_the_attack_is_the_likelihood_ratio_of_both_counts_over_all_sequences(key, rounds):
    member, n = MEMOISED[key](3, 2.0, 1.0), 5_000
    subject = memoised_subject(member, rounds, trials=TRIALS, alpha=RARE)

    def seen_of(sent):
        return tuple(supports(member, sent)[:, :2].sum(axis=0).astype(int).tolist())

    ratios, said = likeliest(member, rounds, seen_of, subject)
    for held, chance in zip((0, 1), subject.probabilities, strict=True):
        rng = stream("audit devices", key, held)
        assert accept(off(subject.sampler(held, 5 * n, rng).sum(), chance, 5 * n))
        report, counts = member.devices(n, rng), np.zeros((2, n), dtype=int)
        for _ in range(rounds):
            seen = member.once.supports(report(np.full(n, held), rng), (0, 1))
            counts += np.array([seen.first, seen.second])
        assert set(map(tuple, np.unique(counts, axis=1).T)) <= set(ratios)
        assert accept(off(sum(tuple(pair) in said for pair in counts.T.tolist()), chance, n))


@over(itertools.product((1, 2, 3), (1, 2)))
def test_bits_that_are_repeated_tell_no_more_than_once(bits, rounds):
    member, n = member_of(f"dbitflip{bits}"), 20_000
    subject = bit_flips_subject(member, rounds, trials=TRIALS, alpha=RARE)

    def seen_of(sent):
        mine, each = sent
        assert len(set(each)) == 1
        return tuple(each[0][mine.index(v)] if v in mine else None for v in (0, 1))

    ratios, _ = likeliest(member, rounds, seen_of, subject)
    assert math.log(max(ratios.values())) == pytest.approx(member.loss(rounds), rel=1e-9)
    for held, chance in zip((0, 1), subject.probabilities, strict=True):
        assert accept(off(subject.sampler(held, n, stream("bit flips", bits, held)).sum(), chance, n))
    found = run_audit(subject, trials=TRIALS, alpha=RARE, seed=0)
    assert (found.agrees, found.leaks, found.epsilon_guaranteed) == (True, False, 1.0)


def test_a_device_that_forgets_is_shown_to_leak():
    member = MEMOISED["grr"](10, 2.0, 1.0)
    (p, q), hits, n = (member.once.p, member.once.q), [], 200_000
    for held, (own, other) in enumerate([(p, q), (q, p)]):
        rng = stream("forgets", held)
        first = rng.binomial(20, own, size=n)
        second = rng.binomial(20 - first, other / (1 - own))
        hits.append(int((first - second >= 8).sum()))
    assert conclude(subject_of("grr", 20), *hits, trials=n, alpha=RARE).leaks


def test_rounds_with_memories_are_few_enough_for_a_table():
    for rounds in (0, 2001):
        with pytest.raises(ValueError, match="must be between 1 and 2,000"):
            subject_of("grr", rounds)
