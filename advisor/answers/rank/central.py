"""The row of a trusted server: what the same promise would cost if the server held all values."""

from __future__ import annotations

import numpy as np

from advisor.answers.rank.result import Baseline
from advisor.question.request import Request
from simulator import METRICS
from simulator.ranking import mean_error
from simulator.seeding import rng_for
from simulator.shuffler import CentralHistogram

REPETITIONS = 50
CELLS = 20_000_000  # categories x repetitions


def central_rows(metric: str, request: Request, lowest: float) -> tuple[Baseline, ...]:
    """Return the row of a trusted server for a metric, if the request has a central promise.

    lowest: the error of the best pair.
    """
    if request.central is None:
        return ()

    histogram = CentralHistogram(request.central.epsilon, request.central.delta)
    counts = np.atleast_2d(request.counts if request.populations is None else request.populations)
    measure = METRICS[metric].with_options(**request.metric_values.options(request.seed))
    errors = []
    for place in range(max(2, min(REPETITIONS, CELLS // request.k))):
        row = counts[place % len(counts)]
        estimate = histogram.estimate(row, rng_for(request.seed, "trusted server", place))
        errors.append(measure(estimate, row / row.sum()))
    figures = mean_error(np.array(errors, dtype=np.float64))
    ratio = figures.error / lowest if lowest else None
    return (Baseline("central", None, histogram.title, figures.error, figures.low, figures.high, ratio, None, None),)
