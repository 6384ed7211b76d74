import itertools
import math

import numpy as np
import pytest

from knowledge.describe import features, haar
from knowledge.describe.features import NAMES, describe, log_reference
from knowledge.describe.haar import shifted_haar
from knowledge.describe.profile import FULL, _top, profile_of, zipf_skew
from knowledge.menu import CATEGORIES
from knowledge.model import load
from simulator import METRICS, PROTOCOLS, frequency_oracles, rng_for
from simulator.metrics import TOP_SHARE
from simulator.populations import apportion, frequencies
from tests.cells import over


@over(itertools.product([2, 5, 64, 1000, 5000], [0.0, 0.4, 1.0, 1.7]))
def test_the_skew_of_a_zipf_distribution_is_its_exponent(k, s):
    assert zipf_skew(frequencies("zipf", k, s)) == pytest.approx(s, abs=2e-3)


def test_figures_of_a_histogram_and_of_few_users():
    profile = profile_of(np.array([4.0, 0.0, 0.0, 4.0]))
    assert profile.k == 4
    assert profile.zeros == 0.5
    assert profile.top == 0.5
    assert profile.participation == pytest.approx(0.5)
    assert profile.entropy_gap == pytest.approx(math.log(2))
    assert profile.displacement == pytest.approx((0.25 + 0 + 0.25) / 4)
    assert profile.variation == 0.5
    profile = profile_of(np.array([1.0, 1.0, 1.0]), n=4)
    assert sorted(profile.values.means.tolist()) == [0.25, 0.25, 0.5]
    assert profile_of(np.array([1.0, 1.0, 1.0]), n=300).top == pytest.approx(1 / 3)


def test_the_largest_values_come_first_and_of_equal_ones_the_earlier():
    rng = rng_for(0, "largest values")
    for most in (1, 2, 5, 100):
        f = rng.integers(0, most, 60, endpoint=True) / 60
        in_order = sorted(range(60), key=lambda place: (-f[place], place))
        for size in (1, 3, 30, 60):
            assert _top(f, -np.sort(-f), size).tolist() == in_order[:size]
    f = np.tile([1.0, 3.0, 2.0, 3.0], 100)  # the top ones are fewer than the 200 largest
    profile = profile_of(f)
    first = shifted_haar(f / f.sum(), np.arange(1, 2 * round(400 * TOP_SHARE), 2))[1]
    np.testing.assert_array_equal(profile.parts[profile.spread_places :], first)


def test_what_is_no_histogram_is_refused_and_sizes_that_differ():
    for weights in ([1.0], [0.0, 0.0], [1.0, -0.1], [1.0, math.nan], [1.0, math.inf]):
        with pytest.raises(ValueError, match="at least 2 categories"):
            profile_of(np.array(weights))
    with pytest.raises(ValueError, match="one domain size"):
        describe([profile_of(np.ones(4)), profile_of(np.ones(5))], [frequency_oracles()["oue"](4, 1.0).noise(100)])


def test_large_domains_stand_in_groups_that_keep_the_sums():
    f = frequencies("zipf_shuffled", 20_000, 1.1)
    profile = profile_of(f)
    assert len(profile.values.means) <= FULL
    assert profile.values.sizes.sum() == 20_000
    assert (profile.values.sizes * profile.values.means).sum() == pytest.approx(1)
    assert (profile.few.sizes * profile.few.means).sum() == pytest.approx(1)
    assert profile.counts is not None
    assert profile.counts.sum() == 20_000
    assert profile.counts.sum(axis=0) @ profile.points == pytest.approx(1)


@pytest.mark.parametrize(("shape", "parameter"), [("gaussian", 0.15), ("zipf_shuffled", 1.0), ("lognormal", 0.7)])
def test_grouping_hardly_changes_the_features(shape, parameter, monkeypatch):
    f = frequencies(shape, 500, parameter)
    noises = [frequency_oracles()[name](500, 1.0).noise(50_000) for name in ("oue", "grr")]
    grouped = describe([profile_of(f)], noises).features[0]
    for limit in ("FULL", "FEW", "ATOMS", "DETAILS", "SINGLY", "PLACES", "TOP_PLACES"):
        monkeypatch.setattr(f"knowledge.describe.profile.{limit}", 1000)
    exact = describe([profile_of(f)], noises).features[0]
    varies = dict(zip(NAMES, load().network.scale.tolist(), strict=True))
    for name, one, other in zip(NAMES, exact.T, grouped.T, strict=True):
        # A tenth of what the feature varies by over the simulated cells.
        np.testing.assert_allclose(other, one, atol=0.1 * varies[name], err_msg=name)


@pytest.mark.parametrize("k", [2, 3, 17, 1000])
def test_features_are_finite_for_every_protocol_and_budget(k):
    for f in (np.ones(k), np.eye(k)[0], frequencies("sparse", k, 0.2)):
        profile = profile_of(f)
        for epsilon, n in ((0.1, 1_000), (1.0, 100_000), (16.0, 1_000_000_000)):
            noises = [protocol(k, epsilon).noise(n) for protocol in frequency_oracles().values()]
            description = describe([profile], noises)
            assert description.features.shape == (1, len(noises), len(NAMES))
            assert np.isfinite(description.features).all()
            assert all((values > 0).all() for values in description.raw.values())
            assert all(np.min(value) > 0 for value in description.cap.values())


@pytest.mark.parametrize("k", [2, 17, 300, 3000])
def test_histograms_that_are_described_together_are_described_as_alone(k):
    profiles = [profile_of(frequencies(name, k), 50_000) for name in ("zipf", "gaussian", "sparse", "uniform")]
    noises = [frequency_oracles()[name](k, 1.0).noise(50_000) for name in ("oue", "grr", "hr")]
    together = describe(profiles, noises)
    for place, profile in enumerate(profiles):
        for number, noise in enumerate(noises):
            alone = describe([profile], [noise])
            np.testing.assert_allclose(together.features[place, number], alone.features[0, 0], rtol=1e-5, atol=1e-5)
            for metric, raw in alone.raw.items():
                assert together.raw[metric][place, number] == pytest.approx(raw[0, 0], rel=1e-5)
            np.testing.assert_allclose(
                log_reference(together, CATEGORIES)[place, number], log_reference(alone, CATEGORIES)[0, 0], atol=1e-5
            )


ROUGHLY = {"mean": 1.2, "ks": 1.4, "quantiles": 4.0}  # a factor; of the others, 1 % for the Gaussian approximation


@pytest.mark.parametrize("name", ["oue", "grr"])
@pytest.mark.parametrize(
    ("shape", "k", "n", "metrics"),
    [
        ("zipf", 40, 20_000, ("l1", "mse", "emd", "topk", "set")),
        *((shape, k, 100_000, tuple(ROUGHLY)) for shape in ("uniform", "gaussian") for k in (12, 40, 300)),
    ],
)
def test_reference_errors_are_those_of_the_raw_estimate(shape, k, n, metrics, name):
    """They are the unit of the model's outputs: against the mean of many collections, give or take 5 standard errors.

    Deciles depend on how the frequencies lie about the levels, which the reference knows nothing of.
    """
    oracle, times = frequency_oracles()[name](k, 1.0), 2000 if shape == "zipf" else 400
    counts = apportion(frequencies(shape, k), n)
    rows = np.broadcast_to(counts, (times, k))
    estimate = oracle.estimate(oracle.sample_support(rows, rng_for(0, "reference", name, shape, k)), n)
    raw = describe([profile_of(counts)], [oracle.noise(n)]).raw
    for metric in metrics:
        errors, factor = METRICS[metric](estimate, counts / n), ROUGHLY.get(metric, 1.01)
        reach = 5 * errors.std() / math.sqrt(times)
        assert (errors.mean() - reach) / factor < raw[metric][0, 0] < errors.mean() * factor + reach, metric


@pytest.mark.parametrize("k", [33, 300, 1025])
def test_squares_added_up_by_stretches_are_those_of_the_whole_domain(k, monkeypatch):
    f = rng_for(k).dirichlet(np.ones(k))
    at_once, _ = shifted_haar(f, np.arange(2))
    monkeypatch.setattr(haar, "STRETCH", 7)
    by_stretches, _ = shifted_haar(f, np.arange(2))
    np.testing.assert_allclose(by_stretches, at_once, rtol=1e-12, atol=0)


@over([2, 3, 31, 32, 33, 64, 65, 300, 1025])
def test_the_transform_at_every_shift_is_that_of_the_mirrored_histogram(k):
    for f in (np.arange(k, 0.0, -1.0) ** -1.3, rng_for(k).standard_gamma(0.3, k), np.ones(k)):
        f = f / f.sum()
        places = np.append(rng_for(0, "places").integers(0, k, 20), [0, k - 1])
        energies, parts = shifted_haar(f, places)
        whole, half, level = np.concatenate([f, f[::-1]]), 1, 0
        while half <= k:
            details = (whole - np.roll(whole, -half)) / 2
            whole = (whole + np.roll(whole, -half)) / 2
            # what each shift brings: with one sign to the left block, with the other to the right one
            brought = sum(np.roll(details, shift) - np.roll(details, shift + half) for shift in range(half))
            assert energies[level] == pytest.approx(2 * half * (details**2).mean(), rel=1e-9, abs=1e-25)
            np.testing.assert_allclose(parts[:, level], brought[places] / (2 * half), rtol=0, atol=1e-13)
            half, level = 2 * half, level + 1
        assert len(energies) == level


# Flags of single precision are raised without a reason too: what is looked at is the result.
def test_a_flag_that_a_matrix_product_raises_is_no_warning_and_what_is_not_finite_is_named(monkeypatch):
    of = [profile_of(np.array([0.5, 0.3, 0.15, 0.05]))], [PROTOCOLS["oue"](4, 1.0).noise(1_000)]
    expected, order_figures = describe(*of).features, features.order_figures

    def raising(*arguments):
        assert np.isnan(np.array(np.inf) - np.array(np.inf))  # raises the flag
        return order_figures(*arguments)

    monkeypatch.setattr(features, "order_figures", raising)
    np.testing.assert_array_equal(describe(*of).features, expected)

    def broken(*arguments):
        order = order_figures(*arguments)
        return order._replace(figures=order.figures | {"log_lost": np.array([[np.nan]], dtype=np.float32)})

    monkeypatch.setattr(features, "order_figures", broken)
    with pytest.raises(FloatingPointError, match="log_lost"):
        describe(*of)
