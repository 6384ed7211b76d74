"""The contract of methods for ordered domains, which protocols they go with, and isotonic distribution functions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from simulator import PROTOCOLS
from simulator.channels import planar_geometric
from simulator.conformance import check_postprocessor
from simulator.domain import ORDERED, UNORDERED
from simulator.methods import observe, possible
from simulator.methods.ordered import ORDERED_METHODS, isotonic
from simulator.places import Places
from simulator.populations import apportion, frequencies
from simulator.protocols import ORDERED_PROTOCOLS
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.tree import HalfTree, Tree
from simulator.seeding import rng_for
from tests.cells import failures

from .ordered_methods import seen
from .test_method_contract import EDGES, NOISES, check_contract

OF_ESTIMATES = ("iso_cdf", "tree_eb")
OF_LIKELIHOODS = ("em", "ems", "em_stopped")


def test_contract_at_the_edges():
    def check(cell):
        name, noise = cell
        for edge in EDGES.values():
            check_contract(ORDERED_METHODS[name], np.array(edge), noise)

    assert failures(itertools.product(OF_ESTIMATES, NOISES), check) == {}


@pytest.mark.parametrize("name", OF_ESTIMATES)
def test_contract_in_any_shape(name):
    check_contract(ORDERED_METHODS[name], rng_for(0, "shape").normal(0.1, 0.4, size=(2, 3, 4, 9)), NOISES[0])
    check_contract(ORDERED_METHODS[name], rng_for(0, "wide").normal(0.001, 0.01, size=(3, 700)), NOISES[4])
    check_postprocessor(ORDERED_METHODS[name])


def test_rows_of_estimates_of_trees_are_frequencies_and_do_not_see_each_other():
    def check(cell):
        name, member, k = cell
        for n in (1, 50, 20_000):
            _, observed = seen(member(k, 1.0), "zipf", n, times=5)
            result = ORDERED_METHODS[name].apply(observed)
            assert result.min() >= 0
            np.testing.assert_allclose(result.sum(axis=1), 1, rtol=1e-12)
            for row, own in zip(observed.estimate, result, strict=True):
                alone = type(observed)(row, observed.covariance, domain=ORDERED)
                np.testing.assert_array_equal(ORDERED_METHODS[name].apply(alone), own)

    assert (
        failures(
            [
                *itertools.product(OF_ESTIMATES, [Tree], [2, 3, 9, 77]),
                *itertools.product(OF_ESTIMATES, [HalfTree, HaarHadamard], [9]),
            ],
            check,
        )
        == {}
    )


def test_rows_of_tallies_are_frequencies_and_do_not_see_each_other():
    def check(cell):
        name, key = cell
        protocol = (
            planar_geometric(Places(1, 12), 0.7)
            if key == "geometric"
            else (PROTOCOLS | ORDERED_PROTOCOLS)[key](12, 1.0)
        )
        counts = np.stack(
            [apportion(frequencies(shape, 12), 3000) for shape in ("zipf", "uniform", "spike", "gaussian")]
        )
        tally = protocol.sample_tally(counts, rng_for(0, "rows"))
        result = ORDERED_METHODS[name].compute(observe(protocol, tally, ORDERED))
        assert result.min() >= 0
        np.testing.assert_allclose(result.sum(axis=1), 1, rtol=1e-9)
        for row, own in zip(tally.counts, result, strict=True):
            alone = observe(protocol, type(tally)(row, tally.n), ORDERED)
            np.testing.assert_array_equal(ORDERED_METHODS[name].compute(alone), own)

    assert failures(itertools.product(OF_LIKELIHOODS, ["sw", "grr", "geometric"]), check) == {}


def test_which_methods_go_with_which_protocols():
    of = {
        key: {name for name, method in ORDERED_METHODS.items() if possible(method, protocol(8, 1.0), ORDERED, 100)}
        for key, protocol in (ORDERED_PROTOCOLS | {"oue": PROTOCOLS["oue"], "grr": PROTOCOLS["grr"]}).items()
    }
    assert of["sw"] == set(OF_LIKELIHOODS)
    assert all(methods == set(OF_ESTIMATES) for key, methods in of.items() if key != "sw")
    assert not any(possible(method, PROTOCOLS["grr"](8, 1.0), UNORDERED, 100) for method in ORDERED_METHODS.values())


# --- isotonic distribution functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 5, 300])
def test_isotonic_rows_are_those_of_scipy(m):
    rows = rng_for(0, "isotonic", m).normal(size=(30, m)).cumsum(axis=1)
    rows[0] = np.sort(rows[0])[::-1]
    rows[1] = 1.0
    np.testing.assert_allclose(isotonic(rows), [isotonic_regression(row).x for row in rows], atol=1e-12 * m)


def test_iso_cdf_is_the_clipped_isotonic_distribution_function():
    _, observed = seen(PROTOCOLS["oue"](40, 0.5), "bimodal", 5000)
    for raw, result in zip(observed.estimate, ORDERED_METHODS["iso_cdf"].apply(observed), strict=True):
        shifted = raw + (1 - raw.sum()) / 40
        rising = np.clip(isotonic_regression(np.cumsum(shifted)[:-1]).x, 0, 1)
        np.testing.assert_allclose(np.cumsum(result), [*rising, 1.0], atol=1e-12)
