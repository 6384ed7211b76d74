"""Estimates: every table gives the right numbers, or one line that says what is wrong, where, and the way out."""

from __future__ import annotations

import gzip
import io
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.inputs import table
from advisor.inputs.estimates import RawEstimates, read_estimates
from tests.cells import failures


def read_file(folder: Path, name: str, data: bytes | str, **options) -> RawEstimates:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_estimates(str(path), **options)


def pairs(read: RawEstimates) -> list[tuple[str, float]]:
    assert read.values.dtype == np.float64
    return list(zip(read.labels, read.values.tolist(), strict=True))


def error_of(folder: Path, name: str, data: bytes | str, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_file(folder, name, data, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(folder / name))
    return message.removeprefix(str(folder))


EXPECTED = [("pear", 0.5), ("apple", -0.013), ("fig", 1.2e-3)]


def test_tables_of_every_kind_give_the_same_estimates(tmp_path: Path) -> None:
    def same(cell: tuple[tuple[str, str, dict], bool]) -> None:
        (name, data, options), zipped = cell
        packed = gzip.compress(data.encode(), mtime=0) if zipped else data.encode()
        read = read_file(tmp_path, name, packed, **options)
        assert pairs(read) == EXPECTED
        assert any("read as estimates" in text for text in read.assumptions)
        assert any("decimal comma" in text for text in read.assumptions) == ("0,5" in data)
        assert read.warnings == ()

    cells = product(
        [
            ("a.csv", "fruit,estimate\npear,0.5\napple,-0.013\nfig,1.2e-3\n", {}),
            ("a.csv", "fruit,anything\npear,.5\napple,-0.013\nfig,+0.0012\n", {}),
            ("a.csv", "pear,0.5\napple,-.013\nfig,1.2E-3\n", {}),
            ("a.csv", "0.5,pear\n-.013,apple\n1.2E-3,fig\n", {}),
            ("a.tsv", "Freq\tfruit\n0.5\tpear\n−0.013\tapple\n0.0012\tfig", {}),
            ("a.txt", "pear 0.5\napple -0.013\nfig   1.2e-3\n", {}),
            ("a.csv", "fruit;frequency\npear;0,5\napple;-0,013\nfig;1,2e-3\n", {}),
            ("a.csv", "pear;0,5\napple;-0,013\nfig;1,2e-3\n", {}),
            ("a.csv", "fruit;frequency\npear;0.5\napple;-0.013\nfig;1.2e-3\n", {}),
            ("a.csv", "fruit,n,estimate\npear,5,0.5\napple,7,-0.013\nfig,9,1.2e-3\n", {}),
            ("a.csv", "fruit,count,f_hat\npear,5,0.5\napple,7,-0.013\nfig,9,1.2e-3\n", {}),
            ("a.csv", "a,b,fruit\n0.5,1,pear\n-0.013,1,apple\n1.2e-3,1,fig\n", {"column": "fruit", "estimates": "a"}),
            ("a.csv", "a,b,fruit\n0.5,1,pear\n-0.013,1,apple\n1.2e-3,1,fig\n", {"column": "3", "estimates": "1"}),
            ("a.csv", "estimate,fruit\n0.5,pear\n-0.013,apple\n1.2e-3,fig\n", {"column": "fruit"}),
            ("a.csv", "x,fruit\n0.5,pear\n-0.013,apple\n1.2e-3,fig\n", {"estimates": "X"}),
            ("a.csv", "fruit,estimate\r\npear,0.5\r\napple,-0.013\r\nfig,1.2e-3", {}),
        ],
        [False, True],
    )
    assert failures(cells, same) == {}


def test_standard_input_and_the_order_of_the_file() -> None:
    data = b"fruit,estimate\n" + b"".join(b"l%d,%d\n" % (at, at) for at in (3, 1, 2))
    read = read_estimates("-", stdin=io.BytesIO(data))
    assert pairs(read) == [("l3", 3.0), ("l1", 1.0), ("l2", 2.0)]


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"age": [3.0, 1.0], "estimate": [0.1, -2.5e-7]}), path)
    assert pairs(read_estimates(str(path))) == [("3", 0.1), ("1", -2.5e-7)]
    parquet.write_table(pa.table({"age": [3, 1], "estimate": [0.1, None]}), path)
    with pytest.raises(InputError, match="row 2: the estimate is empty"):
        read_estimates(str(path))
    parquet.write_table(pa.table({"age": [3, 1], "estimate": [[0.1], [0.2]]}), path)
    with pytest.raises(InputError, match=r"column 'estimate' holds list.*cast it to strings"):
        read_estimates(str(path))


def test_blocks_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "v,est\n" + "".join(f"{at},{at / 8}\n" for at in range(9))
    whole = pairs(read_file(tmp_path, "a.csv", data))
    monkeypatch.setattr(table, "BLOCK_ROWS", 2)
    assert pairs(read_file(tmp_path, "a.csv", data)) == whole == [(str(at), at / 8) for at in range(9)]


@pytest.mark.parametrize("data", ["0.2\n0.8\n-0.1\n", "estimate\n0.2\n0.8\n-0.1\n"])
def test_one_column_is_numbered(tmp_path: Path, data: str) -> None:
    read = read_file(tmp_path, "a.txt", data)
    assert pairs(read) == [("0", 0.2), ("1", 0.8), ("2", -0.1)]
    assert "one column: its 3 rows read as the estimates of the categories 0 to 2" in read.assumptions


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1,234", 1234), ("-1,234", -1234), ("1,234,567.5", 1234567.5), ("0.125", 0.125), ("1e3", 1000), ("007", 7)],
)
def test_thousands_in_a_file_with_commas(tmp_path: Path, cell: str, value: float) -> None:
    assert pairs(read_file(tmp_path, "a.csv", f'x,est\na,"{cell}"\nb,1\n'))[0] == ("a", value)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1.234", "0,5"), (1234, 0.5)),  # a decimal comma elsewhere, so the point groups
        (("1.234", "0.5"), (1.234, 0.5)),
        (("1,234", "0.5"), (1234, 0.5)),
        (("1,234", "-0,5"), (1.234, -0.5)),
        (("1.234,5", "12"), (1234.5, 12)),
        (("-12", "3e2"), (-12, 300)),
    ],
)
def test_decimal_sign_of_a_file_with_semicolons(tmp_path: Path, cells: tuple, values: tuple) -> None:
    read = read_file(tmp_path, "a.csv", f"x;est\na;{cells[0]}\nb;{cells[1]}\n")
    assert tuple(read.values) == values


def test_decimal_signs_that_contradict_or_say_nothing(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a.csv", "x;est\na;0.5\nb;2\nc;0,25\n")
    assert "line 4: the estimate '0,25' has another decimal sign than '0.5'" in message
    for cell in ("1,234", "1.234"):
        message = error_of(tmp_path, "a.csv", f"x;est\na;3\nb;{cell}\n")
        assert f"line 3: the estimate '{cell}' can be read in two ways (thousands or decimals)" in message
    message = error_of(tmp_path, "a.csv", "x;est\na;0,5\nb;12.34\n")
    assert "line 3: the estimate '12.34' has another decimal sign than '0,5'" in message


def test_a_bad_estimate_is_named_with_its_line(tmp_path: Path) -> None:
    def named(cell: tuple[tuple[str, str], int]) -> None:
        (cell, reason), place = cell
        lines = [f"l{at},0.1" for at in range(2, place)] + [f"bad,{cell}", "after,1"]
        message = error_of(tmp_path, "a.csv", "\n".join(["label,estimate", *lines]))
        assert f"line {place}: " in message
        assert reason in message
        assert "e.g. 0.25, -0.013 or 1e-3" in message

    cells = product(
        [
            ("", "the estimate is empty"),
            ("NaN", "'NaN' is missing"),
            ("n/a", "'n/a' is missing"),
            ("inf", "'inf' is not finite"),
            ("-Infinity", "'-Infinity' is not finite"),
            ("1e999", "'1e999' is too large"),
            ("many", "'many' is not a number"),
            ("1_000", "'1_000' is not a number"),
            ('"0,25"', "'0,25' is not a number"),
            ('"1,00"', "'1,00' is not a number"),
            ("12%", "'12%' is not a number"),
        ],
        [3, 5000],
    )
    assert failures(cells, named) == {}


@pytest.mark.parametrize("cell", ["NaN", ""])
def test_a_missing_estimate_on_the_first_line_is_no_header(tmp_path: Path, cell: str) -> None:
    assert "line 1: the estimate" in error_of(tmp_path, "a.csv", f"a,{cell}\nb,0.2\nc,0.3\n")


REFUSED_TABLES = [
    ("x,est\na,1\n,2\n", "line 3: the label is missing (an empty cell)"),
    ("x,est\n1,1\nNA,2\n", "line 3: the label is missing ('NA')"),
    ("x,est\na,1\nb,3\n\na,2\n", "line 5: label 'a' is on line 2 already; give one row a category"),
    ("x,est\n1,1\n1.0,2\n", "line 3: label '1.0' is on line 2, written '1', already"),
    ("x,est\na,1\n", "holds 1 estimate; a domain needs at least 2 categories"),
    ("0.5\n", "holds 1 estimate"),
    ("x,est\n", "holds only a header line (x, est), no estimates"),
    ("x,est\na,1\nb,1,2\n", "line 3 has 3 fields, the header has 2; quote values that contain the separator"),
    ("a,1\nb,1\nc\n", "line 3 has 1 field, the first line has 2"),
    ("x,est\na,1\nb,2\ntotal,3\n", "line 4: 'total' is the sum of the rows above (3), not a category; remove"),
    ("x,est\na,.3333\nb,.3333\nc,.3333\nOverall:,1\n", "line 5: 'Overall:' is the sum"),
    ("x;est\na;0,25\nb;0,5\nSum;0,75\n", "line 4: 'Sum' is the sum"),
    ('x,est\na,"1\nb,2\n', "never closed"),
    ("", "is empty"),
    ("a,b,c\nx,1,2\ny,3,4\n", "has 3 columns: a, b, c; say which one holds the estimates with --estimates"),
    ("a,freq,raw\nx,1,2\ny,3,4\n", "say which one holds the estimates"),
]


def test_tables_that_are_refused(tmp_path: Path) -> None:
    def refused(cell: tuple[str, str]) -> None:
        data, said = cell
        assert said in error_of(tmp_path, "a.csv", data)

    assert failures(REFUSED_TABLES, refused) == {}


def test_missing_words_are_labels_among_words_and_a_total_that_adds_up_nothing_is_one(tmp_path: Path) -> None:
    assert read_file(tmp_path, "a.csv", "x,est\nNA,1\nDE,2\n").labels == ("NA", "DE")
    assert read_file(tmp_path, "a.csv", "x,est\na,0.1\nb,0.2\ntotal,0.7\n").labels == ("a", "b", "total")
    assert read_file(tmp_path, "a.csv", "x,est\na,0.1\nb,0.2\nc,0.3\n").labels == ("a", "b", "c")  # 0.1 + 0.2
    assert read_file(tmp_path, "a.csv", "x,est\n1,1\n01,2\n").labels == ("1", "01")  # a code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"estimates": "estimat"}, "no column 'estimat' for --estimates; the columns are x, estimate; did you mean"),
        ({"column": "y"}, "no column 'y' for --column"),
        ({"column": "estimate", "estimates": "2"}, "--column and --estimates both name column 'estimate'"),
        ({"estimates": "3"}, "no column '3'"),
        ({"header": False, "estimates": "estimate"}, "if the first line holds the names, say --header"),
        ({"header": False}, "line 1: the estimate 'estimate' is not a number"),
    ],
)
def test_wrong_options(tmp_path: Path, options: dict, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", "x,estimate\na,1\nb,2\n", **options)


def test_one_column_has_no_labels(tmp_path: Path) -> None:
    assert "has one column, no estimates beside" in error_of(tmp_path, "a.csv", "x\n1\n2\n", column="x")


def test_blank_lines_inside_are_skipped_with_a_warning(tmp_path: Path) -> None:
    read = read_file(tmp_path, "a.csv", "x,est\n\na,1\n  \nb,2\n\n\n")
    assert pairs(read) == [("a", 1), ("b", 2)]
    assert read.warnings == ("2 blank lines were skipped",)


def test_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("a,1\n")
    with pytest.raises(InputError, match=r"no such file; did you mean 'raw\.csv'"):
        read_estimates(str(tmp_path / "rav.csv"))


def test_decimal_commas_that_nothing_tells_from_separators_are_refused(tmp_path: Path) -> None:
    assert pairs(read_file(tmp_path, "a.csv", "0,25\n1,75\n")) == [("0", 25), ("1", 75)]
    assert "label '0' is on line 1 already" in error_of(tmp_path, "a.txt", "0,25\n0,75\n")
