"""Tables of text: every kind gives the same users; which column is read, and what is said of one that is not there."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from advisor.inputs.histogram import read_histogram
from tests.advisor.inputs.reading import Pipe, error_of, gz, read_bytes, read_file, users
from tests.cells import failures


def test_tables_of_every_kind_give_the_same_users(tmp_path: Path) -> None:
    def same(cell: tuple[tuple[str, str], bool]) -> None:
        (name, data), zipped = cell
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

    cells = product(
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
        [False, True],
    )
    assert failures(cells, same) == {}


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
    monkeypatch.setattr("advisor.inputs.table.FEW", 1 << 20)
    monkeypatch.setattr("advisor.inputs.table.TextBlock", None)  # which must not be needed
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
    monkeypatch.setattr("advisor.inputs.head.HEAD_LINES", head)
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


HEADERS = [
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
]


def test_header_rules(tmp_path: Path) -> None:
    def kept(cell: tuple[str, str, dict, dict]) -> None:
        name, data, options, expected = cell
        read = read_file(tmp_path, name, data, **options)
        assert users(read) == expected
        assert "header" in read.assumptions[0] or "no header line" in read.assumptions[0]

    assert failures(HEADERS, kept) == {}


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


WRONG_COLUMNS = [
    ({"column": "staet"}, ["no column 'staet'", "state, age", "did you mean 'state'?"]),
    ({"column": "3"}, ["no column '3'", "state, age"]),
    ({"column": "0"}, ["no column '0'"]),
    ({"column": ""}, ["empty name", "by its number"]),
    ({"column": "  "}, ["empty name"]),
    ({}, ["has 2 columns: state, age", "--column"]),
    ({"counts": "agee"}, ["no column 'agee' for --counts", "did you mean 'age'?"]),
    ({"column": "age", "counts": "age"}, ["both name column 'age'"]),
    ({"header": False, "column": "state"}, ["no column 'state'", "1 to 2", "--header"]),
]


def test_a_wrong_column_is_named_with_the_right_ones(tmp_path: Path) -> None:
    def named(cell: tuple[dict, list]) -> None:
        options, said = cell
        message = error_of(tmp_path, "a.csv", "state,age\nTexas,1\nOhio,2.5\n", **options)
        for part in said:
            assert part in message

    assert failures(WRONG_COLUMNS, named) == {}


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
