import itertools

import numpy as np
import pytest

from simulator import PROTOCOLS
from simulator.attributes import PARTS, sampling_errors, sampling_shares, split_budgets


def test_no_other_shares_have_a_lower_mean_error():
    rng, n = np.random.default_rng(0), 1000
    for _ in range(20):
        single, spread = rng.exponential(size=4), rng.random(4) / 4
        best = sampling_errors(single, spread, sampling_shares(single, spread), n).mean()
        others = rng.dirichlet(np.ones(4), size=200)
        assert best <= min(sampling_errors(single, spread, other, n).mean() for other in others)


def test_the_error_of_a_sample_is_what_enumeration_says():
    """Four users who hold 0, 0, 0, 1; two of them, drawn at random, report without noise."""
    values = np.array([0, 0, 0, 1])
    frequency = 0.25
    drawn = [values[list(pair)].mean() for pair in itertools.combinations(range(4), 2)]
    variance = float(np.mean((np.array(drawn) - frequency) ** 2))
    spread = np.array([frequency * (1 - frequency)])
    # Without replacement the factor is (n - m) / (n - 1) / m; the sum here has n for n - 1.
    assert sampling_errors(np.zeros(1), spread, np.array([0.5]), 4)[0] == pytest.approx(variance * 3 / 4)


@pytest.mark.parametrize("sizes", [(4, 64), (2, 16, 16), (3, 300)])
@pytest.mark.parametrize("key", ["grr", "oue"])
def test_no_other_split_in_parts_has_a_lower_error(sizes, key):
    epsilon = 2.0

    def error(k, budget):
        return float(PROTOCOLS[key](k, budget).linear.covariance(1).entry(np.full(k, 1 / k)).mean())

    tables = [[error(k, part * epsilon / PARTS) for part in range(1, PARTS)] for k in sizes]
    lowest = min(
        sum(table[part - 1] for table, part in zip(tables, (*parts, PARTS - sum(parts)), strict=True))
        for parts in itertools.product(range(1, PARTS), repeat=len(sizes) - 1)
        if sum(parts) < PARTS
    )
    budgets = split_budgets([lambda budget, k=k: error(k, budget) for k in sizes], epsilon)
    assert budgets.sum() == pytest.approx(epsilon)
    assert sum(error(k, budget) for k, budget in zip(sizes, budgets, strict=True)) == pytest.approx(lowest, rel=1e-9)


def test_columns_that_are_alike_share_alike():
    assert sampling_shares(np.ones(5), np.zeros(5)) == pytest.approx(np.full(5, 0.2))
    assert split_budgets([lambda budget: 1 / budget**2] * 4, 1.0) == pytest.approx(np.full(4, 0.25))


def test_more_columns_than_parts_are_refused():
    with pytest.raises(ValueError, match="64 parts, got 65 columns"):
        split_budgets([lambda budget: 1 / budget] * (PARTS + 1), 1.0)
