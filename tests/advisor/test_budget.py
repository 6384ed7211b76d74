from __future__ import annotations

import json

import numpy as np
import pytest

from advisor import InputError, advise
from advisor.question.plurality import BudgetUse, make_plan
from advisor.question.settings import Plurality
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.cli_answers import QUICK, SCHEMA
from tests.advisor.conftest import Run

ZIPF = frequencies("zipf", 20)
COUNTS = apportion(ZIPF, 20_000)


def plan(
    epsilon: float, d: int, *, rounds: int = 1, solution: str | None = None, protocols: tuple[str, ...] = ("oue",)
) -> BudgetUse:
    made = make_plan(Plurality(attributes=d, solution=solution, rounds=rounds), epsilon, protocols, ZIPF, 20_000)
    assert made is not None
    return made


@pytest.mark.parametrize("solution", ["smp", "spl"])
@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_errors_behind_the_choice_are_those_of_a_collection(solution: str, epsilon: float) -> None:
    """Both ways played out: draw who reports, let them report, compare with all users; 6 standard errors."""
    d, n, repetitions = 4, 20_000, 2000
    rng, squares = rng_for(0, "budget", solution, repr(epsilon)), {}
    for way in ("smp", "spl"):
        oracle = PROTOCOLS["oue"](20, epsilon if way == "smp" else epsilon / d)
        reporting = (
            rng.multivariate_hypergeometric(COUNTS, n // d, size=repetitions)
            if way == "smp"
            else np.broadcast_to(COUNTS, (repetitions, 20))
        )
        estimate = oracle.estimate(oracle.sample_support(reporting, rng), int(reporting[0].sum()))
        squares[way] = ((estimate - COUNTS / n) ** 2).mean(axis=1)
    other = "spl" if solution == "smp" else "smp"
    ratio = squares[other].mean() / squares[solution].mean()
    error = ratio * sum(squares[way].var() / repetitions / squares[way].mean() ** 2 for way in squares) ** 0.5
    expected = plan(epsilon, d, solution=solution).advantage
    assert expected is not None
    assert abs(ratio - expected**2) < 6 * error


def test_sampling_wins_at_small_budgets_and_splitting_where_noise_is_nothing() -> None:
    small, large = plan(1.0, 4), plan(32.0, 2, protocols=("grr",))
    assert (small.solution, small.epsilon_report, small.reports) == ("smp", 1.0, 5000)
    assert (large.solution, large.epsilon_report, large.reports) == ("spl", 16.0, 20_000)
    assert small.advantage is not None
    assert large.advantage is not None
    assert small.advantage > 1
    assert large.advantage > 1


def test_rounds_add_up_and_change_no_report() -> None:
    advice = advise(0.5, sample_counts=COUNTS, protocol="oue", max_repetitions=20, rounds=12)
    made = advice.request.plan
    assert made is not None
    assert (made.epsilon_round, made.epsilon_total, made.solution) == (0.5, 6.0, None)
    alone = advise(0.5, sample_counts=COUNTS, protocol="oue", max_repetitions=20)
    assert [row.error for row in advice.recommendations] == [row.error for row in alone.recommendations]


def test_the_answer_is_that_of_the_reports_that_are_sent() -> None:
    asked = {"sample_counts": COUNTS, "protocol": "oue", "repetitions": 4, "max_repetitions": 4}
    sampled = advise(1.0, **asked, attributes=4, solution="smp")
    assert [row.error for row in sampled.recommendations] == [
        row.error for row in advise(1.0, n=5000, **asked).recommendations
    ]
    split = advise(1.0, **asked, attributes=4, solution="spl")
    assert [row.error for row in split.recommendations] == [row.error for row in advise(0.25, **asked).recommendations]


def test_the_tool_says_which_way_and_what_a_user_spends_in_all(run: Run, states: str) -> None:
    _, out, _ = run("rounds", "--eps", "1", *QUICK, "-p", "oue", "--attributes", "4", "--rounds", "3", states)
    assert "(sampling, SMP): 250 reports" in out
    assert "splitting the budget would have" in out
    assert "3 × 1 = 3 in all 3 rounds" in out
    assert "ldp-advise rounds --eps-forever compares with devices that remember" in " ".join(out.split())
    _, out, _ = run("rounds", "--eps", "1", *QUICK, "-p", "oue", "--rounds", "30", "--quiet", states)
    assert out.splitlines()[0].endswith("Each user spends ε = 30 in all 30 rounds.")
    _, out, _ = run("--eps", "1", *QUICK, "-p", "oue", "--quiet", states)
    assert "Each user spends" not in out
    _, out, _ = run(
        "columns", "--eps", "1", "--k", "30", "-p", "oue", "--attributes", "4", "--solution", "SPL", "--format", "json"
    )
    data = json.loads(out)
    SCHEMA.validate(data)
    assert data["request"]["eps"] == 0.25
    assert data["request"]["plan"]["solution"] == "spl"
    assert data["request"]["plan"]["epsilon_total"] == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"attributes": 0}, "attributes must be a whole number of at least 1"),
        ({"rounds": 0}, "rounds must be a whole number of at least 1"),
        ({"attributes": 3, "solution": "sum"}, "solution must be one of smp, spl, got 'sum'"),
        ({"solution": "smp"}, "solution goes with attributes"),
        ({"attributes": 1001}, "attributes must be at most the number of users"),
    ],
)
def test_bad_requests_are_told(more: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        advise(1.0, sample_counts=[500, 300, 200], **more)  # type: ignore[arg-type]


def test_an_estimate_has_no_attributes_to_come() -> None:
    with pytest.raises(InputError, match="rounds is for a collection to come"):
        advise(1.0, estimate=[0.5, 0.3, 0.2], protocol="oue", n=1000, rounds=2)
