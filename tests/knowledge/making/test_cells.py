from __future__ import annotations

import itertools
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from knowledge.build import collect
from knowledge.making.cells import OTHER_PROTOCOLS, SimulatedCell, cell, measured_of, record_of, simulate
from knowledge.making.populations import ORDERED_FAMILIES, draw
from knowledge.making.store import Store
from knowledge.making.workers import Workers
from knowledge.menu import ALIASES, COVERED, EPSILON, MEASURED, METHODS, USERS
from simulator import METRICS as ERRORS
from simulator import POSTPROCESSORS, frequency_oracles, rng_for
from tests.cells import failures

PLAN = {"seed": 0}
SIMULATED = partial(record_of, seed=0, largest=8)


def own_names(table: dict[str, object]) -> set[str]:
    """Names of this package's members: those that entry points bring in are not simulated."""
    return {
        name
        for name, member in table.items()
        if str(getattr(member, "function", member).__module__).startswith("simulator")
    }


def test_all_methods_and_metrics_are_simulated() -> None:
    remedies = {name for name, method in POSTPROCESSORS.items() if method.is_remedy}  # the cells hold no fake users
    assert own_names(dict(POSTPROCESSORS)) - remedies == {*COVERED, *ALIASES}
    assert own_names(dict(ERRORS)) == {*MEASURED, "mae"}  # mae is l1 / k


def test_populations_are_frequencies() -> None:
    def check(cell: tuple[str, int]) -> None:
        family, k = cell
        for number in range(5):
            population = draw(family, k, rng_for(0, "test", number))
            assert population.frequencies.shape == (k,)
            assert population.frequencies.sum() == pytest.approx(1)
            assert (population.frequencies >= 0).all()
            assert np.isfinite(population.frequencies).all()

    assert failures(itertools.product(ORDERED_FAMILIES, [2, 3, 50]), check) == {}


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="family must be one of"):
        draw("cauchy", 5, rng_for(0))


def test_cells_are_drawn_within_the_range_and_reproducibly() -> None:
    for index in range(200):
        drawn = cell(index)
        assert drawn == cell(index)
        assert 2 <= drawn.k <= 4096
        assert EPSILON[0] <= drawn.epsilon <= EPSILON[1]
        assert USERS[0] <= drawn.n <= USERS[1]
    assert cell(0) != cell(0, seed=1)


def test_other_noises_are_drawn_for_the_same_users_and_reproducibly() -> None:
    drawn = cell(3)
    noises = drawn.other_noises(40)
    assert noises == drawn.other_noises(40)
    assert noises[:2] == drawn.other_noises(2)
    assert noises != cell(3, seed=1).other_noises(40)
    assert {noise.n for noise in noises} == {drawn.n}
    assert len({noise.variance_at_zero for noise in noises}) == 40
    assert {*OTHER_PROTOCOLS} == own_names(dict(frequency_oracles()))


def test_simulated_errors_are_those_of_the_methods() -> None:
    """A cell by hand: one population, one method, the cell's own stream."""
    one = SimulatedCell(7, 12, "oue", 1.0, 5_000, ("zipf", "uniform"))
    measured = simulate(one)
    assert measured.error.shape == (2, len(METHODS), len(MEASURED))
    assert (measured.error > 0).all()
    raw = measured.error[:, METHODS.index("none"), MEASURED.index("mse")]
    spread = np.sqrt(measured.relative_variance[:, METHODS.index("none"), MEASURED.index("mse")])
    expected = one.noise.variance_at_zero + one.noise.variance_slope / 12
    assert (np.abs(raw / expected - 1) < 5 * spread).all()  # 5 standard errors, twice
    queries = measured.error[:, METHODS.index("post_pos")]
    assert (queries[:, MEASURED.index("l1")] == measured.error[:, METHODS.index("none"), MEASURED.index("l1")]).all()
    assert (queries[:, MEASURED.index("set")] <= measured.error[:, METHODS.index("none"), MEASURED.index("set")]).all()


def test_deciles_that_no_repetition_misses_count_as_half_of_the_least_that_they_can_miss() -> None:
    sure = SimulatedCell(7, 12, "oue", 16.0, 10**9, ("zipf", "gaussian"))
    deciles = simulate(sure).error[:, :, MEASURED.index("quantiles")]
    assert (deciles == 1 / 9 / (2 * sure.repetitions)).all()


def test_a_stored_cell_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedCell, "repetitions", 6)
    measured = simulate(cell(5, largest=16))
    back = measured_of(json.loads(json.dumps(measured.to_record())), measured.cell)
    np.testing.assert_allclose(back.error, measured.error, rtol=1e-4)


def test_a_killed_build_loses_one_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedCell, "repetitions", 2)
    path = tmp_path / "cells.jsonl"
    store = Store(path, PLAN)
    collect(store, 2, SIMULATED, Workers())
    whole = store.records()
    text = path.read_text()
    path.write_text(text[:-200])  # killed while it wrote the last line
    again = Store(path, PLAN)
    assert sorted(again.records()) == [0]
    steps: list[tuple[int, int]] = []
    collect(again, 2, SIMULATED, Workers(), lambda done, number: steps.append((done, number)))
    assert steps == [(2, 2)]
    assert again.records() == whole


def test_garbage_between_cells_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    store = Store(path, PLAN)
    store.add({"index": 1, "error": []})
    with path.open("ab") as file:
        file.write(b'\xff\xfe\x00{"index": 2, "er\n17\n')
    store.add({"index": 3, "error": []})
    assert sorted(Store(path, PLAN).records()) == [1, 3]


def test_the_cells_of_another_build_are_refused(tmp_path: Path) -> None:
    Store(tmp_path / "cells.jsonl", PLAN)
    with pytest.raises(ValueError, match="another build"):
        Store(tmp_path / "cells.jsonl", {"seed": 1})


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "jobs"), [("threading", 2), ("loky", 2)])
def test_cells_do_not_depend_on_the_workers(tmp_path: Path, backend: str, jobs: int) -> None:
    store = Store(tmp_path / "cells.jsonl", PLAN)
    collect(store, 4, SIMULATED, Workers(jobs, backend))
    assert store.records() == {index: SIMULATED(index) for index in range(4)}


@pytest.mark.slow
def test_cells_do_not_depend_on_the_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra ldp-advise[cluster] is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        store = Store(tmp_path / "cells.jsonl", PLAN)
        collect(store, 4, SIMULATED, Workers(1, "dask", cluster.scheduler_address))
    assert store.records() == {index: SIMULATED(index) for index in range(4)}


@pytest.mark.parametrize(("backend", "scheduler"), [("loky", "tcp://127.0.0.1:1"), ("spark", None)])
def test_backends_that_do_not_go_are_refused(backend: str, scheduler: str | None) -> None:
    with pytest.raises(ValueError, match="backend"):
        Workers(1, backend, scheduler)


def test_a_build_that_was_killed_at_once_starts_over(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    path.write_text('{"plan":{"se', encoding="utf-8")
    store = Store(path, {"seed": 0})
    store.add({"index": 0})
    assert Store(path, {"seed": 0}).records() == {0: {"index": 0}}
