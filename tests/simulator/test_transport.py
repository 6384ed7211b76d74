import itertools

import numpy as np
import pytest
from scipy import optimize

from simulator.metrics import emd
from simulator.places import Places
from simulator.seeding import rng_for
from simulator.transport import GAP, _network, differences, emd_exact, transports
from tests.cells import over

GRIDS = [Places(4, 5, "manhattan"), Places(4, 5), Places(3, 6, "euclidean", 1.0, 2.5), Places(2, 2)]


def by_linear_program(a, b, places):
    k = places.k
    sums = np.concatenate([np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))])
    plan = optimize.linprog(places.distances().ravel(), A_eq=sums, b_eq=np.concatenate([a, b]), method="highs")
    return float(plan.fun)


def two_histograms(places, name):
    rng = rng_for(0, name, places.k)
    return rng.dirichlet(np.full(places.k, 0.3)), rng.dirichlet(np.full(places.k, 0.5))


@pytest.mark.parametrize("places", GRIDS, ids=str)
def test_exact_is_the_linear_program(places):
    pytest.importorskip("ot")
    a, b = two_histograms(places, "exact")
    assert emd_exact(a, b, places) == pytest.approx(by_linear_program(a, b, places), rel=1e-7)


@over(itertools.product([*GRIDS, Places(20, 20), Places(12, 30, "manhattan")], ["one", "two", "three"]))
def test_fast_lies_within_its_stated_bounds(places, name):
    pytest.importorskip("ot")
    a, b = two_histograms(places, name)
    exact = float(emd_exact(a, b, places))
    value, low, high = transports(differences(a, b), places)[:, 0]
    rounding = 1e-7 * exact
    assert low - rounding <= exact <= high + rounding
    assert high <= low * (1 + GAP) * _network(places).detour * (1 + 1e-9)
    assert abs(value / exact - 1) <= np.sqrt((1 + GAP) * _network(places).detour) - 1 + 1e-7


@pytest.mark.parametrize("places", [Places(12, 16), Places(9, 5, "manhattan"), Places(30, 2)], ids=str)
def test_rows_do_not_see_each_other(places, monkeypatch):
    rng = rng_for(0, "rows", places.k)
    rows = differences(rng.dirichlet(np.full(places.k, 0.2), size=11), rng.dirichlet(np.ones(places.k)))
    rows[3] = 0.0
    rows[5] *= 1e-9
    together = transports(rows, places)
    for block in (places.k, 4 * places.k):
        monkeypatch.setattr("simulator.transport.BLOCK_CELLS", block)
        np.testing.assert_array_equal(transports(rows, places), together)
    assert tuple(together[:, 3]) == (0.0, 0.0, 0.0)
    assert together[0, 5] == pytest.approx(1e-9 * transports(rows[5:6] * 1e9, places)[0, 0], rel=1e-6)


def test_one_moved_user_and_a_line_have_the_distance_in_closed_form():
    places = Places(1, 40)
    a, b = two_histograms(places, "line")
    assert emd(a, b, places) == pytest.approx(float(emd(a, b)), rel=1e-12)
    assert emd(a, b, Places(40, 1, "euclidean", 2.0)) == pytest.approx(2 * float(emd(a, b)), rel=1e-12)
    places = Places(6, 7)
    start, end = np.eye(42)[0], np.eye(42)[3 * 7 + 4]
    _, low, high = transports((start - end)[None], places)[:, 0]
    assert low <= 5 <= high
    assert _network(Places(5, 5)).detour == pytest.approx(1 / np.cos(np.arctan(0.5) / 2))
    assert _network(Places(5, 5, "manhattan")).detour == 1


def test_rows_of_a_batch_and_signed_estimates():
    pytest.importorskip("ot")
    places = Places(4, 5)
    truth = two_histograms(places, "batch")[0]
    raw = truth + rng_for(1, "noise").normal(0, 0.05, (3, 20))
    fast = emd(raw, truth, places)
    assert fast.shape == (3,)
    assert fast[1] == emd(raw[1], truth, places)
    assert np.allclose(emd_exact(raw, truth, places), emd_exact(raw + 0.01, truth, places), rtol=1e-9)
    assert emd(truth, truth, places) == 0
    assert emd_exact(truth, truth, places) == 0
