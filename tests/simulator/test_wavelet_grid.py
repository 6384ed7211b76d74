"""Wavelet shrinkage in two dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.methods import wavelet_grid
from simulator.methods.simplex import norm_sub
from simulator.methods.wavelet import KERNEL
from simulator.methods.wavelet_grid import wavelet_eb_grid
from simulator.protocols.unary import OUE
from simulator.seeding import rng_for

ROWS, COLUMNS = 12, 10
BINS = len(KERNEL)
NOISE = OUE(ROWS * COLUMNS, 1.0).noise(100_000)


def hill() -> np.ndarray:
    row, column = np.mgrid[:ROWS, :COLUMNS]
    weights = np.exp(-((row - 4) ** 2 + (column - 6) ** 2) / 12)
    return (weights / weights.sum()).ravel()


def noisy(repetitions: int = 1) -> np.ndarray:
    return hill() + rng_for(0, "grid").normal(0, NOISE.sd, (repetitions, ROWS * COLUMNS))


def test_the_transform_can_be_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wavelet_grid, "kept_shares", lambda weights: np.ones((len(weights), BINS)))
    monkeypatch.setattr(wavelet_grid, "sigmoid", lambda log_ratio: np.ones_like(log_ratio))
    estimate = noisy(3)
    assert np.allclose(wavelet_eb_grid(estimate, NOISE, ROWS, COLUMNS), norm_sub(estimate, NOISE), rtol=0, atol=1e-12)


def test_turning_the_grid_turns_the_result() -> None:
    estimate = noisy()[0]
    table = wavelet_eb_grid(estimate, NOISE, ROWS, COLUMNS).reshape(ROWS, COLUMNS)
    turned = wavelet_eb_grid(estimate.reshape(ROWS, COLUMNS).T.ravel(), NOISE, COLUMNS, ROWS)
    flipped = wavelet_eb_grid(estimate.reshape(ROWS, COLUMNS)[::-1].ravel(), NOISE, ROWS, COLUMNS)
    assert np.allclose(turned.reshape(COLUMNS, ROWS).T, table, rtol=0, atol=1e-12)
    assert np.allclose(flipped.reshape(ROWS, COLUMNS)[::-1], table, rtol=0, atol=1e-12)


def test_rows_of_a_batch_are_frequencies_and_do_not_see_each_other() -> None:
    estimate = noisy(4)
    result = wavelet_eb_grid(estimate, NOISE, ROWS, COLUMNS)
    assert result.min() >= 0
    assert np.allclose(result.sum(axis=1), 1, atol=1e-12)
    assert np.allclose(wavelet_eb_grid(estimate[2], NOISE, ROWS, COLUMNS), result[2], rtol=0, atol=1e-14)


def test_a_smooth_hill_is_recovered_better_than_cell_by_cell() -> None:
    estimate = noisy(20)
    errors = [
        ((result - hill()) ** 2).sum(axis=1)
        for result in (wavelet_eb_grid(estimate, NOISE, ROWS, COLUMNS), norm_sub(estimate, NOISE))
    ]
    assert (errors[0] < errors[1]).all()  # in each of 20 repetitions: 1 in a million by chance


def test_an_estimate_of_another_grid_is_refused() -> None:
    with pytest.raises(ValueError, match="has 12 cells"):
        wavelet_eb_grid(np.zeros(10), NOISE, 3, 4)
