import io
from itertools import product

import numpy as np
import pytest

from advisor.inputs import table
from advisor.inputs.estimates import read_estimates
from tests.advisor.inputs.reading import gz, parquet, piped, put, refusal, with_layout
from tests.cells import failures, over


def read_file(folder, name, data, **options):
    return read_estimates(put(folder, name, data), **with_layout(options))


def pairs(read):
    assert read.values.dtype == np.float64
    return list(zip(read.labels, read.values.tolist(), strict=True))


def error_of(folder, data, **options):
    message = refusal(read_file, folder, "a.csv", data, **options)
    assert message.startswith(f"{folder}/a.csv")
    return message


EXPECTED = [("pear", 0.5), ("apple", -0.013), ("fig", 1.2e-3)]
SAME = [
    ("a.csv", "fruit,estimate\npear,0.5\napple,-0.013\nfig,1.2e-3\n", {}),
    ("a.csv", "pear,0.5\napple,-.013\nfig,1.2E-3\n", {}),
    ("a.csv", "0.5,pear\n-.013,apple\n1.2E-3,fig\n", {}),
    ("a.tsv", "Freq\tfruit\n0.5\tpear\n−0.013\tapple\n0.0012\tfig", {}),
    ("a.txt", "pear 0.5\napple -0.013\nfig   1.2e-3\n", {}),
    ("a.csv", "fruit;frequency\npear;0,5\napple;-0,013\nfig;1,2e-3\n", {}),
    ("a.csv", "fruit;frequency\npear;0.5\napple;-0.013\nfig;1.2e-3\n", {}),
    ("a.csv", "fruit,n,estimate\npear,5,0.5\napple,7,-0.013\nfig,9,1.2e-3\n", {}),
    ("a.csv", "fruit,count,f_hat\npear,5,0.5\napple,7,-0.013\nfig,9,1.2e-3\n", {}),
    ("a.csv", "a,b,fruit\n0.5,1,pear\n-0.013,1,apple\n1.2e-3,1,fig\n", {"column": "fruit", "estimates": "a"}),
    ("a.csv", "a,b,fruit\n0.5,1,pear\n-0.013,1,apple\n1.2e-3,1,fig\n", {"column": "3", "estimates": "1"}),
    ("a.csv", "estimate,fruit\n0.5,pear\n-0.013,apple\n1.2e-3,fig\n", {"column": "fruit"}),
    ("a.csv", "x,fruit\n0.5,pear\n-0.013,apple\n1.2e-3,fig\n", {"estimates": "X"}),
    ("a.csv", "fruit,estimate\r\npear,0.5\r\napple,-0.013\r\nfig,1.2e-3", {}),
]
# What else is read, and the pairs.
READ = [
    *((data, [("0", 0.2), ("1", 0.8), ("2", -0.1)]) for data in ("0.2\n0.8\n-0.1\n", "estimate\n0.2\n0.8\n-0.1\n")),
    ('x,est\na,"1,234"\nb,"-1,234,567.5"\n', [("a", 1234), ("b", -1234567.5)]),
    ("x,est\na,1e3\nb,007\n", [("a", 1000), ("b", 7)]),
    ("x;est\na;1.234\nb;0,5\n", [("a", 1234), ("b", 0.5)]),
    ("x;est\na;1.234\nb;0.5\n", [("a", 1.234), ("b", 0.5)]),
    ("x;est\na;1,234\nb;0.5\n", [("a", 1234), ("b", 0.5)]),
    ("x;est\na;1,234\nb;-0,5\n", [("a", 1.234), ("b", -0.5)]),
    ("x;est\na;1.234,5\nb;12\n", [("a", 1234.5), ("b", 12)]),
    ("x;est\na;-12\nb;3e2\n", [("a", -12), ("b", 300)]),
    ("x,est\nNA,1\nDE,2\n", [("NA", 1), ("DE", 2)]),
    ("x,est\na,0.1\nb,0.2\ntotal,0.7\n", [("a", 0.1), ("b", 0.2), ("total", 0.7)]),
    ("x,est\na,0.1\nb,0.2\nc,0.3\n", [("a", 0.1), ("b", 0.2), ("c", 0.3)]),  # 0.1 + 0.2
    ("x,est\n1,1\n01,2\n", [("1", 1), ("01", 2)]),
    ("0,25\n1,75\n", [("0", 25), ("1", 75)]),
    ("v,est\n" + "".join(f"{at},{at / 8}\n" for at in range(9)), [(str(at), at / 8) for at in range(9)]),
]


@over(product(SAME, [False, True]))
def test_tables_of_every_kind_give_the_same_estimates(setting, zipped, *, tmp_path):
    name, data, options = setting
    read = read_file(tmp_path, name, gz(data.encode()) if zipped else data, **options)
    assert pairs(read) == EXPECTED
    assert any("estimates in column" in text for text in read.assumptions)
    assert any("decimal comma" in text for text in read.assumptions) == ("0,5" in data)
    assert read.warnings == ()


@pytest.mark.parametrize("rows", [2, 4000])
def test_numbers_in_other_forms_are_read(rows, tmp_path, monkeypatch):
    def right(cell):
        data, expected = cell
        assert pairs(read_file(tmp_path, "a.csv", data)) == expected

    monkeypatch.setattr(table, "BLOCK_ROWS", rows)
    assert failures(READ, right) == {}
    numbered = "one column: its 3 rows read as the estimates of the categories 0 to 2"
    assert numbered in read_file(tmp_path, "a.csv", READ[0][0]).assumptions


def test_standard_input_keeps_the_order_of_the_file_and_blank_lines_are_said():
    data = b"fruit,estimate\n\n" + b"".join(b"l%d,%d\n" % (at, at) for at in (3, 1)) + b"  \nl2,2\n\n\n"
    read = piped(io.BytesIO(data), read_estimates, "-")
    assert pairs(read) == [("l3", 3.0), ("l1", 1.0), ("l2", 2.0)]
    assert read.warnings == ("2 blank lines were skipped",)


def test_parquet(tmp_path):
    path = parquet(tmp_path, age=[3.0, 1.0], estimate=[0.1, -2.5e-7])
    assert pairs(read_estimates(path)) == [("3", 0.1), ("1", -2.5e-7)]
    path = parquet(tmp_path, age=[3, 1], estimate=[0.1, None])
    assert "row 2: the estimate is empty" in refusal(read_estimates, path)
    path = parquet(tmp_path, age=[3, 1], estimate=[[0.1], [0.2]])
    message = refusal(read_estimates, path)
    assert "column 'estimate' holds list" in message
    assert "cast it to strings" in message


@over(
    product(
        [
            ("", "the estimate is empty"),
            ("n/a", "'n/a' is missing"),
            ("-Infinity", "'-Infinity' is not finite"),
            ("1e999", "'1e999' is too large"),
            ("1_000", "'1_000' is not a number"),
            ('"0,25"', "'0,25' is not a number"),
            ("12%", "'12%' is not a number"),
        ],
        [3, 5000],
    )
)
def test_a_bad_estimate_is_named_with_its_line(setting, place, *, tmp_path):
    bad, reason = setting
    lines = [f"l{at},0.1" for at in range(2, place)] + [f"bad,{bad}", "after,1"]
    message = error_of(tmp_path, "\n".join(["label,estimate", *lines]))
    assert f"line {place}: " in message
    assert reason in message
    assert "e.g. 0.25, -0.013 or 1e-3" in message


TWO = "x,estimate\na,1\nb,2\n"
REFUSED = [
    ("x,est\na,1\n,2\n", {}, "line 3: the label is missing (an empty cell)"),
    ("x,est\na,1\nb,3\n\na,2\n", {}, "line 5: label 'a' is on line 2 already; give each category once"),
    ("x,est\n1,1\n1.0,2\n", {}, "line 3: label '1.0' is on line 2, written '1', already"),
    ("x,est\na,1\n", {}, "holds 1 estimate; a domain needs at least 2 categories"),
    ("x,est\n", {}, "holds only a header line (x, est), no estimates"),
    ("x,est\na,1\nb,2\ntotal,3\n", {}, "line 4: 'total' is the sum of all other rows (3), not a category; remove"),
    ("a,b,c\nx,1,2\ny,3,4\n", {}, "has 3 columns: a, b, c; say which one holds the estimates with --estimates"),
    ("x\n1\n2\n", {"column": "x"}, "has one column, no estimates beside"),
    ("0,25\n0,75\n", {}, "label '0' is on line 1 already"),
    *((f"a,{cell}\nb,0.2\nc,0.3\n", {}, "line 1: the estimate") for cell in ("NaN", "")),  # no header
    ("x;est\na;0.5\nb;2\nc;0,25\n", {}, "line 4: the estimate '0,25' has another decimal sign than '0.5'"),
    ("x;est\na;3\nb;1,234\n", {}, "line 3: the estimate '1,234' can be read in two ways: say which"),
    (TWO, {"estimates": "estimat"}, "no column 'estimat' for --estimates; the columns are x, estimate; did you mean"),
    (TWO, {"column": "estimate", "estimates": "2"}, "--column and --estimates both name column 'estimate'"),
    (TWO, {"header": False, "estimates": "estimate"}, "if the first line holds the names, say --header"),
]


@over(REFUSED)
def test_tables_that_are_refused(data, options, said, *, tmp_path):
    assert said in error_of(tmp_path, data, **options)
