"""Reports of bits and of values: written to a file in any form, they give the supports that the protocol counts."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.advisor.inputs.made_reports import NAMES, UNARY, check, error_of, lines, made, numbers, read_file
from tests.cells import failures


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    ("protocol", "k"),
    [*product(UNARY, [2]), ("oue", 40), *(pytest.param(key, 40, marks=pytest.mark.slow) for key in ("rappor", "the"))],
)
def test_bits_in_every_form(tmp_path: Path, protocol: str, k: int) -> None:
    reports, support = made(protocol, k, 1.5)
    labels = tuple(f"c{at}" for at in range(k))
    for name, data in {
        "a.txt": lines(reports, ""),
        "a.csv": lines(reports, ","),
        "b.csv": "bits\n" + lines(reports, ""),
        "c.csv": lines(reports, ", "),
        "d.csv": '"' + lines(reports, '","').replace("\n", '"\n"').removesuffix('"'),
        "e.csv": "user,report\n" + "".join(f"u{at},{lines([bits], '')}" for at, bits in enumerate(reports)),
        "a.tsv": lines(reports, "\t"),
        "b.txt": lines(reports, " "),
        "c.txt": lines(reports, "").replace("\n", "\r\n"),
    }.items():
        check(read_file(tmp_path, name, data, protocol, 1.5), numbers(k), support)
        check(read_file(tmp_path, name, data, protocol, 1.5, k=k), numbers(k), support)
        check(read_file(tmp_path, name, data, protocol, 1.5, domain=labels), labels, support)
    data = ",".join(labels) + "\n" + lines(reports, ",")
    check(read_file(tmp_path, "a.csv", data, protocol, 1.5), labels, support)
    check(read_file(tmp_path, "a.csv", data, protocol, 1.5, k=k), labels, support)
    order = labels[1:] + labels[:1]
    check(read_file(tmp_path, "a.csv", data, protocol, 1.5, domain=order), order, np.roll(support, -1))


def test_numbers_as_the_header_of_bits(tmp_path: Path) -> None:
    reports, support = made("oue", 6, 1.0)
    data = ",".join(numbers(6)) + "\n" + lines(reports, ",")
    read = read_file(tmp_path, "a.csv", data, "oue", 1.0)
    check(read, numbers(6), support)
    assert "first line taken as the header (0, 1, 2, 3, 4, 5)" in read.assumptions
    check(read_file(tmp_path, "a.csv", data, "oue", 1.0, domain=NAMES), NAMES, support)


def test_two_columns_without_header_are_bits_unless_told(tmp_path: Path) -> None:
    assert read_file(tmp_path, "a.csv", "0,1\n1,0\n", "oue", 1.0).tally.n == 2
    assert read_file(tmp_path, "a.csv", "0,1\n1,0\n", "oue", 1.0, header=True).tally.n == 1


def test_a_column_of_bits_is_found_by_its_name(tmp_path: Path) -> None:
    data = "user,x\n1,0110\n2,0001\n"
    for column in ("x", "2"):
        read = read_file(tmp_path, "a.csv", data, "oue", 1.0, column=column)
        assert (read.tally.counts.tolist(), read.tally.n) == ([0, 1, 1, 1], 2)
        assert "column 'x' read as reports" in read.assumptions
    read = read_file(tmp_path, "a.csv", "1,0110\n2,0001\n", "oue", 1.0, column="2")
    assert (read.tally.counts.tolist(), read.tally.n) == ([0, 1, 1, 1], 2)


REFUSED_BITS = [
    ("0110\n010\n", {}, "line 2: the report '010' has 3 characters, but the first report has 4; all reports have k"),
    ("0110\n010\n", {}, "leading zeros"),
    ("0110\n0100\n", {"k": 5}, "line 1: the report '0110' has 4 characters, but k is 5"),
    ("0110\n01x0\n", {}, "line 2: the report '01x0' holds 'x'; a report is 4 characters 0 and 1"),
    ("0110\n0120\n", {}, "line 2: the report '0120' holds '2'"),
    ("0110\n01é0\n", {}, "line 2: the report '01é0' holds 'é'"),
    ("0110\n01١0\n", {}, "line 2: the report '01١0' holds"),
    ("01x0\n0110\n", {}, "line 1: the report '01x0' is not a string of 0 and 1"),
    ("0\n1\n", {}, "line 1: the report '0' is not a string of 0 and 1, one for each of two or more"),
    ("0,1,0\n0,1,2\n", {}, "line 2: column 3 is '2'; it must be 0 or 1"),
    ("0,1,0\n0,,1\n", {}, "line 2: column 2 is missing (an empty cell)"),
    ("a,b,c\n0,01,\n", {}, "line 2: column 'b' is '01'; it must be 0 or 1"),
    ("a,b,c\n0,1,0\n0,1\n", {}, "line 3 has 2 fields, the header has 3"),
    ("2,1,1\n0,1,0\n", {}, "line 1: column 1 is '2'; it must be 0 or 1; if the line names the columns, say --header"),
    ("a,b,c\n0,1,0\n", {"k": 4}, "has 3 columns: a, b, c; k is 4, and a report is 4 columns of 0 and 1, or"),
    ("a,b,c\n0,1,0\n", {"domain": ("a", "b", "d")}, "column 'c' is not a label of the domain"),
    ("a,a,c\n0,1,0\n", {"header": True}, "the header does not name k=3 categories: domain: label 'a' is there twice"),
    ("user,bits\n1,01\n2,\n", {}, "line 3: the report is missing (an empty cell)"),
    ("user,bits\n1,01\n", {"column": "bit"}, "no column 'bit' for --column; the columns are user, bits; did you mean"),
]


def test_bits_that_are_refused(tmp_path: Path) -> None:
    def refused(cell: tuple[str, dict, str]) -> None:
        data, options, said = cell
        assert said in error_of(tmp_path, "a.csv", data, "oue", 1.0, **options)

    assert failures(REFUSED_BITS, refused) == {}


def test_the_line_of_a_bad_report_after_many_blocks(tmp_path: Path) -> None:
    reports, _ = made("oue", 6, 1.0, n=9000)
    assert "line 9001: the report '01' has 2" in error_of(tmp_path, "a.txt", lines(reports, "") + "01\n", "oue", 1.0)
    assert "line 9001: column 6 is 'x'" in error_of(
        tmp_path, "a.csv", lines(reports, ",") + "0,1,0,1,0,x\n", "oue", 1.0
    )


# --- randomised response ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blocks")
def test_values_in_every_form(tmp_path: Path) -> None:
    reports, support = made("grr", 6, 2.0)
    named = "".join(f"{NAMES[at]}\n" for at in reports)
    for name, data in {
        "a.txt": named,
        "a.csv": "state\n" + named,
        "b.csv": '"' + named.replace("\n", '"\n"')[:-1],
    }.items():
        check(read_file(tmp_path, name, data, "grr", 2.0, domain=NAMES), NAMES, support)
        order = sorted(range(6), key=NAMES.__getitem__)
        read = read_file(tmp_path, name, data, "grr", 2.0)
        check(read, sorted(NAMES), support[order])
        assert any(text.startswith("k=6, the categories reported: p and q depend on it") for text in read.assumptions)
    data = "id,state\n" + "".join(f"{at},{NAMES[value]}\n" for at, value in enumerate(reports))
    check(read_file(tmp_path, "a.csv", data, "grr", 2.0, column="state", domain=NAMES), NAMES, support)
    assert "has 2 columns: id, state; a report of grr is one value" in error_of(tmp_path, "a.csv", data, "grr", 2.0)
    for first in (0, 1):
        data = "".join(f"{value + first}\n" for value in reports)
        check(read_file(tmp_path, "a.txt", data, "grr", 2.0, k=6), numbers(6, first), support)
        check(read_file(tmp_path, "a.txt", data, "grr", 2.0), numbers(6, first), support)


UNREPORTED = [
    ("2\n1\n2\n", 4, ("0", "1", "2", "3"), [0, 1, 2, 0]),
    ("2\n4\n2\n", 4, ("1", "2", "3", "4"), [0, 2, 0, 1]),
    ("0\n4\n0\n", 4, ("0", "4", "(unseen 1)", "(unseen 2)"), [2, 1, 0, 0]),  # 0 to 4 would be five
    ("20\n22\n20\n", 4, ("20", "21", "22", "23"), [2, 0, 1, 0]),
    ("-1\n1\n", 3, ("-1", "0", "1"), [1, 0, 1]),
    ("b\na\nb\n", 3, ("a", "b", "(unseen 1)"), [1, 2, 0]),
    ("1.0\n1\n0\n", 3, ("0", "1", "2"), [1, 2, 0]),
]


def test_categories_that_nobody_reported(tmp_path: Path) -> None:
    def kept(cell: tuple[str, int, tuple, list]) -> None:
        data, k, labels, support = cell
        read = read_file(tmp_path, "a.txt", data, "grr", 1.0, k=k)
        assert (read.labels, read.tally.counts.tolist()) == (labels, support)

    assert failures(UNREPORTED, kept) == {}


def test_labels_of_two_words_are_one_label(tmp_path: Path) -> None:
    data = "New York\nLos Angeles\n" * 2
    assert read_file(tmp_path, "a.txt", data, "grr", 1.0).labels == ("Los Angeles", "New York")
    domain = ("New York", "Los Angeles", "San Jose")
    read = read_file(tmp_path, "a.txt", data, "ss", 2.0, domain=domain)
    assert (read.labels, read.tally.counts.tolist()) == (domain, [2, 2, 0])


def test_the_order_of_the_domain_and_other_spellings(tmp_path: Path) -> None:
    read = read_file(tmp_path, "a.txt", "3\n1\n3.0\n2\n", "grr", 1.0, domain=("3", "1", "2"))
    assert (read.labels, read.tally.counts.tolist(), read.tally.n) == (("3", "1", "2"), [2, 1, 1], 4)


def test_labels_seen_once_hint_at_more(tmp_path: Path) -> None:
    read = read_file(tmp_path, "a.txt", "a\na\nb\nc\n", "grr", 1.0, header=False)
    assert read.warnings[0].startswith("2 of 3 categories were reported only once, so that others may not")
    assert read_file(tmp_path, "a.txt", "a\na\nb\nb\n", "grr", 1.0, header=False).warnings == ()
    assert read_file(tmp_path, "a.txt", "a\na\nb\n", "grr", 1.0, header=False, k=3).warnings == ()


REFUSED_VALUES = [
    ("v\nTexas\nOhio\nTexsa\n", {"domain": NAMES}, "line 4: 'Texsa' is not in the domain; did you mean 'Texas'?"),
    ("v\nTexas\n\nX\n", {"domain": NAMES}, "line 4: 'X' is not in the domain; it has Texas, New York, Ohio"),
    ("x\nTexas\n", {"domain": NAMES, "header": False}, "line 1: 'x' is not in the domain; it has Texas, New York"),
    ("x\nTexas\n", {"domain": NAMES, "header": False}, "if the line names the columns, say --header"),
    ("1\n2\n7\n", {"domain": ("1", "2", "3")}, "line 3: '7' is not in the domain"),
    ("1\n2\n7\n8\n", {"k": 3}, "line 4: '8' is different category number 4, but k is 3; k may be wrong"),
    ("1\n2\nNA\n2\n", {}, "line 3: the report is missing ('NA')"),
    ('v\na\n""\n', {}, "line 3: the report is missing (an empty cell)"),
    ('v\n"a\nb"\n"a\nb"\nc\n', {"domain": ("a\nb", "x")}, "line 6: 'c' is not in the domain"),
    ("1\n1\n", {}, "the data have only the label '1'; a domain needs at least 2 categories"),
]


def test_values_that_are_refused(tmp_path: Path) -> None:
    def refused(cell: tuple[str, dict, str]) -> None:
        data, options, said = cell
        assert said in error_of(tmp_path, "a.csv", data, "grr", 1.0, **options)

    assert failures(REFUSED_VALUES, refused) == {}


def test_only_a_header_is_refused(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a.csv", "seed,symbol\n", "olh", 1.0, k=4)
    assert "holds only a header line (seed, symbol), no reports; if the line is data, say --no-header" in message


def test_namibia_may_be_reported(tmp_path: Path) -> None:
    assert read_file(tmp_path, "a.txt", "NA\nDE\nNA\nDE\n", "grr", 1.0).labels == ("DE", "NA")
    assert read_file(tmp_path, "a.txt", "NA\n1\n", "grr", 1.0, domain=("NA", "1")).tally.counts.tolist() == [1, 1]
