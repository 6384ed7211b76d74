from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import knowledge
from knowledge.cells import cell, measured_from, simulate
from knowledge.features import NAMES, describe, profile_of
from knowledge.grid import load, look_up, noises_of
from knowledge.menu import MEASURED, METHODS, METRICS, ORDERED_METRICS, applies
from knowledge.tree import load as load_trees
from knowledge.tree import rules
from simulator.populations import apportion, frequencies

DATA = Path(knowledge.__file__).parent / "data"


def test_the_data_is_complete_and_small() -> None:
    shipped = {path.name: path.stat().st_size for path in DATA.iterdir() if path.name != "cells.jsonl"}
    assert set(shipped) == {"grid.npy", "grid.json", "tree.json", "provenance.json", "checks.json"}
    assert sum(shipped.values()) < 5_000_000
    provenance = load().provenance
    assert provenance["methods"] == list(METHODS)
    assert provenance["metrics"] == list(MEASURED)
    assert provenance["networks"]["features"] == list(NAMES)


def test_shipped_cells_are_what_simulating_them_gives() -> None:
    provenance = load().provenance
    records = json.loads((DATA / "checks.json").read_text(encoding="utf-8"))["cells"]
    for record in records[:2]:
        again = simulate(cell(record["index"], seed=provenance["seed"], largest=provenance["simulated"]["k"][1]))
        np.testing.assert_allclose(np.array(again.to_record()["error"]), np.array(record["error"]), rtol=1e-6)


def test_the_grid_predicts_the_shipped_cells() -> None:
    """Half of the near-best errors within 10 %: the median miss of the surface, with what few repetitions add."""
    provenance = load().provenance
    misses = []
    for record in json.loads((DATA / "checks.json").read_text(encoding="utf-8"))["cells"]:
        measured = measured_from(record, provenance["seed"], provenance["simulated"]["k"][1])
        for population, error in zip(measured.cell.populations(), measured.error, strict=True):
            profile = profile_of(apportion(population.frequencies, measured.cell.n))
            (logs,), _ = load().log_errors([profile], [measured.cell.noise])
            near = error <= 1.2 * error.min(axis=0)
            misses += np.abs(logs[0] - np.log(error))[near].tolist()
    assert np.median(misses) < 0.1


@pytest.mark.parametrize("k", [2, 16, 300])
@pytest.mark.parametrize("metric", ["l1", "l2", "mse", "topk"])
def test_raw_errors_are_those_of_the_formulas(metric: str, k: int) -> None:
    """The raw estimate's error is known in closed form: the surface may miss it by 20 %."""
    profile = profile_of(frequencies("zipf", k, 1.0))
    noises = noises_of(k, 1.0, 50_000)
    expected = dict(zip(noises, describe([profile], list(noises.values())).raw[metric][0].tolist(), strict=True))
    if metric == "l2":  # the mean of the root is below the root of the mean
        expected = {name: value * (1 - 1 / (4 * k)) for name, value in expected.items()}
    found = look_up(profile, 1.0, 50_000, metric, methods=["none"])
    for row in found.rows:
        assert row.error == pytest.approx(expected[row.protocol], rel=0.2), row


def test_less_privacy_and_more_users_mean_smaller_errors() -> None:
    profile = profile_of(frequencies("zipf", 100, 1.0))
    for metric in METRICS:
        by_epsilon = [look_up(profile, epsilon, 100_000, metric).best.error for epsilon in (0.25, 0.5, 1.0, 2.0, 4.0)]
        by_users = [look_up(profile, 1.0, n, metric).best.error for n in (10**3, 10**4, 10**5, 10**6, 10**7)]
        assert by_epsilon == sorted(by_epsilon, reverse=True), metric
        assert by_users == sorted(by_users, reverse=True), metric


def test_there_is_a_tree_for_every_metric_and_its_rules_are_short() -> None:
    for metric in METRICS:
        for ordered in (True, False):
            if metric in ORDERED_METRICS and not ordered:
                continue
            text = rules(metric, ordered=ordered)
            assert 2 <= text.count("use ") <= 12
            assert max(map(len, text.splitlines())) <= 120
    for name, tree in load_trees().items():
        metric, _, unordered = name.partition("/")
        menu = [applies(method, metric, ordered=not unordered) for method in METHODS]
        for regret in tree.regret:
            assert [value >= 0 for value in regret] == menu
