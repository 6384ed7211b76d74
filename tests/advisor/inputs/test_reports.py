import io
import math

import numpy as np
import pytest

from advisor.inputs import table
from simulator.protocols import PROTOCOLS
from tests.advisor.inputs.made_reports import NAMES, made, numbers, read_file
from tests.advisor.inputs.reading import read_reports, refusal
from tests.cells import failures, over


def test_the_largest_seed_and_leading_zeros(tmp_path):
    oracle = PROTOCOLS["olh"](6, 1.0)
    read = read_file(tmp_path, "a.csv", "4294967295,3\n0000000000000000007,00\n", "olh", 1.0, k=6)
    assert read.tally.counts.tolist() == oracle.support(np.array([[2**32 - 1, 3], [7, 0]])).tolist()


SIX, EIGHT, TREE = {"k": 6}, {"k": 8}, {"k": 64}
PLACES = ("New York", "Los Angeles", "San Jose")
BLANK = "3 blank lines were skipped"
# Protocol, options, text, and labels with their supports; words of the warning.
READ = [
    ("oue", {}, "0,1\n1,0\n", {"0": 1, "1": 1}),  # bits unless told
    ("oue", {"header": True}, "0,1\n1,0\n", {"0": 1, "1": 0}),
    ("oue", {"k": 2, "domain": ("a", "b")}, "01\n", {"a": 0, "b": 1}),
    ("oue", {"domain": ("b", "a")}, "a,b\n0,1\n1,1\n", {"b": 2, "a": 1}),
    ("oue", {"column": "x"}, "user,x\n1,0110\n2,0001\n", {"0": 0, "1": 1, "2": 1, "3": 1}),
    ("oue", {"column": "2"}, "user,x\n1,0110\n2,0001\n", {"0": 0, "1": 1, "2": 1, "3": 1}),
    ("oue", {"column": "2"}, "1,0110\n2,0001\n", {"0": 0, "1": 1, "2": 1, "3": 1}),
    *(("oue", {}, f'user,report\nx,"0{mark}1"\nx,"1{mark}1"\n', {"0": 1, "1": 2}) for mark in " ;|,"),
    ("oue", {}, "01\n\n11\n \n\n10\n\n\n", {"0": 2, "1": 2}, BLANK),
    ("oue", {}, "a,b\n0,1\n\n1,1\n\n\n1,0\n\n", {"a": 2, "b": 2}, BLANK),
    ("she", {}, "0,1\n1,0\n", {"0": 1.0, "1": 1.0}),  # whole steps
    ("she", {}, "0,1,2\n0.5,0.5,0.25\n", {"0": 0.5, "1": 0.5, "2": 0.25}),
    ("she", {}, "a,b\n0.5,0.25\n", {"a": 0.5, "b": 0.25}),
    ("she", {"domain": ("a", "b")}, "b,a\n0.5,0.25\n", {"a": 0.25, "b": 0.5}),
    ("grr", {"k": 4}, "2\n1\n2\n", {"0": 0, "1": 1, "2": 2, "3": 0}),
    ("grr", {"k": 4}, "2\n4\n2\n", {"1": 0, "2": 2, "3": 0, "4": 1}),
    ("grr", {"k": 4}, "0\n4\n0\n", {"0": 2, "4": 1, "(unseen 1)": 0, "(unseen 2)": 0}, "2 categories without a name"),
    ("grr", {"k": 4}, "20\n22\n20\n", {"20": 2, "21": 0, "22": 1, "23": 0}),
    ("grr", {"k": 3}, "-1\n1\n", {"-1": 1, "0": 0, "1": 1}),
    ("grr", {"k": 3}, "b\na\nb\n", {"a": 1, "b": 2, "(unseen 1)": 0}),
    ("grr", {"k": 3}, "1.0\n1\n0\n", {"0": 1, "1": 2, "2": 0}),
    ("grr", {"header": False}, "a\na\nb\nc\n", {"a": 2, "b": 1, "c": 1}, "2 of 3 categories were reported only once"),
    ("grr", {"header": False}, "a\na\nb\nb\n", {"a": 2, "b": 2}),
    ("grr", {"header": False, "k": 3}, "a\na\nb\n", {"a": 2, "b": 1, "(unseen 1)": 0}),
    ("grr", {}, "New York\nLos Angeles\n" * 2, {"Los Angeles": 2, "New York": 2}),
    ("ss", {"domain": PLACES}, "New York\nLos Angeles\n" * 2, dict(zip(PLACES, (2, 2, 0), strict=True))),
    ("grr", {}, "NA\nDE\nNA\nDE\n", {"DE": 2, "NA": 2}),
    ("grr", {"domain": ("NA", "1")}, "NA\n1\n", {"NA": 1, "1": 1}),
    ("grr", {"domain": ("3", "1", "2")}, "3\n1\n3.0\n2\n", {"3": 2, "1": 1, "2": 1}),
    ("oue", {"header": True}, "report\n0;1;1\n1;0;1\n0;0;1\n", {"0": 1, "1": 1, "2": 3}),
    ("oue", {"header": False}, "True,False\nFALSE,false\n1,0\n", {"0": 2, "1": 0}),
    ("oue", {}, "a,b\nTrue,False\nFALSE,true\n", {"a": 1, "b": 1}),
    ("ss", SIX | {"header": True}, "set\n1;6\n2;3\n", {"1": 1, "2": 1, "3": 1, "4": 0, "5": 0, "6": 1}),
    ("ss", SIX, "1;6\n2;3\n", {"1": 1, "2": 1, "3": 1, "4": 0, "5": 0, "6": 1}),
    ("ss", {"domain": numbers(6), "column": "x"}, "user,x\n1,2;3\n", {**dict.fromkeys(numbers(6), 0), "2": 1, "3": 1}),
]


@pytest.mark.parametrize("rows", [4000, 1])
def test_small_files_give_the_supports_in_them(rows, tmp_path, monkeypatch):
    def right(cell):
        protocol, options, text, expected, *warned = cell
        name = "a.csv" if "," in text else "a.txt"
        read = read_file(tmp_path, name, text, protocol, 0.7, **options)
        assert dict(zip(read.labels, read.tally.counts.tolist(), strict=True)) == expected
        assert list(read.labels) == list(expected)
        assert len(read.warnings) == len(warned)
        assert all(words in said for words, said in zip(warned, read.warnings, strict=True))

    monkeypatch.setattr(table, "BLOCK_ROWS", rows)
    assert failures(READ, right) == {}
    notes = read_file(tmp_path, "a.txt", "b\na\nb\na\n", "grr", 1.0).assumptions
    assert any(text.startswith("k=2, the categories reported: p and q depend on it") for text in notes)


BITS, LETTERS = "01" * 32, ("a", "b", "d")
BITS_OF_6, _ = made("oue", 6, 1.0, n=9000)
STATES = {"domain": NAMES}
RAW = {"domain": NAMES, "header": False}
FOUR, SET = "a report is 4 bits (as the first) in a string of characters 0 and 1", "a report is 2 different categories"
SEEDS, SHE = "a report is a seed from 0 to 4294967295 (clients that hash with xxHash may have", "a report is 2 numbers"
HEIGHTS = "a report is a height from 0 to 5 and nodes, by height a bit for each of 64, a bit for each of 32, a bit"
REFUSED = [
    *(("oue", {"k": k}, ",a,b\n0,1,0\n1,1,1\n", "the first column has no name, and numbers the rows") for k in (2, 3)),
    ("she", {}, ",a,b\n0,1.5,0.2\n1,0.1,1.4\n", "the first column has no name, and numbers the rows"),
    *(("oue", {}, f"0110\n{bits}\n", f"line 2: the report is '{bits}'; {FOUR}") for bits in ("010", "01x0", "01١0")),
    ("oue", {"k": 5}, "0110\n0100\n", "line 1: the report is '0110'; a report is 5 bits in a string"),
    ("oue", {}, "0,1,0\n0,1,2\n", "line 2: column 3 is '2'; a report is 3 bits (as the first), each 0 or 1"),
    ("oue", {}, "0,1,0\n0,,1\n", "line 2: column 2 is missing (an empty cell); --drop-missing"),
    ("oue", {}, "2,1,1\n0,1,0\n", "; if the line names the columns, say --header"),
    ("oue", {"k": 4}, "a,b,c\n0,1,0\n", "has 3 columns: a, b, c; k is 4, and a report is 4 columns of 0 and 1, or"),
    ("oue", {"domain": LETTERS}, "a,b,c\n0,1,0\n", "'c' is not a label of the domain"),
    (
        "oue",
        {"header": True},
        "a,a,c\n0,1,0\n",
        "the names are not those of k=3 categories: domain: place 2: label 'a' is",
    ),
    ("oue", {"column": "bit"}, "user,bits\n1,01\n", "no column 'bit' for --column; the columns are user, bits; did"),
    ("grr", STATES, "v\nTexas\nOhio\nTexsa\n", "; did you mean 'Texas'?"),
    ("grr", RAW, "x\nTexas\n", "line 1: the report is 'x'; a report is one of the domain: Texas, New York"),
    ("grr", {}, "1\n2\nNA\n2\n", "reports are missing ('NA'); --drop-missing"),
    ("grr", {}, 'v\na\n""\n', "line 3: the report is missing (an empty cell)"),
    ("grr", {"domain": ("a\nb", "x")}, 'v\n"a\nb"\n"a\nb"\nc\n', "line 6: the report is 'c'"),
    ("grr", {}, "1\n1\n", "the data have only the label '1'; a domain needs at least 2 categories"),
    ("ss", SIX, "1;2\n3;3\n", f"line 2: the report is '3, 3'; {SET} (ss with eps=0.7, k=6"),
    ("ss", SIX, "1;2\n3;3.0\n", "'3.0' and '3' are the same number; write it in one way"),
    ("ss", SIX, "0;1\n2;3\n4;5\n6;1\n", "'6' is different category number 7, but k is 6"),
    ("ss", STATES, "Texas;Ohio\nUtah;Iwoa\n", "line 2: the report is 'Utah, Iwoa'"),
    ("ss", SIX, "id,a,b\n1,2,3\n", "if one column holds the sets, name it with --column"),
    ("olh", SIX, "5,0\n6,4\n", "and a symbol from 0 to 3 (olh with eps=1; another number of symbols: --hash-range)"),
    *(
        ("olh", SIX, f"5,0\n{seed},1\n", f"line 2: column 1 is '{seed}'; {SEEDS} longer ones: --hash xxh32)")
        for seed in (2**32, 2**63 - 1, 10**30, "4.1E+09", "١")
    ),
    ("olh", SIX, "5\n6\n", "has 1 column; a report of olh is seed and symbol"),
    ("olh", SIX, "seed,symbol\n", "holds only a header line (seed, symbol), no reports; if the line is data, say --"),
    ("pgr", EIGHT, "0\n13\n", "line 2: the report is '13'; a report is a symbol from 0 to 12 (pgr with eps=1, k=8"),
    ("sw", TREE, "0\n95\n96\n", "line 3: the report is '96'; a report is a symbol from 0 to 95"),
    ("haar_hrr", TREE, "0\n126\n", "line 2: the report is '126'; a report is a symbol from 0 to 125"),
    ("tree", TREE, f"0,{BITS}\n6,1\n", f"line 2: column 1 is '6'; {HEIGHTS}"),
    ("she", {}, "0.1,0.2\n0.3,1e14\n", f"line 2: column 2 is '1e14'; {SHE} (as the first) such as -0.31"),
    ("she", {}, "0.1,0.2\n,0.3\n", "line 2: column 1 is missing (an empty cell)"),
    ("she", {"steps": 8}, "0.1,0.2\n1,2\n", "such as -0.31, in whole steps"),
    ("she", {}, "0.5\n0.25\n", "a report of she is two or more numbers"),
    ("oue", {"steps": 8}, "01\n", "--steps: oue has no such parameter; leave it out (it belongs to she)"),
    ("raporr", {}, "01\n", "did you mean 'rappor'?"),
    *(
        (key, {}, "0,1\n", f"reports of {key} do not tell how many categories there are; say so with --k")
        for key in ("hr", "ss", "olh", "tree", "tree_half", "sw", "haar_hrr")
    ),
    ("oue", {"k": 1}, "01\n", "--k: got 1; a domain has 2 to"),
    ("oue", {"k": 3, "domain": ("a", "b")}, "01\n", "--k: got 3, but the domain has 2 labels"),
    ("oue", {"domain": ("a", "a")}, "01\n", "label 'a' is on place 1 already"),
    ("oue", {"hash": "mix64"}, "01\n", "--hash: oue has no such parameter; leave it out"),
    ("olh", {"hash": "xxh", "k": 4}, "01\n", "hash: got 'xxh'; allowed are mix64, xxh32; did you mean 'xxh32'?"),
]


@over(REFUSED)
def test_reports_that_are_refused(protocol, options, text, said, *, tmp_path):
    message = refusal(read_file, tmp_path, "a.csv", text, protocol, 0.7 if protocol == "ss" else 1.0, **options)
    assert said in message


@pytest.mark.parametrize("epsilon", [0, -1, 33, math.nan, math.inf])
def test_budgets_that_are_refused(epsilon):
    message = refusal(read_reports, "-", "oue", epsilon, stdin=io.BytesIO(b"01\n"))
    assert "eps must be between 1e-06 and 32, got" in message
