"""Population x protocols x methods x metrics x repetitions: paired simulation, in blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray
from simulator._version import __version__
from simulator.domain import UNORDERED, Domain
from simulator.foreign import FAILURES, REGISTERED, SOURCES, ForeignError, attempt, fault_of_figures
from simulator.methods import Observed, PostProcessor, observe
from simulator.metrics import Metric
from simulator.poisoning import Attack, stacked
from simulator.progress import Steps, in_threads
from simulator.protocols.functions import check_most
from simulator.protocols.protocol import Protocol, Tally
from simulator.ranking import Pair
from simulator.seeding import rng_for

CHUNK_CELLS = 2_000_000  # repetitions x categories per task: bounds memory, does not change results


@dataclass(frozen=True)
class Experiment:
    """An experiment: all settings that determine the results, and no others.

    Attributes
    ----------
    counts
        ``(k,)`` users who hold each value; their frequencies are the truth. Or ``(populations, k)``, if the truth is
        not known: repetition r simulates population ``r mod populations``; all have the same number of users.
    oracles, methods, metrics
        The menu by name: protocols of any family, methods, metrics. Each method sees the same collections, repetition
        by repetition.
    pairs
        The (protocol, method) pairs to simulate.
    seed
        The user's seed.
    domain
        Order and layout of the categories, as methods see it. A metric with a ground distance has it among its options.
    attack
        Attack by a share of the users, if any. The truth stays that of the counts.

    Raises
    ------
    ValueError
        If there are no users, no pairs, an oracle's domain size is not that of the counts, or a metric that a caller
        brought breaks its contract, or a slow protocol is for fewer users (both ForeignError).
    """

    counts: IntArray
    oracles: Mapping[str, Protocol]
    methods: Mapping[str, PostProcessor]
    metrics: Mapping[str, Metric]
    pairs: tuple[Pair, ...]
    seed: int = 0
    domain: Domain = UNORDERED
    attack: Attack | None = None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"counts must hold at least 1 user, got {self.n}")
        if self.counts.ndim not in (1, 2) or len(np.unique(self.populations.sum(axis=1))) > 1:
            raise ValueError(f"counts must be (k,) or (populations, k) of equal sums, got shape {self.counts.shape}")
        if not self.pairs:
            raise ValueError("an experiment needs at least one (protocol, method) pair, got none")
        for name, oracle in self.oracles.items():
            check_most(oracle, self.n)
            if oracle.k != self.counts.shape[-1]:
                raise ValueError(f"protocol {name} is for k={oracle.k}, the counts have k={self.counts.shape[-1]}")
        if own := REGISTERED.keys() & self.metrics.keys():
            from simulator.registration import check_own_metric  # heavy: its checks

            for name in own:
                check_own_metric(self.metrics[name], self.counts.shape[-1])

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.populations[0].sum())

    @property
    def populations(self) -> IntArray:
        """Counts ``(populations, k)``."""
        return np.atleast_2d(self.counts)

    @property
    def truth(self) -> FloatArray:
        """True frequencies ``(k,)``, the mean of all populations."""
        return self.counts / self.n if self.counts.ndim == 1 else self.counts.mean(axis=0) / self.n

    @cached_property
    def id(self) -> str:
        """Digest of all that decides the error of a repetition: population, menu, settings, seed and version."""
        parts = [
            __version__,
            repr(self.counts.shape) if self.counts.ndim == 2 else "",
            self.counts.astype("<i8").tobytes().hex(),
            repr(sorted(self.oracles.items())),
            repr(sorted(self.methods)),
            repr(sorted((name, sorted(metric.options.items())) for name, metric in self.metrics.items())),
            repr(self.seed),
            *([] if self.domain.ground is None else [repr(self.domain.ground)]),
            *([] if self.attack is None else [repr(self.attack), repr(self.domain.attackers)]),
        ]
        return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Runs:
    """Errors of consecutive repetitions; blocks of an experiment add up."""

    experiment_id: str  # `Experiment.id` of the simulation
    metrics: tuple[str, ...]  # names of the columns of `errors`
    first: int  # number of the first repetition in the block
    # For each pair ``(repetitions, metrics)`` errors; NaN where a metric does not apply to the method
    errors: Mapping[Pair, FloatArray]

    def of(self, metric: str) -> dict[Pair, FloatArray]:
        """Return ``(repetitions,)`` errors in a metric for each pair it applies to."""
        columns = {pair: self.column(pair, metric) for pair in self.errors}
        return {pair: errors for pair, errors in columns.items() if not np.isnan(errors).any()}

    def metrics_of(self, metrics: Iterable[str], pairs: Container[Pair]) -> tuple[str, ...]:
        """Return the metrics that some of the pairs have errors of.

        Raises ForeignError if there are none: then members of other packages failed that nothing goes without.
        """
        left = tuple(name for name in metrics if any(pair in pairs for pair in self.of(name)))
        if not left:
            failed = "; ".join(FAILURES.values())
            raise ForeignError(f"all that was asked for has failed; ask for other members of the tables: {failed}")
        return left

    def column(self, pair: Pair, metric: str) -> FloatArray:
        """Return ``(repetitions,)`` errors of a pair in a metric; NaN where the metric does not apply to it."""
        return self.errors[pair][:, self.metrics.index(metric)]

    @property
    def repetitions(self) -> int:
        """Most repetitions that any pair has."""
        return max(len(block) for block in self.errors.values())

    def __add__(self, later: Runs) -> Runs:
        """Append the repetitions that follow; pairs that `later` omits stay unchanged."""
        if (self.experiment_id, self.metrics) != (later.experiment_id, later.metrics):
            raise ValueError("only blocks of one experiment can be added")
        errors = dict(self.errors)
        for pair, block in later.errors.items():
            if self.first + len(errors[pair]) != later.first:
                raise ValueError(
                    f"repetitions of {pair} end before {self.first + len(errors[pair])}, not {later.first}"
                )
            errors[pair] = np.concatenate([errors[pair], block])
        return Runs(self.experiment_id, self.metrics, self.first, errors)


def simulate(
    experiment: Experiment,
    first: int,
    repetitions: int,
    *,
    pairs: Iterable[Pair] | None = None,
    jobs: int = 1,
    progress: Steps | None = None,
) -> Runs:
    """Simulate repetitions ``first .. first + repetitions - 1`` of some or all pairs of an experiment.

    Each repetition of a protocol draws from a separate random stream, so `jobs` and the block size do not change the
    results.

    Parameters
    ----------
    experiment
        The experiment to simulate.
    first, repetitions
        Which repetitions.
    pairs
        A subset of the experiment's pairs; None for all.
    jobs
        Number of threads.
    progress
        Called with (repetitions done, repetitions in all), those of each pair.
    """
    methods_of: dict[str, list[str]] = {}
    for protocol, method in experiment.pairs if pairs is None else pairs:
        methods_of.setdefault(protocol, []).append(method)
    step = max(1, min(CHUNK_CELLS // experiment.counts.shape[-1], -(-repetitions // jobs)))
    tasks = [
        (protocol, range(start, min(start + step, first + repetitions)))
        for start in range(first, first + repetitions, step)
        for protocol in methods_of
    ]
    blocks: dict[Pair, list[FloatArray]] = {(p, m): [] for p, methods in methods_of.items() for m in methods}
    done, total = 0, repetitions * len(blocks)

    def work(protocol: str, chunk: range) -> dict[Pair, FloatArray]:
        return _simulate_protocol(experiment, protocol, methods_of[protocol], chunk)

    for (_, chunk), errors in zip(tasks, in_threads(work, tasks, jobs), strict=True):
        for pair, block in errors.items():
            blocks[pair].append(block)
        done += len(chunk) * len(errors)
        if progress is not None:
            progress(done, total)
    merged = {pair: np.concatenate(parts) for pair, parts in blocks.items()}
    return Runs(experiment.id, tuple(experiment.metrics), first, merged)


def deviations(experiment: Experiment, pair: Pair, repetitions: range) -> FloatArray:
    """Return estimates less true frequencies ``(repetitions, k)`` of a pair, in collections that `simulate` draws."""
    shown = np.arange(repetitions.start, repetitions.stop) % len(experiment.populations)
    observed = _observe(experiment, pair[0], [pair[1]], repetitions, shown)
    return experiment.methods[pair[1]].apply(observed) - experiment.populations[shown] / experiment.n


def _simulate_protocol(
    experiment: Experiment, name: str, methods: list[str], repetitions: range
) -> dict[Pair, FloatArray]:
    """Return the errors of a protocol's pairs; NaN where a member of another package fails."""
    shown = np.arange(repetitions.start, repetitions.stop) % len(experiment.populations)
    observed = attempt(name, lambda: _observe(experiment, name, methods, repetitions, shown), _fault_of_observed)
    pairs = {(name, method): experiment.methods[method] for method in methods}
    if observed is None:
        return {pair: np.full((len(shown), len(experiment.metrics)), np.nan) for pair in pairs}
    shape = (len(shown), experiment.counts.shape[-1])
    return {pair: _errors_of(experiment, pair, method, observed, shown, shape) for pair, method in pairs.items()}


def _observe(
    experiment: Experiment, name: str, methods: list[str], repetitions: range, shown: NDArray[np.int64]
) -> Observed:
    protocol, populations = experiment.oracles[name], experiment.populations
    # The method is not part of the address: all methods of a protocol see the same noise. So do protocols with the same
    # channel: otherwise chance would rank one far below the other.
    channel = protocol.same_as or name
    streams = (rng_for(experiment.seed, "collect", channel, repetition) for repetition in repetitions)
    needs = frozenset[str]().union(*(experiment.methods[method].needs for method in methods))
    if experiment.attack is None:
        tallies = [protocol.sample_tally(populations[place], rng) for place, rng in zip(shown, streams, strict=True)]
        observed = observe(protocol, Tally.stack(tallies), experiment.domain, needs=needs)
    else:
        fakes = (rng_for(experiment.seed, "attack", experiment.attack.kind, name, each) for each in repetitions)
        rows = zip(populations[shown], streams, fakes, strict=True)
        both = stacked([experiment.attack.collect(protocol, *row) for row in rows])
        observed = observe(protocol, both.tally, experiment.domain, needs=needs, suspects=both.suspects)
    if observed.estimate is not None:
        observed.estimate.flags.writeable = False  # the next method sees it too
    return observed


def _fault_of_observed(observed: Observed) -> str | None:
    """Return what is wrong with a collection."""
    tally, estimate = observed.tally, observed.estimate
    if tally is None or estimate is None:
        return None
    if (tally.counts < 0).any() and tally.counts.dtype.kind == "i":
        return "it counts fewer than no reports"
    return fault_of_figures(estimate, (len(tally.counts), estimate.shape[-1]))


def judged(experiment: Experiment, protocol: str, observed: Observed, methods: Mapping[str, PostProcessor]) -> Runs:
    """Return the errors of methods on a collection, a row for each population that may have produced it.

    Nothing is simulated: the errors are computed against the populations.

    experiment: its populations are draws of the possible truth; NaN where a member of another package fails.
    protocol: the key of the protocol used.
    observed: the collection ``(k,)``.
    """
    draws, k = experiment.populations.shape
    if observed.estimate is not None:
        estimate = observed.estimate.view()
        estimate.flags.writeable = False  # the next method sees it too
        observed = replace(observed, estimate=estimate)
    pairs = {(protocol, name): method for name, method in methods.items()}
    errors = {
        pair: _errors_of(experiment, pair, method, observed, np.arange(draws), (k,)) for pair, method in pairs.items()
    }
    return Runs(experiment.id, tuple(experiment.metrics), 0, errors)


def _errors_of(
    experiment: Experiment,
    pair: Pair,
    method: PostProcessor,
    observed: Observed,
    shown: NDArray[np.int64],
    shape: tuple[int, ...],
) -> FloatArray:
    """Return the errors ``(repetitions, metrics)`` of a method; NaN where a member of another package fails.

    observed: a collection of each population that was shown, or one that each of them may have produced.
    shape: that the result of the method has.
    """
    errors = np.full((len(shown), len(experiment.metrics)), np.nan)
    at_fault = pair[1] if pair[1] in SOURCES else pair[0]  # also where a metric of ours cannot measure the estimates
    result = attempt(at_fault, partial(method.apply, observed), partial(fault_of_figures, shape=shape))
    if result is None:
        return errors
    processed = np.broadcast_to(result, (len(shown), shape[-1]))
    truths = experiment.populations / experiment.n
    each = [(shown == place, truths[place]) for place in np.unique(shown).tolist()]
    together = [(np.ones(len(shown), dtype=np.bool_), truths[shown])]
    for column, (name, metric) in enumerate(experiment.metrics.items()):
        if method.queries_only and metric.clipped is None:
            continue  # it does not apply
        measure = partial(_error, metric, method)
        member = name if name in SOURCES else at_fault
        by_rows = metric.by_rows and not method.queries_only and member not in SOURCES
        for rows, truth in together if by_rows else each:
            estimates = processed[rows]
            measured = attempt(
                member,
                partial(measure, estimates, truth),
                partial(_fault_of_errors, name in SOURCES, len(estimates), partial(measure, estimates[:1], truth)),
            )
            if measured is not None:
                errors[rows, column] = measured
    return errors


def _fault_of_errors(own: bool, estimates: int, first: Callable[[], FloatArray], errors: FloatArray) -> str | None:
    """Return what is wrong with the errors of several estimates, or with that of the first only.

    own: whether the metric is a caller's; ours are below 0 only where they are no errors (`simulator.gains`).
    """
    fault = fault_of_figures(errors, (estimates,))
    if fault is None and estimates > 1:
        fault = fault_of_figures(first(), (1,))
    return f"errors: {fault}" if fault else "it returns errors below 0" if own and (errors < 0).any() else None


def _error(metric: Metric, method: PostProcessor, processed: FloatArray, truth: FloatArray) -> FloatArray:
    errors = metric.clipped_error(processed, truth) if method.queries_only else metric(processed, truth)
    return np.where(np.isnan(errors), np.inf, errors)
