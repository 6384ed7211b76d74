"""What the tests of reading share: a file that is written and read, its users, and its error."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.inputs.histogram import RawHistogram, read_histogram
from advisor.inputs.reports import RawReports, count_reports, with_categories


def gz(data: bytes) -> bytes:
    """Compress without the time of day, so that test names are the same in every process."""
    return gzip.compress(data, mtime=0)


def read_bytes(data: bytes, **options) -> RawHistogram:
    return read_histogram("-", stdin=io.BytesIO(data), **options)


def read_file(folder: Path, name: str, data: bytes | str, **options) -> RawHistogram:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_histogram(str(path), **options)


def read_reports(path: str | list[str], protocol: str, epsilon: float, **options) -> RawReports:
    return with_categories(count_reports(path, protocol, epsilon, **options))


def users(read: RawHistogram) -> dict[str, int]:
    assert read.counts.dtype == np.int64
    assert read.counts.shape == (len(read.labels),)
    assert len(set(read.labels)) == len(read.labels)
    return dict(zip(read.labels, read.counts.tolist(), strict=True))


def error_of(folder: Path, name: str, data: bytes | str, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_file(folder, name, data, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(folder / name))
    return message.removeprefix(str(folder))


class Pipe(io.RawIOBase):
    """Standard input as a pipe: it cannot go back, and hands over a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        block, self.rest = self.rest[: min(3, len(buffer))], self.rest[min(3, len(buffer)) :]
        buffer[: len(block)] = block
        return len(block)
