from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from knowledge.build import FOLDS, Size, build
from knowledge.making import cells, ordered_cells

# As few cells as there are networks: each leaves one out.
TINY = Size(cells=FOLDS, largest=24, width=16, epochs=8, ordered_cells=FOLDS, ordered_width=12, cases=8)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a very small build of few repetitions: right in form, not in its figures."""
    folder = tmp_path_factory.mktemp("tiny")
    with pytest.MonkeyPatch.context() as patched:
        for kind in (cells.SimulatedCell, ordered_cells.OrderedCell):
            patched.setattr(kind, "repetitions", 3)
        patched.setattr("knowledge.build.ORDERED_FOLDS", FOLDS)
        build(folder, size=TINY, seed=4)
    return folder


def own_names(table: Mapping[str, object]) -> set[str]:
    """Names of this package's members: those that entry points bring in are not simulated, and have no card here."""
    return {
        name
        for name, member in table.items()
        if str(getattr(member, "function", member).__module__).startswith("simulator")
    }
