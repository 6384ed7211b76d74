"""The frequencies of a collection to come: those of a sample, or of a shape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from advisor.question.settings import Shape
from advisor.question.shape import assumed_shape
from simulator.populations import apportion


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
    """

    weights: NDArray[np.int64] | NDArray[np.float64] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    ordered: bool
    name: str
    users: int | None
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def k(self) -> int:
        """Number of categories."""
        return len(self.weights)

    def counts(self, n: int) -> NDArray[np.int64]:
        """Return ``(k,)`` users of a population of `n` with these frequencies."""
        return apportion(self.weights, n)


def from_shape(
    k: int, shape: Shape, *, ordered: bool | None = None, metrics: Iterable[str] = (), seed: int = 0
) -> Frequencies:
    """Return the frequencies of a Zipf exponent (default 1) or of a named shape.

    Unlike a look-up without data, which averages over four populations of one skew, what is simulated is one
    population: Zipf in falling order.

    Raises
    ------
    InputError
        If the skew, the shape or its parameter is wrong.
    """
    assumed = assumed_shape(k, skew=shape.skew, shape=shape.shape, ordered=ordered, metrics=metrics, seed=seed)
    in_order = ["categories in the order of their frequencies, most frequent first"]
    more = in_order if assumed.skew is not None and assumed.ordered else []
    return Frequencies(
        assumed.weights, (), assumed.ordered, assumed.name, None, (*assumed.assumptions, *more), ()
    )  # fmt: skip
