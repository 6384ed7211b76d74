"""How much of the noise cancels in the sum of all estimates: what `Noise.cancels` says, against collections."""

from __future__ import annotations

import numpy as np

from simulator import frequency_oracles
from simulator.seeding import rng_for
from tests.cells import failures

PROTOCOLS = frequency_oracles()

REPETITIONS = 4000


def test_pgr_tells_how_its_estimates_hang_together() -> None:
    def check(cell: tuple[int, float]) -> None:
        k, epsilon = cell
        oracle, n = PROTOCOLS["pgr"](k, epsilon), 40 * k
        noise = oracle.noise(n)
        counts = np.full((REPETITIONS, k), 40)
        estimates = oracle.estimate(oracle.sample_support(counts, rng_for(0, "tests", "cancels", k, str(epsilon))), n)
        expected = (1 - (noise.cancels if noise.cancels is not None else 1.0)) * (
            k * noise.sd**2 + noise.variance_slope
        )
        found = float(estimates.sum(axis=1).var())
        # A variance of so many nearly normal sums has a relative standard deviation of sqrt(2 / repetitions).
        assert abs(found - expected) <= 5 * np.sqrt(2 / REPETITIONS) * expected + 1e-12

    cells = [(2, 1.0), (5, 0.5), (12, 1.0), (16, 2.0), (40, 1.0)]
    assert failures(cells, check) == {}


def test_others_cancel_wholly_or_not_at_all() -> None:
    def check(name: str) -> None:
        assert PROTOCOLS[name](7, 1.0).noise(100).cancels is None

    assert failures(sorted(set(PROTOCOLS) - {"pgr"}), check) == {}


def test_it_is_a_share_on_domains_of_any_size() -> None:
    for k in (2, 3, 100, 1024, 1025, 100_000):
        cancels = PROTOCOLS["pgr"](k, 1.0).noise(1000).cancels
        assert cancels is None or 0 <= cancels <= 1
