"""Finished cells as rows to fit: features of each population, log errors of every method and metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from knowledge.describe.features import describe
from knowledge.describe.profile import profile_of
from knowledge.describe.reference import log_reference
from knowledge.making.cells import Measured
from knowledge.menu import MEASURED, METHODS, QUERY_METHODS, QUERY_METRICS
from simulator._types import FloatArray, IntArray, RealArray, SingleArray
from simulator.populations import apportion

OTHERS = 4  # noises under which the population of each row is described once more, without simulating
LIMIT = 6.0  # log ratios beyond it say only that a method is out of the question
EVEN, NEAR = 0.2, 0.3  # weight of all methods alike; log distance from the best at which the rest fades


@dataclass(frozen=True)
class Dataset:
    """Rows to fit."""

    features: FloatArray  # ``(rows, F)``
    log_ratios: FloatArray  # ``(rows, methods, metrics)``: log errors in units of the reference error
    log_reference: FloatArray  # ``(rows, methods, metrics)``
    variance: FloatArray  # of the log ratios, from the number of repetitions
    index: IntArray  # number of the cell, ``(rows,)``
    parameter: FloatArray  # of the shape of each population, ``(rows,)``
    # others, others_reference: features and reference error of the same population under other noises, ``(rows, OTHERS,
    # F)`` and ``(rows, OTHERS, methods, metrics)``
    others: SingleArray
    others_reference: SingleArray

    @property
    def weights(self) -> FloatArray:
        """What each log ratio counts: most where the method is near the best, for that is what advice is about."""
        return weights_of(self.log_ratios + self.log_reference)


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


def assemble(cells: Iterable[Measured]) -> Dataset:
    """Turn finished cells into rows."""
    parts = [_rows(measured) for measured in cells]
    return Dataset(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Dataset)))


def _rows(measured: Measured) -> Dataset:
    cell = measured.cell
    populations = cell.populations()
    profiles = [profile_of(apportion(population.frequencies, cell.n) / cell.n) for population in populations]
    described, others = describe(profiles, [cell.noise]), describe(profiles, cell.other_noises(OTHERS))
    scale = log_reference(described)[:, 0]
    # The logarithm of a mean of few repetitions is too low by half its variance.
    logs = np.log(np.maximum(measured.error, 1e-300)) + np.minimum(measured.relative_variance, 1.0) / 2
    return Dataset(
        described.features[:, 0],
        np.clip(logs - scale, -LIMIT, LIMIT),
        scale,
        np.minimum(measured.relative_variance, 1.0),
        np.full(len(populations), cell.index),
        np.array([population.parameter for population in populations]),
        others.features.astype(np.float32),
        log_reference(others).astype(np.float32),
    )
