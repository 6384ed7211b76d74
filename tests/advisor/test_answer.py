import dataclasses
import json
import os
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from advisor import InputError, Limits, Simulation, advise, estimate
from advisor.question.fitting import fitting_methods
from advisor.question.settings import Menu
from simulator import POSTPROCESSORS, PROTOCOLS, frequency_oracles
from simulator.detection import smallest_detectable
from simulator.domain import Attackers, Domain
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.cli_answers import QUICK, SCHEMA
from tests.advisor.estimates import ALONE, grouped, quick
from tests.cells import over

COUNTS = [5000, 3000, 1500, 400, 100, 0]
FEW = {"protocol": "grr", "method": "norm_sub", "simulation": Simulation(repetitions=2, max_repetitions=2)}


def test_several_metrics_are_answered_by_the_same_collections_and_compared_with_a_baseline():
    options = {"sample_counts": COUNTS, "protocol": "oue", "method": ["norm_sub", "none"]}
    options["simulation"] = Simulation(repetitions=20, max_repetitions=20)
    advice = advise(1.0, metric=["l1", "mse"], **options)
    runs, frame = advice.runs(), advice.to_frame()
    assert frame.groupby("metric").size().to_dict() == {"l1": 2, "mse": 2}
    for metric in ("l1", "mse"):
        assert advice.about(metric).best == advise(1.0, metric=metric, **options).best
    means = runs.groupby(["metric", "method"])["error"].mean()
    errors = frame.set_index(["metric", "method"])["error"]
    assert means.to_dict() == pytest.approx(errors.to_dict())
    for row in advice.compare("norm_sub").itertuples():
        ours, theirs = (
            runs[(runs["metric"] == row.metric) & (runs["method"] == method)]["error"]
            for method in ("none", "norm_sub")
        )
        assert row.p == pytest.approx(ttest_rel(ours, theirs).pvalue)
    collected = estimate([0.5, 0.4, 0.1], "grr", eps=1, n=1000, method="norm_sub", **ALONE)
    with pytest.raises(InputError, match="simulated from a sample, not for an estimate"):
        collected.compare("norm_sub")
    with pytest.raises(InputError, match="this answer was predicted"):
        advise(1.0, k=4).runs()
    with pytest.raises(InputError, match="not about 'kl'"):
        advice.about("kl")


def test_sample_counts_mapping_and_raw_values_agree():
    values = np.repeat(np.arange(6), COUNTS)
    rng_for(0, "order").shuffle(values)
    few = {"method": ["norm_sub", "wavelet_eb"], "simulation": Simulation(repetitions=3, max_repetitions=3)}
    options = {"k": 6, "metric": "emd", "protocol": ["grr", "oue"], **few}
    by_counts = advise(1.0, sample_counts=COUNTS, **options)
    assert advise(1.0, sample=values, **options).to_frame().equals(by_counts.to_frame())
    assert advise(1.0, sample=values.tolist(), **options).to_frame().equals(by_counts.to_frame())
    assert advise(1.0, sample=(float(v) for v in values), **options).to_frame().equals(by_counts.to_frame())
    mapping = {value: count for value, count in enumerate(COUNTS) if count}
    assert advise(1.0, sample_counts=mapping, **options).to_frame().equals(by_counts.to_frame())


def test_labels_come_along_and_decide_the_order():
    words = ["low", "mid", "high", "low"] * 50
    with pytest.raises(InputError, match="ordered domain"):
        advise(1.0, sample=words, metric="emd")
    assert advise(1.0, sample=words, metric="emd", ordered=True, **FEW).request.ordered
    assert not advise(1.0, sample=[1, 2, 3, 1] * 50, ordered=np.False_, **FEW).request.ordered
    with pytest.raises(InputError, match="ordered must be True or False, got 'no'"):
        advise(1.0, sample=words, ordered="no", **FEW)
    counted = advise(1.0, sample_counts=pd.Series(["b", "a", "b", "c"] * 100).value_counts(), **FEW).request
    assert (set(counted.labels), counted.ordered) == ({"a", "b", "c"}, False)
    assert advise(1.0, sample=pd.Series([3, 1, 3] * 100), **FEW).request.labels == ("1", "3")


def test_users_are_apportioned_and_the_sample_itself_is_kept_where_it_can_be():
    assert advise(1.0, sample_counts=COUNTS, **FEW).request.counts.tolist() == COUNTS
    scaled = advise(1.0, sample_counts=COUNTS, n=10**9, **FEW).request
    assert scaled.counts.tolist() == [count * 10**5 for count in COUNTS]
    small = advise(1.0, sample_counts=COUNTS, n=7, **FEW).request
    assert small.counts.sum() == 7


def test_equivalent_users_give_the_raw_estimate_the_same_error():
    advice = advise(
        1.0, sample_counts=COUNTS, metric="mse", protocol=["oue", "pgr"], simulation=Simulation(max_repetitions=20)
    )
    best = advice.best
    assert best.equivalent_users is not None
    assert best.error_without_postprocessing is not None
    # The mean square of a raw estimate falls as 1/n.
    assert best.error_without_postprocessing * 10_000 / best.equivalent_users == pytest.approx(best.error, rel=1e-12)
    rows = {row.method: row for row in advice.recommendations if row.protocol == "oue"}
    assert rows["none"].equivalent_users == 10_000
    assert all(row.equivalent_users == 10_000 for row in rows.values() if row.error == rows["none"].error)
    assert advice.detectable_frequency == smallest_detectable(PROTOCOLS[best.protocol](6, 1.0), 10_000)


@pytest.mark.parametrize("counts", [None, [300, 200, 100, 0, 0, 0]])
def test_post_pos_is_base_pos_where_no_query_is_asked(counts):
    """Wang et al., Section IV-A: on single items the two are equivalent."""
    data = (
        {"k": 6}
        if counts is None
        else {"sample_counts": counts, "simulation": Simulation(repetitions=5, max_repetitions=5)}
    )
    named, stands_for = (advise(1.0, protocol="oue", method=name, **data) for name in ("post_pos", "base_pos"))
    assert named.best == stands_for.best
    assert len(advise(1.0, protocol="oue", method=["base_pos", "post_pos"], **data).recommendations) == 1


def test_a_large_domain_races_for_less_long_and_says_so():
    asked = {"sample_counts": [1000, *[1] * 8191], "protocol": "grr", "method": "norm_sub"}
    request = advise(8.0, **asked).request
    assert (request.repetitions, request.max_repetitions) == (10, 200)
    named = Simulation(repetitions=5, max_repetitions=300)
    assert advise(8.0, **asked, simulation=named).request.max_repetitions == 300


def test_baselines_are_measured_even_outside_the_menu():
    named = {"protocol": "grr", "method": "power_ns", "simulation": Simulation(max_repetitions=20)}
    advice = advise(1.0, sample_counts=COUNTS, metric="l1", **named)
    assert len(advice.recommendations) == 1
    kinds = {row.kind: row for row in advice.baselines}
    assert (kinds["raw"].protocol, kinds["raw"].method) == ("grr", "none")
    assert (kinds["default"].protocol, kinds["default"].method) == ("oue", "norm_sub")
    truth = np.array(COUNTS) / 10_000
    assert kinds["uniform"].error == pytest.approx(np.abs(truth - 1 / 6).sum())
    assert kinds["default"].ratio_to_best == pytest.approx(kinds["default"].error / advice.best.error)
    assert kinds["raw"].error == advice.best.error_without_postprocessing


def test_threads_simulate_where_they_pay_or_were_asked_for():
    cells = [(None, 200, 9_999, 1), (None, 200, 10_000, os.cpu_count()), (None, 1, 10_000, 1), (3, 1, 100, 3)]
    assert [(*asked, Simulation(jobs=asked[0]).threads(asked[1], 20, asked[2])) for *asked, _ in cells] == cells


@over(
    [
        ({"sample": [1, 2], "sample_counts": [1, 2]}, "either sample"),
        ({"sample": "abc"}, "got 'abc': read the file first"),
        ({"sample": [[1, 2], [3, 4]]}, "flat"),
        ({"sample": []}, "at least one value"),
        ({"sample": [1.0, float("nan")]}, "got nan"),
        ({"sample": [1, 1, 1]}, "at least 2"),
        ({"sample": [1, 2, None]}, "leave missing ones out"),
        ({"sample_counts": [[1, 2], [3, 4]]}, "flat"),
        ({"sample_counts": [1, -1]}, "at least 0"),
        ({"sample_counts": [1, 2.5]}, "whole number"),
        ({"sample_counts": [1, 2], "n": True}, "whole number"),
        ({"sample": ["a", "b"], "bins": 4}, r"sample: holds 'a', which is not a number"),
    ]
)
def test_bad_requests_are_value_errors_of_one_line(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        advise(**grouped(**{"eps": 1.0, **options}))
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


def test_an_answer_is_frozen_and_survives_being_sent_to_another_process():
    for advice in (advise(1.0, sample_counts=[60, 30, 10], **FEW), advise(1.0, k=16)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            advice.metric = "l2"
        again = pickle.loads(pickle.dumps(advice))  # noqa: S301 - our own, made in this line
        assert again.experiment_id == advice.experiment_id != ""
        assert again.recommendations == advice.recommendations
        assert again.other_users == advice.other_users


ZIPF = apportion(frequencies("zipf", 30), 20_000)


@pytest.mark.parametrize("instant", [False, True])
def test_what_is_left_keeps_every_constraint(instant):
    limits = Limits(max_bits=29, max_attack=0.26, server_cost=400_000, proper=True)
    quick = {} if instant else {"simulation": Simulation(repetitions=4, max_repetitions=4)}
    advice = advise(1.0, sample_counts=ZIPF, instant=instant, limits=limits, **quick)
    assert advice.recommendations
    for row in advice.recommendations:
        oracle, method = PROTOCOLS[row.protocol](30, 1.0), POSTPROCESSORS[row.method]
        assert row.report_bits <= 29
        assert row.attack_success <= 0.26
        assert oracle.server_operations(20_000) <= 400_000
        assert method.nonnegative
        assert method.sums_to_one
    removed = {removal.constraint: removal for removal in advice.request.removals}
    assert set(removed) == {"max-bits", "max-attack", "server-cost", "proper"}
    assert "oue" in removed["max-bits"].protocols
    assert "olh" in removed["server-cost"].protocols
    assert "none" in removed["proper"].methods
    menu = {row.protocol for row in advice.recommendations} | {name for r in removed.values() for name in r.protocols}
    assert menu == set(PROTOCOLS)


def test_unbiased_methods_are_and_others_are_not():
    """Mean of many estimates against the truth, with a z-bound that fails once in a million methods.

    The least of the biases is 10 standard errors here, and one of a quarter of the sd of an estimate would be seen.
    """
    oracle, n, repetitions = PROTOCOLS["oue"](8, 0.5), 400, 500
    counts = np.array([300, 60, 20, 10, 5, 5, 0, 0])
    rng = rng_for(0, "unbiased")
    raw = oracle.estimate(oracle.sample_support(np.broadcast_to(counts, (repetitions, 8)), rng), n)
    for name, method in POSTPROCESSORS.items():
        if method.queries_only or not method.accepts(oracle.noise(n), 8):
            continue
        result = method(raw, oracle.noise(n), Domain(attackers=Attackers(0.1, (0,))))
        z = (result.mean(axis=0) - counts / n) / (result.std(axis=0) / repetitions**0.5)
        assert (np.abs(z).max() < 5.5) == method.unbiased, name


def test_nothing_left_is_said_and_is_no_error(run, states):
    for extra in ((states,), ("--k", "40"), (states, "--instant")):
        bits = ("--eps", "1", "--max-bits", "1", *extra, "--format")
        code, out, _ = run(*bits, "json")
        data = json.loads(out)
        SCHEMA.validate(data)
        assert (code, data["recommendations"]) == (0, [])
        assert data["constraints"][0]["constraint"] == "max-bits"
        assert set(data["constraints"][0]["protocols"]) == set(frequency_oracles())
        assert run(*bits, "value")[:2] == (0, "")
        code, out, _ = run(*bits, "csv")
        assert (code, len(out.splitlines())) == (0, 1)
    advice = advise(1.0, k=40, limits=Limits(max_bits=1))
    assert advice.to_frame()["protocol"].tolist() == []
    with pytest.raises(LookupError, match=r"limits=Limits\(max_bits=1\)"):
        _ = advice.best


def test_for_an_estimate_constraints_on_methods_hold_now_and_those_on_protocols_in_the_next_round():
    def answered(**limits):
        return quick([0.6, 0.25, 0.2, -0.05, 0.02, -0.01], n=1000, method=None, ordered=False, repetitions=4, **limits)

    advice = answered(proper=True, max_bits=4)
    assert {row.protocol for row in advice.recommendations} == {"oue"}
    for row in (*advice.recommendations, *advice.next_round.recommendations):
        assert POSTPROCESSORS[row.method].sums_to_one
    assert all(row.report_bits <= 4 for row in advice.next_round.recommendations)
    alone = answered(max_bits=1)
    assert alone.recommendations
    assert alone.next_round is None
    assert "For the next round nothing is left: limits=Limits(max_bits=1) excludes" in " ".join(str(alone).split())
    assert answered(proper=True, unbiased=True).recommendations == ()


def test_what_leaves_nothing_says_which_bound_keeps_a_protocol(run, states):
    for words in ("--max-bits 1", "--max-attack 0.01", "--server-cost 1"):
        out = run("--eps", "1", *words.split(), "-p", "oue,grr", *QUICK, states)[1]
        assert out.startswith("Nothing is left")
        (enough,) = re.findall(r"keeps a protocol\. \((--[a-z-]+ [\d.]+)\)", out)
        assert not run("--eps", "1", *enough.split(), "-p", "oue,grr", *QUICK, states)[1].startswith("Nothing is left")


def test_slow_methods_are_left_out_of_simulations_of_large_domains_unless_they_are_named():
    loops = {"em", "ems"}
    for k, expected in ((128, loops), (129, set()), (None, loops)):
        assert loops & {*fitting_methods(Menu(), ("emd",), True, k=k)} == expected
    assert fitting_methods(Menu(method=("em",)), ("emd",), True, k=129) == ("em",)
