"""Who wins where: every pair over a grid of ε, n and k, cell by cell, in parallel, and resumable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.document.model import Document, View
from advisor.document.shown import Shown
from advisor.document.text import plain_text
from advisor.errors import InputError, listed
from advisor.pictures import PICTURES, require_matplotlib
from advisor.pictures.sweep import curves_figure, winners_figure
from advisor.question.cleaning import Cleaning
from advisor.question.cluster import Cluster, refusals
from advisor.question.metric_settings import MetricSettings
from advisor.question.option import refuse
from advisor.question.sample import from_memory, refuse_both
from advisor.question.settings import (
    Categories,
    Grid,
    Menu,
    Named,
    Question,
    Shape,
    Simulation,
    alias,
    names,
)
from advisor.rank.files import python_target, written
from advisor.sweeps.document import answer_sentence, sweep_document
from advisor.sweeps.question import Place, SweepQuestion, SweepSettings, build_question, shape_frequencies
from advisor.sweeps.records import CellFile
from advisor.sweeps.result import Cell, PairError, SweepResult, Winner
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, simulate
from simulator.domain import Domain
from simulator.foreign import REGISTERED
from simulator.methods import possible
from simulator.ranking import Cost, Pair, paired_ratio, preference, win_shares, without_rounding

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

DIGITS = 7
ALONE = Cluster()

T = TypeVar("T")
Progress = Callable[[int, int], None]


class Sweep(SweepResult, Shown):
    """The cells of a sweep; its attributes are those of `advisor.sweeps.result.SweepResult`."""

    @property
    def summary(self) -> str:
        """Which pairs win in how many cells, and how many winners are certain."""
        return answer_sentence(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the error of every pair in every cell as a pandas data frame.

        Its columns are ``eps``, ``n``, ``k``, ``metric``, ``protocol``, ``method``, ``error``, ``standard_error``,
        ``win_share`` (of the repetitions), ``ratio_to_best`` with its paired 95 % interval ``ratio_low`` and
        ``ratio_high``, and ``best``: whether it is the winner of its cell.
        """
        import pandas as pd  # heavy

        return pd.DataFrame(
            {"eps": cell.epsilon, "n": cell.n, "k": cell.k, "metric": self.question.metric}
            | {"protocol": pair[0], "method": pair[1]}
            | figures._asdict()
            | {"best": pair == (cell.winner.protocol, cell.winner.method)}
            for cell in self.cells
            for pair, figures in cell.pairs.items()
        )

    def plot(self, path: str | Path | None = None, *, curves: bool = False, force: bool = False) -> Figure:
        """Draw a map of the winners; needs matplotlib (the extra ``plot``).

        Parameters
        ----------
        path
            A file to write besides: .png, .svg or .pdf.
        curves
            Draw the errors of the best methods against ε (or n, where there is one ε) instead.
        force
            Whether a file that exists may be replaced.

        Returns
        -------
        A `matplotlib.figure.Figure`, which notebooks show.

        Raises
        ------
        InputError
            If matplotlib is missing, or the file exists or cannot be written.
        """
        target = None if path is None else python_target("plot", path, PICTURES, force=force)
        require_matplotlib("plot")

        return written((curves_figure if curves else winners_figure)(self), target)

    def __str__(self) -> str:
        """Return who wins where, a table for each k."""
        return plain_text(self._document, View(quiet=True, options=False)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Sweep: {len(self.cells):,} cells, {self.question.metric}, frequencies of {self.question.first.name}>"

    @property
    def _document(self) -> Document:
        return sweep_document(self)


def sweep(
    *,
    eps: float | Sequence[float] | None = None,
    n: int | Sequence[int] | None = None,
    k: int | Sequence[int] | None = None,
    metric: Named = "l1",
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    skew: float | None = None,
    shape: str | None = None,
    ordered: bool | None = None,
    protocol: Named | Sequence[Named] | None = None,
    method: Named | Sequence[Named] | None = None,
    repetitions: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    resume: str | Path | None = None,
    top_values: int | None = None,
    set_share: float | None = None,
    kl_mix: float | None = None,
    bins: int | None = None,
    bin_width: float | None = None,
    edges: Sequence[float] = (),
    clamp: bool = False,
    unit: str | None = None,
    epsilons: float | Sequence[float] | None = None,
    users: int | Sequence[int] | None = None,
    sizes: int | Sequence[int] | None = None,
) -> Sweep:
    """Simulate every pair in every cell of a grid of ε, n and k, and say who wins where.

    Parameters
    ----------
    eps, n, k
        Values of ε, n and k; ``epsilons``, ``users`` and ``sizes`` are the same. With a sample, n is the sample's and k
        what it shows, where they are left out.
    metric, sample, sample_counts, skew, shape, ordered, protocol, method, seed
        As in `advisor.advise`.
    top_values, set_share, kl_mix, bins, bin_width, edges, clamp, unit
        As in `advisor.advise`.
    repetitions
        Simulated collections for every cell and pair (20).
    jobs
        Processes; the numbers do not depend on it. Default: all cores for large sweeps.
    backend, scheduler
        ``"loky"`` (processes), ``"threading"`` or ``"dask"``, and the address of a Dask scheduler; without one Dask
        makes a cluster on this machine.
    resume
        File of finished cells: those in it are not simulated again, and new ones are appended as they finish.

    Raises
    ------
    InputError
        If a value is wrong, or the file holds anything else than cells of this sweep.

    Examples
    --------
    >>> swept = sweep(eps=1, n=10_000, k=8, protocol=["grr", "oue"], method="norm_sub")
    >>> swept.at(1.0, 10_000, 8).winner.method
    'norm_sub'
    """
    settings = SweepSettings(
        Grid(
            epsilons=alias("eps", _values(eps), "epsilons", _values(epsilons)) or (),
            users=alias("n", _values(n), "users", _values(users)) or (),
            sizes=alias("k", _values(k), "sizes", _values(sizes)) or (),
        ),
        Question(metric=names(metric)),
        MetricSettings(top_values=top_values, set_share=set_share, kl_mix=kl_mix),
        Menu(protocol=names(protocol), method=names(method)),
        Simulation(repetitions=repetitions, seed=seed, jobs=jobs),
    )
    assumed = Shape(skew=skew, shape=shape)
    cleaning = Cleaning(bins=bins, bin_width=bin_width, edges=tuple(edges), clamp=clamp, unit=unit)
    has_sample = refuse_both(assumed, sample, sample_counts)
    settings.check(has_sample=has_sample, resumes=resume is not None)
    if not has_sample:
        refuse(cleaning.given(), "is for a sample, and none is given")
        frequencies = shape_frequencies(settings, assumed, ordered=ordered)
    else:
        values = sample if sample is None or hasattr(sample, "__len__") else list(sample)  # each k reads it anew
        domains = (Categories(k=size, ordered=ordered) for size in settings.grid.sizes or (None,))
        frequencies = tuple(from_memory(values, sample_counts, domain, cleaning) for domain in domains)
    cluster = (
        ALONE
        if backend is None and scheduler is None
        else Cluster(backend=backend or ALONE.backend, scheduler=scheduler)
    )
    return run_sweep(build_question(settings, frequencies), settings.simulation, cluster, resume=resume)


def _values(given: T | Iterable[T] | None) -> tuple[T, ...] | None:
    """Return one value or several as Python callers give them."""
    if given is None:
        return None
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def run_sweep(
    question: SweepQuestion,
    simulation: Simulation,
    cluster: Cluster = ALONE,
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
        with refusals():
            for number, cell in enumerate(_simulated(question, missing, simulation, cluster), start=1):
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


def _simulated(
    question: SweepQuestion, missing: Sequence[Place], simulation: Simulation, cluster: Cluster
) -> Iterator[Cell]:
    """Yield the cells as they are simulated, the large ones first: no worker is left alone with one at the end."""
    by_size = sorted(missing, key=lambda place: -place[2])
    pairs = len(question.protocols) * len(question.methods)
    jobs = simulation.workers(pairs * question.repetitions * sum(k for _, _, k in missing))
    own = REGISTERED.keys() & {*question.protocols, *question.methods, question.metric}  # no other process has them
    if own and cluster.is_dask:
        raise InputError(f"{listed(sorted(own))}: known to this process alone, so --backend dask cannot be used")
    if not cluster.is_dask and (jobs == 1 or len(missing) < 2 or own):
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
    ratio = (None if math.isinf(value) else _rounded(value) for value in paired_ratio(block, best))
    return PairError(_rounded(float(block.mean())), _standard_error(block), _rounded(win_share), *ratio)


def _standard_error(block: NDArray[np.float64]) -> float:
    return _rounded(float(block.std(ddof=1)) / math.sqrt(len(block)))


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
        standard_error=_standard_error(block),
        win_share=_rounded(win_shares(errors)[best]),
        margin=margin,
        margin_low=low,
        margin_high=high,
        runner_up=runner_up,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
