import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from knowledge.build import collect
from knowledge.cells import PLACES, load_cells, save
from knowledge.describe.features import describe
from knowledge.describe.profile import profile_of
from knowledge.making.cells import OTHER_PROTOCOLS, SimulatedCell, cell, measured_of, simulate
from knowledge.making.ordered_cells import OrderedCell, ordered_cell, simulate_ordered
from knowledge.making.populations import ORDERED_FAMILIES, draw
from knowledge.making.store import Store
from knowledge.making.workers import Workers
from knowledge.menu import ALIASES, COVERED, EPSILON, MEASURED, METHODS, ORDERED_DOMAIN, USERS
from knowledge.model import load
from simulator import METRICS as ERRORS
from simulator import POSTPROCESSORS, frequency_oracles, rng_for
from simulator.populations import SHAPES, apportion
from tests.cells import failures, over
from tests.knowledge.conftest import own_names

PLAN = {"seed": 0}


def test_all_methods_and_metrics_are_simulated_and_known_families_drawn():
    remedies = {name for name, method in POSTPROCESSORS.items() if method.is_remedy}  # the cells hold no fake users
    assert own_names(POSTPROCESSORS) - remedies == {*COVERED, *ALIASES}
    # mae is l1 / k, tv l1 / 2; hotspots is only simulated, and sets are the user's
    assert own_names(ERRORS) == {*MEASURED, "mae", "tv", "hotspots", "sets"}
    with pytest.raises(ValueError, match="family must be one of"):
        draw("cauchy", 5, rng_for(0))


@over(itertools.product(ORDERED_FAMILIES, [2, 3, 50]))
def test_populations_are_frequencies(family, k):
    for number in range(5):
        population = draw(family, k, rng_for(0, "test", number))
        assert population.frequencies.shape == (k,)
        assert population.frequencies.sum() == pytest.approx(1)
        assert (population.frequencies >= 0).all()
        assert np.isfinite(population.frequencies).all()


@pytest.mark.parametrize(("drawn_as", "largest"), [(cell, 4096), (ordered_cell, ORDERED_DOMAIN)])
def test_cells_are_drawn_within_the_range_and_reproducibly(drawn_as, largest):
    for index in range(200):
        drawn = drawn_as(index)
        assert drawn == drawn_as(index)
        assert 2 <= drawn.k <= largest
        assert EPSILON[0] <= drawn.epsilon <= EPSILON[1]
        assert USERS[0] <= drawn.n <= USERS[1]
        if isinstance(drawn, OrderedCell):
            assert sum(not SHAPES[name].ordered for name in drawn.families if name in SHAPES) == 1
    assert drawn_as(0) != drawn_as(0, seed=1)


def test_other_noises_and_settings_are_drawn_like_those_of_cells_and_reproducibly():
    drawn = cell(3)
    noises = drawn.other_noises(40)
    assert noises == drawn.other_noises(40)
    assert noises[:2] == drawn.other_noises(2)
    assert noises != cell(3, seed=1).other_noises(40)
    assert {noise.n for noise in noises} == {drawn.n}
    assert len({noise.variance_at_zero for noise in noises}) == 40
    assert {*OTHER_PROTOCOLS} == own_names(frequency_oracles())
    drawn = ordered_cell(7).other_settings(50)
    assert drawn[:3] == ordered_cell(7).other_settings(3)
    assert all(EPSILON[0] <= epsilon <= EPSILON[1] and USERS[0] <= n <= USERS[1] for epsilon, n in drawn)


def test_simulated_errors_are_those_of_the_methods_and_deciles_that_none_misses_half_of_the_least(monkeypatch):
    monkeypatch.setattr(SimulatedCell, "repetitions", 12)
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
    sure = SimulatedCell(7, 12, "oue", 16.0, 10**9, ("zipf", "gaussian"))
    deciles = simulate(sure).error[:, :, MEASURED.index("quantiles")]
    assert (deciles == 1 / 9 / (2 * sure.repetitions)).all()


@pytest.mark.parametrize(("drawn_as", "simulated"), [(cell, simulate), (ordered_cell, simulate_ordered)])
def test_a_stored_cell_comes_back(drawn_as, simulated, monkeypatch):
    for kind in (SimulatedCell, OrderedCell):
        monkeypatch.setattr(kind, "repetitions", 2)
    measured = simulated(drawn_as(5, largest=4))
    back = measured_of(json.loads(json.dumps(measured.to_record())), measured.cell)
    np.testing.assert_allclose(back.error, measured.error, rtol=1e-4)


def test_shipped_cells_are_the_records_of_the_build(tiny):
    provenance, cells = load(tiny).provenance, load_cells(tiny)
    _, *lines = (tiny / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    records = {record["index"]: record for record in map(json.loads, lines)}
    assert cells.index.tolist() == sorted(records)
    span = np.ptp(cells.features, axis=(0, 1))
    for place, index in enumerate(cells.index.tolist()):
        one = cell(index, seed=provenance.seed, largest=provenance.largest)
        assert (one.k, one.n, one.protocol) == (cells.k[place], cells.n[place], cells.protocol[place])
        assert np.float32(one.epsilon) == cells.epsilon[place]
        errors = np.log(records[index]["error"])
        above = errors - errors.min(axis=1, keepdims=True)
        assert (np.abs(cells.log_errors[place] - errors) < 0.011 + 0.182 * (above + 0.05)).all()
        profiles = [profile_of(apportion(of.frequencies, one.n) / one.n) for of in one.populations()]
        features = describe(profiles, [one.noise]).features[:, 0, PLACES]
        assert (np.abs(cells.features[place] - features) <= span / 500 + 1e-5).all()


def test_shipped_cells_that_are_saved_come_back(tiny, tmp_path):
    cells = load_cells(tiny)
    save(replace(cells, log_errors=cells.log_errors - 1.0), tmp_path)
    back = load_cells(tmp_path)
    np.testing.assert_allclose(back.features, cells.features, atol=1e-9)
    np.testing.assert_allclose(back.log_errors, cells.log_errors - 1.0, atol=1e-9)  # codes of codes are the same
    assert (back.family == cells.family).all()


def test_a_killed_build_loses_one_cell(tmp_path):
    def recorded(index):
        return {"index": index, "error": rng_for(0, "record", index).random((3, 20)).tolist()}

    path = tmp_path / "cells.jsonl"
    store = Store(path, PLAN)
    collect(store, 2, recorded, Workers())
    whole = store.records()
    text = path.read_text()
    path.write_text(text[:-200])  # killed while it wrote the last line
    again = Store(path, PLAN)
    assert sorted(again.records()) == [0]
    steps = []
    collect(again, 2, recorded, Workers(), lambda done, number: steps.append((done, number)))
    assert steps == [(2, 2)]
    assert again.records() == whole


def test_a_file_of_anything_else_is_refused_and_left_as_it_is(tmp_path):
    def check(content):
        path = tmp_path / "notes.txt"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match="holds the cells of another build"):
            Store(path, PLAN)
        assert path.read_text(encoding="utf-8") == content

    of_another = '{"plan":{"seed":2}}'
    contents = ["my notes", '{"plan": {"seed": 0}', of_another, f"{of_another}\n", "\ufeff", "{}"]
    assert failures(contents, check) == {}


def test_lines_that_are_cut_short_or_no_cells_cost_themselves_only(tmp_path):
    path = tmp_path / "cells.jsonl"
    Store(path, PLAN).add({"index": 3})
    first = path.read_text(encoding="utf-8").splitlines()[0]
    for kept in range(len(first) + 1):
        path.write_text(first[:kept], encoding="utf-8")
        Store(path, PLAN).add({"index": 5})
        assert Store(path, PLAN).records() == {5: {"index": 5}}
    path = tmp_path / "cells.jsonl"
    Store(path, PLAN).add({"index": 3})
    with path.open("ab") as file:
        file.write(b'\xff\xfe\x00{"index": 2, "er\n17\n' + b"[" * 100_000 + b'\n{"index":\n[]\n"index"\n')
    Store(path, PLAN).add({"index": 5})
    assert Store(path, PLAN).records() == {3: {"index": 3}, 5: {"index": 5}}
