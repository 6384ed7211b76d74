from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simulator.ranking import PRACTICAL_RATIO, Pair, contenders, paired_ratio, rank, t_quantile

FALSE_ALARM = 1e-6  # of each statistical test in this file; seeds are fixed


def shifted(mean: float, spread: float, size: int = 50, seed: int = 0) -> np.ndarray:
    """Errors whose sample mean is exactly `mean`."""
    noise = np.random.default_rng(seed).normal(0, spread, size)
    return mean + noise - noise.mean()


def test_t_quantile_is_students() -> None:
    for size in (2, 3, 20, 400):
        assert t_quantile(size) == pytest.approx(stats.t.ppf(0.975, size - 1), rel=1e-12)


def test_paired_ratio_cancels_shared_noise() -> None:
    shared = shifted(1.0, 0.2)
    ratio = paired_ratio(1.5 * shared, shared)
    assert ratio.value == pytest.approx(1.5)
    assert ratio.high - ratio.low < 1e-12
    independent = paired_ratio(shifted(1.5, 0.3, seed=1), shared)
    assert independent.high - independent.low > 0.1


def test_paired_ratio_is_the_delta_method() -> None:
    a, b = shifted(2.0, 0.4, seed=1), shifted(1.0, 0.3, seed=2)
    ratio = paired_ratio(a, b)
    cov = np.cov(a, b)
    variance = (cov[0, 0] - 2 * 2.0 * cov[0, 1] + 4.0 * cov[1, 1]) / len(a)
    assert ratio.high - ratio.value == pytest.approx(stats.t.ppf(0.975, 49) * math.sqrt(variance), rel=1e-9)


def test_paired_ratio_uses_the_repetitions_both_have() -> None:
    a, b = shifted(2.0, 0.4, size=20), shifted(1.0, 0.3, size=80)
    assert paired_ratio(a, b) == paired_ratio(a, b[:20])


def test_interval_covers_the_true_ratio_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    trials, covered = 4000, 0
    for _ in range(trials):
        shared = rng.gamma(25, 1 / 25, 200)
        b = shared + rng.normal(0, 0.1, 200)
        a = 1.2 * shared + rng.normal(0, 0.1, 200)
        ratio = paired_ratio(a, b)
        covered += ratio.low <= 1.2 <= ratio.high
    # With 200 repetitions the error of the asymptotic interval itself is a tenth of this margin.
    margin = stats.norm.isf(FALSE_ALARM / 2) * math.sqrt(0.95 * 0.05 / trials)
    assert abs(covered / trials - 0.95) < margin


def test_a_perfect_reference_has_no_finite_ratio() -> None:
    nothing = np.zeros(5)
    assert paired_ratio(nothing, nothing) == (1.0, 1.0, 1.0)
    assert paired_ratio(np.ones(5), nothing) == (math.inf, math.inf, math.inf)


def test_tiers_ranks_and_order_inside_a_tier() -> None:
    errors: dict[Pair, np.ndarray] = {
        ("cheap", "a"): shifted(1.03, 0.001),
        ("dear", "a"): shifted(1.00, 0.001, seed=1),
        ("dear", "b"): shifted(1.02, 0.001, seed=2),
        ("cheap", "b"): shifted(1.50, 0.001, seed=3),
        ("dear", "c"): shifted(1.50 * 1.2, 0.001, seed=4),
    }
    table = rank(errors, {"cheap": 1, "dear": 100})
    assert [row.pair for row in table] == [
        ("cheap", "a"),  # under 1.05: tied with the best, and the cheaper report
        ("dear", "a"),
        ("dear", "b"),
        ("cheap", "b"),
        ("dear", "c"),
    ]
    assert [row.rank for row in table] == [1, 1, 1, 4, 5]
    assert [row.tier for row in table] == [1, 1, 1, 2, 3]
    assert [row.tied for row in table] == [True, True, True, False, False]
    assert table[0].ratio.value == pytest.approx(1.03, abs=1e-12)


def test_noise_makes_a_tie_and_repetitions_break_it() -> None:
    def table(size: int) -> list[int]:
        errors = {("p", "a"): shifted(1.0, 0.5, size), ("p", "b"): shifted(1.2, 0.5, size, seed=1)}
        return [row.rank for row in rank(errors, {"p": 1})]

    assert table(10) == [1, 1]
    assert table(1000) == [1, 2]


def test_a_noisy_worse_method_pulls_the_better_one_of_its_protocol_into_the_tier() -> None:
    errors = {
        ("other", "best"): shifted(1.0, 0.001),
        ("p", "steady"): shifted(1.2, 0.001, seed=1),  # excluded on its own
        ("p", "noisy"): shifted(1.3, 3.0, seed=2),  # interval includes 1
    }
    table = rank(errors, {"other": 1, "p": 1})
    assert [row.pair[1] for row in table] == ["best", "steady", "noisy"]
    assert [row.rank for row in table] == [1, 1, 1]


@given(
    st.lists(st.tuples(st.floats(0.5, 2), st.floats(0.001, 1), st.sampled_from("abc")), min_size=1, max_size=12),
    st.integers(0, 1000),
)
def test_ranking_rules_hold_for_any_errors(rows: list[tuple[float, float, str]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    errors: dict[Pair, np.ndarray] = {}
    for place, (mean, spread, protocol) in enumerate(rows):
        errors[protocol, f"m{place}"] = np.abs(rng.normal(mean, spread, int(rng.integers(2, 30))))
    cost = {"a": 1, "b": 2, "c": 2}
    table = rank(errors, cost)
    assert sorted(row.pair for row in table) == sorted(errors)
    assert sum(row.win_share for row in table) == pytest.approx(1)
    leader = min(errors, key=lambda pair: errors[pair].mean())
    for row in table:
        assert row.rank == 1 + sum(other.tier < row.tier for other in table)
        assert row.tied == (sum(other.tier == row.tier for other in table) > 1)
        ratio = paired_ratio(errors[row.pair], errors[leader])
        if ratio.low <= 1 or ratio.value < PRACTICAL_RATIO:
            assert row.rank == 1
    for first, second in pairwise(table):
        if first.pair[0] == second.pair[0]:
            assert first.error <= second.error
        if first.tier == second.tier:
            assert (cost[first.pair[0]], first.error) <= (cost[second.pair[0]], second.error)
    for protocol in "abc":
        means = [row.error for row in table if row.pair[0] == protocol]
        assert means == sorted(means)


def test_wins_are_split_between_equals_and_dropped_pairs_do_not_win() -> None:
    errors = {
        ("p", "a"): np.array([1.0, 1.0, 2.0, 2.0]),
        ("p", "b"): np.array([1.0, 2.0, 1.0, 2.0]),
        ("p", "dropped"): np.array([9.0, 0.5]),
    }
    shares = {row.pair[1]: row.win_share for row in rank(errors, {"p": 1})}
    assert shares == {"a": 0.25 * (0.5 + 0 + 0 + 0.5), "b": 0.25 * (0.5 + 0 + 1 + 0.5), "dropped": 0.25}


def test_contenders() -> None:
    errors = {
        ("p", "best"): shifted(1.0, 0.001),
        ("p", "close"): shifted(1.01, 0.001, seed=1),
        ("p", "unclear"): shifted(1.2, 1.0, seed=2),
        ("p", "behind"): shifted(1.2, 0.001, seed=3),
    }
    verdict = contenders(errors)
    assert verdict.racing == {("p", "best"), ("p", "close"), ("p", "unclear")}
    assert verdict.open == {("p", "unclear")}


@pytest.mark.parametrize("root", [2, 4])
def test_ratios_of_roots_are_those_of_the_errors(root: int) -> None:
    """Errors that differ by a factor have roots that do, and the tier is of what differs by less than 5 % itself."""
    base = np.random.default_rng(5).uniform(1, 2, 40)
    for factor, tied in ((1.04, True), (1.08, False)):
        errors = {("a", "x"): base ** (1 / root), ("b", "x"): (factor * base) ** (1 / root)}
        ratio = paired_ratio(errors["b", "x"], errors["a", "x"], root)
        assert ratio.value == pytest.approx(factor)
        assert ratio.low == pytest.approx(factor)
        standings = rank(errors, {"a": 1.0, "b": 1.0}, root)
        assert (standings[1].tier == 1) is tied
        assert standings[1].ratio.value == pytest.approx(factor)
        assert (len(contenders(errors, root).racing) == 2) is tied
