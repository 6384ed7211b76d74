"""Advice for someone who holds an estimate: methods for its protocol, and what the next round could use."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from advisor import Advice, InputError, advise
from advisor.document.model import View
from advisor.document.text import plain_text
from advisor.question import estimate_request
from advisor.question.collected import collect
from advisor.question.estimate_request import COLLECTIONS, build_estimate_request
from advisor.question.request import RankSettings
from advisor.question.settings import Question, Simulation
from advisor.rank.answer_words import summary
from advisor.rank.document import rank_document
from advisor.rank.why import explain
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, frequency_oracles
from simulator.confidence import belief_in
from simulator.methods.blend import parts_of
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import DRAWS, surrogate_populations
from tests.advisor.estimates import ALONE, QUICK, SCHEMA, K, N, quick, raw, share_draws
from tests.cells import failures


@pytest.fixture(autouse=True)
def _shared_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    share_draws(monkeypatch)


def text_of(advice: Advice) -> str:
    return plain_text(rank_document((advice,)), View())


@pytest.fixture(scope="module")
def full() -> Advice:
    """All methods, all repetitions; a metric for which a blend of two is the best."""
    return advise(1.0, estimate=raw(), protocol="oue", n=N, metric="kl")


def test_a_pick_that_is_hardly_ever_the_best_is_no_sure_choice(full: Advice) -> None:
    for probability, sure in ((0.26, True), (0.08, False)):
        first = full.best._replace(probability_best=probability)
        text = summary(replace(full, recommendations=(first, *full.recommendations[1:])))
        assert text.startswith("Use " if sure else "No method is likely to be the best; ")
        assert "on this OUE estimate" in text
        assert f"with probability {'26' if sure else 'only 8'} %." in text


def alone_named(advice: Advice) -> set[str]:
    return {row.method for row in advice.recommendations if not parts_of(row.method)}


def test_a_blend_of_two_methods_competes_where_it_beats_each_alone(full: Advice) -> None:
    name = next(row.method for row in full.recommendations if parts_of(row.method))
    assert full.best.method == name  # else it would not be there
    alone = [row.error for row in full.recommendations if row.method != name]
    assert full.best.error < min(alone)
    parts = parts_of(name)
    each = {part: full.apply(raw(), method=part) for part in parts}
    mean = sum(times * each[part] for part, times in parts.items()) / sum(parts.values())
    np.testing.assert_allclose(full.apply(raw()), mean, atol=1e-15)
    sure = full.best._replace(probability_best=0.5)
    text = summary(replace(full, recommendations=(sure, *full.recommendations[1:])))
    assert re.match(r"Use (the mean|a weighted mean) of .+ and .+ on this OUE estimate\.", text)
    assert explain(full).method in alone_named(full)
    cheapest = min(alone) / full.best.error - 1
    cost = f"{100 * cheapest:.0f} % more error" if cheapest >= 0.01 else "no more than 1 % more error"
    assert f"alone, the best single method, has {cost} than this blend." in text
    assert not [row for row in full.next_round.recommendations if parts_of(row.method)]  # type: ignore[union-attr]


def hidden(shape: str, k: int, n: int, share: float, metric: str, *, ordered: bool = True) -> Advice:
    """Return the answer for a shape of which a share shows, over even frequencies."""
    oracle = PROTOCOLS["oue"](k, 1.0)
    counts = apportion((1 - share) / k + share * frequencies(shape, k), n)
    estimate = oracle.estimate(oracle.sample_support(counts, rng_for(1, "x", n)), n)
    return advise(1.0, estimate=estimate, protocol="oue", n=n, metric=metric, ordered=ordered, **ALONE)


def test_a_blend_with_the_uniform_guess_competes_where_noise_hides_the_shape() -> None:
    answer = hidden("zipf", 32, 10_000, 0.4, "l2", ordered=False)
    assert parts_of(answer.best.method).keys() > {"uniform"}
    assert answer.best.error < min(row.error for row in answer.recommendations[1:])
    text = summary(answer)
    assert "and the uniform guess on this OUE estimate has" in text
    assert "The uniform guess is in it because the noise may hide all there is to see." in text


@pytest.mark.slow
def test_what_errs_more_than_no_data_at_all_is_not_called_better() -> None:
    """Over populations errors are averaged by a root; without one the first would seem below."""
    answer = hidden("geometric", 16, 4_000, 0.3, "topk")
    assert answer.best.error > (answer.error_without_data or 0.0)
    assert answer.verdict == "no_better_than_no_data"


def test_no_blend_competes_unasked_where_methods_are_named_or_one_population_is_the_truth() -> None:
    named = ("eb_ns", "norm_sub", "power_ns", "wavelet_eb")
    for answer in (
        advise(1.0, estimate=raw(), protocol="oue", n=N, method=named, repetitions=60, **ALONE),
        advise(1.0, estimate=raw(), protocol="oue", n=N, surrogate="norm_sub", repetitions=6, **ALONE),
        advise(1.0, estimate=raw(), protocol="oue", n=N, threat=0.05, repetitions=6, **ALONE),
    ):
        assert not answer.request.combinations  # few repetitions would not show them
        assert not [row for row in answer.recommendations if parts_of(row.method)]
    asked = advise(1.0, estimate=raw(), protocol="oue", n=N, method="norm-sub + EB_NS*3", repetitions=6, **ALONE)
    assert asked.best.method == "eb_ns*3+norm_sub"
    with pytest.raises(ValueError, match="methods alone, and none is there"):
        explain(asked)


def test_a_blend_that_makes_no_sense_is_refused_in_one_line() -> None:
    cells = [
        ("eb_ns+nothing", "unknown method 'nothing'"),
        ("eb_ns*0+norm_sub", "counts from 1 to 99 times, got '0'"),
        (f"eb_ns*{'9' * 5000}+norm_sub", "counts from 1 to 99 times"),
        ("eb_ns*+norm_sub*", "counts from 1 to 99 times, got ''"),
        ("+", "unknown method ''"),
        ("eb_ns*x+norm_sub", "counts from 1 to 99 times, got 'x'"),
        ("post_pos+norm_sub", "changes only the answers of queries"),
        ("uniform", "needs no data, and every table has its error below"),
        ("Uniform+uniform*2", "name a method to blend it with, as in eb_ns*3+uniform"),
    ]

    def check(cell: tuple[str, str]) -> None:
        name, message = cell
        with pytest.raises(InputError, match=re.escape(message)) as refusal:
            quick(method=name)
        assert "\n" not in str(refusal.value)

    assert failures(cells, check) == {}


def test_all_methods_for_the_protocol_are_ranked_and_all_protocols_for_the_next_round(full: Advice) -> None:
    noise = PROTOCOLS["oue"](K, 1.0).noise(N)
    fitting = {
        name
        for name, method in POSTPROCESSORS.items()
        if not (method.queries_only or method.is_remedy) and method.accepts(noise, K)
    }
    blends = [row.method for row in full.recommendations if parts_of(row.method)]
    assert {row.pair for row in full.recommendations} == {("oue", name) for name in (*fitting, *blends)}
    assert len(blends) == 1
    assert (full.source, full.request.source, full.request.surrogate) == ("surrogate", "surrogate", "ensemble")
    assert full.repetitions == DRAWS * COLLECTIONS
    assert {row.repetitions for row in full.recommendations} == {DRAWS * COLLECTIONS}
    later = full.next_round
    assert later is not None
    assert later.next_round is None
    assert {row.protocol for row in later.recommendations} == set(PROTOCOLS)
    assert {row.repetitions for row in later.recommendations} == {20}
    assert {row.probability_best for row in later.recommendations} == {None}
    by_kind = {row.kind: row for row in full.baselines}
    assert (by_kind["default"].protocol, by_kind["default"].method) == ("oue", "norm_sub")
    assert {row.kind: row.protocol for row in later.baselines}["default"] == "oue"


def test_probabilities_sum_to_1_and_follow_the_wins(full: Advice) -> None:
    sure = [row.probability_best for row in full.recommendations]
    assert math.fsum(sure) == pytest.approx(1, abs=1e-12)
    others = full.recommendations[1:]  # the first has the lowest error, which counts for itself
    wins = [row.win_share for row in sorted(others, key=lambda row: row.probability_best or 0)]
    assert (np.diff(wins) > -1e-12).all()  # shares are sums of 1/40 in another order


def test_errors_are_means_over_populations_drawn_and_collected_by_hand() -> None:
    advice = quick(raw(), repetitions=2 * DRAWS, metric="mse", method="norm_sub", seed=1, **ALONE)
    oracle = PROTOCOLS["oue"](K, 1.0)
    drawn = surrogate_populations(
        "ensemble", raw(), oracle.noise(N), ordered=True, rng=rng_for(1, "surrogate", "ensemble")
    )
    errors = []
    for repetition in range(2 * DRAWS):
        counts = apportion(drawn[repetition % DRAWS], N)
        support = oracle.sample_support(counts, rng_for(1, "collect", "oue", repetition))
        processed = POSTPROCESSORS["norm_sub"](oracle.estimate(support, N), oracle.noise(N))
        errors.append(((processed - counts / N) ** 2).mean())
    best = advice.best
    assert best.repetitions == 2 * DRAWS
    # squared errors: the mean over populations of their fourth roots, brought back
    roots = np.reshape(errors, (2, DRAWS)).mean(axis=0) ** 0.25
    assert best.error == pytest.approx(roots.mean() ** 4, rel=1e-12)
    low, high = np.quantile(roots, (0.025, 0.975)) ** 4
    belief = belief_in("mse", ordered=True)
    ends = best.error * (low / best.error) ** belief.lower, best.error * (high / best.error) ** belief.upper
    assert (best.error_low, best.error_high) == pytest.approx(ends, rel=1e-12)


@pytest.mark.parametrize(
    "metrics",
    [("l2", "kl", "emd", "topk"), pytest.param(METRICS, marks=pytest.mark.slow)],
    ids=["a few", "all"],
)
def test_every_metric_is_answered_consistently(metrics: Iterable[str]) -> None:
    def check(metric: str) -> None:
        advice = quick(metric=metric)
        assert advice.metric == metric
        for table in (advice, advice.next_round):
            assert table is not None
            assert min(row.ratio_to_best for row in table.recommendations) == pytest.approx(1)  # type: ignore[type-var]
            for row in table.recommendations:
                assert 0 <= row.error_low <= row.error_high
                assert row.ratio_low <= row.ratio_to_best <= row.ratio_high  # type: ignore[operator]
                if row.method == "none":
                    assert row.error == row.error_without_postprocessing
        assert math.fsum(row.probability_best or 0 for row in advice.recommendations) == pytest.approx(1)

    assert failures(metrics, check) == {}


def rows_of(advice: Advice) -> list[dict[str, object]]:
    return [row._asdict() for row in advice.recommendations]


def test_counts_mapping_and_series_agree_with_frequencies() -> None:
    values, few = raw(), {"repetitions": 2, "method": "norm_sub", "surrogate": "norm_sub"}
    expected = rows_of(quick(values, **few))
    assert rows_of(quick(values.tolist(), **few)) == expected
    shuffled = rng_for(0, "tests", "order").permutation(K)
    assert rows_of(quick({int(place): values[place] for place in shuffled}, **few)) == expected
    assert rows_of(quick(pd.Series(values), **few)) == expected
    from_counts = quick(values * N, **few)
    assert from_counts.request.collected is not None
    np.testing.assert_allclose(from_counts.request.collected.observed.estimate, values, rtol=1e-12)


def test_labels_come_along() -> None:
    advice = quick(pd.Series({"b": 0.5, "a": 0.3, "c": 0.2}), n=1000)
    assert advice.request.labels == ("b", "a", "c")
    assert not advice.request.ordered
    assert advice.request.collected is not None
    assert advice.request.collected.observed.estimate.tolist() == [0.5, 0.3, 0.2]


def test_numbers_depend_on_the_seed_and_not_on_the_jobs() -> None:
    one, same, other = (rows_of(quick(**more, **ALONE)) for more in ({}, {"jobs": 2}, {"seed": 1}))
    assert one == same
    assert one != other


def test_repetitions_are_rounded_up_to_equal_shares() -> None:
    def check(cell: tuple[str, int | None, int]) -> None:
        surrogate, (asked, given) = cell
        settings = RankSettings(Question(epsilon=1.0), simulation=Simulation(repetitions=asked))
        labels = [str(place) for place in range(K)]
        collected = collect(labels, raw(), protocol="oue", epsilon=1.0, n=N)
        request = build_estimate_request(settings, collected, name="x", surrogate=surrogate)
        assert request.populations is not None
        assert request.populations.shape == (min(given, DRAWS) if surrogate == "ensemble" else 1, K)
        assert (request.populations.sum(axis=1) == N).all()
        assert request.repetitions == request.max_repetitions == (given if surrogate == "ensemble" else asked or given)

    assert (
        failures(product(["ensemble", "norm_sub"], [(2, 2), (60, 60), (61, 120), (180, 180), (None, 240)]), check) == {}
    )


@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_very_large_domain_gets_fewer_populations_and_no_fewer_than_8(
    monkeypatch: pytest.MonkeyPatch, *, drawn: bool
) -> None:
    for k, draws in ((4097, 59), (40_000, 8)):
        if not drawn:  # how many are asked for, without the second that it takes to draw them
            even = partial(np.full, fill_value=1 / k)
            monkeypatch.setattr(
                estimate_request, "_frequencies_behind", lambda *asked, even=even, k=k: even((asked[-1], k))
            )
        settings = RankSettings(Question(epsilon=1.0))
        collected = collect([str(place) for place in range(k)], raw(k=k), protocol="oue", epsilon=1.0, n=N)
        request = build_estimate_request(settings, collected, name="x", surrogate=None)
        assert len(request.populations) == draws  # type: ignore[arg-type]
        assert request.repetitions == COLLECTIONS * draws


def test_one_consistent_population_gives_no_probabilities() -> None:
    def check(surrogate: str) -> None:
        advice = quick(surrogate=surrogate)
        assert advice.request.surrogate == surrogate.lower().replace("-", "_")
        assert len(advice.request.populations) == 1  # type: ignore[arg-type]
        assert {row.probability_best for row in advice.recommendations} == {None}
        assert "one population taken for the truth" in text_of(advice)
        assert "probability" not in text_of(advice)
        SCHEMA.validate(json.loads(advice.to_json()))

    assert failures(["norm_sub", "Power-NS", "wavelet_eb"], check) == {}


def test_methods_that_do_not_fit_the_protocol_are_left_out() -> None:
    def check(protocol: str) -> None:
        advice = quick(
            raw(protocol), protocol, method=("none", "ibu", "ibu_pseudo"), surrogate="norm_sub", repetitions=2, **ALONE
        )
        noise = PROTOCOLS[protocol](K, 1.0).noise(N)
        fitting = {name for name in ("ibu", "ibu_pseudo") if POSTPROCESSORS[name].accepts(noise, K)}
        assert {row.method for row in advice.recommendations} == {"none"} | fitting
        assert {row.protocol for row in advice.recommendations} == {protocol}

    assert failures(frequency_oracles(), check) == {}


@pytest.mark.parametrize(("protocol", "k", "n"), [("grr", 2, 1), pytest.param("oue", 5, 7, marks=pytest.mark.slow)])
def test_a_handful_of_users_is_answered(protocol: str, k: int, n: int) -> None:
    advice = quick(raw(protocol, k, n), protocol, n, repetitions=2)
    assert len(advice.recommendations) == 3
    SCHEMA.validate(json.loads(advice.to_json()))


def test_an_estimate_of_nothing_is_not_called_useful() -> None:
    options = QUICK | {"repetitions": 2} | ALONE
    advice = advise(0.01, estimate=raw(n=500, epsilon=0.01), protocol="oue", n=500, **options)  # type: ignore[arg-type]
    assert not advice.beats_uniform_guess
    assert advice.verdict == "no_better_than_no_data"
    assert text_of(advice).startswith("This estimate says no more than assuming equal frequencies")


def test_a_clipped_estimate_carries_its_warning() -> None:
    cut = POSTPROCESSORS["norm_sub"](raw(k=64, n=2000), PROTOCOLS["oue"](64, 1.0).noise(2000))
    (warning,) = quick(cut, n=2000, surrogate="norm_sub", **ALONE).warnings
    assert "this is not a raw estimate" in warning


# --- errors ----------------------------------------------------------------------------------------------------


def test_bad_requests_are_value_errors_of_one_line() -> None:
    cells = [
        ({"n": None}, "estimate needs n, the number of users who reported"),
        ({"protocol": None}, "the one protocol it comes from: protocol, got none"),
        ({"protocol": ["oue", "grr"]}, "the one protocol it comes from: protocol, got oue, grr"),
        ({"protocol": "ou"}, "unknown protocol 'ou'.*did you mean 'oue'"),
        ({"sample": [1, 2]}, "the sample does not go with an estimate"),
        ({"sample_counts": [1, 2]}, "the sample does not go with an estimate"),
        ({"max_repetitions": 100}, "max-reps is for a sample"),
        ({"repetitions": 1}, "reps must be a whole number of at least 2"),
        ({"surrogate": "norm_su"}, "surrogate must be one of ensemble, .* did you mean 'norm_sub'"),
        ({"surrogate": "wavelet_eb", "ordered": False}, "wavelet_eb needs an ordered domain"),
        ({"metric": "emd", "ordered": False}, "metric emd needs an ordered domain"),
        ({"metric": "all"}, "advise answers for one metric at a time, got all"),
        ({"metric": "topk", "top_values": 11}, "top-values must be at most k=10, got 11"),
        ({"method": "wavelet_eb", "ordered": False}, "method wavelet_eb needs an ordered domain"),
        ({"method": "post_pos"}, "changes only the answers of queries"),
        ({"method": "ibu"}, "no method asked for goes with the protocols asked for: ibu with oue"),
        ({"k": 11}, "has 10 categories, k = 11 was given"),
        ({"estimate": 0.5}, r"flat, at least 2 categories, got shape \(1,\)"),
        ({"estimate": [1.0]}, "at least 2 categories"),
        ({"estimate": []}, "at least 2 categories"),
        ({"estimate": [[0.5, 0.5]]}, "flat"),
        ({"estimate": [[0.5], [0.5, 0.1]]}, "must hold numbers"),
        ({"estimate": "abc"}, "must hold numbers"),
        ({"estimate": (share for share in (0.5, 0.5))}, "must hold numbers"),
        ({"estimate": [0.5, None]}, "1 missing or infinite"),
        ({"estimate": [0.5, math.inf]}, "1 missing or infinite"),
        ({"estimate": {1: 0.5, "1": 0.5}}, "each label once"),
        ({"estimate": np.arange(10.0)}, "sums to 45, which is neither about 1"),
    ]

    def check(cell: tuple[dict[str, object], str]) -> None:
        options, message = cell
        with pytest.raises(ValueError, match=message) as caught:
            quick(**options)
        assert isinstance(caught.value, InputError)
        assert "\n" not in str(caught.value)

    assert failures(cells, check) == {}


def test_a_surrogate_is_for_an_estimate() -> None:
    with pytest.raises(InputError, match="surrogate goes with an estimate"):
        advise(1.0, sample_counts=[5, 5], surrogate="norm_sub")
