"""Columns of counts: how they are found and spelt, labels twice, missing labels, and what is refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.advisor.inputs.reading import error_of, read_bytes, read_file, users
from tests.cells import failures

HISTOGRAMS = [
    ("state,count\nTexas,3\nOhio,0\n", {}),
    ("N,state\n3,Texas\n0,Ohio\n", {}),
    ("state,Freq\nTexas,3.0\nOhio,0\n", {}),
    ("x,state,count\na,Texas,3\nb,Ohio,0\n", {"column": "state"}),
    ("state,seen\nTexas,3\nOhio,0\n", {"counts": "seen"}),
    ("a,state,seen\n1,Texas,3\n1,Ohio,0\n", {"counts": "seen", "column": "state"}),
    ("Texas,3\nOhio,0\n", {"counts": "2"}),
    ("3,Texas\n0,Ohio\n", {"counts": "1"}),
    (",count\nTexas,3\nOhio,0\n", {}),
]


def test_histograms_in_every_form(tmp_path: Path) -> None:
    def same(cell: tuple[str, dict]) -> None:
        data, options = cell
        read = read_file(tmp_path, "a.csv", data, **options)
        assert users(read) == {"Texas": 3, "Ohio": 0}
        assert read.from_histogram
        assert any("read as counts" in text for text in read.assumptions)
        assert read.warnings == ()

    assert failures(HISTOGRAMS, same) == {}


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


def test_a_bad_count_is_named_with_its_line(tmp_path: Path) -> None:
    def named(cell: tuple[tuple[str, str], int]) -> None:
        (cell, reason), place = cell
        rows = [f"l{at},1" for at in range(2, place)] + [f"bad,{cell}", "after,1"]
        for options in ({}, {"counts": "count"}):
            message = error_of(tmp_path, "a.csv", "\n".join(["label,count", *rows]), **options)
            assert f"line {place}" in message
            assert reason in message

    cells = product(
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
        [4, 3000],
    )
    assert failures(cells, named) == {}


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


def test_a_row_that_adds_up_the_others_is_refused(tmp_path: Path) -> None:
    rows = 'region,population\nNorth,"1,200"\nEast,800\n'
    message = error_of(tmp_path, "a.csv", rows + 'Total,"2,000"\n')
    assert "line 4: 'Total' is the sum of the rows above (2,000), not a category; remove this row" in message
    assert users(read_file(tmp_path, "a.csv", rows + "Total,7\n")) == {"North": 1200, "East": 800, "Total": 7}


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
