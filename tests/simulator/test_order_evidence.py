"""How much an estimate shows of an order, and what the models count for it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import simulator.surrogate
from simulator.populations import frequencies
from simulator.surrogate import ORDER_NATS, PRIOR_ODDS, WITHOUT_ORDER, drawn_from_models
from simulator.surrogate.wavelet import order_evidence, wavelet_posterior
from tests.cells import failures

from .law import even_noise, stream

EACH = 3
SPREADS = slice(EACH, 2 * EACH)  # draws of the distribution of few parameters: those of the second model


@pytest.mark.parametrize(("k", "sd"), [(32, 0.015), pytest.param(128, 0.004, marks=pytest.mark.slow)])
def test_order_evidence_is_that_of_the_curve_less_its_mean_over_orders(k: int, sd: float) -> None:
    rng, noise = stream("order evidence", k), even_noise(sd)
    estimate = frequencies("gaussian", k) + rng.normal(0, sd, k)
    own = wavelet_posterior(estimate, noise, 1, rng).evidence
    others = [wavelet_posterior(rng.permutation(estimate), noise, 1, rng).evidence for _ in range(40)]
    found = [order_evidence(estimate, noise, rng) for _ in range(4)]  # of 8 orders each
    assert min(found) > 0  # so none was cut off
    error = np.std(others) * math.sqrt(1 / 40 + 1 / 32)
    assert abs(np.mean(found) - (own - np.mean(others))) < 4 * error


@pytest.mark.parametrize(
    ("k", "sd", "times"),
    [
        (48, 0.05, 8),
        (32, 0.002, 8),
        *(pytest.param(k, sd, 20, marks=pytest.mark.slow) for k in (64, 96) for sd in (0.05, 0.01, 0.002)),
    ],
)
def test_an_order_that_means_nothing_has_next_to_no_evidence(k: int, sd: float, times: int) -> None:
    """However much the estimate shows of the frequencies: they alone are worth up to thousands of nats."""
    rng, noise = stream("no order", k, sd), even_noise(sd)
    truth = frequencies("zipf", k)
    found = [order_evidence(rng.permutation(truth) + rng.normal(0, sd, k), noise, rng) for _ in range(times)]
    assert min(found) == 0
    assert np.mean(found) < 2  # over many streams it was 0.2 to 0.7, with a standard deviation of at most 0.27


@pytest.mark.parametrize("k", [32, 48])
def test_an_order_that_means_something_has_more_evidence_the_less_noise_there_is(k: int) -> None:
    """Whether or not blocks of 2, 4, 8... categories fill the domain."""
    rng, truth = stream("an order", k), frequencies("geometric", k)

    def mean(sd: float) -> float:
        noise = even_noise(sd)
        return float(np.mean([order_evidence(truth + rng.normal(0, sd, k), noise, rng) for _ in range(2)]))

    assert 10 < mean(0.01) < mean(0.002) < mean(0.0004)


@pytest.mark.usefixtures("few_curves")
def test_models_without_order_count_by_what_the_order_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the distribution of few parameters counts more, and only where categories have an order."""
    assert (PRIOR_ODDS[1], WITHOUT_ORDER, ORDER_NATS) == (1, 4, 4)
    noise = even_noise(0.01)
    estimate = frequencies("zipf", 16) + stream("shown").normal(0, 0.01, 16)

    def counted(shown: float, *, ordered: bool) -> np.ndarray:
        monkeypatch.setattr(simulator.surrogate, "order_evidence", lambda *_: shown)
        return drawn_from_models(estimate, noise, ordered=ordered, each=EACH, rng=stream("models"))[1]

    ordered, unordered = (counted(math.inf, ordered=order) for order in (True, False))
    for nats, odds in ((0, 4), (4, 1 + 3 / math.e), (1e9, 1)):
        expected = ordered.copy()
        expected[SPREADS] += math.log(odds)
        np.testing.assert_allclose(counted(nats, ordered=True), expected, atol=1e-12)
    np.testing.assert_array_equal(counted(0, ordered=False), unordered)


def test_next_to_no_likelihood_is_missing_from_the_curve() -> None:
    """Under little noise a smooth estimate explains nearly all of how far it is from even; the priors cost little."""

    def check(cell: tuple[int, str]) -> None:
        k, shape = cell
        truth, sd = frequencies(shape, k), 1e-4
        found = wavelet_posterior(truth, even_noise(sd), 1, stream("whole", k)).evidence
        whole = float(((truth - 1 / k) ** 2).sum()) / (2 * sd**2)
        assert 0.99 * whole < found < whole

    assert failures(itertools.product([64, 96, 100, 129], ["geometric", "gaussian"]), check) == {}
