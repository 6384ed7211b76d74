"""The methods of one line against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from simulator.methods import POSTPROCESSORS
from simulator.protocols import PROTOCOLS

from .law import oracle_of, stream

NOISE = oracle_of("oue", 8, 1.0).noise(1000)
ESTIMATES = [
    [0.5, -0.2, 0.3, 0.1, 0.0, -0.05, 0.2, 0.4],
    [-1.0, -0.5, -0.2, -0.1, -3.0, -0.3, -0.7, -0.01],
    [2.0, -0.5, 0.3, -0.1, 0.0, 0.0, 0.7, 0.7],
    [0.0] * 8,
]


def run(name, estimate, noise=NOISE):
    return POSTPROCESSORS[name](np.array(estimate), noise)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_one_line_methods(estimate):
    positive = [max(x, 0.0) for x in estimate]
    total = sum(positive)
    assert run("none", estimate).tolist() == estimate
    assert run("post_pos", estimate).tolist() == estimate  # it changes query answers, not the estimate
    assert run("base_pos", estimate).tolist() == positive
    # the two below: one rounding per operation on numbers of at most 3
    np.testing.assert_allclose(run("norm", estimate), [x + (1 - sum(estimate)) / 8 for x in estimate], atol=1e-14)
    expected = [x / total for x in positive] if total else [1 / 8] * 8
    np.testing.assert_allclose(run("norm_mul", estimate), expected, atol=1e-14)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 100])
def test_base_cut_keeps_what_reaches_its_threshold(k):
    threshold = max(0.0, stats.norm.ppf(1 - 2 / k)) * NOISE.sd if k > 2 else 0.0
    assert (threshold > 0) == (k > 4)
    near = np.array([-1.0, -1e-9, 0.0, 1e-9, threshold * (1 - 1e-6), threshold * (1 + 1e-6), 0.4])
    estimate = np.resize(near, (8, k)) if k < 7 else np.resize(near, (1, k))
    for row in np.array(list(itertools.islice(itertools.cycle(estimate), 3))):
        expected = [x if x >= threshold and x > 0 else 0.0 for x in row]
        assert run("base_cut", row).tolist() == expected


def test_base_cut_lets_two_of_the_absent_values_through():
    # Its definition: k times the tail beyond the threshold is 2.
    k = 50
    threshold = stats.norm.ppf(1 - 2 / k) * NOISE.sd
    x = stream("cut").normal(0, NOISE.sd, size=(4000, k))
    kept = (run("base_cut", x) > 0).sum(axis=1)
    assert (run("base_cut", x)[x >= threshold] > 0).all()
    # mean of 4000 binomials Bin(50, 0.04): z of at most 5.3 is a false alarm of 1e-7
    assert abs(kept.mean() - 2) < 5.3 * np.sqrt(50 * 0.04 * 0.96 / 4000)


def test_base_cut_asks_more_of_values_that_share_a_block_with_a_frequent_one():
    oracle = PROTOCOLS["hr"](256, 5.0)
    estimate = np.full(256, 0.7 / 255)
    estimate[0] = 0.3
    shares = np.arange(256) % oracle.blocks == 0
    shares[0] = False
    kept = POSTPROCESSORS["base_cut"](estimate, oracle.noise(100_000)) > 0
    assert shares.any()
    assert not kept[shares].any()
    assert kept[~shares].all()
    even = POSTPROCESSORS["base_cut"](estimate, PROTOCOLS["oue"](256, 5.0).noise(100_000)) > 0
    assert even.all() == even[1]  # noise that is alike asks the same of all
