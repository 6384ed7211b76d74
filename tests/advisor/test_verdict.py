import json
import shlex
import tomllib
from importlib.resources import files
from itertools import product

import numpy as np
import pytest

from advisor import Limits, Simulation, advise, pareto, plan
from advisor.answers.rank.verdict import (
    ENOUGH,
    MARGINAL,
    MOST_UNDETECTABLE,
    USELESS,
    WORTH_IT,
    against_nothing,
    kind_of,
    reasons_of,
)
from knowledge.deployments import DEPLOYED
from simulator import PROTOCOLS
from simulator.detection import smallest_detectable
from tests.advisor.conftest import BANDS
from tests.cells import failures, over


@over(
    [
        (0.5, 1.0, True, WORTH_IT, "clearly better"),
        (0.5, 1.0, False, MARGINAL, "better, but not surely"),
        (0.51, 1.0, True, MARGINAL, "better, but not by half"),
        (0.51, 1.0, False, USELESS, "no better"),
        (1.2, 1.0, False, USELESS, "no better"),
        (3.0, None, True, WORTH_IT, "clearly better"),
        (0.1, 0.0, False, USELESS, "no better"),
    ]
)
def test_the_verdict_is_by_half_of_the_error_without_data_and_by_the_interval(error, without, below, kind, words):
    for hidden in ((), (MOST_UNDETECTABLE,)):  # which says nothing of the error
        reasons = (*reasons_of(error, without, below=below), *hidden)
        assert (kind_of(reasons), against_nothing(reasons)) == (kind, words)


def test_few_skewed_categories_of_many_users_are_worth_it_and_the_verdict_is_on_the_pair_that_is_named():
    for k, skew in product([2, 5], [0.5, 1.0, 2.0]):
        advice = advise(1.0, k=k, n=100_000, shape=skew)
        assert (k, skew, advice.verdict) == (k, skew, WORTH_IT)
        assert advice.best.error_high < 2 * advice.best.error
        assert advise(1.0, k=k, n=100_000, shape=0.0).error_without_data == 0
    pair = {"protocol": "grr", "method": "none", "simulation": Simulation(max_repetitions=20)}
    named = advise(1.0, sample_counts=BANDS, ordered=False, **pair)
    assert (named.best.pair, named.verdict) == (("grr", "none"), USELESS)  # whatever others would reach
    assert named.best.error > 1.5 * (named.error_without_data or 0)


def test_undetectable_are_the_categories_of_a_sample_rarer_than_the_smallest_frequency_that_is_detected():
    rng = np.random.default_rng(13)
    shares = set()

    def check(_):
        k, epsilon, n = int(rng.integers(2, 60)), float(rng.uniform(0.3, 4)), int(10 ** rng.uniform(3, 6))
        counts = rng.multinomial(20_000, rng.dirichlet(np.full(k, rng.uniform(0.3, 3))))
        sample = {f"v{place}": count for place, count in enumerate(counts.tolist()) if count}
        few = {"protocol": ["grr", "oue"], "method": "norm_sub", "instant": True}
        answer = advise(epsilon, sample_counts=sample, n=n, ordered=False, **few)
        data = json.loads(answer.to_json())
        least = smallest_detectable(PROTOCOLS[answer.best.protocol](len(sample), epsilon), n)
        assert {*data["undetectable"]} == {label for label, count in sample.items() if count / 20_000 < least}
        assert ("most_undetectable" in data["reasons"]) == (len(data["undetectable"]) > len(sample) / 2)
        shares.add(len(data["undetectable"]) / len(sample))

    assert failures(range(8), check) == {}
    assert (min(shares), max(shares)) == (0.0, 1.0)
    whole = advise(0.5, sample_counts=BANDS, ordered=True, instant=True)
    assert json.loads(whole.to_json())["undetectable"] == []  # along an order neighbours tell of each other


@over(
    [
        ("--eps 1 --n 20k --instant -p oue,ss", ["9 of 12", "verdict is about the other 3"]),
        ("--eps 0.5,4 --n 20k --instant -p oue,ss", ["Of 12 categories", ": 9 at ε = 0.5, 2 at ε = 4."]),
        ("pareto --eps 1 --n 20k --instant -p oue,ss", ["9 of 12"]),
        ("plan --eps 1 --target 0.2 --instant -p oue,ss", ["9 of 12"]),
        ("choose --n 20k --within 1 --sensitive high --times 1 --instant", ["9 of 12"]),
    ]
)
def test_every_answer_from_a_sample_says_how_many_of_its_categories_cannot_be_seen(line, said, *, run, tmp_path):
    path = tmp_path / "codes.csv"
    counts = (90_000, 52_000, 30_000, 8000, 4000, 2500, 2000, 1500, 1200, 900, 500, 100)
    path.write_text("code,count\n" + "".join(f"E{count},{count}\n" for count in counts), encoding="utf-8")
    code, out, _ = run(*line.split(), str(path), "--counts", "count", "--quiet")
    shown = " ".join(out.split())
    assert code == 0
    assert [text for text in (*said, "cannot be told from none") if text not in shown] == []


def test_a_choice_from_earlier_figures_says_which_change_since_then_cannot_be_seen(run, bands):
    asked = (bands, "--counts", "count", "--n", "50k", "--within", "0.9", "--unordered", "--instant")
    code, out, _ = run("choose", *asked, "--sensitive", "low", "--times", "1", "--format", "json")
    data = json.loads(out)
    answer = advise(data["eps"], sample_counts=BANDS, n=50_000, ordered=False, metric="mae", instant=True)
    shown = " ".join(run("choose", *asked, "--sensitive", "low", "--times", "1")[1].split())
    assert code == 0
    assert f"A change of less than {100 * (answer.smallest_change or 0):.3g} percentage points since" in shown


@pytest.mark.parametrize(
    "given",
    [
        {"sample_counts": BANDS, "ordered": False, "instant": True},
        pytest.param({"k": 18, "n": 2000, "shape": 0.5}, marks=pytest.mark.slow),
    ],
)
def test_what_would_be_worth_it_reaches_half_of_the_error_without_data(given):
    advice = advise(1.0, **given)
    instead = advice.worth_it_with
    assert instead.target == pytest.approx(ENOUGH * (advice.error_without_data or 0), rel=5e-3)
    more = advise(1.0, **{**given, "n": instead.n})
    louder = advise(instead.epsilon, **given)
    for there in (more, louder):
        assert there.verdict in (WORTH_IT, MARGINAL)
        # between two of its 17 places a plan follows a straight line
        assert there.best.error == pytest.approx(instead.target, rel=0.05)


def test_a_large_budget_falls_less_short_than_its_error():
    advice = advise(4.0, k=256, n=1000)
    instead = advice.worth_it_with
    assert 4.0 < instead.epsilon < 4.0 * advice.best.error / instead.target  # the error falls faster than 1 / ε


def test_the_command_is_one_that_plans_what_was_asked_for(run, bands):
    few = ("--instant", "--method", "norm_sub", "--format", "json")
    for more in ((), ("--deployable",), ("--max-bits", "6")):
        asked = ("--eps", "1", bands, "--counts", "count", *few, *more)
        words = shlex.split(json.loads(run(*asked)[1])["worth_it_with"]["command"])
        assert (words[:2], words[-1]) == (["ldp-advise", "plan"], bands)
        code, out, _ = run(*words[1:], *few)
        planned = json.loads(out)
        assert code == 0
        assert planned["value"] > 2000
        assert (set(planned["request"]["protocols"]) == {"grr", "rappor"}) == ("--deployable" in more)
        bits = {PROTOCOLS[name](planned["request"]["k"], 1.0).report_bits for name in planned["request"]["protocols"]}
        assert (max(bits) <= 6) == ("--max-bits" in more)


def test_a_pipeline_fails_on_a_useless_answer_after_it_is_given(run, bands):
    few = (bands, "--instant", "-p", "grr,oue", "--method", "norm_sub,none")
    for form in ("table", "json"):
        code, out, _ = run("--eps", "0.2", *few, "--fail-if-useless", "--format", form)
        assert (form, code) == (form, 3)
        assert out
    assert run("--eps", "0.2", *few)[0] == 0
    assert run("--eps", "6", *few, "--n", "1M", "--fail-if-useless")[0] == 0
    assert run("--eps", "6,0.2", *few, "--n", "20k", "--fail-if-useless")[0] == 3
    assert run("--eps", "1", "--k", "64", "--max-bits", "1", "--fail-if-useless")[0] == 3  # nothing is left to rank


@pytest.mark.slow
def test_pareto_names_the_pair_of_the_ranking_and_plan_one_that_is_as_good():
    rng = np.random.default_rng(11)
    for _ in range(12):
        k, epsilon, n = int(10 ** rng.uniform(0.6, 3)), 10 ** rng.uniform(-0.5, 0.7), int(10 ** rng.uniform(4, 7))
        advice = advise(epsilon, k=k, n=n, shape="zipf:1")
        frontier = pareto(advice)
        assert frontier.rows[0].pair == advice.best.pair
        answer = plan(target=advice.best.error, eps=epsilon, k=k, shape="zipf:1", instant=True)
        there = advise(epsilon, k=k, n=round(answer.value or 0), shape="zipf:1")
        row = next(row for row in there.recommendations if row.pair == answer.best.pair)
        assert (row.ratio_to_best or 9) < 1.06  # within 5 % at some number of users near this one


def test_deployable_keeps_to_protocols_that_run_in_products_and_each_has_a_source():
    advice = advise(1.0, k=64, limits=Limits(deployable=True))
    assert {row.protocol for row in advice.recommendations} == set(DEPLOYED)
    stored = tomllib.loads(files("knowledge").joinpath("deployments.toml").read_text("utf-8"))
    implementations = stored["implementations"]
    assert all(one["source"] for one in implementations)
    assert {protocol for one in implementations for protocol in one["protocols"]} <= PROTOCOLS.keys()
