"""Bins on the command line and in Python: what is refused, and how answers say errors in the unit of the data."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import advisor
from advisor.errors import InputError
from tests.advisor.conftest import Run
from tests.advisor.schemas import schema
from tests.cells import failures

SCHEMA = schema("advice")
ASK = ("-q", "--eps", "1", "--metric", "emd", "--instant", "-p", "oue,tree")
YEARS = ("--bin-width", "5", "--edges", "0,120", "--unit", "years")


def in_years(data: dict[str, Any]) -> str:
    """Return the error of the first pair as it is written, with the 0 of 2.40."""
    return f"{data['recommendations'][0]['data_error']:#.3g}"


def test_an_error_in_bins_is_said_in_the_unit_of_the_data_in_every_format(run: Run, ages: str) -> None:
    code, out, _ = run(*ASK, *YEARS, "--format", "json", ages)
    data = json.loads(out)
    SCHEMA.validate(data)
    assert code == 0
    assert data["request"]["ordered"]
    assert data["request"]["k"] == 24
    assert data["request"]["bins"] == {"k": 24, "low": 0, "high": 120, "width": 5, "edges": None, "name": "years"}
    for row in data["recommendations"]:
        assert row["data_error"] == 5 * row["error"]
    size = in_years(data)
    assert f"bins of width 5, about {size} years" in data["summary"]
    (first, *_) = csv.DictReader(io.StringIO(run(*ASK, *YEARS, "--format", "csv", ages)[1]))
    assert float(first["data_error"]) == 5 * float(first["error"])
    for form in ("plain", "markdown"):
        text = run(*ASK, *YEARS, "--format", form, ages)[1]
        assert f"about {size} years" in text
        assert "in years" in text


@pytest.mark.slow
def test_a_page_says_an_error_in_the_unit_of_the_data(run: Run, ages: str) -> None:
    size = in_years(json.loads(run(*ASK, *YEARS, "--format", "json", ages)[1]))
    for form in ("html", "table"):
        text = run(*ASK, *YEARS, "--format", form, ages)[1]
        assert f"about {size} years" in text
        assert "in years" in text


def test_without_a_unit_the_column_names_it_and_unequal_bins_have_none(run: Run, ages: str) -> None:
    assert "in the unit of 'age'" in run(*ASK, "--bin-width", "5", ages)[1]
    data = json.loads(run(*ASK, "--edges", "0,18,30,120", "--format", "json", ages)[1])
    assert data["request"]["bins"]["edges"] == [0, 18, 30, 120]
    assert data["recommendations"][0]["data_error"] is None
    assert "bins of different widths" in data["summary"]
    l1 = json.loads(run("-q", "--eps", "1", "--instant", *YEARS, "--format", "json", ages)[1])
    assert l1["recommendations"][0]["data_error"] is None
    assert "years" not in l1["summary"]


def test_without_bins_nothing_changes(run: Run, ages: str) -> None:
    data = json.loads(run(*ASK, "--format", "json", ages)[1])
    assert data["request"]["bins"] is None
    assert data["recommendations"][0]["data_error"] is None
    assert data["unit"] == "bins"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("plan", "--target", "0.5"), "to reach emd error 0.5 (bins of width 5, about 2.50 years)"),
        pytest.param(("knowledge", "cells"), "(bins of width 5)", marks=pytest.mark.slow),
    ],
)
def test_other_commands_take_bins(run: Run, ages: str, command: tuple[str, ...], words: str) -> None:
    more = ("--instant",) if command[0] == "plan" else ()
    code, out, _ = run(*command, "--eps", "1", "--metric", "emd", *YEARS, *more, ages)
    assert code == 0
    assert words in out


def test_sweep_pareto_and_threat_take_bins(run: Run, ages: str) -> None:
    few = ("--eps", "1", "--metric", "emd", *YEARS, "--protocol", "oue", "--format", "json", "-q")
    swept = json.loads(run("sweep", *few, "--method", "norm_sub", "--reps", "2", ages)[1])
    assert (swept["request"]["k"], swept["request"]["bins"]["name"]) == ([24], "years")
    front = json.loads(run("pareto", *few, "--instant", ages)[1])
    assert front["frontier"][0]["data_error"] == 5 * front["frontier"][0]["error"]
    threat = ("--threat", "0.01", "--method", "norm_sub", "--reps", "2", "--max-reps", "2")
    threatened = json.loads(run("fakes", *few, *threat, ages)[1])
    assert threatened["recommendations"][0]["gain_maximal"] is not None


NO_BINS = [
    (("--bins", "1"), "bins must be a whole number of at least 2"),
    (("--bins", "1e9"), "at most 2,000,000"),
    (("--bins", "4", "--bin-width", "5"), "give either --bins or --bin-width, not both"),
    (("--bin-width", "0"), "bin-width must be a number above 0"),
    (("--bin-width", "-5"), "bin-width must be a number above 0"),
    (("--bin-width", "nan"), "bin-width must be a number above 0"),
    (("--bin-width", "1e-9", "--edges", "0,100"), "a domain has at most 2,000,000"),
    (("--bin-width", "7", "--edges", "0,100"), "does not divide the range from 0 to 100: end it at 105"),
    (("--edges", "5"), "edges must be two or more numbers"),
    (("--edges", "0,120"), "--edges with two numbers is one bin"),
    (("--edges", "30,18,0"), "edges must rise from one to the next, got 18 after 30"),
    (("--edges", "0,5,5,10"), "got 5 after 5"),
    (("--edges", "0,nan,5"), "every number in edges must be a number, got 'nan'"),
    (("--edges", "0,,5"), "every number in edges must be a number, got ''"),
    (("--edges", "0,x"), "got 'x'"),
    (("--edges", "0,5,10", "--bins", "4"), "--edges beside --bins is the range"),
    (("--edges=-5,5,10", "--bin-width", "5"), "--edges beside --bin-width is the range"),
    (("--unit", "years"), "--unit goes with --bins, --bin-width or --edges"),
    (("--bins", "4", "--clamp"), "--clamp goes with --edges"),
    (("--bins", "4", "--k", "8"), "--k does not go with bins"),
    (("--bins", "4", "--keep-top", "8", "--other"), "--keep-top, --other does not go with bins"),
    (("--bins", "4", "--transactions"), "--transactions does not go with bins"),
    (("--bins", "4", "--unordered"), "--unordered does not go with bins"),
    (("--bins", "4", "--domain", "x"), "--domain does not go with bins"),
]


def test_what_makes_no_bins_is_refused_before_the_file_is_read(run: Run, tmp_path: Path) -> None:
    def refused(cell: tuple[tuple[str, ...], str]) -> None:
        options, words = cell
        for command in ((), ("sweep",)) if "--k" not in options else ((),):
            code, out, err = run(*command, "-q", "--eps", "1", *options, str(tmp_path / "absent.csv"))
            assert (code, out) == (2, "")
            assert words in err
            assert len(err.splitlines()) == 1

    assert failures(NO_BINS, refused) == {}


def test_bins_need_a_sample(run: Run) -> None:
    code, _, err = run("--eps", "1", "--k", "64", "--bins", "8")
    assert code == 2
    assert "--bins needs a sample, and none is given" in err
    for call in (advisor.advise, lambda e, **options: advisor.plan(epsilon=e, target=0.1, **options)):
        with pytest.raises(InputError, match="--bins needs a sample, and none is given"):
            call(1.0, k=64, bins=8)
    with pytest.raises(InputError, match="--bins needs a sample, and none is given"):
        advisor.sweep(epsilons=1.0, users=100, sizes=8, bins=8)


def test_the_environment_sets_bins(run: Run, ages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LDP_ADVISE_EDGES", "0,120")
    monkeypatch.setenv("LDP_ADVISE_BIN_WIDTH", "10")
    monkeypatch.setenv("LDP_ADVISE_UNIT", "years")
    assert "years" in run(*ASK, ages)[1]


def test_negative_edges_need_no_equals_sign(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("-3\n4\n5\n" * 100)
    data = json.loads(run(*ASK, "--edges", "-5,0,5,10", "--format", "json", str(tmp_path / "a.txt"))[1])
    assert data["request"]["bins"]["low"] == -5


def test_python_cuts_arrays_series_and_counts() -> None:
    numbers = np.random.default_rng(1).normal(40, 12, 5000).clip(0, 100)
    expected = np.histogram(numbers, 20, (0, 100))[0].tolist()
    asked = {"metric": "emd", "instant": True, "protocol": "oue"}
    advice = advisor.advise(1.0, sample=numbers, bins=20, edges=(0, 100), unit="years", **asked)
    assert advice.request.counts.tolist() == expected
    assert advice.request.labels[:2] == ("0–5", "5–10")
    assert "years" in json.loads(advice.to_json())["summary"]
    assert advice.to_frame()["data_error"].iloc[0] == 5 * advice.best.error
    given = advisor.advise(1.0, sample=numbers, edges=np.linspace(0, 100, 21), **asked)
    assert given.request.counts.tolist() == expected
    pd = pytest.importorskip("pandas")
    named = advisor.advise(1.0, sample=pd.Series(numbers, name="income"), bin_width=5, **asked)
    assert "in the unit of 'income'" in named.to_json()
    counted = advisor.advise(1.0, sample_counts={17: 500, 18: 700, 64: 100, 90: 20}, edges=(0, 18, 65, 120), **asked)
    assert counted.request.counts.tolist() == [500, 800, 20]
    planned = advisor.plan(target=1, epsilon=1, sample=numbers, bins=20, edges=(0, 100), metric="emd", instant=True)
    assert planned.question.frequencies.weights.tolist() == expected


@pytest.mark.parametrize("sample", [["a", "b"], [1, "x"], [True, False]])
def test_python_refuses_what_is_no_number(sample: list[object]) -> None:
    with pytest.raises(InputError, match=r"sample: holds '\w+', which is not a number"):
        advisor.advise(1.0, sample=sample, bins=4)
