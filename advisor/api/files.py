"""Data in memory for what reads files, so that there is one reader for both."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from advisor.errors import InputError
from advisor.inputs.head import DETECTED, FileLayout


@contextmanager
def file_of(source: str | Path | Iterable[Any], name: str) -> Iterator[tuple[str, FileLayout]]:
    """Give a file for a ``with`` block, and what is known of its layout; data in memory are written to one.

    source: the name of a file; or rows, each a cell or several: a series, an array, a list, or a frame with its header.
    """
    if isinstance(source, str | Path):
        yield str(source), DETECTED
        return
    header = [str(column) for column in getattr(source, "columns", ())]
    if hasattr(source, "isna") and np.any(source.isna()):
        raise InputError(f"{name} must hold values, and {int(np.sum(source.isna().to_numpy()))} are missing: .dropna()")
    rows = source.itertuples(index=False) if hasattr(source, "itertuples") else source
    if isinstance(rows, np.ndarray) and rows.dtype == bool:
        rows = rows.astype(np.uint8)  # files hold bits as 0 and 1
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([header] if header else [])
            writer.writerows(_cells(row, name) for row in rows)
        try:
            yield str(path), FileLayout(header=bool(header))
        except InputError as error:
            error.args = (str(error).replace(str(path), name),)
            raise


def _cells(row: Any, name: str) -> Iterable[Any]:
    if row is None or (isinstance(row, str) and not row.strip()) or (isinstance(row, float) and math.isnan(row)):
        raise InputError(f"{name} must hold values, got {row!r}: leave missing ones out")
    return row if isinstance(row, Iterable) and not isinstance(row, str) else [row]
