from itertools import product

import numpy as np
import pytest
from scipy import stats

from advisor import InputError, Simulation, advise, estimate
from advisor.answers.rank.apply import COLUMNS, applied_csv, frequency_interval
from advisor.inputs.estimates import RawEstimates
from advisor.question.collected import collect
from advisor.question.spread import Origin
from simulator import POSTPROCESSORS, PROTOCOLS, Noise, frequency_oracles
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.cli_answers import csv_rows
from tests.advisor.estimates import ALONE
from tests.cells import over

Z = stats.norm.ppf(0.975)


@over(product([0.3, 1.0, 4.0], frequency_oracles()))
def test_interval_is_a_scan_of_all_frequencies(epsilon, protocol):
    noise = PROTOCOLS[protocol](20, epsilon).noise(500)
    grid = np.linspace(0, 1, 20_001)
    estimates = np.concatenate([np.linspace(-2, 3, 41), np.linspace(-3, 3, 13) * noise.sd, [0.0, 1.0]])
    low, high = frequency_interval(estimates, noise)
    at_zero, slope = noise.line(estimates)
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    lines = np.broadcast_to(at_zero, estimates.shape)
    for values, a, least, most in zip(estimates, lines, low, high, strict=True):
        counted = np.clip(values, 0, 1)  # outside of what is possible it counts as the nearest frequency
        inside = (counted - grid) ** 2 <= Z**2 * (a + slope * grid)
        assert inside.any()
        # the ends of the scan are off by one step
        assert least == pytest.approx(grid[inside].min(), abs=1 / 20_000)
        assert most == pytest.approx(grid[inside].max(), abs=1 / 20_000)


@over(product([0, 0.002, 0.02, 0.3, 0.9], ["oue", "grr"]))
def test_interval_covers_the_frequency_as_often_as_it_says(share, protocol):
    """4,000 trials know 95 % to 0.34 points; |z| of 5 is a false alarm of 6e-7 in each of ten tests.

    Counts are whole numbers: their steps are below 1 / 60 of the sd, and move the cover by up to the chance of one
    count, 0.06 / 60 at each end. Estimates below 0 count as 0, whose interval reaches up to 1.96 sd: of
    frequencies below that only the upper side can miss.
    """
    k, n, trials = 4, 20_000, 4000
    oracle = PROTOCOLS[protocol](k, 1.0)
    first = round(share * n)
    counts = np.array([first, *apportion(np.ones(k - 1), n - first)])
    rng = rng_for(0, "tests", "coverage", protocol, first)
    estimates = oracle.estimate(oracle.sample_support(np.broadcast_to(counts, (trials, k)), rng), n)[:, 0]
    low, high = frequency_interval(estimates, oracle.noise(n))
    covered = ((low <= share) & (share <= high)).mean()
    expected = 0.95 if share > 1.96 * oracle.noise(n).sd else 0.975
    assert abs(covered - expected) < 5 * (expected * (1 - expected) / trials) ** 0.5 + 0.002


@pytest.mark.parametrize(
    ("k", "epsilon", "n"),
    [
        (256, 5.0, 100_000),
        pytest.param(256, 3.0, 100_000, marks=pytest.mark.slow),
        pytest.param(64, 2.0, 10_000, marks=pytest.mark.slow),
    ],
)
def test_intervals_beside_a_frequent_value_cover_too_although_it_brings_noise_into_their_block(k, epsilon, n):
    """Hadamard response; false alarm: 1 of 16,000 streams a comparison (4 standard errors of all collections)."""
    oracle, repetitions = PROTOCOLS["hr"](k, epsilon), 1000 if epsilon == 5 else 4000
    counts = np.full(k, int(0.6 * n) // k)
    mate, unused = oracle.blocks, 2 * oracle.blocks if k > 2 * oracle.blocks else None
    counts[0], counts[mate], counts[1] = int(0.3 * n), int(0.05 * n), 0
    if unused is not None:
        counts[unused] = 0
    counts[1] = n - counts.sum()
    rows = np.broadcast_to(counts, (repetitions, k))
    estimate = oracle.estimate(oracle.sample_support(rows, rng_for(0, "tests", "beside", k, repr(epsilon))), n)
    error = 4 * np.sqrt(0.95 * 0.05 / repetitions)

    def coverage(noise):
        low, high = frequency_interval(estimate, noise)
        return float(((low <= counts / n) & (counts / n <= high))[:, mate].mean())

    noise = oracle.noise(n)
    assert abs(coverage(noise) - 0.95) < error
    # What holds for the mean of all values does not cover here.
    means = Noise(n, noise.p, noise.q, noise.variance_at_zero, noise.variance_slope, noise.sums_to_one)
    assert coverage(means) < 0.95 - error
    if unused is not None:
        at_zero, _ = noise.line(estimate)
        detected = (estimate / np.sqrt(at_zero))[:, unused] > stats.norm.ppf(0.95)
        assert abs(detected.mean() - 0.05) < error
        assert (estimate[:, unused] / noise.sd > stats.norm.ppf(0.95)).mean() > 0.05 + error


def test_an_estimate_with_a_frequent_value_is_not_refused_for_the_noise_it_brings():
    k, epsilon, n = 256, 5.0, 100_000
    oracle = PROTOCOLS["hr"](k, epsilon)
    counts = np.full(k, int(0.1 * n) // (k - 1))
    counts[0] = n - counts[1:].sum()
    # Of 30 streams: where the value that shares the block is left out at frequency 0, its noise is 5 sd of the others.
    for stream in range(30):
        rng = rng_for(0, "tests", "frequent", stream)
        estimate = oracle.estimate(oracle.sample_support(counts, rng), n)
        collected = collect(RawEstimates(tuple(map(str, range(k))), estimate), Origin("hr", epsilon, n))
        assert not collected.warnings


def test_interval_without_noise_is_the_estimate():
    low, high = frequency_interval(np.array([0.0, 0.4, 1.0]), Noise(10, 1.0, 0.0, 0.0, 0.0, True))
    np.testing.assert_array_equal(low, [0.0, 0.4, 1.0])
    np.testing.assert_array_equal(high, low)


K, N = 12, 20_000
ORACLE = PROTOCOLS["oue"](K, 1.0)
ESTIMATE = ORACLE.estimate(ORACLE.sample_support(apportion(frequencies("zipf", K), N), rng_for(0, "tests", "apply")), N)
FEW = ("none", "norm_sub", "power_ns")


@pytest.fixture(scope="module")
def advice():
    return estimate(ESTIMATE, "oue", eps=1.0, n=N, method=FEW, **ALONE, simulation=Simulation(repetitions=4))


def test_apply_is_the_best_method_with_the_noise_of_the_protocol_along_all_leading_axes(advice):
    expected = POSTPROCESSORS[advice.best.method](ESTIMATE, ORACLE.noise(N))
    np.testing.assert_array_equal(advice.apply(ESTIMATE), expected)
    np.testing.assert_array_equal(advice.apply(ESTIMATE.tolist()), expected)
    result = advice.apply(np.stack([[ESTIMATE, ESTIMATE[::-1]]] * 3), "Norm-Sub")
    assert result.shape == (3, 2, K)
    np.testing.assert_allclose(result[2, 1], advice.apply(ESTIMATE[::-1], "norm_sub"), atol=1e-15)
    assert (result >= 0).all()
    np.testing.assert_allclose(result.sum(axis=-1), 1, atol=1e-12)


@over(
    [
        (ESTIMATE[:-1], None, r"k = 12 categories on its last axis, got shape \(11,\)"),
        (0.5, None, r"got shape \(\)"),
        (np.full(K, np.nan), None, "finite"),
        (ESTIMATE, "post_pos", "changes only the answers of queries"),
        (ESTIMATE, "nothing", "unknown method 'nothing'"),
    ]
)
def test_apply_refuses_what_does_not_fit(estimate, method, message, *, advice):
    with pytest.raises(InputError, match=message):
        advice.apply(estimate, method)


def test_applied_csv_holds_the_estimate_and_its_intervals_at_full_precision(advice):
    rows = csv_rows(applied_csv(advice))
    assert tuple(rows[0]) == COLUMNS
    assert [row["value"] for row in rows] == [str(place) for place in range(K)]
    columns = {name: np.array([float(row[name]) for row in rows]) for name in COLUMNS[1:]}
    np.testing.assert_array_equal(columns["raw"], ESTIMATE)
    np.testing.assert_array_equal(columns["post_processed"], advice.apply(ESTIMATE))
    low, high = frequency_interval(ESTIMATE, ORACLE.noise(N))
    np.testing.assert_array_equal(columns["low"], low)
    np.testing.assert_array_equal(columns["high"], high)


def test_a_sample_has_nothing_to_apply_to():
    advice = advise(
        1.0, sample_counts=[50, 30, 20], protocol="oue", method="norm_sub", simulation=Simulation(max_repetitions=20)
    )
    with pytest.raises(InputError, match="no estimate to apply a method to"):
        applied_csv(advice)
    assert advice.apply([0.6, 0.5, -0.1]).tolist() == pytest.approx([0.55, 0.45, 0.0])
    mapping = {"1": 0.5, "2": -0.1, "0": 0.6}
    assert advice.apply(mapping).to_dict() == pytest.approx({"1": 0.45, "2": 0.0, "0": 0.55})
    assert advice.intervals(mapping)["raw"].to_dict() == mapping
