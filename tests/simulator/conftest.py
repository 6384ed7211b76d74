from __future__ import annotations

import pytest

from simulator.surrogate import curves


@pytest.fixture
def few_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves that are looked for among few candidates: for what holds of any draws, however far from the posterior."""
    monkeypatch.setattr(curves, "CANDIDATES", 400)
    monkeypatch.setattr(curves, "MOVES", 2)
    monkeypatch.setattr(curves, "LAST_MOVES", 2)
