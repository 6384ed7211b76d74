"""Reports made by the clients, written to files and read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from advisor.inputs.reports import RawReports
from simulator import rng_for
from simulator.protocols import PROTOCOLS
from tests.advisor.inputs.reading import put, read_reports
from tests.advisor.inputs.test_ordered_reports import cells

UNARY = ("rappor", "oue", "the")
HASHED = ("blh", "olh")
NAMES = ("Texas", "New York", "Ohio", "Utah", "Iowa", "Maine")
K = 9  # categories of what is written into several files


def read_file(folder: Path, name: str, data: bytes | str, *arguments, **options) -> RawReports:
    return read_reports(put(folder, name, data), *arguments, **options)


def made(protocol: str, k: int, epsilon: float, n: int = 240, **options):
    """Make reports of skewed values: (reports, supports)."""
    rng = rng_for(5, "reports", protocol)
    oracle = PROTOCOLS[protocol](k, epsilon, **options)
    values = (k * rng.random(n) ** 2).astype(np.int64)
    values[:k] = np.arange(k)
    reports = oracle.perturb(values, rng)
    return reports, oracle.support(reports)


def check(read: RawReports, labels: Iterable[str], support: np.ndarray, n: int = 240) -> None:
    assert read.tally.counts.dtype == np.int64
    assert read.labels == tuple(labels)
    assert read.tally.counts.tolist() == support.tolist()
    assert read.tally.n == n
    assert read.warnings == ()


def numbers(k: int, first: int = 0) -> tuple[str, ...]:
    return tuple(str(at) for at in range(first, first + k))


def rows(protocol: str, n: int = 240, k: int = K) -> list[str]:
    """Return reports as lines, as docs/reports.md shows them."""
    member = PROTOCOLS[protocol](k, 1.0)
    reports = member.perturb((k * rng_for(1, protocol).random(n) ** 2).astype(np.int64), rng_for(2, protocol))
    if member.report_kind in ("node", "symbol"):
        named = "sw" if member.report_kind == "symbol" else protocol  # of these the symbol is all
        return [",".join(row) for row in cells(named, k, 1.0, reports)]
    return [",".join(map(repr, row if isinstance(row, list) else [row])) for row in reports.tolist()]


def written(folder: Path, protocol: str, reports: list[str], parts: int = 3) -> list[str]:
    """Write reports into so many files."""
    size = -(-len(reports) // parts)
    pieces = [reports[part * size : (part + 1) * size] for part in range(parts)]
    return [
        put(folder, f"{protocol}-{at}.csv", "".join(f"{line}\n" for line in piece)) for at, piece in enumerate(pieces)
    ]
