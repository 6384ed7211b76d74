"""Finished cells as rows, and the fit of a model to them.

Each network omits some cells, and is measured on those; a final network learns the mean of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from knowledge.describe.features import NAMES, describe, log_reference
from knowledge.describe.profile import Profile, profile_of
from knowledge.describe.value_features import has_few
from knowledge.making.cells import Measured, SimulatedCell
from knowledge.making.least_squares import fit
from knowledge.menu import CATEGORIES, ErrorTable
from knowledge.model import Model, Network, Provenance
from simulator import rng_for
from simulator._types import FloatArray, IntArray, RealArray, SingleArray
from simulator.populations import apportion

OTHERS = 4  # noises under which the population of each row is described once more, without simulating
LIMIT = 6.0  # larger log ratios mean only that a method is unsuitable
EVEN, NEAR = 0.2, 0.3  # weight of all methods alike; log distance from the best at which the rest fades
NETWORKS = 8
GUESS_EPOCHS = 0.4  # number of passes of the networks that guess the pairs near the best, relative to the others
PUPIL_EPOCHS = 0.6  # number of passes of the final network, relative to those of its teachers
PUPIL_EVEN = 0.05  # as `EVEN` for the network that is taught, which has no noise of simulation to average out
PART = 8192  # rows at a time: bounds memory


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


def weights_of(errors: RealArray, table: ErrorTable, even: float = EVEN) -> FloatArray:
    """Return the weight of each log error ``(rows, methods, metrics)``: `even`, plus 1 where the method is best.

    Advice is about the best method.
    """
    best = np.where(table.competing, errors, np.inf).min(axis=1, keepdims=True)
    return even + np.exp(-np.maximum(errors - best, 0.0) / NEAR)


def assemble(cells: Iterable[Measured]) -> Dataset:
    """Turn finished cells into rows."""
    return joined(rows_by_noise(measured, profiles_in(measured.cell), CATEGORIES) for measured in cells)


def joined(parts: Iterable[Dataset]) -> Dataset:
    """Put the rows of several together."""
    whole = tuple(parts)
    return Dataset(*(np.concatenate([getattr(part, column.name) for part in whole]) for column in fields(Dataset)))


def rows_by_noise(measured: Measured, profiles: list[Profile], table: ErrorTable) -> Dataset:
    """Return the rows of a cell, of which the noise is all that matters."""
    cell = measured.cell
    described, others = describe(profiles, [cell.noise]), describe(profiles, cell.other_noises(OTHERS))
    return rows_of(
        measured,
        (described.features[:, 0], log_reference(described, table)[:, 0]),
        (others.features, log_reference(others, table)),
    )


def profiles_in(cell: SimulatedCell) -> list[Profile]:
    """Return the populations of a cell as its users hold them."""
    return [profile_of(apportion(population.frequencies, cell.n) / cell.n) for population in cell.populations()]


def rows_of(measured: Measured, own: tuple[FloatArray, FloatArray], others: tuple[FloatArray, FloatArray]) -> Dataset:
    """Return the rows of a cell from features and reference errors, of its noise and of other noises."""
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


def fit_model(data: Dataset, provenance: Provenance, *stream: str) -> Model:
    """Return a network taught the mean of several, each fitted without a fold of cells and measured on that fold.

    data: rows to fit.
    provenance: of the rows, and of the networks: seed, units per hidden layer, passes over the rows, and parts of the
        cells: each network omits a different part, and its errors are measured on that.
    stream: further names of its random streams. If given, pairs near the best are guessed first: rows have few
        repetitions.
    """
    table = ErrorTable.of(provenance.methods, provenance.metrics)
    seed, made = provenance.seed, provenance.networks
    width, epochs, folds = made.width, made.epochs, made.folds
    size = len(data.features)
    outputs = data.log_ratios.reshape(size, -1)
    ratios = _first_guess(data, rng_for(seed, *stream, "guess"), width, epochs) if stream else data.log_ratios
    weights = weights_of(ratios + data.log_reference, table)
    flat = weights.reshape(size, -1)
    networks = []
    left_out = np.zeros_like(data.log_ratios)
    for number in range(NETWORKS):
        test = data.index % folds == number % folds
        rng = rng_for(seed, *stream, "network", number)
        network = fit(data.features[~test], outputs[~test], flat[~test], rng, width=width, epochs=epochs)
        residual = (network(data.features[test]) - outputs[test]).reshape(-1, *data.log_ratios.shape[1:])
        left_out[test] += residual * (folds / NETWORKS)
        networks.append(network)
    low, high = np.percentile(data.features, [0.02, 99.98], axis=0)
    # With few repetitions, much of the difference between pairs is sampling; pairs of the same protocol share half of
    # it.
    few, every = has_few(*(data.features[:, NAMES.index(name)] for name in ("log_k", "log_distinct"))), slice(None)
    spread, own = np.stack(
        [
            spreads(
                left_out[rows], (weights - EVEN)[rows], data.variance[rows], data.variance[rows] / 2 if stream else 0.0
            )
            for rows in (every, few if few.any() else every)
        ],
        axis=1,
    )
    others = np.clip(data.others.reshape(-1, data.features.shape[1]).astype(np.float64), low, high)
    teacher_errors = _together(networks, others, made.caution).reshape(-1, *weights.shape[1:])
    teacher_errors += data.others_reference.reshape(-1, *weights.shape[1:])
    rows = np.concatenate([np.clip(data.features, low, high), others])
    errors = np.concatenate([data.log_ratios + data.log_reference, teacher_errors])
    counts = weights_of(errors, table, PUPIL_EVEN).reshape(len(rows), -1)
    rng = rng_for(seed, *stream, "network", "taught")
    pupil = distil(networks, rows, counts, rng, width=width, epochs=epochs, caution=made.caution)
    return Model(pupil, low, high + 1e-6, spread, own, provenance)


def _first_guess(data: Dataset, rng: np.random.Generator, width: int, epochs: int) -> FloatArray:
    """Return log ratios as networks predict them that did not see the row.

    Of few repetitions, those that are near the best by luck would be believed most, and all errors come out too low.
    """
    size, result = len(data.features), np.empty_like(data.log_ratios)
    outputs = data.log_ratios.reshape(size, -1)
    for half in range(2):
        rest = data.index % 2 == half
        training = data.features[~rest], outputs[~rest], np.ones_like(outputs[~rest])
        network = fit(*training, rng, width=width, epochs=round(GUESS_EPOCHS * epochs))
        result[rest] = network(data.features[rest]).reshape(-1, *result.shape[1:])
    return result


def distil(
    teachers: Sequence[Network],
    features: FloatArray,
    weights: FloatArray,
    rng: np.random.Generator,
    *,
    width: int,
    epochs: int,
    caution: float,
) -> Network:
    """Return a network that predicts the mean of several networks, in a fraction of their time.

    Their prediction for a row needs no simulation, so there can be many more rows than simulated rows (Hinton, Vinyals,
    Dean, "Distilling the knowledge in a neural network", 2015).

    caution: as in `Networks`.
    """
    return fit(
        features,
        _together(teachers, features, caution),
        weights,
        rng,
        width=width + width // 2,
        epochs=round(PUPIL_EPOCHS * epochs),
        batch=256,
    )


def _together(networks: Sequence[Network], features: FloatArray, caution: float) -> FloatArray:
    """Return the joint prediction of networks ``(rows, O)``: their mean, and `caution` standard deviations."""
    result = []
    for start in range(0, len(features), PART):
        each = np.stack([network(features[start : start + PART]) for network in networks])
        result.append(each.mean(axis=0) + caution * each.std(axis=0, ddof=1))
    return np.concatenate(result)


def spreads(
    residual: FloatArray, near: FloatArray, variance: FloatArray, own_variance: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations of the residuals, without that of sampling, and of the part that methods do not share.

    residual, near, variance: ``(rows, methods, metrics)``: residual; its weight; its sampling variance.
    own_variance: sampling variance of the part that is not shared.

    Returns both ``(methods, metrics)``.
    """
    total = near.sum(axis=0) + 1e-9
    spread = np.sqrt(np.maximum((near * (residual**2 - variance)).sum(axis=0) / total, 1e-4))
    common = (near * residual).sum(axis=1, keepdims=True) / (near.sum(axis=1, keepdims=True) + 1e-9)
    squares = (near * ((residual - common) ** 2 - own_variance)).sum(axis=0) / total
    own = np.sqrt(np.maximum(squares, 0.0) + 1e-4)
    return spread, np.minimum(own, spread * 1.5)
