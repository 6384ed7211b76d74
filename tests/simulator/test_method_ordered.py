"""Methods for ordered domains: isotonic distribution functions, and the tree of shrunken differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import logsumexp
from scipy.stats import norm

from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.methods.ordered import ORDERED_METHODS
from simulator.protocols import ORDERED_PROTOCOLS
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.tree import HalfTree, Tree
from simulator.seeding import rng_for
from tests.cells import over

from .ordered_methods import error, seen
from .test_method_contract import NOISES, check_contract

OF_ESTIMATES = ("iso_cdf", "tree_eb")


@pytest.mark.parametrize("name", OF_ESTIMATES)
def test_contract_of_wide_rows(name):
    check_contract(ORDERED_METHODS[name], rng_for(0, "wide").normal(0.001, 0.01, size=(3, 700)), NOISES[4])


# --- isotonic distribution functions ---------------------------------------------------------------------------------


def test_iso_cdf_is_the_clipped_isotonic_distribution_function():
    _, observed = seen(PROTOCOLS["oue"](40, 0.5), "bimodal", 5000)
    for raw, result in zip(observed.estimate, ORDERED_METHODS["iso_cdf"].apply(observed), strict=True):
        shifted = raw + (1 - raw.sum()) / 40
        rising = np.clip(isotonic_regression(np.cumsum(shifted)[:-1]).x, 0, 1)
        np.testing.assert_allclose(np.cumsum(result), [*rising, 1.0], atol=1e-12)


# --- the tree of shrunken differences: against a slow reference, and where it must win and must not lose -------------


def mean_of(d, mass, variance, weights, before, after):
    """Posterior mean of one difference, and the log-likelihood of each component; masses of both neighbours."""
    sd, prior = np.sqrt(variance), [(share * mass) ** 2 for share in (0.0, 0.02, 0.05, 0.12, 0.3, 1.0)]
    e = np.clip((before - after) / 8, -mass, mass)
    plus, minus = (norm.logpdf(d, loc=side, scale=sd) - np.log(2) for side in (mass, -mass))
    around = [norm.logpdf(d, loc=e, scale=np.sqrt(variance + own)) for own in prior]
    likely = np.array([norm.logpdf(d, scale=sd), *around, np.logaddexp(plus, minus)])
    means = [0.0, *(e + own / (own + variance) * (d - e) for own in prior), mass * np.tanh((plus - minus) / 2)]
    joint = weights * np.exp(likely - likely.max())
    return np.clip(joint @ means / joint.sum(), -mass, mass), likely


def slow_tree_eb(row, variances):
    """Node by node, with the blocks of the shifted trees laid out one by one."""
    k, heights = len(row), len(variances)

    def halves_of(values, t, i):
        middle = i * 2**t + 2 ** (t - 1)
        return values[i * 2**t : middle].sum(), values[middle : (i + 1) * 2**t].sum()

    masses, weights, gain = {(heights, 0): 1.0}, {}, 0.0
    for t in range(heights, 0, -1):
        nodes = [i for i in range(-(-k // 2**t)) if i * 2**t + 2 ** (t - 1) < k]
        details = {i: np.subtract(*halves_of(row, t, i)) for i in nodes}
        w = np.full(8, 1 / 8) if t < heights else np.append(np.full(7, 1 / 7), 0)
        beside = {i: (masses[t, max(i - 1, 0)], masses[t, min(i + 1, (k - 1) // 2**t)]) for i in nodes}
        likely = np.array([mean_of(details[i], masses[t, i], variances[t - 1][i], w, *beside[i])[1] for i in nodes])
        if t < heights:
            scaled = np.exp(likely - likely.max(axis=1, keepdims=True))
            for _ in range(25):
                w = (w * scaled / (scaled @ w)[:, None]).sum(axis=0)
                w += 2 * weights[t + 1]
                w[0] += 3 * min(1, len(nodes) / 32)
                w /= w.sum()
        weights[t] = w
        gain += (logsumexp(likely, axis=1, b=w) - likely[:, 0]).sum()
        for i in range(-(-k // 2**t)):
            mass = masses[t, i]
            if i not in nodes:
                masses[t - 1, 2 * i] = mass
                continue
            mean = mean_of(details[i], mass, variances[t - 1][i], w, *beside[i])[0]
            masses[t - 1, 2 * i], masses[t - 1, 2 * i + 1] = (mass + mean) / 2, (mass - mean) / 2
    aligned = np.array([masses[0, v] for v in range(k)])

    def block(values, first, size):  # of the values and their mirror images on either side
        return sum(
            values[v % (2 * k) if v % (2 * k) < k else 2 * k - 1 - v % (2 * k)] for v in range(first, first + size)
        )

    def share(x, t):  # of the Haar differences of a height in the sum of the values before x, of 2^heights
        before = (np.arange(2**heights) < x).astype(float).reshape(-1, 2, 2 ** (t - 1)).mean(axis=2)
        return (before[:, 0] - before[:, 1]) / 2 * (0 < x < k)

    def noise(c, size):
        result = 0.0
        for t in range(1, heights + 1):
            total = 2 * share(c, t)
            for x in (c - size, c + size):
                total -= share(x, t) if 0 <= x <= k else -share(-x if x < 0 else 2 * k - x, t)
            result += float(total[: len(variances[t - 1])] ** 2 @ variances[t - 1])
        return result

    shifted = None
    for t in range(heights, 0, -1):
        if -(-k // 2**t) <= 4:
            continue
        size = 2 ** (t - 1)
        start = range(-size, k + 1 - size) if shifted is None else shifted
        node = {s: block(aligned, s, 2 * size) if shifted is None else shifted[s] for s in start}

        def beside_of(s, node=node, size=size):
            middles = (s - size, s + 3 * size)
            return [node[(-c if c < 0 else 2 * k - c if c > k else c) - size] for c in middles]

        mean = dict.fromkeys(node, 0.0)
        for s in node:
            if 0 < s + size < k:
                detail = block(row, s, size) - block(row, s + size, size)
                mean[s] = mean_of(detail, node[s], noise(s + size, size), weights[t], *beside_of(s))[0]

        def part(s, *, left, node=node, mean=mean, size=size):  # a half of the node that starts at s
            turned = s + size < 0 or s + size > k
            c = s + size
            own = (-c if c < 0 else 2 * k - c if c > k else c) - size
            return (node[own] + (1 if left != turned else -1) * mean[own]) / 2

        first = range(-(size // 2), k + 1 - size // 2) if size > 1 else range(k)
        shifted = {s: (part(s, left=True) + part(s - size, left=False)) / 2 for s in first}
    result = aligned
    if shifted is not None:
        moved = np.array([shifted[v] for v in range(k)])
        moved /= moved.sum()
        masses = {(heights, 0): 1.0}
        for t in range(heights, 0, -1):
            source = moved if -(-k // 2**t) > 4 else aligned
            for i in range(-(-k // 2**t)):
                left, right = halves_of(source, t, i)
                mass = masses[t, i]
                alone = i * 2**t + 2 ** (t - 1) >= k
                detail = mass if alone else np.clip(left - right, -mass, mass)
                masses[t - 1, 2 * i], masses[t - 1, 2 * i + 1] = (mass + detail) / 2, (mass - detail) / 2
        result = np.array([masses[0, v] for v in range(k)])
    trust = 1 / (1 + np.exp(2 - gain))
    return trust * result + (1 - trust) / k


@pytest.mark.parametrize("member", [Tree, HalfTree, HaarHadamard, PROTOCOLS["oue"]])
@over([(2, "spike"), (13, "gaussian"), (16, "bimodal"), (39, "sparse")])
def test_tree_eb_is_the_slow_reference(k, shape, *, member):
    """Each of 8 likelihoods of each height is rounded to single precision: relative to the mass of all, 2^-24."""
    protocol = member(k, 1.0)
    rounded = 8 * (k - 1).bit_length() * 2.0**-24
    # The reference of large domains takes time: one number of users, and all of them for the others.
    for n in (500, 2_000_000) if k < 16 else (20_000,):
        _, observed = seen(protocol, shape, n, times=2 if k == 13 else 1)
        variances = observed.covariance.haar(k)
        slow = [slow_tree_eb(row, variances) for row in observed.estimate]
        np.testing.assert_allclose(ORDERED_METHODS["tree_eb"].apply(observed), slow, rtol=0, atol=rounded)


def test_tree_eb_leaves_what_is_certain():
    truth, observed = seen(Tree(16, 4.0), "steps", 10**11, times=2)
    assert np.abs(ORDERED_METHODS["tree_eb"].apply(observed) - observed.estimate).max() < 1e-4
    assert np.abs(observed.estimate - truth).max() < 1e-4


@pytest.mark.parametrize("member", [Tree, HalfTree, PROTOCOLS["ss"]])
def test_pure_noise_is_not_fitted(member):
    truth, observed = seen(member(256, 1.0), "uniform", 20_000, times=40)
    raw = error("emd", ORDERED_METHODS["iso_cdf"].apply(observed), truth)
    assert error("emd", ORDERED_METHODS["tree_eb"].apply(observed), truth) < 0.2 * raw


@over(["gaussian", "bimodal"], slow=["lognormal", "geometric"])
def test_a_tree_beats_what_is_best_on_single_categories(shape):
    """The two goals: the curve at the price of single categories, and both at once with half of the users there."""
    ratios = {"tree": {"emd": [], "l1": []}, "tree_half": {"emd": [], "l1": []}}
    for n in (10_000, 100_000, 1_000_000):
        truth, leaves = seen(PROTOCOLS["ss"](256, 1.0), shape, n, times=20)
        today = POSTPROCESSORS["wavelet_eb"].apply(leaves)
        for key, found in ratios.items():
            _, observed = seen(ORDERED_PROTOCOLS[key](256, 1.0), shape, n, times=20)
            result = ORDERED_METHODS["tree_eb"].apply(observed)
            for metric, each in found.items():
                each.append(error(metric, result, truth) / error(metric, today, truth))
    mean = {key: {metric: np.exp(np.mean(np.log(each))) for metric, each in of.items()} for key, of in ratios.items()}
    assert mean["tree"]["emd"] < 0.5
    assert mean["tree_half"]["emd"] < 0.6
    assert mean["tree_half"]["l1"] < 1.0
