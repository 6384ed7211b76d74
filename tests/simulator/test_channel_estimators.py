"""Inversion and IBU of channels, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from simulator.channels import Channel, SingularChannelError, ibu, invert, krr, planar_geometric
from simulator.channels.channel import InversionCovariance
from simulator.methods.maximum_likelihood import LANES, OFTEN, TOLERANCE, maxima
from simulator.places import Places
from simulator.populations import apportion, frequencies
from simulator.protocols.grr import GRR
from simulator.seeding import rng_for

GRID = Places(5, 6)


def observed_by(channel: Channel, n: int = 20_000, name: str = "seen") -> np.ndarray:
    return channel.sample_observed(apportion(frequencies("zipf_shuffled", channel.k), n), rng_for(0, name))


def test_inversion_of_krr_is_the_estimate_of_grr() -> None:
    observed = observed_by(krr(30, 1.0))
    assert np.allclose(invert(krr(30, 1.0), observed), GRR(30, 1.0).estimate(observed, 20_000), atol=1e-12)


@pytest.mark.parametrize("wide", [False, True])
def test_inversion_is_unbiased_with_the_stated_variance(wide: bool) -> None:
    channel = planar_geometric(GRID, 1.0)
    if wide:  # more outputs than inputs: every output in two shades that tell nothing more
        channel = Channel("wide", "wide", np.concatenate([0.3 * channel.matrix, 0.7 * channel.matrix], axis=1))
    counts = apportion(frequencies("zipf", 30), 5000)
    repetitions, truth = 1500, counts / 5000
    drawn = invert(channel, channel.sample_observed(np.broadcast_to(counts, (repetitions, 30)), rng_for(1, "inv")))
    variance = InversionCovariance(channel, 5000).entry(truth)
    z = stats.norm.isf(1e-6 / 2 / 60)
    assert (np.abs(drawn.mean(axis=0) - truth) <= z * np.sqrt(variance / repetitions)).all()
    squares = (drawn - truth) ** 2
    assert (np.abs(squares.mean(axis=0) - variance) <= z * squares.std(axis=0) / math.sqrt(repetitions)).all()


@pytest.mark.parametrize(
    "matrix",
    [
        np.full((3, 3), 1 / 3),
        np.array([[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]),
        np.array([[0.5 + 1e-10, 0.5 - 1e-10], [0.5, 0.5]]),
    ],
)
def test_what_cannot_be_inverted_is_refused(matrix: np.ndarray) -> None:
    channel = Channel("own", "own", matrix)
    with pytest.raises(SingularChannelError, match="invers"):
        invert(channel, np.full(channel.outputs, 10))


def direct_likelihood(channel: Channel, observed: np.ndarray, shares: np.ndarray) -> float:
    return sum(o / observed.sum() * math.log(float(shares @ channel.matrix[:, y])) for y, o in enumerate(observed) if o)


def test_plain_updates_are_the_textbook_loop() -> None:
    channel = planar_geometric(Places(2, 3), 0.7)
    observed = observed_by(channel, 500)
    shares = np.full(6, 1 / 6)
    for _ in range(5):
        shares = np.array(
            [
                sum(
                    observed[y] / 500 * shares[x] * channel.matrix[x, y] / (shares @ channel.matrix[:, y])
                    for y in range(6)
                )
                for x in range(6)
            ]
        )
    done = ibu(channel, observed, accelerate=False, tolerance=0, most_updates=5)
    assert np.allclose(done.frequencies, shares, rtol=1e-12)
    assert done.log_likelihood == pytest.approx(direct_likelihood(channel, observed, shares), rel=1e-12)
    assert done.updates == 5
    assert not done.converged


def test_ibu_ends_at_the_maximum_another_solver_finds() -> None:
    channel = planar_geometric(Places(2, 3), 0.7)
    observed = observed_by(channel, 300, "few")
    done = ibu(channel, observed, tolerance=1e-10, most_updates=5000)
    best = optimize.minimize(
        lambda shares: -direct_likelihood(channel, observed, shares),
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert done.converged
    assert -best.fun <= done.log_likelihood + done.gap + 1e-12
    assert done.log_likelihood >= -best.fun - 1e-10


@pytest.mark.parametrize(("k", "epsilon", "n"), [(30, 1.0, 20_000), (30, 3.0, 500), (8, 0.3, 1000)])
def test_closed_form_of_randomised_response_is_the_iterated_one(k: int, epsilon: float, n: int) -> None:
    channel = krr(k, epsilon)
    observed = observed_by(channel, n)
    closed = ibu(channel, observed)
    iterated = ibu(channel, observed, closed=False, tolerance=1e-14, most_updates=200_000)
    assert closed.updates == 0
    assert np.abs(closed.frequencies - iterated.frequencies).max() < 1e-8


@pytest.mark.parametrize("channel", [krr(30, 1.0), planar_geometric(GRID, 0.5)], ids=["krr", "planar_geometric"])
def test_acceleration_reaches_the_same_likelihood_in_a_fifth_of_the_updates(channel: Channel) -> None:
    observed = observed_by(channel, 100_000)
    plain = ibu(channel, observed, accelerate=False, closed=False, tolerance=0, most_updates=300)
    fast = ibu(channel, observed, closed=False, tolerance=0, most_updates=60)
    assert fast.updates <= plain.updates / 5
    assert fast.log_likelihood >= plain.log_likelihood - 1e-12


def test_the_gap_bounds_what_is_missing() -> None:
    channel = planar_geometric(GRID, 0.5)
    observed = observed_by(channel)
    best = ibu(channel, observed, tolerance=1e-9, most_updates=20_000)
    for most in (1, 3, 10, 30):
        early = ibu(channel, observed, most_updates=most)
        assert early.updates <= most
        assert best.log_likelihood <= early.log_likelihood + early.gap + 1e-12
    assert best.converged


def test_ibu_of_one_report_and_of_none() -> None:
    channel = planar_geometric(GRID, 0.5)
    one = ibu(channel, np.eye(30, dtype=np.int64)[3])
    assert one.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert one.frequencies.argmax() == 3
    with pytest.raises(ValueError, match="at least 1 report"):
        ibu(channel, np.zeros(30, dtype=np.int64))


@pytest.fixture(scope="module")
def collections() -> np.ndarray:
    """More than go in step at once, of many users and of so few that most outputs never occur."""
    channel = planar_geometric(GRID, 2.0)
    return np.stack([observed_by(channel, 5 if place % 7 == 3 else 20_000, str(place)) for place in range(LANES + 5)])


def test_fits_in_step_are_fits_one_by_one(collections: np.ndarray) -> None:
    channel = planar_geometric(GRID, 2.0)
    few = (collections > 0).mean(axis=1) < OFTEN
    assert 0 < few.sum() < len(few)
    for observed, fit in zip(collections, maxima(channel.likelihood, collections), strict=True):
        alone = ibu(channel, observed)
        assert fit.converged
        assert fit.gap <= TOLERANCE
        assert fit.frequencies.sum() == pytest.approx(1, abs=1e-12)
        assert fit.log_likelihood == pytest.approx(direct_likelihood(channel, observed, fit.frequencies), rel=1e-10)
        # Both are proven to be within their gaps of the same maximum; between these, rounding decides.
        assert abs(fit.log_likelihood - alone.log_likelihood) <= max(fit.gap, alone.gap)


def test_a_fit_does_not_depend_on_those_beside_it(collections: np.ndarray) -> None:
    likelihood = planar_geometric(GRID, 2.0).likelihood
    whole = maxima(likelihood, collections)
    order = np.random.default_rng(0).permutation(len(collections))
    for place, fit in zip(order, maxima(likelihood, collections[order]), strict=True):
        assert (fit.frequencies == whole[place].frequencies).all()
    assert (maxima(likelihood, collections[2:3])[0].frequencies == whole[2].frequencies).all()
