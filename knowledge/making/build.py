"""Make the shipped data: simulate cells, fit the model, grow the trees."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from knowledge.cells import PLACES, Cells, OrderedSample
from knowledge.cells import save as save_cells
from knowledge.describe.features import NAMES
from knowledge.describe.heights import NAMES as HEIGHT_NAMES
from knowledge.describe.waves import NAMES as WAVE_NAMES
from knowledge.making.cells import POPULATIONS, PROTOCOL_SHARES, Measured, Record, cell, measured_from, simulate
from knowledge.making.dataset import Dataset, assemble
from knowledge.making.fitting import NETWORKS, fit_model
from knowledge.making.ordered_cells import assemble_ordered, ordered_measured, ordered_record
from knowledge.making.policies import grow_policies
from knowledge.making.populations import FAMILIES, ORDERED_FAMILIES
from knowledge.making.store import Store
from knowledge.making.workers import BACKENDS, Workers
from knowledge.menu import (
    CURVE_PROTOCOLS,
    CURVES,
    DOMAIN,
    EPSILON,
    LEAVES,
    MEASURED,
    METHODS,
    ORDERED_DOMAIN,
    SIMULATED_DOMAIN,
    USERS,
)
from knowledge.model import CATEGORIES as CATEGORY_MODEL
from knowledge.model import CURVES as CURVE_MODEL
from knowledge.model import DATA, Model, load, save
from knowledge.model import LEAVES as LEAF_MODEL
from knowledge.policy import save as save_policies
from knowledge.provenance import Networks, Provenance, Range
from simulator import __version__

Progress = Callable[[int, int], None]
Simulated = Callable[[int, int, int], Record]


def record_of(index: int, seed: int, largest: int) -> Record:
    """Simulate cell number `index` and return its record; what a worker runs."""
    return simulate(cell(index, seed=seed, largest=largest)).to_record()


def collect(
    store: Store[Record],
    cells: int,
    *,
    seed: int,
    largest: int,
    workers: Workers,
    progress: Progress | None = None,
    simulated: Simulated = record_of,
) -> None:
    """Bring the store to `cells` cells. Cells come in as they finish; what they hold does not depend on the workers.

    store: where finished cells are, and go.
    cells, seed, largest: number of cells, seed, and largest domain.
    progress: called with the cells that are done and their number.
    simulated: what a worker runs, with number, seed and largest domain.
    """
    present = store.records()
    missing = [index for index in range(cells) if index not in present]
    done = cells - len(missing)
    work = ((index, seed, largest) for index in missing)
    for record in workers.results(simulated, work):
        store.add(record)
        done += 1
        if progress is not None:
            progress(done, cells)


@dataclass(frozen=True)
class Size:
    """How much is simulated and fitted."""

    cells: int  # noise settings, each with 8 populations
    largest: int  # largest domain that is simulated
    # width, epochs: units per hidden layer, and passes over the rows
    width: int
    epochs: int
    # ordered_cells, ordered_width: the same for ordered domains
    ordered_cells: int
    ordered_width: int
    cases: int  # look-ups that the decision trees are grown on, with an order and without

    @property
    def ordered_largest(self) -> int:
        """Largest ordered domain that is simulated."""
        return min(self.largest, ORDERED_DOMAIN)


ALONE = Workers()
SAMPLED, SAMPLED_DOMAIN = 12, 64  # cells of ordered domains that are shipped, and their largest domain
CATEGORIES, ORDERED, POLICIES = PARTS = ("categories", "ordered", "policies")
# Parts of the cells, one of which each network leaves out. For numbers each sees more of the cells; over all that was
# judged, that is no better and no worse.
FOLDS, ORDERED_FOLDS = 4, 8
FULL = Size(4800, SIMULATED_DOMAIN, 256, 100, 9600, 156, 8000)
QUICK = Size(40, 256, 32, 40, 40, 24, 12)


@dataclass(frozen=True)
class _Job:
    """Where a build goes, and who works at what."""

    folder: Path
    work: Path
    size: Size
    seed: int
    workers: Workers
    progress: Callable[[int, int], None] | None
    start: float


def build(
    folder: Path = DATA,
    *,
    work: Path | None = None,
    size: Size = FULL,
    seed: int = 0,
    workers: Workers = ALONE,
    progress: Callable[[int, int], None] | None = None,
    parts: Sequence[str] = PARTS,
) -> Provenance:
    """Make the data and return its provenance. After a kill, call it again: finished cells are kept.

    folder: where the data goes.
    work: file of finished cells, ``cells.jsonl`` in the folder by default; those of ordered domains are beside it, with
        ``ordered_`` before the name.
    size: how much is simulated.
    seed, workers, progress: as in `collect`; the data does not depend on the workers.
    parts: what is made: ``categories`` is ``model.npz``, ``cells.npz`` and ``provenance.json``, ``ordered`` is
        ``leaves`` and ``curves``, and ``policies``, from what these predict, is ``policies.json``.

    Raises ValueError if `work` holds the cells of another build.
    """
    from threadpoolctl import threadpool_limits  # which only a build needs

    folder.mkdir(parents=True, exist_ok=True)
    job = _Job(folder, folder / "cells.jsonl" if work is None else work, size, seed, workers, progress, time.time())
    with threadpool_limits(1):  # as in workers: how a product is rounded depends on how many threads share it
        records = {part: _collected(part, job) for part in parts if part in _FITTED}
        made = [_FITTED[part](job, own) for part, own in records.items()]
        if POLICIES in parts:
            load.cache_clear()  # models of this folder may be other ones now
            save_policies(grow_policies(folder, size.cases, seed, workers), folder)
    return made[0] if made else load(folder).provenance


def _collected(part: str, job: _Job) -> list[Record]:
    size, plan, work = job.size, plan_of(job.size, job.seed), job.work
    cells, largest, simulated = size.cells, size.largest, record_of
    if part == ORDERED:
        cells, largest, simulated = size.ordered_cells, size.ordered_largest, ordered_record
        plan |= {"largest": largest, "methods": (*LEAVES.names, *CURVES.names), "shapes": ORDERED_FAMILIES}
        work = work.with_name(f"ordered_{work.name}")
    store: Store[Record] = Store(work, plan)
    collect(
        store,
        cells,
        seed=job.seed,
        largest=largest,
        workers=job.workers,
        progress=job.progress,
        simulated=simulated,
    )
    records = store.records()
    return [records[index] for index in range(cells)]


def _fit_categories(job: _Job, records: Sequence[Record]) -> Provenance:
    measured = [measured_from(record, job.seed, job.size.largest) for record in records]
    data = assemble(measured)
    model = fit_model(data, _provenance(job.size, job.seed, data))
    save_cells(archive_of(measured, data), job.folder)
    return _saved(model, job, CATEGORY_MODEL)


def _fit_ordered(job: _Job, records: Sequence[Record]) -> Provenance:
    size, seed, largest = job.size, job.seed, job.size.ordered_largest
    measured = [ordered_measured(record, seed, largest) for record in records]
    sample = [one for one in measured if one.cell.k <= SAMPLED_DOMAIN][:SAMPLED]
    OrderedSample(
        np.array([one.cell.index for one in sample]), np.log([np.maximum(one.error, 1e-300) for one in sample])
    ).save(job.folder)
    leaves, curves = assemble_ordered(measured, job.workers)
    common = replace(
        _provenance(size, seed, curves),
        cells=size.ordered_cells,
        repetitions="3 (large k) to 16 (small k) for each population",
        shapes=ORDERED_FAMILIES,
        simulated={"k": (2, largest), **_ranges(curves)},
    )
    tasks = []
    for part, table, data, features in (
        (LEAF_MODEL, LEAVES, leaves, NAMES),
        (CURVE_MODEL, CURVES, curves, (*NAMES, *HEIGHT_NAMES, *WAVE_NAMES)),
    ):
        networks = Networks(NETWORKS, size.ordered_width, size.epochs, ORDERED_FOLDS, features)
        provenance = replace(common, methods=table.names, networks=networks)
        if table is CURVES:
            # The square wave, of which networks are least sure, leads on most curves: caution would pass it over.
            networks = replace(networks, caution=0.0)
            provenance = replace(provenance, networks=networks, protocols=dict.fromkeys(CURVE_PROTOCOLS, 1.0))
        tasks.append((data, provenance, ORDERED, part))
    models = job.workers.results(fit_model, tasks, ordered=True)
    return [_saved(model, job, task[-1]) for model, task in zip(models, tasks, strict=True)][-1]


_FITTED = {CATEGORIES: _fit_categories, ORDERED: _fit_ordered}


def _saved(model: Model, job: _Job, part: str) -> Provenance:
    """Write a model with the time it took, and return its provenance."""
    seconds, day = round(time.time() - job.start), time.strftime("%Y-%m-%d", time.gmtime())
    provenance = replace(model.provenance, seconds=seconds, finished=day)
    save(replace(model, provenance=provenance), job.folder, part)
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
        networks=Networks(NETWORKS, size.width, size.epochs, FOLDS, NAMES),
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
    parser.add_argument("--scheduler", help="address of the Dask scheduler; without it dask makes a cluster here")
    parser.add_argument("--quick", action="store_true", help="a small build in under a minute, for tests")
    parser.add_argument("--cells", type=int, help="noise settings to simulate, each with 8 populations")
    parser.add_argument("--folder", type=Path, default=DATA, help="where the data goes")
    parser.add_argument("--work", type=Path, help="file of finished cells: a killed build goes on from there")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=PARTS, help="make this alone")
    options = parser.parse_args(None if arguments is None else list(arguments))
    size = QUICK if options.quick else FULL
    if options.cells is not None:
        size = replace(size, cells=options.cells)

    def show(done: int, number: int) -> None:
        if done % 10 == 0 or done == number:
            sys.stderr.write(f"\r{done} of {number} cells" + ("\n" if done == number else ""))

    workers = Workers(options.jobs, options.backend, options.scheduler)
    parts = PARTS if options.part is None else (options.part,)
    build(
        options.folder,
        work=options.work,
        size=size,
        seed=options.seed,
        workers=workers,
        progress=show,
        parts=parts,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())


def archive_of(measured: Sequence[Measured], data: Dataset) -> Cells:
    """Return the finished cells of a build, with features from the rows made of them."""
    settings = [one.cell for one in measured]
    shape = (len(settings), POPULATIONS)
    return Cells(
        index=np.array([cell.index for cell in settings]),
        k=np.array([cell.k for cell in settings]),
        n=np.array([cell.n for cell in settings]),
        epsilon=np.array([cell.epsilon for cell in settings]),
        protocol=np.array([cell.protocol for cell in settings]),
        family=np.array([cell.families for cell in settings]),
        parameter=data.parameter.reshape(shape),
        features=data.features[:, PLACES].reshape(*shape, -1),
        log_errors=np.log(np.maximum([one.error for one in measured], 1e-300)),
    )
