"""What is known of the frequencies before anyone has reported: a sample, or a shape. For planning and sweeping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.question.shape import assumed_shape
from simulator.populations import apportion


@dataclass(frozen=True, eq=False)  # holds an array, which does not compare to one truth
class Known:
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

    weights: NDArray[Any] = field(repr=False)
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
    k: int,
    *,
    skew: float | None = None,
    shape: str | None = None,
    ordered: bool | None = None,
    metrics: Iterable[str] = (),
    seed: int = 0,
) -> Known:
    """Return the frequencies of a Zipf exponent (default 1) or of a named shape.

    Unlike a look-up without data, which averages over four populations of one skew, what is simulated is one
    population: Zipf in falling order.

    Raises
    ------
    InputError
        If both are given, or the skew, the shape or its parameter is wrong.
    """
    found = assumed_shape(k, skew=skew, shape=shape, ordered=ordered, metrics=metrics, seed=seed)
    in_order = ["categories in the order of their frequencies, most frequent first"]
    more = in_order if found.skew is not None and found.ordered else []
    return Known(found.weights, (), found.ordered, found.name, None, (*found.assumptions, *more), ())


def from_memory(
    sample: Iterable[Any] | None,
    sample_counts: ArrayLike | Mapping[Any, int] | None,
    *,
    k: int | None = None,
    ordered: bool | None = None,
) -> Known:
    """Return the frequencies of a sample held in memory: one value per user, or one count per category.

    Raises
    ------
    InputError
        If both are given, or what is given is no sample.
    """
    from advisor.inputs.domain import build_domain
    from advisor.inputs.memory import sample_in_memory

    labels, counts, is_histogram = sample_in_memory(sample, sample_counts)
    built = build_domain(labels, counts, from_histogram=is_histogram, k=k, ordered=ordered)
    name = "sample_counts" if is_histogram else "sample"
    return Known(
        built.counts, built.labels, built.ordered, name, int(built.counts.sum()), tuple(built.assumptions),
        tuple(built.warnings),
    )  # fmt: skip


def from_file(path: str, *, k: int | None = None, ordered: bool | None = None, **reading: Any) -> Known:
    """Return the frequencies of a sample file; `reading` goes to `advisor.inputs.reading.read_histogram`.

    Raises
    ------
    InputError
        If the file cannot be read as a sample.
    """
    from advisor.inputs.domain import build_domain
    from advisor.inputs.reading import read_histogram

    read = read_histogram(path, **reading)
    built = build_domain(read.labels, read.counts, from_histogram=read.from_histogram, k=k, ordered=ordered)
    name = "standard input" if path == "-" else path
    return Known(
        built.counts, built.labels, built.ordered, name, int(built.counts.sum()),
        (*read.assumptions, *built.assumptions), (*read.warnings, *built.warnings),
    )  # fmt: skip
