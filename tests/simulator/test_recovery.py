import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, simulate
from simulator.domain import Attackers, Domain
from simulator.methods import observe
from simulator.methods.recovery import FALSE_ALARM, most_honest
from simulator.poisoning import ATTACKS, MAXIMAL, NOBODY, Attack, _not_all, frequent_set, screened, stacked, suspects_of
from simulator.populations import apportion, frequencies
from simulator.protocols.protocol import Tally
from tests.cells import over

from .law import accept, scores_of, stream, two_sided

K, SHARE, TARGETS = 12, 0.1, (2, 5, 9)
FEARED = Domain(attackers=Attackers(SHARE, TARGETS))


@pytest.mark.parametrize("key", ["oue", "olh"])
def test_screened_tallies_follow_the_law_of_replayed_reports(key):
    protocol, counts, rounds = PROTOCOLS[key](K, 1.0), apportion(frequencies("zipf", K), 3000), 40
    values, rng = np.array(TARGETS), stream("replay", key)
    slow = []
    for _ in range(rounds):
        each = scores_of(protocol, protocol.perturb(np.repeat(np.arange(K), counts), rng)).astype(bool)
        chosen = each[:, values].all(axis=1)
        slow.append([*each.sum(axis=0), chosen.sum(), *each[chosen].sum(axis=0)])
    fast = []
    for _ in range(10 * rounds):
        one = screened(counts, values, protocol.p, protocol.q, rng)
        fast.append([*one.counts, one.suspects, *one.suspect_counts])
    slow, fast = np.array(slow, dtype=float), np.array(fast, dtype=float)
    error = np.sqrt(fast.var(axis=0) * (1 / rounds + 1 / len(fast)))
    assert accept(two_sided((slow.mean(axis=0) - fast.mean(axis=0)) / error))
    # A negative control: with supports that do not look at who stands out, the same check fails.
    apart = fast.copy()
    apart[:, K + 1 :] = fast[:, [K]] * protocol.q
    assert not accept(two_sided((slow.mean(axis=0) - apart.mean(axis=0)) / np.maximum(error, 1e-9)))


def test_supports_of_reports_that_miss_a_value_are_those_of_an_enumeration():
    chances, users = np.array([[0.5, 0.3, 0.2], [0.3, 0.7, 0.6]]), np.array([600_000, 400_000])
    mean, variance = np.zeros(3), np.zeros(3)
    for row, n in zip(chances, users, strict=True):
        weights = {bits: np.prod(np.where(bits, row, 1 - row)) for bits in itertools.product((0, 1), repeat=3)}
        del weights[1, 1, 1]
        p = sum(weight * np.array(bits) for bits, weight in weights.items()) / sum(weights.values())
        mean, variance = mean + n * p, variance + n * p * (1 - p)
    drawn = _not_all(users, chances, stream("enumeration"))
    assert accept(two_sided((drawn - mean) / np.sqrt(variance)))


@over(itertools.product([*ATTACKS, NOBODY], ("oue", "olh")))
def test_the_tally_is_the_same_law_whether_reports_are_screened_or_not(kind, key):
    protocol, counts = PROTOCOLS[key](K, 1.0), apportion(frequencies("zipf", K), 20_000)
    attack = Attack(kind, SHARE, TARGETS)
    rows = [attack.collect(protocol, counts, stream(key, kind, r), stream("fake", key, r)) for r in range(50)]
    got = stacked(rows).tally.counts.mean(axis=0)
    fakes = attack.fakes(20_000)
    honest = apportion(counts, 20_000 - fakes) if fakes else counts
    expected = honest * protocol.p + (honest.sum() - honest) * protocol.q
    if kind == MAXIMAL:
        expected = expected + protocol.crafted(np.array(TARGETS), fakes, stream("x")).counts
        # What the fakes support besides is shared out, or hashed, at random.
        free = np.setdiff1d(np.arange(K), TARGETS)
        expected[free] += (got - expected)[free].mean()
    elif fakes:
        expected = expected + fakes * protocol.random_rate
    assert accept(two_sided((got - expected) / np.sqrt(20_000 / 4 / 50)))


@pytest.mark.parametrize(("n", "k", "r", "p", "q"), [(10_000, 50, 5, 0.5, 0.27), (100_000, 12, 2, 0.73, 0.5)])
def test_honest_reports_stand_out_less_often_than_stated(n, k, r, p, q):
    probability = p * q ** (r - 1)  # if every user held a value of the set, which no other set could beat
    limit = most_honest(n, k, r, probability)
    assert math.comb(k, r) * stats.binom.sf(limit, n, probability) <= FALSE_ALARM
    # and the bound is no idle one: a third of the way above the mean it would be broken far too often
    short = n * probability + (limit - n * probability) / 3
    assert math.comb(k, r) * stats.binom.sf(short, n, probability) > FALSE_ALARM


def test_the_projection_of_recover_is_the_published_iteration():
    """Sun et al. solve least squares on the simplex by dropping what is negative, again and again."""
    protocol = PROTOCOLS["oue"](K, 1.0)
    noise = protocol.noise(1000)
    for raw in stream("recover").normal(1 / K, 0.2, size=(50, K)):
        ratio, positive = SHARE / (1 - SHARE), raw > 0
        added = np.where(positive, (1 - K * protocol.q) / (protocol.p - protocol.q) / positive.sum(), 0.0)
        wanted, kept = raw + ratio * (raw - added), np.ones(K, dtype=bool)
        while True:
            moved = np.where(kept, wanted + (1 - wanted[kept].sum()) / kept.sum(), 0.0)
            if moved.min() >= 0:
                break
            kept &= moved > 0
        np.testing.assert_allclose(POSTPROCESSORS["recover"](raw, noise, FEARED), moved, atol=1e-12)


EXACT = [("grr", "recover_known"), *((key, "subtract_fakes") for key in ("grr", "ss", "olh", "blh"))]


@over([*((*pair, True) for pair in EXACT), ("olh", "recover_known", False)])
def test_without_noise_what_fakes_add_to_known_targets_comes_off(key, method, exact):
    protocol = PROTOCOLS[key](K, 1.0)
    f, targets = frequencies("zipf", K), np.array(TARGETS)
    fake = protocol.crafted(targets, 600_000, stream("fakes", key)).counts / 600_000
    if key in ("olh", "blh"):
        fake = np.where(np.isin(np.arange(K), targets), 1.0, protocol.q)  # what hashing sends there on average
    honest = f * protocol.p + (1 - f) * protocol.q
    support = (1 - SHARE) * honest + SHARE * fake
    raw = (support - protocol.q) / (protocol.p - protocol.q)
    # Bits are dealt out whole: shares of 600,000 reports are off by one report at most.
    close = np.allclose(POSTPROCESSORS[method](raw, protocol.noise(10**6), FEARED), f, atol=1e-4)
    assert close == exact


@pytest.mark.parametrize("key", ["oue", "blh", "olh"])
def test_dropping_what_stands_out_leaves_the_estimate_unbiased(key):
    """Many users at equal frequencies: projections shift all estimates alike, so that means can be told apart."""
    protocol, n, rounds = PROTOCOLS[key](K, 1.0), 1_000_000, 100
    counts, attack = apportion(np.ones(K), n), Attack(MAXIMAL, SHARE, TARGETS)
    rows = [attack.collect(protocol, counts, stream(key, "h", r), stream(key, "f", r)) for r in range(rounds)]
    both = stacked(rows)
    observed = observe(protocol, both.tally, suspects=both.suspects)
    repaired = POSTPROCESSORS["drop_fakes"].apply(observed)
    error = repaired.std(axis=0, ddof=1) / math.sqrt(rounds)
    assert accept(two_sided((repaired.mean(axis=0) - 1 / K) / error))
    naive = (both.tally.counts - both.suspects.counts) / (n - both.suspects.users[:, None])
    bias = (naive.mean(axis=0) - protocol.q) / (protocol.p - protocol.q) - 1 / K
    assert not accept(two_sided(bias[list(TARGETS)] / error[list(TARGETS)]))


@pytest.mark.parametrize("key", ["oue", "olh"])
def test_a_search_finds_what_fakes_promote_and_nothing_among_honest_reports(key):
    protocol, rng, n = PROTOCOLS[key](20, 1.0), stream("search", key), 20_000
    targets = np.array([1, 7, 12, 18])
    reports = protocol.perturb(rng.choice(20, p=frequencies("zipf", 20), size=n), rng)
    supports = scores_of(protocol, reports).astype(bool)
    assert frequent_set(supports, protocol.p, protocol.q) is None
    for share in (0.02, 0.03, 0.05):  # few fakes are a small part of the reports with any two of their values
        supports[: round(share * n), targets] = True
        found = frequent_set(supports, protocol.p, protocol.q)
        assert np.array_equal(found, targets), share
    truth, noise = frequencies("zipf", 20), protocol.noise(n)
    tally = Tally(supports.sum(axis=0), n)
    repaired = POSTPROCESSORS["drop_fakes"].apply(observe(protocol, tally, suspects=suspects_of(supports, found)))
    poisoned = POSTPROCESSORS["norm_sub"](protocol.estimate(tally.counts, n), noise)
    assert np.abs(repaired - truth).sum() < 0.5 * np.abs(poisoned - truth).sum()


def test_one_target_and_honest_users_change_nothing_and_remedies_say_what_they_have_to_know():
    protocol, counts = PROTOCOLS["oue"](K, 1.0), apportion(frequencies("zipf", K), 50_000)
    calm = Attack(NOBODY, SHARE, TARGETS).collect(protocol, counts, stream("calm"), stream("x"))
    observed = observe(protocol, calm.tally, suspects=calm.suspects)
    norm_sub = POSTPROCESSORS["norm_sub"].apply(observed)
    np.testing.assert_array_equal(POSTPROCESSORS["drop_fakes"].apply(observed), norm_sub)
    assert Attack(MAXIMAL, SHARE, (3,)).collect(protocol, counts, stream("one"), stream("x")).suspects is None
    noise = PROTOCOLS["oue"](K, 1.0).noise(100)
    with pytest.raises(ValueError, match="method recover needs to know the attackers"):
        POSTPROCESSORS["recover"](np.full(K, 1 / K), noise)
    with pytest.raises(ValueError, match="method subtract_fakes needs to know the targets"):
        POSTPROCESSORS["subtract_fakes"](np.full(K, 1 / K), noise, Domain(attackers=Attackers(0.1)))


@pytest.mark.parametrize("key", ["grr", "oue", "ss"])
def test_errors_under_attack_are_those_of_the_closed_form(key):
    """Cao et al.: the raw estimates of the targets rise by ``share ((supports - r q) / (p - q) - f_T)`` together."""
    n, f = 10**8, frequencies("zipf", K)
    counts, protocol = apportion(f, n), PROTOCOLS[key](K, 1.0)
    attack = Attack(MAXIMAL, SHARE, TARGETS)
    calm = Experiment(counts, {key: protocol}, POSTPROCESSORS, {"l1": METRICS["l1"]}, ((key, "none"),))
    task = replace(calm, domain=FEARED, attack=attack)
    r, p, q = len(TARGETS), protocol.p, protocol.q
    size = p + (K - 1) * q
    most = min(r, round(size)) if protocol.sums_to_one else r
    support = np.where(np.isin(np.arange(K), TARGETS), most / r, max((round(size) - most) / (K - r), 0.0))
    shift = SHARE * ((support - q) / (p - q) - counts / n)
    error = float(simulate(task, 0, 3).errors[key, "none"].mean())
    noise = math.sqrt(float(protocol.variance(f, n).sum())) * K  # far more than what is left of it in a sum
    assert error == pytest.approx(np.abs(shift).sum(), abs=5 * noise)
    assert abs(float(simulate(calm, 0, 3).errors[key, "none"].mean()) - np.abs(shift).sum()) > 5 * noise
    assert task.id != calm.id


def test_repetitions_under_attack_do_not_depend_on_which_pairs_are_simulated():
    counts, menu = apportion(frequencies("zipf", K), 5000), {key: PROTOCOLS[key](K, 1.0) for key in ("oue", "grr")}
    pairs = (("oue", "none"), ("oue", "drop_fakes"), ("grr", "norm_min"))
    attack = Attack(MAXIMAL, SHARE, TARGETS)
    task = Experiment(counts, menu, POSTPROCESSORS, {"l1": METRICS["l1"]}, pairs, 3, FEARED, attack)
    whole, alone = simulate(task, 0, 6, jobs=2), simulate(task, 2, 4, pairs=pairs[:1])
    np.testing.assert_array_equal(whole.errors["oue", "none"][2:], alone.errors["oue", "none"])
