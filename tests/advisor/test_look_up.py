import math
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from advisor import Simulation, advise, plan
from advisor.answers.rank.why import why_of
from knowledge.describe.profile import profile_of
from knowledge.menu import CURVE_PROTOCOLS
from knowledge.model import load
from knowledge.ranking import look_up
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.populations import SHAPES, apportion, frequencies
from simulator.ranking import PRACTICAL_RATIO
from tests.cells import over


@over(load().provenance.predicted)
def test_every_metric_of_the_data_is_predicted(metric):
    advice = advise(1.0, k=32, metric=metric)
    errors = [row.error for row in advice.recommendations]
    assert all(math.isfinite(error) and error > 0 for error in errors)
    assert all(row.error_low <= row.error <= row.error_high for row in advice.recommendations)
    assert all(row.standard_error is None and row.repetitions is None for row in advice.recommendations)
    assert {row.origin for row in advice.recommendations} == {"interpolated"}


def test_along_budgets_the_protocol_changes_once_at_most():
    protocols = [advise(epsilon, k=300, n=2_000_000).best.protocol for epsilon in np.geomspace(0.5, 2, 9)]
    assert len(list(groupby(protocols))) <= 2


@over(["emd", "range", "mean", "quantiles", "ks"])
def test_along_an_order_a_protocol_for_it_comes_first(metric):
    advice = advise(1.0, k=256, metric=metric, ordered=True)
    assert advice.best.protocol in CURVE_PROTOCOLS
    assert {row.protocol for row in advice.recommendations} == set(PROTOCOLS)
    one = advise(1.0, k=256, metric=metric, ordered=True, protocol="sw")
    assert {row.method for row in one.recommendations} == {"em", "ems", "em_stopped"}
    assert one.detectable_frequency is None
    assert all(row.error_without_postprocessing is None for row in one.recommendations)
    assert "raw" not in {row.kind for row in one.baselines}


def test_figures_where_less_than_one_report_is_wrong_in_a_category_are_extrapolated():
    few, many = (advise(12.0, k=10, n=n, protocol=["grr", "oue"]).recommendations for n in (10_000, 10**7))
    assert {row.origin for row in few} == {"extrapolated"}
    assert {row.origin for row in many} == {"interpolated"}


def test_nothing_is_sure_for_users_far_below_those_of_the_data():
    assert [advise(3.0, k=4, n=n).verdict for n in (10, 1000)] == ["marginal", "worth_it"]


@over([(2, 1000), (18, 2000), (100, 10**4), (1000, 10**6)])
def test_reports_that_say_nothing_are_no_better_the_less_they_say(k, n):
    """Of n reports at a budget e no two truths can be told apart where n e^2 is far below 1."""
    for epsilon in (0.3 / math.sqrt(n), 1e-4, 1e-6):
        for metric in ("l1", "emd"):
            answer = advise(epsilon, k=k, n=n, metric=metric, ordered=metric == "emd")
            assert answer.verdict == "no_better_than_no_data", (epsilon, metric)


def test_a_mean_that_a_symmetric_shape_has_by_chance_says_nothing_of_the_others():
    """Without data the bell's mean is right but for rounding, and the others are off by bins."""
    ranking = advise(2.0, k=100, n=10**6, metric="mean")
    assert ranking.verdict != "no_better_than_no_data"
    zipf = abs(float((frequencies("zipf", 100, 1.0) - 1 / 100) @ np.arange(100)))
    assert 1 < ranking.error_without_data < zipf
    symmetric = advise(2.0, shape="gaussian:0.1", k=100, n=10**6, ordered=True, metric="mean")
    assert symmetric.error_without_data < 1e-9


def test_frequencies_are_said_to_fall_as_1_by_rank_where_the_error_without_data_is_theirs():
    zipf = np.abs(frequencies("zipf", 20, 1.0) - 1 / 20).sum()
    averaged = advise(1.0, k=20)
    planned = plan(target=0.2, eps=1, k=20, instant=True)
    for answer, assumptions in (
        (averaged, averaged.request.assumptions),
        (planned, planned.question.frequencies.assumptions),
    ):
        said = any("frequencies fall as 1/rank" in text for text in assumptions)
        assert said == math.isclose(answer.error_without_data, zipf, rel_tol=1e-3)


@pytest.mark.parametrize(
    ("ordered", "shapes"),
    [(False, {"Zipf", "Dirichlet"}), (True, {"Zipf in order", "bell", "Zipf in no order", "Dirichlet in no order"})],
)
def test_the_error_for_each_shape_behind_a_skew_is_said_at_length(ordered, shapes):
    ranking = advise(1.0, k=300, n=2_000_000, ordered=ordered)
    each = dict(ranking.by_shape)
    assert each.keys() == shapes
    assert math.exp(np.log([*each.values()]).mean()) == pytest.approx(ranking.best.error)


def test_a_sample_is_looked_up_by_its_own_shape():
    counts = apportion(frequencies("gaussian", 64), 200_000)
    asked = {"sample_counts": counts, "ordered": True, "metric": "emd"}
    instant = advise(1.0, **asked, instant=True)
    same = look_up(profile_of(counts, 200_000), 1.0, 200_000, "emd")
    assert instant.source == "grid"
    assert instant.request.sample_users == 200_000
    assert instant.lowest.error == pytest.approx(same.best.error, rel=1e-6)
    protocol, method = instant.best.pair
    menu = {"protocol": [protocol, "pgr", "olh"], "method": [method, "norm_sub", "eb_ns", "wavelet_eb"]}
    simulated = advise(1.0, **asked, **menu, simulation=Simulation(repetitions=20, max_repetitions=20))
    # The first choice of the look-up is one of the good ones where it is tried out.
    tried = next(row for row in simulated.recommendations if row.pair == instant.best.pair)
    assert tried.ratio_to_best < 1.1


@pytest.mark.parametrize("options", [{"shape": "zipf"}, {"shape": 1}, {"shape": 0.5}])
def test_other_users_are_those_of_a_look_up_for_them(options):
    advice = advise(1.0, k=256, metric="l1", **options)
    assert {other.n for other in advice.other_users} == {10_000, 100_000, 1_000_000, 10_000_000}
    for n, *pair, verdict in advice.other_users:
        other = advise(1.0, k=256, n=n, metric="l1", **options)
        own = next(row for row in other.recommendations if row.pair == advice.best.pair)
        near = own.error / other.lowest.error
        assert tuple(pair) == (advice.best.pair if near <= PRACTICAL_RATIO else other.best.pair), (n, near)
        if tuple(pair) == other.best.pair:
            assert verdict == other.verdict


def test_why_names_the_path_and_real_changes():
    advice = advise(1.0, k=32, metric="l1")
    why = why_of(advice)
    assert why.steps
    assert why.method in POSTPROCESSORS
    own = {row.method: row.error for row in advice.recommendations if row.protocol == advice.best.protocol}
    assert why.ratio == pytest.approx(own[why.method] / advice.best.error)
    assert why.agrees == (abs(why.ratio - 1) < 1e-3)
    assert why.changes
    for change in why.changes[:2]:
        value = {"ε": "eps", "n": "n", "skew": "shape"}[change.what]
        asked = {"eps": 1.0, "n": 100_000, "shape": 1.0} | {value: change.value}
        there = advise(asked["eps"], k=32, n=round(asked["n"]), shape=asked["shape"], metric="l1")
        own = next(row for row in there.recommendations if row.pair == advice.best.pair)
        assert own.error > there.lowest.error * PRACTICAL_RATIO
        assert there.best.pair == (change.protocol, change.method)


def test_a_simulated_pair_that_is_not_predicted_has_no_reasons():
    simulation = Simulation(repetitions=4, max_repetitions=4)
    menu = {"protocol": "sw", "method": ["em", "ibu"], "metric": "emd"}
    advice = advise(1.0, sample_counts=[30, 50, 90, 140, 220, 180, 90, 20], ordered=True, simulation=simulation, **menu)
    for row in advice.recommendations:
        named = why_of(replace(advice, recommendations=(row,)))
        assert (named is None) == (row.method == "ibu")


@over(sorted(SHAPES))
def test_every_shape_is_answered(shape):
    advice = advise(1.0, k=40, shape=shape)
    assert not advice.request.ordered  # a shape says how frequencies fall, and nothing of an order
    assert advise(1.0, k=40, shape=shape, metric="emd").request.ordered
    assert advice.request.skew is None
    assert advice.request.sample.startswith(f"shape {shape}")


def test_on_two_categories_randomised_response_is_not_beaten():
    for epsilon in (0.5, 1.0, 2.0):
        advice = advise(epsilon, k=2, n=10_000, metric="l1", shape="zipf")
        lowest = min(row.error for row in advice.recommendations if row.protocol == "grr")
        assert advice.lowest.error > 0.95 * lowest


def test_figures_of_a_skew_and_of_a_shape_have_names_of_their_own():
    """Both begin with the same frequencies, but a skew stands for three shapes more."""
    of_skew, of_shape = advise(1.0, k=64, shape=1), advise(1.0, k=64, shape="zipf:1")
    assert of_skew.best.error != of_shape.best.error
    assert of_skew.experiment_id != of_shape.experiment_id
    assert of_skew.experiment_id == advise(1.0, k=64, shape=1.0).experiment_id


@over([1e-1, 1e-2, 1e-3, 1e-6, 1e-9, 1e-300])
def test_dirichlet_draws_have_the_concentration_that_is_asked_for(concentration):
    k, draws = 8, 400
    expected = (concentration + 1) / (k * concentration + 1)
    mean = np.mean([(frequencies("dirichlet", k, concentration, seed=seed) ** 2).sum() for seed in range(draws)])
    assert abs(mean - expected) < 5 * 0.5 / draws**0.5
    if concentration < 1e-5:
        assert mean > 0.999


def test_every_category_may_be_the_spike():
    spikes = {int(frequencies("dirichlet", 4, 1e-9, seed=seed).argmax()) for seed in range(60)}
    assert spikes == {0, 1, 2, 3}  # one is missing with probability 4 (3/4)^60 = 1.3e-7
