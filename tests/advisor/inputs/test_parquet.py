"""Parquet gives what a table of text gives."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.inputs.histogram import read_histogram
from tests.advisor.inputs.reading import Pipe, read_bytes, users


def parquet(folder: Path, **columns: object) -> Path:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    pq.write_table(pa.table(columns), folder / "a.parquet", row_group_size=2)
    return folder / "a.parquet"


def test_parquet_columns_of_every_kind(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = parquet(
        tmp_path,
        text=[" a", "b", "a"],
        whole=[3, 1, 3],
        real=[1.0, 2.5, 1.0],
        flag=[True, False, True],
        coded=pa.array(["a", "b", "a"]).dictionary_encode(),
    )
    expected = {
        "text": {"a": 2, "b": 1},
        "whole": {"3": 2, "1": 1},
        "real": {"1": 2, "2.5": 1},
        "flag": {"True": 2, "False": 1},
        "coded": {"a": 2, "b": 1},
    }
    for column, result in expected.items():
        assert users(read_histogram(str(path), column=column)) == result
    assert users(read_histogram("-", stdin=io.BufferedReader(Pipe(path.read_bytes())), column="2")) == {"3": 2, "1": 1}


def test_parquet_histograms_and_missing_values(tmp_path: Path) -> None:
    path = parquet(tmp_path, state=["a", "b", "a"], count=[1, 2, 3])
    read = read_histogram(str(path))
    assert users(read) == {"a": 4, "b": 2}
    assert read.from_histogram
    path = parquet(tmp_path, x=[1.0, None, float("nan")])
    with pytest.raises(InputError, match=r"row 2: the value is missing \(an empty cell\)"):
        read_histogram(str(path))
    assert users(read_histogram(str(path), drop_missing=True)) == {"1": 1}
    path = parquet(tmp_path, x=["a"], count=[-1])
    with pytest.raises(InputError, match="row 1: the count '-1' is negative"):
        read_histogram(str(path), counts="count")


def test_parquet_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path, state=["a"], nested=[[1]])
    with pytest.raises(InputError, match=r"no column 'stat' .*did you mean 'state'"):
        read_histogram(str(path), column="stat")
    with pytest.raises(InputError, match="column 'nested' holds list"):
        read_histogram(str(path), column="nested")
    with pytest.raises(InputError, match="has 2 columns: state, nested"):
        read_histogram(str(path))
    with pytest.raises(InputError, match="--transactions reads rows of text"):
        read_histogram(str(path), transactions=True)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="the Parquet file cannot be read"):
        read_histogram(str(path))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'ldp-advise\[parquet\]'"):
        read_histogram(str(path))


def test_a_text_may_begin_with_the_magic_of_parquet() -> None:
    assert users(read_bytes(b"PAR1\nPAR2\n")) == {"PAR1": 1, "PAR2": 1}
