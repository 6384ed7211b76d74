import pytest

from simulator.surrogate import particles


@pytest.fixture
def few_curves(monkeypatch):
    """Curves that are looked for among few candidates: for what holds of any draws, however far from the posterior."""
    monkeypatch.setattr(particles, "CANDIDATES", 400)
    monkeypatch.setattr(particles, "MOVES", 2)
    monkeypatch.setattr(particles, "LAST_MOVES", 2)
