"""Messy files through every reader: counts equal those known beforehand, and what is refused is refused in one line."""

from __future__ import annotations

import io
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.inputs import source, table
from advisor.inputs.bins import Cut
from advisor.inputs.channel import read_channel
from advisor.inputs.domain import read_domain
from advisor.inputs.estimates import read_estimates
from advisor.inputs.histogram import read_histogram
from advisor.inputs.places import read_places
from tests.advisor.inputs.messy import KINDS, Messy, messy
from tests.advisor.inputs.reading import read_reports

HANGS = 30  # seconds: a file of a few kilobytes takes milliseconds

OTHERS: dict[str, Callable[[str], object]] = {
    "domain": read_domain,
    "estimates": read_estimates,
    "channel": lambda path: read_channel(path, 3),
    "places": lambda path: read_places(path, columns="1,2", grid="8x8"),
    "degrees": lambda path: read_places(path, columns="1,2", cell_km=1.0),
    "items": lambda path: read_histogram(path, transactions=True, keep_top=3),
    "undecided": read_histogram,
    "bins": lambda path: read_histogram(path, column="1", cut=Cut(count=5), drop_missing=True),
    "edges": lambda path: read_histogram(path, cut=Cut(width=0.5, edges=(0.0, 1e3), clamp=True)),
    "grr": lambda path: read_reports(path, "grr", 1.0),
    "oue": lambda path: read_reports(path, "oue", 1.0),
    "ss": lambda path: read_reports(path, "ss", 1.0, k=8),
    "olh": lambda path: read_reports(path, "olh", 1.0, k=8),
    "she": lambda path: read_reports(path, "she", 1.0),
    "pgr": lambda path: read_reports(path, "pgr", 1.0, k=8),
}


@contextmanager
def no_hang() -> Iterator[None]:
    def alarm(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, alarm)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refused_in_one_line(error: InputError) -> None:
    message = str(error)
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 1000, message[:300]


def read(one: Messy, path: Path) -> dict[str, float]:
    """Return what a reader finds, the figure of each label."""
    options: dict[str, Any] = one.options
    if one.reader == "domain":
        return {label: at for at, label in enumerate(read_domain(str(path)))}
    if one.reader == "estimate":
        estimates = read_estimates(str(path))
        return dict(zip(estimates.labels, estimates.values.tolist(), strict=True))
    if one.reader == "places":
        return {str(at): users for at, users in enumerate(read_places(str(path), **options).counts.tolist()) if users}
    if one.reader == "reports":
        reports = read_reports(str(path), **options)
        return dict(zip(reports.labels, reports.tally.counts.tolist(), strict=True))
    if path.suffix == "":  # standard input tells nothing by its name
        sample = read_histogram("-", stdin=io.BytesIO(one.data), **options)
    else:
        sample = read_histogram(str(path), **options)
    return dict(zip(sample.labels, sample.counts.tolist(), strict=True))


def without_zeros(figures: dict[str, float]) -> dict[str, float]:
    """Return what is not 0: a label without users may be listed or not."""
    return {label: figure for label, figure in figures.items() if figure}


def check(seed: int, folder: Path) -> None:
    """Read one file as what it is, and as what it is not."""
    one = messy(seed)
    path = folder / f"f{one.suffix}"
    path.write_bytes(one.data)
    rng = random.Random(seed)  # noqa: S311 - of files, not of secrets
    with pytest.MonkeyPatch.context() as patch, no_hang():
        patch.setattr("advisor.inputs.head.HEAD_LINES", rng.choice([3, 20, 1000]))
        patch.setattr(source, "CHUNK_BYTES", rng.choice([7, 100, 1 << 19]))
        patch.setattr(table, "FEW", rng.choice([-1, 1 << 18]))
        refusal, found = "", {}
        try:
            found = read(one, path)
        except InputError as error:
            refused_in_one_line(error)
            refusal = str(error)
        if not one.flaw:
            # A sample needs a user, an estimate another category; all else may not be refused.
            assert not refusal or not any(one.holds.values()), f"seed {seed}: {refusal}"
            assert refusal or without_zeros(found) == without_zeros(one.holds), f"seed {seed}"
        for name in rng.sample(list(OTHERS), 3):
            try:
                OTHERS[name](str(path))
            except InputError as error:
                refused_in_one_line(error)


@pytest.mark.parametrize("seeds", [range(45), pytest.param(range(45, 1080), marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_messy_files_are_counted_or_refused(kind: Callable[..., Messy], seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        if KINDS[seed % len(KINDS)] is kind:
            check(seed, tmp_path)
