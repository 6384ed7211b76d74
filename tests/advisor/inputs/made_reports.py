"""Reports made by the clients, written to a file and read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.inputs.reports import RawReports
from simulator import rng_for
from simulator.protocols import PROTOCOLS
from tests.advisor.inputs.reading import read_reports

UNARY = ("rappor", "oue", "the")
HASHED = ("blh", "olh")
NAMES = ("Texas", "New York", "Ohio", "Utah", "Iowa", "Maine")


def read_file(folder: Path, name: str, data: bytes | str, *arguments, **options) -> RawReports:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_reports(str(path), *arguments, **options)


def error_of(folder: Path, name: str, data: bytes | str, *arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_file(folder, name, data, *arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(str(folder))


def made(protocol: str, k: int, epsilon: float, n: int = 240, **options):
    """Make reports of skewed values: (reports, supports)."""
    rng = rng_for(5, "reports", protocol)
    oracle = PROTOCOLS[protocol](k, epsilon, **options)
    values = (k * rng.random(n) ** 2).astype(np.int64)
    values[:k] = np.arange(k)
    reports = oracle.perturb(values, rng)
    return reports, oracle.support(reports)


def lines(reports: Iterable, separator: str) -> str:
    return "".join(separator.join(map(str, report)) + "\n" for report in reports)


def check(read: RawReports, labels: Iterable[str], support: np.ndarray, n: int = 240) -> None:
    assert read.tally.counts.dtype == np.int64
    assert read.labels == tuple(labels)
    assert read.tally.counts.tolist() == support.tolist()
    assert read.tally.n == n
    assert read.warnings == ()


def numbers(k: int, first: int = 0) -> tuple[str, ...]:
    return tuple(str(at) for at in range(first, first + k))
