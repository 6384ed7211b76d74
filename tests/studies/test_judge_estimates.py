import re

import pytest
from families import Truth
from judge_estimates import (
    HEAD,
    METRIC_NAMES,
    Judged,
    Setting,
    app,
    expected_errors,
    figures_of,
    judge_setting,
    reliability,
)
from typer.testing import CliRunner

from advisor import estimate
from simulator import METRICS, frequency_oracles
from simulator.populations import apportion, frequencies
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
