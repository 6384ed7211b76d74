"""Answers about the knowledge itself: what it covers, its rules, its regret, its simulated cells; as typed data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from advisor.errors import InputError, listed
from advisor.names import resolve
from advisor.rank.prediction import frequencies_of
from advisor.rank.result import Ranking
from knowledge import build as builder
from knowledge import cells, model, tree
from knowledge.judging import questions, scores
from knowledge.judging.holdout import Histogram, holdout
from knowledge.provenance import Provenance
from simulator import METRICS, PROTOCOLS
from simulator.ranking import PRACTICAL_RATIO

METHODS_SHOWN = 3  # of a simulated cell
WORK = "cells.jsonl"  # by which a build goes on
BUILD_FILES = (WORK, "cells.npz", "model.npz", "provenance.json", "tree.json")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class KnowledgeInfo:
    """What look-ups cover and how the model was made."""

    sentences: tuple[str, ...]  # the same for people
    provenance: Provenance  # as it is shipped


@dataclass(frozen=True)
class Rules:
    """The decision tree of a metric."""

    # metric, ordered: which tree
    metric: str
    ordered: bool
    text: str  # the rules as indented lines
    rules: tuple[tree.Rule, ...]  # one for each leaf: what must hold, and the methods with their mean extra error


@dataclass(frozen=True)
class Judgement:
    """The regret of look-ups on one set of histograms."""

    title: str
    settings: int
    scores: tuple[scores.Score, ...]


@dataclass(frozen=True)
class CellRow:
    """One simulated population near a question."""

    cell: int  # its number
    # shape, k, n, epsilon, protocol: what was simulated
    shape: str
    k: int
    n: int
    epsilon: float
    protocol: str
    noise_to_uniform: float  # k times the noise sd
    distance: float  # from the question in feature space: root mean square, in standard deviations of each feature
    best: tuple[tuple[str, float], ...]  # the methods with the lowest simulated errors, and these errors
    error: float | None  # simulated error of the method recommended, None where it was not simulated


@dataclass(frozen=True)
class NearestCells:
    """The simulated populations behind a look-up."""

    # metric, protocol, method, error: the metric, the recommended pair and its predicted error
    metric: str
    protocol: str
    method: str
    error: float
    cells: tuple[CellRow, ...]  # nearest first
    sentences: tuple[str, ...]  # what they say of the answer
    warnings: tuple[str, ...] = ()  # what the reader of the look-up should worry about


@dataclass(frozen=True)
class Built:
    """A finished build: its folder, simulated populations, and seconds."""

    folder: str
    populations: int
    seconds: int

    @property
    def sentence(self) -> str:
        """The same for people."""
        return f"Built in {self.folder}: {self.populations:,} populations in {self.seconds:,} seconds."


def info() -> KnowledgeInfo:
    """Return what look-ups cover and how the shipped model was made."""
    made = model.load().provenance
    covers, simulated = (
        "; ".join(f"{name.replace('_', '-')} {_plain(low)} to {_plain(high)}" for name, (low, high) in of.items())
        for of in (made.covers, made.simulated)
    )
    return KnowledgeInfo(
        (
            f"Look-ups are predicted by a model fitted to {made.populations:,} simulated populations.",
            f"On cells left out of the fit, the error of a method near the best was off by {100 * _deviation():.0f} % "
            "(standard deviation, median of methods and metrics).",
            f"Covers: {covers}.",
            f"Simulated: {made.cells:,} noise settings with 8 populations each, repetitions "
            f"{made.repetitions}; {simulated}.",
            f"Made by version {made.tool_version} on {made.finished}, seed {made.seed}, in "
            f"{made.seconds:,} seconds (of its last run, if it was resumed).",
            f"Shapes: {', '.join(made.shapes)}.",
            f"Methods: {', '.join(made.methods)}.",
            f"Metrics: {', '.join(made.metrics)}.",
        ),
        made,
    )


def _deviation() -> float:
    """Return the median standard deviation of predicted log errors on cells left out of the fit."""
    return float(np.median(model.load().spread))


def rules(metric: str, *, ordered: bool) -> Rules:
    """Return the decision tree of a metric.

    Raises InputError if the metric is unknown, has no tree, or needs an order.
    """
    key = resolve("metric", metric)
    try:
        return Rules(key, ordered, tree.rules(key, ordered=ordered), tree.leaves(key, ordered=ordered))
    except ValueError as error:
        raise InputError(str(error)) from None


def evaluate(
    histograms: Sequence[Histogram],
    *,
    repetitions: int,
    jobs: int,
    closer: bool = False,
    progress: Progress | None = None,
) -> tuple[Judgement, ...]:
    """Return the regret of look-ups: on shapes left out of training, and on the histograms given.

    histograms: of the user's files.
    repetitions: collections that are simulated for each question.
    jobs: processes; they change no number.
    closer: whether choices near the single best one are simulated on until they are told apart.
    progress: called with what is done and how much there is, of each part.
    """
    sets = (("Shapes left out of training", holdout()), ("Files", tuple(histograms)))
    judgements = []
    for title, chosen in sets:
        if chosen:
            settings = questions.settings(chosen, repetitions=repetitions, jobs=jobs, progress=progress)
            judged = scores.evaluate(settings, closer=closer, jobs=jobs, progress=progress)
            judgements.append(Judgement(title, len(settings), judged))
    return tuple(judgements)


def nearest_cells(advice: Ranking, count: int = 5) -> NearestCells:
    """Return the simulated populations that are nearest to a look-up, and what was best in them.

    advice: of a look-up.
    count: how many.

    Raises InputError if the advice was simulated, or has no recommendation.
    """
    if advice.source != "grid" or not advice.recommendations:
        raise InputError("knowledge cells needs a look-up that recommends a pair: leave the file out, or relax limits")
    request, best = advice.request, advice.best
    profiles = model.profiles_of(frequencies_of(request), request.n)
    noise = PROTOCOLS[best.protocol](request.k, request.epsilon).noise(request.n)
    methods = dict.fromkeys(row.method for row in advice.recommendations)
    rows = []
    for near in cells.nearest(profiles, noise, count):
        own = near.best(advice.metric, [best.method], 1)
        rows.append(
            CellRow(
                cell=near.index,
                shape=f"{near.family}:{near.parameter:.3g}",
                k=near.k,
                n=near.n,
                epsilon=near.epsilon,
                protocol=near.protocol,
                noise_to_uniform=near.noise_to_uniform,
                distance=near.distance,
                best=near.best(advice.metric, methods, METHODS_SHOWN),
                error=own[0][1] if own else None,
            )
        )
    return NearestCells(
        advice.metric,
        best.protocol,
        best.method,
        best.error,
        tuple(rows),
        _about_cells(advice, tuple(rows)),
        advice.warnings,
    )


def _about_cells(advice: Ranking, rows: tuple[CellRow, ...]) -> tuple[str, ...]:
    best = advice.best
    near = sum(row.error is not None and row.error <= PRACTICAL_RATIO * row.best[0][1] for row in rows)
    unit = METRICS[advice.metric].unit
    return (
        f"{best.method} was within 5 % of the best method in {near} of the {len(rows)} nearest simulated populations.",
        f"The answer itself is predicted by a model fitted to {model.load().populations:,} simulated populations: "
        f"{best.protocol} with {best.method}, {advice.metric} error {best.error:.3g} ({unit}).",
        "Each row has its own k, n and noise, so its errors are not those of the answer.",
    )


def check_folder(option: str, folder: str, *, force: bool) -> None:
    """Refuse a folder that holds files which are not those of a build; one that was started goes on.

    Raises InputError if it does, unless `force` is given, or if this is no folder.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise InputError(f"{option} {folder}: this is a file, the name of a folder is needed")
    inside = sorted(one.name for one in path.iterdir()) if path.is_dir() else []
    others = [name for name in inside if WORK not in inside or name not in BUILD_FILES]
    if others and not force:
        raise InputError(
            f"{option} {folder}: the folder holds other files ({listed(others, most=3)}); give --force to build there "
            "nevertheless, or name another folder"
        )


def build(
    folder: str,
    *,
    jobs: int,
    backend: str,
    scheduler: str | None,
    quick: bool,
    seed: int,
    progress: Progress | None = None,
) -> Built:
    """Build the knowledge in a folder, going on where an earlier build there was stopped.

    Raises InputError if the backend is not installed, the folder holds another build, or cannot be written.
    """
    if find_spec("sklearn") is None:
        raise InputError("building needs scikit-learn: pip install 'ldp-advise[build]'")
    try:
        made = builder.build(
            Path(folder),
            size=builder.QUICK if quick else builder.FULL,
            jobs=jobs,
            backend=backend,
            scheduler=scheduler,
            seed=seed,
            progress=progress,
        )
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror or error})") from None
    except (ValueError, ImportError) as error:
        raise InputError(str(error)) from None
    return Built(folder, made.populations, made.seconds)


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
