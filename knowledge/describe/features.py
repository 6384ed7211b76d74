"""Features of a histogram under a noise: the inputs of the model, and the reference errors of its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from knowledge.describe.arrays import SINGLE, columns_of, histograms_of
from knowledge.describe.order_features import ORDER_FEATURES, order_figures
from knowledge.describe.profile import Profile
from knowledge.describe.value_features import LEVEL_FEATURES, VALUE_FEATURES, has_few, value_figures
from knowledge.menu import ErrorTable
from simulator import Noise
from simulator._types import FloatArray
from simulator.metrics import SET_SHARE

# Models may have been fitted to the first of them only: new ones are added at the end.
NAMES = (*VALUE_FEATURES, *ORDER_FEATURES, *LEVEL_FEATURES)
ADDED = [*VALUE_FEATURES.values(), *ORDER_FEATURES.values(), *LEVEL_FEATURES.values()]
LOGS = np.array([place for place, added in enumerate(ADDED) if added is not None])
LEAST_STEPS = 1e-3  # bins: deciles missed by no repetition count the same as those missed by 1 in a few thousand
OFFSETS = np.array([added for added in ADDED if added is not None], dtype=SINGLE)[:, None, None]


class Description(NamedTuple):
    """Features and reference errors of S histograms under P noise settings."""

    features: FloatArray  # ``(S, P, F)``
    raw: dict[str, FloatArray]  # for each metric ``(S, P)``: about the error of the raw estimate
    # For each metric about the largest error a method that keeps to frequencies makes: a number or ``(S, 1)``
    cap: dict[str, FloatArray | float]
    few: bool = False  # whether in each histogram many categories share few frequencies: see `has_few`

    def of(self, noises: slice) -> Description:
        """Return the same under some of the noises."""
        raw = {metric: figures[:, noises] for metric, figures in self.raw.items()}
        return Description(self.features[:, noises], raw, self.cap, self.few)


# Matrix products in single precision may raise the flag for unused lanes of a register, so the results are checked
# instead.
@np.errstate(invalid="ignore")
def describe(profiles: Sequence[Profile], noises: Sequence[Noise]) -> Description:
    """Return the features and reference errors of histograms of the same domain size under each of the noises.

    In single precision inside; the features differ by about a millionth when described together with others.

    Raises ValueError if the histograms are not all of the same domain size, FloatingPointError if a feature is not
    finite.
    """
    columns, histograms = columns_of(noises), histograms_of(tuple(profiles))
    values = value_figures(histograms, columns)
    order = order_figures(histograms, columns, values)
    table = np.empty((len(NAMES), len(profiles), len(noises)), dtype=SINGLE)
    for row, name in zip(table, NAMES, strict=True):
        if name in ORDER_FEATURES:
            row[...] = order.figures[name]
        else:
            row[...] = np.broadcast_to(values.figures[name], values.total.shape)[histograms.which]
    table[LOGS] = np.log(table[LOGS] + OFFSETS)
    if not np.isfinite(table).all():
        unknown = [name for name, rows in zip(NAMES, table, strict=True) if not np.isfinite(rows).all()]
        raise FloatingPointError(f"features that are not finite: {', '.join(unknown)}")
    k, which = histograms.k, histograms.which
    total, raw_l1, raw_kl, raw_top = (
        of[which].astype(np.float64) for of in (values.total, values.raw_l1, values.raw_kl, values.raw_top)
    )
    raw_emd, fixed = order.raw_emd.astype(np.float64), columns.fixed[:, 0].astype(np.float64)
    squares, top_squares = (histograms.squares[which, :, place].astype(np.float64) for place in (0, 1))
    return Description(
        table.transpose(1, 2, 0).astype(np.float64),
        raw={
            "l1": raw_l1,
            "mse": total / k,
            "l2": np.sqrt(total),
            "kl": raw_kl,
            "js": raw_kl / 4,
            "emd": raw_emd * k,
            "topk": raw_top,
            "set": set_error(k, total, (1 - fixed) * total),
            "range": raw_emd * 1.2,
            "mean": raw_emd * k * 0.8,
            "quantiles": raw_emd * k + LEAST_STEPS,  # the mean over all levels instead of nine is emd
            "ks": raw_emd * 2.5,
        },
        cap={
            "l1": 1.0,
            "mse": squares / k,
            "l2": np.sqrt(squares),
            "kl": 1.0,
            "js": 0.5,
            "emd": k / 4,
            "topk": top_squares / histograms.top_size,
            "set": set_error(k, squares, 1.0),
            "range": 0.25,
            "mean": k / 4,
            "quantiles": k / 4,
            "ks": 0.5,
        },
        few=bool(has_few(table[NAMES.index("log_k"), :, 0], table[NAMES.index("log_distinct"), :, 0]).all()),
    )


def set_error(k: int, squares: FloatArray, squared_total: FloatArray | float) -> FloatArray:
    """Return the mean squared error of a random subset from the sum of squared errors and their squared sum."""
    size = min(k, max(1, round(SET_SHARE * k)))
    pairs = (size - 1) / (k - 1)
    return size / k * ((1 - pairs) * squares + pairs * squared_total)


def log_reference(description: Description, table: ErrorTable) -> FloatArray:
    """Return logarithms of the errors ``(S, P, pairs, metrics)`` that the model's outputs are relative to.

    About the error of the raw estimate, but for methods with valid frequencies never much above their largest error: so
    the logarithm of the ratio stays near 0 from no noise to noise alone.
    """
    raw, cap = np.empty((2, *description.features.shape[:2], len(table.metrics)))
    for column, metric in enumerate(table.metrics):
        raw[..., column], cap[..., column] = description.raw[metric], description.cap[metric]
    return bounded(raw[..., None, :], cap[..., None, :], table)


def bounded(raw: FloatArray, cap: FloatArray, table: ErrorTable) -> FloatArray:
    """Return log raw errors, for methods that keep to frequencies bounded by the largest error of such a method."""
    logs = np.log(np.maximum([raw, raw * cap / (raw + cap)], 1e-300))
    return np.where(table.free, logs[0], logs[1])
