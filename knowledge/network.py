"""Small neural networks in plain numpy, averaged; stored as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator._types import RealArray, SingleArray

Layers = tuple[tuple[SingleArray, SingleArray], ...]
ROWS = 4  # that go through together: larger products start BLAS threads, which take longer than the work


class Network(NamedTuple):
    """Networks that map features ``(P, F)`` to outputs ``(P, O)`` and are averaged."""

    # centre, scale: of the features, ``(F,)``; features are clipped to 4 scales around the centre
    centre: SingleArray
    scale: SingleArray
    # output_centre, output_scale: of the outputs, ``(O,)``
    output_centre: SingleArray
    output_scale: SingleArray
    members: tuple[Layers, ...]  # for each network its layers: weights and offsets

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean outputs of the networks, ``(P, O)``."""
        result: NDArray[np.float64] = self.each(features).mean(axis=0)
        return result

    def each(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs of each network, ``(members, P, O)``."""
        inputs = standardised(features, self.centre, self.scale)
        parts = [inputs[start : start + ROWS] for start in range(0, len(inputs), ROWS)]
        outputs = [np.concatenate([layer_values(layers, part)[-1] for part in parts]) for layers in self.members]
        return (np.stack(outputs) * self.output_scale + self.output_centre).astype(np.float64)

    def to_arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return all arrays by name, for a file."""
        arrays = {
            "centre": self.centre,
            "scale": self.scale,
            "output_centre": self.output_centre,
            "output_scale": self.output_scale,
        }
        for number, layers in enumerate(self.members):
            for depth, (weights, offsets) in enumerate(layers):
                arrays[f"weights_{number}_{depth}"], arrays[f"offsets_{number}_{depth}"] = weights, offsets
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[np.float32]]) -> Network:
        """Return the network that `to_arrays` took apart."""
        members: list[Layers] = []
        while f"weights_{len(members)}_0" in arrays:
            layers: list[tuple[SingleArray, SingleArray]] = []
            while (name := f"{len(members)}_{len(layers)}") and f"weights_{name}" in arrays:
                layers.append((arrays[f"weights_{name}"], arrays[f"offsets_{name}"]))
            members.append(tuple(layers))
        return cls(arrays["centre"], arrays["scale"], arrays["output_centre"], arrays["output_scale"], tuple(members))


def standardised(features: RealArray, centre: SingleArray, scale: SingleArray) -> SingleArray:
    """Return features in units of their spread, clipped to 4 of them."""
    result = features - centre
    result /= scale
    return np.clip(result, -4.0, 4.0, out=result).astype(np.float32)


def layer_values(layers: Layers, inputs: SingleArray) -> list[SingleArray]:
    """Return the values of every layer; between layers ``x / (1 + exp(-x))``."""
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
