"""What is odd about an estimate is warned of: rarely where it is as it is said to be, surely where it is far off."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from advisor.question.doubts import CHANCE, spread_doubt, sum_doubt
from simulator import PROTOCOLS, FrequencyOracle
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.cells import failures

K, N, EPSILON, STREAMS = 64, 200_000, 1.0, 100
TWO = "two categories"  # that share all users


@cache
def estimates(protocol: str, shape: str) -> tuple[FrequencyOracle, np.ndarray]:
    oracle = PROTOCOLS[protocol](K, EPSILON)
    counts = apportion(np.eye(K)[:2].mean(axis=0) if shape == TWO else frequencies(shape, K), N)
    draws = oracle.sample_support(np.broadcast_to(counts, (STREAMS, K)), rng_for(7, "doubts", protocol, shape))
    return oracle, oracle.estimate(draws, N)


def test_the_right_n_is_hardly_ever_doubted() -> None:
    """False alarms: at most two in a thousand, so more than 8 of 500 have a probability under 1e-5."""

    def check(shape: str) -> None:
        doubted = 0
        for protocol in ("grr", "oue", "olh", "hr", "pgr"):
            oracle, every = estimates(protocol, shape)
            doubted += sum(spread_doubt(one, oracle.noise(N)) is not None for one in every)
        assert CHANCE == 1e-3
        assert doubted <= 8

    assert failures(["zipf", "uniform", TWO], check) == {}


def test_an_n_that_is_off_by_a_factor_is_doubted() -> None:
    """`factor`: the n that is given over the true one."""

    def check(cell: tuple[float, str, str]) -> None:
        (factor, words), protocol = cell
        oracle, every = estimates(protocol, TWO)
        doubts = [spread_doubt(one, oracle.noise(round(N * factor))) for one in every]
        assert sum(doubt is not None and words in doubt for doubt in doubts) > 0.9 * STREAMS

    assert (
        failures(product([(8, "is smaller than given"), (1 / 32, "is larger than given")], ["grr", "oue"]), check) == {}
    )


def test_the_factor_is_a_lower_bound() -> None:
    oracle, every = estimates("oue", TWO)
    for given in (4, 16):
        doubt = spread_doubt(every[0], oracle.noise(given * N))
        assert doubt is not None
        stated = float(doubt.split("at least ")[1].split()[0])
        assert 1 < stated < given**0.5


def test_an_estimate_of_grr_or_ss_sums_to_1_or_is_doubted() -> None:
    for protocol in ("grr", "ss"):
        oracle, every = estimates(protocol, "zipf")
        noise = oracle.noise(N)
        for one in every[:8]:
            for given in (one, one * N, one.round(4), (one * N).round()):
                assert sum_doubt(given, noise, protocol) is None
            for changed in (one * 1.002, one[:-1], np.maximum(one, 0), one * N * 0.998):
                doubt = sum_doubt(changed, noise, protocol)
                assert (doubt is not None) == (abs(changed.sum() - 1) > 1e-9)
    assert sum_doubt(every[0] * 1.5, PROTOCOLS["oue"](K, EPSILON).noise(N), "oue") is None
