"""Reports in files: options, budgets, compression, Parquet, blank lines, and more of them than memory."""

from __future__ import annotations

import gzip
import io
import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.inputs import source, table
from advisor.inputs.reports import RawReports
from simulator import rng_for
from simulator.protocols import PROTOCOLS
from tests.advisor.inputs.made_reports import NAMES, check, lines, made, numbers, read_file
from tests.advisor.inputs.reading import read_reports
from tests.cells import failures

REFUSED_OPTIONS = [
    ("she", {"hash": "mix64"}, "hash: she has no hash function"),
    ("oue", {"steps": 8}, "steps: reports of oue are no real numbers; leave it out (it belongs to she)"),
    ("hr", {}, "reports of hr do not tell"),
    ("raporr", {}, "did you mean 'rappor'?"),
    ("ss", {}, "reports of ss do not tell how many categories there are; say so with --k"),
    ("olh", {}, "reports of olh do not tell"),
    ("oue", {"k": 1}, "--k: got 1; a domain has 2 to"),
    ("oue", {"k": 3, "domain": ("a", "b")}, "--k: got 3, but the domain has 2 labels"),
    ("oue", {"domain": ("a", "a")}, "label 'a' is there twice"),
    ("oue", {"domain": ("a",)}, "a domain needs at least 2"),
    ("oue", {"hash": "mix64"}, "hash: oue has no hash function; leave it out"),
    ("olh", {"hash": "xxh", "k": 4}, "hash: got 'xxh'; allowed are mix64, xxh32; did you mean 'xxh32'?"),
    ("olh", {"column": "x", "k": 4}, "--column: reports of olh are in two columns"),
]


def test_options_that_are_refused() -> None:
    def refused(cell: tuple[str, dict, str]) -> None:
        protocol, options, said = cell
        with pytest.raises(InputError) as caught:
            read_reports("-", protocol, 1.0, stdin=io.BytesIO(b"01\n"), **options)
        assert said in str(caught.value)

    assert failures(REFUSED_OPTIONS, refused) == {}


@pytest.mark.parametrize("epsilon", [0, -1, 33, math.nan, math.inf])
def test_budgets_that_are_refused(epsilon: float) -> None:
    with pytest.raises(InputError, match="eps must be between 1e-06 and 32, got"):
        read_reports("-", "oue", epsilon, stdin=io.BytesIO(b"01\n"))


def test_k_and_a_domain_that_agree() -> None:
    read = read_reports("-", "oue", 1.0, k=2, domain=("a", "b"), stdin=io.BytesIO(b"01\n"))
    assert read.labels == ("a", "b")


# --- bytes, blocks, blank lines --------------------------------------------------------------------------------


def test_gzip_standard_input_and_parquet_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "BLOCK_ROWS", 900)
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for protocol, options in (("grr", {"k": 6}), ("oue", {}), ("olh", {"k": 6}), ("ss", {"k": 6})):
        reports, support = made(protocol, 6, 1.0, n=2500)
        reports = reports.reshape(2500, -1)
        data = lines(reports, ",").encode()
        check(
            read_file(tmp_path, "a.csv.gz", gzip.compress(data, mtime=0), protocol, 1.0, **options),
            numbers(6),
            support,
            2500,
        )
        read = read_reports("-", protocol, 1.0, stdin=io.BytesIO(data), **options)
        check(read, numbers(6), support, 2500)
        written = pa.table({str(at): pa.array(column) for at, column in enumerate(reports.T)})
        parquet.write_table(written, tmp_path / "a.parquet")
        check(read_reports(str(tmp_path / "a.parquet"), protocol, 1.0, **options), numbers(6), support, 2500)
    parquet.write_table(pa.table({"seed": [1, 2], "symbol": [0, 9]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="row 2: the symbol '9' is too large"):
        read_reports(str(tmp_path / "a.parquet"), "olh", 1.0, k=6)
    with pytest.raises(InputError, match="standard input: is empty"):
        read_reports("-", "oue", 1.0, stdin=io.BytesIO(b""))


def test_a_list_in_a_cell_of_parquet_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from advisor.inputs import parquet as reader

    path = str(tmp_path / "a.parquet")

    def read(protocol: str, column: object, **options) -> RawReports:
        parquet.write_table(pa.table({"report": column}), path, row_group_size=100)
        return read_reports(path, protocol, 1.0, **options)

    monkeypatch.setattr(reader, "_BATCH_LISTS", 9)  # a few rows a block
    bits, support = made("oue", 6, 1.0)
    for kind in (pa.list_(pa.int8()), pa.list_(pa.bool_()), pa.large_list(pa.int64()), pa.list_(pa.int64(), 6)):
        check(read("oue", pa.array(bits.tolist()).cast(kind)), numbers(6), support)
    sets, support = made("ss", 6, 1.0)
    check(read("ss", pa.array(sets.tolist()), k=6), numbers(6), support)
    named = [[NAMES[at] for at in one] for one in sets.tolist()]
    check(read("ss", pa.array(named), domain=NAMES), NAMES, support)
    vectors = PROTOCOLS["she"](4, 1.0).perturb(np.arange(40) % 4, rng_for(5))
    assert np.allclose(read("she", pa.array(vectors.tolist())).tally.counts, vectors.sum(axis=0))
    for cells, says in (
        ([[1, 0, 1], [1, None, 0]], "row 2: the report is missing"),
        ([[1, 0, 1], [1, 0]], "row 2: the report '10' has 2 characters, but the first report has 3"),
        ([[1, 0, 1], [1, 2, 0]], "row 2: the report '120' holds '2'"),
        ([[1, 0, 1], [10, 1]], "row 2: the report '10;1' holds ';'"),
    ):
        with pytest.raises(InputError, match=says):
            read("oue", pa.array(cells))
    with pytest.raises(InputError, match="column 'report' holds list"):
        read("grr", pa.array([[1], [2]]))


def test_bits_in_one_cell_may_be_separated(tmp_path: Path) -> None:
    for mark in " ;|,":
        data = "".join(f'x,"{mark.join(bits)}"\n' for bits in ("011", "110"))
        read = read_file(tmp_path, "a.csv", f"user,report\n{data}", "oue", 1.0, column="report")
        assert read.tally.counts.tolist() == [1, 2, 1]


def test_blank_lines_inside_are_skipped_with_a_warning_and_at_the_end_without(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (4000, 1):
        monkeypatch.setattr(table, "BLOCK_ROWS", size)
        for data in (b"01\n\n11\n \n\n10\n\n\n", b"a,b\n0,1\n\n1,1\n\n\n1,0\n\n"):
            read = read_reports("-", "oue", 1.0, stdin=io.BytesIO(data))
            assert (read.tally.counts.tolist(), read.tally.n) == ([2, 2], 3)
            assert read.warnings == ("3 blank lines were skipped",)


@pytest.mark.parametrize(
    ("protocol", "line"),
    [
        ("oue", "01" * 32),
        ("grr", "17"),
        pytest.param("olh", "4000000000,1", marks=pytest.mark.slow),
        pytest.param("ss", "1;2;3", marks=pytest.mark.slow),
    ],
)
def test_memory_does_not_grow_with_the_number_of_reports(
    protocol: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 15)
    k, epsilon = (64, 1.0) if protocol != "ss" else (8, 0.5)
    peaks = []
    few = 40_000 if protocol == "grr" else 10_000  # the lines of others are longer
    for n in (few, 2 * few):
        data = gzip.compress(f"{line}\n".encode() * n, mtime=0)
        tracemalloc.start()
        assert read_reports("-", protocol, epsilon, k=k, stdin=io.BytesIO(data)).tally.n == n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100_000
