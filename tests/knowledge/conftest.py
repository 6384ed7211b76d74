from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.build import Size, build

TINY = Size(cells=14, largest=48, width=16, epochs=8, ordered_cells=8, ordered_width=12)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a very small build: right in form, not in its figures."""
    folder = tmp_path_factory.mktemp("tiny")
    build(folder, size=TINY, seed=3)
    return folder
