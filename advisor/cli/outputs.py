"""Files that are written: refused early, never over what is there, all at once."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from advisor.errors import InputError, listed

if TYPE_CHECKING:
    from simulator.benchmark import Runs

RUN_COLUMNS = ("protocol", "method", "metric", "repetition", "error")
RUN_SUFFIXES = (".csv", ".parquet")


def check_writable(option: str, path: str, *, force: bool, sample: str | None = None) -> Path:
    """Return the resolved path if a file, a device or a pipe can be written there.

    Raises
    ------
    InputError
        If it is a directory or the sample itself, if it exists and `force` is not given, or if its directory is
        missing or cannot be written.
    """
    target = Path(path).resolve()  # what a link points to is written, not the link
    if target.is_dir():
        raise InputError(f"{option} {path}: this is a directory, a file name is needed")
    if sample is not None and target.exists() and Path(sample).exists() and target.samefile(sample):
        raise InputError(f"{option} {path}: this is the sample itself, which is never overwritten")
    if target.is_file() and not force:
        raise InputError(f"{option} {path}: the file exists; give --force to replace it, or another name")
    if not target.parent.is_dir():
        raise InputError(f"{option} {path}: there is no directory {Path(path).parent}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{option} {path}: no permission to write there")
    return target


def check_runs_suffix(path: str) -> None:
    """Raise InputError unless the suffix is one that runs can be written as."""
    suffix = Path(path).suffix.lower()
    if suffix not in RUN_SUFFIXES:
        raise InputError(f"--runs {path}: the suffix must be {listed(RUN_SUFFIXES)}, got {suffix or 'none'!r}")
    if suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401 - asked for before hours of simulation, not after
        except ImportError:
            raise InputError(
                f"--runs {path}: Parquet needs pyarrow: pip install 'ldp-advise[parquet]', or use .csv"
            ) from None


def write_atomically(target: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside the target and move it there, so that no half file is ever seen.

    A device or a pipe is not replaced by a file: what was written is copied into it.

    Raises
    ------
    InputError
        If the file system refuses.
    """
    special = target.exists() and not target.is_file()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=None if special else target.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            if special:
                with target.open("wb") as stream:
                    stream.write(temporary.read_bytes())
                return
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)  # mkstemp made it private
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None


def write_text(target: Path, text: str) -> None:
    """Write a text file atomically."""

    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    write_atomically(target, write)


def write_runs(target: Path, runs: Runs, metrics: tuple[str, ...]) -> None:
    """Write every repetition's error, one row each (protocol, method, metric, repetition, error)."""
    if target.suffix.lower() == ".parquet":
        write_atomically(target, lambda temporary: _write_parquet(temporary, runs, metrics))
    else:
        write_atomically(target, lambda temporary: _write_csv(temporary, runs, metrics))


def _write_csv(path: Path, runs: Runs, metrics: tuple[str, ...]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RUN_COLUMNS)
        for metric in metrics:
            for (protocol, method), errors in runs.of(metric).items():
                rows = enumerate(errors.tolist(), start=runs.first)
                writer.writerows((protocol, method, metric, repetition, error) for repetition, error in rows)


def _write_parquet(path: Path, runs: Runs, metrics: tuple[str, ...]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = []
    for metric in metrics:
        for (protocol, method), errors in runs.of(metric).items():
            names = [pa.array([name] * len(errors)) for name in (protocol, method, metric)]
            repetitions = pa.array(np.arange(runs.first, runs.first + len(errors)))
            parts.append(pa.table([*names, repetitions, pa.array(errors)], names=list(RUN_COLUMNS)))
    pq.write_table(pa.concat_tables(parts), path)
