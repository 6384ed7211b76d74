"""The shipped cells are what simulating them gives, in law: their counts were drawn by numpy's own binomials."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields

import numpy as np
import pytest

from knowledge.cells import load_cells, load_ordered_sample
from knowledge.making import ordered_cells
from knowledge.making.cells import SimulatedCell, cell, simulate
from knowledge.making.ordered_cells import SLOW_REPETITIONS, OrderedCell, ordered_cell, simulate_ordered
from knowledge.menu import MEASURED
from knowledge.model import CURVES, load

SMALL = 200  # domains that take no time to simulate again
CATEGORIES, (SAMPLED, SAMPLED_ERRORS) = load_cells(), load_ordered_sample()
FEW = np.flatnonzero(CATEGORIES.k <= SMALL).tolist()


def of_categories(place: int) -> tuple[SimulatedCell, np.ndarray, np.ndarray]:
    """Return a cell, its stored log errors, and by how much at most these are rounded."""
    provenance = load().provenance
    one, stored = cell(int(CATEGORIES.index[place]), seed=provenance.seed, largest=provenance.largest), CATEGORIES
    errors = stored.log_errors[place]
    assert (one.k, one.n, one.protocol) == (stored.k[place], stored.n[place], stored.protocol[place])
    assert one.families == tuple(stored.family[place])
    assert stored.parameter[place] == pytest.approx([of.parameter for of in one.populations()], rel=1e-6)
    assert provenance.metrics == MEASURED
    # Stored codes: to half a percent at the best, and to e^(1/6) of how far a method is above it.
    return one, errors, 0.011 + 0.182 * (errors - errors.min(axis=1, keepdims=True) + 0.05)


def of_numbers(place: int) -> tuple[SimulatedCell, np.ndarray, np.ndarray]:
    """Return a cell of an ordered domain, its log errors and their rounding: half precision, to a thousandth."""
    provenance = load(part=CURVES).provenance
    one = ordered_cell(int(SAMPLED[place]), seed=provenance.seed, largest=provenance.largest)
    errors = SAMPLED_ERRORS[place]
    return one, errors, 1e-3 + 1e-3 * np.abs(errors)


TIMES = 4  # as many repetitions as the cell had: they add a quarter to the variance of a stored error
OTHER_BUDGET = 1.5
# False alarm: below 1e-5 for all cells and pairs together, were the means over populations normal (44 times 5e-8).
LIMIT = 5.5
# Steps of deciles are so coarse that few repetitions have errors at all.
SMOOTH = [place for place, name in enumerate(MEASURED) if name != "quantiles"]


def collected_anew(one: SimulatedCell, budget: float) -> SimulatedCell:
    """Return the same populations, collected by other draws, more often, and at a multiple of the budget."""

    class Anew(type(one)):  # type: ignore[misc]
        def stream(self, name: str, *places: int | str) -> np.random.Generator:
            return super().stream(f"{name} anew" if name == "collect" else name, *places)

        @property
        def repetitions(self) -> int:
            return TIMES * super().repetitions

    values = {field.name: getattr(one, field.name) for field in fields(one)}
    made: SimulatedCell = Anew(**values | {"epsilon": budget * one.epsilon})
    return made


def distances(cells: Iterable[tuple[SimulatedCell, np.ndarray, np.ndarray]], *, budget: float = 1.0) -> np.ndarray:
    """Return how far the stored errors of each pair are from new ones beyond their rounding, in standard errors.

    Differences count in standard errors of both, and are averaged over metrics and over all populations. Those of
    populations are drawn apart from each other; were all metrics to say the same, the mean over populations would have
    a variance of one over their number, and it has less if they do not.
    """
    off, rounded = [], []
    for one, stored, rounding in cells:
        again = (simulate_ordered if isinstance(one, OrderedCell) else simulate)(collected_anew(one, budget))
        # Some methods give the same whatever is drawn: then a thousandth, which is less than any rounding.
        spread = np.sqrt(again.relative_variance * (1 + TIMES))
        sd = np.maximum(again.error, 1e-12) * np.maximum(spread, 1e-3)
        off.append(((np.exp(stored) - again.error) / sd)[..., SMOOTH].mean(axis=-1))
        rounded.append((np.exp(stored) * rounding / sd)[..., SMOOTH].mean(axis=-1))
    every = np.concatenate(off)
    beyond: np.ndarray = np.abs(every.mean(axis=0)) - np.concatenate(rounded).mean(axis=0)
    return beyond * len(every) ** 0.5


@pytest.mark.parametrize(
    ("stored", "places"),
    [
        (of_categories, FEW[:1]),
        pytest.param(of_categories, FEW[:12], marks=pytest.mark.slow),
        pytest.param(of_numbers, range(12), marks=pytest.mark.slow),
    ],
)
def test_errors_are_those_of_new_draws_and_not_of_another_budget(
    stored: Callable[[int], tuple[SimulatedCell, np.ndarray, np.ndarray]],
    places: Iterable[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Were half as much again spent, nine of ten pairs would be found to be off."""
    monkeypatch.setattr(ordered_cells, "SLOW_REPETITIONS", TIMES * SLOW_REPETITIONS)
    cells = [stored(place) for place in places]
    assert (distances(cells) < LIMIT).all()
    assert (distances(cells, budget=OTHER_BUDGET) > LIMIT).mean() > 0.9
