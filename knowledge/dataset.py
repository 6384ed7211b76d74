"""Finished cells as rows to fit: features of each population, log errors of every method and metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.cells import Measured, measured_from
from knowledge.features import describe, profile_of
from knowledge.menu import MEASURED, METHODS, QUERY_METHODS, QUERY_METRICS
from knowledge.network import Network, fit
from knowledge.yardstick import log_yardstick
from simulator import rng_for
from simulator._types import FloatArray, IntArray, RealArray, SingleArray
from simulator.populations import apportion

FOLDS = 4  # each network leaves out the cells of one fold, on which its errors are measured
NETWORKS = 8
ASKED = 4  # noises under which the population of each row is described once more, without simulating
TAUGHT_EPOCHS = 0.6  # passes of the network that is taught, in those of the networks it is taught by
LIMIT = 6.0  # log ratios beyond it say only that a method is out of the question
PART = 8192  # rows at a time: bounds memory
EVEN, NEAR = 0.2, 0.3  # weight of all methods alike; log distance from the best at which the rest fades
TAUGHT_EVEN = 0.05  # that weight for the network that is taught, which has no noise of simulation to average out


@dataclass(frozen=True)
class Dataset:
    """Rows to fit.

    Attributes
    ----------
    features
        ``(rows, F)``.
    log_ratios
        ``(rows, methods, metrics)``: log errors in units of the yardstick.
    log_yardstick
        ``(rows, methods, metrics)``.
    variance
        Of the log ratios, from the number of repetitions.
    index
        Number of the cell, ``(rows,)``.
    family
        Family of the population, ``(rows,)``.
    asked, asked_yardstick
        Features and yardstick of the same population under other noises, ``(rows, ASKED, F)`` and
        ``(rows, ASKED, methods, metrics)``.
    """

    features: FloatArray
    log_ratios: FloatArray
    log_yardstick: FloatArray
    variance: FloatArray
    index: IntArray
    family: NDArray[np.str_]
    asked: SingleArray
    asked_yardstick: SingleArray

    @property
    def weights(self) -> FloatArray:
        """What each log ratio counts: most where the method is near the best, for that is what advice is about."""
        return weights_of(self.log_ratios + self.log_yardstick)

    def where(self, chosen: NDArray[np.bool_]) -> Dataset:
        """Return some of the rows."""
        return Dataset(
            self.features[chosen],
            self.log_ratios[chosen],
            self.log_yardstick[chosen],
            self.variance[chosen],
            self.index[chosen],
            self.family[chosen],
            self.asked[chosen],
            self.asked_yardstick[chosen],
        )


def weights_of(errors: RealArray, even: float = EVEN) -> FloatArray:
    """Return what each log error ``(rows, methods, metrics)`` counts: `even`, and 1 more where the method is best."""
    best = np.full((len(errors), 1, len(MEASURED)), np.inf)
    for column, metric in enumerate(MEASURED):
        places = [place for place, name in enumerate(METHODS) if competes(name, metric)]
        best[:, 0, column] = errors[:, places, column].min(axis=1)
    return even + np.exp(-np.maximum(errors - best, 0.0) / NEAR)


def competes(method: str, metric: str) -> bool:
    """Tell whether a method is made for a metric, on a domain with an order."""
    return method not in QUERY_METHODS or metric in QUERY_METRICS


def assemble(records: Iterable[Mapping[str, Any]], *, seed: int, largest: int) -> Dataset:
    """Turn the records of finished cells into rows."""
    parts = [_rows(measured_from(record, seed, largest)) for record in records]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Dataset(*columns)


def _rows(measured: Measured) -> tuple[NDArray[Any], ...]:
    cell = measured.cell
    populations = cell.populations()
    profiles = [profile_of(apportion(population.frequencies, cell.n) / cell.n) for population in populations]
    described, asked = describe(profiles, [cell.noise]), describe(profiles, cell.other_noises(ASKED))
    scale = log_yardstick(described)[:, 0]
    # The logarithm of a mean of few repetitions is too low by half its variance.
    logs = np.log(np.maximum(measured.error, 1e-300)) + np.minimum(measured.relative_variance, 1.0) / 2
    return (
        described.features[:, 0],
        np.clip(logs - scale, -LIMIT, LIMIT),
        scale,
        np.minimum(measured.relative_variance, 1.0),
        np.full(len(populations), cell.index),
        np.array([population.family for population in populations]),
        asked.features.astype(np.float32),
        log_yardstick(asked).astype(np.float32),
    )


@dataclass(frozen=True)
class Surface:
    """What is fitted to the rows: the arrays that `knowledge.grid.Grid` holds."""

    network: Network
    low: FloatArray
    high: FloatArray
    spread: FloatArray
    own_spread: FloatArray


def fit_surface(data: Dataset, *, seed: int, width: int = 192, epochs: int = 60) -> Surface:
    """Fit the networks, each without the cells of its fold, measure them on those, and teach one what all say."""
    size = len(data.features)
    outputs, weights = data.log_ratios.reshape(size, -1), data.weights
    flat = weights.reshape(size, -1)
    networks = []
    left_out = np.zeros_like(data.log_ratios)
    for number in range(NETWORKS):
        test = data.index % FOLDS == number % FOLDS
        rng = rng_for(seed, "network", number)
        network = fit(data.features[~test], outputs[~test], flat[~test], [rng], width=width, epochs=epochs)
        residual = (network(data.features[test]) - outputs[test]).reshape(-1, len(METHODS), len(MEASURED))
        left_out[test] += residual * (FOLDS / NETWORKS)
        networks.append(network)
    low, high = np.percentile(data.features, [0.02, 99.98], axis=0)
    spread, own = spreads(left_out, weights - EVEN, data.variance)
    teachers = _joined(networks)
    asked = np.clip(data.asked.reshape(-1, data.features.shape[1]).astype(np.float64), low, high)
    said = _said(teachers, asked).reshape(-1, *weights.shape[1:])
    said += data.asked_yardstick.reshape(-1, *weights.shape[1:])
    rows = np.concatenate([np.clip(data.features, low, high), asked])
    errors = np.concatenate([data.log_ratios + data.log_yardstick, said])
    counts = weights_of(errors, TAUGHT_EVEN).reshape(len(rows), -1)
    pupil = taught(teachers, rows, counts, seed=seed, width=width, epochs=epochs)
    return Surface(pupil, low, high + 1e-6, spread, own)


def taught(
    teachers: Network, features: FloatArray, weights: FloatArray, *, seed: int, width: int, epochs: int
) -> Network:
    """Return one network that says what several say together, in a fraction of their time.

    What they say of a row needs no simulation, so there can be many more rows than were simulated (Hinton, Vinyals,
    Dean, "Distilling the knowledge in a neural network", 2015).
    """
    return fit(
        features,
        _said(teachers, features),
        weights,
        [rng_for(seed, "network", "taught")],
        width=width + width // 2,
        epochs=round(TAUGHT_EPOCHS * epochs),
        batch=256,
    )


def _said(network: Network, features: FloatArray) -> FloatArray:
    return np.concatenate([network(features[start : start + PART]) for start in range(0, len(features), PART)])


def spreads(residual: FloatArray, near: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations of the residuals, and of what a method does not share, without that of sampling.

    Parameters
    ----------
    residual, near, variance
        ``(rows, methods, metrics)``: what was missed; what it counts; how much of it is sampling.

    Returns
    -------
    Both ``(methods, metrics)``.
    """
    total = near.sum(axis=0) + 1e-9
    spread = np.sqrt(np.maximum((near * (residual**2 - variance)).sum(axis=0) / total, 1e-4))
    common = (near * residual).sum(axis=1, keepdims=True) / (near.sum(axis=1, keepdims=True) + 1e-9)
    own = np.sqrt((near * (residual - common) ** 2).sum(axis=0) / total + 1e-4)
    return spread, np.minimum(own, spread * 1.5)


def _joined(networks: list[Network]) -> Network:
    """Return one network of all members; each brings its own scales, which are folded into its first and last layer."""
    members = []
    first = networks[0]
    for network in networks:
        ((entry, entry_offset), *middle, (leaving, leaving_offset)) = network.members[0]
        stretch = first.scale / network.scale
        shift = (first.centre - network.centre) / network.scale
        scale = network.output_scale / first.output_scale
        members.append(
            (
                (entry * stretch[:, None], entry_offset + shift @ entry),
                *middle,
                (
                    leaving * scale,
                    leaving_offset * scale + (network.output_centre - first.output_centre) / first.output_scale,
                ),
            )
        )
    return Network(first.centre, first.scale, first.output_centre, first.output_scale, tuple(members))
