import itertools
import math
from dataclasses import replace

import judge_look_ups
import judge_predictions
import numpy as np
import pytest
from judging import METHOD, PAIR, Histogram, JudgedSetting, Judging, PairErrors, evaluate, holdout, settings

from advisor import advise
from knowledge.making.populations import ORDERED_FAMILIES
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.cells import over


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


def test_what_is_judged_is_what_a_look_up_lists_first():
    histogram = Histogram("a", apportion(frequencies("zipf", 12, 1.0), 100_000), ordered=True)
    (done,) = settings([histogram], Judging(users=[100_000], epsilons=[1.0], repetitions=4, metrics=["l1", "emd"]))
    for metric in ("l1", "emd"):
        asked = {"sample_counts": histogram.counts, "ordered": True, "instant": True, "metric": metric}
        assert done.choice[metric][""] == advise(1.0, **asked).best.pair
        assert done.choice[metric]["hr"] == advise(1.0, protocol="hr", **asked).best.pair
        score = next(score for score in evaluate([done]) if (score.metric, score.task) == (metric, PAIR))
        measured = {one.pair: one.measured for one in done.errors[metric]}
        assert (score.top_1 == 1) == (measured[done.choice[metric][""]] == min(measured.values()))


def test_luck_is_no_regret():
    rng = rng_for(0, "tests", "luck")
    regrets = []
    for number in range(80):
        halves = [tuple(rng.normal(size=2) * 0.1) for _ in range(60)]
        done = JudgedSetting(
            histogram=f"h{number}",
            n=1000,
            epsilon=1.0,
            errors={
                "l1": [
                    PairErrors(("oue", f"m{place}"), sum(two) / 2, two, float(place))
                    for place, two in enumerate(halves)
                ]
            },
            tree={"l1": ("oue", "m0")},
            smallest="oue",
            choice={"l1": {"": ("oue", "m0"), "oue": ("oue", "m0")}},
        )
        score = next(score for score in evaluate([done]) if (score.task, score.chooser) == (PAIR, "model"))
        regrets.append(math.log1p(score.regret))
    # Chosen and best each have two halves of sd 0.1: their difference has sd 0.1.
    assert abs(np.mean(regrets)) < 4 * 0.1 / math.sqrt(len(regrets))


def test_an_evaluation_of_a_small_histogram():
    histograms = [Histogram("a", np.array([50, 30, 15, 5]), ordered=True), Histogram("b", np.arange(5), ordered=False)]
    asked = {"users": [1_000], "epsilons": [1.0, 2.0], "protocols": ["oue", "grr"], "repetitions": 8}
    done = settings(histograms, Judging(**asked))
    assert len(done) == 4
    scores = evaluate(done)
    assert {score.metric for score in scores} == {"l1", "l2", "kl", "emd", "range", "topk"}
    by_metric = {(score.metric, score.task): score.settings for score in scores}
    assert by_metric["l1", PAIR] == 4
    assert by_metric["l1", METHOD] == 8
    assert by_metric["emd", PAIR] == 2
    for score in scores:
        assert -0.5 < score.regret <= score.regret_worst
        assert 0 <= score.top_1 <= score.top_3 <= 1
        if score.chooser == "single best":
            assert math.isnan(score.closed_gap) or score.closed_gap == pytest.approx(0)
            assert score.worse_than_single == 0
    rows = [line.strip("| ").split(" | ") for line in judge_predictions.table(scores)]
    assert len(rows) == 2 + len([score for score in scores if score.chooser == "model"])
    for score in scores:  # the regrets of the other choosers stand beside the model's
        row = next(row for row in rows if tuple(row[:2]) == (score.metric, score.task))
        place = rows[0].index("regret (95 %, worst)" if score.chooser == "model" else score.chooser)
        assert row[place].startswith(f"{100 * score.regret:.1f} %")


@pytest.mark.slow
def test_an_evaluation_does_not_depend_on_its_workers():
    histograms = [Histogram("a", np.array([50, 30, 15, 5]), ordered=True), Histogram("b", np.arange(5), ordered=False)]
    asked = {"users": [1_000], "epsilons": [1.0], "protocols": ["oue"], "metrics": ["l1"], "repetitions": 6}
    one, two = (settings(histograms, Judging(jobs=jobs, **asked)) for jobs in (1, 2))
    assert one == two


def test_unseen_shapes_are_no_family_of_the_cells():
    from knowledge.making.populations import ORDERED_FAMILIES

    histograms = holdout()
    assert len({histogram.name for histogram in histograms}) == len(histograms)
    assert not {histogram.name.split()[0] for histogram in histograms} & set(ORDERED_FAMILIES)
    for one, other in zip(histograms, holdout(), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)


FEW = Judging(
    users=(10_000,), epsilons=(1.0,), metrics=judge_look_ups.METRICS, protocols=("oue", "tree", "sw"), repetitions=4
)


@over(itertools.product(judge_look_ups.CURVES, [2, 20, 300]))
def test_curves_are_histograms_that_are_the_same_each_time(name, k):
    one = judge_look_ups.histogram(name, k)
    assert one.counts.sum() == judge_look_ups.USERS
    assert one.counts.shape == (k,)
    np.testing.assert_array_equal(one.counts, judge_look_ups.histogram(name, k).counts)


def test_no_curve_has_a_part_in_the_knowledge_or_its_own_judging():
    other = {histogram.name.split()[0] for histogram in holdout()}
    assert not set(judge_look_ups.CURVES) & {*ORDERED_FAMILIES, *other}


@pytest.fixture(scope="module")
def done():
    return settings([judge_look_ups.histogram(name, 8) for name in ("ages", "gaps", "turn")], FEW)


def test_the_jackknife_leaves_out_one_curve_at_a_time(done):
    left = np.array([judge_look_ups.scores(done[:place] + done[place + 1 :]) for place in range(3)])
    errors = np.sqrt(((left - left.mean(axis=0)) ** 2).sum(axis=0) * 2 / 3)
    np.testing.assert_allclose(judge_look_ups.jackknife(done), errors, rtol=1e-12, atol=1e-15)
    twice = [replace(one, histogram=f"{one.histogram.split()[0]}_{k}") for k in (64, 256) for one in done]
    np.testing.assert_allclose(judge_look_ups.jackknife(twice), errors, rtol=1e-9, atol=1e-15)


def test_a_file_is_judged_as_it_is(tmp_path):
    file = tmp_path / "delays_4.csv"
    file.write_text("value,count\n0,5\n1,0\n2,7\n3,2\n")
    one = judge_look_ups.stored(str(file))
    assert (one.name, one.counts.tolist(), one.ordered) == ("delays_4", [5, 0, 7, 2], True)


def test_curves_shapes_and_each_folder_are_sets(tmp_path):
    files = [tmp_path / folder / name for folder, name in (("a", "x_2.csv"), ("b", "y_2.csv"), ("a", "z_2.csv"))]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("value,count\n0,5\n1,2\n")
    found = judge_look_ups.sets([str(file) for file in files], seed=0)
    assert [*found] == ["curves", "shapes", "a/", "b/"]
    assert [one.name for one in found["a/"]] == ["x_2", "z_2"]
    assert {one.name for one in found["shapes"]} == {one.name for one in holdout() if one.ordered}
    assert all(one.ordered for histograms in found.values() for one in histograms)


@pytest.mark.slow
def test_processes_judge_as_one_does(done):
    ages, gaps, turn = (judge_look_ups.histogram(name, 8) for name in ("ages", "gaps", "turn"))
    found = judge_look_ups.judged({"some": [ages, gaps], "another": [turn]}, FEW, jobs=2)
    assert {name: [one.histogram for one in group] for name, group in found.items()} == {
        "some": ["ages 8", "gaps 8"],
        "another": ["turn 8"],
    }
    assert [one.errors for group in found.values() for one in group] == [one.errors for one in done]


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
