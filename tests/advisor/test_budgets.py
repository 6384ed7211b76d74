import json

import pytest

from advisor import advise
from advisor.cli import examples
from advisor.figures import rounded, users
from simulator import PROTOCOLS
from tests.advisor.cli_answers import SCHEMA, answered

EPSILONS = (0.5, 1.0, 2.0)


@pytest.mark.slow
def test_each_row_is_the_answer_that_its_budget_has_alone(run):
    data = answered(run, "--eps", "0.5,1,2", "--k", "18", "--n", "2000", "-m", "l1,mae")
    assert [(row["metric"], row["eps"]) for row in data["budgets"]] == [
        (metric, epsilon) for metric in ("l1", "mae") for epsilon in EPSILONS
    ]
    for row in data["budgets"]:
        alone = advise(row["eps"], k=18, n=2000, metric=row["metric"])
        best = alone.best
        assert (row["protocol"], row["method"], row["error"]) == (*best.pair, best.error)
        assert row["users_off"] == pytest.approx(2000 * best.mean_absolute_error)
        assert row["detectable_users"] == pytest.approx(2000 * alone.detectable_frequency)
        assert row["attack_success"] == PROTOCOLS[best.protocol](18, row["eps"]).attack_success
        assert row["verdict"] == alone.verdict
    for epsilon, answer in zip(EPSILONS, data["answers"], strict=True):
        alone = answered(run, "--eps", str(epsilon), "--k", "18", "--n", "2000", "-m", "l1,mae")
        assert answer == {key: value for key, value in alone.items() if key != "headline"}  # its row has the verdict


def test_a_metric_that_users_off_do_not_describe_has_its_error_beside_that_without_data(run):
    _, out, _ = run("--eps", "0.5,2", "--k", "32", "--n", "1e5", "--metric", "emd", "--instant", "-q")
    rows = json.loads(
        run("--eps", "0.5,2", "--k", "32", "--n", "1e5", "--metric", "emd", "--instant", "--format", "json")[1]
    )
    errors = " to ".join(f"{row['error']:.2g}" for row in rows["budgets"])
    assert f"Expected: emd error {errors} bins, off by " in out


def test_budgets_at_which_constraints_leave_nothing_are_named(run):
    words = ("--k", "64", "-p", "grr", "--max-attack", "0.1")
    data = answered(run, "--eps", "1,8", *words)
    (row,) = data["budgets"]
    first, _ = data["answers"]
    assert row["eps"] == 1.0
    assert row["users_off"] == pytest.approx(row["n"] * first["recommendations"][0]["mean_absolute_error"])
    assert row["detectable_users"] == pytest.approx(row["n"] * first["detectable_frequency"])
    assert answered(run, "--eps", "8,9", *words)["budgets"] == []


def test_of_several_attributes_all_users_count_as_where_one_budget_is_given(run):
    words = [
        "rounds",
        "--rounds",
        "1",
        "--k",
        "16",
        "--n",
        "1M",
        "--attributes",
        "10",
        "--solution",
        "smp",
        "-p",
        "oue,ss",
        "--method",
        "norm_sub,none",
    ]
    for row in answered(run, *words, "--eps", "1,2")["budgets"]:
        alone = answered(run, *words, "--eps", str(row["eps"]))
        assert row["n"] == alone["request"]["n"] == 100_000
        assert f"off by {users(rounded(row['users_off'], 2))} users" in alone["headline"]["numbers"]
        assert row["users_off"] > 1_000_000 * alone["recommendations"][0]["mean_absolute_error"]  # a tenth is a sample
        assert row["detectable_users"] == pytest.approx(1_000_000 * alone["detectable_frequency"])


def test_a_missing_budget_is_priced_for_the_question_at_hand(run, states):
    fruit = {"sample_counts": {"apple": 500, "banana": 300, "cherry": 150, "date": 50}, "instant": True}
    office, two = ("--k", "18", "--n", "2000"), {"protocol": ["grr", "oue"], "method": ["norm_sub", "none"]}
    for words, sample in (((states,), fruit), (office, {"k": 18, "n": 2000}), (("pareto", states), fruit)):
        words = (*words, "-p", "grr,oue", "--method", "norm_sub,none")
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        lines = err.splitlines()
        assert lines[0] == f"ldp-advise: error: --eps is missing: give {examples.BUDGET}"
        assert [line.split()[1] for line in lines[2:5]] == ["0.5", "1", "2"]
        code, out, _ = run(*words, "--format", "json")
        error = json.loads(out)
        SCHEMA.validate(error)
        assert code == 2
        for row in error["error"]["examples"]:
            best = advise(row["eps"], **sample, **two).best
            assert (row["protocol"], row["error"]) == (best.protocol, pytest.approx(best.error))
