"""Winners over a grid of ε, n and k: all pairs, cell by cell, in parallel, and resumable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from advisor.answers.sweep.records import CellFile
from advisor.answers.sweep.result import Cell, PairError, SweepResult, Winner
from advisor.errors import InputError, listed
from advisor.question.cluster import Cluster, refusals
from advisor.question.settings import Simulation
from advisor.question.sweep import Place, SweepQuestion
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, simulate
from simulator.domain import Domain
from simulator.foreign import REGISTERED
from simulator.methods import possible
from simulator.progress import Progress, silent
from simulator.ranking import Cost, Pair, mean_error, paired_ratio, preference, win_shares, without_rounding

DIGITS = 7
ALONE = Cluster()


def run_sweep(
    question: SweepQuestion,
    simulation: Simulation,
    cluster: Cluster = ALONE,
    *,
    resume: str | Path | None = None,
    progress: Progress = silent,
) -> SweepResult:
    """Simulate the cells that are not there yet.

    Raises InputError if no method fits a protocol, or the file holds anything else than cells of this sweep or cannot
    be written.
    """
    file = None if resume is None else CellFile(Path(resume), question)
    done = {} if file is None else file.cells
    places = question.places
    missing = [place for place in places if place not in done]
    before = len(places) - len(missing)
    progress("cells", before, len(places))
    try:
        with refusals():
            for number, cell in enumerate(_simulated(question, missing, simulation, cluster), start=before + 1):
                if file is not None:
                    try:
                        file.add(cell)
                    except OSError as error:
                        problem = (error.strerror or str(error)).lower()
                        progress_kept = f"{len(done)} of {len(places)} cells are kept"
                        raise InputError(f"--resume {resume}: {problem}; {progress_kept}") from None
                done[cell.place] = cell
                progress(f"cell {number} of {len(places)}", number, len(places))
    except KeyboardInterrupt:
        progress_kept = f"{len(done)} of {len(places)} cells are kept in {resume}; the same command goes on"
        raise KeyboardInterrupt(*([] if file is None else [progress_kept])) from None
    return SweepResult(question, tuple(done[place] for place in places))


def _simulated(
    question: SweepQuestion, missing: Sequence[Place], simulation: Simulation, cluster: Cluster
) -> Iterator[Cell]:
    """Yield the cells as they are simulated, the large ones first: no worker is left alone with one at the end."""
    by_size = sorted(missing, key=lambda place: -place[2])
    pairs = len(question.protocols) * len(question.methods)
    jobs = simulation.workers(pairs * question.repetitions * sum(k for _, _, k in missing))
    registered = REGISTERED.keys() & {
        *question.protocols,
        *question.methods,
        question.metric,
    }  # no other process has them
    if registered and cluster.is_dask:
        raise InputError(f"{listed(sorted(registered))}: known to this process alone, so --backend dask cannot be used")
    if not cluster.is_dask and (jobs == 1 or len(missing) < 2 or registered):
        yield from (simulate_cell(question, place) for place in by_size)
        return
    # A worker is sent the frequencies of its cell alone.
    narrow = {k: replace(question, sizes=(k,), frequencies=(question.at(k),)) for k in question.sizes}
    workers = cluster.workers(simulation.jobs if cluster.is_dask else jobs)
    yield from workers.results(simulate_cell, ((narrow[place[2]], place) for place in by_size))


def simulate_cell(question: SweepQuestion, place: Place) -> Cell:
    """Simulate one cell: what a worker runs. Figures are rounded, so that a file keeps them as they are.

    Raises InputError if no method fits a protocol, or none has an error in the metric.
    """
    epsilon, n, k = place
    frequencies = question.at(k)
    domain = Domain(frequencies.ordered)
    oracles = {name: PROTOCOLS[name](k, epsilon) for name in question.protocols}
    pairs = tuple(
        (protocol, method)
        for protocol, method in product(question.protocols, question.methods)
        if possible(POSTPROCESSORS[method], oracles[protocol], domain, n)
    )
    if not pairs:
        raise InputError(f"no method asked for goes with the protocols asked for at ε = {epsilon:g}, k = {k}")
    options = question.metric_settings.resolved(k, question.at(k).labels).options(question.seed)
    experiment = Experiment(
        counts=frequencies.counts(n),
        oracles=oracles,
        methods={name: POSTPROCESSORS[name] for name in question.methods},
        metrics={question.metric: METRICS[question.metric].with_options(**options)},
        pairs=pairs,
        seed=question.seed,
        domain=domain,
    )
    runs = simulate(experiment, 0, question.repetitions).of(question.metric)
    errors = {pair: without_rounding(block, METRICS[question.metric].unit) for pair, block in runs.items()}
    if not errors:
        raise InputError(f"no method asked for has an error in the metric {question.metric}")
    costs = {name: oracle.cost for name, oracle in oracles.items()}
    protocols = [name for name in question.protocols if any(pair[0] == name for pair in errors)]
    winner, shares = _winner(errors, costs), win_shares(errors)
    best = errors[winner.protocol, winner.method]
    return Cell(
        epsilon=epsilon,
        n=n,
        k=k,
        winner=winner,
        by_protocol=tuple(
            _winner({pair: block for pair, block in errors.items() if pair[0] == name}, costs) for name in protocols
        ),
        pairs={pair: _pair_error(block, best, shares[pair]) for pair, block in errors.items()},
    )


def _pair_error(block: NDArray[np.float64], best: NDArray[np.float64], win_share: float) -> PairError:
    ratio = (None if value is None else _rounded(value) for value in paired_ratio(block, best).figures)
    return PairError(_rounded(float(block.mean())), _standard_error(block), _rounded(win_share), *ratio)


def _standard_error(block: NDArray[np.float64]) -> float:
    return _rounded(mean_error(block).standard_error)


def _winner(errors: Mapping[Pair, NDArray[np.float64]], costs: Mapping[str, Cost]) -> Winner:
    lowest = min(errors, key=lambda pair: float(errors[pair].mean()))
    ratios = {pair: paired_ratio(block, errors[lowest]).value for pair, block in errors.items()}
    best = min(errors, key=lambda pair: preference(ratios[pair], costs[pair[0]]))
    block = errors[best]
    runner_up = min((pair for pair in errors if pair != best), key=ratios.__getitem__, default=None)
    margins: tuple[float | None, ...] = (None, None, None)
    if runner_up is not None:
        ratio = paired_ratio(errors[runner_up], block).figures
        margins = tuple(None if value is None else _rounded(value - 1) for value in ratio)
    margin, low, high = margins
    return Winner(
        protocol=best[0],
        method=best[1],
        error=_rounded(float(block.mean())),
        standard_error=_standard_error(block),
        win_share=_rounded(win_shares(errors)[best]),
        margin=margin,
        margin_low=low,
        margin_high=high,
        runner_up=runner_up,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
