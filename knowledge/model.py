"""The models: networks fitted to simulated cells, how they were made, and the files that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from knowledge.describe.features import Description, log_reference
from knowledge.menu import ErrorTable
from simulator._types import FloatArray, RealArray, SingleArray

DATA = Path(__file__).parent / "data"
OWN = ("low", "high", "spread", "own_spread")  # arrays of a model that belong to no network
# The models: for protocols described by a single noise scale; for more methods and metrics of these, on ordered
# domains; and for protocols for ordered domains, by budget and users.
CATEGORIES, LEAVES, CURVES = "model", "leaves", "curves"

Range = tuple[float, float]
Layers = tuple[tuple[SingleArray, SingleArray], ...]
SCALES = ("centre", "scale", "output_centre", "output_scale")  # arrays of a network that are no layers
ROWS = 4  # that go through together: larger products start BLAS threads, which take longer than the work


class Network(NamedTuple):
    """A small neural network in plain numpy, which maps features ``(P, F)`` to outputs ``(P, O)``."""

    # centre, scale: of the features, ``(F,)``; features are clipped to 4 scales around the centre
    centre: SingleArray
    scale: SingleArray
    # output_centre, output_scale: of the outputs, ``(O,)``
    output_centre: SingleArray
    output_scale: SingleArray
    layers: Layers  # weights and offsets

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs, ``(P, O)``."""
        inputs = standardised(features, self.centre, self.scale)
        parts = [inputs[start : start + ROWS] for start in range(0, len(inputs), ROWS)]
        outputs = np.concatenate([layer_values(self.layers, part)[-1] for part in parts])
        return (outputs * self.output_scale + self.output_centre).astype(np.float64)

    def to_arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return all arrays by name, for a file."""
        arrays = {name: getattr(self, name) for name in SCALES}
        for depth, (weights, offsets) in enumerate(self.layers):
            arrays[f"weights_0_{depth}"], arrays[f"offsets_0_{depth}"] = weights, offsets
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float32]]) -> Network:
        """Return the network that `to_arrays` took apart."""
        depths = range(sum(name.startswith("weights") for name in arrays))
        layers = tuple((arrays[f"weights_0_{depth}"], arrays[f"offsets_0_{depth}"]) for depth in depths)
        return cls(**{name: arrays[name] for name in SCALES}, layers=layers)


def standardised(features: RealArray, centre: SingleArray, scale: SingleArray) -> SingleArray:
    """Return features in units of their spread, clipped to 4 of them."""
    result = features - centre
    result /= scale
    return np.clip(result, -4.0, 4.0, out=result).astype(np.float32)


def layer_values(layers: Layers, inputs: SingleArray) -> list[SingleArray]:
    """Return the values of each layer; between layers ``x / (1 + exp(-x))``."""
    values = [inputs]
    for depth, (weights, offsets) in enumerate(layers):
        sums = values[-1] @ weights
        sums += offsets
        values.append(sums)
        if depth + 1 < len(layers):
            values.append(sums * sigmoid(sums))
    return values


def sigmoid(x: SingleArray) -> SingleArray:
    """Return ``1 / (1 + exp(-x))``, which does not overflow so."""
    return np.float32(0.5) * (np.tanh(np.float32(0.5) * x) + 1)


@dataclass(frozen=True)
class Networks:
    """Number of the networks that were fitted, units per hidden layer, passes over the rows, and features."""

    number: int
    width: int
    epochs: int
    folds: int  # parts of the cells; each network omits a different part
    features: tuple[str, ...]
    # Standard deviations of the networks added to their mean prediction: the lowest of many predicted errors is likely
    # too low. This number corrected it on omitted shapes.
    caution: float = 0.5


@dataclass(frozen=True)
class Provenance:
    """How the data was made."""

    # tool_version, seed: version and seed of the build
    tool_version: str
    seed: int
    # cells, populations, repetitions: how much was simulated
    cells: int
    populations: int
    repetitions: str
    # methods, metrics, protocols, shapes: the simulated menu; protocols with their shares of the cells
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    protocols: Mapping[str, float]
    shapes: tuple[str, ...]
    # covers, simulated: ranges that look-ups cover, and that were simulated: lowest and highest by name
    covers: Mapping[str, Range]
    simulated: Mapping[str, Range]
    networks: Networks  # fitted networks
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


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays, whose comparison is not a single truth value
class Model:
    """A model fitted to simulated cells."""

    network: Network  # features to log errors in units of the reference error
    # low, high: range of each feature in the simulated cells, ``(F,)``
    low: FloatArray
    high: FloatArray
    # spread, own_spread: standard deviation of the predicted log error on cells left out, ``(2, pairs, metrics)``, and
    # of the part of it that a pair does not share with the others: first of all cells, then of those with few different
    # frequencies
    spread: FloatArray
    own_spread: FloatArray
    provenance: Provenance  # how the data was made
    folder: Path = DATA  # where it is, and the others beside it

    @cached_property
    def table(self) -> ErrorTable:
        """Predictions."""
        return ErrorTable.of(self.provenance.methods, self.provenance.metrics)

    @property
    def populations(self) -> int:
        """Number of simulated populations that the model was fitted to."""
        return self.provenance.populations

    def log_ratios(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log errors over the reference ``(S, ..., pairs, metrics)`` for features ``(S, ..., F)``.

        And by how much features are out of range ``(..., F)``, in shares of it: the largest excess of all S counts.
        """
        inside = np.clip(features, self.low, self.high)
        outside = np.abs(features - inside).max(axis=0) / (self.high - self.low)
        logs = self.network(inside.reshape(-1, features.shape[-1]))
        return logs.reshape(*features.shape[:-1], *self.spread.shape[1:]), outside

    def log_errors(self, description: Description) -> tuple[FloatArray, FloatArray]:
        """Return log errors ``(S, P, pairs, metrics)`` of a description, and how far features are out of range."""
        ratios, outside = self.log_ratios(description.features)
        return ratios + log_reference(description, self.table), outside

    def to_arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return all arrays by name, in single precision."""
        return self.network.to_arrays() | {name: getattr(self, name).astype(np.float32) for name in OWN}


@cache
def load(folder: Path = DATA, part: str = CATEGORIES) -> Model:
    """Load a model of a folder, by default a shipped model; each is read once.

    Raises FileNotFoundError if the folder does not hold the model.
    """
    with np.load(folder / f"{part}.npz", allow_pickle=False) as stored:
        arrays = dict(stored)
    own = {name: arrays.pop(name).astype(np.float64) for name in OWN}
    return Model(Network.from_arrays(arrays), **own, provenance=_provenance(folder, part), folder=folder)


def _provenance(folder: Path, part: str) -> Provenance:
    stored = json.loads(_provenance_file(folder, part).read_text(encoding="utf-8"))
    names = {name: tuple(stored[name]) for name in ("methods", "metrics", "shapes")}
    ranges = {name: {of: (low, high) for of, (low, high) in stored[name].items()} for name in ("covers", "simulated")}
    networks = Networks(**{**stored["networks"], "features": tuple(stored["networks"]["features"])})
    return Provenance(**{**stored, **names, **ranges, "networks": networks})


def _provenance_file(folder: Path, part: str) -> Path:
    return folder / ("provenance.json" if part == CATEGORIES else f"{part}.json")


def save(model: Model, folder: Path, part: str = CATEGORIES) -> None:
    """Write a model where `load` finds it."""
    np.savez(folder / f"{part}.npz", allow_pickle=False, **model.to_arrays())
    text = json.dumps(model.provenance.to_json(), indent=1) + "\n"
    _provenance_file(folder, part).write_text(text, encoding="utf-8")
