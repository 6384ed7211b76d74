"""What a build ships of its cells, against the records that it made them from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from knowledge.cells import PLACES, load_cells, save
from knowledge.describe.features import describe
from knowledge.describe.profile import profile_of
from knowledge.making.cells import cell
from knowledge.model import load
from simulator.populations import apportion


def test_shipped_cells_are_the_records_of_the_build(tiny: Path) -> None:
    provenance, cells = load(tiny).provenance, load_cells(tiny)
    _, *lines = (tiny / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    records = {record["index"]: record for record in map(json.loads, lines)}
    assert cells.index.tolist() == sorted(records)
    span = np.ptp(cells.features, axis=(0, 1))
    for place, index in enumerate(cells.index.tolist()):
        one = cell(index, seed=provenance.seed, largest=provenance.largest)
        assert (one.k, one.n, np.float32(one.epsilon), one.protocol) == (
            cells.k[place],
            cells.n[place],
            cells.epsilon[place],
            cells.protocol[place],
        )
        errors = np.log(records[index]["error"])
        above = errors - errors.min(axis=1, keepdims=True)
        assert (np.abs(cells.log_errors[place] - errors) < 0.011 + 0.182 * (above + 0.05)).all()
        profiles = [profile_of(apportion(of.frequencies, one.n) / one.n) for of in one.populations()]
        features = describe(profiles, [one.noise]).features[:, 0, PLACES]
        assert (np.abs(cells.features[place] - features) <= span / 500 + 1e-5).all()


def test_stored_cells_come_back(tiny: Path, tmp_path: Path) -> None:
    cells = load_cells(tiny)
    save(replace(cells, log_errors=cells.log_errors - 1.0), tmp_path)
    back = load_cells(tmp_path)
    np.testing.assert_allclose(back.features, cells.features, atol=1e-9)
    np.testing.assert_allclose(back.log_errors, cells.log_errors - 1.0, atol=1e-9)  # codes of codes are the same
    assert (back.family == cells.family).all()
