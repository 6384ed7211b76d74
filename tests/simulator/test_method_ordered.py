"""The methods for ordered domains against slow references, and where they must win and must not lose."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import logsumexp
from scipy.stats import norm

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.channels import planar_geometric
from simulator.conformance import check_postprocessor
from simulator.domain import ORDERED, UNORDERED
from simulator.methods import expectation, observe, possible, tree
from simulator.methods.isotonic import isotonic
from simulator.methods.ordered import ORDERED_METHODS
from simulator.places import Places
from simulator.populations import apportion, frequencies
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.ordered import ORDERED_PROTOCOLS
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import HalfTree, Tree
from simulator.seeding import rng_for

from .test_method_contract import EDGES, NOISES, check_contract

OF_ESTIMATES = ("iso_cdf", "tree_eb")
OF_LIKELIHOODS = ("em", "ems", "em_stopped")


def seen(protocol, shape, n, times=6):
    """The truth, and what was observed in some collections."""
    weights = shape if isinstance(shape, np.ndarray) else frequencies(shape, protocol.k)
    counts = apportion(weights, n)
    rng = rng_for(0, "ordered methods", protocol.key, protocol.k, n, repr(protocol.epsilon))
    tally = protocol.sample_tally(np.broadcast_to(counts, (times, protocol.k)), rng)
    return counts / n, observe(protocol, tally, ORDERED)


def error(metric, estimate, truth):
    return float(METRICS[metric](estimate, truth).mean())


# --- what every method keeps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OF_ESTIMATES)
@pytest.mark.parametrize("noise", NOISES, ids=range(len(NOISES)))
def test_contract_at_the_edges(name, noise):
    for edge in EDGES.values():
        check_contract(ORDERED_METHODS[name], np.array(edge), noise)


@pytest.mark.parametrize("name", OF_ESTIMATES)
def test_contract_in_any_shape(name):
    check_contract(ORDERED_METHODS[name], rng_for(0, "shape").normal(0.1, 0.4, size=(2, 3, 4, 9)), NOISES[0])
    check_contract(ORDERED_METHODS[name], rng_for(0, "wide").normal(0.001, 0.01, size=(3, 700)), NOISES[4])
    check_postprocessor(ORDERED_METHODS[name])


@pytest.mark.parametrize("name", OF_ESTIMATES)
@pytest.mark.parametrize("member", [Tree, HalfTree, HaarHadamard])
@pytest.mark.parametrize("k", [2, 3, 9, 77])
def test_rows_of_estimates_of_trees_are_frequencies_and_do_not_see_each_other(name, member, k):
    for n in (1, 50, 20_000):
        _, observed = seen(member(k, 1.0), "zipf", n, times=5)
        result = ORDERED_METHODS[name].apply(observed)
        assert result.min() >= 0
        np.testing.assert_allclose(result.sum(axis=1), 1, rtol=1e-12)
        for row, own in zip(observed.estimate, result, strict=True):
            alone = type(observed)(row, observed.covariance, domain=ORDERED)
            np.testing.assert_array_equal(ORDERED_METHODS[name].apply(alone), own)


@pytest.mark.parametrize("name", OF_LIKELIHOODS)
@pytest.mark.parametrize("key", ["sw", "grr", "geometric"])
def test_rows_of_tallies_are_frequencies_and_do_not_see_each_other(name, key):
    protocol = (
        planar_geometric(Places(1, 12), 0.7) if key == "geometric" else (PROTOCOLS | ORDERED_PROTOCOLS)[key](12, 1.0)
    )
    counts = np.stack([apportion(frequencies(shape, 12), 3000) for shape in ("zipf", "uniform", "spike", "gaussian")])
    tally = protocol.sample_tally(counts, rng_for(0, "rows"))
    result = ORDERED_METHODS[name].compute(observe(protocol, tally, ORDERED))
    assert result.min() >= 0
    np.testing.assert_allclose(result.sum(axis=1), 1, rtol=1e-9)
    for row, own in zip(tally.counts, result, strict=True):
        alone = observe(protocol, type(tally)(row, tally.n), ORDERED)
        np.testing.assert_array_equal(ORDERED_METHODS[name].compute(alone), own)


def test_which_methods_go_with_which_protocols():
    of = {
        key: {name for name, method in ORDERED_METHODS.items() if possible(method, protocol(8, 1.0), ORDERED, 100)}
        for key, protocol in (ORDERED_PROTOCOLS | {"oue": PROTOCOLS["oue"], "grr": PROTOCOLS["grr"]}).items()
    }
    assert of["sw"] == set(OF_LIKELIHOODS)
    assert all(methods == set(OF_ESTIMATES) for key, methods in of.items() if key != "sw")
    assert not any(possible(method, PROTOCOLS["grr"](8, 1.0), UNORDERED, 100) for method in ORDERED_METHODS.values())


# --- isotonic distribution functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 5, 300])
def test_isotonic_rows_are_those_of_scipy(m):
    rows = rng_for(0, "isotonic", m).normal(size=(30, m)).cumsum(axis=1)
    rows[0] = np.sort(rows[0])[::-1]
    rows[1] = 1.0
    np.testing.assert_allclose(isotonic(rows), [isotonic_regression(row).x for row in rows], atol=1e-12 * m)


def test_iso_cdf_is_the_clipped_isotonic_distribution_function():
    _, observed = seen(PROTOCOLS["oue"](40, 0.5), "bimodal", 5000)
    for raw, result in zip(observed.estimate, ORDERED_METHODS["iso_cdf"].apply(observed), strict=True):
        shifted = raw + (1 - raw.sum()) / 40
        rising = np.clip(isotonic_regression(np.cumsum(shifted)[:-1]).x, 0, 1)
        np.testing.assert_allclose(np.cumsum(result), [*rising, 1.0], atol=1e-12)


# --- expectation maximisation ----------------------------------------------------------------------------------------


def channel(protocol):
    return np.stack([protocol.likelihood.forward(row) for row in np.eye(protocol.k)])


def slow_em(matrix, counts, epsilon, *, smooth):
    """The published loop, with the whole matrix."""
    k = len(matrix)
    average = (2 * np.eye(k) + np.eye(k, k=1) + np.eye(k, k=-1)) / 4
    average[[0, -1]] *= 4 / 3
    f, before = np.full(k, 1 / k), -np.inf
    for _ in range(10_000):
        likely = f @ matrix
        reached = counts @ np.log(likely)
        if reached - before < 1e-3 * np.exp(epsilon):
            break
        before = reached
        f = f * (matrix @ (counts / likely)) / counts.sum()
        if smooth:
            f = average @ f
            f /= f.sum()
    return f


@pytest.mark.parametrize("member", [SquareWave, PROTOCOLS["grr"]])
@pytest.mark.parametrize("epsilon", [0.7, 2.0])
def test_em_and_ems_are_the_published_loops_step_by_step(member, epsilon, monkeypatch):
    monkeypatch.setattr(expectation, "ONE_BY_ONE", expectation.PUBLISHED_STEPS)
    protocol = member(24, epsilon)
    _, observed = seen(protocol, "bimodal", 4000, times=3)
    for name, smooth in (("em", False), ("ems", True)):
        result = ORDERED_METHODS[name].compute(observed)
        for counts, own in zip(observed.tally.counts, result, strict=True):
            np.testing.assert_allclose(own, slow_em(channel(protocol), counts, epsilon, smooth=smooth), atol=1e-9)


@pytest.mark.parametrize("member", [SquareWave])
@pytest.mark.parametrize("shape", ["bimodal", "gaussian", "spike", "sparse", "uniform"])
@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 10_000), (0.5, 1_000_000), (1.0, 100), (4.0, 1_000_000)])
def test_em_and_ems_in_leaps_differ_from_the_published_loops_far_less_than_these_from_the_truth(
    member, shape, epsilon, n
):
    protocol = member(64, epsilon)
    truth, observed = seen(protocol, shape, n, times=2)
    for name, smooth in (("em", False), ("ems", True)):
        result = ORDERED_METHODS[name].apply(observed)
        slow = np.stack(
            [slow_em(channel(protocol), counts, epsilon, smooth=smooth) for counts in observed.tally.counts]
        )
        for metric in ("l1", "emd"):
            assert (METRICS[metric](result, slow) <= 0.03 * METRICS[metric](slow, truth)).all()


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_rate_of_leaps_bounds_how_fast_logarithms_answer_a_step(epsilon):
    """But for what all have in common: by the matrix of derivatives where the tally is as expected, for any truth."""
    protocol = SquareWave(40, epsilon)
    matrix, rng = channel(protocol), rng_for(0, "rates")
    climb = expectation._Climb(protocol.likelihood, np.ones((1, protocol.symbols)))
    ends = np.zeros(40)
    ends[[0, -1]] = 0.5
    found = []
    for truth in (ends, *rng.dirichlet(np.full(40, 0.05), size=20), np.full(40, 1 / 40)):
        answers = -(matrix / (truth @ matrix)) @ (matrix * truth[:, None]).T
        rates = np.sort(-np.linalg.eigvals(answers).real)
        assert rates[-1] == pytest.approx(1.0)  # of all together
        found.append(rates[-2])
    assert max(found) == pytest.approx(climb.rate / expectation.MARGIN)
    assert max(found) == found[0]


def slow_squarem(matrix, counts):
    """One row, as in the paper: step length -|r| / |v|, never shorter than that of two steps; in logarithms."""
    k = len(matrix)

    def step(f):
        return f * (matrix @ (counts / (f @ matrix))) / counts.sum()

    def reached(f):
        return float(counts @ np.log(f @ matrix))

    f, before = np.full(k, 1 / k), -np.inf
    while reached(f) - before >= 0.1:
        before = reached(f)
        one = step(f)
        two = step(one)
        r = np.log(one) - np.log(f)
        v = (np.log(two) - np.log(one)) - r
        alpha = min(-np.linalg.norm(np.sqrt(two) * r) / np.linalg.norm(np.sqrt(two) * v), -1.0)
        guess = two * np.exp(np.clip(np.log(f) - 2 * alpha * r + alpha**2 * v - np.log(two), -20, 20))
        guess /= guess.sum()
        f = step(guess) if reached(guess) >= reached(one) else two
    return f


@pytest.mark.parametrize("member", [SquareWave, PROTOCOLS["grr"]])
@pytest.mark.parametrize("shape", ["bimodal", "spike", "uniform"])
def test_em_stopped_is_squarem_stopped_at_a_tenth_of_a_nat(member, shape):
    protocol = member(24, 1.0)
    _, observed = seen(protocol, shape, 4000, times=3)
    result = ORDERED_METHODS["em_stopped"].compute(observed)
    for counts, own in zip(observed.tally.counts, result, strict=True):
        np.testing.assert_allclose(own, slow_squarem(channel(protocol), counts), atol=1e-9)


@pytest.mark.parametrize("shape", ["steps", "spike", "zipf"])
def test_em_stopped_is_not_caught_at_frequencies_of_0(shape):
    """With many users: it comes as near to the maximum as the published rule does, within a few nats of a million."""
    _, observed = seen(SquareWave(64, 2.0), shape, 1_000_000, times=3)
    counts = observed.tally.counts
    stopped, published = (
        (counts * np.log(observed.likelihood.forward(ORDERED_METHODS[name].apply(observed)))).sum(axis=1)
        for name in ("em_stopped", "em")
    )
    assert (published - stopped).max() < 100  # caught, it is 800 to 3,500 below


def test_em_to_the_end_is_worse_than_em_stopped():
    """Stopping is what keeps it smooth: the maximum of the likelihood follows the noise."""
    truth, observed = seen(SquareWave(64, 0.7), "gaussian", 10_000, times=40)
    stopped, ended = (
        METRICS["emd"](method.apply(observed), truth)
        for method in (ORDERED_METHODS["em_stopped"], POSTPROCESSORS["ibu"])
    )
    assert (stopped - ended).mean() < -3 * (stopped - ended).std() / np.sqrt(40)


def test_nobody_is_no_tally_to_maximise():
    protocol = SquareWave(8, 1.0)
    empty = observe(protocol, protocol.tally(np.empty(0, dtype=np.int64)), ORDERED)
    with pytest.raises(ValueError, match="at least 1 report"):
        ORDERED_METHODS["em"].apply(empty)


# --- trees -----------------------------------------------------------------------------------------------------------


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
@pytest.mark.parametrize(("k", "shape"), [(2, "spike"), (5, "zipf"), (13, "gaussian"), (32, "bimodal"), (39, "sparse")])
def test_tree_eb_is_the_slow_reference(member, k, shape):
    """Each of 8 likelihoods of each height is rounded to single precision: relative to the mass of all, 2^-24."""
    protocol = member(k, 1.0)
    rounded = 8 * (k - 1).bit_length() * 2.0**-24
    for n in (500, 20_000, 2_000_000):
        _, observed = seen(protocol, shape, n, times=1)
        variances = observed.covariance.haar(k)
        slow = [slow_tree_eb(row, variances) for row in observed.estimate]
        np.testing.assert_allclose(ORDERED_METHODS["tree_eb"].apply(observed), slow, rtol=0, atol=rounded)


@pytest.mark.parametrize("member", [Tree, HaarHadamard, PROTOCOLS["ss"]])
def test_differences_of_shifted_blocks_have_the_stated_noise(member):
    """Of 32 values exactly, by the covariance of sums at equal frequencies."""
    k = 32
    covariance = member(k, 1.0).linear.covariance(1000)
    stated = tree.shifted_variances(k, covariance.haar(k))
    mirrored = np.concatenate([np.eye(k)[::-1], np.eye(k), np.eye(k)[::-1]])
    for level, own in enumerate(stated):
        size = 2**level
        rows = np.stack(
            [
                mirrored[k + c - size : k + c].sum(axis=0) - mirrored[k + c : k + c + size].sum(axis=0)
                for c in range(1, k)
            ]
        )
        np.testing.assert_allclose(own, np.diag(covariance.of(rows)), rtol=1e-9)


def test_tree_eb_leaves_what_is_certain():
    truth, observed = seen(Tree(16, 4.0), "steps", 10**11, times=2)
    assert np.abs(ORDERED_METHODS["tree_eb"].apply(observed) - observed.estimate).max() < 1e-4
    assert np.abs(observed.estimate - truth).max() < 1e-4


@pytest.mark.parametrize("member", [Tree, HalfTree, PROTOCOLS["ss"]])
def test_pure_noise_is_not_fitted(member):
    truth, observed = seen(member(256, 1.0), "uniform", 20_000, times=40)
    raw = error("emd", ORDERED_METHODS["iso_cdf"].apply(observed), truth)
    assert error("emd", ORDERED_METHODS["tree_eb"].apply(observed), truth) < 0.2 * raw


def test_without_the_gate_noise_would_be_fitted(monkeypatch):
    truth, observed = seen(HalfTree(64, 1.0), "uniform", 20_000, times=40)
    gated = error("emd", ORDERED_METHODS["tree_eb"].apply(observed), truth)
    monkeypatch.setattr(tree, "EVIDENCE", -1e9)
    assert error("emd", ORDERED_METHODS["tree_eb"].apply(observed), truth) > 2 * gated


@pytest.mark.parametrize("shape", ["gaussian", "lognormal", "geometric", "bimodal"])
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
