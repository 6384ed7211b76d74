"""Memory and time stay bounded, whatever a small file claims or unfolds into."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from advisor.errors import InputError, closest
from advisor.inputs import parquet as reader
from advisor.inputs.histogram import read_histogram
from advisor.inputs.memory import estimate_in_memory, sample_in_memory
from advisor.inputs.source import opened

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


SMALLER = 16  # times: the bound on a column and the cells that are beyond it, where not the bound itself is tested
HUGE = [
    *((rows, 80 // SMALLER) for rows in (1, 2000, 6000)),
    *(pytest.param(rows, 80, marks=pytest.mark.slow) for rows in (1, 2000, 120_000)),
]


@pytest.mark.parametrize(("rows", "megabytes"), HUGE)
@pytest.mark.parametrize("dictionary", [True, False])
def test_a_huge_cell_of_a_small_parquet_file_is_refused(
    rows: int, megabytes: int, dictionary: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if megabytes < 80:
        monkeypatch.setattr(reader, "_LARGEST_CHUNK", reader._LARGEST_CHUNK // SMALLER)
    path = tmp_path / "a.parquet"
    column = pa.array(["a", "b"] * rows + ["x" * (megabytes << 20)])
    parquet.write_table(pa.table({"v": column}), path, compression="zstd", use_dictionary=dictionary)
    del column
    before = pa.total_allocated_bytes()
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="column 'v' holds a value of over 1048576 bytes"):
        read_histogram(str(path))
    assert pa.total_allocated_bytes() <= before


def test_a_long_label_of_a_parquet_file_is_in_memory_once(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"v": ["y" * (1 << 20)] * 12 + ["z"], "w": [None] * 13}), path)
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    read = read_histogram(str(path), column="v")
    assert read.counts.tolist() == [12, 1]
    assert pool.bytes_allocated() - before < 1 << 20
    parquet.write_table(pa.table({"v": ["y" * (1 << 20) + "y", "z"]}), path)
    with pytest.raises(InputError, match="holds a value of over 1048576 bytes"):
        read_histogram(str(path))


@pytest.mark.parametrize("text", [b"x" * (1 << 23), b"a\n" + b"x," * (1 << 22), b"a\nb\n" * 5000 + b"y" * (1 << 23)])
def test_a_line_that_does_not_end_is_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text, mtime=0))
    with pytest.raises(InputError, match="is longer than 1048576 bytes"):
        read_histogram(str(tmp_path / "a.csv.gz"))


def test_no_hint_is_looked_for_among_very_many_or_very_long_names() -> None:
    assert closest("cuont", ["value", "count"]) == "count"
    assert closest("cuont", (str(at) for at in iter(int, 1))) is None  # endless
    assert closest("x" * 10_000, ["x" * 9_999]) is None
    assert closest("cuont", ["c" * 10_000, "count"]) == "count"


@pytest.mark.parametrize("path", ["", " ", "\t"])
def test_an_empty_file_name_is_called_so(path: str) -> None:
    with pytest.raises(InputError, match=r"^the file name is empty"), opened(path):
        pass


def test_numbers_of_thousands_of_digits_in_memory_are_refused() -> None:
    with pytest.raises(InputError, match="over 300 digits"):
        sample_in_memory([1, 10**5000], None)
    with pytest.raises(InputError, match="every count in sample_counts must be a whole number"):
        sample_in_memory(None, {"a": 10**400, "b": 1})
    with pytest.raises(InputError, match="estimate must hold numbers"):
        estimate_in_memory([0.5, 10**400])


@pytest.mark.parametrize("place", [0, pytest.param(1500, marks=pytest.mark.slow), 200_000])
@pytest.mark.parametrize(("characters", "fits"), [(csv.field_size_limit(), True), (csv.field_size_limit() + 1, False)])
def test_a_value_is_as_long_as_it_may_be_wherever_it_stands(
    place: int, characters: int, fits: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    rows = ["b,2\n"] * 200_001
    rows[place] = f"{'a' * characters},1\n"
    path.write_text("v,w\n" + "".join(rows))
    if fits:
        assert read_histogram(str(path), column="v").counts.sum() == len(rows)
    else:
        with pytest.raises(
            InputError, match=rf"line {place + 2}: a value is longer than {csv.field_size_limit()} char"
        ):
            read_histogram(str(path), column="v")
