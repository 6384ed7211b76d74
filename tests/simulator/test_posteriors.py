import functools
import math
import statistics

import numpy as np
import pytest
from scipy import special, stats

from simulator import POSTPROCESSORS, PROTOCOLS, Noise
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.methods import tree as tree_method
from simulator.methods.tree import drawn_trees
from simulator.populations import apportion, frequencies
from simulator.surrogate import bootstrap_populations, known_frequencies, particles, sample_posterior, trees
from simulator.surrogate.particles import few_populations
from simulator.surrogate.sample import AROUND_A_CURVE, CONCENTRATIONS, concentration_weights, curve_weights
from simulator.surrogate.trees import roughened, roughness_weights
from tests.cells import over

from .law import log_density, stream

TIMES = 12


def slow_frequencies(numbers, k):
    """One candidate, number by number; with an order there are five cosines, each over its number of half waves."""
    scale, threshold, share, *waves = numbers[: len(numbers) - k]
    beyond = [abs(number) - max(0.5 * threshold, 0) for number in numbers[len(numbers) - k :]]
    own = [
        math.copysign(max(more, 0), number) for more, number in zip(beyond, numbers[len(numbers) - k :], strict=True)
    ]
    logs = []
    for place in range(k):
        if not waves:
            logs.append(own[place])
            continue
        cosines = [math.cos(math.pi * wave * (place + 0.5) / k) / wave for wave in range(1, 6)]
        variances = [
            math.fsum((math.cos(math.pi * wave * (at + 0.5) / k) / wave) ** 2 for wave in range(1, 6))
            for at in range(k)
        ]
        smooth = math.fsum(one * cosine for one, cosine in zip(waves, cosines, strict=True))
        smooth /= math.sqrt(math.fsum(variances) / k)
        part = statistics.NormalDist().cdf(share)
        logs.append(math.sqrt(part) * smooth + math.sqrt(1 - part) * own[place])
    weights = [math.exp(math.exp(scale) * log) for log in logs]
    return [weight / math.fsum(weights) for weight in weights]


@pytest.mark.parametrize("k", [2, 3, 9])
def test_candidates_are_what_their_numbers_say(k):
    for waves in (0, 5):
        normals = stream("few", k, waves).standard_normal((50, 3 + waves + k))
        expected = [slow_frequencies(row.tolist(), k) for row in normals]
        np.testing.assert_allclose(particles._frequencies(normals, k), expected, rtol=1e-9, atol=1e-15)
        # Far beyond the prior, where moves try them before they know that nothing is there, they are frequencies still.
        np.testing.assert_allclose(particles._frequencies(30 * normals, k).sum(axis=1), 1, rtol=1e-12)


# Places of frequencies on a fine grid of their logits, as the prior reaches far beyond 1e-100
STEPS = np.linspace(-8, 8, 4001)
LOGITS = np.sinh(STEPS)
GRID = special.expit(LOGITS)


@functools.cache
def prior_of_two():
    """Weights of the places of the grid: shares of many populations that are drawn as the prior is told."""
    scale, threshold, first, second = stream("prior of two").standard_normal((4, 1_000_000))
    threshold = np.maximum(0.5 * threshold, 0)
    logs = [np.where(abs(one) > threshold, one - np.copysign(threshold, one), 0) for one in (first, second)]
    logits = np.exp(scale) * (logs[0] - logs[1])
    places = np.rint((np.arcsinh(logits) - STEPS[0]) / (STEPS[1] - STEPS[0])).astype(int)
    return np.bincount(np.clip(places, 0, len(STEPS) - 1), minlength=len(STEPS)) / len(places)


def law(protocol, noise, counts):
    """Log-probability of the support counts of two values, given how many of those who took part hold the first one.

    The exact law of the reports: what a count is of those who hold a value, and of the others.
    """
    p, q, n = noise.p, noise.q, noise.n
    assert p is not None
    assert q is not None
    holders = np.arange(n + 1)[:, None]

    def chance(count, of):
        own = np.arange(count + 1)
        each = stats.binom.logpmf(own, of, p) + stats.binom.logpmf(count - own, n - of, q)
        return special.logsumexp(each, axis=1)

    logs = chance(counts[0], holders)
    if protocol != "grr":  # where one count tells the other
        logs = logs + chance(counts[1], n - holders)
    return np.interp(GRID * n, holders[:, 0], logs)


def test_what_cancels_in_the_sum_counts_one_category_less():
    k, estimate = 5, np.array([0.55, 0.3, 0.1, 0.08, -0.03])
    frequencies = stream("left out").dirichlet(np.full(k, 0.5), 40)
    for cancels in (0.0, 1.0):
        noise = Noise(300, None, None, 1e-3, 0.05, cancels == 1, cancels)
        each = stats.norm.logpdf(estimate, frequencies, (1e-3 + 0.05 * frequencies) ** 0.5)
        expected = np.mean([np.delete(each, place, 1).sum(1) for place in range(k)], 0) if cancels else each.sum(1)
        found = particles._log_likelihoods(estimate, noise, frequencies)
        np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-9)


TWO = [
    ("grr", 1.0, 400, (150, 250)),
    ("grr", 0.5, 1000, (300, 700)),  # below 0
    ("oue", 1.0, 400, (110, 230)),
    ("oue", 0.5, 1000, (300, 400)),  # far below 0
]


@over(TWO[1:3], slow=[TWO[0], TWO[3], ("grr", 2.0, 200, (60, 140)), ("oue", 2.0, 200, (40, 100))])
def test_the_posterior_of_two_categories_is_prior_times_law(protocol, epsilon, n, counts):
    """Means, squares and shares below three places over runs, whose spread gives the standard error.

    With 11 degrees of freedom |t| of 9 is a false alarm of 2e-6; there are 30 comparisons. The posterior takes the
    noise for Gaussian: with a hundred reports and more that moves shares by no more than 2 %.
    """
    oracle = PROTOCOLS[protocol](2, epsilon)
    estimate, noise = oracle.estimate(np.array(counts), n), oracle.noise(n)
    logs = law(protocol, noise, counts)
    weights = prior_of_two() * np.exp(logs - logs.max())
    weights /= weights.sum()
    places = [float(GRID[np.searchsorted(np.cumsum(weights), share)]) for share in (0.1, 0.5, 0.9)]
    runs = [
        few_populations(estimate, noise, ordered=False, draws=150, rng=stream("two", *counts, run))[:, 0]
        for run in range(TIMES)
    ]
    for of in (lambda f: f, lambda f: f**2, *(lambda f, place=place: f <= place for place in places)):
        means = np.array([of(run).mean() for run in runs])
        error = float(means.std(ddof=1)) / TIMES**0.5
        assert abs(means.mean() - weights @ of(GRID)) < 9 * error + 0.02
        assert error < 0.02
    # Or a step of the grid would hold more than is allowed, but that of two equal frequencies, which are none other.
    assert np.delete(weights, len(weights) // 2).max() < 0.02


@over([("grr", 8, 8.0, 5_000_000), ("oue", 8, 6.0, 10**9), ("grr", 12, 6.0, 5_000_000)])
def test_with_next_to_no_noise_the_posterior_is_the_noise_around_the_estimate(protocol, k, epsilon, n):
    """Frequencies that sum to 1: of independent estimates the mean error is taken off, so that k - 1 are left."""
    oracle, rng = PROTOCOLS[protocol](k, epsilon), stream("little noise", protocol, k)
    noise, truth = oracle.noise(n), apportion(rng.dirichlet(np.full(k, 5.0)), n)
    for ordered in (False, True):
        estimate = oracle.estimate(oracle.sample_support(truth, rng), n)
        drawn = few_populations(estimate, noise, ordered=ordered, draws=2000, rng=rng)
        np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=1e-12)
        squares = (drawn - estimate - (1 - estimate.sum()) / k) ** 2 / noise.entry(truth / n)
        left = 1 if noise.sums_to_one else (k - 1) / k
        # A square has variance 2 around its mean; draws of a row are nearly independent. And 5 sd for a false alarm.
        assert abs(squares.mean() - left) < 5 * math.sqrt(2 / squares.size) + 0.01, (ordered, squares.mean())


@pytest.mark.parametrize("shape", ["even odds", "bell"])
def test_models_that_are_finer_than_their_grids_leave_their_place_to_others(shape):
    """A thousand million reports are known better than wavelets and curves are drawn: to 1 in 1,000 and less."""
    k, n, oracle, rng = 256, 10**9, PROTOCOLS["oue"](256, 6.0), stream("fine", shape)
    truth = apportion(rng.dirichlet(np.ones(k)) if shape == "even odds" else frequencies("gaussian", k), n)
    estimate, noise = oracle.estimate(oracle.sample_support(truth, rng), n), oracle.noise(n)
    drawn = known_frequencies(estimate, noise, ordered=True, seed=0)
    squares = ((drawn - estimate) ** 2 / noise.entry(truth / n)).mean()
    assert 0.7 < squares < 1 + 6 * math.sqrt(2 / k)  # of independent noise 1; before it was 13 and 1.8


def stated(estimate, noise):
    """Mean l1 error of the estimate as it is, over what may be the truth."""
    return float(np.abs(estimate - known_frequencies(estimate, noise, ordered=False, seed=0)).sum(axis=1).mean())


def test_a_survey_of_yes_and_no_states_the_error_that_its_noise_makes():
    oracle, n = PROTOCOLS["grr"](2, math.log(5)), 2435
    estimate, noise = oracle.estimate(np.array([831, n - 831]), n), oracle.noise(n)
    assert estimate[0] == pytest.approx(0.2619, abs=1e-4)
    closed = 2 * math.sqrt(2 / math.pi) * math.sqrt(float(noise.entry(estimate)[0]))
    # A mean absolute deviation of 240 draws is known to 5 %: three of these.
    assert stated(estimate, noise) == pytest.approx(closed, rel=0.15)


SAMPLES = [[3, 0], [1, 1, 1, 1], [5, 0, 0, 0, 0, 1], [12, 9, 11, 8, 10], [40, 3, 1, 0, 0, 0, 0, 0, 0, 0], [2] * 30]


def urn(counts, begins):
    """Log-probability of a sequence of users with these counts, drawn one by one from Polya's urn."""
    total, drawn = 0.0, sum(begins)
    for count, begin in zip(counts, begins, strict=True):
        for seen in range(count):
            total += math.log((seen + begin) / drawn)
            drawn += 1
    return total


@pytest.mark.parametrize("counts", SAMPLES)
def test_draws_are_the_dirichlet_posterior_of_concentrations_weighed_by_likelihood_and_prior(counts):
    k = len(counts)
    logs = np.array([urn(counts, [alpha] * k) + math.log(alpha / (1 + alpha) ** 2) for alpha in CONCENTRATIONS])
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(concentration_weights(np.array(counts)), weights / weights.sum(), rtol=1e-8, atol=1e-12)
    observed, draws = np.array(counts), 20_000
    drawn = sample_posterior(observed, draws, stream("sample", *counts), ordered=False)
    assert drawn.shape == (draws, len(counts))
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)
    # Law of total mean and variance over the concentrations.
    chances = concentration_weights(observed)[:, None]
    parts = observed + CONCENTRATIONS[:, None]
    totals = parts.sum(axis=1, keepdims=True)
    means = parts / totals
    mean = (chances * means).sum(axis=0)
    variance = (chances * (means * (1 - means) / (totals + 1) + (means - mean) ** 2)).sum(axis=0)
    # |z| of 6 is a false alarm of 2e-9; all tests here compare 60 means and variances. The sum of 20,000 skewed draws
    # (a beta with a tiny first parameter) is nearly normal where its mean is above 1e-3.
    assert (np.abs(drawn.mean(axis=0) - mean) < 6 * np.sqrt(variance / draws) + 1e-4).all()
    squares = (drawn - mean) ** 2
    assert (np.abs(squares.mean(axis=0) - variance) < 6 * squares.std(axis=0) / draws**0.5 + 1e-5).all()


def test_curves_are_weighed_by_the_likelihood_of_an_urn_that_begins_with_them():
    counts, curve = [4, 0, 1, 7], np.array([0.2, 0.1, 0.3, 0.4])
    logs = np.array([urn(counts, total * curve) for total in AROUND_A_CURVE])
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(curve_weights(np.array(counts), curve), weights / weights.sum(), rtol=1e-6)
    with pytest.raises(ValueError, match="at least 1 user, got 0"):
        sample_posterior(np.zeros(3, dtype=np.int64), 2, stream("x"), ordered=False)


def distances(shape, users, *, ordered):
    """Return the mean l1 distance of draws to the truth, over four samples."""
    samples = stream("small", users).multinomial(users, shape, size=4)
    drawn = (sample_posterior(sample, 8, stream("drawn", users), ordered=ordered) for sample in samples)
    return float(np.mean([np.abs(draws - shape).sum(axis=1) for draws in drawn]))


def test_a_sample_leaves_much_less_open_where_order_counts_and_little_less_where_it_means_nothing():
    """It is 0.32 to 0.48 of what it leaves open without, or 0.96, with a standard error of 0.04."""
    for shape, most in (
        (frequencies("gaussian", 128), 0.6),
        (stream("permuted").permutation(frequencies("zipf", 128)), 1.1),
    ):
        assert distances(shape, 300, ordered=True) < most * distances(shape, 300, ordered=False)


@pytest.mark.parametrize("counts", [[3, 0], [0, 1, 0], [0] * 40 + [500] + [0] * 40, [1, 0] * 30, [10**9, 1, 0, 0]])
def test_draws_around_curves_are_frequencies(counts):
    drawn = sample_posterior(np.array(counts), 12, stream("edges"), ordered=True)
    assert drawn.shape == (12, len(counts))
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)


RUNS, ROWS = 25, 60


def gaussian(seen, sd):
    """Likelihood of numbers that were seen with Gaussian noise."""
    return lambda tried: log_density(seen, tried, sd).sum(axis=tuple(range(1, tried.ndim)))


@over(
    [((0.8, -0.3), 2.0), ((1.5, -0.7, 0.2), 0.1)],  # the first takes a single step
    slow=[(((2.0, -1.0), (0.3, 0.0)), 0.3), ((2.5,), 0.005)],
)
def test_mean_spread_and_evidence_are_those_of_the_conjugate_posterior(seen, sd):
    """Standard errors are those over independent runs, the candidates of one run being copies of each other in part.

    With 24 degrees of freedom |t| of 6 is a false alarm of 3e-6; there are at most 9 comparisons.
    """
    values = np.array(seen)
    runs = [
        particles.particles(values.shape, gaussian(values, sd), ROWS, stream("conjugate", sd, run))
        for run in range(RUNS)
    ]
    share = 1 / (1 + sd**2)
    draws = np.stack([drawn for drawn, _ in runs])
    assert draws.shape == (RUNS, ROWS, *values.shape)
    centred = draws - share * values
    for power, expected in ((1, 0.0), (2, share * sd**2)):
        means = (centred**power).mean(axis=1)
        error = means.std(axis=0, ddof=1) / RUNS**0.5
        np.testing.assert_array_less(np.abs(means.mean(axis=0) - expected), 6 * error)
        assert (error < 0.1 * (share * sd**2) ** (power / 2)).all()  # or the bound would mean nothing
    # The mean of the estimated evidences, not of their logarithms, is right (Del Moral, Doucet, Jasra, 2006).
    expected_log = stats.norm.logpdf(values, 0, (1 + sd**2) ** 0.5).sum()
    ratios = np.exp(np.array([evidence for _, evidence in runs]) - expected_log)
    error = float(ratios.std(ddof=1)) / RUNS**0.5
    assert abs(ratios.mean() - 1) < 6 * error
    assert error < 0.1


def test_numbers_that_depend_on_each_other_are_drawn_together():
    runs = [
        particles.particles(
            (2,), lambda tried: log_density(1.0, tried.sum(axis=1), 0.05), ROWS, stream("together", run)
        )[0]
        for run in range(RUNS)
    ]
    for sign, mean, variance in ((1, 2 / (2 + 0.05**2), 2 * 0.05**2 / (2 + 0.05**2)), (-1, 0.0, 2.0)):
        values = np.stack(runs) @ np.array([1, sign])
        for power, expected in ((1, 0.0), (2, variance)):
            means = ((values - mean) ** power).mean(axis=1)
            assert abs(means.mean() - expected) < 6 * means.std(ddof=1) / RUNS**0.5


def test_where_nothing_is_seen_the_draws_are_the_prior_and_have_no_evidence():
    drawn, evidence = particles.particles((3,), lambda tried: np.zeros(len(tried)), 2000, stream("nothing"))
    assert evidence == 0
    # Moves keep to the prior, and leave the candidates nearly independent; |z| of 5 in six comparisons
    assert (np.abs(drawn.mean(axis=0)) < 5 / 2000**0.5).all()
    assert (np.abs(drawn.std(axis=0) - 1) < 5 / 4000**0.5).all()


def test_a_step_leaves_half_of_the_candidates_in_effect_or_is_all_that_is_left():
    logs = stream("steps").normal(0, 30, 400)
    step = particles._step(logs, 1.0, 200)
    weights = np.exp(step * (logs - logs.max()))
    assert weights.sum() ** 2 / (weights**2).sum() == pytest.approx(200, rel=1e-6)
    assert particles._step(logs, step / 2, 200) == step / 2
    assert particles._step(np.zeros(400), 0.7, 200) == 0.7


def test_a_tree_of_one_node_is_drawn_from_its_posterior(monkeypatch):
    """10,000 draws against 200,000 from the mixture by hand, 5 standard errors."""
    monkeypatch.setattr(tree_method, "ROUNDS", 100)
    tree, rng = PROTOCOLS["tree"](2, 1.0), stream("tree of one node")
    observed = observe(tree, tree.sample_tally(np.array([130, 70]), rng), ORDERED)
    drawn, _ = drawn_trees(observed, 10_000, rng)
    sd, seen = math.sqrt(observed.covariance.haar(2)[0][0]), float(observed.raw[0] - observed.raw[1])
    scales = (0.0, 0.02, 0.05, 0.12, 0.3, 1.0)
    # Weights before the data: even at the root, but for all mass on one side; 0 has a few more, and each a half.
    before = [2 / 7 + 3 / 32 + 0.5, *([2 / 7 + 0.5] * 6), 0.5]
    normal = statistics.NormalDist
    likely = [normal(0, sd).pdf(seen), *(normal(0, math.hypot(sd, scale)).pdf(seen) for scale in scales)]
    sides = [normal(1, sd).pdf(seen), normal(-1, sd).pdf(seen)]
    after = np.array(before) * [*likely, sum(sides) / 2]
    chosen = rng.choice(8, size=200_000, p=after / after.sum())
    kept = np.array([scale**2 / (scale**2 + sd**2) for scale in (0.0, *scales, 0.0)])[chosen]
    around = np.clip(kept * seen + np.sqrt(kept) * sd * rng.standard_normal(len(kept)), -1, 1)
    expected = np.where(chosen == 7, np.where(rng.random(len(kept)) < sides[0] / sum(sides), 1, -1), around)
    found = drawn[:, 0] - drawn[:, 1]
    for part in (np.abs, np.square, lambda values: values, lambda values: values == 0.0):
        one, other = (part(values).astype(float) for values in (found, expected))
        assert abs(one.mean() - other.mean()) < 5 * math.hypot(
            one.std() / math.sqrt(len(one)), other.std() / math.sqrt(len(other))
        )


@pytest.mark.parametrize(("protocol", "k", "epsilon", "n"), [("tree", 5, 0.3, 600), ("haar_hrr", 5, 0.3, 600)])
def test_populations_behind_a_tally_of_few_users_are_as_far_from_its_estimate_as_the_truth(protocol, k, epsilon, n):
    """Where the fit of a tree is even, so would be all of its bootstrap: 0.1 to 0.2 times as far, not 0.7 to 1.4."""
    member, counts = PROTOCOLS[protocol](k, epsilon), apportion(frequencies("zipf", k, 1.0), n)
    far, stated = [], []
    for at in range(24):
        rng = stream("few users", protocol, at)
        observed = observe(member, member.sample_tally(counts, rng), ORDERED)
        result = POSTPROCESSORS["tree_eb"].apply(observed)
        populations = bootstrap_populations(member, observed, n, rng=rng, draws=20)
        assert populations.shape == (20, k)
        far.append(np.abs(result - counts / n).sum())
        stated.append(np.abs(result - populations).sum(axis=1).mean())
    assert 0.7 < np.mean(stated) / np.mean(far) < 1.4


def test_departures_are_from_their_posterior_and_as_likely_as_by_hand(monkeypatch):
    """One difference on a grid: prior around that of a population, times the noise. 20,000 draws, 5 standard errors."""
    tree, draws, rng = PROTOCOLS["tree"](2, 1.0), 20_000, stream("departures")
    observed = observe(tree, tree.sample_tally(np.array([1200, 800]), rng), ORDERED)
    centre, rough = np.array([0.55, 0.45]), 0.25
    variance, seen = observed.covariance.haar(2)[0][0], observed.raw[0] - observed.raw[1]
    spread = rough**2 * (0.55**2 + 0.45**2)
    grid = np.linspace(-1, 1, 4001)
    density = stats.norm.pdf(grid, 0.1, math.sqrt(spread)) * stats.norm.pdf(seen, grid, math.sqrt(variance))
    density /= density.sum()
    mean = grid @ density
    monkeypatch.setattr(trees, "ROUGH", np.array([rough, rough]))
    monkeypatch.setattr(trees, "SMOOTH", 0.5)
    drawn = roughened(np.tile(centre, (draws, 1)), centre, observed, rng)
    found = drawn[:, 0] - drawn[:, 1]
    sd = math.sqrt((grid - mean) ** 2 @ density)
    assert abs(found.mean() - mean) < 5 * sd / math.sqrt(draws)
    assert abs(found.std() / sd - 1) < 5 / math.sqrt(2 * draws)
    monkeypatch.undo()
    gaps, variances, squares = ([rng.random((1, size)) for size in (4, 2, 1)] for _ in range(3))
    expected = [
        (0.1 if not one else 0.15)
        * math.prod(
            stats.norm.pdf(gap, 0, math.sqrt(noise + one**2 * square)) ** (1 / 4)
            for level in zip(gaps, variances, squares, strict=True)
            for gap, noise, square in zip(*(figures[0] for figures in level), strict=True)
        )
        for one in (0.0, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0)
    ]
    np.testing.assert_allclose(roughness_weights(gaps, variances, squares), np.array(expected) / sum(expected))
