import math
import statistics
from itertools import product

import numpy as np
import pytest

from simulator import confidence
from simulator.confidence import RATIO_WIDER, USUAL, by_population, ratio_over_truths, widened_range
from simulator.ranking import rank
from tests.cells import failures

PAIRS = [("oue", name) for name in ("none", "norm_sub", "eb_ns", "power")]


def test_repetition_r_is_of_population_r_modulo_their_number():
    populations, collections = 3, 4
    errors = np.array([100.0 * (r % populations) + r // populations for r in range(populations * collections)])
    expected = [100.0 * population + np.mean(range(collections)) for population in range(populations)]
    np.testing.assert_array_equal(by_population(errors, populations), expected)
    # One collection a population is that collection, even where some are left out.
    np.testing.assert_array_equal(by_population(np.array([3.0, 1.0]), 40), [3.0, 1.0])
    for repetitions, populations in ((41, 40), (7, 3), (5, 4)):
        with pytest.raises(ValueError, match=f"{repetitions} repetitions cannot be shared evenly by {populations}"):
            by_population(np.ones(repetitions), populations)


def test_the_range_is_that_of_the_draws_wider_on_a_log_scale_and_holds_the_mean():
    assert min(*USUAL, *confidence.OF_CUT, *confidence.OF_TALLY, RATIO_WIDER) > 1
    assert widened_range(np.arange(1.0, 9.0)) == widened_range(np.arange(1.0, 9.0), USUAL)
    least = USUAL[1]

    def check(cell):
        spread, widening = cell
        values = np.exp(np.random.default_rng(3).normal(0, spread, 240))
        mean = statistics.fmean(values.tolist())
        low, high = widened_range(values, widening)
        wider, least = widening
        ordered = sorted(values.tolist())
        # Of 239 steps between 240 draws, 2.5 and 97.5 % are 5.975 and 233.025.
        ends = (0.025 * ordered[5] + 0.975 * ordered[6], 0.975 * ordered[233] + 0.025 * ordered[234])
        down, up = (math.log(end / mean) for end in ends)
        assert math.log(low / mean) == pytest.approx(wider * down - math.log(least), abs=1e-12)
        assert math.log(high / mean) == pytest.approx(wider * up + math.log(least), abs=1e-12)

    assert failures(product([0.01, 0.3, 1.0], (USUAL, confidence.OF_CUT, confidence.OF_TALLY)), check) == {}
    values = np.where(np.arange(240) < 3, 1e6, 1.0)
    low, high = widened_range(values)
    assert high == pytest.approx(least * values.mean())
    assert low < 1
    assert widened_range(np.where(np.arange(240) < 20, 0.0, 1.0))[0] == 0.0
    assert widened_range(np.zeros(240)) == (0.0, 0.0)
    assert widened_range(np.full(240, 2.0)) == pytest.approx((2 / least, 2 * least))


def test_the_ratio_is_that_of_the_means_in_a_range_over_the_draws_wider_on_a_log_scale():
    rng = np.random.default_rng(4)
    errors, reference = rng.gamma(9.0, 1 / 9, 240), 0.8 * rng.gamma(9.0, 1 / 9, 240)
    ratio = ratio_over_truths(errors, reference)
    value = math.fsum(errors) / math.fsum(reference)
    each = sorted((errors / reference).tolist())
    # The quantiles are draws, the next one up from 5.975 and 233.025.
    low, high = (value * (each[place] / value) ** RATIO_WIDER for place in (6, 234))
    assert ratio == pytest.approx((value, low, high), rel=1e-12)
    assert ratio.low < 1 < ratio.high
    reference = np.ones(240)
    many, few = np.where(np.arange(240) < 3, 1e3, 0.5), np.where(np.arange(240) < 3, 1e-6, 2.0)
    for errors, base in ((many, reference), (few, np.where(np.arange(240) < 3, 1e3, 1.0))):
        ratio = ratio_over_truths(errors, base)
        assert ratio.low <= ratio.value <= ratio.high
    reference = np.where(np.arange(240) < 20, 0.0, 1.0)
    ratio = ratio_over_truths(np.full(240, 1.5), reference)
    assert ratio.value == pytest.approx(1.5 * 240 / 220)
    assert ratio.low == pytest.approx(ratio.value * (1.5 / ratio.value) ** RATIO_WIDER)
    assert ratio.high == math.inf
    assert ratio_over_truths(reference, reference) == (1.0, 1.0, 1.0)


def test_a_difference_that_all_draws_show_is_no_tie_however_wide_the_errors_are():
    reference = np.exp(np.random.default_rng(5).uniform(-2.3, 2.3, 240))
    errors = {PAIRS[0]: reference, PAIRS[1]: 1.2 * reference, PAIRS[2]: 1.04 * reference}
    assert ratio_over_truths(errors[PAIRS[1]], reference) == pytest.approx((1.2, 1.2, 1.2))
    table = rank(errors, {"oue": (1,)}, ratio_over_truths)
    assert [(row.pair, row.rank) for row in table] == [(PAIRS[0], 1), (PAIRS[2], 1), (PAIRS[1], 3)]


def test_no_error_or_one_without_bounds_has_the_ratio_that_is_left():
    zero, one, endless = np.zeros(240), np.ones(240), np.full(240, math.inf)
    once = np.where(np.arange(240) == 7, math.inf, 1.0)
    cells = [
        (zero, zero, 1.0),
        (one, zero, math.inf),
        (zero, one, 0.0),
        (endless, one, math.inf),
        (one, endless, 0.0),
        (endless, endless, 1.0),
        (once, one, math.inf),
    ]
    wrong = [cell for cell in cells if ratio_over_truths(*cell[:2]) != (cell[2],) * 3]
    assert wrong == []


def test_the_probability_is_the_share_of_draws_within_2_percent_of_the_lowest():
    errors = {pair: np.random.default_rng(place).gamma(50.0, 1 / 50, 240) for place, pair in enumerate(PAIRS)}
    errors[PAIRS[3]] = 1.01 * errors[PAIRS[2]]  # as good as it in nearly all of its draws
    found = confidence.probabilities(errors)
    assert list(found) == PAIRS
    lowest = [min(draw) for draw in zip(*errors.values(), strict=True)]
    for pair in PAIRS:
        times = sum(
            error <= confidence.AS_GOOD_AS_BEST * least for error, least in zip(errors[pair], lowest, strict=True)
        )
        assert found[pair] == pytest.approx(times / 240, rel=1e-12)
    assert sum(found.values()) > 1.1
    assert found[PAIRS[3]] > 0.5 * found[PAIRS[2]] > 0


def test_what_is_as_good_as_the_best_in_all_draws_is_not_sure_to_be_so_and_less_with_an_order():
    alike, beaten = np.zeros(9), np.ones(9)
    for ordered, most in ((False, 0.75), (True, 0.5)):
        found = confidence.probabilities({PAIRS[0]: alike, PAIRS[1]: alike, PAIRS[2]: beaten}, ordered=ordered)
        assert list(found.values()) == [most, most, 0.0]
