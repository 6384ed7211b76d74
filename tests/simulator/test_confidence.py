"""Populations, not collections, are counted: their mean errors, and how sure the winner is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from simulator import METRICS
from simulator.confidence import (
    BELIEFS,
    POOLED,
    UNFITTED,
    Belief,
    belief_in,
    population_errors,
    population_range,
    probability_best,
)
from tests.cells import failures

PAIRS = [("oue", "none"), ("oue", "norm_sub"), ("oue", "eb_ns"), ("oue", "power")]


def test_repetition_r_is_of_population_r_modulo_their_number() -> None:
    populations, collections = 3, 4
    errors = np.array([100.0 * (r % populations) + r // populations for r in range(populations * collections)])
    expected = [100.0 * population + np.mean(range(collections)) for population in range(populations)]
    np.testing.assert_array_equal(population_errors(errors, populations), expected)


@pytest.mark.parametrize("collections", [1, 5])
def test_squares_count_by_the_root_of_their_mean(collections: int) -> None:
    errors = np.arange(1.0, 4.0 * collections + 1)
    plain = population_errors(errors, 4)
    np.testing.assert_allclose(population_errors(errors, 4, root=2), np.sqrt(plain), rtol=1e-15)


def test_one_collection_a_population_is_that_collection_even_where_some_are_left_out() -> None:
    np.testing.assert_array_equal(population_errors(np.array([3.0, 1.0]), 40), [3.0, 1.0])


def test_a_rounding_error_below_zero_has_no_complex_root() -> None:
    assert population_errors(np.array([-1e-18, 4.0]), 2, root=2).tolist() == [0.0, 2.0]


@pytest.mark.parametrize(("repetitions", "populations"), [(41, 40), (7, 3), (5, 4)])
def test_uneven_shares_are_refused(repetitions: int, populations: int) -> None:
    with pytest.raises(ValueError, match=f"{repetitions} repetitions cannot be shared evenly by {populations}"):
        population_errors(np.ones(repetitions), populations)


AS_IT_IS = UNFITTED  # shares, without doubt or lead


def test_probabilities_sum_to_1_and_keep_the_order_of_the_shares() -> None:
    def check(cell: tuple[Belief, tuple[float, ...]]) -> None:
        belief, shares = cell
        wins = dict(zip(PAIRS, shares, strict=False))
        sure = probability_best(wins, PAIRS[0], belief)
        assert list(sure) == list(wins)
        assert math.fsum(sure.values()) == pytest.approx(1, abs=1e-15)
        assert min(sure.values()) > 0  # winning nowhere is no proof
        others = list(wins)[1:]
        for one, other in itertools.permutations(others, 2):
            if wins[one] == wins[other]:
                assert sure[one] == sure[other]
            elif wins[one] > wins[other]:
                assert sure[one] > sure[other]

    cells = itertools.product(
        BELIEFS.values(),
        [
            (1.0, 0.0, 0.0, 0.0),
            (0.5, 0.3, 0.2, 0.0),
            (0.25,) * 4,
            (0.97, 0.01, 0.01, 0.01),
            (0.0, 0.0, 0.4, 0.6),
            (1.0,),
        ],
    )
    assert failures(cells, check) == {}


def test_shares_are_taken_as_they_are_where_nothing_is_doubted() -> None:
    wins = dict(zip(PAIRS, (0.5, 0.3, 0.2, 0.0), strict=True))
    assert probability_best(wins, PAIRS[1], AS_IT_IS) == pytest.approx(wins)


def test_doubt_is_shared_by_all_power_levels_and_the_lead_counts_in_odds() -> None:
    wins = dict(zip(PAIRS, (0.6, 0.4, 0.0, 0.0), strict=True))
    doubted = probability_best(wins, PAIRS[0], AS_IT_IS._replace(doubt=0.25))
    assert list(doubted.values()) == pytest.approx([0.53, 0.37, 0.05, 0.05])
    levelled = probability_best(wins, PAIRS[0], AS_IT_IS._replace(power=0.5))
    assert levelled[PAIRS[0]] / levelled[PAIRS[1]] == pytest.approx(math.sqrt(1.5))
    led = probability_best(wins, PAIRS[1], AS_IT_IS._replace(lead=math.log(3)))
    assert led[PAIRS[1]] / led[PAIRS[0]] == pytest.approx(2)  # 3 x 0.4 / 0.6
    assert probability_best({PAIRS[0]: 1.0}, PAIRS[0], BELIEFS[True, True]) == {PAIRS[0]: 1.0}


@pytest.mark.parametrize(
    ("leader", "odds"),
    [
        ("eb_ns", 2),
        ("eb_ns*3+norm_sub", 2),
        ("eb_ns+uniform", 3),
        ("eb_ns*3+uniform", 3),
        ("posterior_median", 5),
    ],
)
def test_what_leads_has_the_lead_of_its_kind(leader: str, odds: int) -> None:
    belief = AS_IT_IS._replace(lead=math.log(2), lead_of_uniform=math.log(3), lead_of_median=math.log(5))
    others = {("oue", "norm_sub"): 0.5, ("oue", "power_ns"): 0.25}
    sure = probability_best({("oue", leader): 0.25} | others, ("oue", leader), belief)
    assert sure["oue", leader] / sure["oue", "power_ns"] == pytest.approx(odds)
    assert sure["oue", "norm_sub"] / sure["oue", "power_ns"] == pytest.approx(2)


def test_beliefs_go_by_order_and_by_what_the_metric_pools() -> None:
    assert belief_in("emd", ordered=True) is BELIEFS[True, True]
    assert belief_in("l1", ordered=True) is BELIEFS[True, False]
    assert belief_in("topk", ordered=False) is BELIEFS[False, True]
    assert set(METRICS) > POOLED


@pytest.mark.parametrize("root", [1, 2, 4])
def test_the_range_is_stretched_on_a_log_scale(root: int) -> None:
    errors = np.random.default_rng(3).uniform(1, 4, 40 * 5)
    distances = errors.reshape(5, 40).mean(axis=0) ** (1 / root)
    low, high = np.quantile(distances, (0.025, 0.975)) ** root
    middle = distances.mean() ** root
    assert population_range(errors, 40, AS_IT_IS, root) == pytest.approx((low, high))
    wide = population_range(errors, 40, AS_IT_IS._replace(lower=2.0, upper=3.0), root)
    assert wide == pytest.approx((low**2 / middle, high**3 / middle**2))


def test_a_range_that_reaches_0_or_is_a_point_stays_one() -> None:
    errors = np.where(np.arange(40) < 5, 0.0, 1.0)
    assert population_range(errors, 40, BELIEFS[True, False])[0] == 0.0
    assert population_range(np.full(40, 2.0), 40, BELIEFS[True, False]) == (2.0, 2.0)
    assert population_range(np.zeros(40), 40, BELIEFS[True, False]) == (0.0, 0.0)
