"""Data that are in memory already: values, counts or estimates, as a notebook holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from advisor.checks import whole
from advisor.errors import InputError
from advisor.inputs.frames import categories_of, is_histogram, is_pandas, labelled, raw_values

FEWEST = 4  # numbers from which their sum says something
ROUNDING, NEAR = 1e-6, 0.5  # how far from 1 frequencies may sum, and raw estimates with values below 0


class SampleInMemory(NamedTuple):
    """A sample as labels and counts."""

    labels: list[str]  # distinct, unless two values are written alike
    counts: np.ndarray[Any, np.dtype[np.int64]]  # users per label; 0 is possible
    name: str  # of the argument that it was given as
    in_order: bool  # whether the order of the labels is the user's, or an accident
    ordered: bool | None = None  # whether the data say that the order means something; None: they do not
    assumptions: tuple[str, ...] = ()  # what was decided for the user, one sentence each


def sample_in_memory(
    sample: Iterable[Any] | None, sample_counts: ArrayLike | Mapping[Any, int] | None
) -> SampleInMemory:
    """Return the sample that was given, as values or as a histogram.

    Raises InputError if both or none are given, or what is given holds no users or what is no value.
    """
    if (sample is None) == (sample_counts is None):
        raise InputError("give either sample (one value per user) or sample_counts (one count per category)")
    if sample is None:
        return _histogram(sample_counts, "sample_counts")
    if not is_pandas(sample):
        return SampleInMemory(*_tally(sample), "sample", in_order=False)
    if is_histogram(sample):
        note = "sample is a result of value_counts: read as counts of users"
        return _histogram(sample, "sample")._replace(assumptions=(note,))
    values = raw_values("sample", sample)
    labels, counts = _tally(values)
    _refuse_frequencies(sample)
    return _over_categories(SampleInMemory(labels, counts, "sample", in_order=False), categories_of(values))


def _refuse_frequencies(series: Any) -> None:
    """Raise InputError for numbers that are the frequencies of categories, and hardly the values of users."""
    if getattr(getattr(series, "dtype", None), "kind", "") != "f" or len(series) < FEWEST:
        return
    numbers = np.asarray(series, np.float64)
    total = float(np.nansum(numbers))
    inside = bool(np.nanmax(np.abs(numbers)) < 1 and (numbers != 0).any())
    if inside and (abs(total - 1) < ROUNDING or (np.nanmin(numbers) < 0 and abs(total - 1) < NEAR)):
        raise InputError(
            f"sample holds {len(numbers)} numbers below 1 that sum to {total:.4g}: these are frequencies, not values "
            "of users; give a raw estimate as estimate=, and counts of users as sample_counts="
        )


def _histogram(given: ArrayLike | Mapping[Any, int] | Iterable[Any] | None, name: str) -> SampleInMemory:
    """Return a sample of one count per category."""
    known, in_order = None, True
    if is_pandas(given):
        read = labelled(name, given)
        labels, numbers, in_order = list(map(_label, read.labels)), read.values, not read.by_frequency
        known = None if read.categories is None else (read.categories, bool(read.ordered))
    elif hasattr(given, "items"):
        pairs = list(cast("Mapping[Any, Any]", given).items())
        labels, numbers = [_label(key) for key, _ in pairs], [number for _, number in pairs]
    else:
        array = np.asarray(given)
        if array.ndim != 1:
            raise InputError(f"{name} must be flat, one count per category, got shape {array.shape}")
        numbers = array.tolist()
        labels = [str(place) for place in range(len(numbers))]
    counts = [whole(0)(f"every count in {name}", number) for number in numbers]
    if sum(counts) < 1:
        raise InputError(f"{name} must hold at least 1 user, got {len(counts)} counts that sum to 0")
    return _over_categories(SampleInMemory(labels, np.array(counts, dtype=np.int64), name, in_order), known)


def _over_categories(sample: SampleInMemory, known: tuple[list[Any], bool] | None) -> SampleInMemory:
    """Return a sample with all of its categories, those that nobody has too, in their order."""
    if known is None or len(set(sample.labels)) < len(sample.labels):  # what is there twice is refused later
        return sample
    users = dict(zip(sample.labels, sample.counts.tolist(), strict=True))
    every = [_label(category) for category in known[0]]
    counts = np.array([users.get(label, 0) for label in every], dtype=np.int64)
    note = f"{len(every)} categories{' and their order' if known[1] else ''} taken from the dtype"
    return sample._replace(
        labels=every, counts=counts, in_order=True, ordered=known[1] or None, assumptions=(*sample.assumptions, note)
    )


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


class EstimateInMemory(NamedTuple):
    """An estimate as labels and values."""

    labels: list[str]
    values: np.ndarray[Any, np.dtype[np.float64]]
    domain: list[str] | None = None  # all labels in their order, where the data name them
    ordered: bool | None = None  # whether that order means something; None: the data do not say


def estimate_in_memory(estimate: ArrayLike | Mapping[Any, float]) -> EstimateInMemory:
    """Return labels and values of an estimate: one number per category, or a mapping from label to number.

    Raises InputError if it is not flat, has fewer than 2 categories, or holds what is no finite number.
    """
    domain, ordered = None, None
    if is_pandas(estimate):
        read = labelled("estimate", estimate)
        labels, values, ordered = list(map(_label, read.labels)), read.values, read.ordered
        domain = None if read.categories is None else list(map(_label, read.categories))
    elif hasattr(estimate, "items"):
        pairs = list(cast("Mapping[Any, Any]", estimate).items())
        labels, values = [_label(key) for key, _ in pairs], [value for _, value in pairs]
    else:
        values = list(np.atleast_1d(np.asarray(estimate, dtype=object)))
        labels = [str(place) for place in range(len(values))]
    if len(set(labels)) < len(labels):
        raise InputError("estimate must have each label once, got some twice")
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("estimate must hold numbers, one per category") from None
    if array.ndim != 1 or len(array) < 2:
        raise InputError(f"estimate must be flat, at least 2 categories, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"estimate must be finite, got {int((~np.isfinite(array)).sum())} missing or infinite values")
    return EstimateInMemory(labels, array, domain, ordered)
