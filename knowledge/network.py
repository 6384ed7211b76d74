"""The surface through the grid: small neural networks in plain numpy, averaged; fitted here, stored as arrays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simulator._types import RealArray, SingleArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

Layers = tuple[tuple[SingleArray, SingleArray], ...]
# Rows in a product of matrices: so few that BLAS starts no threads, and does not copy the weights into another order
# (OpenBLAS: up to a million multiplications), both of which take longer than the work.
ROWS = 4
CAUTION = 0.5  # standard deviations of the networks that are added to their mean


class Network(NamedTuple):
    """Networks that map features ``(P, F)`` to outputs ``(P, O)`` and are averaged.

    Attributes
    ----------
    centre, scale
        Of the features, ``(F,)``; features are clipped to 4 scales around the centre.
    output_centre, output_scale
        Of the outputs, ``(O,)``.
    members
        For each network its layers: weights and offsets.
    """

    centre: SingleArray
    scale: SingleArray
    output_centre: SingleArray
    output_scale: SingleArray
    members: tuple[Layers, ...]

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs of the networks, ``(P, O)``: their mean and half their standard deviation.

        The lowest of many predicted errors is likely too low; that addition was found, on shapes left out, to make up
        for it.
        """
        inputs = standardised(features, self.centre, self.scale)
        blocks = np.zeros((-(-len(inputs) // ROWS), ROWS, inputs.shape[1]), dtype=np.float32)
        blocks.reshape(-1, inputs.shape[1])[: len(inputs)] = inputs
        every = np.stack([_forward(layers, blocks)[-1].reshape(-1, len(self.output_scale)) for layers in self.members])
        outputs = every[:, : len(inputs)]
        cautious = outputs.mean(axis=0)
        if len(self.members) > 1:
            outputs -= cautious
            outputs *= outputs
            cautious += CAUTION * np.sqrt(outputs.sum(axis=0) / (len(outputs) - 1))
        return (cautious * self.output_scale + self.output_centre).astype(np.float64)

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


def _forward(layers: Layers, inputs: SingleArray) -> list[SingleArray]:
    """Return the values of every layer; between layers ``x / (1 + exp(-x))``."""
    values = [inputs]
    for depth, (weights, offsets) in enumerate(layers):
        sums = values[-1] @ weights
        sums += offsets
        values.append(sums)
        if depth + 1 < len(layers):
            values.append(sums * _sigmoid(sums))
    return values


def _sigmoid(x: SingleArray) -> SingleArray:
    result: SingleArray = x * np.float32(0.5)
    np.tanh(result, out=result)  # twice as fast as by exp
    result += 1
    result *= np.float32(0.5)
    return result


def fit(
    features: RealArray,
    outputs: RealArray,
    weights: RealArray,
    rngs: list[np.random.Generator],
    *,
    width: int = 128,
    epochs: int = 60,
    batch: int = 128,
    rate: float = 2e-3,
    decay: float = 1e-4,
    progress: Callable[[int, float], None] | None = None,
) -> Network:
    """Fit one network per generator by weighted least squares (AdamW, the rate falling as a half cosine).

    Parameters
    ----------
    features, outputs, weights
        ``(rows, F)``, ``(rows, O)``, and the weight of each output ``(rows, O)``.
    rngs
        One generator per network: first weights and order of the rows.
    width, epochs, batch, rate, decay
        Units in each of the two hidden layers, passes over the rows, rows per step, first rate, weight decay.
    """
    centre, scale = features.mean(axis=0), features.std(axis=0) + 1e-3
    output_centre, output_scale = outputs.mean(axis=0), outputs.std(axis=0) + 1e-3
    x = standardised(features, centre.astype(np.float32), scale.astype(np.float32))
    y = ((outputs - output_centre) / output_scale).astype(np.float32)
    w = (weights * output_scale**2 / np.mean(weights * output_scale**2)).astype(np.float32)
    members = tuple(_fit_one(x, y, w, rng, width, epochs, batch, rate, decay, progress) for rng in rngs)
    return Network(
        centre.astype(np.float32),
        scale.astype(np.float32),
        output_centre.astype(np.float32),
        output_scale.astype(np.float32),
        members,
    )


def _fit_one(
    x: SingleArray,
    y: SingleArray,
    w: SingleArray,
    rng: np.random.Generator,
    width: int,
    epochs: int,
    batch: int,
    rate: float,
    decay: float,
    progress: Callable[[int, float], None] | None,
) -> Layers:
    sizes = (x.shape[1], width, width, y.shape[1])
    parameters: list[SingleArray] = []
    for entering, leaving in pairwise(sizes):
        parameters.append((rng.standard_normal((entering, leaving)) / np.sqrt(entering)).astype(np.float32))
        parameters.append(np.zeros(leaving, dtype=np.float32))
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    steps = max(1, len(x) // batch)
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        loss = 0.0
        for part in np.array_split(order, steps):
            step += 1
            warm = min(1.0, step / (2 * steps))
            speed = rate * warm * (1 + np.cos(np.pi * step / (epochs * steps))) / 2
            layers = tuple(zip(parameters[0::2], parameters[1::2], strict=True))
            value, gradients = _gradients(layers, x[part], y[part], w[part])
            loss += value
            for place, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
                first[place] = 0.9 * first[place] + 0.1 * gradient
                second[place] = 0.99 * second[place] + 0.01 * gradient**2
                move = first[place] / (1 - 0.9**step) / (np.sqrt(second[place] / (1 - 0.99**step)) + 1e-8)
                if parameter.ndim == 2:
                    move = move + decay * parameter
                parameters[place] = (parameter - speed * move).astype(np.float32)
        if progress is not None:
            progress(epoch, loss / steps)
    return tuple(zip(parameters[0::2], parameters[1::2], strict=True))


def _gradients(layers: Layers, x: SingleArray, y: SingleArray, w: SingleArray) -> tuple[float, list[SingleArray]]:
    values = _forward(layers, x)
    error = values[-1] - y
    loss = float((w * error**2).mean())
    flow = (2 / len(x)) * w * error / y.shape[1]
    gradients: list[SingleArray] = []
    for depth in range(len(layers) - 1, -1, -1):
        entering = values[2 * depth]
        gradients[:0] = [entering.T @ flow, flow.sum(axis=0)]
        if depth:
            before = values[2 * depth - 1]
            gate = _sigmoid(before)
            flow = (flow @ layers[depth][0].T) * (gate * (1 + before * (1 - gate)))
    return loss, gradients
