import numpy as np
import pytest

import advisor
from advisor import Plurality
from advisor.question.plurality import ranked_solutions
from simulator import PROTOCOLS

EVEN = np.full(10, 0.1)


def test_every_way_is_ranked_for_both_promises():
    rows = ranked_solutions(10, 1.0, PROTOCOLS, EVEN, 100_000)
    for promise in ("tuple", "attribute"):
        own = [row for row in rows if row.promise == promise]
        assert {row.solution for row in own} == {"smp", "spl", "rsfd", "rsrfd"}
        assert [row.error for row in own] == sorted(row.error for row in own)
        assert own[0].ratio == 1
        kept = [row.epsilon_tuple if promise == "tuple" else row.epsilon_attribute for row in own]
        assert kept == pytest.approx([1.0] * 4)
    without = ranked_solutions(4, 1.0, ["ss"], EVEN, 1000)
    assert {row.solution for row in without} == {"smp", "spl"}  # no fakes, no row for them


def test_fake_data_is_beaten_at_both_promises():
    best = {}
    for row in ranked_solutions(10, 1.0, PROTOCOLS, EVEN, 100_000):
        best.setdefault(row.promise, row.solution)
    assert best == {"tuple": "smp", "attribute": "spl"}


def test_the_first_is_what_the_plan_uses():
    for d, epsilon in ((2, 0.5), (5, 4.0)):
        plan = advisor.advise(epsilon, k=10, n=100_000, plurality=Plurality(attributes=d)).request.plan
        assert plan.solutions[0].solution == plan.solution
        other = next(
            row for row in plan.solutions if row.promise == "tuple" and row.solution in {"smp", "spl"} - {plan.solution}
        )
        assert other.ratio == pytest.approx(plan.advantage)


def test_figures_in_users_are_of_all_users_and_not_of_those_who_report_the_attribute():
    answer = advisor.advise(1.0, k=50, n=50_000, plurality=Plurality(attributes=20))
    assert (answer.request.n, answer.request.users) == (2_500, 50_000)
    off = answer.best.mean_absolute_error * 50_000
    assert f"off by {float(f'{off:.2g}'):,.0f} users a category" in str(answer)
    assert answer.other_users == ()
    each = advisor.advise(1.0, k=50, n=50_000)
    assert each.other_users
