"""What is known of the frequencies before anyone has reported: a sample, or a shape. For planning and sweeping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.errors import InputError, near_miss
from knowledge.assumed import SKEW, parse_shape
from knowledge.profile import SKEW_MAX
from simulator import METRICS
from simulator.populations import SHAPES, apportion, frequencies


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
        if is_ordered:
            assumed.append("categories in the order of their frequencies, most frequent first")
        if needs and ordered is None:
            assumed.append(f"the categories are ordered: {needs[0]} needs an order (--ordered or --unordered say so)")
    try:
        weights = frequencies(name, k, parameter, seed=seed)
    except ValueError as error:
        raise InputError(f"shape {shape}: {error}") from None
    used = SHAPES[name].parameter if parameter is None else parameter
    called = f"skew {used:g}" if shape is None else f"shape {name}:{used:g}"
    return Known(weights, (), is_ordered, called, None, tuple(assumed), ())


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
