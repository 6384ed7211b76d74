"""One table for all metrics: the same figures as the rankings, the best of each column marked."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.cli.run import FORMATS
from simulator import POSTPROCESSORS
from simulator.foreign import REGISTERED, SOURCES
from tests.advisor.schemas import schema
from tests.cells import failures

Run = Callable[..., tuple[int, str, str]]
QUICK = ("--reps", "4", "--max-reps", "4", "--quiet", "-m", "l1,topk,set")
SCHEMA = schema("advice")


def test_cells_are_the_errors_of_the_rankings(run: Run, states: str) -> None:
    words = ("--eps", "1", states, "--method", "none,norm_sub,eb_ns,post_pos", "--protocol", "oue,grr", *QUICK)
    runs = io.StringIO(run(*words, "--matrix", "--format", "csv")[1])
    table = {(row["protocol"], row["method"]): row for row in csv.DictReader(runs)}
    data = json.loads(run(*words, "--matrix", "--format", "json")[1])
    plain = json.loads(run(*words, "--format", "json")[1])
    SCHEMA.validate(data)
    assert {**data, "headline": {**data["headline"], "text": plain["headline"]["text"]}} == {
        **plain,
        "matrix": data["matrix"],
    }
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


@pytest.mark.slow
def test_every_format_shows_it(run: Run, states: str) -> None:
    def check(name: str) -> None:
        code, out, _ = run(
            "--eps", "1", states, "--protocol", "oue", "--method", "norm_sub,none", *QUICK, "--matrix", "--format", name
        )
        assert code == 0
        assert "norm_sub" in out

    assert failures(set(FORMATS) - {"html"}, check) == {}


@pytest.mark.slow
def test_its_page_shows_it(run: Run, states: str) -> None:
    words = ("--eps", "1", states, "--protocol", "oue", "--method", "norm_sub,none", *QUICK, "--matrix")
    assert "norm_sub" in run(*words, "--format", "html")[1]


def test_the_lowest_of_a_column_is_shown_however_few_rows_are(run: Run, states: str) -> None:
    _, out, _ = run("--eps", "1", states, *QUICK, "-p", "grr,oue,ss", "--matrix", "--top", "1", "--format", "plain")
    rows = [
        line for line in out.splitlines() if line.startswith(("grr ", "oue ", "ss ", "olh ", "pgr ", "hr ", "rappor "))
    ]
    assert sum(line.count("*") for line in out.splitlines() if not line.startswith("*:")) >= 3, rows


def test_what_one_compares_with_is_shown_however_few_rows_are(run: Run, states: str, tmp_path: Path) -> None:
    mine = tmp_path / "far_off.py"
    mine.write_text("def far_off(estimate, noise):\n    return estimate + 5.0\n", encoding="utf-8")
    words = ("--eps", "1", states, "--protocol", "grr", "--reps", "4", "--max-reps", "4", "-m", "l1,topk", "--matrix")
    try:
        menu = f"all,{mine}:far_off"
        code, out, _ = run(*words, "--top", "1", "--method", menu, "--format", "plain")
        assert code == 0
        for text in ("far_off", "◂ raw estimate", "◂ uniform guess", "oue norm_sub"):
            assert text in out
        for text in ("to best", "above the table"):
            assert text not in out
    finally:
        for known in (POSTPROCESSORS, REGISTERED, SOURCES):
            known.pop("far_off", None)
    assert "--matrix shows all metrics in one table." in run(*words[:-1])[1]


def test_an_estimate_has_it(run: Run, tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("value,estimate\na,0.6\nb,0.3\nc,0.12\nd,-0.02\n", encoding="utf-8")
    words = ("estimate", str(raw), "--protocol", "grr", "--eps", "1", "--n", "5000", "--reps", "4", "--quiet")
    words += ("--method", "none,norm_sub", "--next-protocol", "grr")
    data = json.loads(run(*words, "-m", "l1,topk", "--matrix", "--format", "json")[1])
    SCHEMA.validate(data)
    assert {row["protocol"] for row in data["matrix"]} == {"grr"}
    code, out, err = run(*words, "--matrix")
    assert (code, out) == (2, "")
    assert "--matrix needs several metrics" in err


def test_predictions_have_it_and_one_metric_has_not(run: Run) -> None:
    words = ("--eps", "1", "--k", "16", "-p", "grr,oue", "--method", "norm_sub,none")
    code, out, _ = run(*words, "-m", "all", "--matrix", "--format", "value")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()} >= {"l1", "kl", "set"}
    code, out, err = run("--eps", "1", "--k", "16", "--matrix")
    assert (code, out) == (2, "")
    assert "--matrix needs several metrics: -m all" in err
