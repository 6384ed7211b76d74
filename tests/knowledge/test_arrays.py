from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from knowledge.arrays import read_arrays, write_arrays

ARRAYS = {
    "first": np.arange(6, dtype=np.float32).reshape(2, 3),
    "none": np.zeros((0, 4), dtype=np.float32),
    "last": np.array([1.5, -2.5], dtype=np.float32),
}


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    write_arrays(tmp_path, ARRAYS)
    back = read_arrays(tmp_path)
    assert list(back) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert back[name].dtype == np.float32
        np.testing.assert_array_equal(back[name], array)


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path, ARRAYS)
    (tmp_path / "grid.json").write_text(json.dumps({"first": [2, 3]}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"describes 6 numbers, grid\.npy holds 8"):
        read_arrays(tmp_path)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    write_arrays(tmp_path, ARRAYS)
    np.save(tmp_path / "grid.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        read_arrays(tmp_path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path)
