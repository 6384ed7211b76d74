import itertools
import math
import statistics

import numpy as np
import pytest
from scipy import integrate, stats

from simulator import POSTPROCESSORS, PROTOCOLS, Noise, Observed, surrogate
from simulator.domain import ORDERED, UNORDERED
from simulator.methods.processor import SUMMARIES
from simulator.methods.wavelet import SCALES
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import (
    SURROGATES,
    curves,
    families,
    known_frequencies,
    median_of,
    particles,
    surrogate_populations,
)
from simulator.surrogate.mixture import mixture_posterior
from simulator.surrogate.plausibility import RATIO, PlausibilityRatio, by_plausibility, traits_of
from simulator.surrogate.posterior import Posterior
from simulator.surrogate.wavelet import _posterior_coefficients, wavelet_posterior
from tests.cells import over

from .law import even_noise, stream


@pytest.fixture
def few_curves(monkeypatch):
    """Few draws, of curves among few candidates: for what holds of any draws, however far from the posterior."""
    for name, number in (("CANDIDATES", 400), ("MOVES", 2), ("LAST_MOVES", 2)):
        monkeypatch.setattr(particles, name, number)
    monkeypatch.setattr(surrogate, "FROM_EACH", 12)


def collected(protocol, k, n, shape="zipf", epsilon=1.0):
    oracle = PROTOCOLS[protocol](k, epsilon)
    support = oracle.sample_support(
        apportion(frequencies(shape, k), n), stream("surrogate", protocol, k, n, shape, epsilon)
    )
    return oracle.estimate(support, n), oracle.noise(n)


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("name", SURROGATES)
@over([("oue", 2, 3), ("she", 3, 50), ("ss", 18, 1000), ("grr", 33, 10**5)])
def test_populations_are_frequencies(protocol, k, n, *, name):
    estimate, noise = collected(protocol, k, n)
    before = estimate.copy()
    drawn = surrogate_populations(name, estimate, noise, ordered=True, rng=stream("draws"), draws=7)
    assert drawn.shape == ((7, k) if name == "ensemble" else (1, k))
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)  # k roundings of at most 1e-16
    np.testing.assert_array_equal(estimate, before)
    again = surrogate_populations(name, estimate, noise, ordered=True, rng=stream("draws"), draws=7)
    np.testing.assert_array_equal(drawn, again)


@pytest.mark.parametrize("name", [name for name in SURROGATES if name != "ensemble"])
def test_a_consistent_surrogate_is_its_post_processing(name):
    estimate, noise = collected("oue", 40, 50_000)
    drawn = surrogate_populations(name, estimate, noise, ordered=True, rng=stream("draws"))
    np.testing.assert_allclose(drawn[0], POSTPROCESSORS[name](estimate, noise), atol=1e-15)


@pytest.mark.usefixtures("few_curves")
def test_known_frequencies_are_the_draws_of_the_usual_surrogate_and_cannot_be_changed():
    estimate, noise = collected("oue", 8, 1000)
    known = known_frequencies(estimate, noise, ordered=False, seed=3)
    own = surrogate_populations("ensemble", estimate, noise, ordered=False, rng=rng_for(3, "surrogate", "ensemble"))
    np.testing.assert_array_equal(known, own)
    assert known.shape == (surrogate.DRAWS, 8)
    assert [surrogate.draws_of(k) for k in (2, 4096, 8192, 40_960, 10**6)] == [
        surrogate.DRAWS,
        surrogate.DRAWS,
        surrogate.DRAWS // 2,
        surrogate.DRAWS // 10,
        16,
    ]
    assert known_frequencies(estimate.copy(), noise, ordered=False, seed=3) is known  # all who ask see the same ones
    for change in ({"seed": 4}, {"ordered": True}):
        assert not np.array_equal(known_frequencies(estimate, noise, **({"seed": 3, "ordered": False} | change)), own)
    with pytest.raises(ValueError, match="read-only"):
        known[0, 0] = 1.0


ONE = (1.0, 0, 0, 0, 0, 0)
ODD = (((0.0,) * 6, 1e-9), (ONE, 1e-9), (ONE, 3.0), ((-0.2,) * 6, 0.01), ((9.0,) * 6, 1e-9))  # estimates and their sd


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("ordered", [False, True])
@over([*itertools.product(ODD, [1]), (ODD[2], 3)], slow=itertools.product(ODD, [5]))
def test_odd_estimates_still_give_populations(odd, times, *, ordered):
    values, sd = odd
    drawn = surrogate_populations(
        "ensemble", np.tile(values, times), even_noise(sd), ordered=ordered, rng=stream("odd"), draws=5
    )
    assert drawn.shape == (5, 6 * times)
    assert np.isfinite(drawn).all()
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)


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
def test_what_is_no_estimate_is_refused(change, message):
    asked = {"name": "ensemble", "estimate": np.array([0.5, 0.5]), "ordered": True, "noise": even_noise(0.1)} | change
    with pytest.raises(ValueError, match=message):
        surrogate_populations(**asked, rng=stream("x"))


def exact_moments(value, sd, weights):
    """First two moments of a coefficient given its noisy value, by integration over a grid, the atom at 0 apart."""
    grid = np.linspace(-40, 40, 20_001) * sd
    prior = sum(w * stats.norm.pdf(grid, 0, s * sd) for w, s in zip(weights[1:], SCALES[1:], strict=True))
    density = prior * stats.norm.pdf(value, grid, sd)
    mass = integrate.trapezoid(density, grid) + weights[0] * stats.norm.pdf(value, 0, sd)
    first, second = (integrate.trapezoid(density * grid**power, grid) / mass for power in (1, 2))
    return float(first), float(second)


@over(
    itertools.product(
        [(0.5, 0.1, 0.1, 0.1, 0.1, 0.1), (0.9, 0, 0.1, 0, 0, 0), (0, 1, 0, 0, 0, 0)], [0.0, 1.5, -3.0, 6.0]
    )
)
def test_coefficients_have_the_moments_of_the_exact_mixture_posterior(weights, value):
    assert SCALES[0] == 0
    sd, times = 0.02, 20_000
    prior = np.array(weights)
    drawn = _posterior_coefficients(
        np.full(times, value * sd), sd, prior, stream("coefficients", value, *weights), free=False
    )
    first, second = exact_moments(value * sd, sd, prior)
    for power, exact in ((1, first), (2, second)):
        # 24 comparisons at |z| of 6; the grid's step is sd / 250, its error far below.
        assert abs((drawn**power).mean() - exact) < 6 * (drawn**power).std() / times**0.5 + 1e-9 * sd**power


def test_free_coefficients_have_a_flat_prior():
    drawn = _posterior_coefficients(np.full(50_000, 3.0), 0.5, np.full(6, 1 / 6), stream("free"), free=True)
    assert abs(drawn.mean() - 3) < 6 * 0.5 / 50_000**0.5
    assert abs(drawn.std() - 0.5) < 6 * 0.5 / 100_000**0.5  # the sd of a standard deviation is sd / sqrt(2 m)


def test_zeros_and_a_high_level_are_told_apart_in_every_draw():
    """12 sd apart: an estimate strays 6 sd with a chance of 1e-9, one of 100 in fewer than 1 of 10^6 runs."""
    truth = np.repeat([0.0, 1 / 50], 50)
    sd = truth.max() / 12
    rng = stream("two points")
    estimate = truth + rng.normal(0, sd, 100)
    drawn = mixture_posterior(estimate, even_noise(sd), 40, rng).populations
    np.testing.assert_array_equal(drawn > 6 * sd, np.broadcast_to(truth > 0, drawn.shape))
    # The fit knows that the other half is empty: most of it is drawn closer to 0 than the noise left it.
    assert np.abs(drawn[:, :50]).mean() < 0.5 * np.abs(estimate[:50]).mean()


def test_smooth_draws_are_closer_to_a_smooth_truth_than_the_estimate():
    truth, sd = frequencies("bimodal", 256), 0.5 / 256
    for seed in range(3):
        rng = stream("smooth", "bimodal", seed)
        estimate = truth + rng.normal(0, sd, 256)
        middle = wavelet_posterior(estimate, even_noise(sd), 40, rng).populations.mean(axis=0)
        # The 256 squared errors of the estimate sum to 1 with sd 0.09; the curve has 10 times fewer free numbers, and
        # so has a quarter to a third of the distance left. A half is far from both.
        assert np.linalg.norm(middle - truth) < 0.5 * np.linalg.norm(estimate - truth)


def test_a_spike_on_a_flat_rest_is_kept_in_all_draws():
    truth, sd = frequencies("spike", 128), 0.2 / 128
    for seed in range(3):
        rng = stream("spike", seed)
        estimate = truth + rng.normal(0, sd, 128)
        drawn = wavelet_posterior(estimate, even_noise(sd), 40, rng).populations
        # The draw and its estimate each stray by sd, 40 draws 3 times: |z| of 6 is a false alarm of 1e-7.
        assert (np.abs(drawn[:, 0] - truth[0]) < 6 * 2**0.5 * sd).all()
        assert np.abs(drawn[:, 2:] - truth[2:]).mean() < sd  # and the rest is no worse than the noise


@over([("gaussian", 0.2), ("bimodal", 0.5)])
def test_evidence_tells_a_smooth_curve_from_its_shuffled_values(shape, share):
    """In 80 trials the gap was 54 to 165 one way and 4 to 50 the other, its sd 5 to 10."""
    sd, rng = share / 128, stream("evidence", shape, 0)
    estimate = frequencies(shape, 128) + rng.normal(0, sd, 128)
    for values, is_smooth in ((estimate, True), (rng.permutation(estimate), False)):
        loose, smooth = (of(values, even_noise(sd), 10, rng).evidence for of in (mixture_posterior, wavelet_posterior))
        assert (smooth > loose) is is_smooth


@over(itertools.product([64, 96, 100, 129], ["geometric", "gaussian"]))
def test_next_to_no_likelihood_is_missing_from_the_curve(k, shape):
    truth, sd = frequencies(shape, k), 1e-4
    found = wavelet_posterior(truth, even_noise(sd), 1, stream("whole", k)).evidence
    whole = float(((truth - 1 / k) ** 2).sum()) / (2 * sd**2)
    assert 0.99 * whole < found < whole


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("gains", [(9.0, 1.0), (-4.0, -9.0), (80.0, 40.0)])
def test_models_share_by_tempered_likelihoods_and_equal_frequencies_by_their_own(monkeypatch, gains, ordered):
    """Of likelihoods over that of equal frequencies a part of the logarithm counts, and what is likeliest is as
    likely as its own tempered share: so equal frequencies are as far below it as they are less likely."""
    k, each = 6, 3
    own = [np.eye(k)[:each], np.full((each, k), 1 / 3) * (np.arange(k) < 3)]
    models = [lambda *_, one=one, gain=gain: Posterior(one, gain) for one, gain in zip(own, gains, strict=True)]
    monkeypatch.setattr(
        surrogate, "ORDERED_MODELS" if ordered else "MODELS", dict(zip(models, (1.0, 2.0), strict=True))
    )
    drawn, logs = surrogate.drawn_from_models(
        np.full(k, 1 / k), even_noise(0.01), ordered=ordered, each=each, rng=stream("x")
    )
    np.testing.assert_allclose(drawn, [*own[0], *own[1], *np.full((each, k), 1 / k)])
    shares = [math.exp(gain / surrogate.TEMPER) * odds for gain, odds in zip(gains, (1, 2), strict=True)]
    best = max(*gains, 0.0)
    even = surrogate.ORDERED_EVEN if ordered else surrogate.EVEN
    shares.append(3 * even * math.exp(best / surrogate.TEMPER - best))
    np.testing.assert_allclose(np.exp(logs), np.repeat(shares, each))


@over([(0.4, 400), (1.6, 100), (4.0, 100)])
def test_a_sum_of_1_counts_over_what_it_is_without_estimates(shape, k, *, monkeypatch):
    """The sum of independent draws from a gamma distribution is gamma distributed."""
    monkeypatch.setattr(families, "SLACK", 0.0)
    kinds = [values for values, _, _ in families._distributions(k)]
    at = families.GAMMA.index(shape) * len(families.EMPTY)
    mean, deviation = 0.9, 0.07
    found = families._log_sum_to_one(np.full(len(kinds) * len(families.EMPTY), mean), deviation**2, k)[at]
    exact = stats.norm.logpdf(1, mean, deviation) - stats.gamma.logpdf(1, shape * k, scale=1 / (shape * k))
    assert abs(found - exact) < 0.01  # a gamma of large shape is nearly normal, and its quantiles are a grid


def drawn_behind(truth, n, oracle, rng):
    """Populations that may be behind a collection of this one."""
    estimate = oracle.estimate(oracle.sample_support(apportion(truth, n), rng), n)
    return surrogate_populations("ensemble", estimate, oracle.noise(n), ordered=False, rng=rng, draws=20)


@over([(64, 0.5, 10_000)], slow=[(64, 1.0, 10_000), (256, 0.5, 100_000)])
def test_what_noise_hides_is_as_uneven_as_it_may_be(k, epsilon, n):
    """Truths are drawn from a Dirichlet distribution, and hardly seen: draws are as far from even as truths are."""
    rng, oracle, spreads = stream("hidden", k, n), PROTOCOLS["oue"](k, epsilon), []
    for truth in rng.dirichlet(np.ones(k), size=12):
        drawn = drawn_behind(truth, n, oracle, rng)
        spreads.append([np.abs(rows - 1 / k).sum(axis=-1).mean() for rows in (drawn, truth)])
    said, true = np.mean(spreads, axis=0)
    assert 0.78 < said / true < 1.22  # it varies by 0.07 from one dozen of truths to another


@over([0.5, 1.0, 2.0])
def test_the_rarer_half_of_a_heavy_tail_is_not_empty(scatter):
    """All of it is far below the noise: draws tell its frequencies from 0, and give it its order of magnitude."""
    k, n, rng, oracle = 500, 60_000, stream("tail", scatter), PROTOCOLS["oue"](500, 2.0)
    weights = np.arange(1, k + 1) ** -1.3 * rng.lognormal(0, scatter, k)
    truth = weights / weights.sum()
    drawn = drawn_behind(truth, n, oracle, rng)
    rarer = [np.sort(rows, axis=-1)[..., : k // 2].sum(axis=-1).mean() for rows in (drawn, truth)]
    assert 0.1 < rarer[0] / rarer[1] < 10


@pytest.mark.parametrize("rough", [False, True])
def test_curves_that_noise_hides_are_hardly_ever_even(rough):
    """No error at all would be stated for levelling all of them."""
    for protocol in ("oue", "grr", "ss"):
        estimate, noise = collected(protocol, 64, 5_000, "gaussian", 0.5)
        drawn = curves.curve_posterior(estimate, noise, 100, stream("hardly", protocol), rough=rough).populations
        assert (np.ptp(drawn, axis=1) < 1e-12).mean() < 0.1


def test_what_stands_out_of_the_noise_stays_and_the_rest_makes_up_what_is_missing():
    sd = 0.02
    rows = np.array([[0.5, 0.3, 0.05, 0.05], [0.5, 0.4, 0.07, -0.01], [0.7, 0.4, 0.01, 0.02], [0.07, 0.06, 0.0, 0.0]])
    expected = [[0.5, 0.3, 0.1, 0.1], [0.5, 0.4, 0.1, 0.0], [7 / 11, 4 / 11, 0.0, 0.0], [7 / 13, 6 / 13, 0.0, 0.0]]
    np.testing.assert_allclose(surrogate._summing_to_one(rows, sd), expected, atol=1e-15)


@over([(2, 240), (12, 240), (13, 220), (18, 120), (23, 20), (24, 0), (40, 0)])
def test_from_12_to_24_categories_the_draws_of_few_give_way(k, expected, *, monkeypatch):
    """Those of few categories are marked by their first value, those of the models by their second one."""

    def marked(place, times):
        return np.tile(np.eye(k)[place], (times, 1))

    monkeypatch.setattr(surrogate, "few_populations", lambda *_, draws, **__: marked(0, draws))
    monkeypatch.setattr(surrogate, "drawn_from_models", lambda *_, each, **__: (marked(1, each), np.zeros(each)))
    drawn = surrogate_populations("ensemble", np.full(k, 1 / k), even_noise(0.1), ordered=False, rng=stream("few"))
    assert drawn[:, :2].sum(axis=0).tolist() == [expected, surrogate.DRAWS - expected]
    first = drawn[:, 0].astype(int)
    assert expected in (0, surrogate.DRAWS) or np.abs(np.diff(first)).sum() > 2  # mixed: some may be left out


NOISE = Noise(10**5, 0.5, 0.25, 3e-5, 4e-4, False)


def slow_traits(population, estimate):
    """The traits of one population, number by number."""
    k = len(population)
    sd = math.sqrt(NOISE.variance_at_zero + NOISE.variance_slope / k) * k
    apart = [value * k - 1 for value in population]
    sums = list(itertools.accumulate(apart))
    square = math.fsum(value**2 for value in apart) / k
    alike = math.fsum(one * other for one, other in itertools.pairwise(apart)) / (k - 1)
    mean = math.fsum(estimate) / k
    left = [((seen - mean) * k - value) / sd for seen, value in zip(estimate, apart, strict=True)]
    return [
        math.log(sd),
        math.log(math.sqrt(square) / sd + 0.1),
        math.log(math.fsum(abs(value) for value in sums) / k / (sd * math.sqrt(k)) + 0.1),
        alike / (square + (0.1 * sd) ** 2),
        math.asinh((math.fsum(value**2 for value in left) / k - 1) * math.sqrt(k / 2)),
        math.log(max(abs(value) for value in itertools.accumulate(left)) / math.sqrt(k) + 0.1),
    ]


@pytest.mark.parametrize("k", [2, 7, 60])
def test_traits_are_those_worked_out_number_by_number(k):
    rng = stream("traits", k)
    populations = np.vstack([rng.dirichlet(np.full(k, 0.5), 9), np.full(k, 1 / k)])
    estimate = rng.normal(1 / k, 0.02, k)
    expected = [slow_traits(row.tolist(), estimate.tolist()) for row in populations]
    np.testing.assert_allclose(traits_of(populations, estimate, NOISE), expected, rtol=1e-9, atol=1e-12)


def test_a_ratio_is_its_quadratic_form_and_nothing_new_beyond_what_it_was_fitted_to():
    ratio = PlausibilityRatio((0.0, -2.0), (4.0, 6.0), (1.5, -0.5), ((2.0, 3.0), (-4.0,)))

    def slow(first, second):
        x, y = (min(max(value, -1), 1) for value in (first / 2 - 1, (second - 2) / 4))
        return 1.5 * x - 0.5 * y + 2 * x * x + 3 * x * y - 4 * y * y

    rows = [(1.0, 1.0), (0.0, 6.0), (4.0, -2.0), (9.0, -7.0), (-1e9, 1e9)]
    np.testing.assert_allclose(ratio.logs(np.array(rows)), [slow(*row) for row in rows], atol=1e-12)


def test_even_populations_keep_their_share_and_the_others_share_theirs_by_the_ratio():
    k = 64
    rng = stream("shares")
    # 10^5 users cannot be shared evenly by 64 categories: what is left over is a hundredth of the noise.
    rounded = apportion(np.full(k, 1 / k), 10**5) / 10**5
    populations = np.vstack([np.full(k, 1 / k), rounded, rng.dirichlet(np.full(k, 5.0), 4)])
    estimate, before = rng.normal(1 / k, 0.01, k), rng.normal(0, 1, 6)
    after = by_plausibility(before, populations, estimate, NOISE)
    assert np.ptp(rounded) > 0
    np.testing.assert_array_equal(after[:2], before[:2])
    odds = [
        math.exp(log + float(RATIO.logs(np.array([slow_traits(row.tolist(), estimate.tolist())]))[0]))
        for log, row in zip(before[2:], populations[2:], strict=True)
    ]
    whole = math.fsum(math.exp(log) for log in before[2:])
    np.testing.assert_allclose(np.exp(after[2:]), [odd / math.fsum(odds) * whole for odd in odds], rtol=1e-9)
    np.testing.assert_array_equal(by_plausibility(before[:2], populations[:2], estimate, NOISE), before[:2])


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("ordered", [True, False])
def test_draws_count_by_their_plausibility_and_by_the_evidence_of_their_model(ordered):
    k, each = 24, surrogate.FROM_EACH
    estimate = frequencies("bimodal", k) + stream("weighed").normal(0, 0.5 / k, k)
    noise = even_noise(0.5 / k)
    drawn, evidence = surrogate.drawn_from_models(estimate, noise, ordered=ordered, each=each, rng=stream("all draws"))
    logs = by_plausibility(evidence, drawn, estimate, noise) if ordered else evidence
    weights = [math.exp(log) for log in logs]
    kept = surrogate_populations("ensemble", estimate, noise, ordered=ordered, rng=stream("all draws"))
    assert len(drawn) == each * (1 + len(surrogate.ORDERED_MODELS if ordered else surrogate.MODELS))
    which = [int(np.abs(drawn - row).max(axis=1).argmin()) for row in kept]
    np.testing.assert_allclose(kept, drawn[which], rtol=1e-12)
    for place in set(which):
        copies = np.flatnonzero((drawn == drawn[place]).all(axis=1))
        expected = surrogate.DRAWS * math.fsum(weights[copy] for copy in copies) / math.fsum(weights)
        assert abs(which.count(place) - expected) < len(copies) + 1e-9


K, N = 14, 5_000
ORACLE = PROTOCOLS["oue"](K, 1.0)
SLOW = {"posterior_mean": statistics.fmean, "posterior_median": statistics.median}


def estimates(*shape):
    counts = np.broadcast_to(apportion(frequencies("geometric", K), N), (*shape, K))
    return ORACLE.estimate(ORACLE.sample_support(counts, stream("summaries", *shape)), N)


def test_the_table_gives_them_and_does_not_list_them():
    assert set(SUMMARIES) == set(SLOW)
    for name in SUMMARIES:
        assert name not in POSTPROCESSORS
        assert name not in list(POSTPROCESSORS)
        method = POSTPROCESSORS[name]
        assert (method.name, method.is_proper, method.uses_order) == (name, True, False)
        with pytest.raises(ValueError, match=f"{name} needs an estimate, and there is none"):
            method.compute(Observed(None, None))
    for name in ("posterior_mode", "eb_ns+norm_sub", "uniform"):
        with pytest.raises(KeyError):
            POSTPROCESSORS[name]


@pytest.mark.usefixtures("few_curves")
@pytest.mark.parametrize("domain", [ORDERED, UNORDERED])
def test_each_row_has_the_summary_of_what_is_known_of_it(domain):
    raw, noise = estimates(2, 1), ORACLE.noise(N)
    for name, summary in SLOW.items():
        found = POSTPROCESSORS[name](raw, noise, domain)
        assert found.shape == raw.shape
        for row, own in zip(raw.reshape(-1, K), found.reshape(-1, K), strict=True):
            drawn = known_frequencies(row, noise, ordered=domain.ordered, seed=0)
            middle = np.array([summary(values.tolist()) for values in drawn.T])
            np.testing.assert_allclose(own, middle / math.fsum(middle), rtol=1e-12)
        assert (found >= 0).all()
        np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-12)


def test_the_median_sums_to_1_and_where_every_median_is_0_the_mean_is_left():
    drawn = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.4, 0.4, 0.2]])
    np.testing.assert_allclose(median_of(drawn), np.array([0.4, 0.4, 0.2]))
    np.testing.assert_allclose(median_of(drawn[:2]), np.array([0.3, 0.55, 0.15]))
    corners = np.eye(4)[[0, 0, 1, 2, 3]]
    np.testing.assert_allclose(median_of(corners), [0.4, 0.2, 0.2, 0.2])
    uneven = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(median_of(uneven), np.array([0.2, 0.2, 0.1]) / 0.5)
