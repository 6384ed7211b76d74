import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from knowledge.changes import nearest_changes
from knowledge.describe.profile import profile_of
from knowledge.menu import MEASURED, METHODS, ORDERED_METRICS
from knowledge.model import load
from knowledge.predict import predict, predicted
from knowledge.ranking import MOST, LookUp, LookUpRow, RangeWarning, costs_of, first_pair, look_up, placed, rank
from simulator import PROTOCOLS, Noise, frequency_oracles
from simulator.populations import frequencies
from simulator.ranking import PRACTICAL_RATIO
from tests.cells import over

ZIPF = profile_of(frequencies("zipf", 32, 1.0))


@over(
    [
        (metric, ordered)
        for metric in ("mae", *MEASURED)
        for ordered in (True, False)
        if ordered or metric not in ORDERED_METRICS
    ]
)
def test_a_look_up_ranks_the_whole_menu(metric, ordered, *, tiny):
    found = rank(predicted(ZIPF, 1.0, 10_000, ordered=ordered, model=load(tiny)), metric)
    errors = [row.error for row in found.rows]
    assert errors == sorted(errors)
    assert found.best.ratio == 1.0
    assert {row.protocol for row in found.rows} == set(PROTOCOLS if ordered else frequency_oracles())
    assert len({row.pair for row in found.rows}) == len(found.rows)
    methods = {row.method for row in found.rows}
    assert ({"wavelet_eb", "tree_eb", "iso_cdf", "em", "ems", "em_stopped"} <= methods) == ordered
    assert ("post_pos" in methods) == (metric in ("set", "range"))
    assert {row.protocol for row in found.rows if row.method == "ibu"} >= {"grr"}
    raw = {row.protocol: row.error for row in found.rows if row.method == "none"}
    assert {row.protocol for row in found.rows} - set(raw) <= {"sw"}  # which has no estimate to begin with
    for row in found.rows:
        assert row.low < row.error < row.high
        assert row.ratio_low <= row.ratio <= row.ratio_high
        assert row.ratio == pytest.approx(row.error / found.best.error)
        assert row.raw_error == pytest.approx(raw.get(row.protocol))
    assert found.warnings == ()
    assert found.missing == ()


def test_two_protocols_with_the_same_method_are_compared_more_precisely_than_two_methods():
    first, *others = look_up(ZIPF, 1.0, 10_000, "l1", ordered=False).rows
    widths = {row.pair: row.ratio_high / row.ratio - 1 for row in others}
    same = [width for (_, method), width in widths.items() if method == first.method]
    assert 0 < max(same) < min(width for (_, method), width in widths.items() if method != first.method) / 2


def test_two_categories_have_no_order_and_large_domains_are_asymptotic(tiny):
    two = profile_of(np.array([3.0, 1.0]))
    model = load(tiny)
    assert {row.protocol for row in look_up(two, 1.0, 10_000, "l1", model=model).rows} == {*frequency_oracles()}
    assert {row.protocol for row in look_up(two, 1.0, 10_000, "l1", protocols=["tree"], model=model).rows} == {"tree"}
    found = look_up(profile_of(frequencies("zipf", 100_000, 1.0)), 1.0, 10**7, "l1", model=load(tiny))
    assert {row.origin for row in found.rows} == {"asymptotic"}


def test_the_error_per_category_is_l1_over_k_in_every_metric(tiny):
    l1 = {row.pair: row.error for row in look_up(ZIPF, 1.0, 10_000, "l1", model=load(tiny)).rows}
    for metric in ("kl", "mae"):
        for row in look_up((ZIPF, ZIPF), 1.0, 10_000, metric, model=load(tiny)).rows:
            assert row.per_category == pytest.approx(l1[row.pair] / 32)
            assert metric == "kl" or row.error == pytest.approx(row.per_category)


def test_the_menu_can_be_restricted_and_extended_by_noises_of_others(tiny):
    found = look_up(ZIPF, 1.0, 10_000, "l1", protocols=["oue"], methods=["norm", "norm_sub"], model=load(tiny))
    assert {row.pair for row in found.rows} == {("oue", "norm"), ("oue", "norm_sub")}
    noise = Noise(n=10_000, p=0.6, q=0.3, variance_at_zero=2e-4, variance_slope=1e-5, sums_to_one=False)
    found = rank(predict(ZIPF, {"new": noise}, 1.0, 10_000, model=load(tiny)), "l2")
    assert {row.protocol for row in found.rows} == {"new"}


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "name"),
    [(32, 0.05, 10_000, "epsilon"), (32, 20.0, 10_000, "epsilon"), (32, 1.0, 500, "n"), (300_000, 1.0, 10_000, "k")],
)
def test_questions_out_of_range_are_warned_about(tiny, k, epsilon, n, name):
    found = look_up(profile_of(frequencies("zipf", k, 1.0)), epsilon, n, "l1", protocols=["oue"], model=load(tiny))
    (warning,) = found.warnings
    assert isinstance(warning, RangeWarning)
    assert f"predictions cover {name} from" in str(warning)
    assert all(row.origin == "extrapolated" for row in found.rows)
    assert all(np.isfinite(row.error) and row.error > 0 for row in found.rows)


def test_wrong_menus_metrics_and_folders_are_refused(tiny):
    with pytest.raises(ValueError, match="needs a method that goes with it"):
        look_up(ZIPF, 1.0, 10_000, "l1", protocols=["oue"], methods=["ibu"], model=load(tiny))
    with pytest.raises(ValueError, match="predictions need one of the metrics"):
        look_up(ZIPF, 1.0, 10_000, "l7", model=load(tiny))
    with pytest.raises(FileNotFoundError):
        load(tiny / "nowhere")


def without(metrics, model):
    """Return a model as a build would have made it that did not measure these metrics."""
    left = [place for place, name in enumerate(model.provenance.metrics) if name not in metrics]
    outputs = np.arange(len(METHODS) * len(MEASURED)).reshape(len(METHODS), -1)[:, left].ravel()
    network = model.network
    (*inner, (weights, offsets)) = network.layers
    return replace(
        model,
        network=network._replace(
            output_centre=network.output_centre[outputs],
            output_scale=network.output_scale[outputs],
            layers=(*inner, (weights[:, outputs], offsets[outputs])),
        ),
        spread=model.spread[:, :, left],
        own_spread=model.own_spread[:, :, left],
        provenance=replace(model.provenance, metrics=tuple(model.provenance.metrics[place] for place in left)),
    )


def test_data_that_was_built_before_a_metric_predicts_the_others_alike(tiny):
    new = load(tiny)
    old = without({"mean", "l2", "ks"}, new)
    for metric in ("l1", "mae", "mse", "emd", "range", "quantiles"):
        was, now = (look_up(ZIPF, 1.0, 10_000, metric, model=model) for model in (old, new))
        assert [row.pair for row in was.rows] == [row.pair for row in now.rows]
        figures = [[[np.nan if x is None else x for x in row[2:-2]] for row in found.rows] for found in (was, now)]
        np.testing.assert_allclose(*figures, rtol=1e-4)
    with pytest.raises(ValueError, match=r"metrics l1, mae, mse, kl, .*, got 'mean': give a sample to simulate"):
        look_up(ZIPF, 1.0, 10_000, "mean", ordered=False, model=old)
    assert look_up(ZIPF, 1.0, 10_000, "mean", model=old).rows  # by what was built for ordered domains


COSTS = {"long": (64, 0.1), "short": (3, 0.2)}


def row(protocol, method, ratio, low=0.9):
    return LookUpRow(
        protocol, method, ratio, ratio, ratio, ratio, min(low, ratio), 2.0, 1.0, 0.1, (ratio,), "interpolated"
    )


def answer_of(*rows):
    return LookUp("l1", 8, 1.0, 1000, False, tuple(sorted(rows, key=lambda one: one.ratio)), (), ())


@over(itertools.product((0.5, 2.0), (4, 64, 1000)))
def test_the_first_has_the_cheapest_report_of_the_ties_and_the_others_rise(epsilon, k):
    prediction = predicted(profile_of(frequencies("zipf", k, 1.0)), epsilon, 100_000, ordered=True)
    for metric in ("l1", "emd", "topk"):
        check_order(rank(prediction, metric), k, epsilon)


def check_order(answer, k, epsilon):
    costs = costs_of((one.protocol for one in answer.rows), k, epsilon)
    places = placed(answer, costs)
    best, *others = rows = [answer.rows[place.at] for place in places]
    assert sorted(rows) == sorted(answer.rows)
    assert first_pair(answer) == best[:2]
    assert best.ratio <= PRACTICAL_RATIO
    assert all(costs[one.protocol] >= costs[best.protocol] for one in rows if one.ratio <= PRACTICAL_RATIO)
    beyond = [round(one.ratio, 6) for one in others]
    assert beyond == sorted(beyond)  # behind six digits errors differ by rounding alone
    tied = [one for place, one in zip(places, rows, strict=True) if place.rank == 1]
    assert max(one.ratio for one in tied) <= MOST
    assert {one[:2] for one in rows if one.ratio < PRACTICAL_RATIO} <= {one[:2] for one in tied}


def test_what_may_be_the_best_is_a_tie_up_to_a_quarter_more():
    near = row("long", "a", 1.0), row("long", "b", 1.049, 1.02), row("long", "c", 1.2, 0.99)
    answer = answer_of(*near, row("short", "e", 1.21, 1.01), row("long", "d", 1.26))
    ranks = {answer.rows[place.at].method: place.rank for place in placed(answer, COSTS)}
    assert list(ranks.items()) == [("a", 1), ("b", 1), ("c", 1), ("e", 4), ("d", 5)]


def best_pair(answer):
    return answer.best.protocol, answer.best.method


l1 = partial(look_up, metric="l1", ordered=False, protocols=["grr", "oue", "olh", "ss"])


def zipf(skew):
    return profile_of(frequencies("zipf", 32, skew))


def test_a_change_changes_the_answer_and_nothing_nearer_tried_does():
    n, epsilon = 20_000, 1.0
    now = best_pair(l1(zipf(1.0), epsilon, n))
    changes = nearest_changes(zipf(1.0), epsilon, n, l1, choose=best_pair, of_skew=zipf)
    assert [change.what for change in changes] == sorted(
        {change.what for change in changes}, key=["epsilon", "n", "skew"].index
    )
    assert changes
    for change in changes:
        asked = {"epsilon": epsilon, "n": float(n), "skew": 1.0} | {change.what: change.value}
        there = l1(zipf(asked["skew"]), asked["epsilon"], round(asked["n"]))
        assert best_pair(there) != now
        assert best_pair(there) == (change.protocol, change.method)
        start = {"epsilon": epsilon, "n": float(n), "skew": 1.0}[change.what]
        part = 0.05  # the ladder's first step is further: nothing before it was passed over
        asked[change.what] = start + part * (change.value - start)
        near = l1(zipf(asked["skew"]), asked["epsilon"], round(asked["n"]))
        assert best_pair(near) == now


def test_no_change_where_the_menu_has_one_pair():
    only = answer_of(row("short", "a", 1.0))
    assert nearest_changes(ZIPF, 1.0, 5_000, lambda *_: only, choose=best_pair, of_skew=lambda _: ZIPF) == ()


@pytest.mark.slow
def test_without_a_shape_the_skew_is_left_alone():
    changes = nearest_changes(zipf(1.0), 1.0, 20_000, l1, choose=best_pair)
    assert "skew" not in {change.what for change in changes}
