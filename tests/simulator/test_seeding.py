import itertools
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2
from scipy.stats import multinomial as multinomial_law

from simulator.draws import multinomial
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


def test_streams_are_different_uncorrelated_and_even():
    draws = {address: rng_for(*address).random(8).tobytes() for address in ADDRESSES}
    assert len(set(draws.values())) == len(ADDRESSES)
    streams = np.stack([rng_for(0, "r", i).standard_normal(4000) for i in range(20)])
    z = [streams[i] @ streams[j] / np.sqrt(4000) for i, j in itertools.combinations(range(20), 2)]
    assert accept(two_sided(np.array(z)))
    first = np.array([rng_for(seed, "first", i).random() for seed in range(10) for i in range(400)])
    assert accept(two_sided((first.mean() - 0.5) / np.sqrt(1 / 12 / len(first))))
    assert accept(two_sided((((first - 0.5) ** 2).mean() - 1 / 12) / np.sqrt(1 / 180 / len(first))))


def test_numpy_integers_address_the_same_stream_and_negative_seeds_none():
    with pytest.raises(ValueError, match="seed must be at least 0, got seed=-1"):
        rng_for(-1, "x")
    assert rng_for(0, "a", np.int64(3)).random() == rng_for(0, "a", 3).random()


DRAWS = 40_000
FALSE_ALARM = 1e-6  # of each test, by the chi-square law


def misfit(counts, chances):
    """Chi-square over all outcomes of four users: the probability of one as large or larger."""
    outcomes = [one for one in product(range(5), repeat=len(chances)) if sum(one) == 4]
    expected = DRAWS * multinomial_law.pmf(outcomes, 4, chances)
    seen = np.array([(counts == one).all(axis=1).sum() for one in outcomes])
    assert seen.sum() == len(counts)
    possible = expected > 0
    assert not seen[~possible].any()
    return float(chi2.sf(((seen - expected)[possible] ** 2 / expected[possible]).sum(), possible.sum() - 1))


def test_small_draws_have_the_enumerated_law():
    even, gaps = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.0, 0.4, 0.0])
    for chances in (even, gaps):
        drawn = multinomial(np.full(DRAWS, 4), chances, rng_for(0, "multinomial", len(chances)))
        assert misfit(drawn, chances) > FALSE_ALARM
    others = multinomial(np.full(DRAWS, 4), np.array([0.22, 0.48, 0.3]), rng_for(0, "other"))
    assert misfit(others, even) < FALSE_ALARM


@pytest.mark.parametrize("m", [3, 60, 4096, 12_295])
def test_draws_of_any_length_have_the_means_and_the_sum(m):
    """One draw of many users: Pearson's statistic has m - 1 degrees of freedom, over groups in order too."""
    weights = rng_for(0, "weights", m).standard_exponential(m) + 0.05
    users = 1000 * m
    drawn = multinomial(users, weights / weights.sum(), rng_for(0, "long", m))
    assert drawn.sum() == users
    for size in (1, max(1, m // 50)):
        starts = np.arange(0, m, size)
        seen, expected = (np.add.reduceat(one, starts) for one in (drawn, users * weights / weights.sum()))
        statistic, degrees = ((seen - expected) ** 2 / expected).sum(), len(starts) - 1
        assert FALSE_ALARM < chi2.sf(statistic, degrees) < 1 - FALSE_ALARM


def test_rows_have_their_own_users_and_probabilities():
    chances = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    drawn = multinomial(np.array([[10], [20]]), chances, rng_for(0, "rows"))
    assert drawn.shape == (2, 2, 3)
    assert (drawn[:, 0] == [[10, 0, 0], [20, 0, 0]]).all()
    assert (drawn[:, 1, 0] == 0).all()
    assert (drawn.sum(axis=-1) == [[10, 10], [20, 20]]).all()
    assert multinomial(0, chances, rng_for(0, "none")).sum() == 0
    for m in (1, 3, 4097):
        none = multinomial(np.zeros((0, 2), dtype=np.int64), np.full(m, 1 / m), rng_for(0, "empty"))
        assert none.shape == (0, 2, m)


def test_draws_are_the_same_with_every_numpy_and_with_halves_that_are_alike():
    """Written down once: whoever sees another draw here has a numpy whose binomials changed, and should say so."""
    drawn = multinomial(np.array([1000, 20]), np.array([0.1, 0.2, 0.3, 0.4]), rng_for(0, "stream"))
    assert drawn.tolist() == [[110, 200, 297, 393], [3, 3, 8, 6]]
    even = np.full(4, 0.25)
    for sign in (1, -1):
        nudged = even * (1 + sign * np.array([4e-16, 0, -4e-16, 0]))
        one, other = (multinomial(np.full(50, 10_000), chances, rng_for(0, "alike")) for chances in (even, nudged))
        assert (one == other).all()
