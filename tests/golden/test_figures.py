"""The comparison of the golden corpus notices what it is for, and lets pass what processors differ in."""

from __future__ import annotations

import json

import pytest

from tests.golden.__main__ import FIGURES, command_lines, covers
from tests.golden.calls import CALLS
from tests.golden.figures import differences, figures_of_data, refusal_of

KEPT = json.loads(FIGURES.read_text(encoding="utf-8"))
LOOK_UP, SIMULATED = "ldp-advise --eps 1 --k 300 --n 2M", "ldp-advise --eps 1 -m emd bands.csv --reps 4 --max-reps 4"


def test_every_case_is_kept_and_there_are_many() -> None:
    assert set(KEPT) == {*command_lines(), *CALLS}
    assert len(command_lines()) >= 150
    assert len(CALLS) >= 30
    assert sum(one["exit"] == 2 for one in KEPT.values()) >= 50


@pytest.mark.parametrize(
    ("case", "place"),
    [
        (LOOK_UP, "recommendations[pgr,power_ns].error"),
        (SIMULATED, "baselines[oue,norm_sub,default].error"),
        ('plan(detect=0.01, n=10**5, k=64, protocol="oue")', "results[oue].value"),
    ],
)
def test_one_figure_that_changes_by_a_hundredth_is_noticed(case: str, place: str) -> None:
    before = KEPT[case]
    for factor, noticed in ((1.01, {place}), (0.99, {place}), (1.001, set())):
        assert set(differences(before, {**before, place: before[place] * factor})) == noticed


def test_another_exit_code_rank_name_refusal_or_row_is_noticed() -> None:
    for place, other in (
        ("exit", 3),
        ("recommendations[pgr,power_ns].rank", 2),
        ("recommendations[pgr,power_ns].method", "x"),
    ):
        assert KEPT[LOOK_UP][place] != other
        assert list(differences(KEPT[LOOK_UP], {**KEPT[LOOK_UP], place: other})) == [place]
    assert differences(KEPT[LOOK_UP], {**KEPT[LOOK_UP], "new": 1}) == {"new": "nothing -> 1"}
    refused = KEPT["ldp-advise --eps 1 --k 16 --max-attack 2"]
    assert (refused["exit"], refused["kind"], refused["field"]) == (2, "range", "max-attack")
    assert set(differences(refused, refused | refusal_of("--eps is missing: give --eps 1"))) == {"kind", "field"}


def test_places_are_named_by_their_rows_and_sentences_are_left_out() -> None:
    data = {"rows": [{"protocol": "grr", "bits": 3, "why": "It is short."}], "eps": 1 / 3, "tool_version": "9"}
    found = dict(figures_of_data(data))
    assert found == {"rows.length": 1, "rows[grr].protocol": "grr", "rows[grr].bits": 3.0, "eps": 0.333333}


def test_a_listed_change_covers_the_places_that_it_names() -> None:
    change = {"command": "ldp-advise --eps 1 *", "figure": "recommendations[*].error", "reason": "another law"}
    assert covers(change, LOOK_UP, "recommendations[pgr,power_ns].error")
    assert not covers(change, LOOK_UP, "recommendations[pgr,power_ns].rank")
    assert not covers(change, "ldp-advise plan", "recommendations[pgr,power_ns].error")
