import json
import math
from statistics import fmean, stdev, variance

import numpy as np
import pytest
from scipy.stats import binom

from advisor import Simulation, advise
from advisor.answers.rank.bias import bias_of
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.methods import observe
from simulator.progress import silent
from simulator.seeding import rng_for

COUNTS = {"apple": 500, "banana": 300, "cherry": 150, "date": 50}
TRUTH = np.array([count / 1000 for count in COUNTS.values()])


def answer(run, line):
    code, out, err = run(*line.split(), "--bias", "--format", "json")
    assert code == 0, err
    return json.loads(out)


def columns(data, *names):
    return [np.array([row[name] for row in data["categories"]]) for name in names]


def test_bias_and_variance_are_those_of_a_loop_over_the_collections(run, states):
    data = answer(run, f"--eps 1 {states} -p grr --method base_cut:keep=2 --reps 9 --max-reps 9 --seed 3")
    estimates = []
    for repetition in range(9):
        tally = PROTOCOLS["grr"](4, 1.0).sample_tally(
            np.array([*COUNTS.values()]), rng_for(3, "collect", "grr", repetition)
        )
        estimates.append(POSTPROCESSORS["base_cut:keep=2"].apply(observe(PROTOCOLS["grr"](4, 1.0), tally)).tolist())
    for place, (row, label, truth) in enumerate(zip(data["categories"], COUNTS, TRUTH, strict=True)):
        column = [estimate[place] for estimate in estimates]
        assert (row["rank"], row["category"], row["frequency"]) == (place + 1, label, truth)
        assert row["bias"] == pytest.approx(fmean(column) - truth, rel=1e-9)
        assert row["variance"] == pytest.approx(variance(column), rel=1e-9, abs=1e-18)
        # The quantile of Student's t for nine repetitions is 2.306 in every table.
        assert row["half_width"] == pytest.approx(2.306 * stdev(column) / 3, rel=1e-4, abs=1e-9)
    bias, var = columns(data, "bias", "variance")
    squared = float((bias**2 - var / 9).sum())
    assert data["bias_share"] == pytest.approx(squared / (squared + var.sum()))
    assert (data["protocol"], data["method"], data["repetitions"]) == ("grr", "base_cut:keep=2", 9)


def test_base_pos_has_the_bias_that_its_law_has(run, states):
    """The bits of OUE are independent: a support is the sum of two binomials, and the moments are finite sums.

    Lemma 1 of Wang et al.: positive bias for all values. Five standard errors are a false alarm in 200,000 for four.
    """
    data = answer(run, f"--eps 0.2 {states} -p oue --method base_pos --max-reps 2000")
    p, q, n = 1 / 2, 1 / (math.exp(0.2) + 1), 1000
    estimates = (np.arange(n + 1) / n - q) / (p - q)
    for count, bias, var in zip(COUNTS.values(), *columns(data, "bias", "variance"), strict=True):
        own, others = binom.pmf(np.arange(count + 1), count, p), binom.pmf(np.arange(n - count + 1), n - count, q)
        law, clipped = np.convolve(own, others), np.maximum(estimates, 0.0)
        mean = float(law @ clipped)
        exact = float(law @ clipped**2) - mean**2
        fourth = float(law @ (clipped - mean) ** 4)
        assert mean > count / n
        assert abs(bias - (mean - count / n)) < 5 * math.sqrt(exact / 2000)
        assert abs(var - exact) < 5 * math.sqrt((fourth - exact**2) / 2000)


def test_biases_of_a_method_that_sums_to_one_cancel(run):
    """Lemma 2 of Wang et al.; and Lemma 4: what is near 0 has a positive bias, so the most frequent a negative one."""
    line = "--eps 0.5 --k 64 --skew 1.5 --n 20000 -p oue --method norm_sub --max-reps 200"
    data = answer(run, line)
    bias, truth = columns(data, "bias", "frequency")
    assert abs(bias.sum()) < 1e-12
    assert bias[0] < 0 < bias[-20:].min()
    assert (np.diff(truth) <= 0).all()


def test_a_block_of_ranks_has_the_means_of_its_categories_and_is_surer_than_they_are():
    few = Simulation(repetitions=40, max_repetitions=40)
    asked = {"sample_counts": list(range(40, 0, -1)), "protocol": "oue", "method": "norm_sub", "simulation": few}
    found = bias_of(advise(1.0, **asked).request, silent)
    for start, end, block in zip(found.starts, found.starts[1:], found.blocks.T, strict=False):
        means = found.categories[:, start:end].mean(axis=1)
        assert block[[0, 1, 3]] == pytest.approx(means[[0, 1, 3]])
        assert block[2] == pytest.approx(means[2]) if end == start + 1 else 0 < block[2] < means[2]
