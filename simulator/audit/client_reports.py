"""How the reports of a client that is not ours are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray
from simulator.attacks import Supports, of_values
from simulator.foreign import ForeignError, guard, short
from simulator.hashing import LONGEST_SEEDS
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.local_hashing import OLH, LocalHashing
from simulator.protocols.protocol import StandardProtocol
from simulator.protocols.tree import Tree

MOST_LINES = 10_000  # of distinct reports
LONGEST = 60  # characters of a foreign report or message that is repeated
_LARGEST_EXACT = 2.0**53  # whole numbers above it lose digits as floats
SCALAR = -1  # "length" of objects without a length
SupportFunction = Callable[[Any, int, float], Any]

REPORTS = {key: protocol.report_kind for key, protocol in PROTOCOLS.items() if protocol.report_kind != "own"}
"""Type of the reports of each protocol whose clients can be audited."""


class ClientError(ValueError):
    """A client or its support function fails or returns an invalid result; the message is a single line."""


def report_text(value: object) -> str:
    """Return a foreign report as a short line, and its type."""
    return f"{short(value, repr, LONGEST)} ({type(value).__name__})".lstrip()


@dataclass(frozen=True)
class Reading:
    """Supports of some reports."""

    supports: Callable[[tuple[int, int]], Supports]  # which of two values each of them supports
    totals: Callable[[IntArray], IntArray]  # ``(c,)`` how many of them support each of some values


Reader = Callable[[list[Any], int], Reading]


def reader_by_type(
    reports: str, label: str, k: int, epsilon: float, name: str, symbols: int | None, files: Sequence[str] = ()
) -> Reader:
    """Return a reader of the reports of a protocol, a key of `REPORTS`; `name` is that of a hash.

    files: those that hold the reports of each value, where no client was called.

    Raises ValueError if the protocol or the hash is unknown.
    """
    kind = REPORTS.get(reports)
    if kind is None:
        raise ValueError(f"reports must be one of {', '.join(REPORTS)}, got {reports!r}")
    oracle: StandardProtocol = PROTOCOLS[reports](k, epsilon)
    if isinstance(oracle, LocalHashing):
        oracle = OLH(k, epsilon, name, symbols or oracle.g)
    form = _form(kind, oracle)
    totals = _totals(kind, oracle)

    def refusal(report: Any, value: int) -> ClientError:
        text = report_text(report)
        what = f"{files[value]} holds {text}" if files else f"{label} returned {text} for value {value}"
        order = ", the seed first in a line" if files and kind == "hash" else ""
        return ClientError(f"{what}: a report of {reports} is {form.words}{order}")

    def read(batch: list[Any], value: int) -> Reading:
        if kind == "subset":
            sets = [_as_set(report, k) for report in batch]
            if None in sets:
                raise refusal(batch[sets.index(None)], value)
            return _of_sets([some for some in sets if some is not None], k)
        array = form.array(batch)
        if array is None:  # the error names the first faulty report only
            wrong = (report for report in batch if form.array([report]) is None)
            raise refusal(next(wrong, batch[0]), value)
        proper: Any = True
        if isinstance(oracle, Tree):
            proper = oracle.proper(array)
        elif isinstance(oracle, LocalHashing):
            proper, array = array[:, 0] < oracle.g, array[:, ::-1]  # clients give the symbol first
        if not np.all(proper):
            raise refusal(batch[int(np.argmin(proper))], value)
        return Reading(partial(oracle.supports, array), partial(totals, array))

    return read


def _totals(kind: str, protocol: StandardProtocol) -> Callable[[Any, IntArray], IntArray]:
    """Return a counter: how many reports of a kind, an array, support each of some values."""

    @cache
    def table(values: tuple[int, ...]) -> NDArray[np.float32]:
        """Return which symbols support each value: quicker than for each report."""
        symbols = np.arange(getattr(protocol, "symbols", 0))
        return np.array([protocol.supports(symbols, (value, value)).first for value in values], dtype=np.float32)

    def totals(reports: Any, values: IntArray) -> IntArray:
        if kind == "node":  # at the height of a report, a single node lies above each value
            return np.count_nonzero(reports[np.arange(len(reports)), 1 + (values[:, None] >> reports[:, 0])], axis=1)
        if kind == "cells":
            return np.count_nonzero(reports == reports.max(axis=1, keepdims=True), axis=0)[values]
        if kind != "symbol" and isinstance(protocol, FrequencyOracle):
            return protocol.support(reports)[values].astype(np.int64)
        each = table(tuple(values.tolist()))
        return np.rint(each @ np.bincount(reports, minlength=each.shape[1])).astype(np.int64)

    return totals


@dataclass(frozen=True)
class _Form:
    """Format of a kind of report: array shape, bound of the entries, and description."""

    shape: tuple[int, ...]
    high: float  # entries are from 0 to below it; infinite: any numbers
    words: str

    def array(self, batch: list[Any]) -> Any:
        """Return reports as an array ``(n, *shape)``, or None if they are not of this form."""
        length = self.shape[0] if self.shape else SCALAR
        try:  # lengths first: never iterate over a report that claims billions of entries
            array = guard(lambda: np.array(batch) if all(_length(report) == length for report in batch) else None)
        except ForeignError:  # of different lengths, or no numbers, or foreign objects that raise
            return None
        if array is None or array.shape != (len(batch), *self.shape) or array.dtype.kind not in "biuf":
            return None
        if not np.isfinite(array).all():
            return None
        if self.high == np.inf:
            return array.astype(np.float64)
        whole = array.dtype.kind != "f" or not ((array != np.floor(array)).any() or (array > _LARGEST_EXACT).any())
        return array.astype(np.int64) if whole and ((array >= 0) & (array < self.high)).all() else None


def _form(kind: str, protocol: StandardProtocol) -> _Form:
    """Return the form of reports of a kind."""
    k, limit = protocol.k, int(getattr(protocol, "symbols", 2))
    if isinstance(protocol, LocalHashing):
        bits = LONGEST_SEEDS[protocol.hash]
        pair = f"a pair (symbol, seed) with a symbol in 0..{protocol.g - 1} and a seed in 0..2^{bits}-1"
        return _Form((2,), 2**bits, pair)
    node = f"a vector of 1 + k={1 + k} numbers: the height, a 0 or 1 for each node there, and zeros"
    return {
        "value": _Form((), k, f"one value in 0..{k - 1}"),
        "bits": _Form((k,), 2, f"a vector of k={k} zeros and ones"),
        "subset": _Form((), k, f"different values in 0..{k - 1}"),
        "symbol": _Form((), limit, f"one symbol in 0..{limit - 1}"),
        "cells": _Form((k,), np.inf, f"a vector of k={k} numbers"),
        "node": _Form((1 + k,), k, node),
    }[kind]


def _length(report: Any) -> int:
    try:
        return len(report)
    except TypeError:
        return SCALAR


def _as_set(report: Any, k: int) -> set[int] | None:
    """Return the different values in 0..k-1 that a report lists, or None if it is no such list."""

    def read() -> set[int] | None:
        if isinstance(report, str | bytes | dict):
            return None
        listed = list(islice(report, k + 1))  # a set of values has at most k, and a report may have no end
        some = {int(value) for value in listed if not isinstance(value, str | bytes) and bool(value == int(value))}
        return some if len(some) == len(listed) and all(0 <= value < k for value in some) else None

    try:
        return guard(read)
    except ForeignError:
        return None


def _of_sets(sets: list[set[int]], k: int) -> Reading:
    def supports(values: tuple[int, int]) -> Supports:
        first, second = (np.array([value in some for some in sets]) for value in values)
        return Supports(first, second, np.array([len(some) for some in sets]), k)

    listed = np.array([*chain(*sets)], dtype=np.int64)
    return Reading(supports, lambda values: np.bincount(listed, minlength=k)[values])


def reader_by_function(support: SupportFunction, label: str, k: int, epsilon: float) -> Reader:
    """Return a reader of reports that uses a function listing the values a report supports."""
    name = getattr(support, "__name__", "the support function")

    def supported(report: Any, value: int) -> set[int]:
        try:
            listed = guard(lambda: support(report, k, epsilon), LONGEST)
        except ForeignError as error:
            raise ClientError(
                f"{name} failed on the report {report_text(report)} of {label} for value {value}: {error}"
            ) from error
        some = _as_set(listed, k)
        if some is None:
            raise ClientError(
                f"{name} returned {report_text(listed)} for the report {report_text(report)}: it must give the "
                f"different values in 0..{k - 1} that the report supports"
            )
        return some

    return lambda batch, value: _of_sets([supported(report, value) for report in batch], k)


def reader_of_lines(explored: Iterable[Any]) -> tuple[Reader, list[Any]]:
    """Return a reader of reports that only compares them for equality, and the distinct reports it knows.

    These are the most frequent ones of some that are `explored`. A report supports its place among them, or the place
    after the last if it is not among them.

    Raises ValueError where hardly two are equal, so that nothing shows in them.
    """
    counts = Counter(explored)
    if 2 * len(counts) > counts.total():
        raise ValueError(
            f"{len(counts):,} of {counts.total():,} lines are different, and nothing shows in lines that occur once: "
            "say with reports which protocol they are of, or with support what each supports"
        )
    told_apart = [line for line, _ in counts.most_common(MOST_LINES)]
    place, others = {line: at for at, line in enumerate(told_apart)}, len(told_apart)

    def read(batch: list[Any], held: int) -> Reading:
        numbers = np.array([place.get(line, others) for line in batch], dtype=np.int64)
        return Reading(
            lambda signs: of_values(numbers, others + 1, signs),
            lambda signs: np.bincount(numbers, minlength=others + 1)[signs],
        )

    return read, told_apart
