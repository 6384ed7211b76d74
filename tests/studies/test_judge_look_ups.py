import itertools
from dataclasses import replace

import judge_look_ups
import numpy as np
import pytest
from judging import Judging, holdout, settings

from knowledge.making.populations import ORDERED_FAMILIES
from tests.cells import over

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
