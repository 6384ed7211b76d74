"""Channels: the law of the aggregate, the matrices against direct summation and integration, and what they leak."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

from simulator.channels import (
    Channel,
    epsilon_per_unit,
    epsilon_within,
    krr,
    planar_geometric,
    planar_laplace,
    truncated_geometric,
)
from simulator.places import Places
from simulator.protocols.grr import GRR
from simulator.seeding import rng_for

FALSE_ALARM = 1e-6
GRID = Places(3, 4, "euclidean", 1.0, 1.5)
LN2 = math.log(2)


def a_channel() -> Channel:
    weights = rng_for(0, "matrix").random((4, 6))
    return Channel("own", "a matrix", weights / weights.sum(axis=1, keepdims=True))


def law_p_value(sampled: np.ndarray, channel: Channel, counts: np.ndarray) -> float:
    """Chi-square of the repetitions' summed observations against their exact expectation, which is a multinomial's."""
    return float(stats.chisquare(sampled.sum(axis=0), counts @ channel.matrix * len(sampled)).pvalue)


@pytest.mark.parametrize("how", ["sample", "replay"])
def test_observed_counts_have_mean_and_covariance_of_the_law(how: str) -> None:
    channel, counts = a_channel(), np.array([40, 0, 25, 10])
    repetitions, rng = 4000, rng_for(1, how)
    if how == "sample":
        drawn = channel.sample_observed(np.broadcast_to(counts, (repetitions, 4)), rng)
    else:
        drawn = np.stack(
            [channel.observe(channel.perturb(np.repeat(np.arange(channel.k), counts), rng)) for _ in range(repetitions)]
        )
    assert (drawn.sum(axis=1) == counts.sum()).all()
    mean = counts @ channel.matrix
    covariance = np.diag(mean) - (channel.matrix.T * counts) @ channel.matrix
    z = stats.norm.isf(FALSE_ALARM / 2 / 42)  # 6 means and 36 covariances
    assert (np.abs(drawn.mean(axis=0) - mean) <= z * np.sqrt(np.diag(covariance) / repetitions)).all()
    centred = drawn - mean
    products = centred[:, :, None] * centred[:, None, :]
    reach = z * products.std(axis=0) / math.sqrt(repetitions)
    assert (np.abs(products.mean(axis=0) - covariance) <= reach).all()


def test_the_law_test_sees_a_matrix_that_is_5_percent_off() -> None:
    channel, counts = a_channel(), np.array([40, 0, 25, 10]) * 50
    drawn = channel.sample_observed(np.broadcast_to(counts, (400, 4)), rng_for(2, "off"))
    shifted = channel.matrix.copy()
    moved = 0.05 * shifted[:, 0]
    shifted[:, 0] -= moved
    shifted[:, 1] += moved
    assert law_p_value(drawn, Channel("off", "off", shifted), counts) < FALSE_ALARM


def test_krr_is_grr() -> None:
    channel, oracle = krr(5, 1.3), GRR(5, 1.3)
    assert channel.matrix[2, 2] == pytest.approx(oracle.p, rel=1e-12)
    assert channel.matrix[2, 3] == pytest.approx(oracle.q, rel=1e-12)
    assert channel.epsilon == pytest.approx(1.3, rel=1e-12)
    assert channel.attack_success == pytest.approx(oracle.attack_success, rel=1e-12)


def test_truncated_geometric_sums_the_tails_of_the_endless_one() -> None:
    k, epsilon = 6, 0.4
    far = np.arange(-400, 401 + k)
    noise = np.exp(-epsilon * np.abs(far - np.arange(k)[:, None]))
    noise *= (1 - math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    expected = np.stack([noise[:, np.clip(far, 0, k - 1) == y].sum(axis=1) for y in range(k)], axis=1)
    assert np.allclose(truncated_geometric(k, epsilon).matrix, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("ground", ["euclidean", "manhattan"])
def test_planar_geometric_is_the_endless_lattice_cut_to_the_grid(ground: str) -> None:
    places, epsilon, reach = Places(3, 4, ground, 1.0, 1.5), 0.7, 60
    rows, columns = np.arange(-reach, reach + 3), np.arange(-reach, reach + 4)
    target = (np.clip(rows, 0, 2)[:, None] * 4 + np.clip(columns, 0, 3)).ravel()
    matrix = np.empty((12, 12))
    for x, (row, column) in enumerate(product(range(3), range(4))):
        down, across = np.abs(rows - row)[:, None] * 1.0, np.abs(columns - column) * 1.5
        weights = np.exp(-epsilon * (down + across if ground == "manhattan" else np.hypot(down, across)))
        matrix[x] = np.bincount(target, weights.ravel() / weights.sum())
    # What lies beyond 60 cells is e^-42 of the whole.
    assert np.allclose(planar_geometric(places, epsilon).matrix, matrix, rtol=1e-10, atol=0)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_planar_laplace_integrates_the_density(epsilon: float) -> None:
    matrix = planar_laplace(GRID, epsilon).matrix

    def density(x: float, y: float) -> float:
        return epsilon**2 / (2 * math.pi) * math.exp(-epsilon * math.hypot(x, y))

    def mass(x_from: float, x_to: float, y_from: float, y_to: float) -> float:
        return float(integrate.dblquad(density, y_from, y_to, x_from, x_to, epsabs=1e-11, epsrel=1e-9)[0])

    # From cell (1, 1): itself in quarters (the density has a kink there), an inner neighbour, and the right border.
    assert matrix[5, 5] == pytest.approx(4 * mass(0, 0.75, 0, 0.5), rel=1e-7)
    assert matrix[5, 6] == pytest.approx(2 * mass(0.75, 2.25, 0, 0.5), rel=1e-7)
    far = 60 / epsilon
    assert matrix[5, 7] == pytest.approx(2 * mass(2.25, far, 0, 0.5), rel=1e-6)
    assert matrix[5, 11] == pytest.approx(mass(2.25, far, 0.5, far), rel=1e-6)


def test_planar_laplace_on_a_line_is_the_distribution_function() -> None:
    epsilon, edges = 0.8, np.array([-np.inf, 0.5, 1.5, np.inf])
    expected = np.diff(stats.laplace(loc=np.arange(3)[:, None], scale=1 / epsilon).cdf(edges), axis=1)
    assert np.allclose(planar_laplace(Places(1, 3), epsilon).matrix, expected, rtol=1e-12)


def naive_leaks(channel: Channel, places: Places, radius: float) -> tuple[float, float]:
    logs, distances = np.log(channel.matrix), places.distances()
    gaps = np.abs(logs[:, None] - logs).max(axis=2)
    apart = distances > 0
    return float(gaps[distances <= radius].max()), float((gaps[apart] / distances[apart]).max())


@pytest.mark.parametrize("ground", ["euclidean", "manhattan"])
@pytest.mark.parametrize("build", [planar_geometric, planar_laplace, None])
def test_leakage_is_that_of_the_double_loop(build: object, ground: str) -> None:
    places = Places(3, 4, ground, 1.0, 1.5)
    if build is None:
        weights = rng_for(5, "leak").random((12, 7)) + 0.1
        channel = Channel("own", "own", weights / weights.sum(axis=1, keepdims=True))
    else:
        channel = build(places, 0.6)  # type: ignore[operator]
    within, per_unit = naive_leaks(channel, places, 2.0)
    assert epsilon_within(channel, places, 2.0) == pytest.approx(within, rel=1e-9)
    assert epsilon_within(channel, places, 99) == pytest.approx(channel.epsilon, rel=1e-9)
    assert epsilon_per_unit(channel, places) == pytest.approx(per_unit, rel=1e-9)


@pytest.mark.parametrize("build", [planar_geometric, planar_laplace])
@pytest.mark.parametrize("ground", ["euclidean", "manhattan"])
def test_built_in_noise_keeps_its_promise(build: object, ground: str) -> None:
    places = Places(9, 6, ground)
    leak = epsilon_per_unit(build(places, LN2), places)  # type: ignore[operator]
    assert leak <= LN2 * (1 + 1e-9)  # rounding of quadrature and logarithms
    assert leak > 0.99 * LN2


def test_impossible_outputs_leak_everything_and_common_ones_nothing() -> None:
    channel = Channel("own", "own", np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]))
    places = Places(1, 3)
    assert channel.epsilon == math.inf
    assert epsilon_per_unit(channel, places) == math.inf
    two = Channel("own", "own", np.array([[0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]))
    assert two.epsilon == 0
    assert epsilon_within(two, Places(1, 2), 1) == 0


def test_expected_distance_is_that_of_the_reports() -> None:
    channel, counts = planar_geometric(GRID, 0.8), np.arange(12) * 5000
    distances = GRID.distances()
    expected = channel.expected_distance(counts / counts.sum(), distances)
    values = np.repeat(np.arange(12), counts)
    moved = distances[values, channel.perturb(values, rng_for(3, "quality"))]
    assert abs(moved.mean() - expected) <= stats.norm.isf(FALSE_ALARM / 2) * moved.std() / math.sqrt(len(moved))


@pytest.mark.parametrize(
    "matrix",
    [np.eye(2)[:1], np.array([[0.5, 0.6], [0.5, 0.5]]), np.array([[1.2, -0.2], [0.5, 0.5]]), np.full((2, 2), np.nan)],
)
def test_what_is_no_channel_is_refused(matrix: np.ndarray) -> None:
    with pytest.raises(ValueError, match="channel"):
        Channel("own", "own", matrix)


def test_noise_that_spreads_too_far_is_refused() -> None:
    with pytest.raises(ValueError, match="so small that noise spreads"):
        planar_geometric(Places(3, 3), 1e-4)
    with pytest.raises(ValueError, match="positive"):
        planar_laplace(Places(3, 3), 0.0)
