"""Reports of subset selection, local hashing and symbols: the right support, or the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simulator.protocols import PROTOCOLS
from tests.advisor.inputs.made_reports import HASHED, NAMES, check, error_of, lines, made, numbers, read_file
from tests.cells import failures


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


REFUSED_SETS = [
    ("1;2\n3;4;5\n", "line 2: the set has 3 members (3, 4, 5), but ss with eps=0.7 and k=6 has sets of omega=2; k or"),
    ("1 2\n3\n", "line 2: the set has 1 member (3), but"),
    ("1;2\n3;3\n", "line 2: the set holds '3' twice, but ss with eps=0.7 and k=6 has sets of omega=2 different"),
    ("1;2\n3;\n", "line 2: the set holds an empty member ('3', '')"),
    ("1;2\n3;3.0\n", "line 2: '3.0' and '3' are the same number; write it in one way"),
    ('set\n"1;2"\n""\n', "line 3: the report is missing (an empty cell)"),
    ("0;1\n2;3\n4;5\n6;1\n", "line 4: '6' is different category number 7, but k is 6"),
]


def test_sets_that_are_refused(tmp_path: Path) -> None:
    def refused(cell: tuple[str, str]) -> None:
        data, said = cell
        assert said in error_of(tmp_path, "a.csv", data, "ss", 0.7, k=6)

    assert failures(REFUSED_SETS, refused) == {}


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


REFUSED_HASHES = [
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
    ("5\n6\n", "has 1 column; a report of olh is seed and symbol"),
    ("seed,a,b\n1,2,3\n", "cannot tell which columns hold seed and symbol among seed, a, b"),
]


def test_hashes_that_are_refused(tmp_path: Path) -> None:
    def refused(cell: tuple[str, str]) -> None:
        data, said = cell
        assert said in error_of(tmp_path, "a.csv", data, "olh", 1.0, k=6)

    assert failures(REFUSED_HASHES, refused) == {}


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


REFUSED_SYMBOLS = [
    ("pgr", "0\n13\n", "line 2: the symbol '13' is too large; pgr with eps=1 and k=8 has 13 symbols, from 0 to 12"),
    ("hr", "0\n99\n", "line 2: the symbol '99' is too large; hr with eps=1 and k=8 has 16 symbols, from 0 to 15"),
    ("pgr", "0\n-1\n", "line 2: the symbol '-1' is not a whole number written with digits"),
    ("pgr", "0\n1.5\n", "line 2: the symbol '1.5' is not"),
    ("hr", "user,symbol\n1,2\n2,\n", "line 3: the symbol is missing"),
    ("pgr", "a,b\n1,2\n", "a report of pgr is one number; say which one holds the reports with --column"),
]


def test_symbols_that_are_refused(tmp_path: Path) -> None:
    def refused(cell: tuple[str, str, str]) -> None:
        protocol, data, said = cell
        assert said in error_of(tmp_path, "a.csv", data, protocol, 1.0, k=8)

    assert failures(REFUSED_SYMBOLS, refused) == {}
