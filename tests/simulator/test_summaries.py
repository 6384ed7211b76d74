"""Mean and median of what may be behind an estimate, as methods."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from simulator import POSTPROCESSORS, PROTOCOLS, Observed
from simulator.domain import ORDERED, UNORDERED, Domain
from simulator.methods.summaries import SUMMARIES
from simulator.populations import apportion, frequencies
from simulator.surrogate import known_frequencies
from simulator.surrogate.summaries import median_of

from .law import stream

K, N = 14, 5_000
ORACLE = PROTOCOLS["oue"](K, 1.0)
SLOW = {"posterior_mean": statistics.fmean, "posterior_median": statistics.median}


def estimates(*shape: int) -> np.ndarray:
    counts = np.broadcast_to(apportion(frequencies("geometric", K), N), (*shape, K))
    return ORACLE.estimate(ORACLE.sample_support(counts, stream("summaries", *shape)), N)


def test_the_table_gives_them_and_does_not_list_them() -> None:
    assert set(SUMMARIES) == set(SLOW)
    for name in SUMMARIES:
        assert name not in POSTPROCESSORS
        assert name not in list(POSTPROCESSORS)
        method = POSTPROCESSORS[name]
        assert (method.name, method.is_proper, method.uses_order) == (name, True, False)
    for name in ("posterior_mode", "eb_ns+norm_sub", "uniform"):
        with pytest.raises(KeyError):
            POSTPROCESSORS[name]


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("domain", [ORDERED, UNORDERED])
@pytest.mark.parametrize("name", SUMMARIES)
def test_each_row_has_the_summary_of_what_is_known_of_it(name: str, domain: Domain) -> None:
    raw, noise = estimates(2, 1), ORACLE.noise(N)
    found = POSTPROCESSORS[name](raw, noise, domain)
    assert found.shape == raw.shape
    for row, own in zip(raw.reshape(-1, K), found.reshape(-1, K), strict=True):
        drawn = known_frequencies(row, noise, ordered=domain.ordered, seed=0)
        middle = np.array([SLOW[name](values.tolist()) for values in drawn.T])
        np.testing.assert_allclose(own, middle / math.fsum(middle), rtol=1e-12)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-12)


@pytest.mark.parametrize("name", SUMMARIES)
def test_they_need_an_estimate(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} needs an estimate, and there is none"):
        POSTPROCESSORS[name].compute(Observed(None, None))


def test_the_median_sums_to_1_and_where_every_median_is_0_the_mean_is_left() -> None:
    drawn = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.4, 0.4, 0.2]])
    np.testing.assert_allclose(median_of(drawn), np.array([0.4, 0.4, 0.2]))
    np.testing.assert_allclose(median_of(drawn[:2]), np.array([0.3, 0.55, 0.15]))
    corners = np.eye(4)[[0, 0, 1, 2, 3]]
    np.testing.assert_allclose(median_of(corners), [0.4, 0.2, 0.2, 0.2])
    uneven = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(median_of(uneven), np.array([0.2, 0.2, 0.1]) / 0.5)
