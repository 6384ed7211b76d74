"""Who wins where: every pair over a grid of ε, n and k, cell by cell, in parallel, and resumable."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from advisor.errors import InputError
from advisor.question.frequencies import Known, from_memory, from_shape
from advisor.question.request import (
    N_MAX,
    check_epsilon,
    check_settings,
    check_whole,
    fitting_methods,
    fitting_metrics,
    metric_assumptions,
    metric_settings,
)
from knowledge.store import Store
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, __version__
from simulator.benchmark import Experiment, simulate
from simulator.ranking import SAME, Pair, paired_ratio, win_shares

REPETITIONS = 20
MOST_CELLS = 10_000
DIGITS = 7

Progress = Callable[[int, int], None]
Place = tuple[float, int, int]


@dataclass(frozen=True)
class Winner:
    """The pair with the lowest mean error in a cell, of all pairs or of those of one protocol.

    Attributes
    ----------
    protocol, method
        The pair.
    error, standard_error
        Its mean error over the repetitions.
    win_share
        Share of the repetitions in which it has the lowest error of all that compete.
    margin, margin_low, margin_high
        By how much the error of the runner-up is above it, as a share, and the paired 95 % interval; None without a
        runner-up, or where the winner has no error at all.
    runner_up
        The pair with the second lowest mean error.
    """

    protocol: str
    method: str
    error: float
    standard_error: float
    win_share: float
    margin: float | None
    margin_low: float | None
    margin_high: float | None
    runner_up: Pair | None

    @property
    def sure(self) -> bool:
        """Whether the interval of the margin excludes 0, and be it the 0 of two errors that differ by rounding."""
        return self.margin_low is not None and self.margin_low > SAME


@dataclass(frozen=True)
class Cell:
    """One cell of a sweep: the winner of all, that of each protocol, and the mean error of every pair."""

    epsilon: float
    n: int
    k: int
    winner: Winner
    by_protocol: tuple[Winner, ...]
    errors: Mapping[Pair, float]

    @property
    def place(self) -> Place:
        """(epsilon, n, k)."""
        return self.epsilon, self.n, self.k


@dataclass(frozen=True)
class SweepQuestion:
    """What is swept over, and with what.

    Attributes
    ----------
    epsilons, users, sizes
        Values of ε, n and k.
    known
        The frequencies for each k.
    metric, protocols, methods, repetitions, seed, metric_options
        As everywhere.
    """

    epsilons: tuple[float, ...]
    users: tuple[int, ...]
    sizes: tuple[int, ...]
    known: tuple[Known, ...]
    metric: str
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    repetitions: int
    seed: int
    metric_options: Mapping[str, Any]

    @property
    def places(self) -> tuple[Place, ...]:
        """All cells, in the order of the output: by k, then ε, then n."""
        return tuple((epsilon, n, k) for k, epsilon, n in product(self.sizes, self.epsilons, self.users))

    @property
    def plan(self) -> dict[str, Any]:
        """What decides the numbers of a cell besides its place; cells of the same plan can be kept in one file."""
        digest = hashlib.blake2b(digest_size=16)
        if self.known[0].users is not None:
            digest.update(np.asarray(self.known[0].weights, dtype="<i8").tobytes())
        return {
            "sweep": 1,
            "version": __version__,
            "metric": self.metric,
            "protocols": list(self.protocols),
            "methods": list(self.methods),
            "repetitions": self.repetitions,
            "seed": self.seed,
            "frequencies": self.known[0].name if self.known[0].users is None else digest.hexdigest(),
            "ordered": self.known[0].ordered,
            "metric_options": {name: value for name, value in self.metric_options.items() if name != "top_values"},
        }


@dataclass(frozen=True)
class Sweep:
    """The cells of a sweep, in the order of `SweepQuestion.places`."""

    question: SweepQuestion
    cells: tuple[Cell, ...]

    def at(self, epsilon: float, n: int, k: int) -> Cell:
        """Return one cell.

        Raises
        ------
        KeyError
            If the sweep has no such cell.
        """
        for cell in self.cells:
            if cell.place == (epsilon, n, k):
                return cell
        raise KeyError((epsilon, n, k))


def sweep(
    *,
    epsilons: Sequence[float],
    users: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
    metric: str = "l1",
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    skew: float | None = None,
    shape: str | None = None,
    ordered: bool | None = None,
    protocol: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    repetitions: int = REPETITIONS,
    seed: int = 0,
    jobs: int = 1,
    resume: str | Path | None = None,
) -> Sweep:
    """Simulate every pair in every cell of a grid of ε, n and k, and say who wins where.

    Parameters
    ----------
    epsilons, users, sizes
        Values of ε, n and k. With a sample, n is the sample's and k what it shows, where they are left out.
    metric, sample, sample_counts, skew, shape, ordered, protocol, method, seed
        As in `advisor.advise`.
    repetitions
        Simulated collections for every cell and pair.
    jobs
        Processes; the numbers do not depend on it.
    resume
        File of finished cells: those in it are not simulated again, and new ones are appended as they finish.

    Raises
    ------
    InputError
        If a value is wrong, or the file holds the cells of another sweep.

    Examples
    --------
    >>> swept = sweep(epsilons=[1.0], users=[10_000], sizes=[8], protocol=["grr", "oue"], method="norm_sub")
    >>> swept.at(1.0, 10_000, 8).winner.method
    'norm_sub'
    """
    settings = check_sweep(
        epsilons=epsilons,
        users=users,
        sizes=sizes,
        metrics=[metric],
        protocols=[protocol] if isinstance(protocol, str) else list(protocol or []),
        methods=[method] if isinstance(method, str) else list(method or []),
        repetitions=repetitions,
        seed=seed,
    )
    if sample is None and sample_counts is None:
        question = question_from_shape(settings, skew=skew, shape=shape, ordered=ordered)
    else:
        sizes_given = settings["sizes"] or (None,)
        known = tuple(from_memory(sample, sample_counts, k=size, ordered=ordered) for size in sizes_given)
        question = question_from_sample(settings, known)
    return run_sweep(question, jobs=jobs, resume=resume)


def check_sweep(
    *, epsilons: Sequence[float], users: Sequence[float] | None, sizes: Sequence[float] | None, **settings: Any
) -> dict[str, Any]:
    """Return the settings of a sweep, checked before a sample is read.

    Raises
    ------
    InputError
        For the first that is wrong.
    """
    if not epsilons:
        raise InputError("--eps is missing: give one or more values of ε, for example --eps 0.5,1,2,4")
    if len(settings["metrics"]) > 1:
        raise InputError(f"sweep answers for one metric at a time, got {', '.join(settings['metrics'])}")
    checked = check_settings(epsilon=1.0, **settings)
    if checked["every_metric"]:
        raise InputError("metric must be one metric: make one sweep for each")
    checked["epsilons"] = tuple(dict.fromkeys(check_epsilon(value) for value in epsilons))
    checked["users"] = tuple(dict.fromkeys(check_whole("n", value, 1, N_MAX) for value in users or ()))
    checked["sizes"] = tuple(dict.fromkeys(check_whole("k", value, 2) for value in sizes or ()))
    cells = len(checked["epsilons"]) * max(1, len(checked["users"])) * max(1, len(checked["sizes"]))
    if cells > MOST_CELLS:
        raise InputError(f"a sweep has at most {MOST_CELLS:,} cells, got {cells:,}")
    return checked


def question_from_shape(
    settings: dict[str, Any], *, skew: float | None, shape: str | None, ordered: bool | None
) -> SweepQuestion:
    """Return the sweep of a shape.

    Raises
    ------
    InputError
        If n or k is missing, or the shape is wrong.
    """
    for name, option in (("users", "n"), ("sizes", "k")):
        if not settings[name]:
            raise InputError(f"{option} is missing: without a sample give --{option} with one or more values")
    known = tuple(
        from_shape(k, skew=skew, shape=shape, ordered=ordered, metrics=settings["metrics"], seed=settings["seed"])
        for k in settings["sizes"]
    )
    return _question(settings, settings["sizes"], known)


def question_from_sample(settings: dict[str, Any], known: tuple[Known, ...]) -> SweepQuestion:
    """Return the sweep of a sample: `known` holds its frequencies over each of the domains asked for."""
    if not settings["users"]:
        settings = settings | {"users": (int(known[0].users or 0),)}
    return _question(settings, tuple(one.k for one in known), known)


def _question(settings: dict[str, Any], sizes: tuple[int, ...], known: tuple[Known, ...]) -> SweepQuestion:
    assumed: list[str] = []
    metrics = fitting_metrics(settings, known[0].ordered, assumed)
    options = metric_settings(settings["metric_options"], sizes[0])
    return SweepQuestion(
        epsilons=settings["epsilons"],
        users=settings["users"],
        sizes=sizes,
        known=known,
        metric=metrics[0],
        protocols=settings["protocols"],
        methods=fitting_methods(settings, metrics, known[0].ordered),
        repetitions=settings["repetitions"],
        seed=settings["seed"],
        metric_options=options,
    )


def assumptions(question: SweepQuestion) -> list[str]:
    """Return what was decided for the user."""
    options = dict(question.metric_options)
    said = metric_assumptions((question.metric,), options) if question.metric != "topk" else []
    return [*question.known[0].assumptions, *said]


def run_sweep(
    question: SweepQuestion, *, jobs: int = 1, resume: str | Path | None = None, progress: Progress | None = None
) -> Sweep:
    """Simulate the cells that are not there yet.

    Raises
    ------
    InputError
        If no method fits a protocol, or the file holds the cells of another sweep or cannot be written.
    """
    try:
        store = None if resume is None else Store(Path(resume), question.plan)
        kept = {} if store is None else store.records()
    except ValueError:
        raise InputError(
            f"--resume {resume}: this file holds the cells of another sweep, or none: name another"
        ) from None
    except OSError as error:
        raise InputError(f"--resume {resume}: cannot be used ({error.strerror or error})") from None
    done = {place: cell_from(kept[number]) for place in question.places if (number := number_of(place)) in kept}
    missing = [place for place in question.places if place not in done]
    if progress is not None:
        progress(len(done), len(question.places))
    for record in _records(question, missing, jobs):
        if store is not None:
            store.add(record)
        cell = cell_from(record)
        done[cell.place] = cell
        if progress is not None:
            progress(len(done), len(question.places))
    return Sweep(question, tuple(done[place] for place in question.places))


def number_of(place: Place) -> int:
    """Return the number under which a cell is kept: a digest of its place, the same in every sweep.

    >>> number_of((1.0, 1000, 8)) == number_of((1.0, 1000, 8)), number_of((1.0, 1000, 8)) == number_of((2.0, 1000, 8))
    (True, False)
    """
    return int.from_bytes(hashlib.blake2b(repr(place).encode(), digest_size=6).digest(), "big")


def _records(question: SweepQuestion, missing: Sequence[Place], jobs: int) -> Iterator[dict[str, Any]]:
    # Large cells first, so that no worker is left alone with one at the end.
    by_size = sorted(missing, key=lambda place: -place[2])
    if jobs == 1 or len(missing) < 2:
        yield from (simulate_cell(question, place) for place in by_size)
        return
    from joblib import Parallel, delayed

    work = (delayed(simulate_cell)(question, place) for place in by_size)
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(work)


def simulate_cell(question: SweepQuestion, place: Place) -> dict[str, Any]:
    """Simulate one cell and return its record: JSON types only. What a worker runs."""
    epsilon, n, k = place
    oracles = {name: PROTOCOLS[name](k, epsilon) for name in question.protocols}
    pairs = tuple(
        (protocol, method)
        for protocol, method in product(question.protocols, question.methods)
        if (fits := POSTPROCESSORS[method].fits) is None or fits(oracles[protocol].noise(n), k)
    )
    if not pairs:
        raise InputError(f"no method asked for goes with the protocols asked for at ε = {epsilon:g}, k = {k}")
    options = dict(question.metric_options) | {
        "seed": question.seed,
        "top_values": metric_settings({}, k)["top_values"],
    }
    known = question.known[question.sizes.index(k)]
    experiment = Experiment(
        counts=known.counts(n),
        oracles=oracles,
        methods={name: POSTPROCESSORS[name] for name in question.methods},
        metrics={question.metric: METRICS[question.metric].with_options(**options)},
        pairs=pairs,
        seed=question.seed,
    )
    errors = simulate(experiment, 0, question.repetitions).of(question.metric)
    if not errors:
        raise InputError(f"no method asked for has an error in the metric {question.metric}")
    protocols = [name for name in question.protocols if any(pair[0] == name for pair in errors)]
    return {
        "index": number_of(place),
        "place": list(place),
        "winner": _winner(errors),
        "by_protocol": [
            _winner({pair: block for pair, block in errors.items() if pair[0] == name}) for name in protocols
        ],
        "errors": [[*pair, _rounded(float(block.mean()))] for pair, block in errors.items()],
    }


def _winner(errors: Mapping[Pair, Any]) -> dict[str, Any]:
    ranked = sorted(errors, key=lambda pair: float(errors[pair].mean()))
    best, block = ranked[0], errors[ranked[0]]
    record: dict[str, Any] = {
        "pair": list(best),
        "error": _rounded(float(block.mean())),
        "standard_error": _rounded(float(block.std(ddof=1)) / math.sqrt(len(block))),
        "win_share": _rounded(win_shares(errors)[best]),
        "runner_up": None,
        "margin": [None, None, None],
    }
    if len(ranked) > 1:
        ratio = paired_ratio(errors[ranked[1]], block)
        record["runner_up"] = list(ranked[1])
        record["margin"] = [None if math.isinf(value) else _rounded(value - 1) for value in ratio]
    return record


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def cell_from(record: Mapping[str, Any]) -> Cell:
    """Return a kept cell."""
    epsilon, n, k = record["place"]
    return Cell(
        epsilon=float(epsilon),
        n=int(n),
        k=int(k),
        winner=_winner_from(record["winner"]),
        by_protocol=tuple(_winner_from(one) for one in record["by_protocol"]),
        errors={(protocol, method): float(error) for protocol, method, error in record["errors"]},
    )


def _winner_from(record: Mapping[str, Any]) -> Winner:
    runner_up = record["runner_up"]
    margin, low, high = record["margin"]
    return Winner(
        protocol=record["pair"][0],
        method=record["pair"][1],
        error=record["error"],
        standard_error=record["standard_error"],
        win_share=record["win_share"],
        margin=margin,
        margin_low=low,
        margin_high=high,
        runner_up=None if runner_up is None else (runner_up[0], runner_up[1]),
    )
