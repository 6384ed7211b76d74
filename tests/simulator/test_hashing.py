import itertools

import numpy as np
import pytest
import xxhash
from scipy import stats

from simulator import hashing
from simulator.hashing import HASHES, SEED_BITS, count_supports, mix64, xxh32_text
from simulator.protocols.local_hashing import BLH, OLH
from tests.cells import failures, over

from .law import accept, stream, two_sided

SEEDS = 40_000
SYMBOLS = [2, 3, 8, 55]
PAIRS = np.array(
    [(v, v + 1) for v in range(0, 12, 2)]  # neighbours
    + [(v, v + 1) for v in (99, 1023, 65_535, 10**9, 2**32 - 2)]
    + [(0, 1 << bit) for bit in range(0, 32, 4)]  # one bit apart
    + [(2_863_311_530, 2_863_311_530 ^ (1 << bit)) for bit in range(0, 32, 5)]
    + [(0, 2**32 - 1), (3, 58), (10, 65), (1, 101), (7, 70), (12, 123), (4_294_967_040, 255)]
)


def linear(values, seeds, g):
    """((a v + b) mod P) mod g with P = 101, for domains up to 100: the counter-example."""
    a, b = 1 + seeds % 100, (seeds // 100) % 101
    return ((a * values + b) % 101) % g


def symbols_of(hashed, pairs, g, *names):
    """The symbols of the first and of the second of each pair: ``(2, seeds, pairs)``."""
    seeds = stream("pairs", *names, g).integers(0, 2**SEED_BITS, size=(SEEDS, 1))
    return np.stack([hashed(values, seeds, g) for values in pairs.T])


def collision_p(symbols, g):
    both = symbols[0] == symbols[1]
    return two_sided((both.sum(axis=0) - SEEDS / g) / np.sqrt(SEEDS * (1 / g) * (1 - 1 / g)))


def joint_p(symbols, g):
    """Chi-square of the table of (h(u), h(v)) against g x g equal cells, for each pair."""
    return even_p(symbols[0] * g + symbols[1], g * g)


def even_p(cells, many):
    observed, expected = np.stack([np.bincount(column, minlength=many) for column in cells.T]), SEEDS / many
    assert expected > 10
    return stats.chi2.sf(((observed - expected) ** 2 / expected).sum(axis=1), many - 1)


@over([*itertools.product(HASHES, SYMBOLS[::3]), *itertools.product(["mix64"], SYMBOLS[1:3])])
def test_symbols_are_even_and_those_of_two_values_independent(name, g):
    symbols = symbols_of(HASHES[name], PAIRS, g, name)
    assert symbols.min() == 0
    assert symbols.max() == g - 1
    assert accept(even_p(np.concatenate(symbols, axis=1), g))
    assert accept(collision_p(symbols, g))
    assert accept(joint_p(symbols, g))


@pytest.mark.parametrize("name", HASHES)
def test_one_seed_spreads_a_domain_evenly(name):
    # The other direction: a domain of 40,000 values under one seed, for 50 seeds, consecutive ones included.
    seeds = np.r_[np.arange(25), stream("spread").integers(0, 2**32, size=25)][:, None]
    symbols = HASHES[name](np.arange(40_000), seeds, 8)
    observed = np.stack([np.bincount(row, minlength=8) for row in symbols])
    assert accept(stats.chi2.sf(((observed - 5000) ** 2 / 5000).sum(axis=1), 7))


@pytest.mark.parametrize("g", [8, 55])
def test_negative_control_a_linear_hash_with_a_prime_near_the_domain_is_biased(g):
    pairs = np.array(list(itertools.combinations(range(0, 100, 14), 2)))
    wrong, right = (symbols_of(hashed, pairs, g, "linear") for hashed in (linear, mix64))
    assert not accept(collision_p(wrong, g))
    assert not accept(joint_p(wrong, g))
    assert accept(collision_p(right, g))
    assert accept(joint_p(right, g))


def test_xxh32_is_the_published_function_to_the_bit():
    rng = stream("xxh32")
    values = np.r_[
        np.arange(0, 130),
        [10**d - 1 for d in range(1, 16)],
        [10**d for d in range(1, 15)],
        *(rng.integers(10**d, 10 ** (d + 1), size=60) for d in range(15)),
    ]
    seeds = np.r_[0, 1, 2**31, 2**32 - 1, rng.integers(0, 2**32, size=30)]
    expected = np.array([[xxhash.xxh32_intdigest(str(v).encode(), s) for v in values.tolist()] for s in seeds.tolist()])
    for g in (2, 3, 55, 2**32):
        np.testing.assert_array_equal(xxh32_text(values, seeds[:, None], g), expected % g)
    diagonal = np.arange(len(seeds))  # one seed for each value
    np.testing.assert_array_equal(xxh32_text(values[diagonal], seeds, 11), expected[diagonal, diagonal] % 11)


@pytest.mark.parametrize(("protocol", "epsilon"), [(OLH, 3.0), pytest.param(BLH, 0.7, marks=pytest.mark.slow)])
def test_local_hashing_with_xxh32_is_unbiased_end_to_end(protocol, epsilon):
    counts = np.array([900, 0, 0, 300, 100, 0, 50, 20, 10, 5, 60, 55])
    oracle, n, times = protocol(12, epsilon, hash="xxh32"), int(counts.sum()), 100
    rng = stream("xxh32 end to end", oracle.key, repr(epsilon))
    estimates = oracle.estimate(oracle.replay_support(np.broadcast_to(counts, (times, 12)), rng), n)
    z = (estimates.mean(axis=0) - counts / n) / np.sqrt(oracle.variance(counts / n, n) / times)
    assert accept(two_sided(z))


def by_definition(name, seeds, symbols, k, g):
    """Every value hashed under every seed, in the words of `simulator.hashing`."""
    return (HASHES[name](np.arange(k), seeds[:, None], g) == symbols[:, None]).sum(axis=0)


def drawn(name, n, k, g, seed):
    """Reports of which half hold a hash that some value has, so that large g are supported too."""
    rng = np.random.default_rng(seed)
    seeds, values = rng.integers(0, 2**32, n), rng.integers(0, k, n)
    own = HASHES[name](np.arange(k), seeds[:, None], g)[np.arange(n), values]
    return seeds, np.where(rng.random(n) < 0.5, own, rng.integers(0, g, n))


def test_counts_are_those_of_the_definition_of_a_known_hash():
    def check(cell):
        name, (n, k, g) = cell
        seeds, symbols = drawn(name, n, k, g, seed=g % 1000)
        counts = count_supports(name, seeds, symbols, k, g)
        assert counts.tolist() == by_definition(name, seeds, symbols, k, g).tolist()
        assert counts.sum() > n / 5  # reports of own values are there, whatever g is

    sizes = [2, 3, 4, 6, 7, 12, 96, 1000, 2**31, 2**32 - 1, 2**32, 3 * 2**32, 78_962_960_182_682]
    assert failures(itertools.product(HASHES, ((101, 130, g) for g in sizes)), check) == {}


@pytest.mark.parametrize("name", HASHES)
def test_no_count_is_changed_by_the_size_of_blocks_or_by_symbols_that_are_none(name, monkeypatch):
    seeds, symbols = drawn(name, 300, 25, 3, seed=3)
    whole = count_supports(name, seeds, symbols, 25, 3).tolist()
    bad, more = np.concatenate([symbols, [-1, 3, 2**62]]), np.concatenate([seeds, [1, 2, 3]])
    assert count_supports(name, more, bad, 25, 3).tolist() == whole
    assert count_supports(name, seeds[:0], symbols[:0], 9, 3).tolist() == [0] * 9
    monkeypatch.setattr(hashing, "BLOCK", 7)  # the last block is not full
    assert count_supports(name, seeds, symbols, 25, 3).tolist() == whole
