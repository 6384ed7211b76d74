"""Plans as they are asked for: from Python, by the command, in every format, and what is refused."""

from __future__ import annotations

import json

import pytest

import advisor
from advisor.api.plan import plan
from advisor.errors import InputError
from advisor.show.model import Role, Sentence
from advisor.show.plan import plan_document
from tests.advisor.conftest import Run
from tests.cells import failures


def test_same_seed_same_plan_whatever_the_jobs() -> None:
    one, two = (
        plan(target=0.3, epsilon=1.0, k=16, protocol="grr", method="none", max_repetitions=40, jobs=jobs).to_json()
        for jobs in (1, 2)
    )
    assert one == two


def test_is_offered_at_the_top_and_takes_either_name_of_the_budget() -> None:
    assert "plan" in dir(advisor)
    assert advisor.plan(detect=0.01, eps=1.0, k=20, instant=True).question.unknown == "n"
    with pytest.raises(InputError, match="either epsilon or eps"):
        plan(detect=0.01, eps=1.0, epsilon=1.0, k=20, instant=True)


@pytest.mark.parametrize("output_format", ["table", pytest.param("markdown", marks=pytest.mark.slow)])
def test_a_view_keeps_to_its_roles(run: Run, output_format: str) -> None:
    arguments = ("plan", "--target", "0.1", "--eps", "1", "--k", "16", "--instant", "-p", "grr,oue")
    texts = {way: run(*arguments, "--format", output_format, *way.split())[1] for way in ("", "-q", "-v")}
    assert ["Assumed:" in texts[way] for way in ("", "-q", "-v")] == [True, False, True]
    assert ["to best:" in texts[way] for way in ("", "-q", "-v")] == [False, False, True]


def test_a_target_that_asks_for_nothing_is_said_to() -> None:
    parts = plan_document(plan(target=5.0, epsilon=1.0, k=8, instant=True)).parts
    told = [part for part in parts if isinstance(part, Sentence) and part.role is Role.DETAIL]
    assert any("asks for nothing" in part.text for part in told)


def test_a_sample_is_read(run: Run, states: str) -> None:
    code, out, err = run(
        "plan",
        "--target",
        "0.05",
        "--eps",
        "1",
        "-p",
        "grr",
        "--method",
        "norm_sub",
        "--max-reps",
        "40",
        "--format",
        "json",
        states,
    )
    data = json.loads(out)
    assert code == 0
    assert "without any privacy" in err
    assert data["unknown"] == "n"
    assert data["request"]["k"] == 4
    assert data["results"][0]["low"] <= data["value"] <= data["results"][0]["high"]
    assert data["results"][0]["source"] == "simulation"


@pytest.mark.slow
def test_every_format(run: Run) -> None:
    def check(output_format: str) -> None:
        code, out, _ = run(
            "plan", "--detect", "0.01", "--n", "100000", "--k", "9", "--instant", "--format", output_format
        )
        assert code == 0
        if output_format == "value":
            assert 0.1 < float(out) < 10
        elif output_format == "json":
            assert json.loads(out)["results"]
        else:
            assert "grr" in out

    assert failures(["table", "json", "csv", "markdown", "plain", "value"], check) == {}


def test_nothing_is_overwritten(run: Run, tmp_path: object) -> None:
    target = f"{tmp_path}/plan.json"
    arguments = ("plan", "--detect", "0.01", "--eps", "1", "--k", "9", "--instant", "--output", target)
    assert run(*arguments)[0] == 0
    assert "exists" in run(*arguments)[2]
    assert run(*arguments, "--force")[0] == 0


def test_a_plan_keeps_to_protocols_that_run_in_products(run: Run) -> None:
    asked = ("plan", "--eps", "1", "--k", "32", "--instant", "--format", "json", "--deployable")
    for goal in (("--target", "0.1"), ("--detect", "0.01")):
        code, out, _ = run(*asked, *goal)
        assert code == 0
        assert set(json.loads(out)["request"]["protocols"]) == {"grr", "rappor"}
    code, _, err = run(*asked, "--target", "0.1", "--protocol", "oue")
    assert code == 2
    assert "--deployable keeps grr, rappor, and the menu has oue" in err
