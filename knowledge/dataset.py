"""Finished cells as rows to fit: features of each population, log errors of every method and metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.cells import Measured, measured_from
from knowledge.features import describe, profile_of
from knowledge.menu import MEASURED, METHODS, QUERY_METHODS, QUERY_METRICS, yardstick
from knowledge.network import Network, fit
from simulator import rng_for
from simulator._types import FloatArray, IntArray
from simulator.populations import apportion

FOLDS = 4  # networks; each leaves out the cells of its fold, on which its errors are measured
LIMIT = 6.0  # log ratios beyond it say only that a method is out of the question
EVEN, NEAR = 0.2, 0.3  # weight of all methods alike; log distance from the best at which the rest fades


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
    """

    features: FloatArray
    log_ratios: FloatArray
    log_yardstick: FloatArray
    variance: FloatArray
    index: IntArray
    family: NDArray[np.str_]

    @property
    def weights(self) -> FloatArray:
        """What each log ratio counts: most where the method is near the best, for that is what advice is about."""
        errors = self.log_ratios + self.log_yardstick
        best = np.full((len(errors), 1, len(MEASURED)), np.inf)
        for column, metric in enumerate(MEASURED):
            places = [place for place, name in enumerate(METHODS) if _competes(name, metric)]
            best[:, 0, column] = errors[:, places, column].min(axis=1)
        return EVEN + np.exp(-np.maximum(errors - best, 0.0) / NEAR)

    def where(self, chosen: NDArray[np.bool_]) -> Dataset:
        """Return some of the rows."""
        return Dataset(
            self.features[chosen],
            self.log_ratios[chosen],
            self.log_yardstick[chosen],
            self.variance[chosen],
            self.index[chosen],
            self.family[chosen],
        )


def _competes(method: str, metric: str) -> bool:
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
    described = describe(profiles, [cell.noise])
    scale = np.log(np.maximum(yardstick(described)[:, 0], 1e-300))
    # The logarithm of a mean of few repetitions is too low by half its variance.
    logs = np.log(np.maximum(measured.error, 1e-300)) + np.minimum(measured.relative_variance, 1.0) / 2
    return (
        described.features[:, 0],
        np.clip(logs - scale, -LIMIT, LIMIT),
        scale,
        np.minimum(measured.relative_variance, 1.0),
        np.full(len(populations), cell.index),
        np.array([population.family for population in populations]),
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
    """Fit the networks, each without the cells of its fold, and measure them on those."""
    size = len(data.features)
    outputs, weights = data.log_ratios.reshape(size, -1), data.weights
    flat = weights.reshape(size, -1)
    networks = []
    left_out = np.zeros_like(data.log_ratios)
    for fold in range(FOLDS):
        test = data.index % FOLDS == fold
        rng = rng_for(seed, "network", fold)
        network = fit(data.features[~test], outputs[~test], flat[~test], [rng], width=width, epochs=epochs)
        left_out[test] = (network(data.features[test]) - outputs[test]).reshape(-1, len(METHODS), len(MEASURED))
        networks.append(network)
    low, high = np.percentile(data.features, [0.02, 99.98], axis=0)
    spread, own = _spreads(left_out, weights, data.variance)
    return Surface(_joined(networks), low, high + 1e-6, spread, own)


def _spreads(residual: FloatArray, weights: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations of the residuals, and of what a method does not share, without that of sampling."""
    near = weights - EVEN
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
