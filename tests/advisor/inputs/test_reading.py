import io
import os
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.inputs import source
from advisor.inputs.histogram import read_histogram
from advisor.inputs.transactions import read_transactions
from tests.advisor.inputs.reading import Pipe, error_of, gz, peak, piped, put, read_bytes, refusal, users
from tests.cells import failures, over

NO_TEXT = [
    (b"a\x00b\n", "line 1 is no text"),
    (b"PK\x03\x04rest", "a zip archive, not text; unpack it"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel workbook"),
    (b"\x28\xb5\x2f\xfdxx", "zstd"),
    (b"x\n" * 9000 + b"caf\x81\n", "line 9001 is no text: it is neither UTF-8"),
    ("ä\n".encode() + b"caf\xc3\n", "line 2 is no text: it is neither UTF-8"),
    (b"x" * (source.LONGEST_LINE + 9000), "line 1 is longer than 1048576 characters"),
    (gz(b"a\nb\n" * 5000 + b"y" * (1 << 23)), "is longer than 1048576 characters"),
    (gz(b"a\nb\n" * 999)[:-6], "gzip data is damaged or cut short"),
    (b"\x1f\x8b\x07rest of it", "gzip data is damaged"),
    (gz(b"PK\x03\x04rest"), "(decompressed): is a zip archive"),
]


@over(NO_TEXT)
def test_bytes_that_are_no_text(data, said, *, tmp_path):
    assert said in error_of(tmp_path, "a.csv", data)
    assert refusal(read_bytes, data).startswith("standard input")


def test_multibyte_characters_survive_every_block_border():
    data = ("é€𝄞\n" * 20000).encode()
    pipe = io.BufferedReader(Pipe(data[:3000]))
    assert users(piped(pipe, read_histogram, "-"))["é€𝄞"] > 100
    assert users(read_bytes(data)) == {"é€𝄞": 20000}


def test_files_that_cannot_be_opened(tmp_path, monkeypatch):
    put(tmp_path, "sample.csv", "a\n")

    def refused(cell):
        path, said = cell
        assert said in refusal(read_histogram, path)

    cells = [
        (f"{tmp_path}/smaple.csv", "smaple.csv: no such file; did you mean 'sample.csv'?"),
        (str(tmp_path), "cannot be read (Is a directory); name another file"),
        ("a\0b", "is not a file name"),
        (f"{tmp_path}/no folder/x", "no such file"),
        ("x" * 5000, "cannot be read"),
        ("", "cannot be read (Is a directory); name another file"),
    ]
    assert failures(cells, refused) == {}

    def forbidden(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    assert "sample.csv: cannot be read (Permission denied)" in refusal(read_histogram, f"{tmp_path}/sample.csv")


def test_an_error_of_the_disk_is_one_line():
    class Broken(Pipe):
        def readinto(self, buffer):
            if self.rest:
                return super().readinto(buffer)
            raise OSError(5, "Input/output error")

    message = refusal(piped, io.BufferedReader(Broken(b"a\nb\n")), read_histogram, "-")
    assert message == "standard input: cannot be read (Input/output error)"


def test_standard_input_is_the_default_and_stays_open(monkeypatch):
    stream = io.BytesIO(b"1\n2\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    assert users(read_histogram("-")) == {"1": 1, "2": 1}
    assert not stream.closed


def test_a_pipe_can_be_read_twice():
    read_end, write_end = os.pipe()
    os.write(write_end, b"a b\nb\n")
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        assert users(piped(pipe, read_transactions, "-")) == {"a": 0, "b": 2}


def test_a_first_row_of_items_that_no_other_row_has_may_name_the_columns(tmp_path):
    rows = "bread,milk\nbread\nmilk\nmilk,tea\nbread,tea\n"
    named = read_transactions(put(tmp_path, "named.csv", f"items\n{rows}"))
    assert "say --header" in "".join(named.warnings)
    assert not read_transactions(put(tmp_path, "rows.csv", rows)).warnings


@settings(deadline=None)
@given(
    lines=st.lists(st.sampled_from(["a", "b\u2028c", "é", "", " ", "x\x0by", "7"]), min_size=1, max_size=30),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    block=st.integers(1, 40),
)
def test_the_size_of_blocks_changes_nothing_in_plain_text(lines, ends, block):
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


def test_memory_does_not_grow_with_the_rows(tmp_path):
    peaks = []
    for rows in (200_000, 500_000):
        path = put(tmp_path, "a.csv", "id,state\n" + "".join(f"{at},s{at % 50}\n" for at in range(rows)))
        read, most = peak(read_histogram, path, column="state")
        peaks.append(most)
        assert read.counts.sum() == rows
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 12_000_000


class Changing(io.FileIO):
    """A file that another program appends to, or cuts short, once its first bytes were read."""

    text = ""

    def readinto(self, buffer):
        got = super().readinto(buffer) or 0
        if self.tell() == got:
            with Path(self.name).open("a" if self.text else "w") as other:
                other.write(self.text)
        return got


class Growing(io.FileIO):
    """A file to which another program appends a block whenever one is read."""

    def readinto(self, buffer):
        with Path(self.name).open("ab") as other:
            other.write(b"a\nb\n" * (1 << 18))
        return super().readinto(buffer) or 0


@pytest.mark.parametrize("text", ["", "c\n", "c"])
def test_an_input_that_changes_while_it_is_read_is_refused(text, tmp_path, monkeypatch):
    path = put(tmp_path, "a.txt", "a\nb\n" * 10_000)
    monkeypatch.setattr(Changing, "text", text)
    with io.BufferedReader(Changing(path)) as stream, pytest.raises(InputError, match="input: changed while it was"):
        piped(stream, read_histogram, "-")
    monkeypatch.setattr("advisor.inputs.source._open_path", lambda name: io.BufferedReader(Changing(name)))
    assert "changed while it was read" in error_of(tmp_path, "a.txt", "a\nb\n" * 10_000)


def test_a_file_that_grows_faster_than_it_is_read_is_not_read_for_ever(tmp_path):
    path = put(tmp_path, "a.txt", "a\nb\n")
    with io.BufferedReader(Growing(path)) as stream, pytest.raises(InputError, match="input: changed while it was"):
        piped(stream, read_histogram, "-")
    assert Path(path).stat().st_size < 20 << 20


def test_an_input_that_was_changed_before_is_read(tmp_path):
    path = Path(put(tmp_path, "a.txt", "a\nb\n"))
    with path.open("rb") as stream:
        path.write_text("a\nb\nb\n")
        assert sum(piped(stream, read_histogram, "-").counts) == 3
