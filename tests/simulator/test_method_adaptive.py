import numpy as np
import pytest
from scipy import optimize

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.methods import empirical_bayes, wavelet
from simulator.methods.simplex import norm_sub
from simulator.methods.wavelet import KERNEL, wavelet_eb
from simulator.populations import apportion, frequencies
from simulator.protocols.unary import OUE
from simulator.seeding import rng_for
from tests.cells import over

from .law import stream

OTHERS = ("post_pos", "ibu", "ibu_pseudo", "eb_ns")
PUBLISHED = [
    name
    for name, method in POSTPROCESSORS.items()
    if name not in OTHERS and not (method.uses_order or method.is_remedy)
]


def collected(shape, k, n, epsilon, protocol, times=30):
    """Truth, raw estimates and noise of some collections."""
    counts = apportion(frequencies(shape, k), n)
    oracle = PROTOCOLS[protocol](k, epsilon)
    support = oracle.sample_support(np.broadcast_to(counts, (times, k)), stream("adaptive", shape, k, n, protocol))
    return counts / n, oracle.estimate(support, n), oracle.noise(n)


def error(method, metric, truth, estimate, noise):
    return float(METRICS[metric](POSTPROCESSORS[method](estimate, noise), truth).mean())


def slow_posterior_means(row, noise):
    """One row, estimate by estimate: exact likelihoods instead of bins, a root finder instead of bisection."""
    k, sd = len(row), noise.sd
    ladder = np.concatenate([np.arange(0, 8, 0.25), np.arange(8, 20.25, 0.5)]) * sd
    atoms = np.unique(np.append(ladder[ladder <= 1], 1 / k))
    variance = noise.variance_at_zero + noise.variance_slope * atoms
    kernel = np.exp(-((row[:, None] - atoms) ** 2) / (2 * variance)) / np.sqrt(variance)
    weights = np.full(len(atoms), 1 / len(atoms))
    for _ in range(50):
        weights = (weights * kernel / (kernel @ weights)[:, None]).mean(axis=0)
        gap = atoms - 1 / k

        # The weights nearest to the unconstrained ones in likelihood: the dual is concave in one number.
        edge = 1 - 1e-9
        dual = optimize.minimize_scalar(
            lambda tilt, weights=weights, gap=gap: -float((weights * np.log1p(tilt * gap)).sum()),
            bounds=(-edge / gap.max(), -edge / gap.min()),
            method="bounded",
            options={"xatol": 1e-12},
        )
        weights = weights / (1 + dual.x * gap)
        weights /= weights.sum()
    means = kernel @ (weights * atoms) / (kernel @ weights)
    equal = kernel[:, np.argmin(np.abs(atoms - 1 / k))]
    gain = np.log(kernel @ weights / equal).sum()
    trust = 1 / (1 + np.exp(3 - gain))
    return trust * means + (1 - trust) / k


@pytest.mark.parametrize(
    ("shape", "k", "n", "protocol"),
    [("zipf", 200, 20_000, "oue"), ("uniform", 100, 10_000, "oue"), ("dirichlet", 16, 5_000, "grr")],
)
def test_eb_ns_is_the_slow_reference_up_to_its_bins(shape, k, n, protocol, monkeypatch):
    _, estimate, noise = collected(shape, k, n, 1.0, protocol, times=2)
    assert estimate.max() < empirical_bayes.HIGHEST * noise.sd
    slow = norm_sub(np.stack([slow_posterior_means(row, noise) for row in estimate]), noise)
    # The fit sees each estimate moved by up to half a bin, and so does the answer: right to two bins, however fine.
    for width in (0.1, 0.003):
        monkeypatch.setattr(empirical_bayes, "BIN", width)
        empirical_bayes.mixture_model.cache_clear()
        assert np.abs(POSTPROCESSORS["eb_ns"](estimate, noise) - slow).max() < 2 * width * noise.sd
    empirical_bayes.mixture_model.cache_clear()


def test_estimates_far_above_the_noise_are_only_projected():
    truth, estimate, noise = collected("steps", 8, 10**8, 2.0, "oue", times=2)
    assert truth.min() > empirical_bayes.HIGHEST * noise.sd
    np.testing.assert_array_equal(POSTPROCESSORS["eb_ns"](estimate, noise), norm_sub(estimate, noise))


@pytest.mark.parametrize("protocol", ["oue", "grr"])
def test_pure_noise_is_not_fitted(protocol):
    truth, estimate, noise = collected("uniform", 256, 20_000, 0.5, protocol)
    own, raw = (error(method, "l2", truth, estimate, noise) for method in ("wavelet_eb", "norm_sub"))
    assert own < 0.3 * raw


@pytest.mark.parametrize("k", [2, 3, 7, 16, 51, 100])
def test_details_are_half_differences_of_neighbouring_block_means_and_can_be_undone(k):
    rows = stream("transform", k).normal(size=(3, 2 * k))
    details, smooth = wavelet.half_differences(rows)
    for level, detail in enumerate(details):
        width = 2**level
        for place in range(2 * k):
            first, second = (
                np.take(rows, range(start, start + width), axis=1, mode="wrap").mean(axis=1)
                for start in (place, place + width)
            )
            np.testing.assert_allclose(detail[:, place], (first - second) / 2, atol=1e-13)
    for level in reversed(range(len(details))):
        smooth = ((smooth + details[level]) + np.roll(smooth - details[level], 2**level, axis=1)) / 2
    np.testing.assert_allclose(smooth, rows, atol=1e-13)


def test_turning_the_domain_round_turns_the_result_round():
    _, estimate, noise = collected("lognormal", 75, 20_000, 1.0, "oue", times=3)
    turned = POSTPROCESSORS["wavelet_eb"](estimate[:, ::-1], noise)
    np.testing.assert_allclose(turned[:, ::-1], POSTPROCESSORS["wavelet_eb"](estimate, noise), atol=1e-12)


def test_coefficients_far_above_the_noise_are_left_as_they_are():
    k = 64
    box = np.where(np.arange(k) < k // 2, 1.9 / k, 0.1 / k)  # one coefficient of thousands of noise sd
    noise = PROTOCOLS["oue"](k, 4.0).noise(10**9)
    loss = np.abs(POSTPROCESSORS["wavelet_eb"](box, noise) - box).max()
    assert loss < 0.05 * noise.sd  # 256/257 of it took 20 sd away


@over([("gaussian", "oue"), ("geometric", "grr"), ("lognormal", "oue"), ("zipf", "grr")])
def test_on_ordered_shapes_wavelets_beat_the_best_published_method_in_hindsight(shape, protocol):
    bounds, logs = {"l1": 0.95, "l2": 0.90, "emd": 1.25}, []
    for n in (10**4, 10**5, 10**6):
        truth, estimate, noise = collected(shape, 100, n, 1.0, protocol, times=15)
        results = [POSTPROCESSORS[name](estimate, noise) for name in ("wavelet_eb", *PUBLISHED)]
        errors = np.array([[METRICS[metric](result, truth).mean() for result in results] for metric in bounds])
        logs.append(np.log(errors[:, 0] / errors[:, 1:].min(axis=1)))
    means = dict(zip(bounds, np.exp(np.mean(logs, axis=0)).tolist(), strict=True))
    assert {metric: mean for metric, mean in means.items() if mean >= bounds[metric]} == {}


ROWS, COLUMNS = 12, 10
BINS = len(KERNEL)
NOISE = OUE(ROWS * COLUMNS, 1.0).noise(100_000)


def hill():
    row, column = np.mgrid[:ROWS, :COLUMNS]
    weights = np.exp(-((row - 4) ** 2 + (column - 6) ** 2) / 12)
    return (weights / weights.sum()).ravel()


def noisy(repetitions=1):
    return hill() + rng_for(0, "grid").normal(0, NOISE.sd, (repetitions, ROWS * COLUMNS))


def test_the_transform_of_a_grid_can_be_undone_and_is_of_its_grid(monkeypatch):
    monkeypatch.setattr(wavelet, "kept_shares", lambda weights: np.ones((len(weights), BINS)))
    monkeypatch.setattr(wavelet, "sigmoid", lambda log_ratio: np.ones_like(log_ratio))
    estimate = noisy(3)
    assert np.allclose(wavelet_eb(estimate, NOISE, ROWS, COLUMNS), norm_sub(estimate, NOISE), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="reshape"):
        wavelet_eb(np.zeros(10), NOISE, 3, 4)


def test_rows_of_a_batch_are_frequencies_by_themselves_and_turn_with_the_grid():
    estimate = noisy(4)
    result = wavelet_eb(estimate, NOISE, ROWS, COLUMNS)
    assert result.min() >= 0
    assert np.allclose(result.sum(axis=1), 1, atol=1e-12)
    assert np.allclose(wavelet_eb(estimate[2], NOISE, ROWS, COLUMNS), result[2], rtol=0, atol=1e-14)
    estimate = noisy()[0]
    table = wavelet_eb(estimate, NOISE, ROWS, COLUMNS).reshape(ROWS, COLUMNS)
    turned = wavelet_eb(estimate.reshape(ROWS, COLUMNS).T.ravel(), NOISE, COLUMNS, ROWS)
    flipped = wavelet_eb(estimate.reshape(ROWS, COLUMNS)[::-1].ravel(), NOISE, ROWS, COLUMNS)
    assert np.allclose(turned.reshape(COLUMNS, ROWS).T, table, rtol=0, atol=1e-12)
    assert np.allclose(flipped.reshape(ROWS, COLUMNS)[::-1], table, rtol=0, atol=1e-12)


def test_smooth_hills_are_recovered_and_pure_noise_on_a_grid_is_not_fitted():
    estimate = noisy(20)
    errors = [
        ((result - hill()) ** 2).sum(axis=1)
        for result in (wavelet_eb(estimate, NOISE, ROWS, COLUMNS), norm_sub(estimate, NOISE))
    ]
    assert (errors[0] < errors[1]).all()  # in each of 20 repetitions: 1 in a million by chance
    even = np.full(ROWS * COLUMNS, 1 / (ROWS * COLUMNS))
    estimate = even + rng_for(0, "flat grid").normal(0, NOISE.sd, (100, ROWS * COLUMNS))
    own, raw = wavelet_eb(estimate, NOISE, ROWS, COLUMNS), norm_sub(estimate, NOISE)
    # 0.0125, and 0.0283 where nothing is asked of the evidence, each with a standard error of 0.0025.
    assert ((own - even) ** 2).sum() < 0.02 * ((raw - even) ** 2).sum()


def iterated(observed, p, q, steps):
    """Plain IBU on the channel that supports the own value with p and each other one with q."""
    k = len(observed)
    channel = np.full((k, k), q)
    np.fill_diagonal(channel, p)
    channel /= channel.sum(axis=1, keepdims=True)
    f = np.full(k, 1 / k)
    for _ in range(steps):
        f = f * (channel @ (observed / (f @ channel)))
    return f


@pytest.mark.parametrize(
    ("method", "key", "k", "epsilon", "n"),
    [("ibu", "grr", 4, 1.0, 500), ("ibu", "grr", 10, 2.0, 2000), ("ibu_pseudo", "oue", 5, 2.0, 4000)],
)
def test_closed_forms_of_ibu_are_the_iterated_ones(method, key, k, epsilon, n):
    oracle = PROTOCOLS[key](k, epsilon)
    support = oracle.sample_support(apportion(frequencies("zipf", k), n), stream("ibu", k))
    closed = POSTPROCESSORS[method](oracle.estimate(support, n), oracle.noise(n))
    assert closed == pytest.approx(iterated(support / support.sum(), oracle.p, oracle.q, 2_000), abs=1e-8)
