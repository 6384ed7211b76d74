"""Hashed reports are counted quickly, and bit for bit as the published hash functions say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xxhash

from simulator import hash_support
from simulator.hash_support import count_supports
from simulator.hashing import HASHES
from tests.cells import failures


def by_definition(name, seeds, symbols, k, g):
    """Every value hashed under every seed, in the words of `simulator.hashing`."""
    return (HASHES[name](np.arange(k), seeds[:, None], g) == symbols[:, None]).sum(axis=0)


def drawn(name, n, k, g, seed):
    """Reports of which half hold a hash that some value has, so that large g are supported too."""
    rng = np.random.default_rng(seed)
    seeds, values = rng.integers(0, 2**32, n), rng.integers(0, k, n)
    own = HASHES[name](np.arange(k), seeds[:, None], g)[np.arange(n), values]
    return seeds, np.where(rng.random(n) < 0.5, own, rng.integers(0, g, n))


def test_counts_are_those_of_the_definition():
    def check(cell):
        name, g = cell
        k = 130  # texts of one, two and three digits
        seeds, symbols = drawn(name, 257, k, g, seed=g % 1000)
        counts = count_supports(name, seeds, symbols, k, g)
        assert counts.tolist() == by_definition(name, seeds, symbols, k, g).tolist()
        assert counts.sum() > 60  # reports of own values are there, whatever g is

    cells = itertools.product(
        HASHES, [2, 3, 4, 6, 7, 12, 96, 1000, 2**31, 2**32 - 1, 2**32, 3 * 2**32, 78_962_960_182_682]
    )
    assert failures(cells, check) == {}


@pytest.mark.parametrize("name", HASHES)
def test_values_of_every_number_of_digits_are_counted(name):
    k = 10_025  # from texts without a whole lane to those with a lane and a byte
    seeds, symbols = drawn(name, 3, k, 5, seed=1)
    assert count_supports(name, seeds, symbols, k, 5).tolist() == by_definition(name, seeds, symbols, k, 5).tolist()


def test_the_published_hash_itself_says_the_same():
    rng = np.random.default_rng(2)
    seeds, symbols, k, g = rng.integers(0, 2**32, 40), rng.integers(0, 5, 40), 1_003, 5
    reports = list(zip(seeds.tolist(), symbols.tolist(), strict=True))
    texts = [str(value).encode() for value in range(k)]
    counts = [sum(xxhash.xxh32_intdigest(text, seed) % g == symbol for seed, symbol in reports) for text in texts]
    assert count_supports("xxh32", seeds, symbols, k, g).tolist() == counts


@pytest.mark.parametrize("name", HASHES)
def test_the_size_of_blocks_changes_no_count(name, monkeypatch):
    seeds, symbols = drawn(name, 300, 25, 3, seed=3)
    whole = count_supports(name, seeds, symbols, 25, 3)
    monkeypatch.setattr(hash_support, "BLOCK_BYTES", 56)  # 7 reports of 8 bytes, and the last block is not full
    monkeypatch.setattr(hash_support, "ROWS", 3)
    assert count_supports(name, seeds, symbols, 25, 3).tolist() == whole.tolist()


@pytest.mark.parametrize("name", HASHES)
def test_a_symbol_that_is_none_supports_nothing_and_no_reports_support_nothing(name):
    seeds, symbols = drawn(name, 50, 9, 3, seed=4)
    bad = np.concatenate([symbols, [-1, 3, 2**62]])
    more = np.concatenate([seeds, [1, 2, 3]])
    assert count_supports(name, more, bad, 9, 3).tolist() == count_supports(name, seeds, symbols, 9, 3).tolist()
    assert count_supports(name, seeds[:0], symbols[:0], 9, 3).tolist() == [0] * 9


def test_an_unknown_hash_is_refused():
    with pytest.raises(ValueError, match="hash must be one of mix64, xxh32, got 'md5'"):
        count_supports("md5", np.array([1]), np.array([1]), 4, 2)
