"""Every recipe runs as it stands; those with numpy alone give this package's numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from knowledge.recipes import NUMPY, numpy_recipe, package_recipe
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, Noise, frequency_oracles
from simulator.domain import ORDERED
from simulator.methods import expectation, observe
from simulator.methods.ordered import ORDERED_METHODS
from simulator.protocols.ordered import ORDERED_PROTOCOLS

KINDS: dict[str, Mapping[str, Any]] = {"protocol": PROTOCOLS, "method": POSTPROCESSORS, "metric": METRICS}
MEMBERS = [(kind, key) for kind, table in KINDS.items() for key in table]
ORACLES = frequency_oracles()
NOISES = {key: ORACLES[key](k=8, epsilon=1.0).noise(1_000) for key in ("oue", "grr", "blh", "olh")}


def executed(recipe: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(recipe, "recipe", "exec"), names)  # noqa: S102 - what is tested is that it runs
    return names


def assert_same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


def estimates(seed: int, k: int = 8) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Raw estimates of many kinds: little and much noise, sums far from 1, nothing positive, one value above 1."""
    rng = np.random.default_rng(seed)
    shares = [rng.dirichlet(np.full(k, spread)) for spread in (0.1, 1.0, 10.0)]
    noisy = [share + rng.normal(scale=sd, size=k) for share in shares for sd in (0.0, 0.01, 0.3, 3.0)]
    return [*noisy, -np.abs(noisy[-1]), np.append(1.5, np.zeros(k - 1)), np.full(k, 1 / k)]


@pytest.mark.parametrize(("kind", "key"), MEMBERS)
def test_recipes_can_be_copied(kind: str, key: str) -> None:
    for recipe in (package_recipe(kind, key), numpy_recipe(key)):
        if recipe is not None:
            assert recipe.endswith("\n")
            assert "\t" not in recipe
            assert max(map(len, recipe.splitlines())) <= 100
            assert "{" not in recipe  # nothing left to fill in


@pytest.mark.parametrize("key", PROTOCOLS)
def test_protocol_recipes_run(key: str) -> None:
    names = executed(package_recipe("protocol", key))
    assert ("estimate" in names) == ("sd" in names) == PROTOCOLS[key](16, 1.0).offers("estimate")
    for result in {"estimate", "sd", "improved", "simulated"} & names.keys():
        assert names[result].shape == (16,)
        assert np.isfinite(names[result]).all()
    assert names["tally"].n == 1_000
    assert (names.get("sd", np.ones(1)) > 0).all()
    # A thousand times the users: errors have a mean of 0.004, for square wave 0.008, and hardly ever reach twice that.
    assert np.abs(names["simulated"] - names["counts"] / names["counts"].sum()).max() < 0.05


@pytest.mark.parametrize("key", ORDERED_PROTOCOLS)
def test_recipes_for_ordered_domains_end_with_a_method_for_the_whole_distribution(key: str) -> None:
    method = "em_stopped" if key == "sw" else "tree_eb"
    assert f'POSTPROCESSORS["{method}"].apply(observed)' in package_recipe("protocol", key)


@pytest.mark.parametrize("key", ORDERED_METHODS)
def test_recipes_of_methods_for_ordered_domains_begin_with_a_protocol_for_these(key: str) -> None:
    protocol = "sw" if key.startswith("em") else "tree"
    assert f'protocol = PROTOCOLS["{protocol}"]' in package_recipe("method", key)


@pytest.mark.parametrize("key", POSTPROCESSORS)
def test_method_recipes_run(key: str) -> None:
    names = executed(package_recipe("method", key))
    k = 8 if "oracle" in names else 16
    assert names["improved"].shape == (k,)
    assert np.isfinite(names["improved"]).all()
    assert np.isfinite(names.get("answer", 0.0))
    assert ("answer" in names) == POSTPROCESSORS[key].queries_only


@pytest.mark.parametrize("key", METRICS)
def test_metric_recipes_run(key: str) -> None:
    names = executed(package_recipe("metric", key))
    for result in ("error", "other", "clipped"):
        assert np.isfinite(names.get(result, 0.0))
    assert (names["error"] > 0) == (key != "quantiles")  # its deciles are right to the category
    assert ("clipped" in names) == (METRICS[key].clipped is not None)
    assert ("other" in names) == (key in ("kl", "js", "topk", "set"))


def test_the_simple_members_have_a_recipe_with_numpy_alone() -> None:
    methods = {"base_pos", "base_cut", "norm", "norm_mul", "norm_sub", "norm_cut", "mle_apx", "ibu", "iso_cdf"}
    assert set(NUMPY) == {"grr", "oue", "sw", *methods, "l1", "mae", "mse", "l2", "emd", "mean", "ks"}
    assert numpy_recipe("olh") is None


@pytest.mark.parametrize("key", NUMPY)
def test_numpy_recipes_need_numpy_alone_and_run(key: str) -> None:
    recipe = NUMPY[key]
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(recipe))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported <= {"numpy", "statistics"}
    names = executed(recipe)
    result = next(names[name] for name in ("improved", "error", "estimate") if name in names)
    assert np.isfinite(result).all()


@pytest.mark.parametrize("key", ["base_pos", "norm", "norm_mul", "norm_sub", "norm_cut", "iso_cdf"])
@pytest.mark.parametrize("k", [2, 8, 300])
def test_numpy_methods_give_the_numbers_of_the_package(key: str, k: int) -> None:
    function = executed(NUMPY[key])[key]
    noise = ORACLES["oue"](k=k, epsilon=1.0).noise(1_000)
    for estimate in estimates(1, k):
        assert_same(function(estimate), POSTPROCESSORS[key](estimate, noise))


@pytest.mark.parametrize("k", [2, 4, 5, 300])
def test_numpy_base_cut_gives_the_numbers_of_the_package(k: int) -> None:
    function = executed(NUMPY["base_cut"])["base_cut"]
    noise = ORACLES["oue"](k=k, epsilon=1.0).noise(1_000)
    for estimate in estimates(2, k):
        assert_same(function(estimate, noise.sd), POSTPROCESSORS["base_cut"](estimate, noise))


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_numpy_mle_apx_gives_the_numbers_of_the_package(noise: Noise) -> None:
    function = executed(NUMPY["mle_apx"])["mle_apx"]
    for estimate in estimates(3):
        expected = POSTPROCESSORS["mle_apx"](estimate, noise)
        assert_same(function(estimate, noise.p, noise.q), expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("k", [2, 8, 300])
def test_numpy_ibu_gives_the_numbers_of_the_package(k: int, epsilon: float) -> None:
    function = executed(NUMPY["ibu"])["ibu_grr"]
    rng = np.random.default_rng(4)
    oracle = ORACLES["grr"](k=k, epsilon=epsilon)
    for spread in (0.1, 1.0, 10.0):
        reported = oracle.sample_support(rng.multinomial(5_000, rng.dirichlet(np.full(k, spread))), rng)
        expected = POSTPROCESSORS["ibu"](oracle.estimate(reported, 5_000), oracle.noise(5_000))
        assert_same(function(reported, epsilon), expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("k", [2, 7, 40])
def test_the_numpy_square_wave_gives_the_reports_of_the_package(k: int, epsilon: float) -> None:
    names, protocol = executed(NUMPY["sw"]), PROTOCOLS["sw"](k=k, epsilon=epsilon)
    values = np.random.default_rng(5).integers(0, k, size=2_000)
    reports = names["sw_client"](values, k, epsilon, np.random.default_rng(6))
    np.testing.assert_array_equal(reports, protocol.perturb(values, np.random.default_rng(6)))


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (8, 0.5), (20, 0.2)])
def test_the_numpy_square_wave_estimates_as_em_does(k: int, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectation, "ONE_BY_ONE", 10_000)  # every step as it is, none of them in leaps
    names, protocol = executed(NUMPY["sw"]), PROTOCOLS["sw"](k=k, epsilon=epsilon)
    rng = np.random.default_rng(7)
    for seed in range(5):
        reports = protocol.perturb(np.random.default_rng(seed).integers(0, k // 2 + 1, size=200) % k, rng)
        expected = POSTPROCESSORS["em"].apply(observe(protocol, protocol.tally(reports), ORDERED))
        assert_same(names["sw_server"](reports, k, epsilon), expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("key", ["grr", "oue"])
def test_numpy_protocols_give_the_reports_and_estimates_of_the_package(key: str, epsilon: float) -> None:
    names, k = executed(NUMPY[key]), 7
    oracle = ORACLES[key](k=k, epsilon=epsilon)
    values = np.random.default_rng(5).integers(0, k, size=2_000)
    reports = names[f"{key}_client"](values, k, epsilon, np.random.default_rng(6))
    np.testing.assert_array_equal(reports, oracle.perturb(values, np.random.default_rng(6)))
    size = {"k": k} if key == "grr" else {}
    estimate = names[f"{key}_server"](reports, epsilon=epsilon, **size)
    assert_same(estimate, oracle.estimate(oracle.support(reports), len(values)))


@pytest.mark.parametrize("key", ["l1", "mae", "mse", "l2", "emd", "mean", "ks"])
def test_numpy_metrics_give_the_numbers_of_the_package(key: str) -> None:
    function = executed(NUMPY[key])[key]
    truth = np.random.default_rng(7).dirichlet(np.ones(8))
    for estimate in estimates(8):
        assert_same(function(estimate, truth), METRICS[key](estimate, truth))


def test_an_unknown_member_has_no_recipe() -> None:
    with pytest.raises(KeyError):
        package_recipe("method", "wishful")
    with pytest.raises(KeyError):
        package_recipe("attack", "grr")
