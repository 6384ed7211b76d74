"""The study that fits what populations are weighed by."""

from __future__ import annotations

import fit_plausibility
import numpy as np
import pytest
from families import Truth, truths
from fit_plausibility import Example, fit

from simulator.seeding import rng_for
from simulator.surrogate import ORDERED_MODELS


@pytest.mark.slow
def test_the_ratio_of_two_normal_densities_is_found() -> None:
    """Its logarithm is a parabola: that of N(1/2, 1/2) over N(0, 1)."""
    rng = rng_for(0, "two normal densities")
    counts = np.array([1.0, 0.5, 0.5])
    made = [Example(rng.normal([[0.5], [0], [0]], [[0.5], [1], [1]]), counts) for _ in range(40_000)]
    places = np.array([-0.5, 0.0, 0.5, 1.0])
    found = fit(made).logs(places[:, None])
    exact = places**2 / 2 - (places - 0.5) ** 2 / (2 * 0.5**2)
    # Within a tenth of each place are some 2,000 rows of either kind, and the penalty takes a few hundredths.
    np.testing.assert_allclose(found - found[1], exact - exact[1], atol=0.1)


@pytest.mark.parametrize("place", [0, *(pytest.param(place, marks=pytest.mark.slow) for place in range(1, 6))])
def test_an_example_is_a_truth_and_draws_that_count_as_much(place: int) -> None:
    known = [truth for truth in truths([]) if truth.ordered]
    made = fit_plausibility.example(known, place)
    assert made.traits.shape == (1 + (len(ORDERED_MODELS) + 1) * fit_plausibility.DRAWS, 6)
    assert np.isfinite(made.traits).all()
    even = made.traits[:, 1] < np.log(0.2)  # within a tenth of the noise
    assert ((made.counts == 0) == even).all()
    assert made.counts[0] in (0, 1)
    assert made.counts[1:].sum() <= 1 + 1e-12


def test_equal_frequencies_are_left_out() -> None:
    made = fit_plausibility.example([Truth("even", True, np.full(32, 1 / 32), "uniform")], 0)
    assert made.counts[0] == 0
