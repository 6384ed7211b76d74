"""Ways to collect several attributes, ranked at the same promise."""

from __future__ import annotations

import json

import numpy as np
import pytest

import advisor
from advisor.question.solutions import ranked_solutions
from simulator import PROTOCOLS
from tests.advisor.conftest import Run

EVEN = np.full(10, 0.1)


def test_every_way_is_ranked_for_both_promises() -> None:
    rows = ranked_solutions(10, 1.0, PROTOCOLS, EVEN, 100_000)
    for promise in ("tuple", "attribute"):
        own = [row for row in rows if row.promise == promise]
        assert {row.solution for row in own} == {"smp", "spl", "rsfd", "rsrfd"}
        assert [row.error for row in own] == sorted(row.error for row in own)
        assert own[0].ratio == 1
        kept = [row.epsilon_tuple if promise == "tuple" else row.epsilon_attribute for row in own]
        assert kept == pytest.approx([1.0] * 4)


def test_fake_data_is_beaten_at_both_promises() -> None:
    best = {}
    for row in ranked_solutions(10, 1.0, PROTOCOLS, EVEN, 100_000):
        best.setdefault(row.promise, row.solution)
    assert best == {"tuple": "smp", "attribute": "spl"}


def test_a_menu_without_fakes_has_no_row_for_them() -> None:
    rows = ranked_solutions(4, 1.0, ["ss"], EVEN, 1000)
    assert {row.solution for row in rows} == {"smp", "spl"}


def test_the_first_is_what_the_plan_uses() -> None:
    for d, epsilon in ((2, 0.5), (5, 4.0)):
        plan = advisor.advise(epsilon, k=10, n=100_000, attributes=d).request.plan
        assert plan is not None
        assert plan.solutions[0].solution == plan.solution
        other = next(
            row for row in plan.solutions if row.promise == "tuple" and row.solution in {"smp", "spl"} - {plan.solution}
        )
        assert other.ratio == pytest.approx(plan.advantage)


def test_the_answer_says_between_whom_the_promise_holds(run: Run) -> None:
    question = ["columns", "--eps", "1", "--k", "10", "--n", "1e5", "--attributes", "10"]
    code, words, _ = run(*question, "--format", "plain")
    assert code == 0
    assert "Ways to collect 10 attributes at the same promise" in words
    assert "any two users" in words
    assert "RS+RFD" in words
    plan = json.loads(run(*question, "--format", "json")[1])["request"]["plan"]
    assert {row["promise"] for row in plan["solutions"]} == {"tuple", "attribute"}
