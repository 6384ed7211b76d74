"""Every recipe runs as it stands; those with numpy alone give this package's numbers."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from knowledge.recipes import method_code, metric_code, package_recipe
from knowledge.recipes.methods import method_recipe
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, Noise, frequency_oracles
from simulator.domain import Attackers, Domain
from simulator.methods.ordered import ORDERED_METHODS
from simulator.protocols import ORDERED_PROTOCOLS
from tests.cells import failures

CODE = {"method": method_code, "metric": metric_code}
METRIC_CODE = [key for key in METRICS if metric_code(key) is not None]
METHOD_CODE = [key for key in POSTPROCESSORS if method_code(key) is not None]
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


def test_recipes_can_be_copied() -> None:
    def check(cell: tuple[str, str]) -> None:
        kind, key = cell
        recipe = package_recipe(kind, key)
        assert max(map(len, recipe.splitlines())) <= 100
        assert "{" not in recipe  # nothing left to fill in
        for code in (recipe, CODE[kind](key) if kind in CODE else None):
            if code is not None:
                assert code.endswith("\n")
                assert "\t" not in code
                assert "__" not in code.replace("__init__", "").replace("__future__", "").replace("__call__", "")
                assert max(map(len, code.splitlines())) <= 120

    assert failures(MEMBERS, check) == {}


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


def test_methods_that_change_anything_and_simple_metrics_have_code_with_numpy_alone() -> None:
    assert set(METHOD_CODE) == POSTPROCESSORS.keys() - {"none", "post_pos", "drop_fakes"}
    assert METRIC_CODE == ["l1", "mae", "mse", "l2", "emd", "mean", "ks"]


@pytest.mark.parametrize("key", [*METHOD_CODE, *METRIC_CODE])
def test_code_with_numpy_alone_needs_nothing_else_and_runs(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = method_code(key) if key in METHOD_CODE else metric_code(key)
    assert code is not None
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in imported} <= {"numpy", *sys.stdlib_module_names}
    module = ModuleType("recipe")
    monkeypatch.setitem(sys.modules, "recipe", module)  # data classes look for their module there
    exec(compile(code, "recipe", "exec"), module.__dict__)  # noqa: S102 - what is tested is that it runs
    result = getattr(module, "improved" if key in METHOD_CODE else "error")
    assert np.isfinite(result).all()
    assert key in METRIC_CODE or result.shape == (8,)


def short(key: str) -> Any:
    recipe = method_recipe(key)
    assert recipe is not None
    return executed(recipe.source)[recipe.names[0]]


def test_numpy_methods_give_the_numbers_of_the_package() -> None:
    def check(cell: tuple[str, int]) -> None:
        key, k = cell
        function = short(key)
        noise = ORACLES["oue"](k=k, epsilon=1.0).noise(1_000)
        for estimate in estimates(1, k):
            assert_same(function(estimate), POSTPROCESSORS[key](estimate, noise))

    cells = itertools.product(["base_pos", "norm", "norm_mul", "norm_sub", "norm_cut", "iso_cdf"], [2, 8, 300])
    assert failures(cells, check) == {}


def test_numpy_remedies_give_the_numbers_of_the_package() -> None:
    def check(cell: tuple[str, str]) -> None:
        key, protocol = cell
        function, k, targets = short(key), 8, (1, 4)
        oracle = ORACLES[protocol](k=k, epsilon=1.0)
        noise = oracle.noise(1_000)
        told: dict[str, tuple[Any, ...]] = {
            "norm_min": (),
            "recover": (oracle.p, oracle.q, 0.1),
            "recover_known": (oracle.p, oracle.q, 0.1, list(targets)),
            "subtract_fakes": (
                oracle.p, oracle.q, 0.1, list(targets),
                {"oue": None, "grr": 1}.get(protocol, getattr(oracle, "omega", 1)),
            ),
        }  # fmt: skip
        for estimate in estimates(3, k):
            expected = POSTPROCESSORS[key](estimate, noise, Domain(attackers=Attackers(0.1, targets)))
            assert_same(function(estimate, *told[key]), expected)

    cells = itertools.product(["norm_min", "recover", "recover_known", "subtract_fakes"], ["oue", "grr", "ss"])
    assert failures(cells, check) == {}


@pytest.mark.parametrize("k", [2, 4, 5, 300])
def test_numpy_base_cut_gives_the_numbers_of_the_package(k: int) -> None:
    function = short("base_cut")
    noise = ORACLES["oue"](k=k, epsilon=1.0).noise(1_000)
    for estimate in estimates(2, k):
        assert_same(function(estimate, noise.sd), POSTPROCESSORS["base_cut"](estimate, noise))


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_numpy_mle_apx_gives_the_numbers_of_the_package(noise: Noise) -> None:
    function = short("mle_apx")
    for estimate in estimates(3):
        expected = POSTPROCESSORS["mle_apx"](estimate, noise)
        assert_same(function(estimate, noise.variance_slope / noise.variance_at_zero), expected)


def test_numpy_ibu_gives_the_numbers_of_the_package() -> None:
    def check(cell: tuple[float, int]) -> None:
        epsilon, k = cell
        function = short("ibu")
        rng = np.random.default_rng(4)
        oracle = ORACLES["grr"](k=k, epsilon=epsilon)
        for spread in (0.1, 1.0, 10.0):
            reported = oracle.sample_support(rng.multinomial(5_000, rng.dirichlet(np.full(k, spread))), rng)
            estimate = oracle.estimate(reported, 5_000)
            expected = POSTPROCESSORS["ibu"](estimate, oracle.noise(5_000))
            assert_same(function(estimate, oracle.p, oracle.q), expected)

    assert failures(itertools.product([0.1, 1.0, 5.0], [2, 8, 300]), check) == {}


@pytest.mark.parametrize("key", ["l1", "mae", "mse", "l2", "emd", "mean", "ks"])
def test_numpy_metrics_give_the_numbers_of_the_package(key: str) -> None:
    function = executed(metric_code(key) or "")[key]
    truth = np.random.default_rng(7).dirichlet(np.ones(8))
    for estimate in estimates(8):
        assert_same(function(estimate, truth), METRICS[key](estimate, truth))


def test_an_unknown_member_has_no_recipe() -> None:
    with pytest.raises(KeyError):
        package_recipe("method", "wishful")
    with pytest.raises(KeyError):
        package_recipe("attack", "grr")
