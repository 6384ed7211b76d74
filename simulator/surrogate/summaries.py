"""Mean and median of the frequencies that may be behind an estimate, as methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator._types import FloatArray
from simulator.methods.observed import Observed
from simulator.methods.processor import POSTERIOR_MEAN, POSTERIOR_MEDIAN, proper
from simulator.surrogate import known_frequencies


def mean_of(draws: FloatArray) -> FloatArray:
    """Return the mean ``(k,)`` of draws ``(draws, k)`` that sum to 1: no other result has less expected squared error.

    Nor less expected Kullback-Leibler divergence.
    """
    return draws.mean(axis=0)


def median_of(draws: FloatArray) -> FloatArray:
    """Return the median of each frequency ``(k,)``, divided by their sum; the mean where all medians are 0.

    Of all shapes that may be there, the mean has a little of each; the median has the features of most of them.
    """
    middle = np.median(draws, axis=0)
    if not middle.any():
        return mean_of(draws)
    return middle / middle.sum()


def _of_draws(name: str, summary: Callable[[FloatArray], FloatArray]) -> Callable[[Observed], FloatArray]:
    def method(observed: Observed) -> FloatArray:
        """Return a summary ``(..., k)`` of populations that may have produced the estimates, drawn with seed 0.

        Drawing takes from some hundredths of a second to a few seconds for each estimate.

        Raises ValueError if there is no estimate.
        """
        if observed.estimate is None:
            raise ValueError(f"{name} needs an estimate, and there is none")
        rows = observed.estimate.reshape(-1, observed.estimate.shape[-1])
        summaries = [
            summary(known_frequencies(row, observed.noise, ordered=observed.domain.ordered, seed=0)) for row in rows
        ]
        return np.reshape(summaries, observed.estimate.shape)

    return method


METHODS = {
    name: proper(name, title, _of_draws(name, summary), reference="this project", keeps_order=False)
    for name, title, summary in (
        (POSTERIOR_MEAN, "Posterior mean", mean_of),
        (POSTERIOR_MEDIAN, "Posterior median", median_of),
    )
}
