"""Audit of a client that is not ours: any function ``f(value, k, epsilon) -> report``."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from simulator._types import IntArray
from simulator.audit.attack import ATTACKS, Supports, of_bits, of_hashes, of_largest, of_values
from simulator.audit.run import ALPHA, Audit, Subject, check_audit, conclude
from simulator.hashing import HASHES, SEED_BITS
from simulator.protocols.local_hashing import BLH, OLH
from simulator.seeding import rng_for

Client = Callable[..., Any]
SupportFunction = Callable[[Any, int, float], Any]

CLIENT_TRIALS = 20_000  # calls for each of the two values: foreign code runs one report at a time
BLOCK = 2_000  # reports held at once
LONGEST = 60  # characters of a foreign report or message that is repeated

REPORTS = {
    "grr": "value",
    "rappor": "bits",
    "oue": "bits",
    "the": "bits",
    "blh": "hash",
    "olh": "hash",
    "ss": "subset",
    "she": "cells",
}
"""Type of the reports of each protocol whose clients can be audited."""


class ClientError(ValueError):
    """A client, or the support function for it, fails or returns what it should not; one line says what."""


def audit_client(
    client: Client,
    k: int,
    epsilon: float,
    reports: str | None = None,
    *,
    support: SupportFunction | None = None,
    trials: int = CLIENT_TRIALS,
    alpha: float = ALPHA,
    attack: str = "both",
    values: tuple[int, int] = (0, 1),
    hash: str = "xxh32",  # noqa: A002 - the field's word
    symbols: int | None = None,
    seed: int = 0,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Audit a client of which nothing but its reports is known.

    Parameters
    ----------
    client
        Called as ``client(value, k, epsilon)`` with a value in 0..k-1, and ``rng=`` a generator if it takes one.
        Without one, it gets the same random numbers for the same `seed` if it draws them from `random` or from numpy's
        global generator; the state of both is put back afterwards.
    reports
        Protocol whose reports it makes, a key of `REPORTS`: ``"oue"`` a vector of k zeros and ones, ``"grr"`` a value,
        ``"ss"`` the values of a subset, ``"olh"`` a pair (symbol, seed), ``"she"`` a vector of k numbers.
    support
        Instead: ``support(report, k, epsilon)`` gives the values in 0..k-1 that a report supports.
    trials, values, seed
        As in `audit_protocol`.
    alpha, attack
        As in `audit_protocol`. ``"both"`` tries both attacks, each at ``alpha / 2``, and gives the one with the higher
        bound, so that a client which keeps its promise is flagged with probability `alpha` at most.
    hash, symbols
        For pairs: the hash function (a key of `simulator.hashing.HASHES`) and the number of symbols; default: what the
        protocol uses.
    name
        What the client is called.
    progress
        Called with (calls done, calls in all).

    Raises
    ------
    ClientError
        If the client or the support function raises, or returns something of the wrong type.
    ValueError
        If a parameter is outside its range.
    """
    check_audit(k, values, "guess" if attack == "both" else attack, trials, alpha)
    if (reports is None) == (support is None):
        raise ValueError("either reports or support says how reports are read: give one of the two")
    called = name or str(getattr(client, "__name__", "the client"))
    read = (
        _by_function(support, called, k, epsilon, values)
        if support is not None
        else _by_type(str(reports), called, k, epsilon, values, hash, symbols)
    )
    tried = ATTACKS if attack == "both" else (attack,)
    counts = {one: [0, 0] for one in tried}
    call = _caller(client, called, k, epsilon)
    for place, held in enumerate(values):
        rng = rng_for(seed, "audit", "client", k, repr(epsilon), held)
        with _seeded(int(rng.integers(2**32))):
            for start in range(0, trials, BLOCK):
                size = min(BLOCK, trials - start)
                seen = read([call(held, rng) for _ in range(size)], held)
                coins = rng.random(size)
                for one in tried:
                    counts[one][place] += int(np.count_nonzero(coins < seen.chances(one)))
                if progress is not None:
                    progress(place * trials + start + size, 2 * trials)
    found = [
        conclude(
            Subject(called, epsilon, k, None, epsilon, None, attack=one, values=values),
            *counts[one],
            trials=trials,
            alpha=alpha / len(tried),
        )
        for one in tried
    ]
    return replace(max(found, key=lambda audit: audit.epsilon_lower_bound), alpha=alpha)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the two global generators for a while: clients of other packages draw from them, and know no other stream.

    What the caller had drawn from them goes on where it was.
    """
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002 - it is theirs
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the generator that such a client reads
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002


def _caller(client: Client, called: str, k: int, epsilon: float) -> Callable[[int, np.random.Generator], Any]:
    try:
        takes_rng = "rng" in inspect.signature(client).parameters
    except (TypeError, ValueError):  # builtins may have no signature
        takes_rng = False

    def call(value: int, rng: np.random.Generator) -> Any:
        try:
            return client(value, k, epsilon, rng=rng) if takes_rng else client(value, k, epsilon)
        except (Exception, SystemExit) as error:  # foreign code may raise anything, or try to leave
            raise ClientError(
                f"{called} failed for value {value}, k={k}, epsilon={epsilon:g}: {_described(error)}"
            ) from error

    return call


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {_short(str(error))}".rstrip(": ")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


Reader = Callable[[list[Any], int], Supports]


def _by_type(
    reports: str, called: str, k: int, epsilon: float, values: tuple[int, int], name: str, symbols: int | None
) -> Reader:
    kind = REPORTS.get(reports, "")
    if not kind:
        raise ValueError(f"reports must be one of {', '.join(REPORTS)}, got {reports!r}")
    if kind == "hash" and name not in HASHES:
        raise ValueError(f"hash must be one of {', '.join(HASHES)}, got {name!r}")
    g = symbols or (BLH if reports == "blh" else OLH)(k, epsilon).g
    expected = {
        "value": f"one value in 0..{k - 1}",
        "bits": f"a vector of k={k} zeros and ones",
        "subset": f"different values in 0..{k - 1}",
        "hash": f"a pair (symbol, seed) with a symbol in 0..{g - 1} and a seed in 0..2^{SEED_BITS}-1",
        "cells": f"a vector of k={k} numbers",
    }[kind]

    def refuse(report: Any, held: int) -> ClientError:
        return ClientError(
            f"{called} returned {_short(repr(report))} ({type(report).__name__}) for value {held}: "
            f"a report of {reports} is {expected}"
        )

    def numbers(batch: list[Any], held: int, shape: tuple[int, ...], high: float, *, whole: bool) -> Any:
        """Return the batch as one array; where that fails, name the first report that is at fault."""
        array = _as_array(batch, shape, high, whole=whole)
        if array is None:
            wrong = next(report for report in batch if _as_array([report], shape, high, whole=whole) is None)
            raise refuse(wrong, held)
        return array

    def read(batch: list[Any], held: int) -> Supports:
        if kind == "subset":
            sets = [_as_set(report, k) for report in batch]
            for report, held_by_it in zip(batch, sets, strict=True):
                if held_by_it is None:
                    raise refuse(report, held)
            return _of_sets([some for some in sets if some is not None], k, values)
        if kind == "cells":
            return of_largest(numbers(batch, held, (k,), np.inf, whole=False), k, values)
        if kind == "value":
            return of_values(numbers(batch, held, (), k, whole=True), k, values)
        if kind == "bits":
            return of_bits(numbers(batch, held, (k,), 2, whole=True), k, values)
        pairs: IntArray = numbers(batch, held, (2,), 2**SEED_BITS, whole=True)
        if (pairs[:, 0] >= g).any():
            raise refuse(batch[int(np.argmax(pairs[:, 0] >= g))], held)
        return of_hashes(pairs[:, 1], pairs[:, 0], k, values, g=g, name=name)

    return read


def _as_array(batch: list[Any], shape: tuple[int, ...], high: float, *, whole: bool) -> Any:
    """Return reports as one array ``(n, *shape)`` of numbers from 0 (if whole) to below `high`, or None."""
    try:
        array = np.array(batch)
    except (ValueError, TypeError, OverflowError):  # of different lengths, or no numbers
        return None
    if array.shape != (len(batch), *shape) or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        return None
    if not whole:
        return array.astype(np.float64)
    if (array != np.floor(array)).any() or (array < 0).any() or (array >= high).any():
        return None
    return array.astype(np.int64)


def _as_set(report: Any, k: int) -> set[int] | None:
    """Return the different values in 0..k-1 that a report lists, or None if it is no such list."""
    if isinstance(report, str | bytes | dict):
        return None
    try:
        listed = list(report)
        some = {int(value) for value in listed if not isinstance(value, str | bytes) and value == int(value)}
    except (TypeError, ValueError, OverflowError):
        return None
    return some if len(some) == len(listed) and all(0 <= value < k for value in some) else None


def _of_sets(sets: list[set[int]], k: int, values: tuple[int, int]) -> Supports:
    first, second = (np.array([value in some for some in sets]) for value in values)
    return Supports(first, second, np.array([len(some) for some in sets]), k)


def _by_function(support: SupportFunction, called: str, k: int, epsilon: float, values: tuple[int, int]) -> Reader:
    name = getattr(support, "__name__", "the support function")

    def supported(report: Any, held: int) -> set[int]:
        try:
            listed = support(report, k, epsilon)
        except (Exception, SystemExit) as error:  # foreign code may raise anything, or try to leave
            raise ClientError(
                f"{name} failed on the report {_short(repr(report))} of {called} for value {held}: {_described(error)}"
            ) from error
        some = _as_set(listed, k)
        if some is None:
            raise ClientError(
                f"{name} returned {_short(repr(listed))} ({type(listed).__name__}) for the report "
                f"{_short(repr(report))}: it must give the different values in 0..{k - 1} that the report supports"
            )
        return some

    return lambda batch, held: _of_sets([supported(report, held) for report in batch], k, values)
