"""Blends of methods: their names, what they give, and which one is tried, against slow references."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, PostProcessor
from simulator.benchmark import Experiment, Runs, simulate
from simulator.blending import PARTNERS, best_combination, candidate_blends, with_blends
from simulator.domain import ORDERED, UNORDERED, Domain
from simulator.methods import Observed, observe
from simulator.methods.blend import POSTERIOR_MEDIAN, blend, blend_name, parts_of, shares_text
from simulator.populations import apportion, frequencies
from simulator.protocols.protocol import Tally
from tests.cells import failures

from .law import stream

K, N = 16, 20_000


def experiment(methods: tuple[str, ...], populations: int = 3) -> Experiment:
    shapes = ["zipf", "gaussian", "uniform"][:populations]
    return Experiment(
        counts=np.stack([apportion(frequencies(shape, K), N) for shape in shapes]),
        oracles={"oue": PROTOCOLS["oue"](K, 1.0)},
        methods={name: POSTPROCESSORS[name] for name in methods},
        metrics={name: METRICS[name] for name in ("l1", "l2", "kl", "topk")},
        pairs=tuple(("oue", name) for name in methods),
    )


# --- names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["eb_ns+norm_sub", "eb_ns*3+norm_sub", "eb_ns*2+norm_sub*1+power"])
def test_a_name_gives_its_parts_and_they_give_the_shortest_name(name: str) -> None:
    parts = parts_of(name)
    assert parts["eb_ns"] == {"eb_ns+norm_sub": 1, "eb_ns*3+norm_sub": 3}.get(name, 2)
    assert blend_name(parts) == name.replace("*1", "")
    assert blend_name({part: 5 * times for part, times in parts.items()}) == blend_name(parts)
    assert parts_of(blend_name(parts)) == parts


def test_other_names_are_none_of_a_blend() -> None:
    def check(name: str) -> None:
        assert parts_of(name) == {}
        assert name == "eb_ns" or name not in POSTPROCESSORS
        if name != "eb_ns":
            with pytest.raises(KeyError):
                POSTPROCESSORS[name]

    cells = ["eb_ns", "", "+", "eb_ns+", "eb_ns*0+norm", "eb_ns*100+norm", "eb_ns+eb_ns", "A+b", "eb_ns*3", "a + b"]
    assert failures(cells, check) == {}


def test_the_table_lists_no_blend_and_knows_none_of_strangers() -> None:
    before = list(POSTPROCESSORS)
    assert isinstance(POSTPROCESSORS["eb_ns+norm_sub"], PostProcessor)
    assert list(POSTPROCESSORS) == before
    with pytest.raises(KeyError, match="not_here"):
        POSTPROCESSORS["eb_ns+not_here"]


def test_shares_are_fractions_in_lowest_terms() -> None:
    assert shares_text({"A": 2, "B": 2}) == "½ A + ½ B"
    assert shares_text({"A": 6, "B": 1}) == "6/7 A + 1/7 B"
    assert POSTPROCESSORS["eb_ns*3+norm_sub"].title == "¾ Empirical Bayes + ¼ Norm-Sub"


# --- what a blend gives ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["eb_ns+norm_sub", "power*3+norm_mul", "none+norm_sub", "em*2+em_stopped"])
def test_a_blend_is_the_weighted_mean_and_keeps_what_all_parts_keep(name: str) -> None:
    parts, method = parts_of(name), POSTPROCESSORS[name]
    protocol = PROTOCOLS["sw" if "em" in parts else "oue"](K, 1.0)
    observed = observe(protocol, protocol.sample_tally(apportion(frequencies("zipf", K), N), stream("blend", name)))
    results = {part: POSTPROCESSORS[part].compute(observed) for part in parts}
    mean = [
        math.fsum(times * results[part][value] for part, times in parts.items()) / sum(parts.values())
        for value in range(K)
    ]
    np.testing.assert_allclose(method.compute(observed), mean, atol=1e-15)
    assert method.gives == frozenset.intersection(*(POSTPROCESSORS[part].gives for part in parts))
    assert method.needs == frozenset().union(*(POSTPROCESSORS[part].needs for part in parts))
    assert method.keeps_order == all(POSTPROCESSORS[part].keeps_order for part in parts)


def test_a_blend_asks_every_condition() -> None:
    def strange(name: str, least: int) -> PostProcessor:
        return PostProcessor(
            name,
            name,
            lambda estimate, _: estimate,
            nonnegative=False,
            sums_to_one=False,
            reference="",
            fits=lambda _, k: k >= least,
        )

    noise = PROTOCOLS["oue"](K, 1.0).noise(N)
    both = blend({strange("a", 4): 1, strange("b", 9): 2})
    assert [both.accepts(noise, k) for k in (3, 8, 9)] == [False, False, True]


def test_the_results_are_not_changed_by_being_blended() -> None:
    methods = ("eb_ns", "norm_sub", "eb_ns*3+norm_sub", "eb_ns+norm_sub")
    plain = simulate(experiment(methods[:2]), 0, 12)
    both = simulate(experiment(methods), 0, 12)
    # Without its parts before it, a blend works them out itself.
    alone = simulate(experiment(methods[2:]), 0, 12)
    for name in methods[:2]:
        np.testing.assert_array_equal(both.errors["oue", name], plain.errors["oue", name])
    for name in methods[2:]:
        np.testing.assert_allclose(both.errors["oue", name], alone.errors["oue", name], rtol=1e-12)


@pytest.mark.parametrize(("protocol", "method"), [("oue", "eb_ns"), ("sw", "em")])
def test_the_uniform_guess_takes_its_share_off_what_a_method_sees(protocol: str, method: str) -> None:
    collect = PROTOCOLS[protocol](K, 1.0)
    counts = apportion(frequencies("zipf", K), N)
    tallies = [collect.sample_tally(counts, stream("uniform", place)) for place in range(3)]
    observed = observe(collect, Tally.stack(tallies), ORDERED)
    own = POSTPROCESSORS[method].compute(observed)
    for times, share in (("", 1 / 2), ("*3", 3 / 4)):
        mixed = POSTPROCESSORS[f"{method}{times}+uniform"].compute(observed)
        np.testing.assert_allclose(mixed, share * own + (1 - share) / K, atol=1e-15)
    np.testing.assert_array_equal(POSTPROCESSORS["uniform"].compute(observed), np.full((3, K), 1 / K))


def test_the_uniform_guess_is_no_method_of_the_table_and_needs_a_collection() -> None:
    assert "uniform" not in POSTPROCESSORS
    assert blend_name({"uniform": 2, "wavelet_eb": 2}) == "wavelet_eb+uniform"
    with pytest.raises(ValueError, match="nothing was collected"):
        POSTPROCESSORS["uniform"].compute(Observed(None, None))


def test_a_blend_with_the_uniform_guess_is_the_same_with_its_method_beside_it_and_alone() -> None:
    both = simulate(experiment(("eb_ns", "eb_ns*3+uniform")), 0, 12)
    alone = simulate(experiment(("eb_ns*3+uniform",)), 0, 12)
    name = ("oue", "eb_ns*3+uniform")
    np.testing.assert_allclose(both.errors[name], alone.errors[name], rtol=1e-12)
    # The third population is uniform, and there a quarter of the error goes.
    l1 = both.metrics.index("l1")
    np.testing.assert_allclose(both.errors[name][2::3, l1], 0.75 * both.errors["oue", "eb_ns"][2::3, l1], rtol=1e-9)


@pytest.mark.parametrize("metric", ["l1", "l2", "kl"])
def test_a_blend_is_never_worse_than_the_mean_of_its_parts(metric: str) -> None:
    runs = simulate(experiment(("eb_ns", "norm_sub", "eb_ns*3+norm_sub")), 0, 30)
    of = {pair[1]: errors for pair, errors in runs.of(metric).items()}
    assert (of["eb_ns*3+norm_sub"] <= 0.75 * of["eb_ns"] + 0.25 * of["norm_sub"] + 1e-12).all()


# --- which one is tried ----------------------------------------------------------------------------------------


def test_candidates_join_the_best_method_that_gives_frequencies_with_those_that_come_next() -> None:
    scores = {"none": 0.1, "power_ns": 0.5, "eb_ns": 0.2, "norm_sub": 0.3, "mle_apx": 0.6, "norm_mul": 0.4, "ibu": 0.7}
    names = candidate_blends(scores | {"wavelet_eb": math.inf})
    assert {frozenset(parts_of(name)) for name in names} == {
        frozenset({"eb_ns", other}) for other in ("norm_sub", "norm_mul", "power_ns", "mle_apx", "uniform")
    }
    assert len(set(names)) == 3 * PARTNERS + 1
    assert candidate_blends({"none": 0.1, "eb_ns": 1.0}) == ["eb_ns+uniform"]
    assert candidate_blends({"none": 1.0}) == []


@pytest.mark.parametrize("metric", [pytest.param("l1", marks=pytest.mark.slow), "kl", "topk"])
def test_the_best_blend_is_the_lowest_of_all_candidates_over_the_populations(metric: str) -> None:
    methods = ("none", "norm_sub", "power_ns", "eb_ns", "norm_mul", "mle_apx", "base_pos")
    asked = experiment(methods)
    early = simulate(asked, 0, 3)
    wider, runs = with_blends(asked, early, "oue", {metric: methods})
    runs += simulate(wider, 3, 3)

    def score(errors: np.ndarray) -> float:
        """Square roots of distances, fourth roots of squares; repetition r is of population r modulo 3."""
        root = 4 if metric == "topk" else 2
        return math.fsum(float(errors[place::3].mean()) ** (1 / root) for place in range(3)) / 3

    first = {name: score(early.column(("oue", name), metric)) for name in methods}
    proper = sorted((name for name in methods if name not in ("none", "base_pos")), key=first.__getitem__)
    names = [
        blend_name({proper[0]: one, other: more})
        for other, (one, more) in itertools.product(proper[1 : 1 + PARTNERS], ((1, 1), (1, 3), (3, 1)))
    ]
    names.append(blend_name({proper[0]: 1, "uniform": 1}))
    assert {pair[1] for pair in runs.errors} == {*methods, *names}
    # The same collections, but every blend on its own.
    tried = simulate(experiment(tuple(names)), 0, 6)
    for name in names:
        np.testing.assert_allclose(runs.errors["oue", name], tried.errors["oue", name], rtol=1e-9)
    scores = {name: score(tried.column(("oue", name), metric)) for name in names}
    lowest = min(scores, key=scores.__getitem__)
    alone = min(score(runs.column(("oue", name), metric)) for name in methods)
    expected = ("oue", lowest) if scores[lowest] < alone else None
    assert best_combination(wider, runs, "oue", metric, methods) == expected


def test_where_nothing_gives_frequencies_there_is_nothing_to_blend() -> None:
    asked = experiment(("none", "base_pos"))
    runs = simulate(asked, 0, 3)
    assert with_blends(asked, runs, "oue", {"l1": ("none", "base_pos")}) == (asked, runs)
    assert best_combination(asked, runs, "oue", "l1", ("none", "base_pos")) is None


@pytest.mark.parametrize(
    ("metric", "domain", "share", "listed"),
    [
        ("l1", UNORDERED, 0.95, True),
        ("l1", ORDERED, 0.95, True),
        ("l1", ORDERED, 1.05, False),
        ("emd", ORDERED, 0.83, True),
        ("emd", ORDERED, 0.84, False),
        ("topk", ORDERED, 0.83, True),
        ("topk", ORDERED, 0.84, False),
        ("topk", UNORDERED, 0.1, False),
    ],
)
def test_the_posterior_median_must_err_less_by_a_sixth_for_sums_and_largest_values(
    metric: str, domain: Domain, share: float, listed: bool
) -> None:
    asked = replace(experiment(("eb_ns",)), metrics={metric: METRICS[metric]}, domain=domain)
    runs = simulate(asked, 0, 6)
    errors = runs.errors["oue", "eb_ns"]
    both = Runs(
        runs.experiment_id, runs.metrics, 0, {("oue", "eb_ns"): errors, ("oue", POSTERIOR_MEDIAN): share * errors}
    )
    expected = ("oue", POSTERIOR_MEDIAN) if listed else None
    assert best_combination(asked, both, "oue", metric, ("eb_ns",)) == expected
