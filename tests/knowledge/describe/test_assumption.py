import itertools
import math

import numpy as np
import pytest
from scipy import stats

from knowledge.describe.assumption import AssumedSkew, assumed_profiles, gamma_quantiles, parse_shape, patternless
from knowledge.model import load
from knowledge.ranking import look_up
from simulator.populations import SHAPES, frequencies
from tests.cells import over


@over(SHAPES)
def test_every_shape_of_the_simulator_can_be_assumed(name):
    parameter = SHAPES[name].parameter
    for text in (name, name.upper().replace("_", "-"), f"{name}:{parameter!r}"):
        key, written = parse_shape(text)
        assert (key, parameter if written is None else written) == (name, parameter)


def test_without_a_word_the_skew_is_1_and_wrong_ones_are_refused():
    assert assumed_profiles(300, 10**8)[0].skew == pytest.approx(1, abs=1e-3)
    assert assumed_profiles(300, 10**8, skew=0)[0].entropy_gap == pytest.approx(0, abs=1e-9)
    for text in ("", "cauchy", "gaussian:", "gaussian:wide", "gaussian:inf", ":1"):
        with pytest.raises(ValueError, match="shape"):
            parse_shape(text)
    for skew in (-0.1, math.nan, 9):
        with pytest.raises(ValueError, match="skew"):
            assumed_profiles(10, skew=skew)


@over([((1.0, 2), True, "l2"), ((1.5, 30), False, "mae")], slow=[((0.0, 30), False, "l2"), ((0.5, 500), True, "mae")])
def test_an_unknown_shape_is_averaged_over(pair, ordered, metric, *, tiny):
    skew, k = pair
    profiles = assumed_profiles(k, 10**8, skew=skew, ordered=ordered)
    assert len(profiles) == len(AssumedSkew(k, skew, ordered).names)
    assert profiles[0].skew == pytest.approx(skew, abs=1e-3)
    asked = {"ordered": ordered, "model": load(tiny)}
    together = look_up(profiles, 1.0, 100_000, metric, **asked)
    alone = [look_up(profile, 1.0, 100_000, metric, **asked) for profile in profiles]
    row = together.rows[3]
    each = [next(r for r in one.rows if r[:2] == row[:2]) for one in alone]
    assert row.by_shape == pytest.approx([one.error for one in each])
    assert row.error == pytest.approx(float(np.exp(np.mean(np.log(row.by_shape)))))
    assert row.low < row.error < row.high
    if skew:  # the interval has room for the shape too
        assert row.low / row.error < min(one.low / one.error for one in each)
        assert row.high / row.error > max(one.high / one.error for one in each)


@over(itertools.product([0.5, 1.0, 2.0], [2, 3, 4, 5, 18], (False, True)))
def test_every_histogram_of_a_skew_is_skewed(skew, k, ordered):
    off = [float(np.abs(one - 1 / k).sum()) for one in AssumedSkew(k, skew, ordered).histograms(100_000)]
    assert min(off) > 0.4 * off[0]  # a bell of two categories is even


@over(itertools.product([0.3, 1.5], [5, 64, 1000]))
def test_in_order_a_skew_falls_as_zipf_or_has_one_peak_or_is_a_rank_law_in_no_order(skew, k):
    first, bell, *rough = AssumedSkew(k, skew, ordered=True).histograms(10**8)
    assert first == pytest.approx(frequencies("zipf", k, skew), abs=1e-8)  # as many users hold it
    assert (np.diff(bell[: k // 2]) >= 0).all()
    assert (np.diff(bell[k // 2 :]) <= 0).all()
    np.testing.assert_array_equal(rough, AssumedSkew(k, skew).histograms(10**8))


@over(itertools.product([2, 17, 1000], [0.02, 0.3, 1.0, 7.0, 50.0]))
def test_quantiles_of_a_gamma_distribution_are_those_of_scipy(k, shape):
    made = gamma_quantiles(shape, k)
    expected = stats.gamma.ppf((np.arange(k)[::-1] + 0.5) / k, shape)
    # The density is added up in steps of 0.035 of the logarithm, and read off between them: half a percent, or less
    # than anything that counts.
    np.testing.assert_allclose(made, expected, rtol=0.006, atol=1e-12)
    assert (np.diff(made) <= 0).all()


@pytest.mark.parametrize("k", [2, 3, 100, 5000])
def test_the_order_without_a_pattern_holds_every_place_once(k):
    order = patternless(k)
    np.testing.assert_array_equal(np.sort(order), np.arange(k))
    if k >= 100:  # as for a random order, neighbours are no nearer to each other, nor places to their ends
        assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 4 / k**0.5
        assert abs(np.corrcoef(order, np.arange(k))[0, 1]) < 4 / k**0.5
