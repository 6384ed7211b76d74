"""What is read as plain text although it may be a table, or a header, is said in a warning."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.inputs.histogram import RawHistogram, read_histogram
from tests.advisor.inputs.reading import read_reports
from tests.cells import failures

TABLES = {
    "uniq -c": ("      3 apple\n     12 pear\n      1 fig\n", "all 3 lines looked at begin with a number and a blank"),
    "uniq -c with a title": ("fruit\n   500 c0\n    20 New York\n     7 x\n", "3 of 4 lines begin with a number"),
    "label and count": ("apple 12\npear 3\nfig 1\n", "hold blanks and differ from all others"),
    "aligned columns": ("apple   12  red\npear     3  green\n", "hold blanks and differ from all others"),
    "a field too many": ("value,count\na,5\nb,6,7\n", "all 3 lines looked at hold commas, but not all equally many"),
    "a field too few": ("value,count\na,5\nb\nc,8\n", "3 of 4 lines hold commas"),
    "ragged semicolons": ("a;5\nb;6;7\nc;8\n", "hold semicolons"),
    "ragged tabs": ("a\t5\nb\t6\t7\nc\t8\n", "hold tabs"),
    "ragged bars and a comment": ("a|5\nb|6|7\nc|8\n# end\n", "3 of 4 lines hold vertical bars"),
}
PLAIN_TEXTS = [
    "a\nb\na\n",
    "Smith, J\nDoe\n",
    "New York\nRome\nNew York\n",
    "San Diego\nNew York\nSan Diego\n",
    "x y\n",
]


def read(text: str, **options: object) -> RawHistogram:
    return read_histogram("-", stdin=io.BytesIO(text.encode()), **options)  # type: ignore[arg-type]


def test_a_table_that_is_read_line_by_line_is_doubted(tmp_path: Path) -> None:
    def doubted(name: str) -> None:
        text, words = TABLES[name]
        (tmp_path / "a.txt").write_text(text)
        for result in (read(text), read_histogram(str(tmp_path / "a.txt"))):
            assert sum(result.counts) == text.count("\n")
            (warning,) = result.warnings
            assert words in warning
            assert "each line was taken as one value" in warning

    assert failures(TABLES, doubted) == {}


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_values_that_hold_blanks_or_commas_are_not_doubted(text: str) -> None:
    assert read(text).warnings == ()


def test_a_first_value_unlike_all_others_may_be_a_header() -> None:
    words = "Paris\nRome\n" * 40 + "Oslo\n"
    counted = read("city\n" + words)
    assert dict(zip(counted.labels, counted.counts, strict=True)) == {"city": 1, "Paris": 40, "Rome": 40, "Oslo": 1}
    (warning,) = counted.warnings
    assert "the first line (city) was counted as a value" in warning
    assert "--header" in warning
    for header, first in ((True, 0), (False, 1)):
        decided = read("city\n" + words, header=header)
        assert (sum(decided.counts), decided.warnings) == (81 + first, ())
    for plain in (words, "a\nb\nc\nd\na\n", "a\nb\n"):  # where most values are rare, the first may be too
        assert read(plain).warnings == ()
    reports = read_reports("-", "grr", 1.0, stdin=io.BytesIO(b"city\n" + words.encode()))
    assert "the first line (city)" in reports.warnings[0]


def test_a_stray_quotation_mark_joins_no_lines() -> None:
    for text in ('a\n"b\nc\nd"\ne\na\n', 'a\n"b\nc\nd\ne\na\n'):
        result = read(text)
        assert sum(result.counts) == 6
        assert result.warnings == ("1 label begins with a quotation mark ('\"b'), which was kept as part of it",)


def test_a_value_over_several_lines_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('v\na\n"b\nc\nd"\na\n')
    result = read_histogram(str(tmp_path / "a.csv"), header=True)
    assert dict(zip(result.labels, result.counts, strict=True)) == {"a": 2, "b\nc\nd": 1}
    assert "1 label goes over several lines ('b\\nc\\nd')" in result.warnings[0]


class Changing(io.FileIO):
    """A file that another program appends to, or cuts short, once its first bytes were read."""

    text = ""

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        got = super().readinto(buffer) or 0
        if self.tell() == got:
            with Path(self.name).open("a" if self.text else "w") as other:
                other.write(self.text)
        return got


@pytest.mark.parametrize("text", ["", "c\n", "c"])
def test_an_input_that_changes_while_it_is_read_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a\nb\n" * 10_000)
    monkeypatch.setattr(Changing, "text", text)
    with io.BufferedReader(Changing(path)) as stream, pytest.raises(InputError, match="input: changed while it was"):
        read_histogram("-", stdin=stream)
    monkeypatch.setattr("advisor.inputs.source._open_path", lambda name: io.BufferedReader(Changing(name)))
    path.write_text("a\nb\n" * 10_000)
    with pytest.raises(InputError, match=r"a\.txt: changed while it was read"):
        read_histogram(str(path))


def test_an_input_that_was_changed_before_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a\nb\n")
    with path.open("rb") as stream:
        path.write_text("a\nb\nb\n")
        assert sum(read_histogram("-", stdin=stream).counts) == 3


class Growing(io.FileIO):
    """A file to which another program appends a block whenever one is read."""

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        with Path(self.name).open("ab") as other:
            other.write(b"a\nb\n" * (1 << 18))
        return super().readinto(buffer) or 0


def test_a_file_that_grows_faster_than_it_is_read_is_not_read_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a\nb\n")
    with io.BufferedReader(Growing(path)) as stream, pytest.raises(InputError, match="input: changed while it was"):
        read_histogram("-", stdin=stream)
    assert path.stat().st_size < 20 << 20
