"""Audit of a foreign client: any function ``f(value, k, epsilon) -> report``, or files of its reports."""

from __future__ import annotations

import inspect
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray
from simulator.attacks import Supports, of_values
from simulator.audit.run import ALPHA, ATTACKS, Audit, Subject, ceiling, conclude
from simulator.foreign import ForeignError, containment, guard, short
from simulator.hashing import DEFAULT_HASH, LONGEST_SEEDS
from simulator.progress import Steps
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.local_hashing import OLH, LocalHashing
from simulator.protocols.protocol import StandardProtocol
from simulator.protocols.tree import Tree
from simulator.seeding import rng_for

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


def reader_by_type(settings: ClientSettings, label: str, files: Sequence[str]) -> Reader:
    """Return a reader of the reports of a protocol, a key of `REPORTS`.

    files: those that hold the reports of each value, where no client was called.

    Raises ValueError if the protocol or the hash is unknown.
    """
    reports, k, epsilon = str(settings.reports), settings.k, settings.epsilon
    kind = REPORTS.get(reports)
    if kind is None:
        raise ValueError(f"reports must be one of {', '.join(REPORTS)}, got {reports!r}")
    oracle: StandardProtocol = PROTOCOLS[reports](k, epsilon)
    if isinstance(oracle, LocalHashing):
        oracle = OLH(k, epsilon, settings.hash, settings.symbols or oracle.g)
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


MOST_VALUES, FEWEST_REPORTS = 1_000, 10  # values that are tried, and reports of each
MOST_CELLS = 10_000_000  # values that are tried times the domain size
DEVIATIONS = 2.0  # of the intervals by which ratios are compared, so that few reports are not suspicious by chance


class Suspicion(NamedTuple):
    """Two values that reports seem to distinguish, and their signs."""

    values: tuple[int, int]  # v1 and v2, as rows of the counts
    sign: int  # supported by more reports of v1 than of v2
    other: int  # supported by more reports of v2


def values_to_try(k: int, reports: int, seed: int) -> IntArray:
    """Return the values to examine with this number of reports, in order: all, or a random sample."""
    number = min(k, max(2, min(MOST_VALUES, reports // FEWEST_REPORTS, MOST_CELLS // k)))
    if number == k:
        return np.arange(k)
    return np.sort(rng_for(seed, "audit", "values", k, number).choice(k, number, replace=False))


def most_suspicious(supported: IntArray, reports: int, own: Sequence[int] | None = None) -> Suspicion:
    """Return the two values whose reports differ most.

    The first value is compared with all others together, as that uses many more reports than a comparison of two
    values. The second value is that with the least (or most) of the sign that the first has most (or least).

    supported: ``(m, c)`` how many of the `reports` of each of m values support each of c signs.
    own: the columns of the m values; None if not known.
    """
    rest = supported.sum(axis=0) - supported
    low, high = _wilson(supported, reports)
    rest_low, rest_high = _wilson(rest, (len(supported) - 1) * reports)
    more, less = low / rest_high, rest_low / high
    row, sign = map(int, np.unravel_index(np.argmax(np.maximum(more, less)), more.shape))
    others = np.delete(np.arange(len(supported)), row)
    column = supported[others, sign]
    if more[row, sign] >= less[row, sign]:
        values = row, int(others[np.argmin(column)])
    else:
        values = int(others[np.argmax(column)]), row
    first, second = values
    if own is not None:
        return Suspicion(values, sign, own[second] if own[second] != sign else own[first])
    gain = supported[second] - supported[first]
    gain[sign] = gain.min()
    return Suspicion(values, sign, int(np.argmax(gain)))


def _wilson(successes: IntArray, trials: int) -> tuple[FloatArray, FloatArray]:
    """Return the ends of Wilson's intervals of probabilities: quick, and never 0 at the upper end."""
    share, spread = successes / trials, DEVIATIONS**2 / trials
    middle = share + spread / 2
    half = DEVIATIONS * np.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return np.maximum(middle - half, 0.0) / (1 + spread), (middle + half) / (1 + spread)


Client = Callable[..., Any]
Call = Callable[[int, int, np.random.Generator], list[Any]]

CLIENT_TRIALS = 20_000  # half of the calls: foreign code runs a report at a time
BLOCK = 2_000  # reports in memory at once


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """How the reports of a client are read and attacked.

    Attributes
    ----------
    k, epsilon
        Domain size, and the budget that is promised.
    reports
        Protocol whose reports it makes, a key of `REPORTS`: ``"oue"`` a vector of k zeros and ones, ``"grr"`` a value,
        ``"ss"`` the values of a subset, ``"olh"`` a pair (symbol, seed), ``"she"`` k numbers, ``"pgr"`` a symbol.
    support
        Instead: ``support(report, k, epsilon)`` gives the values in 0..k-1 that a report supports.
    hash, symbols
        For pairs: a key of `simulator.hashing.HASHES`, and the number of symbols (default: that of the protocol).
    attack
        As in `protocol_subject`. ``"both"`` tries both attacks, each at ``alpha / 2``, and returns the higher bound, so
        that a client which keeps its promise is flagged with probability `alpha` at most.
    values
        v1 and v2; None: those with the largest apparent leak.
    trials
        Half of the calls. Without `values`, half of the calls go to all values (if k is large, to a random sample), and
        select the two to distinguish; the bound rests on the other half only, ``trials // 2`` reports of each of the
        two, so that the search over many values does not reduce the confidence.
    alpha, seed
        Probability that the bounds miss, and seed of all draws.
    name, progress
        Name of the client; callback for (calls done, calls in all).

    Raises
    ------
    ValueError
        If a parameter is outside its range.
    """

    k: int
    epsilon: float
    reports: str | None = None
    support: SupportFunction | None = None
    hash: str = DEFAULT_HASH
    symbols: int | None = None
    attack: str = "both"
    values: tuple[int, int] | None = None
    trials: int = CLIENT_TRIALS
    alpha: float = ALPHA
    seed: int = 0
    name: str | None = None
    progress: Steps | None = None

    def __post_init__(self) -> None:
        if self.attack not in ("both", *ATTACKS):
            raise ValueError(f"attack must be one of {', '.join(ATTACKS)}, got {self.attack!r}")
        first, second = self.values or (0, 1)
        if first == second or not all(0 <= value < self.k for value in (first, second)):
            raise ValueError(f"values must be two different ones of 0..{self.k - 1}, got {first} and {second}")
        if self.trials < 1:
            raise ValueError(f"trials must be at least 1, got {self.trials}")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be between 0 and 1, got {self.alpha:g}")

    def reader(self, label: str, files: Sequence[str] = ()) -> Reader:
        """Return the reader of the reports; raises ValueError if the protocol or the hash is unknown."""
        if self.support is not None:
            return reader_by_function(self.support, label, self.k, self.epsilon)
        return reader_by_type(self, label, files)


def audit_client(client: Client, k: int, epsilon: float, reports: str | None = None, **how: Any) -> Audit:
    """Audit a client from its reports only.

    Parameters
    ----------
    client
        Called as ``client(value, k, epsilon)``, and ``rng=`` a generator if it accepts this. Else `random` and numpy's
        global generator give it the same numbers for the same `seed`; their states are put back afterwards.
    k, epsilon, reports, how
        Fields of `ClientSettings`.

    Raises
    ------
    ClientError
        If the client or the support function raises, or returns something wrong.
    ValueError
        If a parameter is outside its range.
    """
    settings = ClientSettings(k=k, epsilon=epsilon, reports=reports, **how)
    label = settings.name or str(getattr(client, "__name__", "the client"))
    trials, values = settings.trials, settings.values
    read = settings.reader(label)
    with containment():
        run = _Run(settings, _caller(client, label, k, epsilon), read, 2 * trials)
        if values is not None:
            tried, signs = 2, values
        else:
            among = values_to_try(k, trials, settings.seed)
            tried = len(among)
            values, signs = run.search(among, max(1, trials // tried), among, range(tried))
            trials = max(1, trials // 2)
        subject = Subject(
            protocol=label,
            epsilon=epsilon,
            k=k,
            values=values,
            looked_for=None if signs == values else signs,
            tried=tried,
            epsilon_guaranteed=epsilon,
        )
        return run.attacked(subject, signs, trials, ATTACKS if settings.attack == "both" else (settings.attack,))


def audit_reports(
    files: Mapping[str, Sequence[Any]], epsilon: float, reports: str | None = None, *, k: int | None = None, **how: Any
) -> Audit:
    """Audit reports that a client has written, in any language.

    Parameters
    ----------
    files
        Reports of a true value, by the name of the file; at least two. Which values these are does not matter. As many
        reports are drawn from each as the shortest has: half of them select the two files to distinguish, and the sign;
        the others give the bound.
    epsilon, reports, k, how
        Fields of `ClientSettings`, but for `values` and `trials`. With neither `reports` nor `support`, reports are
        compared for equality only, and the attack is ``"line"``: the answer is v1 if a report equals the line that
        indicates v1 best.

    Raises
    ------
    ClientError
        If a report is not of its kind, or the support function raises, or returns something wrong.
    ValueError
        If a parameter is outside its range, there are too few reports, or hardly two of them are equal.
    """
    names = tuple(files)
    settings = ClientSettings(k=len(names) if k is None else k, epsilon=epsilon, reports=reports, **how)
    opaque = reports is None and settings.support is None
    attacks = ("line",) if opaque else ATTACKS if settings.attack == "both" else (settings.attack,)
    half = _half(files, epsilon, settings.alpha / len(attacks))
    drawn = [
        [own[at] for at in rng_for(settings.seed, "audit", "files", place).permutation(len(own))[: 2 * half].tolist()]
        for place, own in enumerate(files.values())
    ]
    label = settings.name or f"client of {len(names)} files"
    lines: list[Any] = []
    if opaque:
        read, lines = reader_of_lines(line for own in drawn for line in own[:half])
    else:
        read = settings.reader(label, names)
    left = [iter(own) for own in drawn]
    with containment():
        run = _Run(settings, lambda at, times, _: list(islice(left[at], times)), read, (len(names) + 2) * half)
        values, signs = run.search(np.arange(len(names)), half, np.arange(len(lines) or settings.k))
        subject = Subject(
            protocol=label,
            epsilon=epsilon,
            k=settings.k,
            values=values,
            looked_for=(lines[signs[0]],) if opaque else signs,
            tried=len(names),
            files=(names[values[0]], names[values[1]]),
            epsilon_guaranteed=epsilon,
        )
        return run.attacked(subject, signs, half, attacks)


def _half(files: Mapping[str, Sequence[Any]], epsilon: float, level: float) -> int:
    """Return half of the reports of the shortest file; raise ValueError if these are too few to show a leak."""
    shortest = min(files, key=lambda name: len(files[name]))
    half = len(files[shortest]) // 2
    if half and ceiling(half, level) > epsilon:
        return half
    enough = 1
    while ceiling(enough, level) <= epsilon:
        enough *= 2
    raise ValueError(
        f"{shortest} has {len(files[shortest]):,} reports, and so few cannot show a loss above {epsilon:g}: give "
        f"at least {2 * enough:,} of each value"
    )


@dataclass
class _Run:
    """Reports of a client, block by block."""

    settings: ClientSettings
    call: Call
    read: Reader
    total: int  # calls in all, and those that are done
    done: int = 0

    def search(
        self, values: IntArray, size: int, signs: IntArray, own: Sequence[int] | None = None
    ) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the two of some values whose reports differ most, and their signs; `attacked` sees other reports.

        own: the places of the values among the signs; None if not known.
        """
        supported = [
            np.sum([part.totals(signs) for parts, _ in self.blocks("search", value, size) for part in parts], axis=0)
            for value in values.tolist()
        ]
        found = most_suspicious(np.array(supported), size, own)
        first, second = (int(values[row]) for row in found.values)
        return (first, second), (int(signs[found.sign]), int(signs[found.other]))

    def attacked(self, subject: Subject, signs: tuple[int, int], trials: int, attacks: tuple[str, ...]) -> Audit:
        """Return the audit of the attack with the highest bound; all of them hold together."""
        counts = {value: dict.fromkeys(attacks, 0) for value in subject.values}
        for value, hits in counts.items():
            for parts, rng in self.blocks("client", value, trials):
                supports = [part.supports(signs) for part in parts]
                coins = rng.random(sum(len(one.size) for one in supports))
                for attack in attacks:
                    chances = np.concatenate([one.chances(attack) for one in supports])
                    hits[attack] += int(np.count_nonzero(coins < chances))
        alpha, (first, second) = self.settings.alpha, counts.values()
        found = (
            conclude(replace(subject, attack=one), first[one], second[one], trials=trials, alpha=alpha / len(attacks))
            for one in attacks
        )
        return replace(max(found, key=lambda audit: audit.epsilon_lower_bound), alpha=alpha)

    def blocks(self, stage: str, value: int, size: int) -> Iterator[tuple[list[Reading], np.random.Generator]]:
        """Yield the given number of reports of a value in blocks, with the generator of the stage."""
        rng = rng_for(self.settings.seed, "audit", stage, self.settings.k, repr(self.settings.epsilon), value)
        # Clients of other packages draw from the two global generators, and know no other stream. The containment of
        # the audit puts back the caller's.
        legacy = int(rng.integers(2**32))
        random.seed(legacy)
        np.random.seed(legacy)  # noqa: NPY002 - the generator that such a client reads
        for start in range(0, size, BLOCK):
            block = min(BLOCK, size - start)
            # The first report is read before thousands are in memory, and no report twice: it may be an iterator.
            yield [self.read(self.call(value, calls, rng), value) for calls in (1, block - 1) if calls], rng
            self.done += block
            if self.settings.progress is not None:
                self.settings.progress(self.done, self.total)


def _caller(client: Client, label: str, k: int, epsilon: float) -> Call:
    """Return a function that calls a client a given number of times for a value."""
    try:
        takes_rng = "rng" in inspect.signature(client).parameters
    except (TypeError, ValueError, AttributeError):  # builtins may have no signature
        takes_rng = False

    def call(value: int, times: int, rng: np.random.Generator) -> list[Any]:
        def once() -> Any:
            return client(value, k, epsilon, rng=rng) if takes_rng else client(value, k, epsilon)

        try:
            with np.errstate():  # the client's own may stay
                return [guard(once, LONGEST) for _ in range(times)]
        except ForeignError as error:
            raise ClientError(f"{label} failed for value {value}, k={k}, epsilon={epsilon:g}: {error}") from error

    return call
