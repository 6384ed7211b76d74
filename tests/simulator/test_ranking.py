import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from simulator import PROTOCOLS, ranking
from simulator.ranking import Ratio, contenders, mean_error, paired_ratio, preferred, quotient, rank, t_quantile

FALSE_ALARM = 1e-6  # of each statistical test in this file; seeds are fixed


def shifted(mean, spread, size=50, seed=0):
    """Errors whose sample mean is exactly `mean`."""
    noise = np.random.default_rng(seed).normal(0, spread, size)
    return mean + noise - noise.mean()


def test_ratios_are_the_delta_method_and_infinite_to_a_perfect_reference():
    a, b = shifted(2.0, 0.4, seed=1), shifted(1.0, 0.3, seed=2)
    ratio = paired_ratio(a, b)
    cov = np.cov(a, b)
    variance = (cov[0, 0] - 2 * 2.0 * cov[0, 1] + 4.0 * cov[1, 1]) / len(a)
    reach = stats.t.ppf(0.975, 49) * math.sqrt(variance)
    assert (ratio.low, ratio.high) == pytest.approx((2.0 - reach, 2.0 + reach), rel=1e-9)
    assert paired_ratio(a, np.concatenate([b, b])) == ratio  # of the repetitions that both have
    nothing = np.zeros(5)
    assert paired_ratio(nothing, nothing) == (1.0, 1.0, 1.0)
    for size, low in ((5, 1.0), (6, math.inf)):  # five errors to none are chance in one of 16 cases, six in one of 32
        assert paired_ratio(np.ones(size), np.zeros(size)) == (math.inf, low, math.inf)


@pytest.mark.parametrize("freedom", [1, 2, 40])
def test_the_interval_of_a_mean_of_few_skewed_errors_holds_it_as_often_as_it_says(freedom):
    """Squared errors of few categories are chi-squared; a plain t interval holds 89 % of the means of 20 (one)."""
    rng, trials = np.random.default_rng(8), 1200
    rows = [mean_error(rng.chisquare(freedom, 20)) for _ in range(trials)]
    covered = sum(row.low <= freedom <= row.high for row in rows)
    # A cubic of estimated skewness is not exact either: 94.4 % with one degree of freedom, of 20,000 trials.
    assert covered >= stats.binom.ppf(FALSE_ALARM, trials, 0.944)
    assert covered <= stats.binom.isf(FALSE_ALARM, trials, 0.95)
    plain = sum(abs(row.error - freedom) <= t_quantile(20) * row.standard_error for row in rows)
    assert freedom > 1 or plain < stats.binom.ppf(FALSE_ALARM, trials, 0.944)


@pytest.mark.parametrize("freedom", [1, 40])
@pytest.mark.parametrize("shared", [0.0, 0.5, 0.98])
def test_the_scaled_mean_of_a_pair_that_was_out_early_is_held_as_often_as_others(shared, freedom):
    """Without the noise of the scale its interval holds 85 to 90 % where nothing is shared, all where nearly all is."""
    rng, trials = np.random.default_rng(9), 1200
    covered = 0
    for _ in range(trials):
        noise = rng.standard_normal((freedom, 160))
        other = shared * noise[:, :20] + math.sqrt(1 - shared**2) * rng.standard_normal((freedom, 20))
        row = mean_error(3 * (other**2).sum(axis=0), (noise**2).sum(axis=0))
        covered += row.low <= 3 * freedom <= row.high
    # As above, of 20,000 trials: 94.0 to 95.4 %.
    assert stats.binom.ppf(FALSE_ALARM, trials, 0.940) <= covered <= stats.binom.isf(FALSE_ALARM, trials, 0.954)


def test_the_mean_of_fewer_repetitions_is_scaled_by_those_of_the_leading_pair():
    errors, lowest = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0, 6.0, 8.0])
    row = mean_error(errors, lowest)
    assert row.error == pytest.approx(7 / 3 * 4 / 2)
    assert mean_error(2 * lowest[:3], lowest).standard_error == pytest.approx(2 * stats.sem(2 * lowest[:3]) * 0.6**0.5)
    assert mean_error(errors, lowest[:3]) == mean_error(errors)  # as many repetitions
    assert mean_error(errors, 0 * lowest) == mean_error(errors)  # nothing to scale by


def test_the_ends_of_an_interval_solve_halls_cubic():
    errors = np.random.default_rng(4).gamma(2.0, 1.0, 30)
    row, skew = mean_error(errors), stats.skew(errors) / math.sqrt(30)
    for end, quantile in ((row.low, t_quantile(30)), (row.high, -t_quantile(30))):
        off = (row.error - end) / row.standard_error
        assert off + skew * off**2 / 3 + skew**2 * off**3 / 27 + skew / 6 == pytest.approx(quantile, rel=1e-9)
    assert mean_error(np.full(9, 0.3))[:3] == pytest.approx((0.3, 0.3, 0.3), rel=1e-12)
    even = mean_error(np.array([1.0, 2.0, 3.0]))
    assert even.high - even.error == pytest.approx(t_quantile(3) * stats.sem([1.0, 2.0, 3.0]))


def test_nothing_is_divided_by_an_error_that_is_zero_but_for_rounding():
    cost = dict.fromkeys("abcd", (1,))
    for least in (0.0, 1e-17, 9e-13, 1.1e-12, 1e-9, 0.1):
        errors = {(name, "x"): np.full(5, error) for name, error in zip("adbc", (least, 1.0, 0.3, 0.2), strict=True)}
        standings = rank(errors, cost)
        assert [one.pair[0] for one in standings] == ["a", "c", "b", "d"]  # by error, whether there are ratios or none
        ratios = [one.ratio.figures[0] for one in standings]
        assert ratios == (
            [1.0, None, None, None] if least < 1e-12 else pytest.approx([1, 0.2 / least, 0.3 / least, 1 / least])
        )
        assert quotient(1.0, least) == (None if least < 1e-12 else 1 / least)
    assert (quotient(None, 1.0), quotient(1.0, None), quotient(0.0, 0.0), quotient(0.0, 1.0)) == (None, None, None, 0.0)


def by_definition(ratios, ties, costs):
    """The order as it is defined, in quadratic time."""
    near = [at for at, tie in enumerate(ties) if tie and ratios[at] <= ranking.PRACTICAL_RATIO]
    first = min(near, key=lambda at: (costs[at], ratios[at]))
    return [
        ranking.Place(
            at, 1 if ties[at] else 1 + sum(other < ratios[at] for other in ratios), ties[at] and sum(ties) > 1
        )
        for at in [first, *sorted(set(range(len(ratios))) - {first}, key=lambda at: (ratios[at], at))]
    ]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from([1, 1.04, 1.05, 1.06, 2, 3]), st.booleans(), st.sampled_from("abc"))))
def test_places_are_as_defined_where_errors_are_the_same_too(rows):
    every = [(1.0, True, "c"), *rows]  # the lowest error
    ratios, ties = [row[0] for row in every], [row[1] or row[0] < ranking.PRACTICAL_RATIO for row in every]
    costs = [(1.0, row[2]) for row in every]
    assert list(ranking.places(ratios, ties, costs)) == by_definition(ratios, ties, costs)
    options = list(zip(ratios, costs, strict=True))
    first = min(options, key=lambda one: ranking.preference(*one))
    near = [one for one in options if one[0] <= 1.05]
    assert first == min(near, key=lambda one: (one[1], one[0]))


def test_what_is_exact_decides_between_pairs_that_errors_do_not_separate():
    ratios = {
        ("dear", "x"): Ratio(1.0, 1.0, 1.0),
        ("rough", "x"): Ratio(1.03, 0.99, 1.07),
        ("precise", "x"): Ratio(1.06, 1.03, 1.09),
        ("precise", "y"): Ratio(1.04, 1.01, 1.07),
        ("worse", "x"): Ratio(1.1, 1.06, 1.14),
        ("unknown", "x"): Ratio(1.06, 0.98, 1.14),
        ("far", "x"): Ratio(1.3, 0.9, 1.7),
    }
    costs = {"dear": (9,), "rough": (3,), "precise": (5,), "worse": (2,), "unknown": (1,), "far": (0,)}
    variances = {"dear": 1.0, "rough": 1.06, "precise": 1.05, "worse": 0.9, "far": 1.0}
    assert preferred(ratios, costs, variances) == ("precise", "y")
    assert preferred(ratios, costs, {**variances, "precise": 1.051}) == ("dear", "x")
    # Where there is no variance errors decide: within 5 % of the lowest the cheapest.
    assert preferred(ratios, costs, {"precise": 1.0, "unknown": 1.0}) == ("rough", "x")
    assert preferred({**ratios, ("unknown", "x"): Ratio(1.05, 0.98, 1.12)}, costs, variances) == ("unknown", "x")


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(0.5, 2), st.floats(0.001, 1), st.sampled_from("abc")), min_size=1, max_size=12),
    st.integers(0, 1000),
)
def test_ranking_rules_hold_for_any_errors(rows, seed):
    rng = np.random.default_rng(seed)
    errors = {}
    for place, (mean, spread, protocol) in enumerate(rows):
        errors[protocol, f"m{place}"] = np.abs(rng.normal(mean, spread, int(rng.integers(2, 30))))
    cost = {"a": (1, "a"), "b": (2, "b"), "c": (2, "c")}
    table, pairs = rank(errors, cost), list(errors)
    longest = max(map(len, errors.values()))
    lowest = min((block for block in errors.values() if len(block) == longest), key=np.mean)
    ratios, ties = [], []
    for block in errors.values():  # by the textbook variance of a ratio of means
        size = len(block)
        (aa, ab), (_, bb) = np.cov(block, lowest[:size]) / size
        base, value = lowest[:size].mean(), block.mean() / lowest[:size].mean()
        reach = stats.t.ppf(0.975, size - 1) * math.sqrt(max(aa - 2 * value * ab + value**2 * bb, 0)) / base
        ratios.append(value)
        ties.append(block is lowest or value < ranking.PRACTICAL_RATIO or value - reach <= 1)
    order = by_definition(ratios, ties, [cost[protocol] for protocol, _ in pairs])
    assert [(row.pair, row.rank, row.tied) for row in table] == [(pairs[at], *place) for at, *place in order]
    for row in table:  # what is shown is what is compared, over however many repetitions
        assert row.error / lowest.mean() == pytest.approx(row.ratio.value, rel=1e-9)
        assert row.ratio == paired_ratio(errors[row.pair], lowest)
        assert row.repetitions == len(errors[row.pair])
    assert sum(row.win_share for row in table) == pytest.approx(1)


def test_a_pair_that_dropped_out_does_not_lead_by_repetitions_that_were_easy_for_all():
    easy, hard = shifted(1.0, 0.01, 20), shifted(1.5, 0.01, 60, seed=1)
    errors = {
        ("p", "dropped"): 1.1 * easy,
        ("p", "leader"): np.concatenate([easy, hard]),
        ("p", "close"): 1.01 * np.concatenate([easy, hard]),
        ("p", "dropped later"): 1.2 * np.concatenate([easy, hard[:20]]),
    }
    table = rank(errors, {"p": (1,)})
    assert [row.pair[1] for row in table] == ["leader", "close", "dropped", "dropped later"]
    assert [row.rank for row in table] == [1, 1, 3, 4]
    assert [row.ratio.value for row in table] == pytest.approx([1, 1.01, 1.1, 1.2])
    assert ranking.leading(errors) == ("p", "leader")
    assert contenders(errors).racing == {("p", "leader"), ("p", "close")}


def test_wins_are_split_between_equals_and_dropped_pairs_do_not_win():
    errors = {
        ("p", "a"): np.array([1.0, 1.0, 2.0, 2.0]),
        ("p", "b"): np.array([1.0, 2.0, 1.0, 2.0]),
        ("p", "dropped"): np.array([9.0, 0.5]),
    }
    shares = {row.pair[1]: row.win_share for row in rank(errors, {"p": (1,)})}
    assert shares == {"a": 0.25 * (0.5 + 0 + 0 + 0.5), "b": 0.25 * (0.5 + 0 + 1 + 0.5), "dropped": 0.25}
    assert rank({}, {}) == ()
    assert contenders({}) == (frozenset(), frozenset())


def test_blocks_are_compared_by_the_ratio_that_is_given():
    errors = {
        ("p", name): shifted(mean, 0.001, seed=place)
        for place, (name, mean) in enumerate([("a", 1), ("b", 2), ("c", 3)])
    }

    def of_minima(block, reference):
        value = float(block.min() / reference.min())
        return Ratio(value, value - 1.5, value + 1.5)

    plain = rank(errors, {"p": (1,)})
    assert [row.rank for row in plain] == [1, 2, 3]
    table = rank(errors, {"p": (1,)}, of_minima)
    assert [(row.pair[1], row.rank) for row in table] == [("a", 1), ("b", 1), ("c", 3)]
    assert [row.ratio for row in table] == [of_minima(errors[row.pair], errors["p", "a"]) for row in table]
    assert [row[4:9] for row in table] == [row[4:9] for row in plain]  # errors, intervals, spreads
    assert contenders(errors).racing == {("p", "a")}
    assert contenders(errors, of_minima) == ({("p", "a"), ("p", "b")}, {("p", "a"), ("p", "b")})


@pytest.mark.parametrize("fault", [math.nan, math.inf, -math.inf])
def test_what_has_no_finite_error_comes_last_and_disturbs_no_other(fault):
    sound = {("p", "a"): shifted(1.0, 0.01), ("q", "b"): shifted(1.5, 0.01, seed=1), ("p", "none"): np.zeros(30)}
    for names in ([], [("p", "a")], list(sound)):
        errors = {name: sound[name] for name in names}
        broken = {("q", "once"): np.where(np.arange(50) == 7, fault, 9.0), ("q", "always"): np.full(50, fault)}
        table = rank(errors | broken, {"p": (1,), "q": (2,)})
        assert [row for row in table if row.pair in errors] == list(rank(errors, {"p": (1,), "q": (2,)})) or not errors
        assert {row.pair for row in table[len(errors) :]} == set(broken)
        assert all(math.isinf(row.error) and row.tied is not bool(errors) for row in table[len(errors) :])
        racing = contenders(errors | broken).racing
        assert racing == (contenders(errors).racing if errors else set(broken))


def test_of_protocols_that_are_the_same_one_has_the_lower_cost():
    costs = [one(64, 1.0).cost for one in PROTOCOLS.values()]
    assert len(set(costs)) == len(costs)
