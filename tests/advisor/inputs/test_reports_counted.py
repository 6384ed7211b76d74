import json
from collections import Counter

import numpy as np
import pytest

from advisor.inputs.reports.tallies import read_tally, tally_text
from knowledge.making.workers import Workers
from tests.advisor.cli_answers import refused
from tests.advisor.inputs.made_reports import NAMES, made, read_file
from tests.advisor.inputs.reading import counted, parquet, put, read_reports, refusal
from tests.cells import over

SURVEY = "answer,n\nno,1604\nyes,831\n"
SUMS = "total,a,b,c\n100,40,50,60\n200,80,90,100\n"
LONG = "category,sum\na,40\nb,50\nc,60\n"


def alike(read, expected):
    assert (read.labels, read.tally.n) == (expected.labels, expected.tally.n)
    assert read.tally.counts.tolist() == expected.tally.counts.tolist()


@over([",", ";", "\t"])
def test_counted_values_are_those_of_the_reports_one_by_one(mark, *, tmp_path):
    reports = [NAMES[value] for value in made("grr", 6, 1.0)[0]]
    expected = read_file(tmp_path, "reports.txt", "".join(f"{each}\n" for each in reports), "grr", 1.0)
    days = [Counter(reports[:100]), Counter(reports[100:])]  # a value has a row for each day
    rows = [(label, count, day) for day, users in enumerate(days) for label, count in users.items()]
    text = f"answer{mark}n{mark}day\n" + "".join(f"{mark.join(map(str, row))}\n" for row in rows)
    alike(read_file(tmp_path, "n.csv", text, "grr", 1.0, counts="n", column="answer"), expected)
    path = parquet(tmp_path, answer=[row[0] for row in rows], n=[row[1] for row in rows])
    alike(read_reports(path, "grr", 1.0, counts="n"), expected)


@over(["rappor", "oue", "the"])
def test_sums_of_bits_are_those_of_the_reports_one_by_one(protocol, *, tmp_path):
    bits, _ = made(protocol, 6, 1.0)
    text = ",".join(NAMES) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in bits.tolist())
    for domain in (None, NAMES[::-1]):
        expected = read_file(tmp_path, "reports.csv", text, protocol, 1.0, domain=domain)
        parts = [bits[:50], bits[50:110], bits[110:]]  # a row for each day
        rows = [[len(part), *part.sum(axis=0).tolist()] for part in parts]
        wide = ",".join(("all", *NAMES)) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        alike(read_file(tmp_path, "w.csv", wide, protocol, 1.0, counts="all", domain=domain), expected)
        pairs = zip(NAMES, bits.sum(axis=0).tolist(), strict=True)
        long = "value,ones\n" + "".join(f"{name},{ones}\n" for name, ones in pairs)
        read = read_file(tmp_path, "l.csv", long, protocol, 1.0, counts="ones", n=len(bits), domain=domain)
        alike(read, expected)
    plain = "".join(",".join(map(str, row)) + "\n" for row in rows)  # in the order of the domain, without a header
    read = read_file(tmp_path, "p.csv", plain, protocol, 1.0, counts="1", domain=NAMES)
    assert read.tally.counts.tolist() == bits.sum(axis=0).tolist()


def test_the_share_of_a_survey_is_that_of_the_closed_form(run, tmp_path):
    path, target = put(tmp_path, "survey.csv", SURVEY), tmp_path / "out.csv"
    base = ("reports", "--protocol", "grr", "--eps", "1.6094", "--reps", "4", path)
    code, out, _ = run(*base, "--counts", "n", "--apply", str(target), "--method", "none", "--format", "json")
    assert (code, json.loads(out)["request"]["n"]) == (0, 2435)
    p = np.exp(1.6094) / (np.exp(1.6094) + 1)
    shares = {line.split(",")[0]: float(line.split(",")[1]) for line in target.read_text().splitlines()[1:]}
    assert shares == pytest.approx({"no": 1 - shares["yes"], "yes": (831 / 2435 - (1 - p)) / (2 * p - 1)})
    assert round(shares["yes"], 4) == 0.2619
    for words in ((), ("--column", "answer")):  # a column of counts is not ignored
        assert "say --counts n," in refused(run, *base, *words)


TALLIES = [
    ("grr", SURVEY, {"counts": "n"}, 2435, {"no": 1604, "yes": 831}),
    ("grr", SURVEY + "perhaps,0\n", {"counts": "n"}, 2435, {"no": 1604, "perhaps": 0, "yes": 831}),
    ("rappor", SUMS, {"counts": "total"}, 300, [120, 140, 160]),
    ("rappor", LONG, {"counts": "sum", "n": 100}, 100, [40, 50, 60]),
]


@over(TALLIES)
def test_a_tally_of_counts_is_read_again(protocol, text, options, n, expected, *, tmp_path):
    counts = counted(put(tmp_path, "counts.csv", text), protocol, 1.0, digests=True, **options)
    part = read_tally(put(tmp_path, "tally.json", tally_text(counts)))
    assert (part.n, json.loads(tally_text(part))["counts"]) == (n, expected)


WRONG = [
    ("grr", "yes,40\nno,50\n", {}, "say --counts 2,"),
    ("grr", "value,count\n0,40\n1,50\n", {"column": "value"}, "say --counts count,"),
    ("grr", "answer,n\nyes,40\nno,50\ntotal,90\n", {"counts": "n"}, "line 4: 'total' is the sum of all other rows, 90"),
    ("grr", "answer,n\nyes,40\nno,5.5\n", {"counts": "n"}, "line 3: the count '5.5' is not a whole number"),
    ("grr", SURVEY, {"counts": "n", "domain": NAMES}, "line 2: the label is 'no'; a report is one of the domain"),
    ("grr", "answer,n\nyes,0\nno,0\n", {"counts": "n"}, "holds no report"),
    ("rappor", SUMS, {"counts": "total", "k": 4}, "holds the sums of 3 categories; k is 4"),
    ("rappor", SUMS.replace("60", "160"), {"counts": "total"}, "line 2: the sum 160 of category 'c' is of only 100"),
    ("rappor", SUMS + "300,120,140,160\n", {"counts": "total"}, "line 4: is the sum of the other rows"),
    ("rappor", SUMS.replace("40", "-40"), {"counts": "total"}, "line 2: the count '-40' is negative"),
    ("rappor", LONG, {"counts": "sum"}, "of how many reports? Say so with --n"),
    ("rappor", LONG, {"counts": "sum", "n": 55}, "line 4: the sum 60 of category 'c' is of only 55 reports"),
    ("rappor", LONG + "a,7\n", {"counts": "sum", "n": 100}, "place 4: label 'a' is on place 1 already"),
    ("rappor", LONG + "total,150\n", {"counts": "sum", "n": 150}, "line 5: 'total' is the sum of all other rows, 150"),
    ("rappor", LONG, {"counts": "sum", "n": 99, "domain": ("a", "b", "x")}, "'c' is not a label of the domain"),
    ("hr", SUMS, {"counts": "total", "k": 4}, "--counts: hr has no such parameter; leave it out"),
]


@over(WRONG)
def test_what_cannot_be_counts_is_refused(protocol, text, options, says, *, tmp_path):
    error = refusal(read_file, tmp_path, "wrong.csv", text, protocol, 1.0, **options)
    assert says in error


def test_numbers_of_rows_and_of_repeated_values_are_no_counts(tmp_path):
    for text in ("id,answer\n0,yes\n1,no\n", "id,answer\n7,yes\n9,no\n5,yes\n"):
        read = read_file(tmp_path, "ids.csv", text, "grr", 1.0, column="answer")
        assert read.tally.n == text.count("\n") - 1
    paths = [put(tmp_path, f"{part}.csv", LONG) for part in "ab"]
    assert "is for one file" in refusal(read_reports, paths, "rappor", 1.0, counts="sum", n=100)
    paths = [put(tmp_path, f"{part}.csv", SUMS) for part in "ab"]
    for workers in (Workers(), Workers(2, "threading")):
        read = read_reports(paths, "rappor", 1.0, counts="total", workers=workers)
        assert read.tally.counts.tolist() == [240, 280, 320]
