"""Audit of a client that is not ours: any function ``f(value, k, epsilon) -> report``."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.audit.client_reports import (
    LONGEST,
    REPORTS,
    ClientError,
    Reader,
    SupportFunction,
    reader_by_function,
    reader_by_type,
)
from simulator.audit.run import ALPHA, ATTACKS, Audit, Subject, check_audit, conclude
from simulator.foreign import ForeignError, containment, guard
from simulator.hashing import DEFAULT_HASH
from simulator.seeding import rng_for

__all__ = ["REPORTS", "ClientError", "audit_client"]

Client = Callable[..., Any]
Call = Callable[[int, int, np.random.Generator], list[Any]]

CLIENT_TRIALS = 20_000  # calls for each of the two values: foreign code runs one report at a time
BLOCK = 2_000  # reports held at once


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
    hash: str = DEFAULT_HASH,  # noqa: A002 - the field's word
    symbols: int | None = None,
    seed: int = 0,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Audit a client of which nothing but its reports is known.

    Parameters
    ----------
    client
        Called as ``client(value, k, epsilon)``, and ``rng=`` a generator if it takes one. Else `random` and numpy's
        global generator give it the same numbers for the same `seed`; their states are put back afterwards.
    reports
        Protocol whose reports it makes, a key of `REPORTS`: ``"oue"`` a vector of k zeros and ones, ``"grr"`` a value,
        ``"ss"`` the values of a subset, ``"olh"`` a pair (symbol, seed), ``"she"`` k numbers, ``"pgr"`` a symbol.
    support
        Instead: ``support(report, k, epsilon)`` gives the values in 0..k-1 that a report supports.
    trials, alpha, attack, values, seed
        As in `audit_protocol`. ``"both"`` tries both attacks, each at ``alpha / 2``, and gives the one with the higher
        bound, so that a client which keeps its promise is flagged with probability `alpha` at most.
    hash, symbols
        For pairs: a key of `simulator.hashing.HASHES`, and the number of symbols (default: that of the protocol).
    name, progress
        What the client is called; called with (calls done, calls in all).

    Raises
    ------
    ClientError
        If the client or the support function raises, or returns something wrong.
    ValueError
        If a parameter is outside its range.
    """
    check_audit(k, values, "guess" if attack == "both" else attack, trials, alpha)
    if (reports is None) == (support is None):
        raise ValueError("either reports or support says how reports are read: give one of the two")
    called = name or str(getattr(client, "__name__", "the client"))
    if support is not None:
        read = reader_by_function(support, called, k, epsilon, values)
    else:
        read = reader_by_type(str(reports), called, k, epsilon, values, hash, symbols)
    tried = ATTACKS if attack == "both" else (attack,)
    add = _adding(progress, 2 * trials)
    with containment() as check:
        call = _caller(client, called, k, epsilon, check)
        counts = [_counted(call, read, value, tried, trials, (seed, k, epsilon), add) for value in values]
    subject = Subject(protocol=called, epsilon=epsilon, k=k, values=values, epsilon_guaranteed=epsilon)
    each = alpha / len(tried)
    found = (
        conclude(replace(subject, attack=one), *(n[one] for n in counts), trials=trials, alpha=each) for one in tried
    )
    return replace(max(found, key=lambda audit: audit.epsilon_lower_bound), alpha=alpha)


def _counted(
    call: Call,
    read: Reader,
    value: int,
    attacks: tuple[str, ...],
    trials: int,
    stream: tuple[int, int, float],
    progress: Callable[[int], None],
) -> dict[str, int]:
    """Call the client for one value, and count for each attack how often it names the first of the two."""
    seed, k, epsilon = stream
    rng = rng_for(seed, "audit", "client", k, repr(epsilon), value)
    counts = dict.fromkeys(attacks, 0)
    with _seeded(int(rng.integers(2**32))):
        for start in range(0, trials, BLOCK):
            size = min(BLOCK, trials - start)
            # One is read before thousands of them are in memory, and none twice: a report may be an iterator.
            parts = [read(call(value, calls, rng), value) for calls in (1, size - 1) if calls]
            coins = rng.random(size)
            for one in attacks:
                counts[one] += int(np.count_nonzero(coins < np.concatenate([part.chances(one) for part in parts])))
            progress(size)
    return counts


def _adding(progress: Callable[[int, int], None] | None, total: int) -> Callable[[int], None]:
    """Return what adds up the calls that are done and tells how many of all."""
    done = 0

    def add(calls: int) -> None:
        nonlocal done
        done += calls
        if progress is not None:
            progress(done, total)

    return add


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


def _caller(client: Client, called: str, k: int, epsilon: float, check: Callable[[], None]) -> Call:
    """Return what calls a client so many times for one value; `check` is that of `containment`."""
    try:
        takes_rng = "rng" in inspect.signature(client).parameters
    except (TypeError, ValueError, AttributeError):  # builtins may have no signature
        takes_rng = False

    def call(value: int, times: int, rng: np.random.Generator) -> list[Any]:
        def once() -> Any:
            return client(value, k, epsilon, rng=rng) if takes_rng else client(value, k, epsilon)

        try:
            reports = [guard(once, LONGEST) for _ in range(times)]
            check()
            return reports
        except ForeignError as error:
            raise ClientError(f"{called} failed for value {value}, k={k}, epsilon={epsilon:g}: {error}") from error

    return call
