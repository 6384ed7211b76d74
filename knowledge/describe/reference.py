"""Reference errors: the unit of the model's outputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from knowledge.describe.heights import PROTOCOLS, Heights
from knowledge.describe.noises import MEAN_ABSOLUTE
from knowledge.menu import CURVES, ORDERED_METRICS, Table
from simulator import METRICS
from simulator._types import FloatArray
from simulator.metrics import SET_SHARE


class Description(NamedTuple):
    """Features and reference errors of S histograms under P noise settings."""

    features: FloatArray  # ``(S, P, F)``
    raw: dict[str, FloatArray]  # for each metric ``(S, P)``: about the error of the raw estimate
    # For each metric about the largest error a method that keeps to frequencies makes: a number or ``(S, 1)``
    cap: dict[str, FloatArray | float]
    few: bool = False  # whether in each histogram many categories share few frequencies: see `levels.has_few`

    def of(self, noises: slice) -> Description:
        """Return the same under some of the noises."""
        raw = {metric: figures[:, noises] for metric, figures in self.raw.items()}
        return Description(self.features[:, noises], raw, self.cap, self.few)


def set_error(k: int, squares: FloatArray, squared_total: FloatArray | float) -> FloatArray:
    """Return the mean squared error of a random subset from the sum of squared errors and their squared sum."""
    size = min(k, max(1, round(SET_SHARE * k)))
    pairs = (size - 1) / (k - 1)
    return size / k * ((1 - pairs) * squares + pairs * squared_total)


def log_reference(description: Description, table: Table) -> FloatArray:
    """Return logarithms of the errors ``(S, P, pairs, metrics)`` that the model's outputs are relative to.

    About what the raw estimate gives, and for methods that keep to frequencies never much more than the largest error
    that one such makes: so the logarithm of the ratio stays near 0 from no noise to noise alone.
    """
    raw, cap = np.empty((2, *description.features.shape[:2], len(table.metrics)))
    for column, metric in enumerate(table.metrics):
        raw[..., column], cap[..., column] = description.raw[metric], description.cap[metric]
    return _bounded(raw[..., None, :], cap[..., None, :], table)


def log_curve_reference(description: Description, heights: Heights) -> FloatArray:
    """Return the same ``(S, pairs, metrics)`` for protocols of heights: `description` is of one noise alone.

    Their raw error is that under this noise times the ratio of the noises, of running sums or of values.
    """
    places = [PROTOCOLS.index(protocol) for protocol, _ in CURVES.pairs]
    values = heights.raw_values[places] / description.raw["l2"][:, :1] ** 2
    running = (MEAN_ABSOLUTE * heights.k) ** 2 * heights.raw_curve[places] / description.raw["emd"][:, :1] ** 2
    raw, cap = np.empty((2, len(description.features), *CURVES.free.shape))
    for column, metric in enumerate(CURVES.metrics):
        ratio = running if metric in ORDERED_METRICS else values
        raw[..., column] = description.raw[metric][:, :1] * ratio ** (METRICS[metric].degree / 2)
        cap[..., column] = description.cap[metric]
    return _bounded(raw, cap, CURVES)


def _bounded(raw: FloatArray, cap: FloatArray, table: Table) -> FloatArray:
    logs = np.log(np.maximum([raw, raw * cap / (raw + cap)], 1e-300))
    return np.where(table.free, logs[0], logs[1])
