"""Cells of ordered domains: a budget and users with several populations, collected by protocols of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from knowledge.making.cells import (
    NAMED,
    POPULATIONS,
    PROTOCOL_SHARES,
    Measured,
    Record,
    SimulatedCell,
    errors_of,
    log_uniform,
    setting,
)
from knowledge.making.fitting import OTHERS, Dataset, joined, profiles_in, rows_by_noise, rows_of
from knowledge.making.populations import COLUMN, COMPOSED, LEVELS, OUTLYING
from knowledge.making.populations import CURVES as SMOOTH_FAMILIES
from knowledge.making.workers import Workers
from knowledge.menu import CURVES, LEAVES, MEASURED, ORDERED_DOMAIN
from knowledge.predict import curve_inputs
from simulator import POSTPROCESSORS, PROTOCOLS, rng_for
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.populations import SHAPES, apportion
from simulator.protocols.protocol import Tally

IN_ORDER = tuple(name for name, shape in SHAPES.items() if shape.ordered)
OUT_OF_ORDER = tuple(name for name, shape in SHAPES.items() if not shape.ordered)
# Cells with populations of every kind; most of those that follow are smooth, as numbers are: there small differences
# between protocols decide. Then half the populations bear marks of how the numbers came about; later these have a value
# far from all others besides. In the last cells the categories share few frequencies.
OF_ALL_KINDS, UNMARKED, INLYING, OUTLYING_CELLS = 1800, 3000, 8000, 9000
SLOW, SLOW_REPETITIONS = frozenset({("sw", "em"), ("sw", "ems")}), 6  # they take many steps


@dataclass(frozen=True)
class OrderedCell(SimulatedCell):
    """A cell with separate random streams; `protocol` is an oracle that collects in addition to the fixed protocols."""

    def stream(self, name: str, *places: int | str) -> np.random.Generator:
        """Return a random stream of the cell."""
        return rng_for(self.seed, "ordered", name, self.index, *places)

    @property
    def repetitions(self) -> int:
        """Simulated collections for each population: half as many as of categories, as more pairs are simulated."""
        return super().repetitions // 2


def ordered_cell(index: int, *, seed: int = 0, largest: int = ORDERED_DOMAIN) -> OrderedCell:
    """Draw cell number `index`; domains up to `largest`."""
    rng = rng_for(seed, "ordered", "cell", index)
    epsilon, n = setting(rng)
    k = min(largest, int(log_uniform((2.0, largest + 1.0), rng)))
    protocol = str(rng.choice(list(PROTOCOL_SHARES), p=list(PROTOCOL_SHARES.values())))
    if index < OF_ALL_KINDS:
        named = [*rng.permutation(IN_ORDER)[: NAMED - 1], rng.choice(OUT_OF_ORDER)]
        composed = [*rng.permutation(COMPOSED)]
    else:
        named = [*rng.permutation(IN_ORDER)[: NAMED // 2]]
        composed = [*2 * SMOOTH_FAMILIES, *rng.permutation(COMPOSED)]
        if index >= UNMARKED:
            composed[len(SMOOTH_FAMILIES) :] = POPULATIONS * (COLUMN if index < INLYING else OUTLYING,)
    families = [*named, *composed[: POPULATIONS - len(named)]] if index < OUTLYING_CELLS else POPULATIONS * [LEVELS]
    return OrderedCell(index, k, protocol, epsilon, n, tuple(map(str, families)), seed)


def record_of(index: int, seed: int, largest: int) -> Record:
    """Simulate cell number `index` and return its record."""
    return simulate_ordered(ordered_cell(index, seed=seed, largest=largest)).to_record()


def simulate_ordered(cell: SimulatedCell) -> Measured:
    """Simulate a cell: first the pairs of `LEAVES` and of the cell's protocol, then the pairs of `CURVES`."""
    counts = np.stack([apportion(population.frequencies, cell.n) for population in cell.populations()])
    rows = np.repeat(counts, cell.repetitions, axis=0)
    pairs = [*((cell.protocol, method) for _, method in LEAVES.pairs), *CURVES.pairs]
    blocks = []
    for name in dict.fromkeys(protocol for protocol, _ in pairs):
        protocol = PROTOCOLS[name](cell.k, cell.epsilon)
        tally = protocol.sample_tally(rows, cell.stream("collect", name))
        every, few = (observe(protocol, some, ORDERED) for some in (tally, _first(tally, len(counts))))
        for pair in pairs:
            if pair[0] == name:
                observed = few if pair in SLOW else every
                blocks.append(errors_of(POSTPROCESSORS[pair[1]], observed, counts, MEASURED))
    error, variance = (np.stack(figures, axis=1) for figures in zip(*blocks, strict=True))
    return Measured(cell, error, variance)


def _first(tally: Tally, populations: int) -> Tally:
    counts = tally.counts.reshape(populations, -1, tally.counts.shape[-1])[:, :SLOW_REPETITIONS]
    return Tally(counts.reshape(-1, counts.shape[-1]), tally.n)


def assemble_ordered(cells: Iterable[Measured], workers: Workers) -> tuple[Dataset, Dataset]:
    """Turn finished cells into rows for `LEAVES` and for `CURVES`."""
    leaves, curves = zip(*workers.results(_rows, ((cell,) for cell in cells), ordered=True), strict=True)
    return joined(leaves), joined(curves)


def _rows(measured: Measured) -> tuple[Dataset, Dataset]:
    cell = measured.cell
    profiles, leaves = profiles_in(cell), len(LEAVES.pairs)
    first = replace(
        measured, error=measured.error[:, :leaves], relative_variance=measured.relative_variance[:, :leaves]
    )
    rest = replace(measured, error=measured.error[:, leaves:], relative_variance=measured.relative_variance[:, leaves:])
    elsewhere = [curve_inputs(profiles, *other) for other in cell.other_settings(OTHERS)]
    curves = rows_of(
        rest,
        curve_inputs(profiles, cell.epsilon, cell.n),
        (np.stack([features for features, _ in elsewhere], axis=1), np.stack([logs for _, logs in elsewhere], axis=1)),
    )
    return rows_by_noise(first, profiles, LEAVES), curves
