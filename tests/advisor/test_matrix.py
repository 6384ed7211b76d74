"""One table for all metrics: the same figures as the rankings, the best of each column marked."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.advisor.conftest import Run
from tests.advisor.schemas import schema

QUICK = ("--reps", "4", "--max-reps", "4", "--quiet", "-m", "l1,topk,set")
SCHEMA = schema("advice")


def test_cells_are_the_errors_of_the_rankings(run: Run, states: str) -> None:
    words = ("--eps", "1", states, "--method", "none,norm_sub,eb_ns,post_pos", "--protocol", "oue,grr", *QUICK)
    runs = io.StringIO(run(*words, "--matrix", "--format", "csv")[1])
    table = {(row["protocol"], row["method"]): row for row in csv.DictReader(runs)}
    data = json.loads(run(*words, "--matrix", "--format", "json")[1])
    plain = json.loads(run(*words, "--format", "json")[1])
    SCHEMA.validate(data)
    headline = data["headline"] | {"text": plain["headline"]["text"]}
    assert {**data, "headline": headline} == {**plain, "matrix": data["matrix"]}
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


@pytest.mark.usefixtures("own_members")
def test_the_lowest_of_a_column_and_what_one_compares_with_are_shown_however_few_rows_are(
    run: Run, states: str, tmp_path: Path
) -> None:
    out = run("--eps", "1", states, *QUICK, "-p", "grr,oue,ss", "--matrix", "--top", "1", "--format", "plain")[1]
    assert sum(line.count("*") for line in out.splitlines() if not line.startswith("*:")) >= 3, out
    mine = tmp_path / "far_off.py"
    mine.write_text("def far_off(estimate, noise):\n    return estimate + 5.0\n", encoding="utf-8")
    words = ("--eps", "1", states, "-p", "grr", *QUICK[:-3], "-m", "l1,topk")
    out = run(*words, "--matrix", "--top", "1", "--method", f"all,{mine}:far_off", "--format", "plain")[1]
    assert all(text in out for text in ("far_off", "◂ raw estimate", "◂ uniform guess", "oue norm_sub"))
    assert not any(text in out for text in ("to best", "above the table"))
    assert "--matrix shows all metrics in one table." in run(*words)[1]


def test_an_estimate_has_it(run: Run, tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("value,estimate\na,0.6\nb,0.3\nc,0.12\nd,-0.02\n", encoding="utf-8")
    words = "--protocol grr --eps 1 --n 5000 --reps 4 --method none,norm_sub --next-protocol grr -m l1,topk --matrix"
    data = json.loads(run("estimate", str(raw), *words.split(), "--format", "json")[1])
    SCHEMA.validate(data)
    assert {row["protocol"] for row in data["matrix"]} == {"grr"}
