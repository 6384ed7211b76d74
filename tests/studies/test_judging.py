import math
from dataclasses import replace

import judge_look_ups
import numpy as np
import pytest
from judging import METHOD, PAIR, JudgedSetting, Judging, PairErrors, evaluate, settings


def setting(number, measured, predicted):
    return JudgedSetting(
        histogram=f"h{number}",
        n=10_000,
        epsilon=1.0,
        errors={"l1": [exactly(pair, math.log(error), math.log(predicted[pair])) for pair, error in measured.items()]},
        tree={"l1": ("oue", "norm_sub")},
        smallest="grr",
        choice={"l1": {"": first(predicted), **{name: first(predicted, name) for name in ("oue", "grr")}}},
    )


def exactly(pair, measured, predicted):
    return PairErrors(pair, measured, (measured, measured), predicted)


def first(predicted, *protocols):
    return min((pair for pair in predicted if not protocols or pair[0] in protocols), key=lambda pair: predicted[pair])


ONE = setting(
    1,
    {("oue", "norm"): 2.0, ("oue", "norm_sub"): 1.0, ("grr", "norm"): 4.0, ("grr", "norm_sub"): 3.0},
    {("oue", "norm"): 2.0, ("oue", "norm_sub"): 1.5, ("grr", "norm"): 3.0, ("grr", "norm_sub"): 4.0},
)
OTHER = setting(
    2,
    {("oue", "norm"): 1.0, ("oue", "norm_sub"): 1.2, ("grr", "norm"): 2.0, ("grr", "norm_sub"): 2.0},
    {("oue", "norm"): 1.0, ("oue", "norm_sub"): 0.9, ("grr", "norm"): 2.0, ("grr", "norm_sub"): 3.0},
)


def test_scores_by_hand():
    scores = {(score.task, score.chooser): score for score in evaluate([ONE, OTHER])}
    model = scores[PAIR, "model"]  # picks oue + norm_sub twice: right, then 1.2 over 1.0
    assert model.settings == 2
    assert model.regret == pytest.approx(math.sqrt(1.2) - 1)
    assert model.regret_worst == pytest.approx(0.2)
    assert model.single_best == "oue + norm_sub"
    assert model.closed_gap == pytest.approx(0)
    assert model.worse_than_single == 0
    assert (model.top_1, model.top_3) == (0.5, 1.0)
    assert model.prediction_error == pytest.approx(math.exp((math.log(1.5) + math.log(1.2 / 0.9)) / 2) - 1)
    assert scores[PAIR, "single best"].regret == model.regret
    assert scores[PAIR, "variance rule + norm_sub"].regret == pytest.approx(math.sqrt(3 * 2) - 1)
    assert scores[PAIR, "oue + norm_sub"].regret == model.regret
    method = scores[METHOD, "model"]  # four questions; regrets: 1, 4/3, 1.2, 1
    assert method.settings == 4
    assert method.regret == pytest.approx((4 / 3 * 1.2) ** 0.25 - 1)
    assert method.worse_than_single == 0.25  # norm_sub is the single best, and better for grr in the first
    assert math.isnan(scores[PAIR, "tree"].prediction_error)


FEW = Judging(
    users=(10_000,), epsilons=(1.0,), metrics=judge_look_ups.METRICS, protocols=("oue", "tree", "sw"), repetitions=4
)


@pytest.fixture(scope="module")
def done():
    return settings([judge_look_ups.histogram(name, 8) for name in ("ages", "gaps", "turn")], FEW)


def test_the_jackknife_leaves_out_one_curve_at_a_time(done):
    left = np.array([judge_look_ups.scores(done[:place] + done[place + 1 :]) for place in range(3)])
    errors = np.sqrt(((left - left.mean(axis=0)) ** 2).sum(axis=0) * 2 / 3)
    np.testing.assert_allclose(judge_look_ups.jackknife(done), errors, rtol=1e-12, atol=1e-15)
    twice = [replace(one, histogram=f"{one.histogram.split()[0]}_{k}") for k in (64, 256) for one in done]
    np.testing.assert_allclose(judge_look_ups.jackknife(twice), errors, rtol=1e-9, atol=1e-15)


def test_the_study_prints_a_table(done, monkeypatch, capsys):
    monkeypatch.setattr(judge_look_ups, "judged", lambda *_: {"curves": done[:2], "a/": done[1:]})
    judge_look_ups.app([], standalone_mode=False)
    printed = capsys.readouterr().out.splitlines()
    regret, gap, single = judge_look_ups.scores(done[:2])[0]
    about, of_gap, _ = judge_look_ups.jackknife(done[:2])[0]
    cells = f"{regret:.1%} ± {about:.1%} | {gap:.2f} ± {of_gap:.2f} | {single:.1%}"
    assert printed[2] == f"| emd | curves | 2 | {cells} |"
    assert [line.split(" | ")[1:3] for line in printed[3:5]] == [["a/", "2"], ["all", "4"]]
    assert [line.split(" | ")[0] for line in printed[2:14:3]] == [f"| {metric}" for metric in judge_look_ups.METRICS]
