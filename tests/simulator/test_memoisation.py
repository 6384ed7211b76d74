"""Memoised protocols: promises by enumeration, laws against devices that report round by round, errors and spending.

False-alarm rates as in `law`: 1e-6 for the file.
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from simulator.memoisation import MEMOISED, Changes, DBitFlipPM
from tests.cells import over

from .law import accept, merge_bins, moments_p, stream, two_sided
from .memoised_law import EVERY, FOREVER, contributions, member_of, replay_rounds, sequences, supports, values_of

SHARES = np.array([0.6, 0.3, 0.1])
PAIRS = [(2.0, 1.0), (0.5, 0.1), (5.0, 1.2)]


def published_second_step(k, epsilon_forever, epsilon):
    """Return p2 of L-GRR as published, which drops a term ``(k - 2) q1 q2`` and so adds more noise than epsilon needs.

    It solves ``p1 p2 + q1 q2 = e^epsilon (p1 q2 + q1 p2)``; the probabilities of two values that are neither kept in
    both steps nor exchanged are omitted. Arcolezi, Couchot, Al Bouna, Xiao, 2022.
    """
    odds = math.exp(epsilon)
    p1 = 1 / (1 + (k - 1) * math.exp(-epsilon_forever))
    q1 = (1 - p1) / (k - 1)
    return (odds * p1 - q1) / ((k - 1) * p1 - q1 + odds * p1 - (k - 1) * odds * q1)


def largest_loss(member, rounds, k=3):
    tables = [sequences(member, (value,) * rounds) for value in range(k)]
    assert all(sum(table.values()) == pytest.approx(1, abs=1e-9) for table in tables)
    pairs = [(first[sent], second[sent]) for first, second in itertools.permutations(tables, 2) for sent in first]
    return max(math.log(one / other) for one, other in pairs if one > 0)


@over(itertools.product(MEMOISED, PAIRS))
def test_one_round_loses_exactly_its_budget_and_more_rounds_up_to_the_permanent_one(key, setting):
    forever, once = setting
    member = member_of(key, forever=forever, once=once)
    assert largest_loss(member, 1) == pytest.approx(once, rel=1e-9)
    two = largest_loss(member, 2)
    assert once < two < forever
    assert two == pytest.approx(member.loss(2), rel=1e-9)
    assert member.loss(1) == pytest.approx(once, rel=1e-9)
    losses = [member_of(key, 8, forever, once).loss(rounds) for rounds in (1, 2, 10, 100, 1000, 10**5, 10**6)]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(losses))
    assert losses[-1] == pytest.approx(forever, rel=1e-6)


@over(["grr", "rappor", "oue"])
def test_values_that_change_in_the_same_rounds_lose_at_most_a_budget_for_each(key):
    member = member_of(key)
    alike, changing = [(value, value) for value in range(3)], list(itertools.permutations(range(3), 2))
    for first, second in (*itertools.permutations(alike, 2), *itertools.permutations(changing, 2)):
        one, other = sequences(member, first), sequences(member, second)
        assert max(math.log(chance / other[sent]) for sent, chance in one.items()) <= len(set(first)) * FOREVER


def test_budgets_of_memos_do_not_bound_what_a_change_shows():
    member = member_of("dbitflip2")
    still, moving = sequences(member, (0, 0)), sequences(member, (1, 2))
    loss = max(math.log(chance / moving[sent]) for sent, chance in still.items() if moving.get(sent, 0) > 0)
    assert loss == pytest.approx(2.448, abs=5e-4)
    assert loss > 2 * member.epsilon_forever
    # Randomised response: the same report in 200 rounds, from one memo, or from two that are equal by chance.
    member, rounds = member_of("grr"), 200
    (p1, q1), (p2, q2) = member.first, member.second
    one = p1 * p2**rounds + (1 - p1) * q2**rounds
    two = (q1 * p2 ** (rounds // 2) + (1 - q1) * q2 ** (rounds // 2)) ** 2
    assert math.log(one / two) == pytest.approx(math.log(p1 / q1**2), rel=1e-9)
    assert math.log(one / two) > 2 * FOREVER


@pytest.mark.parametrize(("k", "forever", "once"), [(10, 2.0, 1.0), (100, 4.0, 2.0), (3, 1.0, 0.3)])
def test_the_second_step_of_unary_encoding_turns_both_bits_alike(k, forever, once):
    member = member_of("oue", k, forever, once)
    (_, q1), (p2, q2) = member.first, member.second
    assert p2 + q2 == pytest.approx(1, rel=1e-12)
    assert q1 * p2 + (1 - q1) * (1 - p2) == pytest.approx(1 / (math.exp(once) + 1), rel=1e-12)


@pytest.mark.parametrize("key", MEMOISED)
def test_the_estimate_is_that_of_both_steps(key):
    member, support, n = member_of(key, 5), np.array([30, 10, 5, 0, 55]), 100
    (p1, q1), (p2, q2) = member.first, member.second
    expected = (support - n * q1 * (p2 - q2) - n * q2) / (n * (p1 - q1) * (p2 - q2))
    assert member.estimate(support, n) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("k", "forever", "once", "loss", "ratio"), [(10, 2.0, 1.0, 0.699, 2.7), (100, 4.0, 2.0, 1.25, 6.3)]
)
def test_published_longitudinal_randomised_response_is_noisier_than_its_budget_needs(k, forever, once, loss, ratio):
    exact, p2 = member_of("grr", k, forever, once), published_second_step(k, forever, once)
    p1, q1 = exact.first
    q2 = (1 - p2) / (k - 1)
    p, q = p1 * p2 + (1 - p1) * q2, p1 * q2 + q1 * p2 + (k - 2) * q1 * q2
    assert p + (k - 1) * q == pytest.approx(1, rel=1e-12)
    assert (p1 * p2 + q1 * q2) / (p1 * q2 + q1 * p2) == pytest.approx(math.exp(once), rel=1e-12)  # what was solved
    assert math.log(p / q) == pytest.approx(loss, abs=5e-3)
    assert q * (1 - q) / (p - q) ** 2 / exact.moments.other == pytest.approx(ratio, abs=0.05)


def test_no_other_number_of_symbols_has_a_lower_variance_in_a_round():
    """Variance of a round at frequency 0, by g: (e^eps + g - 1)^2 / ((e^eps - 1)^2 (g - 1))."""
    for once in np.linspace(0.1, 6, 200):
        odds, member = math.exp(once), member_of("olh", 50, once + 1, float(once))
        variances = {g: (odds + g - 1) ** 2 / (g - 1) / (odds - 1) ** 2 for g in range(2, 600)}
        assert variances[member.g] == min(variances.values())
        assert member.moments.other == pytest.approx(variances[member.g], rel=1e-9)


@pytest.mark.parametrize(
    ("forever", "once", "g", "ratio"), [(1.0, 0.5, 2, 1.054), (2.0, 1.0, 3, 1.138), (4.0, 2.0, 7, 1.096)]
)
def test_published_loloha_drops_the_same_term_and_chooses_a_smaller_g_for_it(forever, once, g, ratio):
    """Optimal g of Arcolezi et al., EDBT 2023, and their second step, which is exact for g = 2 alone."""
    a, b = math.exp(forever), math.exp(once)
    root = math.sqrt(a**4 - 14 * a**2 + 12 * a * b * (1 - a * b) + 12 * a**3 * b + 1)
    assert 1 + max(1, round((1 - a * a + root) / (6 * (a - b)))) == g
    p2 = published_second_step(g, forever, once)
    odds = (a * b - 1) / (a - b)
    assert p2 == pytest.approx(odds / (odds + g - 1), rel=1e-12)
    p1 = a / (a + g - 1)
    p = p1 * p2 + (1 - p1) * (1 - p2) / (g - 1)
    variance = (g - 1) / g**2 / (p - 1 / g) ** 2
    member = member_of("olh", 100, forever, once)
    assert member.g > g
    assert variance / member.moments.other == pytest.approx(ratio, abs=5e-4)
    if g == 2:
        assert p2 == pytest.approx(member_of("blh", 100, forever, once).second[0], rel=1e-12)


HISTORIES = np.array([(0, 0, 0), (1, 1, 1), (0, 1, 0), (1, 2, 2), (2, 0, 1)])
USERS = np.array([20, 9, 15, 12, 6])
DRAWS = 3000


@cache
def moments_of(key):
    """Exact mean and covariance of the support counts of all rounds, one after the other."""
    member, mean, covariance = member_of(key), 0.0, 0.0
    for history, count in zip(HISTORIES.tolist(), USERS, strict=True):
        table = sequences(member, tuple(history))
        chances = np.array(list(table.values()))
        rows = np.array([supports(member, sent).ravel() for sent in table])
        middle = chances @ rows
        mean = mean + count * middle
        covariance = covariance + count * ((rows - middle).T * chances @ (rows - middle))
    return mean, covariance


@over(("grr", "oue"), slow=tuple(key for key in MEMOISED if key not in ("grr", "oue")))
def test_the_law_over_rounds_is_that_of_all_sequences(key):
    member = member_of(key)
    rng, values = stream("memoised", "law", "replay", key), np.repeat(HISTORIES, USERS, axis=0)
    draws = replay_rounds(member, values, DRAWS, rng).reshape(DRAWS, -1)
    for p_values in moments_p(draws, *moments_of(key)):
        assert accept(p_values)


@pytest.mark.parametrize("key", ["grr", "oue", "blh"])
def test_negative_control_fresh_noise_in_each_round_is_noticed(key):
    member = member_of(key)
    mean, covariance = moments_of(key)
    rng = stream("memoised", "fresh", key)
    counts = np.array([np.bincount(column, USERS, minlength=3) for column in HISTORIES.T]).astype(int)
    draws = member.once.sample_support(np.broadcast_to(counts, (DRAWS, 3, 3)), rng)
    means, covariances = moments_p(draws.reshape(DRAWS, 9), mean, covariance)
    assert accept(means)
    assert not accept(covariances)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["grr", "oue", "olh"])
def test_negative_control_a_memo_that_is_forgotten_is_noticed(key):
    member = member_of(key)
    rng, values = stream("memoised", "forgotten", key), np.repeat(HISTORIES, USERS, axis=0)
    steps = [replay_rounds(member, before, DRAWS, rng) for before in (values[:, :2], values[:, 2:])]
    draws = np.concatenate(steps, axis=1).reshape(DRAWS, -1)
    means, covariances = moments_p(draws, *moments_of(key))
    assert accept(means)
    assert not accept(covariances)


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key in EVERY if key not in ("blh", "olh")])
def test_reports_of_devices_are_the_enumerated_ones(key):
    member, n = member_of(key), 40_000
    for history in ((0, 0), (0, 1), (2, 2)):
        table = sequences(member, history)
        report, rng = member.devices(n, stream("devices", key)), stream("devices", key, *history)
        sent = np.stack([report(np.full(n, value), rng) for value in history], axis=1)
        seen = dict.fromkeys(table, 0)
        for row in sent:
            seen[canonical(member, row)] += 1
        observed, expected = np.array(list(seen.values())), n * np.array(list(table.values()))
        possible = expected > 1e-9
        assert not observed[~possible].any()
        groups = merge_bins(expected[possible])
        observed, expected = (np.bincount(groups, weights=row[possible]) for row in (observed, expected))
        assert accept(stats.chisquare(observed, expected).pvalue)


def canonical(member, row):
    if member.key == "grr":
        return tuple(row.tolist())
    if member.key == "dbitflip":
        mine = tuple(np.flatnonzero(row[0] >= 0).tolist())
        return mine, tuple(tuple(bits[list(mine)].tolist()) for bits in row)
    return tuple(tuple(bits) for bits in row.tolist())


@over(
    [
        (lambda: MEMOISED["grr"](4, 1.0, 1.0), "must be below eps-forever, got eps 1 and eps-forever 1"),
        (lambda: MEMOISED["oue"](4, 1.0, 2.0), "must be below eps-forever"),
        (lambda: MEMOISED["oue"](1, 2.0, 1.0), "k must be a whole number"),
        (lambda: DBitFlipPM(4, 2.0, 1.0), "both budgets must be the same"),
        (lambda: DBitFlipPM(4, 1.0, 1.0, bits=5), "bits must be between 1 and k=4, got 5"),
        (lambda: Changes(SHARES, 0), "rounds must be at least 1"),
        (lambda: Changes(SHARES, 3, 1.5), "changes must be a number between 0 and 1, got 1.5"),
        (lambda: Changes(SHARES, 3, 0.6), "changes must be at most 0.54 for these frequencies"),
    ]
)
def test_bad_input_is_told(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def chances_of_histories(rounds, share):
    changes = Changes(SHARES, rounds, share)
    result = {}
    for history in itertools.product(range(3), repeat=rounds):
        chance = SHARES[history[0]]
        for before, now in itertools.pairwise(history):
            chance *= changes.redraw * SHARES[now] + (1 - changes.redraw) * (before == now)
        result[history] = chance
    return result


@pytest.mark.parametrize("share", [0.0, 0.1, 0.54])
def test_so_many_change(share):
    table = chances_of_histories(4, share)
    assert sum(c * np.mean([a != b for a, b in itertools.pairwise(h)]) for h, c in table.items()) == pytest.approx(
        share, abs=1e-12
    )


@over(EVERY)
def test_errors_of_a_round_and_of_the_average_are_those_of_all_sequences(key):
    member, rounds, n = (member_of(key), 3 if key in ("grr", "dbitflip1") else 2, 100)  # of which some have very many
    once, average = {}, {}
    for history in itertools.product(range(3), repeat=rounds):
        table = sequences(member, history)
        chances = np.array(list(table.values()))
        rows = np.array([contributions(member, sent) for sent in table])
        truth = np.eye(3)[list(history)]
        assert np.tensordot(chances, rows, 1) == pytest.approx(truth, abs=1e-9)
        once[history] = chances @ (rows - truth)[:, 0] ** 2
        average[history] = chances @ (rows - truth).mean(axis=1) ** 2
    for share in (0.0, 0.1, 0.54):
        changes, weights = Changes(SHARES, rounds, share), chances_of_histories(rounds, share)
        for variance, squares in ((changes.round_variance, once), (changes.average_variance, average)):
            expected = sum(weight * squares[history] for history, weight in weights.items())
            assert variance(member.moments, n) == pytest.approx(expected / n, rel=1e-9), share


@over(itertools.product(MEMOISED, [1, 7, 1000]))
def test_averaging_a_value_that_stays_leaves_the_noise_of_the_permanent_step(key, rounds):
    member, changes = member_of(key, 3), Changes(SHARES, rounds)
    forever, once = (oracle.variance(SHARES, 50) for oracle in (member.permanent, member.once))
    assert changes.average_variance(member.moments, 50) == pytest.approx(forever + (once - forever) / rounds, rel=1e-9)


@over(itertools.product([1, 2, 4], [0.0, 0.54]))
def test_values_held_and_memos_kept_are_those_of_all_histories(rounds, share):
    changes, table = Changes(SHARES, rounds, share), chances_of_histories(rounds, share)
    assert changes.values_held == pytest.approx(sum(c * len(set(h)) for h, c in table.items()), rel=1e-12)
    for key in MEMOISED:
        member = member_of(key)
        functions = [tuple(range(3))]
        if key in ("blh", "olh"):
            functions = list(itertools.product(range(member.g), repeat=3))
        exact = np.mean([sum(c * len({f[v] for v in h}) for h, c in table.items()) for f in functions])
        assert member.mean_memos(changes) == pytest.approx(exact, rel=1e-5)  # of the grid of masses
    for bits in (1, 2, 3):
        member = member_of(f"dbitflip{bits}")
        mine = list(itertools.combinations(range(3), bits))
        exact = np.mean([sum(c * len({v if v in m else -1 for v in h}) for h, c in table.items()) for m in mine])
        # With two bits the mean of what lies between 0 and 1 over 20,000 devices: 6 standard errors at most.
        error = 6 * 0.5 / math.sqrt(20_000) if bits == 2 else 1e-9
        assert abs(member.mean_memos(changes) - exact) <= error


def test_memos_of_hashing_are_those_of_devices_in_a_large_domain():
    for k in (50, 30_000):
        shares = 1 / np.arange(1, k + 1)
        changes, member = Changes(shares / shares.sum(), 40, 0.1), member_of("olh", k)
        rng = stream("symbols", k)
        values = values_of(changes, 10_000, rng)
        symbols = rng.integers(0, member.g, size=(200, k))  # of so many hash functions
        seen = np.sort(symbols[np.arange(len(values))[:, None] % 200, values], axis=1)
        held = 1 + (np.diff(seen, axis=1) > 0).sum(axis=1)
        by_function = held.reshape(-1, 200).mean(axis=0)  # users of one function are not independent of each other
        error = by_function.std() / math.sqrt(200)
        assert accept(two_sided((held.mean() - member.mean_memos(changes)) / error))
