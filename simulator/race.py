"""Simulation until the top of a ranking is resolved."""

from __future__ import annotations

from collections.abc import Iterable

from simulator._types import FloatArray
from simulator.benchmark import Experiment, Runs, simulate
from simulator.progress import Progress, silent, within
from simulator.ranking import Pair, contenders, mean_error

PRECISION = 0.02  # half-width of an interval over the mean


def race(
    experiment: Experiment,
    metrics: Iterable[str],
    *,
    menu: Iterable[Pair] | None = None,
    alongside: Iterable[Pair] = (),
    repetitions: int,
    max_repetitions: int,
    enough: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Runs:
    """Simulate all pairs, then add repetitions for the leading ones until their order is settled.

    The number of repetitions doubles until all pairs are decided in each of the `metrics`, and the errors of the
    leading ones are known within 2 % or from `enough` repetitions; or until `max_repetitions` is reached. A pair is
    decided if it is out of the top tier, or if its paired interval excludes a 5 % disadvantage. Pairs whose
    disadvantage of 5 % is proven for all metrics stay at the repetitions they have; where a race ends
    undecided, all others have as many as the leading one.

    Parameters
    ----------
    experiment, jobs
        As in `simulate`.
    metrics
        Names of the metrics the race is about.
    menu
        The pairs that compete; None: all of the experiment.
    alongside
        Pairs that are simulated as often as the leading ones, whether they compete or not, and so is the raw estimate
        of each protocol still in the race.
    repetitions, max_repetitions
        To start with, and at most.
    enough
        For an error, however wide its interval.
    progress
        Called with (stage, repetitions done, repetitions at most), those of each pair.

    Raises
    ------
    ValueError
        If `repetitions` is below 2 (no interval without two), or above `max_repetitions`.
    """
    if not 2 <= repetitions <= max_repetitions:
        raise ValueError(
            f"repetitions must be at least 2 and at most max_repetitions={max_repetitions}, got {repetitions}"
        )
    companions = set(alongside)
    competing = set(experiment.pairs if menu is None else menu)
    every, rounds = len(experiment.pairs), (-(-max_repetitions // repetitions) - 1).bit_length()
    stage, number, done = "all pairs", 0, repetitions * every
    steps = within(progress, stage, 0, max_repetitions * every)
    runs = simulate(experiment, 0, repetitions, jobs=jobs, progress=steps)
    names = runs.metrics_of(metrics, competing)
    while True:
        tables = [{pair: errors for pair, errors in runs.of(name).items() if pair in competing} for name in names]
        verdicts = list(map(contenders, tables))
        leading = [
            table[pair]
            for table, verdict in zip(tables, verdicts, strict=True)
            for pair in verdict.racing & table.keys()
        ]
        wide = runs.repetitions < enough and not all(map(_is_precise, leading))
        if not wide and not any(verdict.open for verdict in verdicts):
            break
        racing = companions.union(*(verdict.racing for verdict in verdicts))
        racing |= {(protocol, "none") for protocol, _ in racing}
        target = min(2 * runs.repetitions, max_repetitions)
        # An eliminated pair can return when the leader changes: it then catches up on the missed repetitions.
        behind: dict[int, list[Pair]] = {}
        for pair in experiment.pairs:
            if pair in racing and len(runs.errors[pair]) < target:
                behind.setdefault(len(runs.errors[pair]), []).append(pair)
        if not behind:
            break
        more = target > runs.repetitions
        number += more
        most = done + sum((max_repetitions - first) * len(pairs) for first, pairs in behind.items())
        stage = f"leaders, round {number} of at most {rounds}"
        for first, pairs in behind.items():
            last = target if more else min(2 * first, target)  # most that return at the end soon drop out again
            steps = within(progress, stage, done, most)
            runs += simulate(experiment, first, last - first, pairs=pairs, jobs=jobs, progress=steps)
            done += (last - first) * len(pairs)
    progress(stage, done, done)
    return runs


def _is_precise(errors: FloatArray) -> bool:
    """Whether a mean error is known within 2 %; that of errors which are all 0 is not: others may be missing."""
    mean = mean_error(errors)
    return mean.high - mean.low < 2 * PRECISION * mean.error
