"""How the shipped data was made; stored beside it as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

Range = tuple[float, float]


@dataclass(frozen=True)
class Networks:
    """Number of the networks that were fitted, units per hidden layer, passes over the rows, and features."""

    number: int
    width: int
    epochs: int
    folds: int  # parts of the cells; each network leaves one out
    features: tuple[str, ...]
    # Standard deviations of the networks that are added to what they say on average: the lowest of many predicted
    # errors is likely too low, and that was found, on shapes left out, to make up for it.
    caution: float = 0.5


@dataclass(frozen=True)
class Provenance:
    """How the data was made."""

    # tool_version, seed: what made it
    tool_version: str
    seed: int
    # cells, populations, repetitions: how much was simulated
    cells: int
    populations: int
    repetitions: str
    # methods, metrics, protocols, shapes: what was simulated; protocols with their shares of the cells
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    protocols: Mapping[str, float]
    shapes: tuple[str, ...]
    # covers, simulated: ranges that look-ups cover, and that were simulated: lowest and highest by name
    covers: Mapping[str, Range]
    simulated: Mapping[str, Range]
    networks: Networks  # what was fitted
    # seconds, finished: how long it took, and when it was done (ISO date)
    seconds: int = 0
    finished: str = ""

    @property
    def predicted(self) -> tuple[str, ...]:
        """Metrics that are predicted: those that were simulated, and mae, which is l1 / k."""
        return (self.metrics[0], "mae", *self.metrics[1:])

    @property
    def largest(self) -> int:
        """Largest domain that was simulated."""
        return int(self.simulated["k"][1])

    def to_json(self) -> dict[str, object]:
        """Return JSON types."""
        return asdict(self)


def save(provenance: Provenance, folder: Path, part: str) -> None:
    """Write the provenance of a model where `load` finds it."""
    _file(folder, part).write_text(json.dumps(provenance.to_json(), indent=1) + "\n", encoding="utf-8")


def load(folder: Path, part: str) -> Provenance:
    """Return the provenance of a model of a folder.

    Raises FileNotFoundError if the folder holds none.
    """
    stored = json.loads(_file(folder, part).read_text(encoding="utf-8"))
    names = {name: tuple(stored[name]) for name in ("methods", "metrics", "shapes")}
    ranges = {name: {of: (low, high) for of, (low, high) in stored[name].items()} for name in ("covers", "simulated")}
    networks = Networks(**{**stored["networks"], "features": tuple(stored["networks"]["features"])})
    return Provenance(**{**stored, **names, **ranges, "networks": networks})


def _file(folder: Path, part: str) -> Path:
    return folder / ("provenance.json" if part == "model" else f"{part}.json")
