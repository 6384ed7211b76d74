import io
import re

import numpy as np

from advisor.inputs import table
from advisor.inputs.reports import counting
from knowledge.making.workers import Workers
from simulator import rng_for
from tests.advisor.inputs.made_reports import NAMES, cells, lines, made, numbers
from tests.advisor.inputs.reading import gz, parquet, put, read_reports, refusal
from tests.cells import over

N, K = 3000, 6
ANSWERS = "answer\nyes\nno\n\nno\nyes\nNA\nno\n"

# The header, and how a line of a report is damaged.
DAMAGES = {
    "grr": ("answer", {"domain": numbers(K)}, [lambda line: line + "9", lambda line: "x"]),
    "oue": (",".join(NAMES), {}, [lambda line: line + ",1", lambda line: line[:-1] + "x", lambda line: line[:-2]]),
    "rappor": ("report", {"k": K}, [lambda line: line[:-1], lambda line: line + "0", lambda line: "x" + line[1:]]),
    "olh": ("seed,symbol", {"k": K}, [lambda line: line + "99", lambda line: "x" + line, lambda line: line + ",1"]),
    "ss": ("set", {"k": K}, [lambda line: line + " 1 2", lambda line: line[:1] + " " + line[:1], lambda line: "7"]),
    "hr": ("symbol", {"k": K}, [lambda line: "999", lambda line: "-" + line, lambda line: line + ".5"]),
    "tree": ("height,node", {"k": K}, [lambda line: "9" + line, lambda line: line + "x", lambda line: line[0]]),
    "she": (",".join(NAMES), {}, [lambda line: line + "x", lambda line: line + ",0.5"]),
}


def reports(protocol, n=N):
    made_reports, _ = made(protocol, K, 1.0, n=n)
    rows = cells(protocol, K, 1.0, made_reports)
    separator = {"rappor": "", "ss": " "}.get(protocol, ",")
    return lines(rows, separator).splitlines()


def damaged(protocol, share):
    """Return the lines with some that are damaged, the others, and the numbers of the damaged lines in the file."""
    rng, good = rng_for(3, "damage", protocol), reports(protocol)
    at = sorted(rng.choice(len(good), size=round(share * len(good)), replace=False).tolist())
    damages = DAMAGES[protocol][2]
    bad = {place: damages[number % len(damages)](good[place]) for number, place in enumerate(at)}
    mixed = [bad.get(place, line) for place, line in enumerate(good)]
    return mixed, [line for place, line in enumerate(good) if place not in bad], [place + 2 for place in at]


def text(protocol, rows):
    return "".join(f"{line}\n" for line in [DAMAGES[protocol][0], *rows])


@over(["grr", "oue", "olh"], slow=["rappor", "ss", "hr", "tree", "she"])
def test_what_is_left_is_counted_as_if_the_bad_rows_were_not_there(protocol, *, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "FEW", 1 << 12)  # the fast reader reads part of the file, row by row where it must
    monkeypatch.setattr(table, "BLOCK_ROWS", 40)
    mixed, good, at = damaged(protocol, 0.009)
    options = {**DAMAGES[protocol][1], "skip_bad": True}
    expected = read_reports(put(tmp_path, "good.csv", text(protocol, good)), protocol, 1.0, **options)
    assert (expected.warnings, expected.tally.n) == ((), len(good))
    assert "--skip-bad left out no row: all are reports" in expected.assumptions
    path, piped = put(tmp_path, "mixed.csv", text(protocol, mixed)), gz(text(protocol, mixed).encode())
    pipe = ("-", {"stdin": io.BytesIO(piped), "header": True})
    for source, more in ((path, {}), pipe, (path, {"workers": Workers(2, "threading")})):
        read = read_reports(source, protocol, 1.0, **options, **more)
        np.testing.assert_array_equal(read.tally.counts, expected.tally.counts)
        assert read.tally.n == len(good)
        assert read.warnings[0].startswith(f"{len(at)} rows are no reports, left out: ")
        lines_shown = [int(line) for line in re.findall(r"line (\d+)", read.warnings[0])]
        assert len(lines_shown) == 3
        assert set(lines_shown) <= set(at)
    (line,) = re.findall(r"line (\d+)", refusal(read_reports, path, protocol, 1.0, **DAMAGES[protocol][1]))
    assert int(line) in at


@over(["grr", "rappor", "olh"], slow=["oue", "ss", "hr", "tree", "she"])
def test_too_many_bad_rows_and_other_files_are_refused_by_the_first(protocol, *, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "FEW", 40)  # of a file that is something else, the rest is not read
    mixed, _, at = damaged(protocol, 0.011)
    path = put(tmp_path, "mixed.csv", text(protocol, mixed))
    error = refusal(read_reports, path, protocol, 1.0, **DAMAGES[protocol][1], skip_bad=True)
    assert any(f"line {line}" in error for line in at[:3])
    assert f"({len(at)} of {N:,} rows are no reports, and only 1 % may be left out)" in error
    other = put(tmp_path, "other.csv", text(protocol, ["x" + line for line in reports(protocol)]))
    error = refusal(read_reports, other, protocol, 1.0, **DAMAGES[protocol][1], skip_bad=True)
    # any text may be the name of a category of a set
    assert ("is different category number" if protocol == "ss" else "line ") in error


def test_bad_rows_of_parquet_and_of_several_files(tmp_path):
    symbols = [1] * 500 + [99] + [2] * 500
    path = parquet(tmp_path, symbol=symbols)
    read = read_reports(path, "hr", 1.0, k=4, skip_bad=True)
    assert (read.tally.n, read.warnings[0].count("row 501: the report is '99'")) == (1000, 1)
    more = put(tmp_path, "more.csv", "symbol\n" + "1\n" * 200 + "x\n")
    read = read_reports([path, more], "hr", 1.0, k=4, skip_bad=True)
    assert (read.tally.n, read.warnings[0][:24]) == (1200, "2 rows are no reports, l")


MISSING = [
    ("grr", ANSWERS, {}, 5, 2),
    ("grr", ANSWERS, {"domain": ("yes", "no")}, 5, 2),
    ("grr", ANSWERS, {"domain": ("yes", "no", "NA")}, 6, 1),  # then it is an answer
    ("grr", "day,answer\n1,yes\n2,\n3,no\n4,NA\n", {"column": "answer"}, 2, 2),
    ("grr", "1\n2\n\nnan\n2\n", {"header": False}, 3, 2),
    ("oue", "a,b\n0,1\n,1\n1,0\n", {}, 2, 1),
    ("rappor", "report,cohort\n,1\n01,\n11,3\nNA,4\n", {}, 2, 2),
    ("olh", "seed,symbol\n1,2\n,3\n4,NA\n5,1\n", {"k": 4}, 2, 2),
    ("ss", "set\n1;2\n\nNA\n0;2\n", {"k": 6}, 2, 2),
    ("tree", "height,node\n0,3\n,1\n0,NA\n", {"k": 4}, 1, 2),
]


@over(MISSING)
def test_missing_reports_are_left_out_and_counted(protocol, rows, options, n, left, *, tmp_path):
    path = put(tmp_path, "missing.csv", rows)
    read = read_reports(path, protocol, 1.0, drop_missing=True, **options)
    assert read.tally.n == n
    what = "1 report was" if left == 1 else f"{left} reports were"
    assert f"{what} left out: the value is missing" in read.warnings
    assert not any("blank line" in warning for warning in read.warnings)


def test_missing_reports_name_the_option_and_none_are_said(run, tmp_path):
    for protocol, rows, options in (
        ("grr", "1\n2\nNA\n2\n", {}),
        ("rappor", "report,x\n01,1\n,1\n", {}),
        ("hr", "s,t\n1,2\n,3\n", {"column": "s", "k": 4}),
    ):
        error = refusal(read_reports, put(tmp_path, "m.csv", rows), protocol, 1.0, **options)
        assert "--drop-missing" in error
        assert "fill it in" not in error
    full = put(tmp_path, "full.csv", "answer\nyes\nno\n")
    read = read_reports(full, "grr", 1.0, drop_missing=True)
    assert "--drop-missing left out no report: none is missing" in read.assumptions
    empty = put(tmp_path, "empty.csv", "answer\nNA\nNA\n")
    assert "holds no report: all 2 are missing" in refusal(
        read_reports, empty, "grr", 1.0, drop_missing=True, header=True
    )
    path = put(tmp_path, "answers.csv", ANSWERS)
    base = ("reports", path, "--protocol", "grr", "--eps", "1", "--tally", str(tmp_path / "t.json"), "--drop-missing")
    assert "warning: 2 reports were left out: the value is missing" in run(*base)[2]
    assert "--counts does not go with" in run(*base, "--force", "--counts", "2")[2]


def test_a_label_is_bad_only_where_the_domain_is_known(tmp_path):
    path = put(tmp_path, "answers.txt", "0\n1\n2\n" * 100 + "x\n")
    assert "--skip-bad needs --domain FILE" in refusal(read_reports, path, "grr", 1.0, k=3, skip_bad=True)
    read = read_reports(path, "grr", 1.0, domain=("0", "1", "2"), skip_bad=True)
    assert (read.tally.n, read.warnings[0][:18]) == (300, "1 row is no report")
