"""One table for all metrics: the same figures as the rankings, the best of each column marked."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from advisor.cli.run import FORMATS

Run = Callable[..., tuple[int, str, str]]
QUICK = ("--reps", "4", "--max-reps", "4", "--quiet", "-m", "l1,topk,set")
SCHEMA = json.loads((Path(__file__).parents[2] / "advisor/schema/advice.schema.json").read_text(encoding="utf-8"))


def test_cells_are_the_errors_of_the_rankings(run: Run, states: str) -> None:
    words = ("--eps", "1", states, "--method", "none,norm_sub,eb_ns,post_pos", "--protocol", "oue,grr", *QUICK)
    runs = io.StringIO(run(*words, "--matrix", "--format", "csv")[1])
    table = {(row["protocol"], row["method"]): row for row in csv.DictReader(runs)}
    data = json.loads(run(*words, "--matrix", "--format", "json")[1])
    plain = json.loads(run(*words, "--format", "json")[1])
    jsonschema.validate(data, SCHEMA)
    assert {key: value for key, value in data.items() if key != "matrix"} == plain
    for metric in ("l1", "topk", "set"):
        cells = {pair: float(row[metric]) for pair, row in table.items() if row[metric]}
        lowest = [pair for pair, error in cells.items() if error == min(cells.values())]
        marked = [(row["protocol"], row["method"]) for row in data["matrix"] if metric in row["lowest"]]
        assert marked == lowest
        tied = {(row["protocol"], row["method"]) for row in data["matrix"] if metric in (*row["tied"], *row["lowest"])}
        assert tied == {pair for pair, row in table.items() if row[f"{metric}_tier"] == "1"}
        assert all(row["errors"].get(metric) == cells.get((row["protocol"], row["method"])) for row in data["matrix"])
    assert table["oue", "post_pos"]["l1"] == ""  # which it does not change
    assert table["oue", "post_pos"]["set"] != ""


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_it(run: Run, states: str, name: str) -> None:
    code, out, _ = run(
        "--eps", "1", states, "--protocol", "oue", "--method", "norm_sub,none", *QUICK, "--matrix", "--format", name
    )
    assert code == 0
    assert "norm_sub" in out


def test_the_lowest_of_a_column_is_shown_however_few_rows_are(run: Run, states: str) -> None:
    _, out, _ = run("--eps", "1", states, *QUICK, "--matrix", "--top", "1", "--format", "plain")
    rows = [
        line for line in out.splitlines() if line.startswith(("grr ", "oue ", "ss ", "olh ", "pgr ", "hr ", "rappor "))
    ]
    assert sum(line.count("*") for line in out.splitlines() if not line.startswith("*:")) >= 3, rows


def test_predictions_have_it_and_one_metric_has_not(run: Run) -> None:
    code, out, _ = run("--eps", "1", "--k", "16", "-m", "all", "--matrix", "--format", "value")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()} >= {"l1", "kl", "set"}
    code, out, err = run("--eps", "1", "--k", "16", "--matrix")
    assert (code, out) == (2, "")
    assert "--matrix needs several metrics: -m all" in err
