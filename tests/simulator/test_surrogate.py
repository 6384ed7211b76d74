"""Populations behind an estimate or a small sample, against slow references that share no code with them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from simulator import POSTPROCESSORS, PROTOCOLS, Noise, surrogate
from simulator.methods.wavelet import SCALES
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import (
    DRAWS,
    SURROGATES,
    Posterior,
    drawn_from_models,
    draws_of,
    known_frequencies,
    surrogate_populations,
)
from simulator.surrogate.mixture import mixture_posterior
from simulator.surrogate.posterior import resampled
from simulator.surrogate.wavelet import _posterior_coefficients, wavelet_posterior
from tests.cells import failures

from .law import even_noise, stream


def collected(protocol: str, k: int, n: int, shape: str = "zipf", epsilon: float = 1.0) -> tuple[np.ndarray, Noise]:
    oracle = PROTOCOLS[protocol](k, epsilon)
    support = oracle.sample_support(
        apportion(frequencies(shape, k), n), stream("surrogate", protocol, k, n, shape, epsilon)
    )
    return oracle.estimate(support, n), oracle.noise(n)


# --- every member of the table ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("name", SURROGATES)
def test_populations_are_frequencies(name: str) -> None:
    def check(cell: tuple[str, int, int]) -> None:
        protocol, k, n = cell
        estimate, noise = collected(protocol, k, n)
        before = estimate.copy()
        drawn = surrogate_populations(name, estimate, noise, ordered=True, rng=stream("draws"), draws=7)
        assert drawn.shape == ((7, k) if name == "ensemble" else (1, k))
        assert (drawn >= 0).all()
        np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)  # k roundings of at most 1e-16
        np.testing.assert_array_equal(estimate, before)
        if k < 18:
            return
        again = surrogate_populations(name, estimate, noise, ordered=True, rng=stream("draws"), draws=7)
        np.testing.assert_array_equal(drawn, again)
        other = surrogate_populations(name, estimate, noise, ordered=True, rng=stream("draws", 1), draws=7)
        assert np.array_equal(drawn, other) == (name != "ensemble" or len(np.unique(drawn)) == 1)

    assert failures([("oue", 2, 3), ("she", 3, 50), ("ss", 18, 1000), ("grr", 33, 10**5)], check) == {}


@pytest.mark.parametrize("name", [name for name in SURROGATES if name != "ensemble"])
def test_a_consistent_surrogate_is_its_post_processing(name: str) -> None:
    estimate, noise = collected("oue", 40, 50_000)
    drawn = surrogate_populations(name, estimate, noise, ordered=True, rng=stream("draws"))
    np.testing.assert_allclose(drawn[0], POSTPROCESSORS[name](estimate, noise), atol=1e-15)


@pytest.mark.usefixtures("few_curves")
def test_known_frequencies_are_the_draws_of_the_usual_surrogate_and_cannot_be_changed() -> None:
    estimate, noise = collected("oue", 8, 1000)
    known = known_frequencies(estimate, noise, ordered=False, seed=3)
    own = surrogate_populations("ensemble", estimate, noise, ordered=False, rng=rng_for(3, "surrogate", "ensemble"))
    np.testing.assert_array_equal(known, own)
    assert known.shape == (DRAWS, 8)
    assert known_frequencies(estimate.copy(), noise, ordered=False, seed=3) is known  # all who ask see the same ones
    for change in ({"seed": 4}, {"ordered": True}):
        assert not np.array_equal(known_frequencies(estimate, noise, **({"seed": 3, "ordered": False} | change)), own)
    with pytest.raises(ValueError, match="read-only"):
        known[0, 0] = 1.0


def test_long_domains_have_fewer_draws() -> None:
    assert [draws_of(k) for k in (2, 4096, 8192, 40_960, 10**6)] == [DRAWS, DRAWS, DRAWS // 2, DRAWS // 10, 16]


ODD = ((0.0,) * 6, (1 / 6,) * 6, (1.0, 0, 0, 0, 0, 0), (-0.2,) * 6, (9.0,) * 6)


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("ordered", [False, True])
def test_odd_estimates_still_give_populations(ordered: bool) -> None:
    """Of few categories, of many, and where both kinds of draws are mixed."""

    def check(cell: tuple[tuple[float, ...], float, int]) -> None:
        values, sd, times = cell
        drawn = surrogate_populations(
            "ensemble", np.tile(values, times), even_noise(sd), ordered=ordered, rng=stream("odd"), draws=5
        )
        assert drawn.shape == (5, 6 * times)
        assert np.isfinite(drawn).all()
        assert (drawn >= 0).all()
        np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)

    odd = ((ODD[0], 1e-9), (ODD[2], 1e-9), (ODD[2], 3.0), (ODD[3], 0.01), (ODD[4], 1e-9))
    assert failures([(*one, times) for one, times in itertools.product(odd, (1, 3, 5))], check) == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "norm-sub"}, "surrogate must be one of ensemble, norm_sub, .* got 'norm-sub'"),
        ({"name": "wavelet_eb", "ordered": False}, "wavelet_eb needs an ordered domain"),
        ({"estimate": np.array([0.5, np.nan])}, "finite"),
        ({"estimate": np.array([0.5, np.inf, 0.1])}, "finite"),
        ({"estimate": np.array([1.0])}, "at least 2"),
        ({"estimate": np.full((2, 3), 0.3)}, r"got shape \(2, 3\)"),
    ],
)
def test_what_is_no_estimate_is_refused(change: dict[str, object], message: str) -> None:
    asked = {"name": "ensemble", "estimate": np.array([0.5, 0.5]), "ordered": True} | change
    name, estimate = asked.pop("name"), asked.pop("estimate")
    with pytest.raises(ValueError, match=message):
        surrogate_populations(name, estimate, even_noise(0.1), rng=stream("x"), **asked)  # type: ignore[arg-type]


# --- wavelet coefficients --------------------------------------------------------------------------------------


def exact_moments(value: float, sd: float, weights: np.ndarray) -> tuple[float, float]:
    """First two moments of a coefficient given its noisy value, by integration over a grid, the atom at 0 apart."""
    grid = np.linspace(-40, 40, 100_001) * sd
    prior = sum(w * stats.norm.pdf(grid, 0, s * sd) for w, s in zip(weights[1:], SCALES[1:], strict=True))
    density = prior * stats.norm.pdf(value, grid, sd)
    mass = integrate.trapezoid(density, grid) + weights[0] * stats.norm.pdf(value, 0, sd)
    first, second = (integrate.trapezoid(density * grid**power, grid) / mass for power in (1, 2))
    return float(first), float(second)


def test_coefficients_have_the_moments_of_the_exact_mixture_posterior() -> None:
    def check(cell: tuple[tuple[float, ...], float]) -> None:
        weights, value = cell
        assert SCALES[0] == 0
        sd, times = 0.02, 40_000
        prior = np.array(weights)
        drawn = _posterior_coefficients(
            np.full(times, value * sd), sd, prior, stream("coefficients", value, *weights), free=False
        )
        first, second = exact_moments(value * sd, sd, prior)
        for power, exact in ((1, first), (2, second)):
            # 24 comparisons at |z| of 6; the grid's step is sd / 1250, its error far below.
            assert abs((drawn**power).mean() - exact) < 6 * (drawn**power).std() / times**0.5 + 1e-9 * sd**power

    cells = itertools.product(
        [(0.5, 0.1, 0.1, 0.1, 0.1, 0.1), (0.9, 0, 0.1, 0, 0, 0), (0, 1, 0, 0, 0, 0)], [0.0, 1.5, -3.0, 6.0]
    )
    assert failures(cells, check) == {}


def test_free_coefficients_have_a_flat_prior() -> None:
    drawn = _posterior_coefficients(np.full(50_000, 3.0), 0.5, np.full(6, 1 / 6), stream("free"), free=True)
    assert abs(drawn.mean() - 3) < 6 * 0.5 / 50_000**0.5
    assert abs(drawn.std() - 0.5) < 6 * 0.5 / 100_000**0.5  # the sd of a standard deviation is sd / sqrt(2 m)


# --- what the posteriors know ----------------------------------------------------------------------------------


def test_zeros_and_a_high_level_are_told_apart_in_every_draw() -> None:
    """12 sd apart: an estimate strays 6 sd with a chance of 1e-9, one of 100 in fewer than 1 of 10^6 runs."""
    truth = np.repeat([0.0, 1 / 50], 50)
    sd = truth.max() / 12
    rng = stream("two points")
    estimate = truth + rng.normal(0, sd, 100)
    drawn = mixture_posterior(estimate, even_noise(sd), 40, rng).populations
    np.testing.assert_array_equal(drawn > 6 * sd, np.broadcast_to(truth > 0, drawn.shape))
    # The fit knows that the other half is empty: most of it is drawn closer to 0 than the noise left it.
    assert np.abs(drawn[:, :50]).mean() < 0.5 * np.abs(estimate[:50]).mean()


@pytest.mark.parametrize("shape", ["gaussian", "bimodal", pytest.param("geometric", marks=pytest.mark.slow)])
def test_smooth_draws_are_closer_to_a_smooth_truth_than_the_estimate(shape: str) -> None:
    truth, sd = frequencies(shape, 256), 0.5 / 256
    for seed in range(3):
        rng = stream("smooth", shape, seed)
        estimate = truth + rng.normal(0, sd, 256)
        middle = wavelet_posterior(estimate, even_noise(sd), DRAWS, rng).populations.mean(axis=0)
        # The 256 squared errors of the estimate sum to 1 with sd 0.09; the curve has 10 times fewer free numbers, and
        # so has a quarter to a third of the distance left. A half is far from both.
        assert np.linalg.norm(middle - truth) < 0.5 * np.linalg.norm(estimate - truth)


def test_a_spike_on_a_flat_rest_is_kept_in_all_draws() -> None:
    truth, sd = frequencies("spike", 128), 0.2 / 128
    for seed in range(3):
        rng = stream("spike", seed)
        estimate = truth + rng.normal(0, sd, 128)
        drawn = wavelet_posterior(estimate, even_noise(sd), DRAWS, rng).populations
        # The draw and its estimate each stray by sd, 40 draws 3 times: |z| of 6 is a false alarm of 1e-7.
        assert (np.abs(drawn[:, 0] - truth[0]) < 6 * 2**0.5 * sd).all()
        assert np.abs(drawn[:, 2:] - truth[2:]).mean() < sd  # and the rest is no worse than the noise


@pytest.mark.parametrize(
    ("shape", "share", "seeds"),
    [
        ("gaussian", 0.2, 1),
        ("bimodal", 0.5, 1),
        *(
            pytest.param(shape, share, 3, marks=pytest.mark.slow)
            for shape in ("gaussian", "bimodal", "geometric", "lognormal")
            for share in (0.2, 0.5)
        ),
    ],
)
def test_evidence_tells_a_smooth_curve_from_its_shuffled_values(shape: str, share: float, seeds: int) -> None:
    """All of the seeds must hold: in 80 trials the gap was 54 to 165 one way and 4 to 50 the other, its sd 5 to 10.

    The noise is `share` of a mean frequency. With much less noise than a fifth nearly all estimates stand out from it:
    then each is free in the one model, which costs more than the curve's coefficients do in the other.
    """
    k, models = 128, (mixture_posterior, wavelet_posterior)
    truth, sd = frequencies(shape, k), share / k
    for seed in range(seeds):
        rng = stream("evidence", shape, seed)
        estimate = truth + rng.normal(0, sd, k)

        def gap(values: np.ndarray, rng: np.random.Generator = rng) -> float:
            loose, smooth = (posterior(values, even_noise(sd), 10, rng).evidence for posterior in models)
            return smooth - loose

        assert gap(estimate) > 0
        assert gap(rng.permutation(estimate)) < 0


def test_next_to_no_likelihood_is_missing_from_the_curve() -> None:
    """Under little noise a smooth estimate explains nearly all of how far it is from even; the priors cost little."""

    def check(cell: tuple[int, str]) -> None:
        k, shape = cell
        truth, sd = frequencies(shape, k), 1e-4
        found = wavelet_posterior(truth, even_noise(sd), 1, stream("whole", k)).evidence
        whole = float(((truth - 1 / k) ** 2).sum()) / (2 * sd**2)
        assert 0.99 * whole < found < whole

    assert failures(itertools.product([64, 96, 100, 129], ["geometric", "gaussian"]), check) == {}


# --- shares of the models --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_curves")
def test_the_ensemble_follows_the_evidence() -> None:
    """Neighbours of a smooth curve's draws are alike; those of a shuffled one's are not."""
    truth, sd = frequencies("gaussian", 48), 0.5 / 48
    rng = stream("ensemble")
    estimate = truth + rng.normal(0, sd, 48)

    def roughness(values: np.ndarray, ordered: bool) -> float:
        drawn = surrogate_populations("ensemble", values, even_noise(sd), ordered=ordered, rng=rng)
        return float(np.abs(np.diff(drawn, axis=1)).sum(axis=1).mean())

    smooth, loose = roughness(estimate, True), roughness(estimate, False)
    assert smooth < 0.5 * loose  # the curve rises and falls by 2 x 0.05; free draws add up 47 differences of noise
    shuffled = rng.permutation(estimate)
    assert roughness(shuffled, True) > 0.8 * roughness(shuffled, False)


def test_resampling_takes_each_as_often_as_its_weight() -> None:
    logs = np.log(np.array([0.5, 0.25, 0.2, 0.05])) - 1000
    taken = np.bincount(resampled(logs, 60, stream("resampled")), minlength=4)
    np.testing.assert_array_less(np.abs(taken - np.array([30, 15, 12, 3])), 1.001)
    assert taken.sum() == 60
    one = resampled(np.array([0.0, -np.inf, -5000.0]), 9, stream("resampled", 1))
    np.testing.assert_array_equal(one, np.zeros(9))
    order = resampled(np.zeros(500), 500, stream("resampled", 2))
    assert sorted(order) == list(range(500))
    assert list(order) != list(range(500))


@pytest.mark.parametrize("gains", [(9.0, 1.0), (-4.0, -9.0), (80.0, 40.0)])
def test_models_share_by_tempered_likelihoods_and_equal_frequencies_by_their_own(
    monkeypatch: pytest.MonkeyPatch, gains: tuple[float, float]
) -> None:
    """Of likelihoods over that of equal frequencies a part of the logarithm counts, and what is likeliest is as
    likely as its own tempered share: so equal frequencies are as far below it as they are less likely."""
    k, each = 6, 3
    own = [np.eye(k)[:each], np.full((each, k), 1 / 3) * (np.arange(k) < 3)]
    models = [lambda *_, one=one, gain=gain: Posterior(one, gain) for one, gain in zip(own, gains, strict=True)]
    monkeypatch.setattr(surrogate, "MODELS", dict(zip(models, (1.0, 2.0), strict=True)))
    drawn, logs = drawn_from_models(np.full(k, 1 / k), even_noise(0.01), ordered=False, each=each, rng=stream("x"))
    np.testing.assert_allclose(drawn, [*own[0], *own[1], *np.full((each, k), 1 / k)])
    shares = [math.exp(gain / surrogate.TEMPER) * odds for gain, odds in zip(gains, (1, 2), strict=True)]
    best = max(*gains, 0.0)
    shares.append(3 * surrogate.EVEN * math.exp(best / surrogate.TEMPER - best))
    np.testing.assert_allclose(np.exp(logs), np.repeat(shares, each))


def test_what_stands_out_of_the_noise_stays_and_the_rest_makes_up_what_is_missing() -> None:
    sd = 0.02
    rows = np.array([[0.5, 0.3, 0.05, 0.05], [0.5, 0.4, 0.07, -0.01], [0.7, 0.4, 0.01, 0.02], [0.07, 0.06, 0.0, 0.0]])
    expected = [[0.5, 0.3, 0.1, 0.1], [0.5, 0.4, 0.1, 0.0], [7 / 11, 4 / 11, 0.0, 0.0], [7 / 13, 6 / 13, 0.0, 0.0]]
    np.testing.assert_allclose(surrogate._summing_to_one(rows, sd), expected, atol=1e-15)


def test_from_12_to_24_categories_the_draws_of_few_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of few categories are marked by their first value, those of the models by their second one."""

    def few(estimate: np.ndarray, noise: Noise, *, ordered: bool, draws: int, rng: np.random.Generator) -> np.ndarray:
        del noise, ordered, rng
        return np.tile(np.eye(len(estimate))[0], (draws, 1))

    def models(
        estimate: np.ndarray, noise: Noise, *, ordered: bool, each: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        del noise, ordered, rng
        return np.tile(np.eye(len(estimate))[1], (each, 1)), np.zeros(each)

    monkeypatch.setattr(surrogate, "few_populations", few)
    monkeypatch.setattr(surrogate, "drawn_from_models", models)

    def check(cell: tuple[int, int]) -> None:
        k, expected = cell
        drawn = surrogate_populations("ensemble", np.full(k, 1 / k), even_noise(0.1), ordered=False, rng=stream("few"))
        assert drawn[:, :2].sum(axis=0).tolist() == [expected, DRAWS - expected]
        first = drawn[:, 0].astype(int)
        assert expected in (0, DRAWS) or np.abs(np.diff(first)).sum() > 2  # mixed: some may be left out

    assert failures([(2, 240), (12, 240), (13, 220), (18, 120), (23, 20), (24, 0), (40, 0)], check) == {}
