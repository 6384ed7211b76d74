"""What is written beside the estimate: the interval of each frequency covers it as often as it says."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from scipy import stats

from advisor import InputError, advise
from advisor.rank.apply import COLUMNS, applied_csv, frequency_interval
from simulator import POSTPROCESSORS, PROTOCOLS, Noise
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

Z = stats.norm.ppf(0.975)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_interval_is_a_scan_of_all_frequencies(protocol: str, epsilon: float) -> None:
    noise = PROTOCOLS[protocol](20, epsilon).noise(500)
    grid = np.linspace(0, 1, 20_001)
    estimates = np.concatenate([np.linspace(-2, 3, 41), np.linspace(-3, 3, 13) * noise.sd, [0.0, 1.0]])
    low, high = frequency_interval(estimates, noise)
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    for estimate, least, most in zip(estimates, low, high, strict=True):
        counted = min(
            max(estimate, 0.0), 1.0
        )  # an estimate outside of what is possible counts as the nearest frequency
        inside = (counted - grid) ** 2 <= Z**2 * (noise.variance_at_zero + noise.variance_slope * grid)
        assert inside.any()
        # the ends of the scan are off by one step
        assert least == pytest.approx(grid[inside].min(), abs=1 / 20_000)
        assert most == pytest.approx(grid[inside].max(), abs=1 / 20_000)


@pytest.mark.parametrize("protocol", ["oue", "grr"])
@pytest.mark.parametrize("share", [0, 0.002, 0.02, 0.3, 0.9])
def test_interval_covers_the_frequency_as_often_as_it_says(protocol: str, share: float) -> None:
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


def test_interval_without_noise_is_the_estimate() -> None:
    low, high = frequency_interval(np.array([0.0, 0.4, 1.0]), Noise(10, 1.0, 0.0, 0.0, 0.0, True))
    np.testing.assert_array_equal(low, [0.0, 0.4, 1.0])
    np.testing.assert_array_equal(high, low)


# --- apply -----------------------------------------------------------------------------------------------------

K, N = 12, 20_000
ORACLE = PROTOCOLS["oue"](K, 1.0)
ESTIMATE = ORACLE.estimate(ORACLE.sample_support(apportion(frequencies("zipf", K), N), rng_for(0, "tests", "apply")), N)
FEW = ("none", "norm_sub", "power_ns")


@pytest.fixture(scope="module")
def advice():
    return advise(1.0, estimate=ESTIMATE, protocol="oue", n=N, method=FEW, repetitions=4)


def test_apply_is_the_best_method_with_the_noise_of_the_protocol(advice) -> None:
    expected = POSTPROCESSORS[advice.best.method](ESTIMATE, ORACLE.noise(N))
    np.testing.assert_array_equal(advice.apply(ESTIMATE), expected)
    np.testing.assert_array_equal(advice.apply(ESTIMATE.tolist()), expected)


def test_apply_maps_all_leading_axes(advice) -> None:
    stack = np.stack([[ESTIMATE, ESTIMATE[::-1]]] * 3)
    result = advice.apply(stack, "Norm-Sub")
    assert result.shape == (3, 2, K)
    np.testing.assert_allclose(result[2, 1], advice.apply(ESTIMATE[::-1], "norm_sub"), atol=1e-15)
    assert (result >= 0).all()
    np.testing.assert_allclose(result.sum(axis=-1), 1, atol=1e-12)


@pytest.mark.parametrize(
    ("estimate", "method", "message"),
    [
        (ESTIMATE[:-1], None, r"k = 12 categories on its last axis, got shape \(11,\)"),
        (0.5, None, r"got shape \(\)"),
        (np.full(K, np.nan), None, "finite"),
        (ESTIMATE, "post_pos", "changes only the answers of queries"),
        (ESTIMATE, "nothing", "unknown method 'nothing'"),
    ],
)
def test_apply_refuses_what_does_not_fit(advice, estimate: object, method: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        advice.apply(estimate, method)


def test_applied_csv_holds_the_estimate_and_its_intervals_at_full_precision(advice) -> None:
    rows = list(csv.DictReader(io.StringIO(applied_csv(advice))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["value"] for row in rows] == [str(place) for place in range(K)]
    columns = {name: np.array([float(row[name]) for row in rows]) for name in COLUMNS[1:]}
    np.testing.assert_array_equal(columns["raw"], ESTIMATE)
    np.testing.assert_array_equal(columns["post_processed"], advice.apply(ESTIMATE))
    low, high = frequency_interval(ESTIMATE, ORACLE.noise(N))
    np.testing.assert_array_equal(columns["low"], low)
    np.testing.assert_array_equal(columns["high"], high)


def test_a_sample_has_nothing_to_apply_to() -> None:
    advice = advise(1.0, sample_counts=[50, 30, 20], protocol="oue", method="norm_sub", max_repetitions=20)
    with pytest.raises(InputError, match="no estimate to apply a method to"):
        applied_csv(advice)
    assert advice.apply([0.6, 0.5, -0.1]).tolist() == pytest.approx([0.55, 0.45, 0.0])
