"""Answers about the knowledge itself: its simulated cells, and a new build."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.prediction import frequencies_of
from advisor.answers.rank.result import Ranking
from advisor.errors import InputError, listed, reason
from advisor.question.request import Request
from knowledge import build as builder
from knowledge import cells, model, predict
from knowledge.making.workers import Workers, WorkersError
from knowledge.menu import ALIASES, METHODS
from simulator import frequency_oracles
from simulator.progress import Progress, silent

METHODS_SHOWN = 3  # of a simulated cell
WORK = ("cells.jsonl", "ordered_cells.jsonl")  # by which a build goes on


@dataclass(frozen=True)
class CellRow:
    """One simulated population near a question, and how the methods did in it."""

    near: cells.Neighbour
    best: tuple[tuple[str, float], ...]  # the methods with the lowest simulated errors, and these errors
    error: float | None  # simulated error of the recommended method, None if not simulated


@dataclass(frozen=True)
class NearestCells:
    """A look-up, and the simulated populations that are nearest to its question, the nearest first."""

    advice: Ranking
    rows: tuple[CellRow, ...]


def nearest_cells(request: Request, count: int) -> NearestCells:
    """Look up a request, and the simulated populations that are nearest to it; cells have protocols for categories.

    Raises InputError if the cells have none of what was asked about, or not the metric.
    """
    protocols = tuple(name for name in request.protocols if name in frequency_oracles())
    methods = tuple(name for name in request.methods if name in (*METHODS, *ALIASES))
    predicted_metrics = model.load().provenance.predicted
    for what, names, usable, allowed in (
        ("protocol", request.protocols, protocols, frequency_oracles()),
        ("method", request.methods, methods, METHODS),
        ("metric", request.metrics, [name for name in request.metrics if name in predicted_metrics], predicted_metrics),
    ):
        if names and not usable:
            raise InputError(
                f"knowledge cells has no cells of {listed(names)}: give --{what} one of {listed(allowed, most=20)}"
            )
    advice = look_up(replace(request, protocols=protocols, methods=methods))[0]
    profiles = predict.profiles_of(frequencies_of(advice.request), request.n)
    best, metric = advice.best, advice.metric
    noise = predict.noises_of(request.k, request.epsilon, request.n, [best.protocol])[best.protocol]
    menu = dict.fromkeys(row.method for row in advice.recommendations)
    rows = []
    for near in cells.nearest(profiles, noise, count):
        best_of_method = near.best(metric, [best.method], 1)
        rows.append(
            CellRow(near, near.best(metric, menu, METHODS_SHOWN), best_of_method[0][1] if best_of_method else None)
        )
    return NearestCells(advice, tuple(rows))


def build(folder: str, workers: Workers, *, quick: bool, seed: int, progress: Progress = silent) -> model.Provenance:
    """Build the knowledge in a folder, going on where an earlier build there was stopped.

    Raises InputError if the backend is not installed, the folder holds another build, or cannot be written.
    """
    if find_spec("threadpoolctl") is None:
        raise InputError("building needs threadpoolctl: pip install 'ldp-advise[build]'")
    size = builder.QUICK if quick else builder.FULL
    try:
        return builder.build(Path(folder), size=size, workers=workers, seed=seed, progress=progress)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({reason(error)})") from None
    except (ValueError, ImportError, WorkersError) as error:
        raise InputError(str(error)) from None
