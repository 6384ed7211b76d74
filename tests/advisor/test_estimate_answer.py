import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from advisor import InputError, Simulation, advise, estimate
from advisor.inputs.estimates import RawEstimates
from advisor.question import estimate_request
from advisor.question.collected import collect
from advisor.question.estimate_request import COLLECTIONS, NEXT_ROUND, SIMULATED, build_estimate_request
from advisor.question.question import Question
from advisor.question.settings import Terms
from advisor.question.spread import Origin
from advisor.show.model import Badge
from advisor.show.rank.answer import verdict
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.confidence import AS_GOOD_AS_BEST, MOST_SURE_ORDERED, RANGE, USUAL
from simulator.methods.processor import SUMMARIES
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import DRAWS, known_frequencies
from tests.advisor.estimates import ALONE, FEW, SCHEMA, K, N, grouped, quick, raw
from tests.cells import failures, over


@pytest.fixture(scope="module")
def full():
    return estimate(raw(), "oue", eps=1.0, n=N, ordered=True)


def test_a_pick_that_is_hardly_ever_the_best_is_no_sure_choice(full):
    for probability, sure in ((0.26, True), (0.08, False)):
        first = full.best._replace(probability_best=probability)
        there = verdict(replace(full, recommendations=(first, *full.recommendations[1:])))
        assert there.badge == (Badge.TIED if sure else Badge.NOTHING_SURE)


def test_all_methods_for_the_protocol_are_ranked_and_all_protocols_for_the_next_round(full):
    noise = PROTOCOLS["oue"](K, 1.0).noise(N)
    fitting = {
        name
        for name, method in POSTPROCESSORS.items()
        if not (method.queries_only or method.is_remedy) and method.accepts(noise, K)
    }
    assert {row.pair for row in full.recommendations} == {("oue", name) for name in (*fitting, *SUMMARIES)}
    assert (full.source, full.request.source, full.request.surrogate) == ("surrogate", "surrogate", "ensemble")
    assert full.request.judged
    assert full.repetitions == DRAWS
    assert {row.repetitions for row in full.recommendations} == {DRAWS}
    later = full.next_round
    assert later.next_round is None
    assert {row.protocol for row in later.recommendations} == set(PROTOCOLS)
    assert not {*SUMMARIES} & {row.method for row in later.recommendations}
    assert {row.repetitions for row in later.recommendations} == {20}
    assert {row.probability_best for row in later.recommendations} == {None}
    by_kind = {row.kind: row for row in full.baselines}
    assert (by_kind["default"].protocol, by_kind["default"].method) == ("oue", "norm_sub")
    assert {row.kind: row.protocol for row in later.baselines}["default"] == "oue"


@over([{"method": ("eb_ns", "tree_eb")}, {"unbiased": True}, {"surrogate": "norm_sub"}, {"threat": 0.05}])
def test_no_summary_competes_where_methods_are_named_or_one_population_is_the_truth(options):
    answer = estimate(raw(), "oue", eps=1.0, n=N, ordered=True, **grouped(max_bits=1, repetitions=2, **options))
    assert not answer.request.summaries
    assert not {*SUMMARIES} & {row.method for row in answer.recommendations}
    assert answer.request.judged == (not {"threat", "surrogate"} & {*options})


def test_errors_ratios_and_probabilities_are_those_of_the_estimate_over_draws_by_hand():
    advice = quick(raw(), metric="mse", seed=1, **ALONE)
    oracle = PROTOCOLS["oue"](K, 1.0)
    noise = oracle.noise(N)
    drawn = [apportion(row, N) / N for row in known_frequencies(raw(), noise, ordered=True, seed=1)]
    roots = {
        name: np.sqrt(np.mean((POSTPROCESSORS[name](raw(), noise) - drawn) ** 2, axis=1)) for name in FEW
    }  # squared errors: what is averaged are their roots
    lowest = np.min([*roots.values()], axis=0)
    best = min(roots, key=lambda name: roots[name].mean())
    wider, least = USUAL
    for row in advice.recommendations:
        own, mean = roots[row.method], roots[row.method].mean()
        assert row.repetitions == DRAWS
        assert row.error == pytest.approx(mean**2, rel=1e-12)
        low, high = np.quantile(own, RANGE)
        ends = mean * (low / mean) ** wider / least, mean * (high / mean) ** wider * least
        assert (row.error_low, row.error_high) == pytest.approx(np.square(ends), rel=1e-12)
        assert row.ratio_to_best == pytest.approx((mean / roots[best].mean()) ** 2, rel=1e-12)
        share = (own**2 <= AS_GOOD_AS_BEST * lowest**2).mean()
        assert row.probability_best == pytest.approx(min(share, MOST_SURE_ORDERED), rel=1e-12)


def test_intervals_of_ratios_hold_the_truth_that_is_not_known_and_several_are_as_good_as_the_best(full):
    lowest, *others = sorted(full.recommendations, key=lambda row: row.ratio_to_best or 0.0)
    assert lowest.ratio_to_best == lowest.ratio_low == lowest.ratio_high == 1
    for row in others:
        # Of one set of draws mean and median are next to the same, whatever the truth is.
        least = 1.0 if {row.method, lowest.method} == {"posterior_mean", "posterior_median"} else 1.05
        assert least * (row.ratio_low or 0.0) < (row.ratio_to_best or 0.0) < (row.ratio_high or 0.0) / least
    # Most methods make next to the same of it: each is as good as the best where one of them is.
    assert sum(row.probability_best or 0.0 for row in full.recommendations) > 1.2
    assert all(0 <= (row.probability_best or 0.0) <= MOST_SURE_ORDERED for row in full.recommendations)


@pytest.mark.parametrize(
    "metrics",
    [("l2", "kl", "emd", "topk"), pytest.param(METRICS.keys() - {"sets"}, marks=pytest.mark.slow)],
    ids=["a few", "all"],
)
def test_every_metric_is_answered_consistently(metrics):
    def check(metric):
        advice = quick(metric=metric)
        assert advice.metric == metric
        for table in (advice, advice.next_round):
            assert min(row.ratio_to_best for row in table.recommendations) == pytest.approx(1)
            for row in table.recommendations:
                assert 0 <= row.error_low <= row.error_high
                assert row.ratio_low <= row.ratio_to_best <= row.ratio_high
                if row.method == "none":
                    assert row.error == row.error_without_postprocessing
        assert max(row.probability_best or 0 for row in advice.recommendations) > 0
        assert not advice.beats_uniform_guess or advice.best.error < (advice.error_without_data or 0.0)

    assert failures(metrics, check) == {}


def test_an_error_that_may_be_above_the_one_without_data_does_not_beat_it():
    above, near = quick(raw(n=100), n=100, **ALONE), quick(raw(n=675, shape="uniform"), n=675, **ALONE)
    assert above.best.error > above.error_without_data
    assert near.best.error < near.error_without_data
    assert not above.beats_uniform_guess
    assert not near.beats_uniform_guess


def rows_of(advice):
    return [row._asdict() for row in advice.recommendations]


def test_numbers_depend_on_the_seed_and_not_on_the_jobs():
    one, same, other = (rows_of(quick(**more, **ALONE)) for more in ({}, {"jobs": 2}, {"seed": 1}))
    assert one == same
    assert one != other


def test_repetitions_are_those_of_the_next_round_or_of_one_population():
    def check(cell):
        surrogate, (asked, given) = cell
        settings = Question(terms=Terms(epsilon=1.0), simulation=Simulation(repetitions=asked))
        collected = collect(RawEstimates(tuple(map(str, range(K))), raw()), Origin("oue", 1.0, N))
        request = build_estimate_request(settings, collected, name="x", surrogate=surrogate)
        assert request.populations.shape == (DRAWS if surrogate == "ensemble" else 1, K)
        assert (request.populations.sum(axis=1) == N).all()
        assert request.repetitions == request.max_repetitions == given

    cells = [("ensemble", (2, 2)), ("ensemble", (61, 61)), ("ensemble", (999, DRAWS)), ("ensemble", (None, NEXT_ROUND))]
    assert failures([*cells, ("norm_sub", (61, 61)), ("norm_sub", (None, SIMULATED * COLLECTIONS))], check) == {}


@pytest.mark.parametrize(("k", "draws"), [(4097, 239), pytest.param(70_000, 16, marks=pytest.mark.slow)])
def test_a_very_large_domain_gets_fewer_populations_and_no_fewer_than_16(k, draws, monkeypatch):
    monkeypatch.setattr(estimate_request, "_frequencies_behind", lambda *asked: np.full((asked[-1], k), 1 / k))
    collected = collect(RawEstimates(tuple(map(str, range(k))), raw(k=k)), Origin("oue", 1.0, N))
    request = build_estimate_request(Question(terms=Terms(epsilon=1.0)), collected, name="x", surrogate=None)
    assert len(request.populations) == draws
    assert request.repetitions == min(draws, NEXT_ROUND)


@over(["norm_sub", "Power-NS", "wavelet_eb"])
def test_one_consistent_population_gives_no_probabilities(surrogate):
    advice = quick(surrogate=surrogate, **ALONE)
    assert advice.request.surrogate == surrogate.lower().replace("-", "_")
    assert len(advice.request.populations) == 1
    assert {row.probability_best for row in advice.recommendations} == {None}
    SCHEMA.validate(json.loads(advice.to_json()))


def test_a_handful_of_users_is_answered():
    advice = quick(raw("grr", 2, 1), "grr", 1, repetitions=2, **ALONE)
    assert len(advice.recommendations) == 3
    SCHEMA.validate(json.loads(advice.to_json()))


def test_a_survey_of_yes_and_no_is_off_by_what_its_noise_is():
    """Of 2,435 users 638 hold yes; the noise has an sd of 28 users, and so a mean error of 22; 13 would be wrong."""
    said, n = 831 / 2435, 2435
    yes = (said - 1 / 6) / (5 / 6 - 1 / 6)
    for metric in ("l1", "mae"):
        advice = estimate({"yes": yes, "no": 1 - yes}, "grr", eps=math.log(5), n=n, metric=metric, **ALONE)
        for row in advice.recommendations:
            assert 20 <= row.mean_absolute_error * n <= 30
            assert row.error_low <= row.error <= row.error_high
        assert advice.total is None


@over(product(["grr", "oue"], [1.0, math.log(5), 4.0]))
def test_the_error_of_few_categories_is_that_of_the_noise_at_any_budget(protocol, epsilon):
    """Who took part is counted, not sampled: at large ε next to nothing is unknown.

    The mean of 240 absolute errors is known to 5 %; the tolerance is three times that.
    """
    k, n = 2 if protocol == "grr" else 4, 2435
    noise, values = PROTOCOLS[protocol](k, epsilon).noise(n), raw(protocol, k, n, epsilon=epsilon)
    (row,) = estimate(values, protocol, eps=epsilon, n=n, method="none", **ALONE).recommendations
    sd = np.sqrt(noise.entry(frequencies("zipf", k)))
    assert row.mean_absolute_error == pytest.approx((2 / math.pi) ** 0.5 * sd.mean(), rel=0.15)


def test_what_sums_to_less_than_1_says_so_and_what_proper_frequencies_cost():
    k, n = 256, 100_000
    oracle, weights = PROTOCOLS["oue"](k, 1.0), 1 / np.arange(1, k + 1) ** 1.3
    counts = apportion(weights, n)
    values = oracle.estimate(oracle.sample_support(counts, rng_for(0, "tests", "heavy")), n)

    def answered(**more):
        return estimate(values, "oue", eps=1.0, n=n, ordered=False, **grouped(max_bits=1, **more))

    advice, proper = answered(), answered(proper=True)
    assert advice.best.method == "power"
    total = POSTPROCESSORS["power"](values, oracle.noise(n)).sum()
    assert total < 0.9
    assert advice.total == pytest.approx(total)
    assert proper.best.error > 1.02 * advice.best.error  # else it would be named without being asked for
    assert proper.total is None
    assert proper.apply(values).sum() == pytest.approx(1)
    for answer, said in ((advice, pytest.approx(total)), (proper, None)):
        data = json.loads(answer.to_json())
        SCHEMA.validate(data)
        assert (data["judged"], data["total"]) == (True, said)
        moved = sum(abs(after - before) for after, before in zip(answer.apply(values), values, strict=True))
        assert data["moved"] == answer.moved == pytest.approx(moved)
    assert answered(method="none").moved == 0
    assert advise(1.0, k=k, n=n).moved is None


@over(
    [
        ({"max_repetitions": 100}, "max_repetitions is for a sample"),
        ({"surrogate": "norm_su"}, "surrogate must be one of ensemble, .* did you mean 'norm_sub'"),
        ({"surrogate": "wavelet_eb", "ordered": False}, "wavelet_eb needs an ordered domain"),
        ({"method": ["eb_ns", "Posterior mean"]}, "posterior_mean is not compared by name.*leave method= out"),
        ({"values": 0.5}, "must be a sequence of values, got 0.5"),
        ({"values": [1.0]}, "at least 2 categories"),
        ({"values": [[0.5, 0.5]]}, "flat"),
        ({"values": "abc"}, "must be a sequence of values, got 'abc': read the file first"),
        ({"values": [0.5, None]}, "1 missing or infinite"),
        ({"values": {1: 0.5, "1": 0.5}}, "each label once"),
    ]
)
def test_bad_requests_are_value_errors_of_one_line(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        quick(**options)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


def test_no_view_shows_a_ratio_to_an_error_that_is_zero():
    asked = {"metric": "mse", "method": ["none", "power", "norm_cut"]} | grouped(surrogate="norm_sub", repetitions=2)
    advice = estimate([3.0, *[0.0] * 7], "grr", eps=18.0, n=3, ordered=False, **asked)
    later = advice.next_round
    assert later is not None
    for ranking in (advice, later):
        assert ranking.best.error < 1e-12 * max(row.error for row in ranking.recommendations)
        rows = [row for row in ranking.recommendations if row.error > 1e-12]
        assert {row.ratio_to_best for row in (*rows, *ranking.baselines) if row.error > 1e-12} == {None}
