"""What populations of ordered domains are weighed by, against slow references that share no code with it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from simulator import Noise
from simulator.populations import apportion, frequencies
from simulator.surrogate import DRAWS, FROM_EACH, drawn_from_models, plausibility, surrogate_populations
from simulator.surrogate.plausibility import RATIO, PlausibilityRatio, by_plausibility, traits_of

from .law import stream

NOISE = Noise(10**5, 0.5, 0.25, 3e-5, 4e-4, False)


def slow_traits(population: list[float], estimate: list[float]) -> list[float]:
    """The traits of one population, number by number."""
    k = len(population)
    sd = math.sqrt(NOISE.variance_at_zero + NOISE.variance_slope / k) * k
    apart = [value * k - 1 for value in population]
    sums = list(itertools.accumulate(apart))
    square = math.fsum(value**2 for value in apart) / k
    alike = math.fsum(one * other for one, other in itertools.pairwise(apart)) / (k - 1)
    mean = math.fsum(estimate) / k
    left = [((seen - mean) * k - value) / sd for seen, value in zip(estimate, apart, strict=True)]
    return [
        math.log(sd),
        math.log(math.sqrt(square) / sd + 0.1),
        math.log(math.fsum(abs(value) for value in sums) / k / (sd * math.sqrt(k)) + 0.1),
        alike / (square + (0.1 * sd) ** 2),
        math.asinh((math.fsum(value**2 for value in left) / k - 1) * math.sqrt(k / 2)),
        math.log(max(abs(value) for value in itertools.accumulate(left)) / math.sqrt(k) + 0.1),
    ]


@pytest.mark.parametrize("k", [2, 7, 60])
def test_traits_are_those_worked_out_number_by_number(k: int) -> None:
    rng = stream("traits", k)
    populations = np.vstack([rng.dirichlet(np.full(k, 0.5), 9), np.full(k, 1 / k)])
    estimate = rng.normal(1 / k, 0.02, k)
    expected = [slow_traits(row.tolist(), estimate.tolist()) for row in populations]
    np.testing.assert_allclose(traits_of(populations, estimate, NOISE), expected, rtol=1e-9, atol=1e-12)


def test_a_ratio_is_its_quadratic_form_and_nothing_new_beyond_what_it_was_fitted_to() -> None:
    ratio = PlausibilityRatio((0.0, -2.0), (4.0, 6.0), (1.5, -0.5), ((2.0, 3.0), (-4.0,)))

    def slow(first: float, second: float) -> float:
        x, y = (min(max(value, -1), 1) for value in (first / 2 - 1, (second - 2) / 4))
        return 1.5 * x - 0.5 * y + 2 * x * x + 3 * x * y - 4 * y * y

    rows = [(1.0, 1.0), (0.0, 6.0), (4.0, -2.0), (9.0, -7.0), (-1e9, 1e9)]
    np.testing.assert_allclose(ratio.logs(np.array(rows)), [slow(*row) for row in rows], atol=1e-12)


def test_the_constants_are_those_of_all_traits() -> None:
    traits = traits_of(np.full((1, 5), 0.2), np.full(5, 0.2), NOISE).shape[1]
    assert [len(part) for part in RATIO] == [traits] * 4
    assert [len(row) for row in RATIO.products] == list(range(traits, 0, -1))
    assert all(low < high for low, high in zip(RATIO.lowest, RATIO.highest, strict=True))


def test_even_populations_keep_their_share_and_the_others_share_theirs_by_the_ratio() -> None:
    k = 64
    rng = stream("shares")
    # 10^5 users cannot be shared evenly by 64 categories: what is left over is a hundredth of the noise.
    rounded = apportion(np.full(k, 1 / k), 10**5) / 10**5
    populations = np.vstack([np.full(k, 1 / k), rounded, rng.dirichlet(np.full(k, 5.0), 4)])
    estimate, before = rng.normal(1 / k, 0.01, k), rng.normal(0, 1, 6)
    after = by_plausibility(before, populations, estimate, NOISE)
    assert np.ptp(rounded) > 0
    np.testing.assert_array_equal(after[:2], before[:2])
    odds = [
        math.exp(log + float(RATIO.logs(np.array([slow_traits(row.tolist(), estimate.tolist())]))[0]))
        for log, row in zip(before[2:], populations[2:], strict=True)
    ]
    whole = math.fsum(math.exp(log) for log in before[2:])
    np.testing.assert_allclose(np.exp(after[2:]), [odd / math.fsum(odds) * whole for odd in odds], rtol=1e-9)
    np.testing.assert_array_equal(by_plausibility(before[:2], populations[:2], estimate, NOISE), before[:2])


@pytest.mark.usefixtures("few_curves")
def test_draws_count_by_their_plausibility_and_by_the_evidence_of_their_model() -> None:
    """Each draw is there as often as its share of all says, rounded up or down: the resampling is systematic."""
    k = 24
    estimate = frequencies("bimodal", k) + stream("weighed").normal(0, 0.5 / k, k)
    noise = Noise(10**6, 0.5, 0.25, (0.5 / k) ** 2, 0.0, False)
    drawn, evidence = drawn_from_models(estimate, noise, ordered=True, each=FROM_EACH, rng=stream("all draws"))
    weights = [math.exp(log) for log in by_plausibility(evidence, drawn, estimate, noise)]
    kept = surrogate_populations("ensemble", estimate, noise, ordered=True, rng=stream("all draws"))
    which = [int(np.abs(drawn - row).max(axis=1).argmin()) for row in kept]
    np.testing.assert_allclose(kept, drawn[which], rtol=1e-12)
    for place in set(which):
        copies = np.flatnonzero((drawn == drawn[place]).all(axis=1))
        expected = DRAWS * math.fsum(weights[copy] for copy in copies) / math.fsum(weights)
        assert abs(which.count(place) - expected) < len(copies) + 1e-9


@pytest.mark.usefixtures("few_curves")
def test_what_the_ratio_favours_is_drawn_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    k = 32
    estimate = np.full(k, 1 / k) + stream("nothing to see").normal(0, 1 / k, k)
    noise = Noise(10**6, 0.5, 0.25, k**-2.0, 0.0, False)

    def spread(slope: float, *, ordered: bool = True) -> float:
        slopes = tuple(slope * (place == 1) for place in range(len(RATIO.linear)))  # of how far from even
        flat = tuple((0.0,) * len(row) for row in RATIO.products)
        monkeypatch.setattr(plausibility, "RATIO", RATIO._replace(linear=slopes, products=flat))
        rng = stream("favoured")  # the models' draws are the same for all slopes; only what they count is not
        drawn = surrogate_populations("ensemble", estimate, noise, ordered=ordered, rng=rng, draws=200)
        uneven = drawn[np.ptp(drawn, axis=1) > 0]
        return float(uneven.std(axis=1).mean())

    assert spread(-20.0) < 0.9 * spread(0.0) < 0.8 * spread(20.0)
    assert spread(20.0, ordered=False) == spread(0.0, ordered=False)  # without an order there is nothing to weigh by
