"""The frequencies of a collection to come: those of a sample, or of a shape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, near_miss
from advisor.inputs.bins import Bins
from advisor.question.question import Question
from knowledge.describe.assumption import SKEW, parse_shape
from knowledge.describe.profile import SKEW_MAX
from simulator import METRICS
from simulator.populations import SHAPES, apportion, frequencies

# What a skew that is not given stands for: several shapes in a look-up, one where it is simulated.
AVERAGED = "skew 1: an average over shapes as uneven as 1/rank (--skew or --shape)"
ONE_SHAPE = "skew 1: frequencies fall as 1/rank (--skew or --shape)"


@dataclass(frozen=True, eq=False)  # holds an array, which does not compare to one truth
class Frequencies:
    """Frequencies that stand for those of the collection to come.

    Attributes
    ----------
    weights
        ``(k,)`` users of a sample, or frequencies of a shape; their proportions count.
    labels
        ``(k,)`` labels, or none for a shape.
    ordered
        Whether the categories have an order.
    name
        What the frequencies are called.
    users
        Users in the sample; None for a shape.
    assumptions, warnings
        What was decided for the user, and what they should worry about.
    skew
        The exponent of a Zipf distribution that was only assumed, else None.
    bins
        The bins that the categories are, where numbers were cut into such.
    column
        What a file calls the categories; "" where it has no name for them.
    """

    weights: NDArray[np.int64] | NDArray[np.float64] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    ordered: bool
    name: str
    users: int | None
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    skew: float | None = None
    bins: Bins | None = field(default=None, repr=False)
    column: str = ""

    @property
    def k(self) -> int:
        """Number of categories."""
        return len(self.weights)

    def counts(self, n: int) -> NDArray[np.int64]:
        """Return ``(k,)`` users of a population of `n` with these frequencies."""
        return apportion(self.weights, n)

    def too_few_for(self, n: float) -> tuple[str, ...]:
        """Return a warning if a sample has less than half of the n users that it represents."""
        if self.users is None or 2 * self.users >= n:
            return ()
        return (
            f"the sample ({self.users:,} users) is smaller than n = {n:,.0f}: its own sampling noise is taken for "
            "truth",
        )


def assumed_frequencies(question: Question, metrics: Iterable[str] = (), *, simulated: bool = True) -> Frequencies:
    """Return the frequencies of a Zipf exponent (default 1), or of a shape ``NAME[:PARAMETER]``.

    Where they are simulated they are one population, a Zipf exponent in falling order; a look-up without data averages
    over several populations of one skew.

    The categories are ordered if the question says so; if it does not say, where one of the metrics needs an order: a
    shape says how frequencies fall, not that the categories have an order.

    Raises InputError if k is missing, or the skew, the shape or its parameter is wrong.
    """
    k, ordered, shape = question.domain.k, question.domain.ordered, question.shape
    if k is None:
        raise InputError("--k is missing: give a sample, or the number of categories, for example --k 256")
    if shape.skew is not None and not 0 <= shape.skew <= SKEW_MAX:
        raise InputError(f"skew must be a number between 0 and {SKEW_MAX:g}, got {shape.skew:g}")
    assumed = []
    if shape.shape is not None:
        try:
            name, parameter = parse_shape(shape.shape)
        except ValueError as error:
            near = near_miss(shape.shape.partition(":")[0], SHAPES)
            raise InputError(f"unknown shape {shape.shape!r}{near}" if near else str(error)) from None
    else:
        name, parameter = "zipf", SKEW if shape.skew is None else shape.skew
        if shape.skew is None:
            assumed.append(ONE_SHAPE if simulated else AVERAGED)
    needs = [metric for metric in metrics if METRICS[metric].ordered_only]
    is_ordered = bool(needs) if ordered is None else ordered
    if needs and ordered is None:
        assumed.append(f"ordered categories, as {needs[0]} needs (--ordered)")
    try:
        weights = frequencies(name, k, parameter, seed=question.simulation.seed)
    except ValueError as error:
        raise InputError(str(error)) from None
    used = SHAPES[name].parameter if parameter is None else parameter
    called, skew = (f"skew {used:g}", used) if shape.shape is None else (f"shape {name}:{used:g}", None)
    if simulated and skew is not None and is_ordered:
        assumed.append("categories in the order of their frequencies, most frequent first")
    return Frequencies(weights, (), is_ordered, called, None, tuple(assumed), (), skew)
