"""Several columns of one file: one plan for all of them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from advisor.cli.run import FORMATS
from advisor.inputs.histogram import read_columns, read_histogram
from simulator import PROTOCOLS
from tests.advisor.conftest import Run
from tests.advisor.schemas import schema
from tests.cells import failures

SCHEMA = schema("advice")


@pytest.fixture
def people(tmp_path: Path) -> str:
    """Three columns of different sizes, one of which has a comma in its name."""
    rng = np.random.default_rng(3)
    path = tmp_path / "people.csv"
    rows = zip(rng.integers(0, 40, 3000), rng.choice(["red", "blue"], 3000), rng.geometric(0.2, 3000), strict=True)
    lines = "\n".join(f"{age},{colour},{town}" for age, colour, town in rows)
    path.write_text(f'age,"colour, main",town\n{lines}\n', encoding="utf-8")
    return str(path)


THREE = ["--column", "age", "--column", "colour, main", "--column", "town"]
QUICK = ["--reps", "4", "--max-reps", "4", "--protocol", "grr,oue", "--method", "none,norm_sub"]


def test_columns_are_read_in_one_pass_as_one_by_one(people: str) -> None:
    together = read_columns(people, ["age", "colour, main", "town"])
    for name, one in zip(("age", "colour, main", "town"), together, strict=True):
        alone = read_histogram(people, column=name)
        assert dict(zip(one.labels, one.counts.tolist(), strict=True)) == dict(
            zip(alone.labels, alone.counts.tolist(), strict=True)
        )


def test_one_plan_says_who_reports_what(run: Run, people: str) -> None:
    code, out, _ = run("columns", "--eps", "1", people, *THREE, *QUICK, "--format", "json")
    assert code == 0
    plan = json.loads(out)
    SCHEMA.validate(plan)
    assert [row["column"] for row in plan["columns"]] == ["age", "colour, main", "town"]
    assert [row["k"] for row in plan["columns"]][:2] == [40, 2]
    assert plan["solution"] == "smp"
    assert plan["advantage"] > 1
    assert sum(row["share"] for row in plan["columns"]) == pytest.approx(1)
    assert all(row["epsilon"] == 1 for row in plan["columns"])
    assert all(abs(row["reports"] - 3000 * row["share"]) <= 0.5 for row in plan["columns"])


def test_a_large_budget_is_split_and_a_column_gets_what_it_needs(run: Run, people: str) -> None:
    plan = json.loads(run("columns", "--eps", "16", people, *THREE, *QUICK, "--format", "json")[1])
    assert plan["solution"] == "spl"
    budgets = {row["column"]: row["epsilon"] for row in plan["columns"]}
    assert sum(budgets.values()) == pytest.approx(16)
    assert budgets["age"] != budgets["colour, main"]
    assert all(row["reports"] == 3000 for row in plan["columns"])


def test_each_column_has_a_verdict_and_a_useless_one_is_named_first(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    path = tmp_path / "few.csv"
    rows = zip(rng.integers(0, 40, 3000), rng.random(3000) < 0.9, strict=True)
    path.write_text("age,member\n" + "".join(f"{age},{member}\n" for age, member in rows), encoding="utf-8")
    command = ("columns", "--eps", "1", str(path), "--column", "age", "--column", "member", *QUICK)
    plan = json.loads(run(*command, "--format", "json")[1])
    SCHEMA.validate(plan)
    assert [row["verdict"] for row in plan["columns"]] == ["no_better_than_no_data", "worth_it"]
    assert plan["summary"].startswith("age is not worth asking at this budget: ")
    out = run(*command)[1]
    assert out.lstrip().startswith("age is not worth asking at this budget")
    for words in ("than no data", "no better", "clearly better"):
        assert words in out


def test_the_error_of_a_column_is_that_of_its_reports(run: Run, people: str) -> None:
    question = ["--metric", "mse", "--protocol", "grr", "--method", "none", "--reps", "200", "--max-reps", "200"]
    plan = json.loads(run("columns", "--eps", "1", people, *THREE, *question, "--format", "json")[1])
    for row in plan["columns"]:
        noise = PROTOCOLS["grr"](row["k"], row["epsilon"]).noise(row["reports"])  # type: ignore[attr-defined]
        expected = noise.variance_at_zero + noise.variance_slope / row["k"]
        # 95 % intervals of three columns, widened to five standard errors: false alarms below 1 in 100,000.
        assert abs(row["error"] - expected) < 5 / 1.96 * (row["error_high"] - row["error"]) + 1e-12


@pytest.mark.parametrize(
    "words",
    [
        ["--instant", "-p", "grr"],
        ["--instant", "-p", "grr", "--eps", "8"],
        ["--instant", "--max-bits", "1", "-p", "oue"],
        ["--n", "2"],
    ],
)
def test_json_keeps_to_its_schema(run: Run, people: str, words: list[str]) -> None:
    joint = schema("columns")
    budget = [] if "--eps" in words else ["--eps", "1"]
    data = json.loads(run("columns", *budget, people, *THREE, *words, "--format", "json")[1])
    joint.validate(data)
    assert ("error" in data and "message" in str(data["error"])) == (words == ["--n", "2"])
    with pytest.raises(jsonschema.ValidationError):
        joint.validate({**data, "schema_version": 0})


@pytest.mark.slow
def test_every_format_shows_the_plan(run: Run, people: str) -> None:
    def shows(form: str) -> None:
        code, out, _ = run("columns", "--eps", "1", people, *THREE, "--instant", "-p", "grr", "--format", form)
        assert code == 0
        assert "colour, main" in out

    assert failures(set(FORMATS) - {"json"}, shows) == {}


ABOUT_ONE = [
    (("--k", "50"), "--k is about one column"),
    (("--counts", "age"), "--counts is about one column"),
    (("--bins", "5"), "--bins is about one column"),
    (("--attributes", "3"), "--attributes does not go with several columns"),
    (("--threat", "0.1"), "--threat is no option of ldp-advise columns, but of ldp-advise estimate"),
    (("--metric", "all"), "one metric at a time"),
    (("--runs", "runs.csv"), "--runs is about one column"),
    (("--fail-if-useless",), "--fail-if-useless is about one column"),
    (("--column", "height"), "no column 'height'"),
    (("--column", "1"), "names column 'age' twice"),
    (("--n", "2"), "n must be at least the number of columns, 3, got 2"),
]


def test_what_is_about_one_column_is_refused(run: Run, people: str) -> None:
    def refused(cell: tuple[tuple[str, ...], str]) -> None:
        words, message = cell
        code, out, err = run("columns", "--eps", "1", people, *THREE, *words)
        assert code == 2
        assert out == ""
        assert message in err
        assert err.rstrip("\n").count("\n") == 0

    assert failures(ABOUT_ONE, refused) == {}


def test_commands_about_one_column_refuse_several(run: Run, people: str) -> None:
    code, _, err = run("plan", "--target", "0.1", "--eps", "1", people, *THREE)
    assert code == 2
    assert "takes one --column" in err
    code, _, err = run("--eps", "1", people, *THREE)
    assert code == 2
    assert "ldp-advise columns SAMPLE --column age --column 'colour, main' --column town" in err


def test_a_file_of_values_that_nearly_all_differ_is_doubted(run: Run, tmp_path: Path) -> None:
    path, counts, names = tmp_path / "notes.txt", tmp_path / "counts.csv", tmp_path / "names.csv"
    lines = [f"sentence{place}" for place in range(127)]
    path.write_text("\n".join([*lines, *lines[:18]]) + "\n", encoding="utf-8")
    words = "127 different values in 145 rows: is this the right file, and the right column?"
    asked = ("--instant", "-p", "grr", "--method", "norm_sub")
    code, _, err = run("--eps", "1", str(path), *asked)
    assert code == 0
    assert err.count(words) == 1
    path.write_text("\n".join([*lines, *lines]) + "\n", encoding="utf-8")
    assert "right column" not in run("--eps", "1", str(path), *asked)[2]
    counts.write_text("name,count\n" + "".join(f"{line},1\n" for line in lines), encoding="utf-8")
    assert "right column" not in run("--eps", "1", str(counts), *asked)[2]
    names.write_text("name,kind\n" + "".join(f"{line},{len(line)}\n" for line in lines), encoding="utf-8")
    several = run("columns", "--eps", "1", str(names), "--column", "name", "--column", "kind", *asked)[2]
    assert several.count("column name: 127 different values in 127 rows: ") == 1


def test_what_one_column_alone_is_warned_of_is_said_with_its_name(run: Run, people: str) -> None:
    for epsilon, warned in (("0.01", ["age", "colour, main", "town"]), ("1", [])):
        plan = json.loads(run("columns", "--eps", epsilon, people, *THREE, "--instant", "--format", "json")[1])
        said = [text.partition(": predictions cover epsilon from 0.1 ") for text in plan["warnings"]]
        assert [name for name, found, _ in said if found] == warned
