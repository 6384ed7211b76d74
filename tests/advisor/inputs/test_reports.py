"""Reports: what users sent, written to a file in any form, gives the supports that the protocol counts."""

from __future__ import annotations

import gzip
import io
import math
import re
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xxhash

from advisor.errors import InputError
from advisor.inputs import dialect, source, text
from advisor.inputs.reports import RawReports, read_reports, readable_protocols
from advisor.inputs.reports.plausibility import implausible
from simulator import Tally, rng_for
from simulator.protocols import PROTOCOLS
from tests.advisor.conftest import Run

UNARY = ("rappor", "oue", "the")
HASHED = ("blh", "olh")
NAMES = ("Texas", "New York", "Ohio", "Utah", "Iowa", "Maine")


def read_file(folder: Path, name: str, data: bytes | str, *arguments, **options) -> RawReports:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_reports(str(path), *arguments, **options)


def error_of(folder: Path, name: str, data: bytes | str, *arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_file(folder, name, data, *arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(str(folder))


def made(protocol: str, k: int, epsilon: float, n: int = 600, **options):
    """Make reports of skewed values: (reports, supports)."""
    rng = rng_for(5, "reports", protocol)
    oracle = PROTOCOLS[protocol](k, epsilon, **options)
    values = (k * rng.random(n) ** 2).astype(np.int64)
    values[:k] = np.arange(k)
    reports = oracle.perturb(values, rng)
    return reports, oracle.support(reports)


def lines(reports: Iterable, separator: str) -> str:
    return "".join(separator.join(map(str, report)) + "\n" for report in reports)


def check(read: RawReports, labels: Iterable[str], support: np.ndarray, n: int = 600) -> None:
    assert read.tally.counts.dtype == np.int64
    assert read.labels == tuple(labels)
    assert read.tally.counts.tolist() == support.tolist()
    assert read.tally.n == n
    assert read.warnings == ()


def numbers(k: int, first: int = 0) -> tuple[str, ...]:
    return tuple(str(at) for at in range(first, first + k))


@pytest.fixture(params=[1 << 20, 1])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports in many blocks give what they give in few."""
    if request.param == 1:
        monkeypatch.setattr(text, "BLOCK_ROWS", 7)
    else:
        monkeypatch.setattr(dialect, "HEAD_LINES", 60)
        monkeypatch.setattr(source, "CHUNK_BYTES", 2000)


# --- unary -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("protocol", UNARY)
@pytest.mark.parametrize("k", [2, pytest.param(6, marks=pytest.mark.slow), 40])
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


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (
            "0110\n010\n",
            {},
            "line 2: the report '010' has 3 characters, but the first report has 4; all reports have k",
        ),
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
        (
            "2,1,1\n0,1,0\n",
            {},
            "line 1: column 1 is '2'; it must be 0 or 1; if the line names the columns, say --header",
        ),
        ("a,b,c\n0,1,0\n", {"k": 4}, "has 3 columns: a, b, c; k is 4, and a report is 4 columns of 0 and 1, or"),
        ("a,b,c\n0,1,0\n", {"domain": ("a", "b", "d")}, "column 'c' is not a label of the domain"),
        (
            "a,a,c\n0,1,0\n",
            {"header": True},
            "the header does not name k=3 categories: domain: label 'a' is there twice",
        ),
        ("user,bits\n1,01\n2,\n", {}, "line 3: the report is missing (an empty cell)"),
        (
            "user,bits\n1,01\n",
            {"column": "bit"},
            "no column 'bit' for --column; the columns are user, bits; did you mean",
        ),
    ],
)
def test_bits_that_are_refused(tmp_path: Path, data: str, options: dict, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", data, "oue", 1.0, **options)


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


@pytest.mark.parametrize(
    ("data", "k", "labels", "support"),
    [
        ("2\n1\n2\n", 4, ("0", "1", "2", "3"), [0, 1, 2, 0]),
        ("2\n4\n2\n", 4, ("1", "2", "3", "4"), [0, 2, 0, 1]),
        ("0\n4\n0\n", 4, ("0", "4", "(unseen 1)", "(unseen 2)"), [2, 1, 0, 0]),  # 0 to 4 would be five
        ("20\n22\n20\n", 4, ("20", "21", "22", "23"), [2, 0, 1, 0]),
        ("-1\n1\n", 3, ("-1", "0", "1"), [1, 0, 1]),
        ("b\na\nb\n", 3, ("a", "b", "(unseen 1)"), [1, 2, 0]),
        ("1.0\n1\n0\n", 3, ("0", "1", "2"), [1, 2, 0]),
    ],
)
def test_categories_that_nobody_reported(tmp_path: Path, data: str, k: int, labels: tuple, support: list) -> None:
    read = read_file(tmp_path, "a.txt", data, "grr", 1.0, k=k)
    assert (read.labels, read.tally.counts.tolist()) == (labels, support)


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


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
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
    ],
)
def test_values_that_are_refused(tmp_path: Path, data: str, options: dict, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", data, "grr", 1.0, **options)


def test_only_a_header_is_refused(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a.csv", "seed,symbol\n", "olh", 1.0, k=4)
    assert "holds only a header line (seed, symbol), no reports; if the line is data, say --no-header" in message


def test_namibia_may_be_reported(tmp_path: Path) -> None:
    assert read_file(tmp_path, "a.txt", "NA\nDE\nNA\nDE\n", "grr", 1.0).labels == ("DE", "NA")
    assert read_file(tmp_path, "a.txt", "NA\n1\n", "grr", 1.0, domain=("NA", "1")).tally.counts.tolist() == [1, 1]


# --- subset selection ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(("k", "epsilon", "omega"), [(6, 0.7, 2), (24, 0.5, 9), (6, 4.0, 1)])
def test_sets_in_every_form(tmp_path: Path, k: int, epsilon: float, omega: int) -> None:
    reports, support = made("ss", k, epsilon)
    assert reports.shape[1] == omega
    names = tuple(f"{'s' if at % 2 else 'S'}tate{at}" for at in range(k))
    named = np.array(names)[reports]
    for name, separator in (
        ("a.txt", " "),
        ("b.txt", ";"),
        ("c.txt", "|"),
        ("d.txt", ","),
        ("e.csv", ","),
        ("f.csv", ";"),
    ):
        data = lines(reports, separator)
        check(read_file(tmp_path, name, data, "ss", epsilon, k=k), numbers(k), support)
        check(read_file(tmp_path, name, data, "ss", epsilon, domain=numbers(k)), numbers(k), support)
        data = lines(named, separator)
        check(read_file(tmp_path, name, data, "ss", epsilon, domain=names), names, support)
    for separator in (" ", ";", "|", ",", ", "):
        data = "set\n" + "".join(f'"{line}"\n' for line in lines(named, separator).splitlines())
        check(read_file(tmp_path, "a.csv", data, "ss", epsilon, domain=names), names, support)
        check(read_file(tmp_path, "a.csv", data[4:], "ss", epsilon, domain=names), names, support)
        data = "user,x\n" + "".join(f'"u",{line}\n' for line in data.splitlines()[1:])
        check(read_file(tmp_path, "a.csv", data, "ss", epsilon, domain=names, column="x"), names, support)
    header = ",".join(f"member{at}" for at in range(omega))
    check(read_file(tmp_path, "a.csv", f"{header}\n{lines(reports, ',')}", "ss", epsilon, k=k), numbers(k), support)
    check(read_file(tmp_path, "a.txt", lines(reports + 1, ";"), "ss", epsilon, k=k), numbers(k, 1), support)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            "1;2\n3;4;5\n",
            "line 2: the set has 3 members (3, 4, 5), but ss with eps=0.7 and k=6 has sets of omega=2; k or",
        ),
        ("1 2\n3\n", "line 2: the set has 1 member (3), but"),
        ("1;2\n3;3\n", "line 2: the set holds '3' twice, but ss with eps=0.7 and k=6 has sets of omega=2 different"),
        ("1;2\n3;\n", "line 2: the set holds an empty member ('3', '')"),
        ("1;2\n3;3.0\n", "line 2: '3.0' and '3' are the same number; write it in one way"),
        ('set\n"1;2"\n""\n', "line 3: the report is missing (an empty cell)"),
        ("0;1\n2;3\n4;5\n6;1\n", "line 4: '6' is different category number 7, but k is 6"),
    ],
)
def test_sets_that_are_refused(tmp_path: Path, data: str, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", data, "ss", 0.7, k=6)


def test_two_columns_look_like_sets_of_two_unless_named(tmp_path: Path) -> None:
    data = "user,x\n1,2;3\n"
    message = error_of(tmp_path, "a.csv", data, "ss", 0.7, domain=numbers(6))
    assert "line 2: '2;3' is not in the domain" in message
    read = read_file(tmp_path, "a.csv", data, "ss", 0.7, domain=numbers(6), column="x")
    assert read.tally.counts.tolist() == [0, 0, 1, 1, 0, 0]


def test_members_outside_of_the_domain_are_named_with_their_line(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a.txt", "Texas;Ohio\nUtah;Iwoa\n", "ss", 0.7, domain=NAMES)
    assert "line 2: 'Iwoa' is not in the domain; did you mean 'Iowa'?" in message
    message = error_of(tmp_path, "a.csv", "id,a,b\n1,2,3\n", "ss", 0.7, k=6)
    assert "line 2: the set has 3 members (1, 2, 3)" in message
    assert "if one column holds the sets, name it with --column" in message


# --- local hashing ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("protocol", HASHED)
@pytest.mark.parametrize("hashing", [None, "mix64", "xxh32"])
def test_hashes_in_every_form(tmp_path: Path, protocol: str, hashing: str | None) -> None:
    reports, support = made(protocol, 6, 1.5, hash=hashing or "mix64")
    for name, data in {
        "a.csv": "seed,symbol\n" + lines(reports, ","),
        "b.csv": "symbol,time,seed\n" + lines(((y, 5, s) for s, y in reports), ","),
        "c.csv": lines(reports, ","),
        "d.txt": lines(reports, " "),
        "e.csv": "a,b\n" + lines(reports, ","),
        "f.csv": "value;seed\n" + lines(reports[:, ::-1], ";"),
        "g.csv": lines(reports, ".0, "),
    }.items():
        read = read_file(tmp_path, name, data, protocol, 1.5, k=6, hash=hashing)
        check(read, numbers(6), support)
        assert any(f"hashed with {hashing or 'mix64'}" in text for text in read.assumptions)
    check(read_file(tmp_path, "a.tsv", lines(reports, "\t"), protocol, 1.5, domain=NAMES, hash=hashing), NAMES, support)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("5,0\n6,4\n", "line 2: the symbol '4' is too large; olh with eps=1 has g=4 symbols, from 0 to 3"),
        ("5,0\n6,-1\n", "line 2: the symbol '-1' is not a whole number written with digits"),
        ("5,0\n6,1.5\n", "line 2: the symbol '1.5' is not a whole number"),
        ("5,0\n6,x\n", "line 2: the symbol 'x' is not a whole number"),
        ("5,0\n6,\n", "line 2: the symbol is missing (an empty cell)"),
        ("5,0\n,1\n", "line 2: the seed is missing (an empty cell)"),
        (
            "5,0\n4294967296,1\n",
            "line 2: the seed '4294967296' is too large; a seed is a whole number from 0 to 4294967295",
        ),
        ("5,0\n" + "9" * 5000 + ",1\n", "is too large"),
        ("5,0\n4.1E+09,1\n", "line 2: the seed '4.1E+09' is not a whole number written with digits"),
        ("5,0\n1_0,1\n", "line 2: the seed '1_0' is not"),
        ("5,0\n١,1\n", "line 2: the seed '١' is not"),
        ("5,0\n6\n", "line 2 has 1 field, the first line has 2"),
        ("5\n6\n", "has 1 column; a report of local hashing is two numbers"),
        ("seed,a,b\n1,2,3\n", "cannot tell which columns hold seed and symbol among seed, a, b"),
    ],
)
def test_hashes_that_are_refused(tmp_path: Path, data: str, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", data, "olh", 1.0, k=6)


def test_the_largest_seed_and_leading_zeros(tmp_path: Path) -> None:
    oracle = PROTOCOLS["olh"](6, 1.0)
    read = read_file(tmp_path, "a.csv", "4294967295,3\n0000000000000000007,00\n", "olh", 1.0, k=6)
    assert read.tally.counts.tolist() == oracle.support(np.array([[2**32 - 1, 3], [7, 0]])).tolist()


# --- symbols ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("protocol", ["pgr", "hr"])
@pytest.mark.parametrize(("k", "epsilon"), [(6, 1.0), (40, 2.0), (40, 0.5)])
def test_symbols_in_every_form(tmp_path: Path, protocol: str, k: int, epsilon: float) -> None:
    reports, support = made(protocol, k, epsilon)
    plain = "".join(f"{report}\n" for report in reports)
    for name, data in {
        "a.txt": plain,
        "a.csv": "symbol\n" + plain,
        "b.csv": "user,report\n" + "".join(f"u{at},{report}\n" for at, report in enumerate(reports)),
    }.items():
        check(read_file(tmp_path, name, data, protocol, epsilon, k=k), numbers(k), support)
    labels = tuple(f"c{at}" for at in range(k))
    check(read_file(tmp_path, "a.txt", plain, protocol, epsilon, domain=labels), labels, support)


@pytest.mark.parametrize(
    ("protocol", "data", "said"),
    [
        ("pgr", "0\n13\n", "line 2: the symbol '13' is too large; pgr with eps=1 and k=8 has 13 symbols, from 0 to 12"),
        ("hr", "0\n99\n", "line 2: the symbol '99' is too large; hr with eps=1 and k=8 has 16 symbols, from 0 to 15"),
        ("pgr", "0\n-1\n", "line 2: the symbol '-1' is not a whole number written with digits"),
        ("pgr", "0\n1.5\n", "line 2: the symbol '1.5' is not"),
        ("hr", "user,symbol\n1,2\n2,\n", "line 3: the symbol is missing"),
        ("pgr", "a,b\n1,2\n", "a report of pgr is one number; say which one holds the reports with --column"),
    ],
)
def test_symbols_that_are_refused(tmp_path: Path, protocol: str, data: str, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", data, protocol, 1.0, k=8)


# --- options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocol", "options", "said"),
    [
        ("she", {"hash": "mix64"}, "hash: she has no hash function"),
        ("oue", {"steps": 8}, "steps: reports of oue are no real numbers; leave it out (it belongs to she)"),
        ("hr", {}, "reports of hr do not tell"),
        ("raporr", {}, "did you mean 'rappor'?"),
        ("ss", {}, "reports of ss do not tell how many categories there are; say so with --k"),
        ("olh", {}, "reports of olh do not tell"),
        ("oue", {"k": 1}, "--k: got 1; a domain has 2 to"),
        ("oue", {"k": 3, "domain": ("a", "b")}, "--k: got 3, but the domain has 2 labels"),
        ("oue", {"domain": ("a", "a")}, "label 'a' is there twice"),
        ("oue", {"domain": ("a",)}, "a domain needs at least 2"),
        ("oue", {"hash": "mix64"}, "hash: oue has no hash function; leave it out"),
        ("olh", {"hash": "xxh", "k": 4}, "hash: got 'xxh'; allowed are mix64, xxh32; did you mean 'xxh32'?"),
        ("olh", {"column": "x", "k": 4}, "--column: reports of olh are in two columns"),
    ],
)
def test_options_that_are_refused(protocol: str, options: dict, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_reports("-", protocol, 1.0, stdin=io.BytesIO(b"01\n"), **options)
    assert said in str(caught.value)


@pytest.mark.parametrize("epsilon", [0, -1, 33, math.nan, math.inf])
def test_budgets_that_are_refused(epsilon: float) -> None:
    with pytest.raises(InputError, match="eps must be between 1e-06 and 32, got"):
        read_reports("-", "oue", epsilon, stdin=io.BytesIO(b"01\n"))


def test_k_and_a_domain_that_agree() -> None:
    read = read_reports("-", "oue", 1.0, k=2, domain=("a", "b"), stdin=io.BytesIO(b"01\n"))
    assert read.labels == ("a", "b")


# --- bytes, blocks, blank lines --------------------------------------------------------------------------------


def test_gzip_standard_input_and_parquet_give_the_same(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for protocol, options in (("grr", {"k": 6}), ("oue", {}), ("olh", {"k": 6}), ("ss", {"k": 6})):
        reports, support = made(protocol, 6, 1.0, n=9000)
        reports = reports.reshape(9000, -1)
        data = lines(reports, ",").encode()
        check(
            read_file(tmp_path, "a.csv.gz", gzip.compress(data, mtime=0), protocol, 1.0, **options),
            numbers(6),
            support,
            9000,
        )
        read = read_reports("-", protocol, 1.0, stdin=io.BytesIO(data), **options)
        check(read, numbers(6), support, 9000)
        table = pa.table({str(at): pa.array(column) for at, column in enumerate(reports.T)})
        parquet.write_table(table, tmp_path / "a.parquet")
        check(read_reports(str(tmp_path / "a.parquet"), protocol, 1.0, **options), numbers(6), support, 9000)
    parquet.write_table(pa.table({"seed": [1, 2], "symbol": [0, 9]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="row 2: the symbol '9' is too large"):
        read_reports(str(tmp_path / "a.parquet"), "olh", 1.0, k=6)
    with pytest.raises(InputError, match="standard input: is empty"):
        read_reports("-", "oue", 1.0, stdin=io.BytesIO(b""))


def test_a_list_in_a_cell_of_parquet_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from advisor.inputs import parquet as reader

    path = str(tmp_path / "a.parquet")

    def read(protocol: str, column: object, **options) -> RawReports:
        parquet.write_table(pa.table({"report": column}), path, row_group_size=100)
        return read_reports(path, protocol, 1.0, **options)

    monkeypatch.setattr(reader, "_BATCH_ITEMS", 90)  # a few rows a block
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
        ([[1, 0, 1], [1, 0]], "row 2: the report '10' has 2 characters, but the first report has 3"),
        ([[1, 0, 1], [1, 2, 0]], "row 2: the report '120' holds '2'"),
        ([[1, 0, 1], [10, 1]], "row 2: the report '10;1' holds ';'"),
    ):
        with pytest.raises(InputError, match=says):
            read("oue", pa.array(cells))
    with pytest.raises(InputError, match="column 'report' holds list"):
        read("grr", pa.array([[1], [2]]))


def test_bits_in_one_cell_may_be_separated(tmp_path: Path) -> None:
    for mark in " ;|,":
        data = "".join(f'x,"{mark.join(bits)}"\n' for bits in ("011", "110"))
        read = read_file(tmp_path, "a.csv", f"user,report\n{data}", "oue", 1.0, column="report")
        assert read.tally.counts.tolist() == [1, 2, 1]


def test_blank_lines_inside_are_skipped_with_a_warning_and_at_the_end_without(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (4000, 1):
        monkeypatch.setattr(text, "BLOCK_ROWS", size)
        for data in (b"01\n\n11\n \n\n10\n\n\n", b"a,b\n0,1\n\n1,1\n\n\n1,0\n\n"):
            read = read_reports("-", "oue", 1.0, stdin=io.BytesIO(data))
            assert (read.tally.counts.tolist(), read.tally.n) == ([2, 2], 3)
            assert read.warnings == ("3 blank lines were skipped",)


@pytest.mark.parametrize(
    ("protocol", "line"), [("oue", "01" * 32), ("grr", "17"), ("olh", "4000000000,1"), ("ss", "1;2;3")]
)
def test_memory_does_not_grow_with_the_number_of_reports(
    protocol: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 15)
    k, epsilon = (64, 1.0) if protocol != "ss" else (8, 0.5)
    peaks = []
    for n in (15_000, 30_000):
        data = gzip.compress(f"{line}\n".encode() * n, mtime=0)
        tracemalloc.start()
        assert read_reports("-", protocol, epsilon, k=k, stdin=io.BytesIO(data)).tally.n == n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100_000


# --- plausibility ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocol", "epsilon", "options"),
    [("rappor", 1.0, {}), ("the", 1.0, {}), ("oue", 1.2, {}), ("oue", 0.8, {})],
)
def test_bits_of_another_protocol_or_budget_are_noticed(
    tmp_path: Path, protocol: str, epsilon: float, options: dict
) -> None:
    reports, _ = made("oue", 32, 1.0, n=3000)
    data = lines(reports, "")
    assert read_file(tmp_path, "a.txt", data, "oue", 1.0).warnings == ()
    (warning,) = read_file(tmp_path, "a.txt", data, protocol, epsilon, **options).warnings
    assert warning.startswith(f"these are hardly {protocol} reports at eps = {epsilon:g}, k = 32: ")
    assert warning.endswith("expected whatever users hold; the protocol, eps or k may be wrong")


def test_another_hash_or_domain_is_noticed(tmp_path: Path) -> None:
    # With the wrong hash a report supports its own value with probability 1/g, not p: n (p - q) below the mean.
    reports, _ = made("olh", 16, 2.0, n=5000)
    data = lines(reports, ",")
    assert read_file(tmp_path, "a.csv", data, "olh", 2.0, k=16).warnings == ()
    assert "hash may be wrong" in read_file(tmp_path, "a.csv", data, "olh", 2.0, k=16, hash="xxh32").warnings[0]
    # Half of the domain: users who hold the other half support one of it with probability 1/g, too.
    assert "k or hash" in read_file(tmp_path, "a.csv", data, "olh", 2.0, k=8).warnings[0]


@pytest.mark.parametrize(
    ("protocol", "hashing"),
    [("rappor", None), ("oue", None), ("the", None), ("blh", "mix64"), ("olh", "mix64"), ("olh", "xxh32")],
)
def test_the_total_has_the_mean_and_variance_of_the_check(protocol: str, hashing: str | None) -> None:
    """The variance of m scores of a nearly normal total has the standard error sqrt(2/m), their mean 1/sqrt(m)."""
    k, n, m = 12, 400, 1500
    oracle = PROTOCOLS[protocol](k, 1.0, **({"hash": hashing} if hashing else {}))
    rng = rng_for(11, "total", protocol, hashing or "none")
    values = np.minimum(rng.geometric(0.4, size=n) - 1, k - 1)
    p, q = oracle.p, oracle.q
    assert p is not None
    assert q is not None
    mean = n * (p + (k - 1) * q)
    sd = math.sqrt(n * (p * (1 - p) + (k - 1) * q * (1 - q)))
    scores = np.array([(int(oracle.support(oracle.perturb(values, rng)).sum()) - mean) / sd for _ in range(m)])
    assert abs(scores.mean()) < 4 / math.sqrt(m)
    assert abs(scores.var() - 1) < 4 * math.sqrt(2 / m)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 32.0])
@pytest.mark.parametrize("n", [1, 30])
def test_few_reports_raise_no_alarm_at_any_budget(n: int, epsilon: float) -> None:
    rng = rng_for(3, "few", f"{epsilon}", f"{n}")
    for protocol in (*UNARY, *HASHED):
        oracle = PROTOCOLS[protocol](5, epsilon)
        for _ in range(50):
            support = oracle.support(oracle.perturb(rng.integers(0, 5, size=n), rng))
            assert implausible(Tally(support, n), oracle) == ()


def test_the_alarm_begins_where_it_says() -> None:
    oracle = PROTOCOLS["oue"](4, 1.0)
    p, q = 0.5, 1 / (math.e + 1)
    n = 10_000
    mean, variance = n * (p + 3 * q), n * (p * (1 - p) + 3 * q * (1 - q))
    for sign in (-1, 1):
        for share, warned in ((0.999, False), (1.001, True)):
            total = round(mean + sign * share * (6 * math.sqrt(variance) + 12))
            assert bool(implausible(Tally(np.array([total, 0, 0, 0]), n), oracle)) is warned


@pytest.mark.parametrize("seed", [2**32, 2**63 - 1, 10**30])
def test_a_seed_of_other_libraries_is_refused_with_what_to_do(tmp_path: Path, seed: int) -> None:
    message = error_of(tmp_path, "a.csv", f"seed,symbol\n{seed},0\n", "olh", 1.0, k=8)
    assert message.endswith("; if clients hash with xxHash, whose seeds may be longer: --hash xxh32")


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.parquet"])
def test_xxhash_takes_the_lowest_32_bits_of_a_long_seed(tmp_path: Path, name: str) -> None:
    seeds = rng_for(5, "long seeds").integers(2**63, size=40)
    symbols = np.arange(40) % 4
    if name == "a.parquet":
        pd.DataFrame({"symbol": symbols, "seed": seeds}).to_parquet(tmp_path / name)
        read = read_reports(str(tmp_path / name), "olh", 1.0, k=8, hash="xxh32")
    else:
        data = "symbol,seed\n" + lines(zip(symbols, seeds, strict=True), ",")
        read = read_file(tmp_path, name, data, "olh", 1.0, k=8, hash="xxh32")
    hashed = [[xxhash.xxh32(b"%d" % v, seed=int(seed) % 2**32).intdigest() % 4 for v in range(8)] for seed in seeds]
    assert read.tally.counts.tolist() == (np.array(hashed) == symbols[:, None]).sum(axis=0).tolist()


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (f"{2**63}", "is too large; a seed is a whole number from 0 to 9223372036854775807"),
        ("1234567890123456789.0", "has lost its last digits as a float; write whole numbers"),
        ("1.2345678901234567e18", "is not a whole number written with digits"),
    ],
)
def test_long_seeds_that_are_refused(tmp_path: Path, seed: str, said: str) -> None:
    assert said in error_of(tmp_path, "a.csv", f"7,0\n{seed},0\n", "olh", 1.0, k=8, hash="xxh32")


def test_the_help_of_reports_names_every_protocol_whose_reports_can_be_read(run: Run) -> None:
    sentence = run("reports", "--help")[1].partition("Reads reports of")[2].partition(".")[0]
    assert set(re.findall(r"\w+", sentence)) == {*readable_protocols(), "and"}
