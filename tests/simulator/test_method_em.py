import numpy as np
import pytest

from simulator import PROTOCOLS
from simulator.domain import ORDERED
from simulator.methods import expectation, observe
from simulator.methods.ordered import ORDERED_METHODS
from simulator.methods.smooth import CELL, WINDOW, LineCells
from simulator.populations import apportion, frequencies
from simulator.protocols.square_wave import SquareWave
from simulator.seeding import rng_for

from .ordered_methods import channel, seen


def slow_em(matrix, counts, epsilon, *, smooth):
    """The published loop, with the whole matrix."""
    k = len(matrix)
    average = (2 * np.eye(k) + np.eye(k, k=1) + np.eye(k, k=-1)) / 4
    average[[0, -1]] *= 4 / 3
    f, before = np.full(k, 1 / k), -np.inf
    for _ in range(10_000):
        likely = f @ matrix
        reached = counts @ np.log(likely)
        if reached - before < 1e-3 * np.exp(epsilon):
            break
        before = reached
        f = f * (matrix @ (counts / likely)) / counts.sum()
        if smooth:
            f = average @ f
            f /= f.sum()
    return f


@pytest.mark.parametrize("member", [SquareWave, PROTOCOLS["grr"]])
@pytest.mark.parametrize("epsilon", [0.7, 2.0])
def test_em_and_ems_are_the_published_loops(member, epsilon):
    protocol = member(24, epsilon)
    _, observed = seen(protocol, "bimodal", 4000, times=3)
    for name, smooth in (("em", False), ("ems", True)):
        result = ORDERED_METHODS[name].compute(observed)
        for counts, own in zip(observed.tally.counts, result, strict=True):
            np.testing.assert_allclose(own, slow_em(channel(protocol), counts, epsilon, smooth=smooth), atol=1e-9)


@pytest.mark.parametrize("name", ["ems", pytest.param("em", marks=pytest.mark.slow)])
def test_the_loops_do_not_depend_on_what_else_is_in_a_block(name, monkeypatch):
    protocol = SquareWave(131, 0.5)
    counts = np.stack([apportion(frequencies(shape, 131), n) for shape in ("zipf", "spike") for n in (30, 10**6)])
    observed = observe(protocol, protocol.sample_tally(counts, rng_for(0, "blocks")), ORDERED)
    together = ORDERED_METHODS[name].compute(observed)
    np.testing.assert_allclose(together.sum(axis=1), 1, rtol=1e-9)
    assert together.min() >= 0
    monkeypatch.setattr(expectation, "AT_ONCE", 1)
    np.testing.assert_array_equal(ORDERED_METHODS[name].compute(observed), together)


@pytest.mark.parametrize(("places", "cells", "size"), [(131, 41, 131 / 41), (20, 9, 2.0), (7, 2, 3.5)])
def test_cells_share_places_by_what_they_have_of_them(places, cells, size):
    cut, rows = LineCells(places, cells, size), rng_for(0, "cells").random((3, places))
    edges = (places - cells * size) / 2 + size * np.arange(cells + 1)
    edges[0], edges[-1] = 0, places
    start = np.arange(places)
    overlap = np.minimum(edges[1:], start[:, None] + 1) - np.maximum(edges[:-1], start[:, None])
    np.testing.assert_allclose(cut.sums(rows), rows @ np.maximum(overlap, 0), atol=1e-12)
    middles = (places - cells * size) / 2 + size * (np.arange(cells) + 0.5)
    for row, spread in zip(rows[:, :cells], cut.spread(rows[:, :cells]), strict=True):
        np.testing.assert_allclose(spread, np.interp(start + 0.5, middles, row), atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_the_square_wave_of_cells_is_about_that_of_their_values(epsilon):
    """But for the two cells at the ends of a window, and those of outputs at the ends of the line."""
    fine = SquareWave(256, epsilon).likelihood
    coarse = fine.coarser(CELL, WINDOW)
    cells, outputs = coarse.shape
    size = 256 / cells
    assert 1 < size <= CELL
    values = np.zeros((cells, 256))
    values[np.arange(cells), ((np.arange(cells) + 0.5) * size).astype(int)] = 1  # the value in the middle of a cell
    of_values = LineCells(fine.shape[1], outputs, size).sums(fine.forward(values))[:, 1:-1]
    of_cells = coarse.forward(np.eye(cells))
    np.testing.assert_allclose(of_cells.sum(axis=1), 1)
    near = abs(of_cells[:, 1:-1] / of_values - 1) < 0.02
    assert (~near).sum(axis=1).max() <= 2
    windows = abs(np.diff(of_cells, axis=1)) > 1e-3 * of_cells.max()
    assert (windows.sum(axis=1) <= 2).all()


def test_averages_are_those_of_the_published_weights():
    rows = rng_for(0, "averages").random((3, 30))
    weights = (2 * np.eye(30) + np.eye(30, k=1) + np.eye(30, k=-1)) / 4
    weights[[0, -1]] *= 4 / 3
    expected = rows @ weights.T
    np.testing.assert_allclose(expectation.averaged(rows), expected / expected.sum(axis=1, keepdims=True))
