"""The verdict on the pair that is named: whether a collection with it says more than no data at all.

An answer without data says that all categories are equally frequent, or 0 for all of them, whichever errs less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator import Metric
from simulator._types import FloatArray
from simulator.foreign import REGISTERED
from simulator.seeding import rng_for

WORTH_IT, MARGINAL, USELESS, NOTHING_LEFT = "worth_it", "marginal", "no_better_than_no_data", "nothing_left"
# Why it is no better: a large error, an interval that reaches the error without data, most categories below the noise.
MORE_THAN_HALF, NOT_CERTAIN, MOST_UNDETECTABLE = "more_than_half", "not_certain", "most_undetectable"
ORDERS, NEXT_TO_NOTHING = 20, 1e-9  # of equal values, and how far apart they are put, of equal frequencies
ENOUGH = 0.5  # of the error without data: from there on down a collection is worth it
WORDS = {  # than an answer without data, by the reasons that concern the error
    (): "clearly better",
    (MORE_THAN_HALF,): "better, but not by half",
    (NOT_CERTAIN,): "better, but not surely",
    (MORE_THAN_HALF, NOT_CERTAIN): "no better",
}


def reasons_of(error: float, without_data: float | None, *, below: bool) -> tuple[str, ...]:
    """Return why an error is not certainly at most half of the error without data; no reasons if it is.

    without_data: None if no finite error is reached without data.
    below: whether the 95 % interval of the error is below the error without data.
    """
    large = without_data is not None and error > ENOUGH * without_data
    return (*([MORE_THAN_HALF] if large else []), *([] if below else [NOT_CERTAIN]))


def against_nothing(reasons: tuple[str, ...]) -> str:
    """Return how much better than no data an answer is, in words."""
    return WORDS[tuple(reason for reason in reasons if reason != MOST_UNDETECTABLE)]


def kind_of(reasons: tuple[str, ...]) -> str:
    """Return the verdict: worth it without a reason against it, no better than no data with both.

    >>> kind_of(reasons_of(0.1, 1.0, below=True)), kind_of(reasons_of(0.6, 1.0, below=True))
    ('worth_it', 'marginal')
    """
    both = MORE_THAN_HALF in reasons and NOT_CERTAIN in reasons
    return USELESS if both else MARGINAL if {MORE_THAN_HALF, NOT_CERTAIN} & {*reasons} else WORTH_IT


def errors_without_data(measure: Metric, truths: Sequence[FloatArray] | FloatArray) -> FloatArray:
    """Return the errors ``(truths, 2)`` of two answers without data: equal frequencies, and 0 for all.

    A caller's metric may compare ranks, so equal values stand in random orders: categories often come by frequency.
    """
    k = truths[0].shape[-1]
    answers = np.stack([np.full(k, 1 / k), np.zeros(k)])
    if measure.name not in REGISTERED:
        return np.stack([measure(answers, truth) for truth in truths])
    several = answers[:, None] + NEXT_TO_NOTHING / k * rng_for(0, "equal values").random((ORDERS, k))
    return np.stack([np.mean(measure(several, truth), axis=-1) for truth in truths])
