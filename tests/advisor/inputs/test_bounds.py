import csv
import gzip
import io
import sys
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.inputs import held
from advisor.inputs import parquet as reader
from advisor.inputs.histogram import read_histogram
from advisor.inputs.memory import estimate_in_memory, sample_in_memory
from advisor.inputs.numbers import MissingCodes
from advisor.inputs.transactions import read_transactions
from tests.advisor.inputs.reading import Pipe, parquet, piped, read_file, refusal, users
from tests.cells import failures

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_parquet_columns_of_every_kind(tmp_path):
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
    assert {column: users(read_histogram(path, column=column)) for column in expected} == expected
    pipe = io.BufferedReader(Pipe(Path(path).read_bytes()))
    assert users(piped(pipe, read_histogram, "-", column="2")) == {"3": 2, "1": 1}


def test_parquet_histograms_and_missing_values(tmp_path):
    read = read_histogram(parquet(tmp_path, state=["a", "b", "a"], count=[1, 2, 3]))
    assert users(read) == {"a": 4, "b": 2}
    assert read.from_histogram
    path = parquet(tmp_path, x=[1.0, None, float("nan")])
    assert users(read_histogram(path, missing=MissingCodes(usual=True))) == {"1": 1}
    path = parquet(tmp_path, state=["a", "b", "c"], count=[5, -1, 7])  # a code among the counts, as in a text
    assert users(read_histogram(path, missing=MissingCodes(own=("-1",)))) == {"a": 5, "c": 7}


def test_parquet_that_is_refused(tmp_path, monkeypatch):
    def refused(cell):
        columns, options, said = cell
        assert said in refusal(read_histogram, parquet(tmp_path, **columns), **options)

    nested = {"state": ["a"], "nested": [[1]]}
    cells = [
        ({"x": [1.0, None, float("nan")]}, {}, "row 2: the value is missing (an empty cell)"),
        ({"x": ["a"], "count": [-1]}, {"counts": "count"}, "row 1: the count '-1' is negative"),
        (nested, {"column": "stat"}, "did you mean 'state'"),
        (nested, {"column": "nested"}, "column 'nested' holds list"),
        (nested, {}, "has 2 columns: state, nested"),
    ]
    assert failures(cells, refused) == {}
    path = Path(parquet(tmp_path, **nested))
    assert "--transactions reads rows of text" in refusal(read_transactions, str(path))
    path.write_bytes(path.read_bytes()[:-3])
    assert "the Parquet file cannot be read" in refusal(read_histogram, str(path))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'ldp-advise[parquet]'" in refusal(read_histogram, str(path))


SMALLER = 16  # times: the bound on a column and the cells that are beyond it, where not the bound itself is tested
HUGE = [
    *((rows, 80 // SMALLER) for rows in (1, 2000, 6000)),
    *(pytest.param(rows, 80, marks=pytest.mark.slow) for rows in (1, 2000, 120_000)),
]


@pytest.mark.parametrize(("rows", "megabytes"), HUGE)
@pytest.mark.parametrize("dictionary", [True, False])
def test_a_huge_cell_of_a_small_parquet_file_is_refused(rows, megabytes, dictionary, tmp_path, monkeypatch):
    if megabytes < 80:
        monkeypatch.setattr(reader, "_LARGEST_CHUNK", reader._LARGEST_CHUNK // SMALLER)
    path = tmp_path / "a.parquet"
    column = pa.array(["a", "b"] * rows + ["x" * (megabytes << 20)])
    pq.write_table(pa.table({"v": column}), path, compression="zstd", use_dictionary=dictionary)
    del column
    before = pa.total_allocated_bytes()
    assert path.stat().st_size < 100_000
    assert "column 'v' holds a value of over 1048576 bytes" in refusal(read_histogram, str(path))
    assert pa.total_allocated_bytes() <= before


def test_a_long_label_of_a_parquet_file_is_in_memory_once(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"v": ["y" * (1 << 20)] * 12 + ["z"], "w": [None] * 13}), path)
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    read = read_histogram(str(path), column="v")
    assert read.counts.tolist() == [12, 1]
    assert pool.bytes_allocated() - before < 1 << 20
    path = parquet(tmp_path, v=["y" * (1 << 20) + "y", "z"])
    assert "holds a value of over 1048576 bytes" in refusal(read_histogram, path)


def test_numbers_of_thousands_of_digits_in_memory_are_refused():
    with pytest.raises(InputError, match="got a whole number of 1"):
        sample_in_memory([1, 10**5000], None)
    with pytest.raises(InputError, match="every count in sample_counts must be a whole number"):
        sample_in_memory(None, {"a": 10**400, "b": 1})
    with pytest.raises(InputError, match="estimate must hold numbers"):
        estimate_in_memory([0.5, 10**400])


@pytest.mark.parametrize("place", [0, pytest.param(1500, marks=pytest.mark.slow), 200_000])
def test_a_value_is_as_long_as_it_may_be_wherever_it_stands(place, tmp_path):
    longest = csv.field_size_limit()
    for characters in (longest, longest + 1):
        rows = ["b,2\n"] * 200_001
        rows[place] = f"{'a' * characters},1\n"
        data = "v,w\n" + "".join(rows)
        if characters == longest:
            assert read_file(tmp_path, "a.csv", data, column="v").counts.sum() == len(rows)
        else:
            said = f"line {place + 2} cannot be cut into cells (field larger than field limit ({longest}))"
            assert said in refusal(read_file, tmp_path, "a.csv", data, column="v")


def test_what_a_held_file_unfolds_into_is_bounded_and_on_disk_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(held, "LARGEST_CONTENT", 1_000_000)
    rows, cells = 600_000, io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2] * (rows // 2), "b": [1, 2] * (rows // 2)}), cells)
    (tmp_path / "cells.parquet").write_bytes(cells.getvalue())
    for name, lines in (("over.gz", 40_000), ("under.gz", 30_000)):
        (tmp_path / name).write_bytes(gzip.compress((b"a" * 29 + b"\n") * lines + b"b\n"))
    monkeypatch.chdir(tmp_path)
    names = ("over.gz", "under.gz", "cells.parquet")
    files = {name: held.HeldFile(Path(name).read_bytes()) for name in names}
    on_disk = [read_histogram(name, column="1").counts.sum() for name in names]
    assert on_disk == [40_001, 30_001, rows]

    def check(name):
        if name == "under.gz":
            assert read_histogram(name).counts.sum() == 30_001
        else:
            refused = f"^{name}: holds more than 1 MB once it is decompressed: .* on the command line$"
            with pytest.raises(InputError, match=refused):
                read_histogram(name, column="1")

    with held.holding(files):
        assert failures(names, check) == {}


def test_what_is_made_of_a_held_file_is_kept_a_few_times_and_so_is_its_refusal():
    calls = []

    def read(how):
        calls.append(how)
        if how < 0:
            raise InputError(f"no {how}")
        return how

    file = held.HeldFile(b"")
    with held.holding({"a": file}):
        for how in (1, 1, 2, 3, 4, 5, 5, 1):
            assert held.remembered("a", how, lambda how=how: read(how)) == how
        for _ in range(2):
            with pytest.raises(InputError, match="no -1"):
                held.remembered("a", -1, lambda: read(-1))
    assert calls == [1, 2, 3, 4, 5, 1, -1]
    assert len(file.made) == held.MOST_READINGS
    refusal = file.made[-1]
    assert isinstance(refusal, InputError)
    assert refusal.__traceback__ is None  # it would keep all that was under way
