import re

import families
import numpy as np
import pytest
from families import FAMILIES, HALVES, Truth, half_of, truths
from judge_estimates import (
    HEAD,
    METRIC_NAMES,
    Judged,
    Setting,
    Which,
    app,
    expected_errors,
    figures_of,
    judge_setting,
    reliability,
    settings_of,
)
from typer.testing import CliRunner

from advisor import estimate
from advisor.errors import InputError
from simulator import METRICS, frequency_oracles
from simulator.populations import SHAPES, apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.estimates import ALONE


def judged(**figures):
    usual = {
        "named": "norm_sub",
        "group": "",
        "metric": "l1",
        "stated": 1.0,
        "actual": 1.0,
        "held": True,
        "given": 2.0,
        "usual": 1.0,
        "best": 1.0,
        "expected": 1.0,
        "extra": 0.0,
        "said": (),
        "true": (),
        "covered": (),
    }
    return Judged(**{**usual, **figures})


def test_reliability_counts_the_rows_of_each_tenth_that_are_as_good_as_the_best():
    made = [
        judged(said=(0.95, 0.05, 0.0), true=(True, False, False)),
        judged(said=(0.91, 0.0, 0.2), true=(False, False, True)),
        judged(said=(1.0, 0.5), true=(True, True)),  # certainty is in the last tenth, and tenths begin at their end
    ]
    found = reliability(made)
    assert found.rows.to_dict() == {0: 3, 2: 1, 5: 1, 9: 3}
    assert found.loc[9, ["said", "true"]].tolist() == pytest.approx([(0.95 + 0.91 + 1.0) / 3, 2 / 3])
    assert found.loc[0, ["said", "true"]].tolist() == pytest.approx([0.05 / 3, 0.0])


def test_figures_of_a_row_are_ratios_of_means():
    made = [judged(stated=1.0, actual=2.0, held=True, covered=(True, False)), judged(stated=2.0, held=False, extra=0.5)]
    cells = dict(zip(HEAD, figures_of(made), strict=True))
    assert cells["stated / actual"].startswith("1.00 ± ")
    assert (cells["range holds"], cells["ratios hold"], cells["named / given"]) == ("0.500", "0.500", "0.75")
    assert (cells["extra % (95th)"], cells["extra here %"]) == ("25.0 (48)", "50.0 ± 35.4")
    assert figures_of([judged(expected=0.0)])[-2:] == ["–", "–"]


def test_what_is_judged_is_the_answer_that_people_get():
    truth, n = Truth("zipf", False, frequencies("zipf", 30)), 20_000
    setting = Setting(truth, "oue", 1.0, n)
    counts, oracle = apportion(truth.frequencies, n), frequency_oracles()["oue"](30, 1.0)
    rng = rng_for(2, "judge", "zipf", "1.0", n, "oue", 0)
    values = oracle.estimate(oracle.sample_support(counts, rng), n)
    made = {one.metric: one for one in judge_setting(setting, 0, 20, by_k=True)}
    assert set(made) == {*METRIC_NAMES} - {"emd"}
    known = expected_errors(setting, 20)
    asked = {"n": n, "eps": 1.0, "ordered": False, **ALONE}
    for metric in ("l1", "topk"):
        answer, one = estimate(values, "oue", metric=metric, **asked), made[metric]
        best = answer.best
        assert (one.named, one.stated, one.group) == (best.method, pytest.approx(best.error), "k = 30")
        actual = float(METRICS[metric](answer.apply(values), counts / n))
        assert one.actual == pytest.approx(actual)
        assert one.held == (best.error_low <= actual <= best.error_high)
        assert one.said[0] == best.probability_best
        assert one.expected == min(known[metric].values())
        assert any(one.true)


def test_sets_have_the_truths_that_they_are_of():
    few = settings_of(Which.FEW, [], None, 1, alone=False)
    assert len(few) == 6 * 4 * 48
    assert {len(setting.truth.frequencies) for setting in few} == {2, 3, 4, 6, 8, 12}
    assert all(abs(setting.truth.frequencies.sum() - 1) < 1e-9 for setting in few)
    tails, clipped = (settings_of(which, [], None, 1, alone=False) for which in (Which.TAILS, Which.CLIPPED))
    assert len(clipped) == 3 * len(tails) == 3 * (5 * 3 + 5 * 4)
    assert {setting.clip for setting in clipped} == {"base_pos", "norm_mul", "norm_sub"}


@pytest.mark.slow
def test_the_command_prints_both_tables():
    result = CliRunner().invoke(app, ["--every", "600", "--reps", "10", "--members", "2", "--groups"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "3 settings, 1 estimates each"
    assert f"| | metric | {' | '.join(HEAD)} |" in lines
    assert any(re.match(r"\| all \| l1 \| 3 \| \d\.\d\d ± ", line) for line in lines)
    place = lines.index("Within 2 % of the best")
    assert re.fullmatch(r"\| [\d,]+ \| \d+\.\d % \| \d+\.\d % \|", lines[place + 4])


def test_histograms_are_judged_at_several_sizes(tmp_path):
    ages, fruit = tmp_path / "ages.csv", tmp_path / "fruit.csv"
    ages.write_text("age,count\n" + "".join(f"{age},{age}\n" for age in range(1, 34)), encoding="utf-8")
    fruit.write_text("fruit,count\n" + "".join(f"f{place},{place + 1}\n" for place in range(40)), encoding="utf-8")
    found = list(truths([str(ages), str(fruit)]))
    own, named = found[:6], found[6:]
    assert [truth.ordered for truth in own] == [True, False, True, False, False, False]
    assert [len(truth.frequencies) for truth in own] == [33, 33, 17, 17, 40, 20]
    np.testing.assert_allclose(own[2].frequencies[:2] * own[0].frequencies.size * 17, [3, 7])  # sum of 1 to 33: 33 x 17
    assert own[3].frequencies.tolist() == own[2].frequencies.tolist()
    np.testing.assert_allclose(own[5].frequencies, np.arange(40, 20, -1) / np.arange(21, 41).sum())
    assert len(named) == 2 * (len(SHAPES) + len(FAMILIES))
    for truth in found:
        assert truth.frequencies.sum() == pytest.approx(1)


def test_each_half_has_histograms_of_both_kinds_and_all_sizes_of_a_family():
    found = list(truths([]))
    for half in HALVES:
        own = [truth for truth in found if half_of(truth.family) == half]
        assert {truth.ordered for truth in own} == {True, False}
        assert len(own) == 2 * len({truth.family for truth in own})
    for name in FAMILIES:
        frequencies_of = families.family(name, 64)
        assert (frequencies_of > 0).all()
        assert frequencies_of.sum() == pytest.approx(1)
        np.testing.assert_array_equal(frequencies_of, families.family(name, 64))
    result = CliRunner().invoke(app, ["--half", "nothing"])
    assert isinstance(result.exception, InputError)
    assert "--half must be one of tuning, judging, got 'nothing'" in str(result.exception)


def test_further_members_of_a_family_are_drawn_on_their_own():
    one, three = list(truths([])), list(truths([], members=3))
    assert len(three) == 2 * len(SHAPES) + 3 * 2 * len(FAMILIES)  # named shapes are what they are
    assert len({truth.name for truth in three}) == len(three)  # an estimate's stream begins at the name
    assert len({truth.frequencies.tobytes() for truth in three if truth.family in FAMILIES}) == 3 * 2 * len(FAMILIES)
    found = {truth.name: truth for truth in three}
    for truth in one:
        np.testing.assert_array_equal(found[truth.name].frequencies, truth.frequencies)
    orders = [truth.frequencies for name, truth in found.items() if name.startswith("no use of order k=64")]
    assert len(orders) == 3
    for order in orders:
        np.testing.assert_allclose(np.sort(order), np.sort(orders[0]))


@pytest.mark.slow
def test_few_categories_are_told_as_they_are(monkeypatch):
    """Of 116 answers: what is stated over what is true, within four standard errors of 0.85 to 1.15; ranges in 95 %."""
    monkeypatch.setattr("judge_estimates.METRIC_NAMES", ("l1",))  # others are as dear, and change nothing of it
    settings = settings_of(Which.FEW, [], None, 1, alone=False)[::10]
    made = [one for setting in settings for one in judge_setting(setting, 1, 0, by_k=True)]
    stated, actual = (np.array([getattr(one, name) for one in made]) for name in ("stated", "actual"))
    ratio = stated.mean() / actual.mean()
    error = (stated - ratio * actual).std() / len(made) ** 0.5 / actual.mean()
    assert 0.85 - 4 * error < ratio < 1.15 + 4 * error
    assert np.mean([one.held for one in made]) > 0.92 - 4 * (0.08 * 0.92 / len(made)) ** 0.5
    assert actual.mean() < 0.9 * np.mean([one.given for one in made])
    assert actual.mean() < np.mean([one.usual for one in made])
