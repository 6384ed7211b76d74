"""Clients and servers of packages that people use, under one interface: what the studies and tests about them share.

Needs the packages, which are the extra ``peers``, and nothing of ldp-advise: with ``--serve`` it times them for
``tests/benchmarks/bench_peers.py`` in an environment of their own. They draw from the global generators of Python and
numpy, and numba's.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Report = Any  # what one user sends, in the form of the package


class Ends(NamedTuple):
    """The two ends of a collection, for one domain size k and budget."""

    perturb: Callable[[int], Report]  # of a value 0..k-1
    estimate: Callable[[Sequence[Report]], NDArray[np.float64]]  # frequencies ``(k,)`` as the package gives them
    server: Any = None  # the package's own object, where it has one


@dataclass(frozen=True)
class Peer:
    """A protocol of a package."""

    package: str  # as pip knows it
    name: str  # class or function of the client
    protocol: str  # key of the same protocol in ldp-advise
    make: Callable[[int, float], Ends]  # of k and epsilon
    clips: bool = False  # whether its estimate is clipped at 0 and rescaled to sum 1

    @property
    def version(self) -> str:
        """Return the version that is installed."""
        return importlib.metadata.version(self.package)

    def client(self, value: int, k: int, epsilon: float) -> Report:
        """Return the report of a user, as ``ldp-advise audit --target`` wants it."""
        return self.ends(k, epsilon).perturb(value)

    def ends(self, k: int, epsilon: float) -> Ends:
        """Return client and server, made once: some share what they drew at random."""
        return _made(self.make, k, epsilon)


@lru_cache(maxsize=8)
def _made(make: Callable[[int, float], Ends], k: int, epsilon: float) -> Ends:
    return make(k, epsilon)


def _same(value: int) -> int:
    """Return the value: categories are numbered from 0, for pure-ldp from 1 unless it is told."""
    return value


def _pure(stem: str, **options: bool) -> Callable[[int, float], Ends]:
    def make(k: int, epsilon: float) -> Ends:
        module = importlib.import_module("pure_ldp.frequency_oracles")
        server = getattr(module, f"{stem}Server")(epsilon, k, index_mapper=_same, **options)
        shared = {"hash_funcs": server.get_hash_funcs()} if stem == "HadamardResponse" else options
        user = getattr(module, f"{stem}Client")(epsilon, k, index_mapper=_same, **shared)

        def estimate(reports: Sequence[Report]) -> NDArray[np.float64]:
            server.reset()
            server.aggregate_all(reports)
            return np.asarray(server.estimate_all(range(k), suppress_warnings=True)) / len(reports)

        return Ends(user.privatise, estimate, server)

    return make


def _multi(module: str, stem: str, *options: bool, server_only: tuple[bool, ...] = ()) -> Callable[[int, float], Ends]:
    def make(k: int, epsilon: float) -> Ends:
        functions = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{module}")
        perturb, estimate = getattr(functions, f"{stem}_Client"), getattr(functions, f"{stem}_Aggregator_MI")
        size = () if stem == "UE" else (k,)  # the length of a unary report says k
        return Ends(
            lambda value: perturb(value, k, epsilon, *options),
            lambda reports: np.asarray(estimate(reports, *size, epsilon, *options, *server_only)),
        )

    return make


def _toolbox(module: str, name: str, *options: bool) -> Callable[[int, float], Ends]:
    def make(k: int, epsilon: float) -> Ends:
        from joblib import parallel_config

        protocol = getattr(importlib.import_module(f"ldp_toolbox.protocols.frequency.{module}"), name)(
            k, epsilon, *options
        )

        def estimate(reports: Sequence[Report]) -> NDArray[np.float64]:
            with parallel_config(backend="sequential"):  # local hashing would start a process for each core
                return np.asarray(protocol.estimate(reports))

        return Ends(protocol.obfuscate, estimate)

    return make


PURE, MULTI, TOOLBOX = "pure-ldp", "multi-freq-ldpy", "ldp-toolbox"

PEERS: tuple[Peer, ...] = (
    Peer(PURE, "DEClient", "grr", _pure("DE")),
    Peer(PURE, "UEClient", "rappor", _pure("UE", use_oue=False)),
    Peer(PURE, "UEClient, use_oue", "oue", _pure("UE", use_oue=True)),
    Peer(PURE, "LHClient", "blh", _pure("LH", use_olh=False)),
    Peer(PURE, "LHClient, use_olh", "olh", _pure("LH", use_olh=True)),
    Peer(PURE, "HEClient", "she", _pure("HE")),
    Peer(PURE, "HadamardResponseClient", "hr", _pure("HadamardResponse")),
    Peer(MULTI, "GRR_Client", "grr", _multi("GRR", "GRR"), clips=True),
    Peer(MULTI, "UE_Client, not optimal", "rappor", _multi("UE", "UE", False), clips=True),
    Peer(MULTI, "UE_Client", "oue", _multi("UE", "UE", True), clips=True),
    Peer(MULTI, "LH_Client, not optimal", "blh", _multi("LH", "LH", False), clips=True),
    Peer(MULTI, "LH_Client", "olh", _multi("LH", "LH", True), clips=True),
    Peer(MULTI, "SS_Client", "ss", _multi("SS", "SS"), clips=True),
    Peer(MULTI, "HE_Client", "she", _multi("HE", "HE", server_only=(False,)), clips=True),
    Peer(TOOLBOX, "GeneralizedRandomizedResponse", "grr", _toolbox("grr", "GeneralizedRandomizedResponse"), clips=True),
    Peer(TOOLBOX, "UnaryEncoding, not optimal", "rappor", _toolbox("ue", "UnaryEncoding", False), clips=True),
    Peer(TOOLBOX, "UnaryEncoding", "oue", _toolbox("ue", "UnaryEncoding", True), clips=True),
    Peer(TOOLBOX, "LocalHashing, not optimal", "blh", _toolbox("lh", "LocalHashing", False), clips=True),
    Peer(TOOLBOX, "LocalHashing", "olh", _toolbox("lh", "LocalHashing", True), clips=True),
    Peer(TOOLBOX, "SubsetSelection", "ss", _toolbox("ss", "SubsetSelection"), clips=True),
    Peer(TOOLBOX, "HistogramEncoding, no threshold", "she", _toolbox("he", "HistogramEncoding", False), clips=True),
)
"""The protocols for categories that both the package and ldp-advise have, each under the name of the package."""


def installed() -> tuple[Peer, ...]:
    """Return the peers whose package is installed."""
    there = {package for package in (PURE, MULTI, TOOLBOX) if _version(package) is not None}
    return tuple(peer for peer in PEERS if peer.package in there)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def seed(number: int) -> None:
    """Set the generators that the packages draw from: those of Python and numpy, and numba's own."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 - what the packages draw from
    if "numba" in sys.modules:
        _numba_seed()(number)


@lru_cache(maxsize=1)
def _numba_seed() -> Callable[[int], None]:
    from numba import njit

    def set_seed(number: int) -> None:
        np.random.seed(number)  # noqa: NPY002 - compiled, it sets the generator of compiled code

    compiled: Callable[[int], None] = njit()(set_seed)
    return compiled


def hadamard_domain(response: Any, labels: Sequence[str]) -> list[str]:
    """Return the domain with which ``reports --protocol hr --blocks B`` reads what pure-ldp sends above epsilon 1.

    pure-ldp permutes the categories and fills block after block with them; ldp-advise deals them out to the blocks in
    turns. Places that no category has are called "unused".

    response: ``server.hr`` of its HadamardResponseServer, the one that gave the clients their `hash_funcs`.
    labels: ``(k,)`` names of the categories.
    """
    blocks, rows = response.part, response.partsz - 1  # the first row of a block is not used
    domain = [f"unused {place}" for place in range(blocks * rows)]
    for label, number in zip(labels, response.permute, strict=True):
        block, row = divmod(int(number), rows)
        domain[row * blocks + block] = label
    return domain


def _serve() -> None:
    """Answer lines of JSON: collect once, and say how long that took on the processor, or what it held at its peak."""
    for line in sys.stdin:
        task = json.loads(line)
        if task.get("list"):
            answer: object = [[peer.package, peer.version, peer.name, peer.protocol] for peer in installed()]
        else:
            peer = next(one for one in PEERS if [one.package, one.name] == task["peer"])
            ends = peer.ends(task["k"], task["epsilon"])
            seed(task["seed"])
            if task["memory"]:
                tracemalloc.start()
            start = time.process_time()
            estimate = ends.estimate([ends.perturb(value) for value in task["values"]])
            seconds = time.process_time() - start
            peak = tracemalloc.get_traced_memory()[1] if task["memory"] else 0
            tracemalloc.stop()
            answer = {"seconds": seconds, "bytes": peak, "estimate": estimate.tolist()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__" and sys.argv[1:] == ["--serve"]:
    _serve()
