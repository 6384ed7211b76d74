"""Data that are in memory already: values, counts or estimates, as a notebook holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from advisor.checks import whole
from advisor.errors import InputError


def sample_in_memory(
    sample: Iterable[Any] | None, sample_counts: ArrayLike | Mapping[Any, int] | None
) -> tuple[list[str], np.ndarray[Any, np.dtype[np.int64]], bool]:
    """Return labels, counts, and whether they were given as a histogram.

    Raises InputError if both or none are given, or what is given holds no users or what is no value.
    """
    if (sample is None) == (sample_counts is None):
        raise InputError("give either sample (one value per user) or sample_counts (one count per category)")
    if sample is not None:
        return *_tally(sample), False
    labels: list[str]
    if hasattr(sample_counts, "items"):  # a mapping, or a pandas series with its index
        pairs = list(cast("Mapping[Any, Any]", sample_counts).items())
        labels, numbers = [_label(key) for key, _ in pairs], [number for _, number in pairs]
    else:
        array = np.asarray(sample_counts)
        if array.ndim != 1:
            raise InputError(f"sample_counts must be flat, one count per category, got shape {array.shape}")
        numbers = array.tolist()
        labels = [str(place) for place in range(len(numbers))]
    counts = [whole(0)("every count in sample_counts", number) for number in numbers]
    if sum(counts) < 1:
        raise InputError(f"sample_counts must hold at least 1 user, got {len(counts)} counts that sum to 0")
    return labels, np.array(counts, dtype=np.int64), True


def _tally(sample: Iterable[Any]) -> tuple[list[str], np.ndarray[Any, np.dtype[np.int64]]]:
    """Count the raw values of a sample in memory."""
    if isinstance(sample, str | bytes):
        raise InputError("sample must be a sequence of values, got a string: read the file first")
    values = sample if isinstance(sample, np.ndarray) else np.asarray(list(sample), dtype=object)
    if values.ndim != 1 or not values.size:
        raise InputError(f"sample must be a flat sequence of at least one value, got shape {values.shape}")
    if values.dtype.kind in "iub":
        distinct, tally = np.unique(values, return_counts=True)
        return [_label(value) for value in distinct.tolist()], tally.astype(np.int64)
    counter = Counter(_label(value) for value in values.tolist())
    return list(counter), np.array(list(counter.values()), dtype=np.int64)


def _label(value: Any) -> str:
    """Return a value as the label a file would hold; refuse what is no value."""
    if isinstance(value, int) and value.bit_length() > 1024:  # Python refuses to write one of over 4,300 digits
        raise InputError("sample must hold values, got a whole number of over 300 digits")
    if value is None or value != value or value in (float("inf"), float("-inf")) or str(value) in ("NaT", "<NA>"):
        raise InputError(f"sample must hold values, got {value!r}: leave missing ones out")
    if isinstance(value, list | tuple | dict | set | np.ndarray):
        raise InputError(f"sample must be flat, one value per user, got {value!r} in it")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    if not text:
        raise InputError("sample must hold values, got an empty string: leave missing ones out")
    return text


def estimate_in_memory(estimate: ArrayLike | Mapping[Any, float]) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Return labels and values of an estimate: one number per category, or a mapping from label to number.

    Raises InputError if it is not flat, has fewer than 2 categories, or holds what is no finite number.
    """
    if hasattr(estimate, "items"):
        pairs = list(cast("Mapping[Any, Any]", estimate).items())
        labels, values = [_label(key) for key, _ in pairs], [value for _, value in pairs]
        if len(set(labels)) < len(labels):
            raise InputError("estimate must have each label once, got some twice")
    else:
        values = list(np.atleast_1d(np.asarray(estimate, dtype=object)))
        labels = [str(place) for place in range(len(values))]
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("estimate must hold numbers, one per category") from None
    if array.ndim != 1 or len(array) < 2:
        raise InputError(f"estimate must be flat, at least 2 categories, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"estimate must be finite, got {int((~np.isfinite(array)).sum())} missing or infinite values")
    return labels, array
