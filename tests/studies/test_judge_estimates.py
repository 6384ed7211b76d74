import re

import pytest
from judge_estimates import HEAD, Judged, figures_of, judge, reliability


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


@pytest.mark.slow
def test_the_command_prints_both_tables(capsys):
    judge(every=600, repetitions=10, members=2, groups=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 settings, 1 estimates each"
    assert f"| | metric | {' | '.join(HEAD)} |" in lines
    assert any(re.match(r"\| all \| l1 \| 3 \| \d\.\d\d ± ", line) for line in lines)
    place = lines.index("Within 2 % of the best")
    assert re.fullmatch(r"\| [\d,]+ \| \d+\.\d % \| \d+\.\d % \|", lines[place + 4])
