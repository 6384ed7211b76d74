"""Estimates that came as pandas holds them: their values in the order of the categories, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from advisor.errors import InputError
from simulator._types import FloatArray, IntArray


def is_pandas(given: object) -> TypeGuard[Any]:
    """Tell whether something is of pandas, which nobody has without importing it."""
    pandas = sys.modules.get("pandas")
    kinds = () if pandas is None else (pandas.Series, pandas.DataFrame, pandas.Index, pandas.Categorical)
    return isinstance(given, kinds)


def in_order_of(estimate: Any, labels: Sequence[str]) -> tuple[FloatArray, IntArray | None]:
    """Return the numbers of a series or frame ``(..., k)`` with the labels along the last axis in a given order.

    Returns also the place of each of its labels in that order; None where they are numbers of places, or the order is
    not known to the advice either, and it is taken as it stands.

    Raises InputError if it names other labels.
    """
    values = np.asarray(estimate.to_numpy(), dtype=np.float64)
    index = estimate.columns if hasattr(estimate, "columns") else getattr(estimate, "index", range(len(estimate)))
    own = [_written(label) for label in index]
    placed = {label: at for at, label in enumerate(labels)}
    if len(own) != len(labels):  # which is refused by its shape
        return values, None
    if set(own) != set(placed):
        numbered = {str(at) for at in range(len(labels))}
        if numbered in (set(own), set(placed)):
            return values, None
        strange = next((label for label in own if label not in placed), own[0])
        raise InputError(
            f"the estimate has a value for {strange!r}, which is no category of this advice: give "
            "estimate.to_numpy() if the order is that of advice.request.labels"
        )
    places = np.array([placed[label] for label in own], dtype=np.int64)
    ordered = np.empty_like(values)
    ordered[..., places] = values
    return ordered, places


def applied_to(estimate: Any, labels: Sequence[str], function: Callable[[FloatArray], FloatArray]) -> Any:
    """Return a series or frame of what a function of ``(..., k)`` gives, with the labels that it came with."""
    values, places = in_order_of(estimate, labels)
    result = function(values)
    if places is not None:
        result = result[..., places]
    if not hasattr(estimate, "index"):  # an index holds values alone
        return result
    if hasattr(estimate, "columns"):
        return type(estimate)(result, index=estimate.index, columns=estimate.columns)
    return type(estimate)(result, index=estimate.index, name=estimate.name)


def _written(label: object) -> str:
    """Return a label as advice writes it."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label).strip()
