import json

import numpy as np
import pytest

from advisor import Simulation, advise, estimate, plan, sweep
from simulator import METRICS, PROTOCOLS
from simulator.methods.processor import POSTERIOR_MEAN, POSTERIOR_MEDIAN, SUMMARIES
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import known_frequencies, sample_posterior
from tests.advisor.estimates import FEW, grouped
from tests.advisor.schemas import schema

K, N = 16, 20_000
NOISE = PROTOCOLS["grr"](K, 1.0).noise(N)


def raw():
    oracle = PROTOCOLS["grr"](K, 1.0)
    counts = apportion(frequencies("geometric", K), N)
    return oracle.estimate(oracle.sample_support(counts, rng_for(0, "tests", "posterior median answer")), N)


def asked(metric, **options):
    return estimate(raw(), "grr", eps=1.0, n=N, metric=metric, ordered=True, **grouped(**options))


@pytest.fixture(scope="module")
def answer():
    found = asked("kl", deployable=True)
    assert found.best.method == POSTERIOR_MEAN
    return found


def test_both_are_listed_beside_the_methods_and_in_no_table_of_the_next_round(answer):
    methods = [row.method for row in answer.recommendations]
    assert [methods.count(name) for name in SUMMARIES] == [1, 1]
    assert answer.best.error == min(row.error for row in answer.recommendations)
    assert not {*SUMMARIES} & {row.method for row in answer.next_round.recommendations}
    data = json.loads(answer.to_json())
    schema("advice").validate(data)
    assert (data["judged"], data["total"]) == (True, None)


def test_the_error_and_what_is_written_are_those_of_the_summary_of_the_draws(answer):
    draws = known_frequencies(raw(), NOISE, ordered=True, seed=0)
    middle = np.median(draws, axis=0)
    for name, by_hand in ((POSTERIOR_MEAN, draws.mean(axis=0)), (POSTERIOR_MEDIAN, middle / middle.sum())):
        np.testing.assert_allclose(answer.apply(raw(), name), by_hand, atol=1e-15)
        truths = [apportion(row, N) / N for row in draws]  # whole users
        errors = [float(METRICS["kl"](by_hand, truth)) for truth in truths]
        (row,) = (row for row in answer.recommendations if row.method == name)
        assert row.error == pytest.approx(np.mean(errors), rel=1e-9)
    np.testing.assert_array_equal(answer.apply(raw()), answer.apply(raw(), POSTERIOR_MEAN))


def test_a_sample_ten_times_too_small_is_not_taken_for_the_truth():
    options = {"protocol": "oue", "method": FEW, "simulation": Simulation(repetitions=5, max_repetitions=10)}
    small = advise(1.0, sample_counts=[50, 30, 20, 0], n=1000, **options)
    assert (small.source, small.request.surrogate) == ("surrogate", "dirichlet")
    assert small.request.populations.shape == (10, 4)
    assert (small.request.populations.sum(axis=1) == 1000).all()
    assert small.next_round is None
    assert {row.probability_best for row in small.recommendations} == {None}
    assert any("populations drawn from its Dirichlet posterior" in line for line in small.warnings)
    schema("advice").validate(json.loads(small.to_json()))
    larger = advise(1.0, sample_counts=[50, 30, 20, 0], n=999, **options)
    assert (larger.source, larger.request.surrogate, larger.request.populations) == ("simulation", None, None)
    assert any("its own sampling noise is taken for truth" in line for line in larger.warnings)


def test_a_sample_of_half_of_the_users_or_more_is_not_warned_of():
    counts, quick = [20, 20, 10, 0], {"method": "none", "simulation": Simulation(repetitions=4, max_repetitions=4)}
    for n, warned in ((100, False), (101, True)):
        ranked = advise(1.0, sample_counts=counts, n=n, protocol="grr", **quick)
        swept = sweep(
            eps=[1.0], sample_counts=counts, n=[n], protocol="grr", method="none", simulation=Simulation(repetitions=2)
        )
        planned = plan(target=0.5, n=n, sample_counts=counts, protocol="grr", **quick)
        for warnings in (ranked.warnings, swept.question.warnings, planned.warnings):
            assert any(f"(50 users) is smaller than n = {n}:" in line for line in warnings) == warned


def test_the_populations_behind_a_small_sample_are_those_of_its_posterior():
    counts = [6, 3, 1, 0, 0, 0, 0, 0, 0, 0]
    options = {"protocol": "grr", "method": "none", "simulation": Simulation(repetitions=4, max_repetitions=4, seed=3)}
    request = advise(1.0, sample_counts=counts, n=500, **options).request
    drawn = sample_posterior(np.array(counts), 4, rng_for(3, "surrogate", "dirichlet"), ordered=request.ordered)
    np.testing.assert_array_equal(request.populations, [apportion(row, 500) for row in drawn])


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["gaussian", "geometric"])
def test_a_small_sample_of_an_ordered_domain_names_a_pair_that_is_nearly_the_best(shape):
    """Where the order counts for nothing it names one with about twice the error of the best."""
    truth = frequencies(shape, 64)
    small = rng_for(0, "small", shape).multinomial(500, truth)
    options = {"n": 100_000, "metric": "l1", "ordered": True}
    named = advise(1.0, sample_counts=small, **options).best
    whole = advise(1.0, sample_counts=apportion(truth, 100_000), **options)
    error = next(row.error for row in whole.recommendations if row.pair == named.pair)
    assert error < 1.15 * whole.best.error
