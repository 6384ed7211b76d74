"""Reading: every input gives the right counts, or one line that says what is wrong, where, and the way out."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.inputs import source, tally, text, transactions
from advisor.inputs.histogram import RawHistogram, read_histogram
from advisor.inputs.labels import OTHER_LABEL


def gz(data: bytes) -> bytes:
    """Compress without the time of day, so that test names are the same in every process."""
    return gzip.compress(data, mtime=0)


def read_bytes(data: bytes, **options) -> RawHistogram:
    return read_histogram("-", stdin=io.BytesIO(data), **options)


def read_file(folder: Path, name: str, data: bytes | str, **options) -> RawHistogram:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_histogram(str(path), **options)


def users(read: RawHistogram) -> dict[str, int]:
    assert read.counts.dtype == np.int64
    assert read.counts.shape == (len(read.labels),)
    assert len(set(read.labels)) == len(read.labels)
    return dict(zip(read.labels, read.counts.tolist(), strict=True))


def error_of(folder: Path, name: str, data: bytes | str, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_file(folder, name, data, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(folder / name))
    return message.removeprefix(str(folder))


class Pipe(io.RawIOBase):
    """Standard input as a pipe: it cannot go back, and hands over a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        block, self.rest = self.rest[: min(3, len(buffer))], self.rest[min(3, len(buffer)) :]
        buffer[: len(block)] = block
        return len(block)


# --- formats ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", "state,age\nTexas,1\nOhio,2\nTexas,3\n"),
        ("a.csv", "state;age\nTexas;1\nOhio;2\nTexas;3\n"),
        ("a.tsv", "state\tage\nTexas\t1\nOhio\t2\nTexas\t3\n"),
        ("a.txt", "state\tage\nTexas\t1\nOhio\t2\nTexas\t3\n"),
        ("a", "state|age\nTexas|1\nOhio|2\nTexas|3\n"),
        ("a.csv", "state,age\r\nTexas,1\r\nOhio,2\r\nTexas,3"),
        ("a.csv", "state,age\rTexas,1\rOhio,2\rTexas,3"),
        ("a.csv", '\ufeff"state","age"\n"Texas","1"\n Ohio ,2\nTexas,3'),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_tables_of_every_kind_give_the_same_users(tmp_path: Path, name: str, data: str, zipped: bool) -> None:
    packed = gz(data.encode()) if zipped else data.encode()
    for read in (
        read_file(tmp_path, name, packed, column="state"),
        read_file(tmp_path, name, packed, column="1"),
        read_file(tmp_path, name, packed, column=" STATE "),
        read_histogram("-", stdin=io.BufferedReader(Pipe(packed)), column="state"),
    ):
        assert users(read) == {"Texas": 2, "Ohio": 1}
        assert not read.from_histogram
        assert "first line taken as the header (state, age)" in read.assumptions


LONG = {
    "quoted.csv": "state,users\n" + 'Texas,1\n"New\nYork",2\n " x",3\n\n' * 600,
    "one.csv": "state\n" + "Texas \n \nOhio\n" * 900,
    "quotes.csv": '"state"\n' + '"Te""xas"\nOhio\n' * 900,
    "carriage.csv": "state\tusers\r\n" + "Texas\t1\r\nOhio\t2\r\n" * 900,
    "plain.txt": "Texas\n\n  Ohio, too\n" * 900,
}


@pytest.mark.parametrize("name", LONG)
def test_small_files_are_read_as_large_ones_are(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    large = read_file(tmp_path, name, LONG[name])
    monkeypatch.setattr("advisor.inputs.text.FEW", 1 << 20)
    monkeypatch.setattr("advisor.inputs.text.TextBlock", None)  # which must not be needed
    small = read_file(tmp_path, name, LONG[name])
    assert users(large) == users(small)
    assert sum(users(large).values()) >= 1200
    assert (large.assumptions, large.warnings) == (small.assumptions, small.warnings)


def test_plain_text_keeps_commas_that_separate_nothing() -> None:
    read = read_bytes(b"Smith, J\nDoe\nSmith, J\n")
    assert users(read) == {"Smith, J": 2, "Doe": 1}
    assert read.assumptions == ("no header line found",)


def test_plain_text_understands_quotes_only_if_all_lines_do() -> None:
    assert users(read_bytes(b'"Smith, J"\nDoe\n')) == {"Smith, J": 1, "Doe": 1}
    odd = read_bytes(b'"Hi" she said\n"x"\n')
    assert users(odd) == {'"Hi" she said': 1, '"x"': 1}
    assert odd.warnings == ("2 labels begin with a quotation mark ('\"Hi\" she said'), which was kept as part of it",)


@pytest.mark.parametrize("head", [1, 1000])
def test_white_space_in_quotes_is_a_blank_line_only_where_quotes_enclose(
    tmp_path: Path, head: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.inputs.dialect.HEAD_LINES", head)
    quoted = read_file(tmp_path, "a.csv", '"a"\n" "\n"b"\n', header=False)
    assert (users(quoted), quoted.warnings) == ({"a": 1, "b": 1}, ("1 blank line was skipped",))
    assert users(read_file(tmp_path, "a.txt", 'a\n" "\n"b" x\n')) == {"a": 1, '" "': 1, '"b" x': 1}
    assert "is empty" in error_of(tmp_path, "a.csv", '" "\n')


def test_tsv_fields_may_begin_with_a_quotation_mark(tmp_path: Path) -> None:
    read = read_file(tmp_path, "a.tsv", 'id\ttitle\n1\t"Up" again\n2\tDown\n', column="title")
    assert users(read) == {'"Up" again': 1, "Down": 1}


def test_quoted_line_ends_and_the_lines_counted_through_them(tmp_path: Path) -> None:
    data = 'a,b\n"x\ny",1\nz,2\n'
    assert users(read_file(tmp_path, "a.csv", data, column="a")) == {"x\ny": 1, "z": 1}
    assert "line 5 has 1 field, the header has 2" in error_of(tmp_path, "a.csv", data + "q\n", column="a")


def test_a_csv_whose_lines_disagree_is_split_by_what_its_header_holds(tmp_path: Path) -> None:
    assert users(read_file(tmp_path, "a.csv", "value\na|b\n|\n;\n")) == {"a|b": 1, "|": 1, ";": 1}
    message = error_of(tmp_path, "a.csv", "a;b\n1;2\n1;2;3\n", column="a")
    assert "line 3 has 3 fields, the header has 2" in message


def test_blank_lines_inside_are_skipped_with_a_warning_and_at_the_end_without() -> None:
    for sep in ("\n", "\r\n"):
        read = read_bytes(sep.join(["1", "", "2", "  ", "1", "", ""]).encode())
        assert users(read) == {"1": 2, "2": 1}
        assert read.warnings == ("2 blank lines were skipped",)
    assert read_bytes(b"1\n2\n\n\n").warnings == ()
    assert read_bytes(b"a,b\n1,2\n\n1,3\n\n", column="a").warnings == ("1 blank line was skipped",)


# --- header ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "options", "expected"),
    [
        ("a.txt", "age\n1\n2\n", {}, {"1": 1, "2": 1}),  # numeric below, not above
        ("a.txt", "1\n2\n", {}, {"1": 1, "2": 1}),
        ("a.txt", "red\nblue\n", {}, {"red": 1, "blue": 1}),  # one column of words: no header
        ("a.csv", "red\nblue\n", {}, {"blue": 1}),
        ("a.csv", "red\nblue\nred\n", {}, {"red": 2, "blue": 1}),  # the first word comes again
        ("a.csv", "red\nblue\n", {"header": False}, {"red": 1, "blue": 1}),
        ("a.txt", "red\nblue\n", {"header": True}, {"blue": 1}),
        ("a.txt", "red\nblue\n", {"column": "red"}, {"blue": 1}),
        ("a.csv", "2,9\n3,8\n", {"column": "2"}, {"9": 1, "8": 1}),  # a number is a place, not a name …
        ("a.csv", "2020,2021\n3,8\n", {"column": "2021"}, {"8": 1}),  # … unless there is no such place
        ("a.csv", "2,9\n3,8\n", {"column": "9", "header": True}, {"8": 1}),
        ("a.txt", "nan\n1\n", {"drop_missing": True}, {"1": 1}),  # a missing value names nothing
        ("a.csv", "zip,x\n02138,a\n", {"column": "zip"}, {"02138": 1}),
    ],
)
def test_header_rules(tmp_path: Path, name: str, data: str, options: dict, expected: dict) -> None:
    read = read_file(tmp_path, name, data, **options)
    assert users(read) == expected
    assert "header" in read.assumptions[0] or "no header line" in read.assumptions[0]


@pytest.mark.parametrize("data", ["", "\n\n", " \r\n", "\ufeff"])
def test_an_empty_file_is_refused(tmp_path: Path, data: str) -> None:
    for name in ("a.csv", "a.txt"):
        assert "is empty; give one value a line" in error_of(tmp_path, name, data)
        assert "is empty" in error_of(tmp_path, f"{name}.gz", gz(data.encode()))


def test_only_a_header_is_refused(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a.csv", "state,count\n")
    assert "holds only a header line (state, count), no users" in message
    assert "--no-header" in message


# --- columns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"column": "staet"}, ["no column 'staet'", "state, age", "did you mean 'state'?"]),
        ({"column": "3"}, ["no column '3'", "state, age"]),
        ({"column": "0"}, ["no column '0'"]),
        ({"column": ""}, ["empty name", "by its number"]),
        ({"column": "  "}, ["empty name"]),
        ({}, ["has 2 columns: state, age", "--column"]),
        ({"counts": "agee"}, ["no column 'agee' for --counts", "did you mean 'age'?"]),
        ({"column": "age", "counts": "age"}, ["both name column 'age'"]),
        ({"header": False, "column": "state"}, ["no column 'state'", "1 to 2", "--header"]),
    ],
)
def test_a_wrong_column_is_named_with_the_right_ones(tmp_path: Path, options: dict, said: list) -> None:
    message = error_of(tmp_path, "a.csv", "state,age\nTexas,1\nOhio,2.5\n", **options)
    for part in said:
        assert part in message


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    assert "columns 1, 2 alike" in error_of(tmp_path, "a.csv", "x,x,y\n1,2,3\n", column="x")
    assert "columns 1, 2 alike" in error_of(tmp_path, "a.csv", "Ab,aB,y\n1,2,3\n", column="AB")
    assert users(read_file(tmp_path, "a.csv", "x,X,y\n1,2,3\n", column="X")) == {"2": 1}
    assert users(read_file(tmp_path, "a.csv", "x,x,y\n1,2,3\n", column="2")) == {"2": 1}


def test_a_column_without_a_name_is_reached_by_number(tmp_path: Path) -> None:
    data = ",state\n0,Texas\n1,Ohio\n"
    assert users(read_file(tmp_path, "a.csv", data, column="1")) == {"0": 1, "1": 1}
    assert "1 (unnamed), state" in error_of(tmp_path, "a.csv", ",state\n8,Texas\n9,Ohio\n")


@pytest.mark.parametrize("index", [None, pd.Index([0, 1, 2, 3])])
def test_the_row_numbers_that_pandas_writes_are_left_out_and_said(tmp_path: Path, index: pd.Index[int] | None) -> None:
    colours = pd.Series(["red", "blue", "red", "green"], index=index)
    for data in (colours.to_csv(), colours.rename("colour").to_csv(), colours.rename("colour").to_frame().to_csv()):
        read = read_file(tmp_path, "a.csv", data)
        assert users(read) == {"red": 2, "blue": 1, "green": 1}
        assert any("row numbers that pandas writes" in note for note in read.assumptions)
    counted = colours.rename("colour").value_counts().reset_index()
    assert users(read_file(tmp_path, "a.csv", counted.to_csv())) == {"red": 2, "blue": 1, "green": 1}


def test_an_index_that_holds_the_labels_is_no_row_number(tmp_path: Path) -> None:
    for values in ([0, 1, 2, 0], ["a", "b", "a"]):
        counted = pd.Series(values).value_counts().sort_index()
        read = read_file(tmp_path, "a.csv", counted.to_csv())
        assert users(read) == {str(value): count for value, count in counted.items()}
        assert not any("pandas" in note for note in read.assumptions)


def test_a_counts_column_needs_labels_beside_it(tmp_path: Path) -> None:
    assert "needs a column of labels" in error_of(tmp_path, "a.csv", "n\n1\n2\n", counts="n")
    assert "needs a column of labels" in error_of(tmp_path, "a.csv", "a,b,n\n1,2,3\n", counts="n")


def test_ragged_rows_name_the_line_and_the_widths(tmp_path: Path) -> None:
    rows = "state,age\n" + "Texas,1\n" * 5000
    message = error_of(tmp_path, "a.csv", rows + "Texas,1,2\n", column="state")
    assert "line 5002 has 3 fields, the header has 2; quote values that contain the separator" in message
    message = error_of(tmp_path, "a.csv", "1,2\n" * 2000 + "\n3\n", column="1")
    assert "line 2002 has 1 field, the first line has 2" in message


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('a,b\nx,"1\ny,2\n', "never closed"),
        ("a,b\n" + "x,1\n" * 3000 + 'y,"2\n' + "x,1\n" * 60000, "never closed"),
        ('a,b\nx,"1" more\n', "line 2: text goes on after a closing quotation mark"),
    ],
)
def test_quotation_marks_that_do_not_pair(tmp_path: Path, data: str, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", data, column="a")


# --- histograms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("state,count\nTexas,3\nOhio,0\n", {}),
        ("N,state\n3,Texas\n0,Ohio\n", {}),
        ("state,Freq\nTexas,3.0\nOhio,0\n", {}),
        ("x,state,count\na,Texas,3\nb,Ohio,0\n", {"column": "state"}),
        ("state,seen\nTexas,3\nOhio,0\n", {"counts": "seen"}),
        ("a,state,seen\n1,Texas,3\n1,Ohio,0\n", {"counts": "seen", "column": "state"}),
        ("Texas,3\nOhio,0\n", {"counts": "2"}),
        ("3,Texas\n0,Ohio\n", {"counts": "1"}),
        (",count\nTexas,3\nOhio,0\n", {}),
    ],
)
def test_histograms_in_every_form(tmp_path: Path, data: str, options: dict) -> None:
    read = read_file(tmp_path, "a.csv", data, **options)
    assert users(read) == {"Texas": 3, "Ohio": 0}
    assert read.from_histogram
    assert any("read as counts" in text for text in read.assumptions)
    assert read.warnings == ()


def test_in_a_wide_table_a_size_is_a_property_of_each_user(tmp_path: Path) -> None:
    read = read_file(tmp_path, "a.csv", "id,state,size\n1,Texas,3\n2,Ohio,7\n3,Texas,5\n", column="state")
    assert users(read) == {"Texas": 2, "Ohio": 1}
    assert not read.from_histogram


def test_a_table_of_numbers_takes_the_better_count_name(tmp_path: Path) -> None:
    assert users(read_file(tmp_path, "a.csv", "number,count\n7,3\n8,4\n")) == {"7": 3, "8": 4}
    assert "could both hold the number of users" in error_of(tmp_path, "a.csv", "size,n\n7,3\n8,4\n")


def test_naming_the_count_column_as_column_reads_its_values(tmp_path: Path) -> None:
    read = read_file(tmp_path, "a.csv", "state,count\nTexas,3\nOhio,3\n", column="count")
    assert users(read) == {"3": 2}
    assert not read.from_histogram


def test_fractions_under_the_name_of_a_count_are_refused_not_read_as_one_user_each(tmp_path: Path) -> None:
    data = "state,freq\nTexas,0.75\nOhio,0.25\n"
    for options in ({}, {"column": "state"}):
        words = "column 'freq' holds '0.75' on line 2, which is no count: it is not a whole number"
        assert words in error_of(tmp_path, "a.csv", data, **options)


def test_percentages_under_the_name_of_a_count_are_refused(tmp_path: Path) -> None:
    for rows in ("a,50%\nb,50%\n", "a,5 users\nb,7 users\n", "a,$5\nb,5\n"):
        assert "column 'count' holds '" in error_of(tmp_path, "a.csv", "value,count\n" + rows)
    words = "column 'count' holds '50%' on line 2, which is no count: it is not a number"
    assert words in error_of(tmp_path, "a.csv", "value,count\na,50%\nb,50%\n")
    # Ranks of nobility are no numbers.
    assert "say which one holds the values" in error_of(tmp_path, "a.csv", "name,count\nVlad,yes\nAnne,no\n")


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_long_field_is_called_long(tmp_path: Path, quote: str) -> None:
    rows = f"value,count\na,1\n{quote}{'z' * 200_000}{quote},1\n" + '"b",2\n'
    assert "line 3: a value is longer than 131072 characters" in error_of(tmp_path, "a.csv", rows)


@pytest.mark.parametrize("before", [1, 3000])
def test_an_open_quotation_mark_is_named_by_the_line_it_is_on(tmp_path: Path, before: int) -> None:
    rows = "value,count\n" + "a,1\n" * before + '"b,1\n' + "c,1\n" * 60_000
    assert f"line {before + 2}: a quotation mark opened here is never closed" in error_of(tmp_path, "a.csv", rows)


def test_two_columns_without_header_are_ambiguous(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a.csv", "1,3\n2,5\n")
    assert "--counts 2" in message
    assert "--column 1" in message


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("-1", "is negative"),
        ("2.5", "is not a whole number"),
        ("NaN", "is missing"),
        ("", "is empty"),
        ("many", "is not a number"),
        ("inf", "is not finite"),
        ("1e300", "is above 9007199254740992"),
        ("1" * 500, "is above 9007199254740992"),
        ("9007199254740991", "add up to more than 9007199254740992"),
    ],
)
@pytest.mark.parametrize("place", [4, 3000])
def test_a_bad_count_is_named_with_its_line(tmp_path: Path, cell: str, reason: str, place: int) -> None:
    rows = [f"l{at},1" for at in range(2, place)] + [f"bad,{cell}", "after,1"]
    for options in ({}, {"counts": "count"}):
        message = error_of(tmp_path, "a.csv", "\n".join(["label,count", *rows]), **options)
        assert f"line {place}" in message
        assert reason in message


@pytest.mark.parametrize(("cell", "number"), [("12.0", 12), ("1e3", 1000), ('"1,000"', 1000), (" 7 ", 7), ("+5", 5)])
def test_whole_counts_in_other_spellings(tmp_path: Path, cell: str, number: int) -> None:
    assert users(read_file(tmp_path, "a.csv", f"x,count\na,{cell}\nb,1\n")) == {"a": number, "b": 1}


@pytest.mark.parametrize("cell", ['"1,00"', '"1,0000"', '"0,100"', '"1,000,00"'])
def test_other_groupings_are_no_number(tmp_path: Path, cell: str) -> None:
    message = error_of(tmp_path, "a.csv", f"x,count\na,{cell}\nb,1\n", counts="count")
    assert "is not a number" in message


@pytest.mark.parametrize("cell", ["1,000", "1.000"])
def test_thousands_that_may_be_decimals_are_refused(tmp_path: Path, cell: str) -> None:
    assert "in two ways" in error_of(tmp_path, "a.csv", f"x;count\na;{cell}\nb;1\n", counts="count")


def test_a_label_twice_is_added_up_with_a_warning(tmp_path: Path) -> None:
    read = read_file(tmp_path, "a.csv", "x,count\na,1\nb,1\na,2\n")
    assert users(read) == {"a": 3, "b": 1}
    assert "label 'a' (line 4) appeared before; the counts of a label were added up" in read.warnings[0]


def test_a_histogram_of_zeros_is_refused(tmp_path: Path) -> None:
    assert "all counts are 0" in error_of(tmp_path, "a.csv", "x,count\na,0\nb,0\n")


# --- missing values --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["nan", "NaN", "NA", "n/a", "null", "None"])
def test_missing_words_among_numbers(tmp_path: Path, word: str) -> None:
    data = "age\n" + "1\n" * 3000 + f"{word}\n2\n{word}\n"
    message = error_of(tmp_path, "a.txt", data)
    assert f"line 3002: the value is missing ('{word}')" in message
    assert "--drop-missing" in message
    read = read_file(tmp_path, "a.txt", data, drop_missing=True)
    assert users(read) == {"1": 3000, "2": 1}
    assert read.warnings == ("2 users were left out: the value is missing",)


def test_namibia_is_a_label() -> None:
    assert users(read_bytes(b"NA\nDE\nNone\nNA\n")) == {"NA": 2, "DE": 1, "None": 1}


def test_empty_cells_are_missing_among_words_too(tmp_path: Path) -> None:
    data = "state,x\nTexas,1\n,2\nNA,3\n"
    assert "line 3: the value is missing (an empty cell)" in error_of(tmp_path, "a.csv", data, column="state")
    assert users(read_file(tmp_path, "a.csv", data, column="state", drop_missing=True)) == {"Texas": 1, "NA": 1}
    assert "line 3: the value is missing" in error_of(tmp_path, "b.csv", 'state\nTexas\n""\n')
    assert "every value is missing" in error_of(tmp_path, "c.csv", "a,b\n,1\n,2\n", column="a", drop_missing=True)


def test_missing_labels_of_a_histogram_drop_their_users(tmp_path: Path) -> None:
    data = "age,count\n1,5\nnan,7\n,2\n"
    assert "line 3: the value is missing ('nan')" in error_of(tmp_path, "a.csv", data)
    read = read_file(tmp_path, "a.csv", data, drop_missing=True)
    assert users(read) == {"1": 5}
    assert read.warnings == ("9 users were left out: the value is missing",)


# --- bytes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
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
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", data)
    with pytest.raises(InputError, match="standard input"):
        read_bytes(data)


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
        patch.setattr("advisor.inputs.dialect.HEAD_LINES", 2)
        patch.setattr(source, "CHUNK_BYTES", block)
        assume(any(line.strip() for line in lines[:2]))
        read = read_bytes(data, header=False)
    # A lone carriage return before the last line feed is one line end with it.
    assert users(read) == Counter([line.strip() for line in lines if line.strip()] + ["last"])
    blanks = sum(not line.strip() for line in lines) - (ends == "\r" and not lines[-1].strip() and lines[-1] == "")
    assert bool(read.warnings) == (blanks > 0)


# --- size ------------------------------------------------------------------------------------------------------


def test_too_many_labels_look_like_an_identifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MOST_LABELS", 100)
    monkeypatch.setattr(transactions, "MOST_LABELS", 100)
    rows = "\n".join(f"{at},1" for at in range(101))
    for name, options in (("a.csv", {"column": "1"}), ("a.csv", {"counts": "2"})):
        message = error_of(tmp_path, name, rows, **options)
        assert "more than 100 distinct values, which looks like an identifier column" in message
        assert "choose another --column" in message
    assert "more than 100 distinct items" in error_of(tmp_path, "a.csv", rows, transactions=True)
    assert len(read_file(tmp_path, "a.csv", rows[: rows.rindex("\n")], column="1").labels) == 100


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    peaks = []
    for rows in (200_000, 500_000):
        (tmp_path / "a.csv").write_text("id,state\n" + "".join(f"{at},s{at % 50}\n" for at in range(rows)))
        tracemalloc.start()
        read = read_histogram(str(tmp_path / "a.csv"), column="state")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert read.counts.sum() == rows
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 12_000_000


# --- transactions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sep", [", ", ";", "\t", " "])
def test_each_user_keeps_the_most_frequent_item(tmp_path: Path, sep: str) -> None:
    rows = [["tea", "milk", "tea"], ["milk"], ["tea", "milk"], ["jam"], ["milk", "jam"], ["salt"]]
    data = "\n".join(sep.join(row) for row in rows)
    read = read_file(tmp_path, "a.txt", data, transactions=True)
    assert users(read) == {"tea": 0, "milk": 4, "jam": 1, "salt": 1}
    assert not read.from_histogram
    assert "among all of 4 items" in read.assumptions[1]
    top = read_histogram("-", stdin=io.BufferedReader(Pipe(data.encode())), transactions=True, keep_top=2)
    assert users(top) == {"tea": 0, "milk": 4, OTHER_LABEL: 2}  # tea and jam tie: tea came first
    assert "among the 2 kept of 4 items" in top.assumptions[1]


def test_transactions_refuse_what_they_cannot_use(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--column cannot be used with --transactions"):
        read_bytes(b"a b\n", transactions=True, column="1")
    with pytest.raises(InputError, match="--counts cannot be used with --transactions"):
        read_bytes(b"a b\n", transactions=True, counts="1")
    assert "'(other)' is an item" in error_of(tmp_path, "a", "a (other)\nb\n", transactions=True)
    assert "is empty" in error_of(tmp_path, "a", "\n\n", transactions=True)
    assert "holds no item" in error_of(tmp_path, "a", ",\n,\n", transactions=True)
    assert "closing quotation mark" in error_of(tmp_path, "a", 'a,"b" c\n', transactions=True)


def test_transactions_skip_blank_lines_and_a_header() -> None:
    read = read_bytes(b"items\na,b\n\nb\n,\n\n", transactions=True, header=True, keep_top=1)
    assert users(read) == {"b": 2, OTHER_LABEL: 1}
    assert read.warnings == ("1 blank line was skipped",)


# --- Parquet ---------------------------------------------------------------------------------------------------


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


# --- properties ------------------------------------------------------------------------------------------------

LABELS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=8).filter(
    lambda text: text.strip()
)


@settings(deadline=None)
@given(
    labels=st.lists(LABELS, min_size=1, max_size=30),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    header=st.booleans(),
    zipped=st.booleans(),
    side=st.booleans(),
    block=st.sampled_from([1, 2, 5, 4000]),
    head=st.sampled_from([3, 1000]),
)
def test_what_a_csv_writer_wrote_is_read_back(
    labels, delimiter, line_end, quoting, header, zipped, side, block, head
) -> None:
    # The writer quotes only the line end it writes itself, so that other ones cannot be told from it.
    assume(quoting == csv.QUOTE_ALL or not any(mark in label for label in labels for mark in "\r\n"))
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    if header:
        writer.writerow(["id", "value", "more"])
    # Two plain columns beside the label settle the separator, whatever the labels hold; but not where another one is in
    # each of them equally often.
    others = [{label.count(mark) for label in labels} for mark in ",;\t|" if mark != delimiter]
    assume(header or not any(len(counts) == 1 and counts != {0} for counts in others))
    for at, label in enumerate(labels):
        writer.writerow([f"id{at}", label, "x"] if side else [label, f"id{at}", "x"])
    data = written.getvalue().encode()
    # With a head of 3 lines a quoted line end may be cut; the separator then may not be found from it.
    assume(head == 1000 or not any(mark in label for label in labels for mark in "\r\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK_ROWS", block)
        patch.setattr(source, "CHUNK_BYTES", block)
        patch.setattr("advisor.inputs.dialect.HEAD_LINES", head)
        read = read_bytes(gz(data) if zipped else data, column="2" if side else "1", header=header)
    assert users(read) == Counter(label.strip() for label in labels)
    assert list(read.labels) == list(Counter(label.strip() for label in labels))


@settings(deadline=None)
@given(
    labels=st.lists(LABELS, min_size=1, max_size=30),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    block=st.sampled_from([1, 2, 5, 4000]),
)
def test_one_column_a_csv_writer_wrote_is_read_back(tmp_path_factory, labels, quoting, block) -> None:
    assume(quoting == csv.QUOTE_ALL or not any(mark in label for label in labels for mark in "\r\n"))
    path = tmp_path_factory.getbasetemp() / "one.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=quoting)
        writer.writerow(["value"])
        writer.writerows([label] for label in labels)
    missing = {"nan", "na", "n/a", "null", "none"}
    assume(not any(label.strip().casefold() in missing for label in labels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK_ROWS", block)
        patch.setattr(source, "CHUNK_BYTES", block)
        assert users(read_histogram(str(path), header=True)) == Counter(label.strip() for label in labels)


PIECES = st.sampled_from(
    [
        *(bytes([byte]) for byte in b'a1,;|" \t\n\r\x0b\xff'),
        *(b'""', b"\r\n", b"x,1\n", b"nan", b"count", b"1,000", b"2.5", b"-1", b"1e999", b"(other)"),
        *(b"\xc3\xa9", b"\xef\xbb\xbf", b"PAR1", b"\x1f\x8b"),
    ]
)


@settings(deadline=None, max_examples=300)
@given(
    data=st.binary(max_size=80) | st.lists(PIECES, max_size=40).map(b"".join),
    zipped=st.booleans(),
    column=st.none() | st.sampled_from(["1", "count"]),
    counts=st.none() | st.sampled_from(["2", "count"]),
    header=st.none() | st.booleans(),
    drop=st.booleans(),
    transactions=st.booleans(),
)
def test_random_bytes_raise_nothing_but_input_errors(data, zipped, column, counts, header, drop, transactions) -> None:
    packed = gz(data) if zipped else data
    options = {} if transactions else {"column": column, "counts": counts, "drop_missing": drop}
    try:
        read = read_bytes(packed, header=header, transactions=transactions, **options)
    except InputError as error:
        outcome = str(error)
    else:
        outcome = f"standard input: {sum(users(read).values())} users"
    assert outcome.startswith("standard input")
    assert "\n" not in outcome
    assert not outcome.endswith(": 0 users")


@settings(deadline=None, max_examples=60)
@given(
    cells=st.lists(
        st.lists(
            st.sampled_from(["a", "0", "01", "", " b ", '"', 'x"y', "\u00a0", "é", "NA", "1.0"]), min_size=2, max_size=2
        ),
        min_size=1,
        max_size=12,
    ),
    marks=st.lists(st.sampled_from(["plain", "quoted", "broken", "blank", "ragged"]), min_size=12, max_size=12),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=12, max_size=12),
    chunk=st.integers(1, 30),
)
def test_blocks_through_pandas_are_what_a_csv_reader_reads(cells, marks, ends, chunk) -> None:
    """Head and blocks of any size agree with reading row by row, or refuse the same line."""
    text_ = "id,value\nx,y\n"
    for row, mark, end in zip(cells, marks, ends, strict=False):
        quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in row)
        text_ += {
            "blank": " ",
            "ragged": "a,b,c",
            "plain": ",".join(row),
            "quoted": quoted,
            "broken": f'"{row[0]}" ,b',
        }[mark] + end
    data = (text_ + "x,z\n").encode()
    outcomes = []
    for head, size in ((1000, 1 << 19), (2, 1 << 19), (2, chunk)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("advisor.inputs.dialect.HEAD_LINES", head)
            patch.setattr(source, "CHUNK_BYTES", size)
            try:
                read = read_histogram("-", column="value", header=True, drop_missing=True, stdin=io.BytesIO(data))
                outcomes.append((read.labels, read.counts.tolist(), read.warnings))
            except InputError as error:
                outcomes.append(str(error))
    assert outcomes[1] == outcomes[2]
    if not isinstance(outcomes[0], str) or not isinstance(outcomes[1], str):
        assert outcomes[0] == outcomes[1]
