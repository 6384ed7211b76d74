"""The main command without data, with --instant and --why, and the knowledge commands."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from advisor import advise
from knowledge import grid
from tests.advisor.conftest import Run

SCHEMA = json.loads(resources.files("advisor").joinpath("schema/advice.schema.json").read_text(encoding="utf-8"))


def test_a_look_up_says_what_it_rests_on(run: Run) -> None:
    code, out, err = run("--eps", "1", "--k", "256", "--metric", "emd")
    assert code == 0
    assert err == ""  # no data is read, so there is nothing to warn about
    advice = advise(1.0, k=256, metric="emd")
    assert out.startswith(f"Use {advice.best.protocol} with {advice.best.method}: emd error ")
    assert "Looked up for skew 1, not simulated" in out
    assert "interpolated" in out
    assert "n = 100,000 users will report (--n says otherwise)" in out
    assert "10,000 to 10,000,000" in out or "Another number of users" in out


def test_json_is_that_of_every_answer(run: Run) -> None:
    code, out, _ = run(
        "--eps", "1", "--k", "64", "--shape", "gaussian:0.1", "--metric", "all", "--why", "--format", "json"
    )
    assert code == 0
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert data["source"] == "grid"
    assert data["experiment_id"]
    assert {ranking["metric"] for ranking in data["further_metrics"]} > {"mae", "emd", "range"}
    for ranking in [data, *data["further_metrics"]]:
        assert ranking["recommendations"][0]["origin"] == "interpolated"
        assert ranking["why"]["steps"]
        assert [answer["n"] for answer in ranking["other_users"]] == [10_000, 100_000, 1_000_000, 10_000_000]


@pytest.mark.parametrize("output", ["csv", "markdown", "plain", "value", "table"])
def test_every_format_works(run: Run, output: str) -> None:
    code, out, _ = run("--eps", "1", "--k", "64", "--format", output)
    assert code == 0
    assert advise(1.0, k=64).best.method in out
    assert "None" not in out
    assert "nan" not in out


def test_a_file_is_looked_up_with_instant(run: Run, states: str) -> None:
    code, out, err = run("--eps", "1", states, "--instant", "--n", "50000", "--why")
    assert code == 0
    assert "Looked up for" in out
    assert "Why: " in out
    assert "privacy" in err
    assert "n = 50,000" in out


def test_outside_the_grid_there_is_a_warning(run: Run) -> None:
    code, out, err = run("--eps", "0.05", "--k", "64", "--top", "2")
    assert code == 0
    assert "warning: the grid covers epsilon from 0.1 to 16, got 0.05: the errors are extrapolated" in err
    assert "extrapolated" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--eps", "1"], "no sample given"),
        (["--eps", "1", "--k", "1"], "k must be"),
        (["--eps", "1", "--k", "9", "--shape", "zip"], "did you mean 'zipf'"),
        (["--eps", "1", "--k", "9", "--skew", "x"], "skew"),
        (["--eps", "1", "--k", "9", "--reps", "5"], "--reps is for a simulation"),
        (["--eps", "1", "--k", "9", "--runs", "r.csv"], "--runs"),
        (["--eps", "1", "--k", "9", "--domain", "d.txt"], "--domain needs a file"),
        (["--eps", "1", "FILE", "--skew", "1"], "--skew is for a look-up without a file"),
        (["--eps", "1", "FILE", "--why"], "--why explains a look-up"),
        (["--eps", "1", "FILE", "--instant", "--max-reps", "9"], "--max-reps is for a simulation"),
        (["--eps", "1", "--estimate", "oue", "--n", "99", "FILE", "--instant"], "--instant is for a sample"),
        (["knowledge", "rules", "--metric", "l3"], "l3"),
        (["knowledge", "rules", "--metric", "emd", "--unordered"], "emd"),
        (["knowledge", "build", "--backend", "mpi"], "--backend must be one of"),
        (["knowledge", "build", "--scheduler", "tcp://x:1"], "scheduler"),
        (["knowledge", "evaluate", "missing.csv"], "missing.csv"),
    ],
)
def test_wrong_usage_gets_one_line(run: Run, states: str, tmp_path: Path, arguments: list[str], message: str) -> None:
    given = [states if word == "FILE" else word for word in arguments]
    if "build" in given:
        given += ["--to", str(tmp_path / "built")]
    quietly = [] if "rules" in given else ["-q"]
    code, out, err = run(*given, *quietly)
    assert code == 2
    assert out == ""
    assert err.startswith("ldp-advise: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_info_tells_where_the_grid_comes_from(run: Run) -> None:
    code, out, _ = run("knowledge", "info")
    provenance = grid.load().provenance
    assert code == 0
    assert f"seed {provenance['seed']}" in out
    assert f"{provenance['cells']:,}" in out
    assert "epsilon 0.1 to 16" in out
    code, out, _ = run("knowledge", "info", "--format", "json")
    assert json.loads(out)["knowledge"]["covers"]["k"] == [2, 250_000]


def test_rules_are_readable(run: Run) -> None:
    code, out, _ = run("knowledge", "rules", "--metric", "l1")
    assert code == 0
    assert out.startswith("# l1, categories with an order\n")
    assert run("knowledge", "rules", "--unordered")[1].startswith("# l1, categories without an order\n")
    assert "noise-to-uniform ratio" in out
    assert any(method in out for method in ("eb_ns", "wavelet_eb", "norm_sub"))
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.slow
def test_a_quick_build_is_made_and_resumed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "built"
    code, out, _ = run("knowledge", "build", "--quick", "--to", str(folder), "-q")
    assert code == 0
    assert str(folder) in out
    first = (folder / "grid.npy").read_bytes()
    cells = (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    # Killed in the middle of a line: all other cells are kept, and the result is the same.
    (folder / "cells.jsonl").write_text("".join(cells[:20]) + cells[20][:50], encoding="utf-8")
    code, _, _ = run("knowledge", "build", "--quick", "--to", str(folder), "-q")
    assert code == 0
    assert (folder / "grid.npy").read_bytes() == first
