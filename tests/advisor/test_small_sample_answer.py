"""A small sample is answered from populations that may be behind it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from advisor import advise, plan, sweep
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import sample_posterior
from tests.advisor.estimates import FEW, SCHEMA


def test_a_sample_ten_times_too_small_is_not_taken_for_the_truth() -> None:
    options = {"protocol": "oue", "method": FEW, "repetitions": 5, "max_repetitions": 10}
    small = advise(1.0, sample_counts=[50, 30, 20, 0], n=1000, **options)  # type: ignore[arg-type]
    assert (small.source, small.request.surrogate) == ("surrogate", "dirichlet")
    assert small.request.populations is not None
    assert small.request.populations.shape == (10, 4)
    assert (small.request.populations.sum(axis=1) == 1000).all()
    assert small.next_round is None
    assert {row.probability_best for row in small.recommendations} == {None}
    assert any("populations drawn from its Dirichlet posterior" in line for line in small.warnings)
    SCHEMA.validate(json.loads(small.to_json()))
    larger = advise(1.0, sample_counts=[50, 30, 20, 0], n=999, **options)  # type: ignore[arg-type]
    assert (larger.source, larger.request.surrogate, larger.request.populations) == ("simulation", None, None)
    assert any("its own sampling noise is taken for truth" in line for line in larger.warnings)


def test_a_sample_of_half_of_the_users_or_more_is_not_warned_of() -> None:
    counts, quick = [20, 20, 10, 0], {"method": "none", "max_repetitions": 4}
    for n, warned in ((100, False), (101, True)):
        ranked = advise(1.0, sample_counts=counts, n=n, protocol="grr", repetitions=4, **quick)  # type: ignore[arg-type]
        swept = sweep(eps=[1.0], sample_counts=counts, n=[n], protocol="grr", method="none", repetitions=2)
        planned = plan(target=0.5, n=n, sample_counts=counts, protocol="grr", **quick)  # type: ignore[arg-type]
        for warnings in (ranked.warnings, swept.question.warnings, planned.warnings):
            assert any(f"(50 users) is smaller than n = {n}:" in line for line in warnings) == warned


def test_the_populations_behind_a_small_sample_are_those_of_its_posterior() -> None:
    counts = [6, 3, 1, 0, 0, 0, 0, 0, 0, 0]
    options = {"protocol": "grr", "method": "none", "repetitions": 4, "max_repetitions": 4, "seed": 3}
    request = advise(1.0, sample_counts=counts, n=500, **options).request  # type: ignore[arg-type]
    drawn = sample_posterior(np.array(counts), 4, rng_for(3, "surrogate", "dirichlet"), ordered=request.ordered)
    np.testing.assert_array_equal(request.populations, [apportion(row, 500) for row in drawn])


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["gaussian", "geometric"])
def test_a_small_sample_of_an_ordered_domain_names_a_pair_that_is_nearly_the_best(shape: str) -> None:
    """Where the order counts for nothing it names one with about twice the error of the best."""
    truth = frequencies(shape, 64)
    small = rng_for(0, "small", shape).multinomial(500, truth)
    options = {"n": 100_000, "metric": "l1", "ordered": True}
    named = advise(1.0, sample_counts=small, **options).best  # type: ignore[arg-type]
    whole = advise(1.0, sample_counts=apportion(truth, 100_000), **options)  # type: ignore[arg-type]
    error = next(row.error for row in whole.recommendations if row.pair == named.pair)
    assert error < 1.15 * whole.best.error
