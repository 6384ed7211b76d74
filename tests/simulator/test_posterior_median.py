"""The posterior median: what it is, and what its errors are said to be, against slow references."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, Observed
from simulator.benchmark import Experiment, Runs, simulate
from simulator.domain import ORDERED, UNORDERED, Domain
from simulator.methods.blend import POSTERIOR_MEDIAN, is_combination
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import surrogate_populations
from simulator.surrogate.posterior_median import medians, with_posterior_median

K, N = 12, 5_000
ORACLE = PROTOCOLS["oue"](K, 1.0)


def estimates(rows: int) -> np.ndarray:
    counts = np.broadcast_to(apportion(frequencies("geometric", K), N), (rows, K))
    return ORACLE.estimate(ORACLE.sample_support(counts, rng_for(0, "tests", "posterior median")), N)


def experiment(populations: np.ndarray) -> Experiment:
    return Experiment(
        counts=populations,
        oracles={"oue": ORACLE},
        methods={"norm_sub": POSTPROCESSORS["norm_sub"]},
        metrics={name: METRICS[name] for name in ("l1", "kl", "emd", "topk")},
        pairs=(("oue", "norm_sub"),),
        domain=ORDERED,
    )


def test_the_table_gives_it_and_does_not_list_it() -> None:
    assert POSTERIOR_MEDIAN not in POSTPROCESSORS
    assert POSTPROCESSORS[POSTERIOR_MEDIAN].name == POSTERIOR_MEDIAN
    assert is_combination(POSTERIOR_MEDIAN)
    assert not is_combination("norm_sub")


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("domain", [ORDERED, UNORDERED])
def test_it_is_the_median_of_what_the_ensemble_draws_from_each_estimate(domain: Domain) -> None:
    raw, noise = estimates(2), ORACLE.noise(N)
    both = POSTPROCESSORS[POSTERIOR_MEDIAN](raw, noise, domain)
    for row, own in zip(raw, both, strict=True):
        drawn = surrogate_populations(
            "ensemble", row, noise, ordered=domain.ordered, rng=rng_for(0, "surrogate", "ensemble")
        )
        middle = [statistics.median(frequencies_of_one) for frequencies_of_one in drawn.T]
        np.testing.assert_allclose(own, np.array(middle) / math.fsum(middle), rtol=1e-12)
    assert (both >= 0).all()
    np.testing.assert_allclose(both.sum(axis=1), 1, rtol=1e-12)


def test_it_needs_an_estimate() -> None:
    with pytest.raises(ValueError, match="needs an estimate"):
        POSTPROCESSORS[POSTERIOR_MEDIAN].compute(Observed(None, None))


def test_its_error_on_a_population_is_that_of_the_median_of_all_that_differ() -> None:
    rng = rng_for(0, "tests", "populations")
    drawn = rng.multinomial(N, rng.dirichlet(np.ones(K), 4))
    asked = experiment(drawn[[0, 1, 0, 2, 3]])  # one of them twice
    runs = simulate(asked, 0, 10)
    with_it = with_posterior_median(asked, runs, "oue")
    for repetition in range(10):
        own = asked.populations[repetition % 5]
        others = [row / N for row in asked.populations if (row != own).any()]
        middle = np.array([statistics.median(values) for values in zip(*others, strict=True)])
        expected = [float(metric(middle / middle.sum(), own / N)) for metric in asked.metrics.values()]
        np.testing.assert_allclose(with_it.errors["oue", POSTERIOR_MEDIAN][repetition], expected, rtol=1e-12)
    assert with_it.errors["oue", "norm_sub"] is runs.errors["oue", "norm_sub"]
    # Runs that begin later have the populations that come then.
    later = Runs(runs.experiment_id, runs.metrics, 3, {pair: errors[3:7] for pair, errors in runs.errors.items()})
    np.testing.assert_array_equal(
        with_posterior_median(asked, later, "oue").errors["oue", POSTERIOR_MEDIAN],
        with_it.errors["oue", POSTERIOR_MEDIAN][3:7],
    )


def test_where_all_populations_are_one_there_is_nothing_to_tell_its_error_by() -> None:
    asked = experiment(np.tile(apportion(frequencies("zipf", K), N), (3, 1)))
    runs = simulate(asked, 0, 3)
    assert with_posterior_median(asked, runs, "oue") is runs


def test_where_every_median_is_0_the_mean_is_left() -> None:
    drawn = np.eye(4)[[0, 0, 1, 2, 3]]
    np.testing.assert_allclose(medians(drawn), [0.4, 0.2, 0.2, 0.2])
