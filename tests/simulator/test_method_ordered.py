import itertools

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import logsumexp

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.domain import ORDERED
from simulator.methods import expectation, observe
from simulator.methods import smooth as curves
from simulator.methods.smooth import CELL, WINDOW, LineCells
from simulator.populations import apportion, frequencies
from simulator.protocols import ORDERED_PROTOCOLS
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.likelihood import MatrixLikelihood
from simulator.protocols.square_wave import SquareWave, SquareWaveLikelihood
from simulator.protocols.tree import HalfTree, Tree
from simulator.seeding import rng_for
from tests.cells import over

from .law import log_density
from .test_method_contract import NOISES, check_contract


def seen(protocol, shape, n, times=6):
    """The truth, and what was observed in some collections."""
    weights = shape if isinstance(shape, np.ndarray) else frequencies(shape, protocol.k)
    counts = apportion(weights, n)
    rng = rng_for(0, "ordered methods", protocol.key, protocol.k, n, repr(protocol.epsilon))
    tally = protocol.sample_tally(np.broadcast_to(counts, (times, protocol.k)), rng)
    return counts / n, observe(protocol, tally, ORDERED)


def error(metric, estimate, truth):
    return float(METRICS[metric](estimate, truth).mean())


def channel(protocol):
    """The matrix of a protocol: what each value may become."""
    return np.stack([protocol.likelihood.forward(row) for row in np.eye(protocol.k)])


OF_ESTIMATES = ("iso_cdf", "tree_eb")


@pytest.mark.parametrize("name", OF_ESTIMATES)
def test_contract_of_wide_rows(name):
    check_contract(POSTPROCESSORS[name], rng_for(0, "wide").normal(0.001, 0.01, size=(3, 700)), NOISES[4])


def test_iso_cdf_is_the_clipped_isotonic_distribution_function():
    _, observed = seen(PROTOCOLS["oue"](40, 0.5), "bimodal", 5000)
    for raw, result in zip(observed.estimate, POSTPROCESSORS["iso_cdf"].apply(observed), strict=True):
        shifted = raw + (1 - raw.sum()) / 40
        rising = np.clip(isotonic_regression(np.cumsum(shifted)[:-1]).x, 0, 1)
        np.testing.assert_allclose(np.cumsum(result), [*rising, 1.0], atol=1e-12)


def mean_of(d, mass, variance, weights, before, after):
    """Posterior mean of one difference, and the log-likelihood of each component; masses of both neighbours."""
    sd, prior = np.sqrt(variance), [(share * mass) ** 2 for share in (0.0, 0.02, 0.05, 0.12, 0.3, 1.0)]
    e = np.clip((before - after) / 8, -mass, mass)
    plus, minus = (log_density(d, side, sd) - np.log(2) for side in (mass, -mass))
    around = [log_density(d, e, np.sqrt(variance + own)) for own in prior]
    likely = np.array([log_density(d, 0.0, sd), *around, np.logaddexp(plus, minus)])
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
        np.testing.assert_allclose(POSTPROCESSORS["tree_eb"].apply(observed), slow, rtol=0, atol=rounded)


@over(["gaussian", "bimodal"], slow=["lognormal", "geometric"])
def test_a_tree_beats_what_is_best_on_single_categories(shape):
    ratios = {"tree": {"emd": [], "l1": []}, "tree_half": {"emd": [], "l1": []}}
    for n in (10_000, 100_000, 1_000_000):
        truth, leaves = seen(PROTOCOLS["ss"](256, 1.0), shape, n, times=10)
        today = POSTPROCESSORS["wavelet_eb"].apply(leaves)
        for key, found in ratios.items():
            _, observed = seen(ORDERED_PROTOCOLS[key](256, 1.0), shape, n, times=10)
            result = POSTPROCESSORS["tree_eb"].apply(observed)
            for metric, each in found.items():
                each.append(error(metric, result, truth) / error(metric, today, truth))
    mean = {key: {metric: np.exp(np.mean(np.log(each))) for metric, each in of.items()} for key, of in ratios.items()}
    assert mean["tree"]["emd"] < 0.5
    assert mean["tree_half"]["emd"] < 0.6
    assert mean["tree_half"]["l1"] < 1.0


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
def test_em_and_ems_are_the_published_loops(member, epsilon):
    protocol = member(24, epsilon)
    _, observed = seen(protocol, "bimodal", 4000, times=3)
    for name, smooth in (("em", False), ("ems", True)):
        result = POSTPROCESSORS[name].compute(observed)
        for counts, own in zip(observed.tally.counts, result, strict=True):
            np.testing.assert_allclose(own, slow_em(channel(protocol), counts, epsilon, smooth=smooth), atol=1e-9)


@pytest.mark.parametrize("name", ["ems", pytest.param("em", marks=pytest.mark.slow)])
def test_the_loops_do_not_depend_on_what_else_is_in_a_block(name, monkeypatch):
    protocol = SquareWave(131, 0.5)
    counts = np.stack([apportion(frequencies(shape, 131), n) for shape in ("zipf", "spike") for n in (30, 10**6)])
    observed = observe(protocol, protocol.sample_tally(counts, rng_for(0, "blocks")), ORDERED)
    together = POSTPROCESSORS[name].compute(observed)
    np.testing.assert_allclose(together.sum(axis=1), 1, rtol=1e-9)
    assert together.min() >= 0
    monkeypatch.setattr(expectation, "AT_ONCE", 1)
    np.testing.assert_array_equal(POSTPROCESSORS[name].compute(observed), together)


@pytest.mark.parametrize(("places", "cells", "size"), [(131, 41, 131 / 41), (20, 9, 2.0), (7, 2, 3.5)])
def test_cells_share_places_by_what_they_have_of_them(places, cells, size):
    cut, rows = LineCells(places, cells, size), rng_for(0, "cells").random((3, places))
    edges = (places - cells * size) / 2 + size * np.arange(cells + 1)
    edges[0], edges[-1] = 0, places
    start = np.arange(places)
    overlap = np.minimum(edges[1:], start[:, None] + 1) - np.maximum(edges[:-1], start[:, None])
    np.testing.assert_allclose(cut.sums(rows), rows @ np.maximum(overlap, 0), atol=1e-12)
    middles = (places - cells * size) / 2 + size * (np.arange(cells) + 0.5)
    for row, spread in zip(rows[:, :cells], cut.spread(rows[:, :cells]), strict=True):
        np.testing.assert_allclose(spread, np.interp(start + 0.5, middles, row), atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_the_square_wave_of_cells_is_about_that_of_their_values(epsilon):
    """But for the two cells at the ends of a window, and those of outputs at the ends of the line."""
    fine = SquareWave(256, epsilon).likelihood
    coarse = fine.coarser(CELL, WINDOW)
    cells, outputs = coarse.shape
    size = 256 / cells
    assert 1 < size <= CELL
    values = np.zeros((cells, 256))
    values[np.arange(cells), ((np.arange(cells) + 0.5) * size).astype(int)] = 1  # the value in the middle of a cell
    of_values = LineCells(fine.shape[1], outputs, size).sums(fine.forward(values))[:, 1:-1]
    of_cells = coarse.forward(np.eye(cells))
    np.testing.assert_allclose(of_cells.sum(axis=1), 1)
    near = abs(of_cells[:, 1:-1] / of_values - 1) < 0.02
    assert (~near).sum(axis=1).max() <= 2
    windows = abs(np.diff(of_cells, axis=1)) > 1e-3 * of_cells.max()
    assert (windows.sum(axis=1) <= 2).all()


def test_nobody_is_no_tally_to_maximise():
    protocol = SquareWave(8, 1.0)
    empty = observe(protocol, protocol.tally(np.empty(0, dtype=np.int64)), ORDERED)
    with pytest.raises(ValueError, match="at least 1 report"):
        POSTPROCESSORS["em"].apply(empty)


def slow_round(matrix, counts, f):
    """One row, as in the paper: step length -|r| / |v|, never shorter than that of two steps; in logarithms."""

    def step(f):
        return f * (matrix @ (counts / (f @ matrix))) / counts.sum()

    def reached(f):
        return float(counts @ np.log(f @ matrix))

    one = step(f)
    two = step(one)
    r = np.log(one) - np.log(f)
    v = (np.log(two) - np.log(one)) - r
    alpha = min(-np.linalg.norm(np.sqrt(two) * r) / np.linalg.norm(np.sqrt(two) * v), -1.0)
    guess = two * np.exp(np.clip(np.log(f) - 2 * alpha * r + alpha**2 * v - np.log(two), -20, 20))
    guess /= guess.sum()
    return step(guess) if reached(guess) >= max(reached(one), reached(f)) else two


def slow_waves(ends, cells, number, *, stretched):
    """Value by value: cosines by the polynomial through three of their points, and the cell of each value."""
    k, edges = len(ends), np.append(0.0, ends)
    cells = int(np.ceil(k / (1 - 0.8))) if k <= cells else cells
    waves, cell = np.empty((number, k)), np.empty(k, dtype=int)
    for value in range(k):
        place = (edges[value] + edges[value + 1]) / 2
        cell[value] = int(place * cells)
        points = (cell[value] + np.array([0, 0.5, 1])) / cells
        lines = points if stretched else np.interp(points, edges, np.arange(k + 1) / k)
        first, second, third = place - points
        # The parabola through the three points, at the place itself: Lagrange's formula.
        shares = [
            second * third / ((first - second) * (first - third)),
            first * third / ((second - first) * (second - third)),
            first * second / ((third - first) * (third - second)),
        ]
        waves[:, value] = np.sqrt(2) * np.cos(np.pi * np.outer(np.arange(1, number + 1), lines)) @ shares
    return waves, cell


def slow_newton(matrix, counts, logarithm, priors, cell):
    """One step with dense matrices: the posterior of each prior and precision is solved for on its own."""
    n, f = counts.sum(), np.exp(logarithm) / np.exp(logarithm).sum()
    inside = (cell[:, None] == cell) / (cell[:, None] == cell).sum(axis=1)  # takes means in cells
    flat = f @ inside @ matrix

    def seen(direction):  # of a change of the logarithm, in the outputs
        return (f * (direction - f @ direction)) @ inside @ matrix

    score = f * (matrix @ (counts / (f @ matrix)) - n)
    found = []
    for waves, order in priors:
        changes = np.array([seen(wave) for wave in waves])
        own = n * (changes / flat) @ changes.T
        slope = n * (changes / flat) @ seen(logarithm) + waves @ score
        for precision in np.exp(np.arange(-14.0, 9.0)):
            prior = precision * np.diag(np.arange(1.0, len(waves) + 1) ** (2 * order))
            mean = np.linalg.solve(own + prior, slope)
            evidence = (slope @ mean - np.linalg.slogdet(own + prior)[1] + np.linalg.slogdet(prior)[1]) / 2
            found.append((evidence, mean @ waves))
    weights = np.exp([evidence - max(one for one, _ in found) for evidence, _ in found])
    new = weights @ [curve for _, curve in found] / weights.sum()
    change = new - logarithm
    change -= f @ change
    shares = weights.reshape(len(priors), -1).sum(axis=1) / weights.sum()
    kept = [prior for prior, share in zip(priors, shares, strict=True) if share > 0.05]
    return logarithm + min(1, 3 / np.abs(change).max()) * change, np.sqrt(f @ change**2), kept


def slow_em_stopped(matrix, counts, pilot_cells, cells):
    k, n, f = len(matrix), counts.sum(), np.full(len(matrix), 1 / len(matrix))
    for _ in range(16):
        f = f * (matrix @ (counts / (f @ matrix))) / n
    even, cell = slow_waves(np.arange(1, k + 1) / k, pilot_cells, min(24, k - 1), stretched=True)
    logarithm, _, _ = slow_newton(matrix, counts, np.log(f), [(even, 2)], cell)
    first = np.exp(logarithm) / np.exp(logarithm).sum()
    ends = np.array([sum(0.8 * first[: i + 1]) + 0.2 * (i + 1) / k for i in range(k)])
    even, cell = slow_waves(ends, cells, min(24, k - 1), stretched=False)
    waves, _ = slow_waves(ends, cells, min(48, k - 1), stretched=True)
    priors = [(even, 2), (waves, 1), (waves[:32], 2)]
    for _ in range(4):
        logarithm, move, priors = slow_newton(matrix, counts, logarithm, priors, cell)
        if move < 0.1:
            break
    f = np.exp(logarithm) / np.exp(logarithm).sum()
    for _ in range(50):
        likely = f @ matrix
        score = matrix @ (counts / likely) / n - 1
        if n * f @ score**2 <= f @ (matrix**2 @ (1 / likely) - 1):
            break
        f = slow_round(matrix, counts, f)
    return f * (matrix @ (counts / (f @ matrix))) / n


@pytest.mark.parametrize(
    ("member", "k", "pilot_cells", "cells"),
    [(SquareWave, 24, 96, 192), (PROTOCOLS["grr"], 24, 96, 192), (PROTOCOLS["grr"], 40, 14, 22)],
)
@over([("bimodal", 4000), ("spike", 100_000), ("uniform", 1000), ("zipf", 10**6)])
def test_em_stopped_is_newton_steps_between_priors_and_then_em(shape, n, *, member, k, pilot_cells, cells, monkeypatch):
    monkeypatch.setattr(curves, "PILOT_CELLS", pilot_cells)
    monkeypatch.setattr(curves, "CELLS", cells)
    protocol = member(k, 2.0)
    matrix = channel(protocol)
    _, observed = seen(protocol, shape, n, times=2)
    result = POSTPROCESSORS["em_stopped"].compute(observed)
    for counts, own in zip(observed.tally.counts, result, strict=True):
        np.testing.assert_allclose(own, slow_em_stopped(matrix, counts, pilot_cells, cells), atol=1e-7)


def test_running_sums_by_pairs_are_those_one_by_one():
    for k, width in ((1000, 301), (1021, 40), (515, 600)):
        likelihood, rng = SquareWaveLikelihood(k, width, 2e-3, 1e-4), rng_for(0, "running", k)
        rows, weights = rng.random((2, 3, k)), rng.random((2, 3, k + width - 1))
        near = np.abs(np.arange(k + width - 1) - np.arange(k)[:, None] - (width - 1) / 2) <= (width - 1) / 2
        matrix = np.where(near, 2e-3, 1e-4)
        np.testing.assert_allclose(likelihood.forward(rows), rows @ matrix, rtol=1e-11)
        np.testing.assert_allclose(likelihood.backward(weights), weights @ matrix.T, rtol=1e-11)
        np.testing.assert_allclose(likelihood.forward(rows[0, 0]), rows[0, 0] @ matrix, rtol=1e-11)


def test_drawn_curves_have_the_mean_and_the_covariance_of_their_posterior(monkeypatch):
    monkeypatch.setattr(curves, "STRETCHED", ((1, 48),))
    monkeypatch.setattr(curves, "PRECISIONS", np.array([0.05]))
    monkeypatch.setattr(curves, "EVEN", ((2, 1),))  # too stiff for these counts: it gets no weight
    monkeypatch.setattr(curves, "FOLLOWED", 0)
    protocol, draws = SquareWave(12, 2.0), 8_000
    _, observed = seen(protocol, "bimodal", 20_000, times=1)
    counts = observed.tally.counts[0]
    drawn = np.log(curves.drawn_curves(protocol.likelihood, counts.astype(float), draws, rng_for(0, "drawn")))
    row = curves._Row(protocol.likelihood, counts.astype(float))
    climb = expectation.Climb(protocol.likelihood, counts[None].astype(float))
    logarithm, _ = curves._fitted(row, curves._even(protocol.likelihood), curves._begun(climb)[0])
    pilot = row.approached(curves._begun(climb)[0], curves._even(protocol.likelihood), 1)
    ends = np.cumsum(0.8 * curves.normalised(pilot) + 0.2 / 12)
    waves, _ = slow_waves(ends, 192, 11, stretched=True)
    matrix, f = channel(protocol), curves.normalised(logarithm)
    changes = (f * (waves - (waves @ f)[:, None])) @ matrix
    information = counts.sum() * (changes / (f @ matrix)) @ changes.T
    covariance = np.linalg.inv(information + 0.05 * np.diag(np.arange(1.0, 12) ** 2))
    centred = waves - waves.mean(axis=1)[:, None]
    exact = centred.T @ covariance @ centred
    own = drawn - drawn.mean(axis=1)[:, None]
    # An element of a covariance of Gaussian draws has a standard error of sqrt((c_ii c_jj + c_ij^2) / draws).
    sds = np.sqrt((np.outer(np.diag(exact), np.diag(exact)) + exact**2) / draws)
    assert (np.abs(np.cov(own.T) - exact) < 6 * sds + 0.01 * np.abs(exact).max()).all()


@pytest.mark.parametrize("shape", ["gaussian", "bimodal", pytest.param("lognormal", marks=pytest.mark.slow)])
def test_drawn_curves_are_about_as_far_from_the_truth_as_they_are_from_each_other(shape):
    truth, observed = seen(SquareWave(64, 1.0), shape, 100_000, times=12)
    ratios = []
    for counts in observed.tally.counts:
        drawn = curves.drawn_curves(observed.likelihood, counts.astype(float), 30, rng_for(0, "apart", shape))
        apart = METRICS["emd"](drawn[::2], drawn[1::2]).mean()
        ratios.append(METRICS["emd"](drawn, truth).mean() / apart)
    assert 0.7 < np.exp(np.log(ratios).mean()) < 1.5  # 1.03 to 1.10, with a standard error of at most 0.07


def test_em_stopped_is_what_users_hold_where_reports_say_it():
    truth, observed = seen(SquareWave(64, 16.0), rng_for(0, "few").dirichlet(np.ones(64)), 300, times=2)
    assert error("l1", POSTPROCESSORS["em_stopped"].apply(observed), truth) < 0.02


@over(itertools.product([SquareWave, PROTOCOLS["grr"]], [0.3, 1.0, 6.0]))
def test_outputs_of_cells_are_means_over_stretches_of_frequencies_that_are_even_in_cells(member, epsilon):
    protocol, sums = member(90, epsilon), rng_for(0, "cells").dirichlet(np.ones(9), size=3).T
    edges = np.array([0, 1, 2, 7, 8, 20, 50, 51, 70, 90])
    for likelihood in (protocol.likelihood, MatrixLikelihood(channel(protocol))):
        forward, lengths = likelihood.in_cells(edges)
        outputs = likelihood.forward(np.repeat(sums.T / np.diff(edges), np.diff(edges), axis=1))
        ends = np.cumsum(lengths)
        assert ends[-1] == likelihood.shape[1]
        means = [outputs[:, end - length : end].mean(axis=1) for end, length in zip(ends, lengths, strict=True)]
        np.testing.assert_allclose(forward(sums), means, rtol=1e-12)
