"""Make the shipped data: simulate cells, fit the model, grow the trees."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from knowledge.cells import save as save_cells
from knowledge.describe.features import NAMES
from knowledge.making.archive import archive_of
from knowledge.making.cells import POPULATIONS, PROTOCOL_SHARES, Record, measured_from
from knowledge.making.dataset import Dataset, assemble
from knowledge.making.fitting import NETWORKS, fit_model
from knowledge.making.populations import FAMILIES
from knowledge.making.store import Store
from knowledge.making.trees import grow_trees
from knowledge.making.workers import BACKENDS, Workers, collect
from knowledge.menu import DOMAIN, EPSILON, MEASURED, METHODS, SIMULATED_DOMAIN, USERS
from knowledge.model import DATA, save
from knowledge.provenance import Networks, Provenance, Range
from knowledge.tree import save as save_trees
from simulator import __version__


@dataclass(frozen=True)
class Size:
    """How much is simulated and fitted."""

    cells: int  # noise settings, each with 8 populations
    largest: int  # largest domain that is simulated
    # width, epochs: units per hidden layer, and passes over the rows
    width: int
    epochs: int


ALONE = Workers()
FULL = Size(4000, SIMULATED_DOMAIN, 256, 100)
QUICK = Size(40, 256, 32, 40)


def build(
    folder: Path = DATA,
    *,
    work: Path | None = None,
    size: Size = FULL,
    seed: int = 0,
    workers: Workers = ALONE,
    progress: Callable[[int, int], None] | None = None,
) -> Provenance:
    """Make the data and return its provenance. After a kill, call it again: finished cells are kept.

    folder: where ``model.npz``, ``tree.json``, ``cells.npz`` and ``provenance.json`` go.
    work: file of finished cells; ``cells.jsonl`` in the folder by default.
    size: how much is simulated.
    seed, workers, progress: as in `knowledge.making.workers.collect`; the data does not depend on the workers.

    Raises ValueError if `work` holds the cells of another build.
    """
    start = time.time()
    folder.mkdir(parents=True, exist_ok=True)
    store: Store[Record] = Store(folder / "cells.jsonl" if work is None else work, plan_of(size, seed))
    collect(store, size.cells, seed=seed, largest=size.largest, workers=workers, progress=progress)
    records = store.records()
    measured = [measured_from(records[index], seed, size.largest) for index in range(size.cells)]
    data = assemble(measured)
    model = fit_model(data, _provenance(size, seed, data))
    save_trees(grow_trees(data), folder)
    save_cells(archive_of(measured, data), folder)
    seconds, finished = round(time.time() - start), time.strftime("%Y-%m-%d", time.gmtime())
    provenance = replace(model.provenance, seconds=seconds, finished=finished)
    save(replace(model, provenance=provenance), folder)
    return provenance


def _provenance(size: Size, seed: int, data: Dataset) -> Provenance:
    """Return how the data is made, but for the time it took."""
    return Provenance(
        tool_version=__version__,
        seed=seed,
        cells=size.cells,
        populations=len(data.features),
        repetitions="6 (large k) to 32 (small k) for each population",
        methods=METHODS,
        metrics=MEASURED,
        protocols=PROTOCOL_SHARES,
        shapes=FAMILIES,
        covers={"epsilon": EPSILON, "k": DOMAIN, "n": USERS},
        simulated={"k": (2, size.largest), **_ranges(data)},
        networks=Networks(NETWORKS, size.width, size.epochs, NAMES),
    )


def plan_of(size: Size, seed: int) -> dict[str, object]:
    """Return what decides the cells; their number may grow from one call to the next."""
    return {
        "seed": seed,
        "largest": size.largest,
        "populations": POPULATIONS,
        "methods": METHODS,
        "metrics": MEASURED,
        "protocols": PROTOCOL_SHARES,
        "shapes": FAMILIES,
    }


def _ranges(data: Dataset) -> dict[str, Range]:
    noise = np.exp(data.features[:, NAMES.index("log_noise")])
    skew = data.features[:, NAMES.index("skew")]
    return {
        name: (float(f"{column.min():.3g}"), float(f"{column.max():.3g}"))
        for name, column in (("noise_to_uniform", noise), ("skew", skew))
    }


def main(arguments: Iterable[str] | None = None) -> int:
    """Run a build from the shell."""
    parser = argparse.ArgumentParser(prog="python -m knowledge.build", description="Make the shipped knowledge.")
    parser.add_argument("--jobs", type=int, default=1, help="workers")
    parser.add_argument("--backend", choices=BACKENDS, default="loky", help="what joblib runs them on")
    parser.add_argument("--scheduler", help="address of the Dask scheduler, for the backend dask")
    parser.add_argument("--quick", action="store_true", help="a small build in under a minute, for tests")
    parser.add_argument("--cells", type=int, help="noise settings to simulate, each with 8 populations")
    parser.add_argument("--folder", type=Path, default=DATA, help="where the data goes")
    parser.add_argument("--work", type=Path, help="file of finished cells: a killed build goes on from there")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(None if arguments is None else list(arguments))
    size = QUICK if options.quick else FULL
    if options.cells is not None:
        size = replace(size, cells=options.cells)

    def show(done: int, number: int) -> None:
        if done % 10 == 0 or done == number:
            sys.stderr.write(f"\r{done} of {number} cells" + ("\n" if done == number else ""))

    workers = Workers(options.jobs, options.backend, options.scheduler)
    build(options.folder, work=options.work, size=size, seed=options.seed, workers=workers, progress=show)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
