import math

import numpy as np
import pytest

from simulator.crossing import crossing
from simulator.seeding import rng_for


def noisy(curve, *, spread, common=True):
    """Errors with a known mean; the noise of a repetition is the same everywhere, or drawn anew at every place."""

    def measure(x, first, repetitions):
        drawn = rng_for(0, "noise", "" if common else repr(x)).standard_normal(first + repetitions)[first:]
        return curve(x) * np.exp(spread * drawn - spread**2 / 2)

    return measure


@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize("start", [1e3, 3e5, 1e9])
def test_finds_a_known_crossing_within_its_own_precision(start, common):
    falling = noisy(lambda x: 30 * x**-0.5, spread=0.2, common=common)
    found = crossing(falling, 0.05, start=start, low=10, high=1e12, whole=True, precision=0.0075, most=2000)
    truth = (30 / 0.05) ** 2
    # log x is off by the error of the mean over the slope; 4 standard errors
    assert abs(math.log(found.x / truth)) <= 4 * 0.0075 / 0.5
    assert found.low * found.high == pytest.approx(found.x**2, rel=1e-12)
    # The width rests on the slope: two means of half of the repetitions, half a unit of log x apart. Without common
    # noise its standard error is 0.0075 sqrt(2) sqrt(2) / 0.5 = 0.03, 6 % of 0.5; 4 of them.
    assert math.log(found.high / found.low) == pytest.approx(2 * 1.96 * 0.0075 / 0.5, rel=0.25)
    assert (found.reached, found.inside, found.x) == (True, True, round(found.x))


def test_what_has_no_crossing_or_begins_at_it_is_told():
    floor = crossing(noisy(lambda x: 0.1 + 1 / x, spread=0.05), 0.05, start=10, low=1, high=1e6)
    assert (floor.reached, floor.x) == (False, pytest.approx(1e6))
    assert floor.error == pytest.approx(0.1, rel=4 * 0.0075)
    met = crossing(noisy(lambda x: 1 / x, spread=0.05), 5.0, start=100, low=1, high=1e6)
    assert (met.reached, met.inside, met.x) == (True, False, pytest.approx(1.0))
    jumping = noisy(lambda x: 2 / x if x < 7 else 0.5 / x, spread=0.02)
    jump = crossing(jumping, 0.2, start=3, low=0.1, high=100, precision=0.005)
    assert jump.x == pytest.approx(7, rel=2e-4)
    assert jump.error < 0.2
    there = crossing(noisy(lambda x: 1 / x, spread=1e-6), 0.01, start=100, low=1, high=1e6)
    assert there.x == pytest.approx(100, rel=1e-3)
