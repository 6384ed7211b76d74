"""Frequencies that nothing is known of but a skew or a named shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, near_miss
from knowledge.describe.assumption import SKEW, parse_shape
from knowledge.describe.profile import SKEW_MAX
from simulator import METRICS
from simulator.populations import SHAPES, apportion, frequencies


class AssumedShape(NamedTuple):
    """Frequencies of a skew or a shape.

    Attributes
    ----------
    weights
        ``(k,)`` frequencies.
    name
        What they are called.
    skew
        The exponent; None for a named shape.
    ordered
        Whether the categories have an order.
    assumptions
        What was decided for the user.
    """

    weights: NDArray[np.float64]
    name: str
    skew: float | None
    ordered: bool
    assumptions: tuple[str, ...]

    def counts(self, n: int) -> NDArray[np.int64]:
        """Return how many of `n` users hold each value ``(k,)``."""
        return apportion(self.weights, n)


def assumed_shape(
    k: int,
    *,
    skew: float | None = None,
    shape: str | None = None,
    ordered: bool | None = None,
    metrics: Iterable[str] = (),
    seed: int = 0,
) -> AssumedShape:
    """Return the frequencies of a Zipf exponent (default 1), or of a shape ``NAME[:PARAMETER]``.

    The categories are ordered if `ordered` says so; if it is None, where the shape is, and for a skew where one of the
    metrics needs an order.

    Raises
    ------
    InputError
        If both are given, or the skew, the shape or its parameter is wrong.
    """
    if skew is not None and shape is not None:
        raise InputError("give either skew or shape, not both")
    if skew is not None and not 0 <= skew <= SKEW_MAX:
        raise InputError(f"skew must be a number between 0 and {SKEW_MAX:g}, got {skew:g}")
    assumed = []
    if shape is not None:
        try:
            name, parameter = parse_shape(shape)
        except ValueError as error:
            raise InputError(f"{error}{near_miss(shape.partition(':')[0], SHAPES)}") from None
        is_ordered = SHAPES[name].ordered if ordered is None else ordered
    else:
        name, parameter = "zipf", SKEW if skew is None else float(skew)
        if skew is None:
            assumed.append("frequencies are as skewed as 1/rank: skew 1 (--skew or --shape say otherwise)")
        needs = [metric for metric in metrics if METRICS[metric].ordered_only]
        is_ordered = bool(needs) if ordered is None else ordered
        if needs and ordered is None:
            assumed.append(f"the categories are ordered: {needs[0]} needs an order (--ordered or --unordered say so)")
    try:
        weights = frequencies(name, k, parameter, seed=seed)
    except ValueError as error:
        raise InputError(str(error)) from None
    used = SHAPES[name].parameter if parameter is None else parameter
    called = f"skew {used:g}" if shape is None else f"shape {name}:{used:g}"
    skew_used = used if shape is None else None
    return AssumedShape(weights, called, skew_used, is_ordered, tuple(assumed))
