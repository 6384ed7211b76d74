import itertools

import numpy as np
import pytest

from simulator.seeding import rng_for
from tests.cells import over

from .law import accept, two_sided

ADDRESSES = [
    (0,),
    (1,),
    (2**40,),
    (0, "oue"),
    (0, "oue", 1),
    (0, "oue", "1"),
    (0, 1, "oue"),
    (0, "oue, 1"),
    (0, "oue', 1, '"),
    (0, "o", "ue"),
    (0, "ou", "e"),
    (0, ""),
    (0, "", ""),
    (0, "ü"),
    (1, "oue", 1),
]

# Results already published depend on these: a change here changes every number the tool prints.
PINNED = {
    (0,): [1502372552, 269294900, 3486166000],
    (0, "oue", 1): [3449500468, 1142645730, 1804656048],
    (0, "oue", "1"): [699531448, 2440861397, 1001741009],
    (7, "queries", "set", 64, 6): [1302442485, 138378240, 3612718972],
    (1099511627776, "ü"): [3476340450, 4115429764, 1936345722],
}


@over(PINNED.items())
def test_streams_do_not_change(address, expected):
    assert rng_for(*address).integers(0, 2**32, size=3).tolist() == expected


def test_different_addresses_are_different_streams():
    draws = {address: rng_for(*address).random(8).tobytes() for address in ADDRESSES}
    assert len(set(draws.values())) == len(ADDRESSES)


def test_neighbouring_streams_are_uncorrelated():
    streams = np.stack([rng_for(0, "r", i).standard_normal(4000) for i in range(20)])
    z = [streams[i] @ streams[j] / np.sqrt(4000) for i, j in itertools.combinations(range(20), 2)]
    assert accept(two_sided(np.array(z)))


def test_the_first_numbers_of_many_streams_are_even():
    first = np.array([rng_for(seed, "first", i).random() for seed in range(10) for i in range(400)])
    assert accept(two_sided((first.mean() - 0.5) / np.sqrt(1 / 12 / len(first))))
    assert accept(two_sided((((first - 0.5) ** 2).mean() - 1 / 12) / np.sqrt(1 / 180 / len(first))))


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="seed must be at least 0, got seed=-1"):
        rng_for(-1, "x")


def test_numpy_integers_address_the_same_stream_as_plain_ones():
    assert rng_for(0, "a", np.int64(3)).random() == rng_for(0, "a", 3).random()
