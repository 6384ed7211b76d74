"""Who wins where: every pair over a grid of ε, n and k, cell by cell, in parallel, and resumable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.document.json import json_text
from advisor.document.page import fragment_html
from advisor.errors import InputError
from advisor.question.cleaning import Cleaning
from advisor.question.metric_settings import MetricSettings
from advisor.question.option import refuse
from advisor.question.sample import from_memory, refuse_both
from advisor.question.settings import Categories, Grid, Menu, Question, Shape, Simulation, names
from advisor.sweeps.document import sweep_document
from advisor.sweeps.question import Place, SweepQuestion, SweepSettings, build_question, shape_frequencies
from advisor.sweeps.records import CellFile
from advisor.sweeps.result import Cell, SweepResult, Winner
from knowledge.making.workers import in_processes
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, simulate
from simulator.domain import Domain
from simulator.foreign import REGISTERED
from simulator.methods import possible
from simulator.ranking import Cost, Pair, paired_ratio, preference, win_shares

DIGITS = 7

T = TypeVar("T")
Progress = Callable[[int, int], None]


class Sweep(SweepResult):
    """The cells of a sweep; its attributes are those of `advisor.sweeps.result.SweepResult`."""

    def to_json(self) -> str:
        """Return the sweep as one JSON object."""
        return json_text(sweep_document(self))

    def _repr_html_(self) -> str:
        return fragment_html(sweep_document(self))


def sweep(
    *,
    epsilons: float | Sequence[float],
    users: int | Sequence[int] | None = None,
    sizes: int | Sequence[int] | None = None,
    metric: str = "l1",
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    skew: float | None = None,
    shape: str | None = None,
    ordered: bool | None = None,
    protocol: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    repetitions: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    resume: str | Path | None = None,
    top_values: int | None = None,
    set_share: float | None = None,
    kl_mix: float | None = None,
    bins: int | None = None,
    bin_width: float | None = None,
    edges: Sequence[float] = (),
    clamp: bool = False,
    unit: str | None = None,
) -> Sweep:
    """Simulate every pair in every cell of a grid of ε, n and k, and say who wins where.

    Parameters
    ----------
    epsilons, users, sizes
        Values of ε, n and k. With a sample, n is the sample's and k what it shows, where they are left out.
    metric, sample, sample_counts, skew, shape, ordered, protocol, method, seed
        As in `advisor.advise`.
    top_values, set_share, kl_mix, bins, bin_width, edges, clamp, unit
        As in `advisor.advise`.
    repetitions
        Simulated collections for every cell and pair (20).
    jobs
        Processes; the numbers do not depend on it. Default: all cores for large sweeps.
    resume
        File of finished cells: those in it are not simulated again, and new ones are appended as they finish.

    Raises
    ------
    InputError
        If a value is wrong, or the file holds anything else than cells of this sweep.

    Examples
    --------
    >>> swept = sweep(epsilons=[1.0], users=[10_000], sizes=[8], protocol=["grr", "oue"], method="norm_sub")
    >>> swept.at(1.0, 10_000, 8).winner.method
    'norm_sub'
    """
    settings = SweepSettings(
        Grid(_values(epsilons), _values(users), _values(sizes)),
        Question(metric=names(metric)),
        MetricSettings(top_values, set_share, kl_mix),
        Menu(names(protocol), names(method)),
        Simulation(repetitions, seed=seed, jobs=jobs),
    )
    assumed = Shape(skew, shape)
    cleaning = Cleaning(bins=bins, bin_width=bin_width, edges=tuple(edges), clamp=clamp, unit=unit)
    has_sample = refuse_both(assumed, sample, sample_counts)
    settings.check(has_sample=has_sample, resumes=resume is not None)
    if not has_sample:
        refuse(cleaning.given(), "is for a sample, and none is given")
        frequencies = shape_frequencies(settings, assumed, ordered=ordered)
    else:
        values = sample if sample is None or hasattr(sample, "__len__") else list(sample)  # each k reads it anew
        domains = (Categories(k, ordered) for k in settings.grid.sizes or (None,))
        frequencies = tuple(from_memory(values, sample_counts, domain, cleaning) for domain in domains)
    return run_sweep(build_question(settings, frequencies), settings.simulation, resume=resume)


def _values(given: T | Iterable[T] | None) -> tuple[T, ...]:
    """Return one value or several as Python callers give them."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def run_sweep(
    question: SweepQuestion,
    simulation: Simulation,
    *,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Simulate the cells that are not there yet.

    Raises InputError if no method fits a protocol, or the file holds anything else than cells of this sweep or cannot
    be written.
    """
    file = None if resume is None else CellFile(Path(resume), question)
    done = {} if file is None else file.cells
    places = question.places
    missing = [place for place in places if place not in done]
    before = len(places) - len(missing)
    if progress is not None:
        progress(before, len(places))
    try:
        for number, cell in enumerate(_simulated(question, missing, simulation), start=1):
            if file is not None:
                try:
                    file.add(cell)
                except OSError as error:
                    problem = (error.strerror or str(error)).lower()
                    kept = f"{len(done)} of {len(places)} cells are kept"
                    raise InputError(f"--resume {resume}: {problem}; {kept}") from None
            done[cell.place] = cell
            if progress is not None:
                progress(before + number, len(places))
    except KeyboardInterrupt:
        kept = f"{len(done)} of {len(places)} cells are kept in {resume}; the same command goes on"
        raise KeyboardInterrupt(*([] if file is None else [kept])) from None
    return Sweep(question, tuple(done[place] for place in places))


def _simulated(question: SweepQuestion, missing: Sequence[Place], simulation: Simulation) -> Iterator[Cell]:
    """Yield the cells as they are simulated, the large ones first: no worker is left alone with one at the end."""
    by_size = sorted(missing, key=lambda place: -place[2])
    pairs = len(question.protocols) * len(question.methods)
    jobs = simulation.workers(pairs * question.repetitions * sum(k for _, _, k in missing))
    own = REGISTERED.keys() & {*question.protocols, *question.methods, question.metric}  # no other process has them
    if jobs == 1 or len(missing) < 2 or own:
        yield from (simulate_cell(question, place) for place in by_size)
        return
    # A worker is sent the frequencies of its cell alone.
    narrow = {k: replace(question, sizes=(k,), frequencies=(question.at(k),)) for k in question.sizes}
    yield from in_processes(simulate_cell, ((narrow[place[2]], place) for place in by_size), jobs)


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
    options = question.metric_settings.resolved(k).options(question.seed)
    experiment = Experiment(
        counts=frequencies.counts(n),
        oracles=oracles,
        methods={name: POSTPROCESSORS[name] for name in question.methods},
        metrics={question.metric: METRICS[question.metric].with_options(**options)},
        pairs=pairs,
        seed=question.seed,
        domain=domain,
    )
    errors = simulate(experiment, 0, question.repetitions).of(question.metric)
    if not errors:
        raise InputError(f"no method asked for has an error in the metric {question.metric}")
    costs = {name: oracle.cost for name, oracle in oracles.items()}
    protocols = [name for name in question.protocols if any(pair[0] == name for pair in errors)]
    return Cell(
        epsilon=epsilon,
        n=n,
        k=k,
        winner=_winner(errors, costs),
        by_protocol=tuple(
            _winner({pair: block for pair, block in errors.items() if pair[0] == name}, costs) for name in protocols
        ),
        errors={pair: _rounded(float(block.mean())) for pair, block in errors.items()},
    )


def _winner(errors: Mapping[Pair, NDArray[np.float64]], costs: Mapping[str, Cost]) -> Winner:
    lowest = min(errors, key=lambda pair: float(errors[pair].mean()))
    ratios = {pair: paired_ratio(block, errors[lowest]).value for pair, block in errors.items()}
    best = min(errors, key=lambda pair: preference(ratios[pair], costs[pair[0]]))
    block = errors[best]
    runner_up = min((pair for pair in errors if pair != best), key=ratios.__getitem__, default=None)
    margins: tuple[float | None, ...] = (None, None, None)
    if runner_up is not None:
        ratio = paired_ratio(errors[runner_up], block)
        margins = tuple(None if math.isinf(value) else _rounded(value - 1) for value in ratio)
    margin, low, high = margins
    return Winner(
        protocol=best[0],
        method=best[1],
        error=_rounded(float(block.mean())),
        standard_error=_rounded(float(block.std(ddof=1)) / math.sqrt(len(block))),
        win_share=_rounded(win_shares(errors)[best]),
        margin=margin,
        margin_low=low,
        margin_high=high,
        runner_up=runner_up,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
