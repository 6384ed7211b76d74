"""The posterior median as a method: medians of populations that may be behind an estimate, and what they err by."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, Runs, errors_of
from simulator.methods.blend import POSTERIOR_MEDIAN
from simulator.methods.observed import Observed
from simulator.methods.processor import PostProcessor
from simulator.seeding import rng_for
from simulator.surrogate import DEFAULT, draws_of, surrogate_populations


def posterior_median(observed: Observed) -> FloatArray:
    """Return the medians ``(..., k)`` of the populations that may be behind estimates, drawn by seed 0.

    Drawing them takes from a tenth of a second to a few seconds for each estimate.

    Raises ValueError if there is no estimate.
    """
    if observed.estimate is None:
        raise ValueError(f"{POSTERIOR_MEDIAN} needs an estimate, and there is none")
    k = observed.estimate.shape[-1]
    rows = [
        medians(
            surrogate_populations(
                DEFAULT,
                row,
                observed.noise,
                ordered=observed.domain.ordered,
                rng=rng_for(0, "surrogate", DEFAULT),
                draws=draws_of(k),
            )
        )
        for row in observed.estimate.reshape(-1, k)
    ]
    return np.reshape(rows, observed.estimate.shape)


def medians(populations: FloatArray | IntArray) -> FloatArray:
    """Return the median of each frequency ``(k,)``, divided by their sum; the mean where all medians are 0.

    populations: ``(draws, k)``, any numbers in proportion to frequencies.

    Of all shapes that may be there, the mean has a little of each; the median has what most of them have.
    """
    middle = np.median(populations, axis=0)
    if not middle.any():
        middle = populations.mean(axis=0)
    result: FloatArray = middle / middle.sum()
    return result


METHOD = PostProcessor(
    name=POSTERIOR_MEDIAN,
    title="Posterior median (of the ensemble)",
    function=posterior_median,
    nonnegative=True,
    sums_to_one=True,
    reference="this project",
    keeps_order=False,
)


def with_posterior_median(experiment: Experiment, runs: Runs, protocol: str) -> Runs:
    """Return the runs with those of the posterior median.

    Nothing is collected anew for it, as every collection would need populations of its own: its error on a population
    is that of the median of all others that differ from it.

    experiment: populations drawn from what was collected with a protocol.
    """
    different, which = np.unique(experiment.populations, axis=0, return_inverse=True)
    which, draws = which.ravel(), len(experiment.populations)
    if len(different) == 1:
        return runs
    of_others = np.stack([medians(experiment.populations[which != place]) for place in range(len(different))])
    errors = errors_of(experiment, METHOD, of_others[which], np.arange(draws), POSTERIOR_MEDIAN)
    shown = (runs.first + np.arange(runs.repetitions)) % draws
    return Runs(
        runs.experiment_id, runs.metrics, runs.first, {**runs.errors, (protocol, POSTERIOR_MEDIAN): errors[shown]}
    )
