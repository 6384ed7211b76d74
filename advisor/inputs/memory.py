"""Data in memory: values, counts or estimates, for example from a notebook; and files made of them."""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.checks import shown, whole
from advisor.errors import InputError, listed
from advisor.inputs.columns import COUNT_NAMES
from advisor.inputs.histogram import RawHistogram
from advisor.inputs.labels import label_of
from advisor.inputs.totals import CountedRow, names_total, total_of
from simulator._types import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

BY_FREQUENCY = ("count", "proportion")  # pandas names of value_counts results, which are sorted by frequency
FEWEST = 4  # minimum of numbers for a conclusion from their sum
NUMBERS = "estimate must hold numbers, one per category; what users sent is counted by reports()"
ROUNDING, NEAR = 1e-6, 0.5  # tolerance of a sum around 1: for frequencies, and for raw estimates with values below 0


class Labelled(NamedTuple):
    """Numbers by label."""

    labels: list[str]
    values: NDArray[Any]  # the given numbers, unchecked
    categories: tuple[str, ...] = ()  # all categories in their order, if the data name them
    ordered: bool | None = None  # whether that order means something; None: the data do not say
    labelled: bool = True  # whether the labels were given; otherwise they are the places of the numbers
    by_frequency: bool = False  # whether the labels are sorted by their values, an order without meaning


def sample_in_memory(sample: Iterable[Any] | None, sample_counts: ArrayLike | Mapping[Any, int] | None) -> RawHistogram:
    """Return the given sample, from values or from a histogram; of a mapping, the user chose the order of the labels.

    Raises InputError if both or neither are given, or if the sample has no users or holds an invalid value.
    """
    if (sample is None) == (sample_counts is None):
        raise InputError("give either sample (one value per user) or sample_counts (one count per category)")
    if sample is None:
        return _histogram(_plain("sample_counts", sample_counts), "sample_counts")
    sample = _plain("sample", sample)
    if isinstance(sample, Mapping) or _is_histogram(sample):
        what = "a mapping" if isinstance(sample, Mapping) else "a result of value_counts"
        note = f"sample is {what}: read as counts of users"
        read = replace(_histogram(sample, "sample"), assumptions=(note,), column=_name_of(sample))
        if not _may_be_values(sample):
            return read
        doubt = f"{note}, and could be values of users: if they are, give them as .to_numpy()"
        return replace(read, assumptions=(), warnings=(*read.warnings, doubt))
    if not is_pandas(sample):
        return RawHistogram(*_tally(sample), False, column=_name_of(sample))
    values = _one_series("sample", sample) if hasattr(sample, "columns") else sample
    labels, counts = _tally(values)
    _refuse_frequencies(sample)
    categories, ordered = _categories_of(values)
    return RawHistogram(labels, counts, False, column=_name_of(sample), categories=categories, ordered=ordered)


def _plain(name: str, given: Any) -> Any:
    """Return data as Python or numpy holds them; raise InputError for what holds none, and for masked values."""
    if isinstance(given, str | bytes | Path) or not isinstance(given, Iterable):
        hint = ": read the file first" if isinstance(given, str | bytes | Path) else ""
        raise InputError(f"{name} must be a sequence of values, got {shown(given)}{hint}")
    if np.ma.is_masked(given):
        raise InputError(f"{name} holds masked values: leave them out with .compressed()")
    return given.to_pylist() if hasattr(given, "to_pylist") and not hasattr(given, "columns") else given  # pyarrow


def _name_of(given: object) -> str:
    name = getattr(given, "name", None)  # of a pandas series
    return name if isinstance(name, str) else ""


def estimate_in_memory(estimate: ArrayLike | Mapping[Any, float]) -> Labelled:
    """Return labels and values of an estimate: one number per category, or a mapping from label to number.

    Raises InputError if it is not flat, has fewer than 2 categories, or holds an entry that is not a finite number.
    """
    read = _by_label("estimate", _plain("estimate", estimate))
    if len(set(read.labels)) < len(read.labels):
        raise InputError("estimate must have each label once, got some twice")
    try:
        array = np.asarray(read.values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(NUMBERS) from None
    if len(array) < 2:
        raise InputError(f"estimate must be flat, at least 2 categories, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"estimate must be finite, got {int((~np.isfinite(array)).sum())} missing or infinite values")
    return read._replace(values=array)


def _is_histogram(sample: Any) -> bool:
    """Return whether raw values have one row per label: a result of value_counts or size, or a frame of it."""
    if not is_pandas(sample):
        return False
    if hasattr(sample, "columns"):
        names = [str(name).casefold() for name in sample.columns]
        if len(names) == 1:
            return _is_histogram(sample.iloc[:, 0])
        return len(names) == 2 and sum(name in COUNT_NAMES for name in names) == 1
    numbered = type(sample.index).__name__ == "RangeIndex" if hasattr(sample, "index") else True
    if numbered or not sample.index.is_unique:
        return False
    grouped = sample.name is None and sample.index.name is not None and sample.dtype.kind in "iu"  # as size() gives it
    return sample.name in BY_FREQUENCY or grouped


def _may_be_values(histogram: Any) -> bool:
    """Return whether nothing tells a histogram from values of users whose index is their own."""
    if hasattr(histogram, "columns") or not hasattr(histogram, "index"):
        return False
    numbers = histogram.index.name is None and histogram.index.dtype.kind in "iu"  # as of rows that a filter kept
    rising = numbers and bool((np.diff(histogram.to_numpy()) > 0).any())  # value_counts sorts, unless told not to
    return rising or histogram.name not in BY_FREQUENCY


def _refuse_frequencies(series: Any) -> None:
    """Raise InputError for numbers that are probably frequencies of categories instead of values of users."""
    if getattr(getattr(series, "dtype", None), "kind", "") != "f" or len(series) < FEWEST:
        return
    numbers = np.asarray(series, np.float64)
    total = float(np.nansum(numbers))
    inside = bool(np.nanmax(np.abs(numbers)) < 1 and (numbers != 0).any())
    if inside and (abs(total - 1) < ROUNDING or (np.nanmin(numbers) < 0 and abs(total - 1) < NEAR)):
        raise InputError(
            f"sample holds {len(numbers)} numbers below 1 that sum to {total:.4g}: these are frequencies, not values "
            "of users; a raw estimate is for estimate(), and counts of users are sample_counts="
        )


def _histogram(given: ArrayLike | Mapping[Any, int] | Iterable[Any] | None, name: str) -> RawHistogram:
    """Return a sample from one count per category."""
    read = _by_label(name, given)
    counts = [whole(0)(f"every count in {name}", number) for number in read.values.tolist()]
    if sum(counts) < 1:
        raise InputError(f"{name} must hold at least 1 user, got {len(counts)} counts that sum to 0")
    rows, warnings, total = list(zip(read.labels, counts, strict=True)), list[str](), None
    if read.labelled and any(map(names_total, read.labels)):
        total, warnings = total_of([CountedRow(*row, at) for at, row in enumerate(rows, start=1)], "entry")
    kept = [row for at, row in enumerate(rows) if at != total]
    return RawHistogram(
        tuple(label for label, _ in kept),
        np.array([users for _, users in kept], dtype=np.int64),
        not read.by_frequency,
        warnings=tuple(warnings),
        categories=read.categories if total is None else (),
        ordered=read.ordered,
    )


def _by_label(name: str, given: Any) -> Labelled:
    """Return numbers by label: by key of a mapping, by place in a list, by index or column of a pandas object.

    Raises InputError if they are not flat, if the index has several levels, or if a frame has no clear numbers column.
    """
    if not is_pandas(given):
        if hasattr(given, "items"):
            pairs = list(cast("Mapping[Any, Any]", given).items())
            return Labelled([_label(key) for key, _ in pairs], np.fromiter((number for _, number in pairs), object))
        array = np.atleast_1d(np.asarray(given, dtype=object))
        if array.ndim != 1:
            raise InputError(f"{name} must be flat, one number per category, got shape {array.shape}")
        return Labelled(list(map(str, range(len(array)))), array, labelled=False)
    series = _one_series(name, given, labelled=True) if hasattr(given, "columns") else given
    if not hasattr(series, "index"):  # an index holds values alone
        return Labelled(list(map(str, range(len(series)))), series.to_numpy(dtype=object), labelled=False)
    index = series.index
    if index.nlevels > 1:
        levels = listed(str(level) for level in index.names)
        raise InputError(
            f"{name} must have one label per row, got an index of {index.nlevels} levels ({levels}): sum over the "
            f"others first, for example {name}=counts.groupby(level=0).sum()"
        )
    index = index.get_level_values(0)
    counted = series.name in BY_FREQUENCY and bool((np.diff(series.to_numpy(np.float64, na_value=0)) <= 0).all())
    labels, labelled = list(map(_label, index.tolist())), type(series.index).__name__ != "RangeIndex"
    return Labelled(labels, series.to_numpy(dtype=object), *_categories_of(index), labelled, counted)


def _categories_of(given: Any) -> tuple[tuple[str, ...], bool | None]:
    """Return all categories of a series or an index in their order, and whether the order means something.

    There are none for plain values; the order is None if the data do not say.
    """
    kind = str(given.dtype)
    if kind == "category":
        return tuple(map(_label, given.dtype.categories.tolist())), bool(given.dtype.ordered) or None
    if kind.startswith("interval"):
        return tuple(map(_label, sorted(set(given.tolist())))), True
    return (), None


def _one_series(name: str, frame: Any, *, labelled: bool = False) -> pd.Series[Any]:
    """Return the only column of a frame, or, if labels may stand beside it, the numbers by label."""
    if frame.shape[1] == 1:
        return frame.iloc[:, 0]
    columns = list(map(str, frame.columns))
    if labelled and len(columns) == 2:
        named = [at for at in range(2) if columns[at].casefold() in COUNT_NAMES]
        numeric = [at for at in range(2) if frame.dtypes.iloc[at].kind in "iuf"]
        (at,) = named if len(named) == 1 else numeric if len(numeric) == 1 else (None,)
        if at is not None:
            return frame.set_index(frame.columns[1 - at]).iloc[:, 0]
    example = "frame.set_index('label')['number']" if labelled else f"{name}=frame['column']"
    raise InputError(
        f"{name} must be one column{', its labels beside it or as its index' if labelled else ''}, got a frame of "
        f"{len(columns)} ({listed(columns, most=6)}): name it, for example {example}"
    )


def _tally(sample: Iterable[Any]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Count the raw values of a sample in memory."""
    values = sample if isinstance(sample, np.ndarray) else np.asarray(list(sample), dtype=object)
    if values.ndim != 1 or not values.size:
        raise InputError(f"sample must be a flat sequence of at least one value, got shape {values.shape}")
    if values.dtype.kind == "M":  # of nanoseconds tolist() makes whole numbers
        values = values.astype("datetime64[us]").astype(object)
    if values.dtype.kind in "iub":
        distinct, tally = np.unique(values, return_counts=True)
        return tuple(map(_label, distinct.tolist())), tally.astype(np.int64)
    counter = Counter(map(_label, values.tolist()))
    return tuple(counter), np.array(list(counter.values()), dtype=np.int64)


def _label(value: Any) -> str:
    """Return a value as the label that a file would hold; raise InputError if it is not a value."""
    several = isinstance(value, list | tuple | dict | set | np.ndarray)
    endless = isinstance(value, int) and value.bit_length() > 1024  # Python refuses to write over 4,300 digits
    missing = value is None or (not endless and str(value).strip() in ("", "NaT", "<NA>"))
    if several or endless or missing or value != value or value in (math.inf, -math.inf):
        raise InputError(f"every value and label must be a single one, got {shown(value)}: leave missing ones out")
    return label_of(value)


def is_pandas(given: object) -> TypeGuard[Any]:
    """Return whether an object comes from pandas; pandas is not imported for this."""
    pandas = sys.modules.get("pandas")
    kinds = () if pandas is None else (pandas.Series, pandas.DataFrame, pandas.Index, pandas.Categorical)
    return isinstance(given, kinds)


def in_order_of(estimate: Any, labels: Sequence[str]) -> tuple[FloatArray, IntArray | None]:
    """Return the numbers of a series or frame ``(..., k)``, with the labels along the last axis in a given order.

    Also returns the place of each label in that order. It is None if the labels are place numbers, or if the advice
    does not know the order either; then the given order is kept.

    Raises InputError for other labels.
    """
    try:
        values = np.asarray(estimate.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(NUMBERS) from None
    index = estimate.columns if hasattr(estimate, "columns") else getattr(estimate, "index", range(len(estimate)))
    own = [label_of(label) for label in index]
    placed = {label: at for at, label in enumerate(labels)}
    if len(own) != len(labels):  # the shape check refuses it
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
    return values[..., np.argsort(places)], places


def applied_to(estimate: Any, labels: Sequence[str], function: Callable[[FloatArray], FloatArray]) -> Any:
    """Return the result of a function of ``(..., k)`` as a series or frame with the original labels."""
    values, places = in_order_of(estimate, labels)
    result = function(values)
    if places is not None:
        result = result[..., places]
    if not hasattr(estimate, "index"):  # an index holds values alone
        return result
    if hasattr(estimate, "columns"):
        return type(estimate)(result, index=estimate.index, columns=estimate.columns)
    return type(estimate)(result, index=estimate.index, name=estimate.name)


@contextmanager
def file_of(source: str | Path | Iterable[Any], name: str) -> Iterator[tuple[str, bool | None]]:
    """Give a file for a ``with`` block, and whether it has a header, if known; data in memory are written to one.

    source: the name of a file; or rows, each a cell or several: a series, an array, a list, or a frame with its header.
    """
    if isinstance(source, str | Path):
        yield str(source), None
        return
    source = _plain(name, source)
    header = [str(column) for column in getattr(source, "columns", ())]
    if isinstance(source, Mapping) or (not header and _is_histogram(source)):
        raise InputError(
            f"{name} must hold one value per row, got counts by value: give all values, or "
            ".reset_index() and which column holds the counts"
        )
    if hasattr(source, "isna") and np.any(source.isna()):
        raise InputError(f"{name} must hold values, and {int(np.sum(source.isna().to_numpy()))} are missing: .dropna()")
    rows: Any = source
    if isinstance(rows, np.ndarray) and rows.dtype == bool:
        rows = rows.astype(np.uint8)  # files hold bits as 0 and 1
    elif hasattr(rows, "itertuples"):
        bits = all(dtype.kind == "b" for dtype in rows.dtypes)
        rows = (rows.astype(np.uint8) if bits else rows).itertuples(index=False)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([header] if header else [])
            writer.writerows(_cells(row, name) for row in rows)
        try:
            yield str(path), bool(header)
        except InputError as error:
            error.args = (str(error).replace(str(path), name),)
            raise


def _cells(row: Any, name: str) -> Iterable[Any]:
    if row is None or (isinstance(row, str) and not row.strip()) or (isinstance(row, float) and math.isnan(row)):
        raise InputError(f"{name} must hold values, got {row!r}: leave missing ones out")
    return row if isinstance(row, Iterable) and not isinstance(row, str) else [row]
