"""Weighted least squares for the networks of the model, in plain numpy (AdamW)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from knowledge.model import Layers, Network, layer_values, sigmoid, standardised
from simulator._types import RealArray, SingleArray

RATE, DECAY = 2e-3, 1e-4  # first rate of the steps, and weight decay


def fit(
    features: RealArray,
    outputs: RealArray,
    weights: RealArray,
    rng: np.random.Generator,
    *,
    width: int = 128,
    epochs: int = 60,
    batch: int = 128,
) -> Network:
    """Fit a network by weighted least squares (AdamW, the rate falling as a half cosine).

    features, outputs, weights: ``(rows, F)``, ``(rows, O)``, and the weight of each output ``(rows, O)``.
    rng: for the first weights and the order of the rows.
    width, epochs, batch: units in each of the two hidden layers, passes over the rows, rows per step.
    """
    centre, scale = features.mean(axis=0), features.std(axis=0) + 1e-3
    output_centre, output_scale = outputs.mean(axis=0), outputs.std(axis=0) + 1e-3
    x = standardised(features, centre.astype(np.float32), scale.astype(np.float32))
    y = ((outputs - output_centre) / output_scale).astype(np.float32)
    w = (weights * output_scale**2 / np.mean(weights * output_scale**2)).astype(np.float32)
    return Network(
        centre.astype(np.float32),
        scale.astype(np.float32),
        output_centre.astype(np.float32),
        output_scale.astype(np.float32),
        _layers(x, y, w, rng, width, epochs, batch),
    )


def _layers(
    x: SingleArray, y: SingleArray, w: SingleArray, rng: np.random.Generator, width: int, epochs: int, batch: int
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
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for part in np.array_split(order, steps):
            step += 1
            warm = min(1.0, step / (2 * steps))
            speed = RATE * warm * (1 + np.cos(np.pi * step / (epochs * steps))) / 2
            layers = tuple(zip(parameters[0::2], parameters[1::2], strict=True))
            _, gradients = loss_gradients(layers, x[part], y[part], w[part])
            for place, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
                first[place] = 0.9 * first[place] + 0.1 * gradient
                second[place] = 0.99 * second[place] + 0.01 * gradient**2
                move = first[place] / (1 - 0.9**step) / (np.sqrt(second[place] / (1 - 0.99**step)) + 1e-8)
                if parameter.ndim == 2:
                    move = move + DECAY * parameter
                parameters[place] = (parameter - speed * move).astype(np.float32)
    return tuple(zip(parameters[0::2], parameters[1::2], strict=True))


def loss_gradients(layers: Layers, x: SingleArray, y: SingleArray, w: SingleArray) -> tuple[float, list[SingleArray]]:
    """Return the weighted mean square, and its gradients by weights and offsets of each layer in turn."""
    values = layer_values(layers, x)
    error = values[-1] - y
    loss = float((w * error**2).mean())
    flow = (2 / len(x)) * w * error / y.shape[1]
    gradients: list[SingleArray] = []
    for depth in range(len(layers) - 1, -1, -1):
        entering = values[2 * depth]
        gradients[:0] = [entering.T @ flow, flow.sum(axis=0)]
        if depth:
            before = values[2 * depth - 1]
            gate = sigmoid(before)
            flow = (flow @ layers[depth][0].T) * (gate * (1 + before * (1 - gate)))
    return loss, gradients
