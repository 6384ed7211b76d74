"""What the tests of reading share: a file that is written and read, its users, its error, and the memory it takes."""

import gc
import gzip
import io
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.inputs.head import FileLayout
from advisor.inputs.histogram import read_histogram
from advisor.inputs.numbers import MissingCodes
from advisor.inputs.reports import count_reports, with_categories
from advisor.inputs.reports.settings import ReportSettings


def gz(data):
    """Compress without the time of day, so that test names are the same in every process."""
    return gzip.compress(data, mtime=0)


def put(folder, name, data):
    """Write a file, and return its path."""
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def parquet(folder, **columns):
    """Write a Parquet file of many row groups, and return its path."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    pq.write_table(pa.table(columns), folder / "a.parquet", row_group_size=2)
    return str(folder / "a.parquet")


def with_layout(options):
    """Return options of a reader, with those of the command line as the reader takes them."""
    options = dict(options)
    layout = {name: options.pop(name) for name in ("header", "skip", "decimal") if name in options}
    if "drop_missing" in options or "missing" in options:
        options["missing"] = MissingCodes(options.pop("drop_missing", False), options.pop("missing", ()))
    return {**options, "layout": FileLayout(**layout)}


def piped(stream, read, *arguments, **options):
    """Return what a reader makes of a stream, its standard input."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
        return read(*arguments, **options)


def read_bytes(data, read=read_histogram, **options):
    return piped(io.BytesIO(data), read, "-", **with_layout(options))


def read_file(folder, name, data, **options):
    return read_histogram(put(folder, name, data), **with_layout(options))


def counted(paths, protocol, epsilon, **options):
    """Return the counts of reports in a file, or several, with all options by name."""
    options = with_layout(options)
    how = {name: options.pop(name) for name in ("layout", "stdin", "workers", "digests") if name in options}
    paths = [paths] if isinstance(paths, str) else paths
    return count_reports(paths, ReportSettings(protocol, epsilon, **options), **how)


def read_reports(path, protocol, epsilon, **options):
    return with_categories(counted(path, protocol, epsilon, **options))


def users(read):
    assert read.counts.dtype == np.int64
    assert read.counts.shape == (len(read.labels),)
    assert len(set(read.labels)) == len(read.labels)
    return dict(zip(read.labels, read.counts.tolist(), strict=True))


def refusal(read, *arguments, **options):
    """Return the one line that refuses what cannot be read."""
    with pytest.raises(InputError) as caught:
        read(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def error_of(folder, name, data, read=read_histogram, **options):
    """Return what is said of a sample behind its name, which comes first."""
    message = refusal(read, put(folder, name, data), **with_layout(options))
    assert message.startswith(str(folder / name))
    return message.removeprefix(str(folder / name))


def peak(function, *arguments, **options):
    """Return what a call returns, and the most bytes that it took."""
    gc.collect()
    tracemalloc.start()
    try:
        return function(*arguments, **options), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Pipe(io.RawIOBase):
    """Standard input as a pipe: it cannot go back, and hands over a few bytes at a time."""

    def __init__(self, data):
        self.rest = data

    def readable(self):
        return True

    def readinto(self, buffer):
        block, self.rest = self.rest[: min(3, len(buffer))], self.rest[min(3, len(buffer)) :]
        buffer[: len(block)] = block
        return len(block)
