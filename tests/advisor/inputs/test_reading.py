"""Files and pipes as they come: bytes that are no text, blocks, what cannot be opened, and more rows than memory."""

from __future__ import annotations

import io
import os
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.inputs import histogram, source
from advisor.inputs.histogram import read_histogram
from tests.advisor.inputs.reading import Pipe, error_of, gz, read_bytes, read_file, users
from tests.cells import failures

NO_TEXT = [
    (b"a\x00b\n", "NUL byte at byte 2"),
    (b"PK\x03\x04rest", "a zip archive or an Excel workbook (.xlsx), not text; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel workbook"),
    ("a\nb\n".encode("utf-16"), "UTF-16 text, not text; convert it to UTF-8"),
    (b"\x28\xb5\x2f\xfdxx", "zstd"),
    (b"x\n" * 9000 + b"caf\xe9\n", "line 9001 (byte 18004) is not UTF-8; convert the file to UTF-8"),
    (b"x\ncaf\xc3", "line 2 (byte 6) is not UTF-8"),
    (b"x" * (source.LONGEST_LINE + 9000), "line 1 is longer than 1048576 bytes"),
    (gz(b"a\nb\n" * 999)[:-6], "gzip data is damaged or cut short"),
    (gz(bytes(range(99)))[:20] + b"\xff" * 90, "gzip data is damaged"),
    (b"\x1f\x8b\x07rest of it", "gzip data is damaged"),
    (gz(b"PK\x03\x04rest"), "(decompressed): is a zip archive"),
]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    def refused(cell: tuple[bytes, str]) -> None:
        data, said = cell
        assert said in error_of(tmp_path, "a.csv", data)
        with pytest.raises(InputError, match="standard input"):
            read_bytes(data)

    assert failures(NO_TEXT, refused) == {}


def test_multibyte_characters_survive_every_block_border() -> None:
    data = ("é€𝄞\n" * 20000).encode()
    assert users(read_histogram("-", stdin=io.BufferedReader(Pipe(data[:3000])), drop_missing=True))["é€𝄞"] > 100
    assert users(read_bytes(data)) == {"é€𝄞": 20000}


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample.csv").write_text("a\n")
    with pytest.raises(InputError, match=r"smaple\.csv: no such file; did you mean 'sample\.csv'\?"):
        read_histogram(str(tmp_path / "smaple.csv"))
    with pytest.raises(InputError, match="is a directory; name a file in it"):
        read_histogram(str(tmp_path))
    with pytest.raises(InputError, match="is not a file name"):
        read_histogram("a\0b")
    with pytest.raises(InputError, match="no such file"):
        read_histogram(str(tmp_path / "no folder" / "x"))
    with pytest.raises(InputError, match="cannot be read"):
        read_histogram("x" * 5000)

    def forbidden(*_args: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(InputError, match=r"sample\.csv: no permission to read it"):
        read_histogram(str(tmp_path / "sample.csv"))


def test_an_error_of_the_disk_is_one_line() -> None:
    class Broken(Pipe):
        def readinto(self, buffer) -> int:
            if self.rest:
                return super().readinto(buffer)
            raise OSError(5, "Input/output error")

    with pytest.raises(InputError, match=r"standard input: cannot be read \(Input/output error\)"):
        read_histogram("-", stdin=io.BufferedReader(Broken(b"a\nb\n")))


def test_standard_input_is_the_default_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO(b"1\n2\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    assert users(read_histogram("-")) == {"1": 1, "2": 1}
    assert not stream.closed


def test_a_pipe_can_be_read_twice() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"a b\nb\n")
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        assert users(read_histogram("-", stdin=pipe, transactions=True)) == {"a": 0, "b": 2}


@settings(deadline=None)
@given(
    lines=st.lists(st.sampled_from(["a", "b\u2028c", "é", "", " ", "x\x0by", "7"]), min_size=1, max_size=30),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    block=st.integers(1, 40),
)
def test_the_size_of_blocks_changes_nothing_in_plain_text(lines, ends, block) -> None:
    assume(any(line.strip() for line in lines))
    data = (ends.join(lines) + "\nlast").encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("advisor.inputs.head.HEAD_LINES", 2)
        patch.setattr(source, "CHUNK_BYTES", block)
        assume(any(line.strip() for line in lines[:2]))
        read = read_bytes(data, header=False)
    # A lone carriage return before the last line feed is one line end with it.
    assert users(read) == Counter([line.strip() for line in lines if line.strip()] + ["last"])
    blanks = sum(not line.strip() for line in lines) - (ends == "\r" and not lines[-1].strip() and lines[-1] == "")
    assert bool(read.warnings) == (blanks > 0)


# --- size ------------------------------------------------------------------------------------------------------


def test_too_many_labels_look_like_an_identifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram, "MOST_LABELS", 100)
    rows = "\n".join(f"{at},1" for at in range(101))
    for name, options in (("a.csv", {"column": "1"}), ("a.csv", {"counts": "2"})):
        message = error_of(tmp_path, name, rows, **options)
        assert "more than 100 distinct values, which looks like an identifier column" in message
        assert "choose another --column" in message
    assert "more than 100 distinct items" in error_of(tmp_path, "a.csv", rows, transactions=True)
    assert len(read_file(tmp_path, "a.csv", rows[: rows.rindex("\n")], column="1").labels) == 100


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    peaks = []
    for rows in (100_000, 250_000):
        (tmp_path / "a.csv").write_text("id,state\n" + "".join(f"{at},s{at % 50}\n" for at in range(rows)))
        tracemalloc.start()
        read = read_histogram(str(tmp_path / "a.csv"), column="state")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert read.counts.sum() == rows
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 12_000_000
