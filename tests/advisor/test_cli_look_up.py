"""The main command without data, with --instant and --why."""

from __future__ import annotations

import json

import pytest

from advisor import advise
from advisor.names import method_text, protocol_with_report
from tests.advisor.conftest import Run
from tests.advisor.schemas import schema
from tests.cells import failures

SCHEMA = schema("advice")


def test_a_look_up_says_what_it_rests_on(run: Run) -> None:
    code, out, err = run("--eps", "1", "--k", "256", "--metric", "emd")
    assert code == 0
    assert err == ""  # no data is read, so there is nothing to warn about
    advice = advise(1.0, k=256, metric="emd")
    best = advice.best
    used = f"{protocol_with_report(best.protocol, best.report_bits)} with {method_text(best.method)}"
    assert out.startswith(f"Use {used}.")
    assert out.splitlines()[1].startswith("Expect emd error ")
    assert "Predicted for skew 1, not simulated" in out
    assert "interpolated" in out
    assert "n = 100,000 users will report (--n says otherwise)" in out
    assert "10,000 to 10,000,000" in out or "users the answer would be " in out


def test_json_is_that_of_every_answer(run: Run) -> None:
    code, out, _ = run(
        "--eps",
        "1",
        "--k",
        "64",
        "--shape",
        "gaussian:0.1",
        "--ordered",
        "--metric",
        "mae,l2",
        "--why",
        "--format",
        "json",
        "-p",
        "oue,tree,pgr",
        "--method",
        "norm_sub,eb_ns,tree_eb",
    )
    assert code == 0
    data = json.loads(out)
    SCHEMA.validate(data)
    assert data["source"] == "grid"
    assert data["experiment_id"]
    assert {ranking["metric"] for ranking in data["further_metrics"]} == {"l2"}
    for ranking in [data, *data["further_metrics"]]:
        assert ranking["recommendations"][0]["origin"] == "interpolated"
        assert ranking["why"]["steps"]
        assert [answer["n"] for answer in ranking["other_users"]] == [10_000, 100_000, 1_000_000, 10_000_000]


@pytest.mark.slow
def test_every_format_works(run: Run) -> None:
    def check(output: str) -> None:
        code, out, _ = run("--eps", "1", "--k", "64", "--format", output)
        assert code == 0
        assert advise(1.0, k=64).best.method in out
        assert "None" not in out
        assert "nan" not in out

    assert failures(["csv", "markdown", "plain", "value", "table"], check) == {}


def test_a_file_is_looked_up_with_instant(run: Run, states: str) -> None:
    code, out, err = run("--eps", "1", states, "--instant", "--n", "50000", "--why")
    assert code == 0
    assert "Predicted for" in out
    assert "Why: " in out
    assert "privacy" in err
    assert "n = 50,000" in out


def test_outside_of_what_was_simulated_there_is_a_warning(run: Run) -> None:
    code, out, err = run("--eps", "0.05", "--k", "64", "--top", "2")
    assert code == 0
    assert "warning: predictions cover epsilon from 0.1 to 16, got 0.05: the errors are extrapolated" in err
    assert "extrapolated" in out


def test_wrong_usage_gets_one_line(run: Run, states: str) -> None:
    cells = [
        (["--eps", "1"], "SAMPLE is missing: give a file"),
        (["--eps", "1", "--k", "1"], "k must be"),
        (["--eps", "1", "--k", "9", "--shape", "zip"], "did you mean 'zipf'"),
        (["--eps", "1", "--k", "9", "--skew", "x"], "skew"),
        (["--eps", "1", "--k", "9", "--reps", "5"], "--reps is for a simulation"),
        (["--eps", "1", "--k", "9", "--runs", "r.csv"], "--runs"),
        (["--eps", "1", "--k", "9", "--domain", "d.txt"], "--domain needs a sample, and none is given"),
        (
            ["--eps", "1", "FILE", "--skew", "1"],
            "--skew is for a question without a sample: the frequencies are those of",
        ),
        (["--eps", "1", "FILE", "--why"], "--why explains a predicted answer"),
        (["--eps", "1", "FILE", "--instant", "--max-reps", "9"], "--max-reps is for a simulation"),
        (["estimate", "-p", "oue", "--n", "99", "FILE", "--instant"], "--instant is no option of ldp-advise estimate"),
        (["fakes", "--eps", "1", "FILE", "--instant", "--threat", "0.1"], "--instant is no option of ldp-advise fakes"),
    ]

    def check(cell: tuple[list[str], str]) -> None:
        arguments, message = cell
        code, out, err = run(*(states if word == "FILE" else word for word in arguments), "-q")
        assert (code, out) == (2, "")
        assert err.startswith("ldp-advise: error: ")
        assert message in err
        assert err.count("\n") == 1

    assert failures(cells, check) == {}
