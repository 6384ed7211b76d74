"""The numbers of a grid on disk: one array, and a file that says where each part of it begins.

An archive of many arrays takes longer to open than a look-up takes to answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMBERS, LAYOUT = "grid.npy", "grid.json"


def write_arrays(folder: Path, arrays: Mapping[str, NDArray[np.float32]]) -> None:
    """Write arrays of any shapes."""
    np.save(folder / NUMBERS, np.concatenate([array.ravel() for array in arrays.values()]), allow_pickle=False)
    layout = {name: array.shape for name, array in arrays.items()}
    (folder / LAYOUT).write_text(json.dumps(layout, indent=1) + "\n", encoding="utf-8")


def read_arrays(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Return the arrays that `write_arrays` wrote.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If the two do not belong together.
    """
    numbers = np.load(folder / NUMBERS, allow_pickle=False)
    layout = json.loads((folder / LAYOUT).read_text(encoding="utf-8"))
    arrays, start = {}, 0
    for name, shape in layout.items():
        end = start + int(np.prod(shape))
        arrays[name] = numbers[start:end].reshape(shape)
        start = end
    if start != len(numbers):
        raise ValueError(f"{folder / LAYOUT} describes {start:,} numbers, {NUMBERS} holds {len(numbers):,}")
    return arrays
