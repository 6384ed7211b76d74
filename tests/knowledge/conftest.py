import pytest

from knowledge.build import Size, build
from knowledge.making import cells, ordered_cells
from knowledge.making.workers import Workers

FEW = 2  # as few cells as there are networks: each leaves one out
TINY = Size(cells=FEW, largest=12, width=16, epochs=8, ordered_cells=FEW, ordered_width=12, cases=6)
BUILT = ("policies.json", "model.npz", "cells.npz", "leaves.npz", "curves.npz")


def built(folder, workers):
    """A very small build of few repetitions: right in form, not in its figures."""
    with pytest.MonkeyPatch.context() as patched:
        for kind in (cells.SimulatedCell, ordered_cells.OrderedCell):
            patched.setattr(kind, "repetitions", 3)
        for name in ("FOLDS", "ORDERED_FOLDS"):
            patched.setattr(f"knowledge.build.{name}", FEW)
        build(folder, size=TINY, seed=4, workers=workers)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return built(tmp_path_factory.mktemp("tiny"), Workers())


def own_names(table):
    """Names of this package's members: those that entry points bring in are not simulated, and have no card here."""
    return {
        name
        for name, member in table.items()
        if str(getattr(member, "function", member).__module__).startswith("simulator")
    }
