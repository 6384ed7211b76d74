"""Large domains with few users: binomials brought to the common total have the law of subset selection."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.protocols.subset import CHAIN_LARGEST, SubsetSelection

from .law import accept, stream, two_sided, variance_p


def population(k: int, n: int) -> np.ndarray:
    rare = min(n // 4, k - 1)
    counts = np.zeros(k, dtype=np.int64)
    counts[0], counts[1 : 1 + rare] = n - rare, 1
    return counts


@pytest.mark.parametrize(
    ("k", "epsilon", "n"),
    [
        (2000, 2.0, 400),
        pytest.param(1500, 0.5, 50, marks=pytest.mark.slow),
        pytest.param(5000, 4.0, 3000, marks=pytest.mark.slow),
    ],
)
def test_mean_variance_total_and_bounds(k: int, epsilon: float, n: int) -> None:
    oracle, counts = SubsetSelection(k, epsilon), population(k, n)
    assert oracle._law_for(counts) == oracle._conditioned
    times = 400
    draws = np.stack([oracle._conditioned(counts, stream("conditioned", k, i)) for i in range(times)])
    assert (draws.sum(axis=1) == n * oracle.omega).all()
    assert draws.min() >= 0
    assert draws.max() <= n
    mean = counts * oracle.p + (n - counts) * oracle.q
    variance = counts * oracle.p * (1 - oracle.p) + (n - counts) * oracle.q * (1 - oracle.q)
    assert accept(two_sided((draws.mean(axis=0) - mean) / np.sqrt(variance / times)))
    # Over all values together the variance is known to one part in a thousand: off by 1/k, it still passes; the plain
    # binomials, whose total is free, do not.
    standard = (draws - mean) / np.sqrt(variance)
    assert accept(variance_p((standard[:, :1] ** 2).mean(axis=0), 1.0, times))
    assert abs((standard**2).mean() - 1) < 5 * np.sqrt(2 / (times * k)) + 1 / k


def test_moments_are_those_of_the_replay() -> None:
    oracle, counts = SubsetSelection(1200, 3.0), population(1200, 60)
    times = 150
    batch = np.broadcast_to(counts, (times, 1200))
    replay = oracle.replay_support(batch, stream("replay"))
    drawn = oracle.sample_support(batch, stream("law"))
    for values in (slice(0, 1), slice(1, 16), slice(16, 1200)):
        a, b = replay[:, values].mean(axis=1), drawn[:, values].mean(axis=1)
        assert accept(two_sided((a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / times)))
        squares = [((x[:, values] - x[:, values].mean()) ** 2).mean(axis=1) for x in (replay, drawn)]
        spread = np.sqrt(sum(s.var() for s in squares) / times)
        assert accept(two_sided((squares[0].mean() - squares[1].mean()) / spread))


def test_it_is_used_where_the_chain_would_be_slow_and_stays_fast_for_any_domain() -> None:
    for k, epsilon, n in ((250_000, 8.0, 10**6), (20_000, 1.0, 3000), (250_000, 6.0, 30_000)):
        oracle, counts = SubsetSelection(k, epsilon), population(k, n)
        assert oracle._law_for(counts) == oracle._conditioned
        assert oracle.sample_support(counts, stream("large", k)).sum() == n * oracle.omega
    assert SubsetSelection(CHAIN_LARGEST, 1.0)._law_for(population(CHAIN_LARGEST, 100)).__name__ == "_chain"
