"""Winners over a grid of ε, n and k: all pairs, cell by cell, in parallel, and resumable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from advisor.answers.sweep.records import CellFile, Errors
from advisor.answers.sweep.result import Cell, PairError, SweepResult, Winner
from advisor.errors import InputError, listed
from advisor.figures import rounded
from advisor.question.cluster import Cluster, refusals
from advisor.question.settings import Simulation
from advisor.question.sweep import Place, SweepQuestion
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment
from simulator.domain import Domain
from simulator.foreign import REGISTERED
from simulator.methods import possible
from simulator.progress import Progress, silent
from simulator.protocols.oracle import variances_of
from simulator.race import race
from simulator.ranking import Cost, Pair, leading, mean_error, paired_ratio, preferred, win_shares, without_rounding

DIGITS = 7


def run_sweep(
    question: SweepQuestion,
    simulation: Simulation,
    cluster: Cluster,
    *,
    resume: str | Path | None = None,
    progress: Progress = silent,
) -> SweepResult:
    """Simulate the cells that are not there yet.

    Raises InputError if no method fits a protocol, or the file holds anything else than cells of this sweep or cannot
    be written.
    """
    file = None if resume is None else CellFile(Path(resume), question)
    places, kept = question.places, {} if file is None else file.errors
    done = {place: cells_of(question, place, kept[place]) for place in places if place in kept}
    missing = [place for place in places if place not in done]
    before = len(places) - len(missing)
    progress("cells", before, len(places))
    try:
        with refusals():
            for number, cells in enumerate(_simulated(question, missing, simulation, cluster), start=before + 1):
                if file is not None:
                    try:
                        file.add(cells)
                    except OSError as error:
                        problem = (error.strerror or str(error)).lower()
                        progress_kept = f"{len(done)} of {len(places)} cells are kept"
                        raise InputError(f"--resume {resume}: {problem}; {progress_kept}") from None
                done[cells[0].place] = cells
                progress(f"cell {number} of {len(places)}", number, len(places))
    except KeyboardInterrupt:
        progress_kept = f"{len(done)} of {len(places)} cells are kept in {resume}; the same command goes on"
        raise KeyboardInterrupt(*([] if file is None else [progress_kept])) from None
    return SweepResult(question, tuple(cell for place in places for cell in done[place]))


def _simulated(
    question: SweepQuestion, missing: Sequence[Place], simulation: Simulation, cluster: Cluster
) -> Iterator[tuple[Cell, ...]]:
    """Yield the cells of each place, the large ones first: no worker is left alone with one at the end."""
    by_size = sorted(missing, key=lambda place: -place[2])
    pairs = len(question.protocols) * len(question.methods)
    jobs = simulation.workers(pairs * question.max_repetitions * sum(k for _, _, k in missing))
    # No other process has them.
    registered = REGISTERED.keys() & {*question.protocols, *question.methods, *question.metrics}
    if registered and cluster.is_dask:
        raise InputError(f"{listed(sorted(registered))}: known to this process alone, so --backend dask cannot be used")
    if not cluster.is_dask and (jobs == 1 or len(missing) < 2 or registered):
        yield from (simulate_cells(question, place) for place in by_size)
        return
    # A worker is sent the frequencies of its cell alone.
    narrow = {k: replace(question, sizes=(k,), frequencies=(question.at(k),)) for k in question.sizes}
    workers = cluster.workers(simulation.jobs if cluster.is_dask else jobs)
    yield from workers.results(simulate_cells, ((narrow[place[2]], place) for place in by_size))


def simulate_cells(question: SweepQuestion, place: Place) -> tuple[Cell, ...]:
    """Simulate the cells of a place, one for each metric: what a worker runs.

    Raises InputError if no method fits a protocol, or none has an error in a metric.
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
        metrics={name: METRICS[name].with_options(**options) for name in question.metrics},
        pairs=pairs,
        seed=question.seed,
        domain=domain,
    )
    first, most = question.repetitions, question.max_repetitions
    runs = race(experiment, question.metrics, repetitions=first, max_repetitions=most)
    return cells_of(question, place, {name: runs.of(name) for name in question.metrics})


def cells_of(question: SweepQuestion, place: Place, errors: Mapping[str, Errors]) -> tuple[Cell, ...]:
    """Return the cells of a place from the errors of the repetitions by metric.

    Raises InputError if no method has an error in a metric.
    """
    return tuple(_cell(question, place, metric, errors[metric]) for metric in question.metrics)


def _cell(question: SweepQuestion, place: Place, metric: str, runs: Errors) -> Cell:
    epsilon, n, k = place
    errors = {pair: without_rounding(np.asarray(block), METRICS[metric].unit) for pair, block in runs.items()}
    if not errors:
        raise InputError(f"no method asked for has an error in the metric {metric}")
    protocols = [name for name in question.protocols if any(pair[0] == name for pair in errors)]
    costs = {name: PROTOCOLS[name](k, epsilon).cost for name in protocols}
    lowest, shares = errors[leading(errors)], win_shares(errors)
    variances = variances_of({name: PROTOCOLS[name](k, epsilon) for name in protocols}, n)
    winner = _winner(errors, costs, variances, lowest)
    best = errors[winner.protocol, winner.method]
    ratios = {pair: paired_ratio(block, best).figures for pair, block in errors.items()}
    by_protocol = ({pair: block for pair, block in errors.items() if pair[0] == name} for name in protocols)
    return Cell(
        epsilon=epsilon,
        n=n,
        k=k,
        metric=metric,
        winner=winner,
        by_protocol=tuple(_winner(own, costs, variances, lowest) for own in by_protocol),
        pairs={
            pair: PairError(*_mean(block, lowest), rounded(shares[pair], DIGITS), *map(_rounded_or_none, ratios[pair]))
            for pair, block in errors.items()
        },
        runs={pair: tuple(block.tolist()) for pair, block in errors.items()},
    )


def _mean(block: NDArray[np.float64], lowest: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean error and its standard error; a pair that was out early has fewer repetitions than the lowest."""
    mean = mean_error(block, lowest)
    return rounded(mean.error, DIGITS), rounded(mean.standard_error, DIGITS)


def _winner(
    errors: Mapping[Pair, NDArray[np.float64]],
    costs: Mapping[str, Cost],
    variances: Mapping[str, float],
    lowest: NDArray[np.float64],
) -> Winner:
    leader = errors[leading(errors)]
    ratios = {pair: paired_ratio(block, leader) for pair, block in errors.items()}
    best = preferred(ratios, costs, variances)
    block = errors[best]
    error, standard_error = _mean(block, lowest)
    runner_up = min((pair for pair in errors if pair != best), key=lambda pair: ratios[pair].value, default=None)
    margins: tuple[float | None, ...] = (None, None, None)
    if runner_up is not None:
        ratio = paired_ratio(errors[runner_up], block).figures
        margins = tuple(_rounded_or_none(None if value is None else value - 1) for value in ratio)
    margin, low, high = margins
    return Winner(
        protocol=best[0],
        method=best[1],
        error=error,
        standard_error=standard_error,
        win_share=rounded(win_shares(errors)[best], DIGITS),
        margin=margin,
        margin_low=low,
        margin_high=high,
        runner_up=runner_up,
    )


def _rounded_or_none(value: float | None) -> float | None:
    return None if value is None else rounded(value, DIGITS)
