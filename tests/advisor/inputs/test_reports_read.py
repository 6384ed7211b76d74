import io

import numpy as np
import pytest

from advisor.inputs import parquet as reader
from advisor.inputs import source
from simulator import rng_for
from simulator.protocols import PROTOCOLS
from tests.advisor.inputs.made_reports import NAMES, check, lines, made, numbers
from tests.advisor.inputs.reading import gz, parquet, peak, read_reports, refusal


def test_reports_of_standard_input_and_of_a_refused_row_of_parquet(tmp_path):
    reports, support = made("olh", 6, 1.0, n=9000)
    read = read_reports("-", "olh", 1.0, k=6, stdin=io.BytesIO(lines(reports).encode()))
    check(read, numbers(6), support, 9000)
    path = parquet(tmp_path, seed=[1, 2], symbol=[0, 9])
    assert "row 2: column 'symbol' is '9'" in refusal(read_reports, path, "olh", 1.0, k=6)
    assert "standard input: is empty" in refusal(read_reports, "-", "oue", 1.0, stdin=io.BytesIO(b""))


def test_reports_are_read_as_numpy_writes_arrays_where_no_format_is_given(tmp_path):
    path = tmp_path / "reports.txt"
    for protocol, k in (("oue", 6), ("oue", 2), ("rappor", 6), ("olh", 6), ("pgr", 6), ("sw", 6), ("tree", 8)):
        member = PROTOCOLS[protocol](k, 1.0)
        reports = member.perturb(np.arange(400) % k, rng_for(6, protocol))
        np.savetxt(path, reports)
        read = read_reports(str(path), protocol, 1.0, k=k)
        assert read.tally.counts.tolist() == member.tally(reports).counts.tolist(), protocol
    path.write_text("4.1e+09 1\n4.2e+09 0\n")  # digits of the seeds are lost
    assert "written with all digits" in refusal(read_reports, str(path), "olh", 1.0, k=6)


def test_a_list_in_a_cell_of_parquet_is_a_report(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")

    def read(protocol, column, **options):
        return read_reports(parquet(tmp_path, report=column), protocol, 1.0, **options)

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
        ([[1, 0, 1], [1, 0]], "row 2: the report is '1;0'; a report is 3 bits"),
        ([[1, 0, 1], [1, 2, 0]], "row 2: the report is '1;2;0'"),
        ([[1, 0, 1], [10, 1]], "row 2: the report is '10;1'"),
    ):
        assert says in refusal(read, "oue", pa.array(cells))
    assert "column 'report' holds list" in refusal(read, "grr", pa.array([[1], [2]]))


MANY = [
    ("oue", "01" * 32, {"k": 64}),
    pytest.param("grr", "17", {"k": 64}, marks=pytest.mark.slow),
    ("tree", "7,1", {"k": 256}),
    pytest.param("olh", "4000000000,1", {"k": 64}, marks=pytest.mark.slow),
    pytest.param("ss", "1;2;3", {"k": 12}, marks=pytest.mark.slow),
    pytest.param("tree", "0," + "01" * 128, {"k": 256}, marks=pytest.mark.slow),
    pytest.param("sw", "300", {"k": 256}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("protocol", "line", "options"), MANY)
def test_memory_does_not_grow_with_the_number_of_reports(protocol, line, options, monkeypatch):
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 15)
    few = 3_000 if len(line) > 100 else 40_000 if len(line) < 10 else 10_000

    def count(data):
        return read_reports("-", protocol, 1.0, stdin=io.BytesIO(data), **options).tally.n

    peaks = []
    count(f"{line}\n".encode())  # what it imports stays in memory
    for n in (few, 2 * few):
        counted, most = peak(count, gz(f"{line}\n".encode() * n))
        peaks.append(most)
        assert counted == n
    assert peaks[1] < 1.1 * peaks[0] + 100_000
