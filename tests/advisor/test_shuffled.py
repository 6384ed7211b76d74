import numpy as np
import pytest

import advisor
from advisor import CentralPromise
from advisor.answers.epsilon import shuffled
from advisor.answers.rank.outlook import outlook
from advisor.answers.rank.why import why_of
from simulator import PROTOCOLS
from simulator.shuffler import CentralHistogram, Shuffler, blanket_of
from tests.advisor.cli_answers import answered

PROMISE = ["--central-eps", "1", "--delta", "1e-8"]


def test_every_protocol_reports_at_the_budget_that_keeps_the_promise(run):
    words = ("-p", "grr,oue,ss,pgr", "--method", "none,norm_sub")
    answer = answered(run, "shuffler", "--k", "64", "--n", "1e5", *PROMISE, *words)
    local = answer["request"]["central"]["local"]
    assert all(row["epsilon"] == local[row["protocol"]] for row in answer["recommendations"])
    shuffler = Shuffler(100_000, 1e-8)
    for key in ("grr", "oue", "ss", "pgr"):
        assert shuffler.central(blanket_of(PROTOCOLS[key](64, local[key]))) == pytest.approx(1, rel=1e-3)
    bits = {row["protocol"]: row["attack_success"] for row in answer["recommendations"]}
    assert bits["grr"] == pytest.approx(PROTOCOLS["grr"](64, local["grr"]).attack_success)


def test_the_ranking_at_one_central_promise_is_not_that_at_one_local_budget():
    # What others say hides a GRR report best where values are many: it gets a budget of its own.
    menu = {"k": 1024, "n": 100_000, "protocol": ["grr", "oue", "ss"], "method": "none"}
    central = advisor.advise(**menu, promise=CentralPromise(central_epsilon=0.1, delta=1e-8))
    budgets = central.request.central.local
    assert budgets["grr"] > 1.2 * budgets["ss"]
    fixed = advisor.advise(budgets["ss"], **menu)
    errors, alike = ({row.protocol: row.error for row in one.recommendations} for one in (central, fixed))
    assert errors["ss"] == pytest.approx(alike["ss"])
    assert min(errors, key=errors.__getitem__) == "grr"
    assert alike["grr"] > 1.2 * min(alike.values())


def test_a_page_expects_what_the_ranking_does_at_the_budget_of_its_pair_and_nothing_elsewhere():
    promise = CentralPromise(central_epsilon=0.1, delta=1e-8)
    advice = advisor.advise(k=256, n=100_000, protocol=["grr", "ss"], method="none", promise=promise)
    expected = outlook(advice)
    assert expected is not None
    ((here,),) = expected.points
    assert (here.epsilon, here.error) == (advice.best.epsilon, advice.best.error)
    assert here.epsilon != advice.request.epsilon
    assert why_of(advice) is None


def test_a_sample_is_simulated_at_these_budgets():
    counts = [4000, 3000, 2000, 1000]
    menu = {"protocol": ["grr", "oue"], "method": "none", "metric": "mse"}
    answer = advisor.advise(sample_counts=counts, **menu, promise=CentralPromise(central_epsilon=0.5, delta=1e-6))
    for row in answer.recommendations:
        oracle = PROTOCOLS[row.protocol](4, answer.request.central.local[row.protocol])
        assert row.epsilon == oracle.epsilon
        # The mean over the repetitions: five standard errors, false alarms below 1 in 100,000.
        expected = float(oracle.noise(10_000).entry(np.array(counts) / 10_000).mean())
        assert abs(row.error - expected) < 5 * row.standard_error
    trusted = next(row for row in answer.baselines if row.kind == "central")
    histogram = CentralHistogram(0.5, 1e-6)
    assert trusted.method == "discrete Laplace"
    assert trusted.error == pytest.approx(histogram.variance / 10_000**2, rel=0.15)  # four standard errors are 0.12
    assert trusted.error_high < 1.2 * trusted.error_low  # no figure of a few draws
    assert trusted.error < min(row.error for row in answer.recommendations)


def test_the_users_that_the_refusal_names_are_enough(run):
    question = ["shuffler", "--k", "8", "-p", "grr,oue", "--central-eps", "1e-9", "--delta", "1e-12", "--n"]
    wanted = run(*question, "1000")[2].rsplit("--n ", 1)[1].strip()
    assert run(*question, wanted)[1]


def test_few_reports_of_a_protocol_promise_no_less_than_those_of_any():
    found = shuffled(4.0, 1000, 1e-6, "grr", 3)  # the analysis of this protocol says less of so few users
    assert found.central == found.anyone < 4


@pytest.mark.slow
def test_a_plan_finds_the_users_who_keep_the_promise_and_reach_the_error():
    promise, menu = CentralPromise(central_epsilon=0.5, delta=1e-8), {"protocol": "oue", "method": "none"}
    answer = advisor.plan(target=1e-4, metric="mse", k=16, **menu, promise=promise)
    assert answer.value is not None
    n, row = round(answer.value), answer.rows[0]
    budget = answer.question.budget("oue", n)
    shuffler = Shuffler(n, 1e-8)
    assert shuffler.keeps(0.5, blanket_of(PROTOCOLS["oue"](16, budget)))
    assert not shuffler.keeps(0.5, blanket_of(PROTOCOLS["oue"](16, 1.001 * budget)))
    # The error of raw estimates has a closed form: the answer is where it crosses the target, inside the interval.
    weights = answer.question.frequencies.weights / answer.question.frequencies.weights.sum()

    def error(users):
        oracle = PROTOCOLS["oue"](16, answer.question.budget("oue", users))
        return float(oracle.noise(round(users)).entry(weights).mean())

    assert row.low is not None
    assert row.high is not None
    wider = 0.5 * (row.high - row.low)  # four standard errors in all: false alarms below 1 in 10,000
    assert error(row.high + wider) < 1e-4 < error(row.low - wider)
    # At the budget that one user alone could spend, without a shuffler, it takes far more users.
    assert (advisor.plan(target=1e-4, metric="mse", k=16, eps=0.5, instant=True).value or 0) > 20 * n
