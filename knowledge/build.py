"""Make the shipped data: simulate cells, fit the surface, grow the trees; ``python -m knowledge.build``.

The only file that imports scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.arrays import write_arrays
from knowledge.by_skew import INPUTS, SkewSurface
from knowledge.cells import POPULATIONS, PROTOCOL_SHARES, cell
from knowledge.collect import BACKENDS, collect
from knowledge.dataset import NETWORKS, Dataset, Surface, assemble, fit_surface
from knowledge.features import NAMES
from knowledge.grid import RANGES, SKEWS, to_grid
from knowledge.menu import (
    DOMAIN,
    EPSILON,
    MEASURED,
    METHODS,
    ORDERED_METRICS,
    SIMULATED_DOMAIN,
    USERS,
    applies,
)
from knowledge.shapes import FAMILIES
from knowledge.store import Store
from knowledge.teach_skews import NOISES, teach
from knowledge.tree import Tree, to_json
from simulator import __version__
from simulator._types import FloatArray

DATA = Path(__file__).parent / "data"
CHECKS, SMALL = 4, 200  # cells that are shipped as simulated, and their largest domain
LEAVES = 12  # of a tree: what people still read
LEAST_LEAF = 0.02  # share of the populations
MOST_REGRET = 2.0  # log error beyond which a method is out of the question
FEATURES = ("log_noise", "log_k", "skew")  # what the trees ask, as the grid holds it


@dataclass(frozen=True)
class Size:
    """How much is simulated and fitted.

    Attributes
    ----------
    cells
        Noise settings, each with 8 populations.
    largest
        Largest domain that is simulated.
    width, epochs
        Units per hidden layer, and passes over the rows.
    questions
        Skews that the surface is asked about, to teach the surface for skews.
    """

    cells: int
    largest: int
    width: int
    epochs: int
    questions: int


FULL = Size(4000, SIMULATED_DOMAIN, 256, 100, 8000)
QUICK = Size(40, 256, 32, 40, 80)


def build(
    folder: Path = DATA,
    *,
    work: Path | None = None,
    size: Size = FULL,
    seed: int = 0,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Mapping[str, Any]:
    """Make the data and return its provenance. After a kill, call it again: finished cells are kept.

    Parameters
    ----------
    folder
        Where ``grid.npy``, ``grid.json``, ``tree.json`` and ``provenance.json`` go.
    work
        File of finished cells; ``cells.jsonl`` in the folder by default.
    size
        How much is simulated.
    seed, jobs, backend, scheduler, progress
        As in `knowledge.collect.collect`; the data does not depend on jobs, backend or scheduler.

    Raises
    ------
    ValueError
        If `work` holds the cells of another build, or backend and scheduler do not go together.
    """
    start = time.time()
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder / "cells.jsonl" if work is None else work, plan_of(size, seed))
    collect(
        store,
        size.cells,
        seed=seed,
        largest=size.largest,
        jobs=jobs,
        backend=backend,
        scheduler=scheduler,
        progress=progress,
    )
    records = store.records()
    data = assemble((records[index] for index in range(size.cells)), seed=seed, largest=size.largest)
    surface = fit_surface(data, seed=seed, width=size.width, epochs=size.epochs)
    arrays = to_arrays(surface)
    skews, off_by = teach(
        to_grid(dict(arrays), {}),
        seed=seed,
        questions=size.questions,
        width=size.width,
        epochs=size.epochs,
        jobs=jobs,
        backend=backend,
        scheduler=scheduler,
    )
    provenance = {
        "tool_version": __version__,
        "seed": seed,
        "cells": size.cells,
        "populations": len(data.features),
        "repetitions": "6 (large k) to 32 (small k) for each population",
        "methods": list(METHODS),
        "metrics": list(MEASURED),
        "protocols": PROTOCOL_SHARES,
        "shapes": list(FAMILIES),
        "covers": {"epsilon": EPSILON, "k": DOMAIN, "n": USERS},
        "simulated": {"k": [2, size.largest], **_ranges(data)},
        "networks": {"number": NETWORKS, "width": size.width, "epochs": size.epochs, "features": list(NAMES)},
        "skews": {"questions": size.questions, "noises": NOISES, "inputs": list(INPUTS), "off_by": off_by},
        "seconds": round(time.time() - start),
        "finished": time.strftime("%Y-%m-%d", time.gmtime()),
    }
    arrays |= {SKEWS + name: array for name, array in to_arrays(skews).items()}
    write(folder, arrays, grow_trees(data), provenance)
    write_checks(folder, records, provenance)
    return provenance


def plan_of(size: Size, seed: int) -> dict[str, Any]:
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


def _ranges(data: Dataset) -> dict[str, list[float]]:
    noise = np.exp(data.features[:, NAMES.index("log_noise")])
    skew = data.features[:, NAMES.index("skew")]
    return {
        name: [float(f"{value:.3g}") for value in (column.min(), column.max())]
        for name, column in (("noise_to_uniform", noise), ("skew", skew))
    }


def to_arrays(surface: Surface | SkewSurface) -> dict[str, NDArray[np.float32]]:
    """Return the arrays of a surface by name, in single precision."""
    ranges = {name: getattr(surface, name).astype(np.float32) for name in RANGES}
    return {**surface.network.to_arrays(), **ranges}


def write(
    folder: Path, arrays: Mapping[str, NDArray[np.float32]], trees: Mapping[str, Tree], provenance: Mapping[str, Any]
) -> None:
    """Write all files but the checks."""
    write_arrays(folder, arrays)
    stored = {"methods": METHODS, "trees": {name: to_json(tree) for name, tree in trees.items()}}
    (folder / "tree.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")
    (folder / "provenance.json").write_text(json.dumps(provenance, indent=1) + "\n", encoding="utf-8")


def write_checks(folder: Path, records: Mapping[int, Mapping[str, Any]], provenance: Mapping[str, Any]) -> None:
    """Ship a few finished cells as they were simulated, so that a test can simulate them again."""
    seed, largest = provenance["seed"], provenance["simulated"]["k"][1]
    small = [records[index] for index in sorted(records) if cell(index, seed=seed, largest=largest).k <= SMALL]
    text = json.dumps({"cells": small[:CHECKS]}, separators=(",", ":"))
    (folder / "checks.json").write_text(text + "\n", encoding="utf-8")


def grow_trees(data: Dataset) -> dict[str, Tree]:
    """Grow a tree for every metric, and for domains without an order one more."""
    questions = data.features[:, [NAMES.index(name) for name in FEATURES]]
    errors = data.log_ratios + data.log_yardstick
    trees = {}
    for column, metric in enumerate(MEASURED):
        for ordered in (True, False):
            if metric in ORDERED_METRICS and not ordered:
                continue
            menu = [applies(name, metric, ordered=ordered) for name in METHODS]
            trees[metric if ordered else f"{metric}/unordered"] = grow(questions, errors[:, :, column], menu)
    return trees


def grow(questions: FloatArray, errors: FloatArray, menu: Sequence[bool]) -> Tree:
    """Grow one tree that predicts the log error of every method over the best.

    Parameters
    ----------
    questions
        ``(rows, 3)``: logarithm of the noise-to-uniform ratio, logarithm of k, skew.
    errors
        ``(rows, methods)`` log errors.
    menu
        Which methods compete; the others get -1.
    """
    from sklearn.tree import DecisionTreeRegressor

    places = np.flatnonzero(menu)
    competing = errors[:, places]
    regret = np.minimum(competing - competing.min(axis=1, keepdims=True), MOST_REGRET)
    fitted = DecisionTreeRegressor(max_leaf_nodes=LEAVES, min_samples_leaf=LEAST_LEAF, random_state=0)
    fitted.fit(questions, regret)
    nodes = fitted.tree_
    feature = tuple(int(max(place, 0)) for place in nodes.feature)
    threshold = tuple(
        _readable(FEATURES[place], float(value)) if child >= 0 else 0.0
        for place, value, child in zip(feature, nodes.threshold, nodes.children_left, strict=True)
    )
    left, right = (tuple(int(child) for child in side) for side in (nodes.children_left, nodes.children_right))
    bare = Tree(feature, threshold, left, right, (), ())
    # Thresholds are rounded for reading, so rows are sent down again: leaves hold what this very tree sends there.
    values = np.stack([np.exp(questions[:, 0]), np.rint(np.exp(questions[:, 1])), questions[:, 2]], axis=1)
    sums, visits = np.zeros((len(left), len(places))), np.zeros(len(left))
    for row, extra in zip(values.tolist(), regret, strict=True):
        for node in bare.path(row):
            sums[node] += extra
            visits[node] += 1
    means = np.full((len(left), len(menu)), -1.0)
    means[:, places] = sums / np.maximum(visits, 1)[:, None]
    return Tree(
        feature,
        threshold,
        left,
        right,
        tuple(tuple(round(value, 4) for value in row) for row in means.tolist()),
        tuple(round(value, 4) for value in (visits / len(values)).tolist()),
    ).without_empty()


def _readable(name: str, threshold: float) -> float:
    """Return a threshold in the unit people know, with three digits."""
    value = float(np.exp(threshold)) if name.startswith("log") else threshold
    return float(f"{value:.3g}")


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
    given = parser.parse_args(None if arguments is None else list(arguments))
    size = QUICK if given.quick else FULL
    if given.cells is not None:
        size = replace(size, cells=given.cells)

    def show(done: int, number: int) -> None:
        if done % 10 == 0 or done == number:
            sys.stderr.write(f"\r{done} of {number} cells" + ("\n" if done == number else ""))

    build(
        given.folder,
        work=given.work,
        size=size,
        seed=given.seed,
        jobs=given.jobs,
        backend=given.backend,
        scheduler=given.scheduler,
        progress=show,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
