"""Finished cells as rows to fit: features of each population, log errors of every method and metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from knowledge.describe.features import describe
from knowledge.describe.profile import Profile, profile_of
from knowledge.describe.reference import log_reference
from knowledge.making.cells import Cell, Measured
from knowledge.menu import CATEGORIES, Table
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


def weights_of(errors: RealArray, table: Table, even: float = EVEN) -> FloatArray:
    """Return what each log error ``(rows, methods, metrics)`` counts: `even`, and 1 more where the method is best.

    That is what advice is about.
    """
    best = np.where(table.competing, errors, np.inf).min(axis=1, keepdims=True)
    return even + np.exp(-np.maximum(errors - best, 0.0) / NEAR)


def assemble(cells: Iterable[Measured]) -> Dataset:
    """Turn finished cells into rows."""
    return joined(_rows(measured) for measured in cells)


def joined(parts: Iterable[Dataset]) -> Dataset:
    """Put the rows of several together."""
    every = tuple(parts)
    return Dataset(*(np.concatenate([getattr(part, column.name) for part in every]) for column in fields(Dataset)))


def _rows(measured: Measured) -> Dataset:
    cell = measured.cell
    profiles = profiles_in(cell)
    described, others = describe(profiles, [cell.noise]), describe(profiles, cell.other_noises(OTHERS))
    return rows_of(
        measured,
        (described.features[:, 0], log_reference(described, CATEGORIES)[:, 0]),
        (others.features, log_reference(others, CATEGORIES)),
    )


def profiles_in(cell: Cell) -> list[Profile]:
    """Return the populations of a cell as its users hold them."""
    return [profile_of(apportion(population.frequencies, cell.n) / cell.n) for population in cell.populations()]


def rows_of(measured: Measured, own: tuple[FloatArray, FloatArray], others: tuple[FloatArray, FloatArray]) -> Dataset:
    """Return the rows of a cell from features and reference errors, its own and those under other noises."""
    (features, scale), cell = own, measured.cell
    # The logarithm of a mean of few repetitions is too low by half its variance.
    logs = np.log(np.maximum(measured.error, 1e-300)) + np.minimum(measured.relative_variance, 1.0) / 2
    return Dataset(
        features,
        np.clip(logs - scale, -LIMIT, LIMIT),
        scale,
        np.minimum(measured.relative_variance, 1.0),
        np.full(len(features), cell.index),
        np.array([population.parameter for population in cell.populations()]),
        *(each.astype(np.float32) for each in others),
    )
