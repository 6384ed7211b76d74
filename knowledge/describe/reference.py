"""Reference errors: the unit of the model's outputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from knowledge.menu import FREE, MEASURED
from simulator._types import FloatArray
from simulator.metrics import SET_SHARE


class Description(NamedTuple):
    """Features and reference errors of S histograms under P noise settings."""

    features: FloatArray  # ``(S, P, F)``
    raw: dict[str, FloatArray]  # for each metric ``(S, P)``: about the error of the raw estimate
    # For each metric about the largest error a method that keeps to frequencies makes: a number or ``(S, 1)``
    cap: dict[str, FloatArray | float]


def set_error(k: int, squares: FloatArray, squared_total: FloatArray | float) -> FloatArray:
    """Return the mean squared error of a random subset from the sum of squared errors and their squared sum."""
    size = min(k, max(1, round(SET_SHARE * k)))
    pairs = (size - 1) / (k - 1)
    return size / k * ((1 - pairs) * squares + pairs * squared_total)


def log_reference(description: Description) -> FloatArray:
    """Return logarithms of the errors ``(S, P, methods, metrics)`` that the model's outputs are relative to.

    About what the raw estimate gives, and for methods that keep to frequencies never much more than the largest error
    that one such makes: so the logarithm of the ratio stays near 0 from no noise to noise alone.
    """
    raw, cap = np.empty((2, *description.features.shape[:2], len(MEASURED)))
    for column, metric in enumerate(MEASURED):
        raw[..., column], cap[..., column] = description.raw[metric], description.cap[metric]
    logs = np.log(np.maximum([raw, raw * cap / (raw + cap)], 1e-300))[..., None, :]
    return np.where(FREE, logs[0], logs[1])
