from __future__ import annotations

import dataclasses
import json
import os
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from advisor import InputError, advise
from advisor.answers.rank.simulate import simulated_answer
from advisor.figures import number
from advisor.question.fitting import fitting_methods
from advisor.question.frequencies import Frequencies
from advisor.question.question import Question
from advisor.question.ranking import ranking_request
from advisor.question.settings import Menu, Simulation, Terms
from advisor.show.model import Role, Sentence
from advisor.show.rank.answer import summary
from advisor.show.rank.document import rank_document
from advisor.show.rank.notes import note_sentences
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.detection import smallest_detectable
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.cells import failures

COUNTS = [5000, 3000, 1500, 400, 100, 0]
FEW: dict[str, Any] = {"protocol": "grr", "method": "norm_sub", "repetitions": 2, "max_repetitions": 2}


def test_error_is_that_of_a_collection_simulated_by_hand() -> None:
    advice = advise(1.0, sample_counts=COUNTS, metric="l2", protocol="oue", method="norm_sub", repetitions=6, seed=3)
    oracle, counts = PROTOCOLS["oue"](6, 1.0), np.array(COUNTS)
    errors = []
    for repetition in range(advice.best.repetitions):
        support = oracle.sample_support(counts, rng_for(3, "collect", "oue", repetition))
        estimate = POSTPROCESSORS["norm_sub"](oracle.estimate(support, 10_000), oracle.noise(10_000))
        errors.append(float(np.sqrt(((estimate - counts / 10_000) ** 2).sum())))
    assert advice.best.error == pytest.approx(np.mean(errors), rel=1e-12)
    assert advice.best.spread == pytest.approx(np.std(errors, ddof=1), rel=1e-9)


def test_sample_counts_mapping_and_raw_values_agree() -> None:
    values = np.repeat(np.arange(6), COUNTS)
    rng_for(0, "order").shuffle(values)
    few = {"repetitions": 3, "max_repetitions": 3, "method": ["norm_sub", "wavelet_eb"]}
    options = {"k": 6, "metric": "emd", "protocol": ["grr", "oue"], **few}
    by_counts = advise(1.0, sample_counts=COUNTS, **options)
    assert advise(1.0, sample=values, **options).to_frame().equals(by_counts.to_frame())
    assert advise(1.0, sample=values.tolist(), **options).to_frame().equals(by_counts.to_frame())
    assert advise(1.0, sample=(float(v) for v in values), **options).to_frame().equals(by_counts.to_frame())
    mapping = {value: count for value, count in enumerate(COUNTS) if count}
    assert advise(1.0, sample_counts=mapping, **options).to_frame().equals(by_counts.to_frame())


def test_labels_decide_the_order() -> None:
    words = ["low", "mid", "high", "low"] * 50
    with pytest.raises(InputError, match="ordered domain"):
        advise(1.0, sample=words, metric="emd")
    assert advise(1.0, sample=words, metric="emd", ordered=True, **FEW).request.ordered
    assert not advise(1.0, sample=[1, 2, 3, 1] * 50, ordered=False, **FEW).request.ordered


def test_advice_is_frozen_and_shows_itself() -> None:
    advice = advise(2.0, sample_counts=COUNTS, protocol=["grr", "oue"], max_repetitions=20)
    with pytest.raises(dataclasses.FrozenInstanceError):
        advice.metric = "l2"  # type: ignore[misc]
    frame = advice.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.iloc[0]["method"] == advice.best.method == advice.recommendations[0].method
    assert json.loads(advice.to_json())["recommendations"][0]["method"] == advice.best.method
    shown = advice._repr_html_()
    assert advice.best.method in shown
    assert shown.count("<tr>") > 10


def test_users_are_apportioned_and_the_sample_itself_is_kept_where_it_can_be() -> None:
    assert advise(1.0, sample_counts=COUNTS, **FEW).request.counts.tolist() == COUNTS
    scaled = advise(1.0, sample_counts=COUNTS, n=10**9, **FEW).request
    assert scaled.counts.tolist() == [count * 10**5 for count in COUNTS]
    small = advise(1.0, sample_counts=COUNTS, n=7, **FEW).request
    assert small.counts.sum() == 7


def test_equivalent_users_give_the_raw_estimate_the_same_error() -> None:
    advice = advise(1.0, sample_counts=COUNTS, metric="mse", protocol=["oue", "pgr"], max_repetitions=20)
    best = advice.best
    assert best.equivalent_users is not None
    linear = PROTOCOLS[best.protocol](6, 1.0).linear
    assert linear is not None
    raw = linear.covariance(round(best.equivalent_users)).entry(np.array(COUNTS) / 10_000).mean()
    assert raw == pytest.approx(best.error, rel=1e-3)  # rounding n' to whole users moves it by under 1e-3


def test_the_detectable_frequency_is_that_of_all_categories_and_the_answer_says_so() -> None:
    advice = advise(1.0, sample_counts=COUNTS, protocol="oue", max_repetitions=20)
    oracle = PROTOCOLS["oue"](6, 1.0)
    assert advice.detectable_frequency == smallest_detectable(oracle, 10_000)
    notes = " ".join(sentence.text for sentence in note_sentences(advice))
    assert "(power 80 %, level 5 % over all 6 categories)" in notes
    shown = " ".join(
        part.text for part in rank_document((advice,)).parts if isinstance(part, Sentence) and part.role is Role.LEGEND
    )
    assert f"the smallest frequency is {number(smallest_detectable(oracle, 10_000, 1), 3)}" in shown


def test_a_restricted_menu_races_among_itself() -> None:
    """The usual default and the raw estimates must not end the race of a menu they are not on."""
    counts = [round(1000 * (1.3 + np.sin(place / 9))) for place in range(60)]
    advice = advise(1.0, sample_counts=counts, metric="emd", protocol="grr", max_repetitions=80)
    assert advice.resolved or advice.repetitions == 80
    assert advice.repetitions > 20
    by_kind = {row.kind: row for row in advice.baselines}
    assert by_kind["default"].error < advice.lowest.error  # it would have led


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["topk", "emd"])
def test_the_first_tier_holds_nothing_that_is_proven_worse(metric: str) -> None:
    counts = apportion(frequencies("zipf", 30, 1.0), 10_000)
    for seed in (21, 22):
        advice = advise(1.0, sample_counts=counts, metric=metric, seed=seed, max_repetitions=80)
        for row in advice.recommendations:
            assert row.ratio_to_best is not None
            assert row.ratio_low is not None
            assert (row.tier == 1) == (row.ratio_to_best < 1.05 or row.ratio_low <= 1)


def test_gain_is_measured_on_the_repetitions_of_the_row() -> None:
    menu = {"protocol": ["grr", "oue", "hr"], "method": ["none", "norm_sub", "wavelet_eb"]}
    advice = advise(2.0, sample_counts=COUNTS, metric="emd", **menu, max_repetitions=80)
    lengths = {row.repetitions for row in advice.recommendations}
    assert len(lengths) > 1
    for row in advice.recommendations:
        if row.method == "none":
            assert row.error_without_postprocessing == row.error


def test_clipped_queries_never_score_below_zero() -> None:
    for metric in ("set", "range"):
        advice = advise(
            1e-6, sample_counts=[1, 1], metric=metric, protocol=["grr", "oue", "hr"], repetitions=5, max_repetitions=5
        )
        assert min(row.error_low for row in advice.recommendations) >= 0


def test_a_large_domain_races_for_less_long_and_says_so() -> None:
    counts = [1000, *[1] * 8191]
    request = advise(8.0, sample_counts=counts, protocol="grr", method="norm_sub", repetitions=5).request
    assert request.max_repetitions == 200
    assert any("at most 200 repetitions" in line for line in request.assumptions)
    named = advise(8.0, sample_counts=counts, protocol="grr", method="norm_sub", repetitions=5, max_repetitions=300)
    assert named.request.max_repetitions == 300


def test_a_pandas_series_brings_its_labels() -> None:
    series = pd.Series(["b", "a", "b", "c"] * 100).value_counts()
    advice = advise(1.0, sample_counts=series, **FEW)
    assert set(advice.request.labels) == {"a", "b", "c"}
    assert not advice.request.ordered
    assert advise(1.0, sample=pd.Series([3, 1, 3] * 100), **FEW).request.labels == ("1", "3")


def test_baselines_are_measured_even_outside_the_menu() -> None:
    advice = advise(1.0, sample_counts=COUNTS, protocol="grr", method="power_ns", metric="l1", max_repetitions=20)
    assert len(advice.recommendations) == 1
    kinds = {row.kind: row for row in advice.baselines}
    assert (kinds["raw"].protocol, kinds["raw"].method) == ("grr", "none")
    assert (kinds["default"].protocol, kinds["default"].method) == ("oue", "norm_sub")
    truth = np.array(COUNTS) / 10_000
    assert kinds["uniform"].error == pytest.approx(np.abs(truth - 1 / 6).sum())
    assert kinds["default"].ratio_to_best == pytest.approx(kinds["default"].error / advice.best.error)
    assert kinds["raw"].error == advice.best.error_without_postprocessing


def test_a_mean_in_the_middle_of_the_domain_is_not_called_too_even() -> None:
    advice = advise(1.0, sample_counts=[100, 900, 100], metric="mean", **FEW)
    assert advice.error_without_data == pytest.approx(0, abs=1e-12)
    assert "the mean happens to lie where that answer has it" in summary(advice)
    assert "happens to lie" not in summary(advise(0.01, sample_counts=COUNTS, metric="l1", **FEW))


def test_several_metrics_share_one_simulation() -> None:
    question = Terms(epsilon=1.0, metric=("l1", "kl"))
    asked = Question(terms=question, menu=Menu(protocol=("grr", "oue")), simulation=Simulation(max_repetitions=20))
    sample = Frequencies(np.array(COUNTS), tuple("abcdef"), False, "x", 10_000, (), ())
    l1, kl = simulated_answer(ranking_request(asked, sample)).rankings
    assert (l1.metric, kl.metric) == ("l1", "kl")
    assert l1.experiment_id == kl.experiment_id
    assert METRICS["kl"].unit == "nats"


def test_threads_simulate_where_they_pay_or_were_asked_for() -> None:
    cells = [
        (None, 200, 9_999, 1),  # threads would wait for one another, however much there is to do
        (None, 200, 10_000, os.cpu_count()),
        (None, 1, 10_000, 1),  # too little to do
        (3, 1, 100, 3),
    ]

    def check(cell: tuple[int | None, int, int, int]) -> None:
        jobs, pairs, k, threads = cell
        assert Simulation(jobs=jobs).threads(pairs, 20, k) == threads

    assert failures(cells, check) == {}


def test_bad_requests_are_value_errors_of_one_line() -> None:
    cells = [
        ({}, "k is missing: give a sample"),
        ({"sample": [1, 2], "sample_counts": [1, 2]}, "either sample"),
        ({"sample": "abc"}, "got a string"),
        ({"sample": [[1, 2], [3, 4]]}, "flat"),
        ({"sample": []}, "at least one value"),
        ({"sample": [1.0, float("nan")]}, "got nan"),
        ({"sample": [1, 1, 1]}, "at least 2"),
        ({"sample": ["a", "b", float("nan")]}, "leave missing ones out"),
        ({"sample": ["a", "b", None]}, "leave missing ones out"),
        ({"sample": [1, 2, None]}, "leave missing ones out"),
        ({"sample": ["a", " "]}, "empty string"),
        ({"sample_counts": [[1, 2], [3, 4]]}, "flat"),
        ({"sample_counts": [1, 2], "jobs": 0}, "jobs must be"),
        ({"sample_counts": [1, 2], "set_share": "x"}, "set-share must be"),
        ({"sample_counts": [1, 2], "metric": None}, "name of one metric"),
        ({"sample_counts": [1, -1]}, "at least 0"),
        ({"sample_counts": [1, 2.5]}, "whole number"),
        ({"sample_counts": [0, 0]}, "at least 1 user"),
        ({"sample_counts": [1, 2], "metric": "all"}, "one metric"),
        ({"sample_counts": [1, 2], "metric": "l3"}, "unknown metric"),
        ({"sample_counts": [1, 2], "n": 0}, "at least 1"),
        ({"sample_counts": [1, 2], "n": True}, "whole number"),
        ({"sample_counts": [1, 2], "k": 1}, "at least 2"),
        ({"sample_counts": [1, 2], "epsilon": "one"}, "eps must be a number"),
        ({"sample_counts": [1, 2], "epsilon": float("nan")}, "eps must be a number, got nan"),
        ({"sample_counts": [1, 2], "max_repetitions": 1}, "at least 2"),
    ]

    def check(cell: tuple[dict[str, object], str]) -> None:
        options, message = cell
        with pytest.raises(ValueError, match=message) as caught:
            advise(**{"epsilon": 1.0, **options})  # type: ignore[arg-type]
        assert isinstance(caught.value, InputError)
        assert "\n" not in str(caught.value)

    assert failures(cells, check) == {}


def test_an_answer_survives_being_sent_to_another_process() -> None:
    for advice in (advise(1.0, sample_counts=[60, 30, 10], **FEW), advise(1.0, k=16)):
        again = pickle.loads(pickle.dumps(advice))  # noqa: S301 - our own, made in this line
        assert again.experiment_id == advice.experiment_id != ""
        assert again.recommendations == advice.recommendations
        assert again.other_users == advice.other_users


def test_slow_methods_are_left_out_of_simulations_of_large_domains_unless_they_are_named() -> None:
    loops = {"em", "ems"}
    for k, expected in ((256, loops), (257, set()), (None, loops)):
        assert loops & {*fitting_methods(Menu(), ("emd",), True, k=k)} == expected
    assert fitting_methods(Menu(method=("em",)), ("emd",), True, k=257) == ("em",)
