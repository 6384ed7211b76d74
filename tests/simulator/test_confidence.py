"""Populations, not collections, are counted: their mean errors, and how sure the winner is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from simulator.confidence import DOUBT, UNSEEN, population_errors, probability_best

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
    np.testing.assert_allclose(population_errors(errors, 4, degree=2), np.sqrt(plain), rtol=1e-15)


def test_one_collection_a_population_is_that_collection_even_where_some_are_left_out() -> None:
    np.testing.assert_array_equal(population_errors(np.array([3.0, 1.0]), 40), [3.0, 1.0])


def test_a_rounding_error_below_zero_has_no_complex_root() -> None:
    assert population_errors(np.array([-1e-18, 4.0]), 2, degree=2).tolist() == [0.0, 2.0]


@pytest.mark.parametrize(("repetitions", "populations"), [(41, 40), (7, 3), (5, 4)])
def test_uneven_shares_are_refused(repetitions: int, populations: int) -> None:
    with pytest.raises(ValueError, match=f"{repetitions} repetitions cannot be shared evenly by {populations}"):
        population_errors(np.ones(repetitions), populations)


@pytest.mark.parametrize(
    "shares",
    [(1.0, 0.0, 0.0, 0.0), (0.5, 0.3, 0.2, 0.0), (0.25,) * 4, (0.97, 0.01, 0.01, 0.01), (0.0, 0.0, 0.4, 0.6), (1.0,)],
)
def test_probabilities_sum_to_1_and_keep_the_order_of_the_shares(shares: tuple[float, ...]) -> None:
    wins = dict(zip(PAIRS, shares, strict=False))
    sure = probability_best(wins)
    assert list(sure) == list(wins)
    assert math.fsum(sure.values()) == pytest.approx(1, abs=1e-15)
    for one, other in itertools.permutations(wins, 2):
        if wins[one] == wins[other] > 0:
            assert sure[one] == sure[other]
        elif wins[one] > wins[other]:
            assert sure[one] > sure[other]


def test_the_doubt_is_shared_evenly_by_all_that_win_anywhere() -> None:
    sure = probability_best(dict(zip(PAIRS, (0.9, 0.1, 0.0, 0.0), strict=True)))
    rest = 1 - DOUBT - UNSEEN
    assert list(sure.values()) == pytest.approx([rest * 0.9 + DOUBT / 2, rest * 0.1 + DOUBT / 2, UNSEEN, 0], rel=1e-12)
    assert (DOUBT, UNSEEN) == (0.15, 0.02)


def test_nobody_is_certain_where_there_is_another_choice() -> None:
    sure = probability_best(dict(zip(PAIRS, (0.0, 1.0, 0.0, 0.0), strict=True)))
    assert list(sure.values()) == pytest.approx([UNSEEN, 1 - UNSEEN, 0, 0])
    assert probability_best({PAIRS[0]: 1.0}) == {PAIRS[0]: 1.0}


def test_where_all_win_nothing_is_kept_for_the_unseen() -> None:
    assert set(probability_best(dict.fromkeys(PAIRS, 0.25)).values()) == {0.25}
