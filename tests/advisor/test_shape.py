"""Named shapes: what their parameters mean at the edges, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.question.frequencies import assumed_shape
from advisor.question.settings import Shape
from simulator.populations import frequencies
from tests.cells import failures


def test_dirichlet_draws_have_the_concentration_that_is_asked_for() -> None:
    def check(concentration: float) -> None:
        # E(sum f^2) is (a + 1) / (k a + 1); a sum in [0, 1] has an sd of at most 1/2.
        k, draws = 8, 400
        expected = (concentration + 1) / (k * concentration + 1)
        mean = np.mean([(frequencies("dirichlet", k, concentration, seed=seed) ** 2).sum() for seed in range(draws)])
        assert abs(mean - expected) < 5 * 0.5 / draws**0.5
        if concentration < 1e-5:
            assert mean > 0.999

    assert failures([1e-1, 1e-2, 1e-3, 1e-6, 1e-9, 1e-300], check) == {}


def test_every_category_may_be_the_spike() -> None:
    spikes = {int(frequencies("dirichlet", 4, 1e-9, seed=seed).argmax()) for seed in range(60)}
    assert spikes == {0, 1, 2, 3}  # one is missing with probability 4 (3/4)^60 = 1.3e-7


def test_a_parameter_that_means_nothing_is_refused() -> None:
    def check(shape: str) -> None:
        with pytest.raises(InputError, match=f"shape {shape.partition(':')[0]} has no valid frequencies at"):
            assumed_shape(16, Shape(shape=shape))

    assert failures(["steps:0", "steps:0.5", "dirichlet:0", "sparse:0", "uniform:7", "geometric:0"], check) == {}
