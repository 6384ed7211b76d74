"""What pandas holds, as labels and values: series, columns of frames, results of value_counts, and their order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from advisor.errors import InputError, listed
from advisor.inputs.columns import COUNT_NAMES
from simulator._types import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

BY_FREQUENCY = ("count", "proportion")  # what pandas calls the results of value_counts, which it sorts by frequency


class Labelled(NamedTuple):
    """Values by label."""

    labels: list[Any]  # of the index, or those of one column
    values: list[Any]  # numbers
    # every category in its order where the index has such (unobserved ones too), else None
    categories: list[Any] | None
    ordered: bool | None  # whether that order means something; None: the index does not say
    by_frequency: bool  # whether the order is that of the values, and so means nothing


def is_pandas(given: object) -> TypeGuard[Any]:
    """Tell whether something is of pandas, which nobody has without importing it."""
    pandas = sys.modules.get("pandas")
    kinds = () if pandas is None else (pandas.Series, pandas.DataFrame, pandas.Index, pandas.Categorical)
    return isinstance(given, kinds)


def is_histogram(sample: Any) -> bool:
    """Tell whether what was given as raw values holds one row per label: a result of value_counts, or a frame of it."""
    if hasattr(sample, "columns"):
        names = [str(name).casefold() for name in sample.columns]
        return len(names) == 2 and sum(name in COUNT_NAMES for name in names) == 1
    numbered = type(sample.index).__name__ == "RangeIndex" if hasattr(sample, "index") else True
    return not numbered and sample.name in BY_FREQUENCY and sample.index.is_unique


def raw_values(name: str, given: Any) -> Any:
    """Return one value per user: a series, an index, or the one column of a frame.

    Raises InputError if a frame has several.
    """
    if not hasattr(given, "columns"):
        return given
    if given.shape[1] != 1:
        columns = list(map(str, given.columns))
        example = f"; name one: {name}=frame[{given.columns[0]!r}]" if columns else ""
        raise InputError(
            f"{name} must be one column, got a frame of {len(columns)} ({listed(columns, most=6)}){example}"
        )
    return given.iloc[:, 0]


def categories_of(given: Any) -> tuple[list[Any], bool] | None:
    """Return all categories of a series or an index in their order, and whether it means something.

    None where values are plain, and only those that are there are known.
    """
    kind = str(given.dtype)
    if kind == "category":
        return given.dtype.categories.tolist(), bool(given.dtype.ordered)
    if kind.startswith("interval"):
        return sorted(set(given.tolist())), True
    return None


def labelled(name: str, given: Any) -> Labelled:
    """Return numbers by label: of a series by its index, or of a frame by its index or its column of labels.

    Raises InputError if the index has several levels, or a frame does not say which column holds the numbers.
    """
    series = _one_series(name, given) if hasattr(given, "columns") else given
    if not hasattr(series, "index"):  # an index holds values alone
        return Labelled(list(range(len(series))), series.tolist(), None, None, False)
    index = series.index
    if index.nlevels > 1:
        levels = listed(str(level) for level in index.names)
        raise InputError(
            f"{name} must have one label per row, got an index of {index.nlevels} levels ({levels}): sum over the "
            f"others first, for example {name}=counts.groupby(level=0).sum()"
        )
    index = index.get_level_values(0)
    known = categories_of(index)
    numbers = series.to_numpy(dtype=object)
    by_frequency = series.name in BY_FREQUENCY and bool((np.diff(series.to_numpy(np.float64, na_value=0)) <= 0).all())
    return Labelled(
        index.tolist(),
        numbers.tolist(),
        None if known is None else known[0],
        None if known is None else known[1] or None,
        by_frequency,
    )


def _one_series(name: str, frame: Any) -> pd.Series[Any]:
    """Return the numbers of a frame by label."""
    if frame.shape[1] == 1:
        return frame.iloc[:, 0]
    columns = list(map(str, frame.columns))
    if len(columns) == 2:
        named = [at for at in range(2) if columns[at].casefold() in COUNT_NAMES]
        numeric = [at for at in range(2) if frame.dtypes.iloc[at].kind in "iuf"]
        (at,) = named if len(named) == 1 else numeric if len(numeric) == 1 else (None,)
        if at is not None:
            return frame.set_index(frame.columns[1 - at]).iloc[:, 0]
    raise InputError(
        f"{name} must be a column of numbers with the labels beside it or as its index, got a frame of "
        f"{len(columns)} columns ({listed(columns, most=6)}): name them, for example "
        f"{name}=frame.set_index('label')['number']"
    )


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
