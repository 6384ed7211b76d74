"""Make the shipped data, ``python -m knowledge.build``: simulate cells, fit the models, grow the trees."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from knowledge import cells as archive
from knowledge import menu, model, policy
from knowledge.describe import features, log_density, ordered_protocols
from knowledge.making import cells, ordered_cells
from knowledge.making.cells import Measured, Record, measured_of
from knowledge.making.fitting import NETWORKS, Dataset, assemble, fit_model
from knowledge.making.policies import grow_policies
from knowledge.making.populations import FAMILIES, ORDERED_FAMILIES
from knowledge.making.store import Store
from knowledge.making.workers import BACKENDS, Workers
from knowledge.model import DATA, Model, Networks, Provenance, Range
from simulator import __version__
from simulator.progress import Progress, Steady, Steps, part, silent, within


def collect(
    store: Store[Record],
    number: int,
    simulated: Callable[[int], Record],
    workers: Workers,
    progress: Steps | None = None,
) -> None:
    """Extend the store to the given number of cells, stored as they finish; they do not depend on the workers.

    store: where finished cells are, and go.
    simulated: the function that a worker runs, with the number of a cell.
    progress: called with the cells that are done and their number.
    """
    present = store.records()
    missing = [index for index in range(number) if index not in present]
    results = workers.results(simulated, ((index,) for index in missing))
    for done, record in enumerate(results, start=number - len(missing) + 1):
        store.add(record)
        if progress is not None:
            progress(done, number)


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
        return min(self.largest, menu.ORDERED_DOMAIN)


ALONE = Workers()
SAMPLED, SAMPLED_DOMAIN = 12, 64  # cells of ordered domains that are shipped, and their largest domain
CATEGORIES, ORDERED, POLICIES = PARTS = ("categories", "ordered", "policies")
# Parts of the cells; each network omits a different part. For numbers each sees more of the cells; over all that was
# judged, that is no better and no worse.
FOLDS, ORDERED_FOLDS = 4, 8
FULL = Size(4800, menu.SIMULATED_DOMAIN, 256, 100, 9600, 156, 8000)
QUICK = Size(40, 256, 32, 40, 40, 24, 12)


@dataclass(frozen=True)
class _Job:
    """Folder and workers of a build."""

    folder: Path
    work: Path
    size: Size
    seed: int
    workers: Workers
    progress: Progress
    start: float


def build(
    folder: Path = DATA,
    *,
    work: Path | None = None,
    size: Size = FULL,
    seed: int = 0,
    workers: Workers = ALONE,
    progress: Progress = silent,
    parts: Sequence[str] = PARTS,
) -> Provenance:
    """Make the data and return its provenance. After a kill, call it again: finished cells are kept.

    folder: where the data goes.
    work: file of finished cells, ``cells.jsonl`` in the folder by default; those of ordered domains are beside it, with
        ``ordered_`` before the name.
    size: how much is simulated.
    seed, workers: of the cells; the data does not depend on the workers.
    progress: called with the stage, and with the steps that are done and an upper bound.
    parts: the files to make: ``categories`` is ``model.npz``, ``cells.npz`` and ``provenance.json``, ``ordered`` is
        ``leaves`` and ``curves``, and ``policies``, from the predictions of these, is ``policies.json``.

    Raises ValueError if `work` holds the cells of another build.
    """
    from threadpoolctl import threadpool_limits  # which only a build needs

    folder.mkdir(parents=True, exist_ok=True)
    job = _Job(folder, folder / "cells.jsonl" if work is None else work, size, seed, workers, progress, time.time())
    with threadpool_limits(1):  # as in workers: how a product is rounded depends on how many threads share it
        # All cells before any fit.
        stages = [name for name in parts if name in _MEASURED]
        each = [replace(job, progress=part(progress, place, len(stages) + 1)) for place in range(len(stages))]
        measured = {name: _MEASURED[name](of_stage) for name, of_stage in zip(stages, each, strict=True)}
        progress("fitting", len(stages), len(stages) + 1)
        archives = [_FITTED[name](job, own) for name, own in measured.items()]
        if POLICIES in parts:
            model.load.cache_clear()  # models of this folder may be other ones now
            policy.save(grow_policies(folder, size.cases, seed, workers), folder)
    progress("fitted", 1, 1)
    return archives[0] if archives else model.load(folder).provenance


def _plan(job: _Job) -> dict[str, object]:
    """Return the settings that determine the cells; their number may grow between calls."""
    return {
        "seed": job.seed,
        "largest": job.size.largest,
        "populations": cells.POPULATIONS,
        "methods": menu.METHODS,
        "metrics": menu.MEASURED,
        "protocols": cells.PROTOCOL_SHARES,
        "shapes": FAMILIES,
    }


def _records(
    job: _Job, work: Path, plan: dict[str, object], number: int, simulated: Callable[[int], Record]
) -> list[Record]:
    store: Store[Record] = Store(work, plan)
    collect(store, number, simulated, job.workers, within(job.progress, "cells", 0, number))
    records = store.records()
    return [records[index] for index in range(number)]


def _measured_categories(job: _Job) -> list[Measured]:
    drawn = {"seed": job.seed, "largest": job.size.largest}
    records = _records(job, job.work, _plan(job), job.size.cells, partial(cells.record_of, **drawn))
    return [measured_of(record, cells.cell(record["index"], **drawn)) for record in records]


def _measured_ordered(job: _Job) -> list[Measured]:
    drawn = {"seed": job.seed, "largest": job.size.ordered_largest}
    methods = (*menu.LEAVES.names, *menu.CURVES.names)
    plan = _plan(job) | {"largest": drawn["largest"], "methods": methods, "shapes": ORDERED_FAMILIES}
    work = job.work.with_name(f"ordered_{job.work.name}")
    records = _records(job, work, plan, job.size.ordered_cells, partial(ordered_cells.record_of, **drawn))
    return [measured_of(record, ordered_cells.ordered_cell(record["index"], **drawn)) for record in records]


def _fit_categories(job: _Job, measured: Sequence[Measured]) -> Provenance:
    data = assemble(measured)
    fitted = fit_model(data, _provenance(job, data))
    archive.save(_archive_of(measured, data), job.folder)
    return _saved(fitted, job, model.CATEGORIES)


def _archive_of(measured: Sequence[Measured], data: Dataset) -> archive.CellArchive:
    """Return the finished cells of a build, with features from the rows made of them."""
    drawn, shape = [item.cell for item in measured], (len(measured), cells.POPULATIONS)
    return archive.CellArchive(
        index=np.array([cell.index for cell in drawn]),
        k=np.array([cell.k for cell in drawn]),
        n=np.array([cell.n for cell in drawn]),
        epsilon=np.array([cell.epsilon for cell in drawn]),
        protocol=np.array([cell.protocol for cell in drawn]),
        family=np.array([cell.families for cell in drawn]),
        parameter=data.parameter.reshape(shape),
        features=data.features[:, archive.PLACES].reshape(*shape, -1),
        log_errors=np.log(np.maximum([item.error for item in measured], 1e-300)),
    )


def _fit_ordered(job: _Job, measured: Sequence[Measured]) -> Provenance:
    sample = [item for item in measured if item.cell.k <= SAMPLED_DOMAIN][:SAMPLED]
    errors = np.log([np.maximum(item.error, 1e-300) for item in sample])
    archive.save_ordered_sample(np.array([item.cell.index for item in sample]), errors, job.folder)
    leaves, curves = ordered_cells.assemble_ordered(measured, job.workers)
    networks = Networks(NETWORKS, job.size.ordered_width, job.size.epochs, ORDERED_FOLDS, features.NAMES)
    of_leaves = replace(
        _provenance(job, curves),
        cells=job.size.ordered_cells,
        repetitions="3 (large k) to 16 (small k) for each population",
        shapes=ORDERED_FAMILIES,
        simulated={"k": (2, job.size.ordered_largest), **_ranges(curves)},
        methods=menu.LEAVES.names,
        networks=networks,
    )
    names = (*features.NAMES, *ordered_protocols.NAMES, *log_density.NAMES)
    of_curves = replace(
        of_leaves,
        methods=menu.CURVES.names,
        protocols=dict.fromkeys(menu.CURVE_PROTOCOLS, 1.0),
        # The square wave, of which networks are least sure, leads on most curves: caution would pass it over.
        networks=replace(networks, features=names, caution=0.0),
    )
    tasks = [(leaves, of_leaves, ORDERED, model.LEAVES), (curves, of_curves, ORDERED, model.CURVES)]
    fitted = job.workers.results(fit_model, tasks, ordered=True)
    return [_saved(item, job, part) for item, (*_, part) in zip(fitted, tasks, strict=True)][-1]


_MEASURED = {CATEGORIES: _measured_categories, ORDERED: _measured_ordered}
_FITTED = {CATEGORIES: _fit_categories, ORDERED: _fit_ordered}


def _saved(fitted: Model, job: _Job, part: str) -> Provenance:
    """Write a model with the time it took, and return its provenance."""
    seconds, day = round(time.time() - job.start), time.strftime("%Y-%m-%d", time.gmtime())
    provenance = replace(fitted.provenance, seconds=seconds, finished=day)
    model.save(replace(fitted, provenance=provenance), job.folder, part)
    return provenance


def _provenance(job: _Job, data: Dataset) -> Provenance:
    """Return how the data is made, but for the time it took."""
    return Provenance(
        tool_version=__version__,
        seed=job.seed,
        cells=job.size.cells,
        populations=len(data.features),
        repetitions="6 (large k) to 32 (small k) for each population",
        methods=menu.METHODS,
        metrics=menu.MEASURED,
        protocols=cells.PROTOCOL_SHARES,
        shapes=FAMILIES,
        covers={"epsilon": menu.EPSILON, "k": menu.DOMAIN, "n": menu.USERS},
        simulated={"k": (2, job.size.largest), **_ranges(data)},
        networks=Networks(NETWORKS, job.size.width, job.size.epochs, FOLDS, features.NAMES),
    )


def _ranges(data: Dataset) -> dict[str, Range]:
    noise = np.exp(data.features[:, features.NAMES.index("log_noise")])
    skew = data.features[:, features.NAMES.index("skew")]
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

    def show(stage: str, share: float) -> None:
        sys.stderr.write(f"\r{share:4.0%} {stage:8}" + ("\n" if share == 1 else ""))

    build(
        options.folder,
        work=options.work,
        size=size,
        seed=options.seed,
        workers=Workers(options.jobs, options.backend, options.scheduler),
        progress=Steady(show),
        parts=PARTS if options.part is None else (options.part,),
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
