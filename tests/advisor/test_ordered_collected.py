from functools import cache
from itertools import product

import numpy as np
import pytest

from advisor import InputError, Simulation, estimate
from advisor.answers.rank.apply import applied_csv, frequency_interval
from advisor.members.names import method_text
from advisor.show.pictures.frequencies import frequencies_figure
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, Tally
from simulator.confidence import OF_TALLY, RANGE
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.methods.smooth import drawn_curves
from simulator.methods.tree import drawn_trees
from simulator.populations import apportion
from simulator.protocols import ORDERED_PROTOCOLS
from simulator.seeding import rng_for
from simulator.surrogate.trees import INFORMATIVE, roughened
from tests.advisor.cli_answers import csv_rows
from tests.advisor.estimates import ALONE
from tests.cells import failures, over

K, N, EPSILON = 16, 6000, 1.0
COUNTS = apportion(np.exp(-0.5 * ((np.arange(K) - 5) / 2.5) ** 2), N)
TREES = ("tree", "tree_half", "haar_hrr")  # whose tallies make an estimate
assert {*TREES, "sw"} == set(ORDERED_PROTOCOLS)


@cache
def collected(protocol):
    member = PROTOCOLS[protocol](K, EPSILON)
    reports = member.perturb(np.repeat(np.arange(K), COUNTS), rng_for(0, "tests", "ordered collected", protocol))
    return reports, member.tally(reports)


@cache
def advised(protocol, metric="emd"):
    few = {"simulation": Simulation(repetitions=2), **ALONE}
    return estimate(collected(protocol)[1], protocol, eps=1.0, k=K, metric=metric, **few)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ORDERED_PROTOCOLS)
def test_populations_are_its_best_estimate_and_that_of_collections_simulated_from_it_or_curves(protocol):
    member, (_, tally) = PROTOCOLS[protocol](K, EPSILON), collected(protocol)
    advice = estimate(tally, protocol, eps=1.0, k=K, metric="emd", simulation=Simulation(repetitions=8, seed=4))
    if protocol == "sw":
        drawn = drawn_curves(member.likelihood, tally.counts.astype(float), 8, rng_for(4, "surrogate", "curves"))
    else:
        method, rng = POSTPROCESSORS["tree_eb"], rng_for(4, "surrogate", "bootstrap")
        observed = observe(member, tally, ORDERED)
        centre, gain = method.apply(observed), drawn_trees(observed, 8, rng)[1]
        assert gain > 4 * INFORMATIVE  # all 8 are a bootstrap
        users = apportion(centre, N)
        again = [method.apply(observe(member, member.sample_tally(users, rng), ORDERED)) for _ in range(7)]
        drawn = roughened(rng.permutation(np.stack([centre, *again])), centre, observed, rng)
    by_hand = np.stack([apportion(row, N) for row in drawn])
    assert advice.request.populations.tolist() == by_hand.tolist()
    # The range of an error is that of the errors of the populations, widened as it is for an estimate.
    errors = []
    for repetition, population in enumerate(by_hand):
        drawn = member.sample_tally(population, rng_for(4, "collect", protocol, repetition))
        answer = POSTPROCESSORS[advice.best.method].apply(observe(member, drawn, ORDERED))
        errors.append(float(METRICS["emd"](answer[None, :], population / N)[0]))
    mean, (low, high) = np.mean(errors), np.quantile(errors, RANGE)
    assert advice.best.error == pytest.approx(mean, rel=1e-9)
    wider, least = OF_TALLY
    ends = mean * (low / mean) ** wider / least, mean * (high / mean) ** wider * least
    assert (advice.best.error_low, advice.best.error_high) == pytest.approx(ends, rel=1e-9)
    assert not advice.request.judged


@pytest.mark.parametrize("protocol", ORDERED_PROTOCOLS)
def test_what_is_written_drawn_and_applied_is_the_method_on_all_that_was_observed(protocol):
    advice, member, tally = advised(protocol), PROTOCOLS[protocol](K, EPSILON), collected(protocol)[1]
    rows = csv_rows(applied_csv(advice))
    assert [row["value"] for row in rows] == [str(value) for value in range(K)]
    observed = observe(member, tally, ORDERED)
    expected = POSTPROCESSORS[advice.best.method].apply(observed)
    np.testing.assert_array_equal([float(row["post_processed"]) for row in rows], expected)
    (axes,) = frequencies_figure(advice).axes
    shown = {line.get_label(): line.get_xdata() for line in axes.get_lines()}
    np.testing.assert_array_equal(shown[method_text(advice.best.method)], expected)
    if protocol == "sw":
        assert "raw estimate" not in shown
        assert {(row["raw"], row["low"], row["high"]) for row in rows} == {("", "", "")}
        with pytest.raises(InputError, match="sw has no raw estimate"):
            advice.apply(np.full(K, 1 / K))
        return
    raw = member.linear.estimate(tally)
    low, high = frequency_interval(raw, member.linear.covariance(N))
    for name, values in (("raw", raw), ("low", low), ("high", high)):
        np.testing.assert_array_equal([float(row[name]) for row in rows], values)
    np.testing.assert_array_equal(shown["raw estimate"], raw)
    np.testing.assert_array_equal(advice.apply(raw, "tree_eb"), POSTPROCESSORS["tree_eb"].apply(observed))


def test_errors_of_single_categories_are_of_a_smooth_truth_where_reports_show_no_other():
    said = [
        (protocol, metric)
        for protocol, metric in product(("sw", "tree"), ("l1", "emd"))
        if "if neighbours are as alike as on a curve" in str(advised(protocol, metric))
    ]
    assert said == [("sw", "l1")]


EVERY_COVER = tuple(product(["even", "peak", "wave"], [1.0, 3.0], TREES))
COVER = (("even", 1.0, "tree"), ("wave", 1.0, "tree_half"), ("peak", 3.0, "haar_hrr"))  # each shape and protocol


@pytest.mark.parametrize("covers", [COVER, pytest.param(EVERY_COVER, marks=pytest.mark.slow)], ids=["some", "all"])
def test_intervals_cover_each_frequency_at_least_as_often_as_they_say(covers):
    """64 values, 1,000 collections: at most 5 standard errors below 95 %, or one tree in 50,000 is a false alarm.

    The noise of few users at a height is not quite normal, and the sd is that of clipped estimates: one point more.
    """

    def check(cell):
        shape, epsilon, protocol = cell
        k, n, trials = 64, 20_000, 1000
        places = np.arange(k)
        weights = {
            "even": np.ones(k),
            "peak": np.where(places == 20, 0.6 * k, 0.4),
            "wave": np.exp(-(((places / k - 0.4) / 0.1) ** 2)),
        }[shape]
        counts, member = apportion(weights, n), PROTOCOLS[protocol](k, epsilon)
        rng = rng_for(0, "tests", "cover of trees", protocol, repr(epsilon), shape)
        estimates = member.linear.estimate(member.sample_tally(np.broadcast_to(counts, (trials, k)), rng))
        low, high = frequency_interval(estimates, member.linear.covariance(n))
        covered = ((low <= counts / n) & (counts / n <= high)).mean(axis=0)
        assert covered.min() > 0.94 - 5 * (0.95 * 0.05 / trials) ** 0.5
        # An interval of half the width does not cover: the check can fail.
        middle = np.clip(estimates, 0, 1)
        half = (np.abs(middle - counts / n) <= (high - low) / 4).mean(axis=0)
        assert half.min() < 0.94 - 5 * (0.95 * 0.05 / trials) ** 0.5

    assert failures(covers, check) == {}


def test_a_tally_of_any_protocol_is_taken_and_gives_what_its_estimate_gives():
    oracle = PROTOCOLS["oue"](K, EPSILON)
    tally = oracle.sample_tally(COUNTS, rng_for(0, "tests", "tally of oue"))
    options = {"k": K, "method": ("none", "norm_sub"), "simulation": Simulation(repetitions=4)} | ALONE
    from_tally = estimate(tally, "oue", eps=1.0, **options)
    from_estimate = estimate(oracle.estimate(tally.counts, N), "oue", eps=1.0, n=N, **options)
    assert from_tally.recommendations == from_estimate.recommendations
    assert not from_tally.request.ordered  # the labels merely count the categories
    named = estimate(tally, "oue", eps=1.0, **options | {"labels": [f"v{place}" for place in range(K)]})
    assert named.request.labels[:2] == ("v0", "v1")
    assert from_tally.request.surrogate == "ensemble"


@over(
    [
        ({"k": None}, "k= is missing: give the number of categories, or labels="),
        ({"k": 17}, "a tally of tree with k = 17 holds .* counts, got shape"),
        ({"n": 5}, "the tally is of 6,000 reports, n=5 was given: leave n= out"),
        ({"protocol": "tree,sw"}, "takes one protocol="),
        ({"ordered": False, "metric": "l1"}, "protocol tree needs an ordered domain"),
        ({"values": [1 / K] * K, "n": 100}, "is not enough"),
        ({"values": Tally(np.zeros(34, dtype=np.int64), 0)}, "the tally holds no report"),
        ({"values": Tally(np.full(34, -1), 100)}, "a tally of tree counts reports, got -1: a count is at least 0"),
    ]
)
def test_tallies_that_cannot_be_are_refused(options, why):
    given = {"values": collected("tree")[1], "protocol": "tree", "k": K, "metric": "emd"} | options
    with pytest.raises(InputError, match=why):
        estimate(**given, eps=1.0)


def test_a_tally_of_hadamard_response_may_hold_counts_below_0():
    hr = PROTOCOLS["hr"](9, 1.0)
    tally = hr.tally(hr.perturb(np.zeros(300, dtype=np.int64), rng_for(0)))
    assert tally.counts.min() < 0  # reports contradict values too
    (row, *_) = estimate(
        tally, "hr", eps=1.0, k=9, method="norm", **ALONE, simulation=Simulation(repetitions=2)
    ).recommendations
    assert row.protocol == "hr"
    with pytest.raises(InputError, match="got -301: a count is at least -300"):
        estimate(Tally(np.full(9, -301), 300), "hr", eps=1.0, k=9)
