from __future__ import annotations

import json
import re

import jsonschema
import numpy as np
import pytest

from advisor import advise
from advisor.document.page import page_html
from advisor.rank.document import rank_document
from simulator.populations import apportion, frequencies
from tests.advisor.conftest import Run
from tests.advisor.test_cli import QUICK, SCHEMA

FEW = (*QUICK, "-p", "oue", "-p", "she", "--method", "none", "--method", "norm_sub")


def test_a_threat_adds_two_columns_and_a_sentence(run: Run, states: str) -> None:
    code, out, _ = run("--eps", "1", *FEW, "--threat", "0.05", states)
    assert code == 0
    for said in (
        "random gain",
        "max. gain",
        "Gain: an attacker who controls 50 of the n = 1,000 users promotes 1 category",
    ):
        assert said in out
    assert "max. gain" not in run("--eps", "1", *FEW, states)[1]


def test_json_has_the_gains(run: Run, states: str) -> None:
    _, out, _ = run("--eps", "1", *FEW, "--threat", "0.05", states, "--format", "json")
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert data["request"]["threat"] == 0.05
    for row in data["recommendations"]:
        assert (row["gain_maximal"] is None) == (row["protocol"] == "she")


def test_gains_do_not_change_the_ranking_and_post_processing_limits_them() -> None:
    counts = apportion(frequencies("zipf", 40), 20_000)
    asked = {"sample_counts": counts, "protocol": "oue", "max_repetitions": 20}
    plain, feared = advise(1.0, **asked), advise(1.0, **asked, threat=0.1)
    assert [row.pair for row in plain.recommendations] == [row.pair for row in feared.recommendations]
    gained = {row.method: row.gain_maximal for row in feared.recommendations}
    assert gained["norm_sub"] < gained["none"]
    assert all(row.gain_maximal is None for row in plain.recommendations)


def test_an_estimate_has_gains_for_the_next_round_too() -> None:
    estimate = np.array([0.6, 0.25, 0.2, -0.05, 0.02, -0.01])
    advice = advise(
        1.0, estimate=estimate, protocol="oue", n=1000, method=["none", "norm_sub"], repetitions=4, threat=0.1
    )
    assert advice.next_round is not None
    for row in (*advice.recommendations, *advice.next_round.recommendations):
        assert row.protocol == "she" or row.gain_maximal is not None


@pytest.mark.parametrize("threat", [None, 0.1])
def test_the_legend_of_a_page_has_just_the_columns_that_the_page_shows(threat: float | None) -> None:
    advice = advise(1.0, sample_counts=[500, 300, 200], protocol="oue", method="none", threat=threat, max_repetitions=2)
    page = page_html(rank_document((advice,)))
    table = page[page.index('<table class="sortable">') : page.index("</table>")]
    (meaning,) = re.findall(r'<p class="quiet">([^<]*vs no PP: [^<]*)</p>', page)
    headers = re.findall(r'<button type="button">([^<]*)</button>', table)
    explained = re.findall(r"(?:^|; )([^:;]+): ", meaning)
    assert "attack" in explained
    assert set(explained) <= set(headers)
    assert ("max. gain" in headers) == (threat is not None)


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (("--k", "50"), "threat needs a simulation"),
        (("--instant",), "threat needs a simulation"),
        (("--threat", "1.5"), "threat must be a number above 0 and below 1, got '1.5'"),
        (("--threat", "0.9999"), "leaves no honest user among n=1000"),
    ],
)
def test_a_threat_that_cannot_be_simulated_is_refused(run: Run, states: str, extra: tuple[str, ...], said: str) -> None:
    sample = () if "--k" in extra else (states,)
    threat = () if "--threat" in extra else ("--threat", "0.05")
    code, _, err = run("--eps", "1", *threat, *extra, *sample)
    assert code == 2
    assert said in err
