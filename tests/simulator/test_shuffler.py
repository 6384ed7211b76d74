import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import binom

from simulator import PROTOCOLS, shuffler
from simulator.protocols.protocol import Blanket
from simulator.shuffler import CentralHistogram, Shuffler, blanket_of, clones_2021, clones_2023, hockey_stick
from tests.cells import over

from .law import channel_of

NEVER = 1e-300  # a smallest delta: nothing is left out of the sums
KNOWN = ("grr", "rappor", "oue", "blh", "olh", "ss", "the", "pgr")


def two_counts(epsilon, blanket, others, chance, silent):
    """Return the delta of two counts, summed over every pair of them.

    Each of the others adds to one of them with a chance; the user adds to the first, to the second, or to none.
    """
    odds, other = math.exp(blanket.loss), blanket.opposite
    coins = binom(others, chance)
    delta = 0.0
    likely = coins.pmf(np.arange(-1, others + 2))
    for total in range(others + 2):
        fewer, same = likely[total : total + 2]
        if fewer + same < 1e-30:  # as far as any delta here tells, it does not happen
            continue
        first = np.arange(total + 1)
        one, two = (binom.pmf(place, total - 1, 0.5) * fewer if total else 0.0 for place in (first - 1, first))
        alone = silent * binom.pmf(first, total, 0.5) * same
        held, instead = other * (odds * one + two) + alone, other * (one + odds * two) + alone
        delta += float(np.maximum(held - math.exp(epsilon) * instead, 0).sum())
    return delta


def slow_hockey_stick(epsilon, blanket, n):
    """Return the mean of that over how many of the others are drawn from the common distribution."""
    chance = min(1.0, 2 * blanket.opposite / blanket.share)
    weights = binom.pmf(np.arange(n), n - 1, blanket.share)
    deltas = [two_counts(epsilon, blanket, others, chance, blanket.silent) for others in range(n)]
    return float(weights @ np.array(deltas))


def published_hockey_stick(epsilon, blanket, n):
    """Return the delta of the variation ratio, where the attacker is not told how many are drawn from it."""
    odds, other = math.exp(blanket.loss), blanket.opposite
    return two_counts(epsilon, blanket, n - 1, 2 * other, max(0.0, 1 - (odds + 1) * other))


def laws_of(key, k, epsilon):
    """Return the probabilities of every report of each value."""
    return list(channel_of(PROTOCOLS[key](k, epsilon))[0])


def shuffled(laws):
    """Return the law of the histogram of reports that are drawn from these laws, one each."""
    result = {(0,) * len(laws[0]): 1.0}
    for law in laws:
        after = defaultdict(float)
        for counts, chance in result.items():
            for report, likely in enumerate(law.tolist()):
                after[(*counts[:report], counts[report] + 1, *counts[report + 1 :])] += chance * likely
        result = after
    return result


def shuffled_deltas(laws, n, epsilons):
    """Return the true deltas of n shuffled reports: the worst of all collections that differ in one user."""
    worst = np.zeros(len(epsilons))
    for others in itertools.combinations_with_replacement(range(len(laws)), n - 1):
        held, instead = (shuffled([laws[value], *(laws[one] for one in others)]) for value in (0, 1))
        pairs = np.array([(chance, instead[key]) for key, chance in held.items()])
        lost = np.maximum(pairs[:, 0] - np.exp(np.array(epsilons))[:, None] * pairs[:, 1], 0).sum(axis=1)
        worst = np.maximum(worst, lost)
    return worst.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 7, 16])
@pytest.mark.parametrize("local", [0.3, 1.0, 4.0])
def test_the_bound_is_the_sum_over_every_pair_of_counts(n, local, monkeypatch):
    monkeypatch.setattr("simulator.shuffler.BLANKETS", n)
    monkeypatch.setattr("simulator.shuffler.WIDEST", 10**6)
    for blanket in (*(blanket_of(PROTOCOLS[key](8, local)) for key in ("grr", "oue", "ss")), Blanket.generic(local)):
        for epsilon in (0.0, 0.1 * local, 0.5 * local):
            slow = slow_hockey_stick(epsilon, blanket, n)
            assert hockey_stick(epsilon, blanket, n, NEVER) == pytest.approx(slow, rel=1e-9, abs=1e-14)


SMALL = [("grr", 2, 9), ("grr", 3, 6), ("grr", 4, 4), ("rappor", 2, 6), ("oue", 2, 6), ("oue", 3, 3), ("ss", 4, 4)]
SMALL += [("blh", 2, 4), ("blh", 3, 3), ("the", 2, 5), ("pgr", 3, 4), ("rappor", 3, 3)]


@over([(0.5 if place % 2 else 2.5, each) for place, each in enumerate(SMALL)])
def test_shuffled_reports_lose_no_more_than_the_bound(local, setting):
    key, k, n = setting
    blanket = blanket_of(PROTOCOLS[key](k, local))
    epsilons = tuple(share * local for share in (0.0, 0.05, 0.1, 0.3, 0.6, 0.9))
    true = shuffled_deltas(laws_of(key, k, local), n, epsilons)
    bound = [hockey_stick(epsilon, blanket, n, NEVER) for epsilon in epsilons]
    assert all(lost <= most * (1 + 1e-9) for lost, most in zip(true, bound, strict=True))
    # The bound is of use: reports that lose half as much would be taken for too private.
    half = blanket._replace(variation=blanket.variation / 2)
    assert true[0] > hockey_stick(0.0, half, n, NEVER)


def test_hash_functions_that_confuse_values_can_hide_less():
    blanket = blanket_of(PROTOCOLS["blh"](64, 4.0))
    apart = blanket_of(PROTOCOLS["grr"](2, 4.0))  # every hash function tells the two values apart
    assert apart.share == pytest.approx(blanket.share)
    assert apart.variation == pytest.approx(2 * blanket.variation)
    assert hockey_stick(0.4, blanket, 10_000, 1e-12) > 10 * hockey_stick(0.4, apart, 10_000, 1e-12)


def test_the_published_bound_is_exceeded_by_a_shuffle_and_ours_is_not():
    local, epsilon, n = 0.5, 0.45, 4
    blanket = blanket_of(PROTOCOLS["grr"](3, local))
    # Three users hold 0, and the fourth 0 or 1: four reports of 0 are e^local times likelier where all hold 0.
    p = math.exp(local) / (math.exp(local) + 2)
    lost = p**4 * (1 - math.exp(epsilon - local))
    assert shuffled_deltas(laws_of("grr", 3, local), n, (epsilon,))[0] == pytest.approx(lost)
    assert published_hockey_stick(epsilon, blanket, n) < lost / 4
    assert lost <= hockey_stick(epsilon, blanket, n, NEVER) * (1 + 1e-12)


@over(itertools.product([0.2, 1.0, 2.3, 4.0], KNOWN))
def test_a_blanket_is_what_all_reports_of_all_values_say(epsilon, key):
    k = 2 if key in ("blh", "olh") else 6  # all hash functions of more values are too many
    laws = laws_of(key, k, epsilon)
    blanket = blanket_of(PROTOCOLS[key](k, epsilon))
    pairs = list(itertools.permutations(laws, 2))
    assert blanket.variation == pytest.approx(max(np.maximum(one - other, 0).sum() for one, other in pairs), rel=1e-9)
    assert blanket.loss == pytest.approx(max(np.log(one / other).max() for one, other in pairs), rel=1e-9)
    common = np.min(laws, axis=0)
    assert blanket.share <= common.sum() * (1 + 1e-9)
    # Each report says that one value is likelier by the whole loss, or that none is.
    losses = np.abs(np.log(laws[0] / laws[1]))
    speaking = losses > 1e-9
    assert losses[speaking] == pytest.approx(blanket.loss)
    # Of the common reports as many speak for the one as for the other, and no fewer than are counted.
    for_first, for_second = (common[speaking & (one > other)].sum() for one, other in (laws[:2], laws[1::-1]))
    assert for_first == pytest.approx(for_second)
    assert blanket.opposite <= for_first * (1 + 1e-9)


@over(PROTOCOLS)
def test_no_reports_differ_by_more_than_a_yes_or_no_answer(key):
    for k, epsilon in itertools.product((2, 5, 64), (1e-6, 0.5, 3.0, 20.0)):
        blanket, most = blanket_of(PROTOCOLS[key](k, epsilon)), Blanket.generic(epsilon)
        assert 0 < blanket.variation <= most.variation * (1 + 1e-9)
        assert blanket.loss <= epsilon * (1 + 1e-9)
        assert 2 * blanket.opposite <= blanket.share * (1 + 1e-9)


@over(
    [
        (Blanket.generic(4.0), 0.4141),
        (blanket_of(PROTOCOLS["grr"](100, 4.0)), 0.2344),
        # Local hashing of g = 8 symbols, where no hash function sends two values to the same one.
        (blanket_of(PROTOCOLS["grr"](8, 2.0)), 0.0859),
    ],
    slow=[(Blanket.generic(1.0), 0.0440), (blanket_of(PROTOCOLS["grr"](51, 1.0)), 0.0107)],
)
def test_published_figures_of_10_000_users(blanket, published):
    ours = Shuffler(10_000, 1e-6).central(blanket)
    assert published - blanket.loss / 2**10 - 5e-5 <= ours <= published + 5e-5


@pytest.mark.slow
def test_published_figures_of_100_000_users():
    n, local, delta = 100_000, 4.0, 1e-6
    numerical = Shuffler(n, delta).central(Blanket.generic(local))
    first, second = clones_2021(local, n, delta), clones_2023(local, n, delta)
    assert first is not None
    assert second is not None
    assert second == pytest.approx(0.4078, abs=5e-5)
    assert numerical < second < first
    # The authors' program has (1 - 1/x) / (1 + 1/(x y)) for the factor (x - 1) / (x + 1) of the theorem.
    loose = math.expm1(first) / math.tanh(local / 2)
    program = math.log1p(loose * -math.expm1(-local) / (1 + math.exp(-local) / (1 + loose)))
    assert program == pytest.approx(0.5378, abs=5e-5)
    # Their numerical bounds, 0.1675 and 0.1728, are of clones with probability e^-local, before that was tightened.
    low, high = (clones(epsilon, local, n, math.exp(-local)) for epsilon in (0.1728, 0.1675))
    assert low <= delta <= high
    assert clones(numerical, local, n, 2 / (math.exp(local) + 1)) == pytest.approx(delta, rel=2 * shuffler.MARGIN)


def clones(epsilon, local, n, chance):
    """Return the delta where each of the others is a clone with this chance, by whole columns."""
    odds, others = math.exp(local), binom(n - 1, chance)
    likely = np.arange(others.ppf(1e-12), others.isf(1e-12) + 1)
    delta = 0.0
    for coins, weight in zip(likely, others.pmf(likely), strict=True):
        reach = 4 * math.sqrt(coins) + 1  # eight standard deviations
        first = np.arange(max(0, math.floor(coins / 2 - reach)), min(coins, math.ceil(coins / 2 + reach)) + 2)
        one, other = binom.pmf(first - 1, coins, 0.5), binom.pmf(first, coins, 0.5)
        held, instead = (odds * one + other) / (odds + 1), (one + odds * other) / (odds + 1)
        delta += float(weight * np.maximum(held - math.exp(epsilon) * instead, 0).sum())
    return delta


@pytest.mark.parametrize("n", [10**6, pytest.param(10**8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("key", ["grr", "sw"])
def test_sums_at_distances_are_within_the_margin(n, key, monkeypatch):
    blanket = blanket_of(PROTOCOLS[key](64, 2.0))
    epsilon = Shuffler(n, 1e-8).central(blanket)
    some = hockey_stick(epsilon, blanket, n, 1e-8)
    monkeypatch.setattr("simulator.shuffler.TOTALS", 10**9)
    every = hockey_stick(epsilon, blanket, n, 1e-8)
    assert some != every
    assert abs(some / every - 1) < shuffler.MARGIN


@over([(1.0, 10_000)], slow=[(0.1, 10**6), (2.0, 50), (1.0, 10**11)])
def test_the_local_budget_is_the_largest_that_keeps_the_promise(epsilon, n):
    users = Shuffler(n, 1e-8)
    budgets = users.local(epsilon, {key: PROTOCOLS[key] for key in ("grr", "oue", "sw")}, 32)
    for key, local in budgets.items():
        assert epsilon <= local <= 32
        for generic in (False, True):
            own = Blanket.generic(local) if generic else blanket_of(PROTOCOLS[key](32, local))
            more = Blanket.generic(local * 1.001) if generic else blanket_of(PROTOCOLS[key](32, min(32, local * 1.001)))
            if users.keeps(epsilon, own):
                break
        else:
            pytest.fail(f"{key} at {local} keeps no promise of {epsilon}")
        assert local == 32 or not users.keeps(epsilon, more)
        assert users.central(own) <= epsilon * (1 + 2 * shuffler.PRECISION)
    assert budgets["oue"] > budgets["sw"] or n == 50


def test_few_reports_outside_of_the_blanket_cost_no_budget():
    """Their number is as skewed as a Poisson number: cut off where a Gaussian ends, it alone would exceed delta."""
    grr, n, epsilon, delta = PROTOCOLS["grr"], 1000, 0.01, 1e-8
    local = Shuffler(n, delta).local(epsilon, {"grr": grr}, 50)["grr"]
    kept, lost = (published_hockey_stick(epsilon, blanket_of(grr(50, each)), n) for each in (local, 1.01 * local))
    assert kept <= delta < lost  # we tell the attacker more, and lose less than 1 % by it


@pytest.mark.slow
def test_a_budget_that_no_report_keeps_is_refused():
    with pytest.raises(ValueError, match="lose more than 1e-09"):
        Shuffler(100, 1e-12).local(1e-9, PROTOCOLS, 4)
    assert Shuffler(10**9, 1e-4).local(1e-9, {"grr": PROTOCOLS["grr"]}, 4)["grr"] > 1e-6


def test_the_blanket_of_grr_is_the_published_one_and_one_user_has_the_local_promise():
    assert Shuffler(1, 1e-6).central(Blanket.generic(1.0)) == pytest.approx(1.0, rel=1e-4)
    assert blanket_of(PROTOCOLS["grr"](10, 1.5)).share == pytest.approx(10 / (math.exp(1.5) + 9))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-8), (0.1, 0.2), (8.0, 1e-6)])
def test_the_noise_of_a_trusted_server_keeps_its_promise_and_has_its_variance(epsilon, delta):
    histogram = CentralHistogram(epsilon, delta)
    # Another value moves two counts by one, so each may lose half of the budget.
    law = np.exp(-epsilon / 2 * np.abs(places := np.arange(-600 / epsilon, 600 / epsilon + 1) // 1))
    law /= law.sum()
    assert histogram.laplace_variance == pytest.approx(float((law * places**2).sum()), rel=1e-6)
    # The two Gaussian laws lie the square root of 2 apart.
    sd = histogram.deviation
    x = np.linspace(-20 * sd, 20 * sd + 2, 400_001)
    one, other = (np.exp(-(((x - shift) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi)) for shift in (math.sqrt(2), 0))
    lost = float(np.maximum(one - math.exp(epsilon) * other, 0).sum() * (x[1] - x[0]))
    assert lost == pytest.approx(delta, rel=1e-3)
    assert histogram.variance == min(histogram.laplace_variance, sd**2)
    # What is drawn has the variance that is stated: four standard errors of it, false alarms below 1 in 10,000.
    counts = np.full(200_000, 5)
    squares = (histogram.estimate(counts, np.random.default_rng(1)) * counts.sum() - counts) ** 2
    assert abs(squares.mean() - histogram.variance) < 4 * np.std(squares) / math.sqrt(len(counts))
