"""Features of a histogram under a noise: the inputs of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knowledge.describe.histograms import histograms_of
from knowledge.describe.levels import LEVEL_FEATURES, has_few, level_figures
from knowledge.describe.noises import columns_of
from knowledge.describe.normal import SINGLE
from knowledge.describe.order import ORDER_FEATURES, order_figures
from knowledge.describe.profile import Profile
from knowledge.describe.reference import Description, set_error
from knowledge.describe.values import VALUE_FEATURES, value_figures
from simulator import Noise
from simulator._types import SingleArray

# Models may have been fitted to the first of them only: new ones are added at the end.
NAMES = (*VALUE_FEATURES, *ORDER_FEATURES, *LEVEL_FEATURES)
ADDED = [*VALUE_FEATURES.values(), *ORDER_FEATURES.values(), *LEVEL_FEATURES.values()]
LOGS = np.array([place for place, added in enumerate(ADDED) if added is not None])
LEAST_STEPS = 1e-3  # bins: deciles that no repetition misses are not told from those that a few thousand miss once
OFFSETS = np.array([added for added in ADDED if added is not None], dtype=SINGLE)[:, None, None]


# Matrix products in single precision may raise the flag for lanes of a register that hold nothing, so what comes out is
# looked at instead.
@np.errstate(invalid="ignore")
def describe(profiles: Sequence[Profile], noises: Sequence[Noise]) -> Description:
    """Return the features and reference errors of histograms of one domain size under each of the noises.

    In single precision inside; the features differ by about a millionth when described together with others.

    Raises ValueError if the histograms are not all of one domain size, FloatingPointError if a feature is not finite.
    """
    columns, histograms = columns_of(noises), histograms_of(tuple(profiles))
    values = value_figures(histograms, columns)
    order = order_figures(histograms, columns, values)
    levels = level_figures(histograms, columns, values.raw_l1, values.total, values.raw_kl)
    shape = len(histograms.values), len(noises)
    table = np.concatenate(
        [
            _rows(values.figures, VALUE_FEATURES, shape)[:, histograms.which],
            _rows(order.figures, ORDER_FEATURES, (len(profiles), len(noises))),
            _rows(levels, LEVEL_FEATURES, shape)[:, histograms.which],
        ]
    )
    table[LOGS] = np.log(table[LOGS] + OFFSETS)
    if not np.isfinite(table).all():
        unknown = [name for name, rows in zip(NAMES, table, strict=True) if not np.isfinite(rows).all()]
        raise FloatingPointError(f"features that are not finite: {', '.join(unknown)}")
    k, every = histograms.k, histograms.which
    total, raw_l1, raw_kl, raw_top = (
        of[every].astype(np.float64) for of in (values.total, values.raw_l1, values.raw_kl, values.raw_top)
    )
    raw_emd, fixed = order.raw_emd.astype(np.float64), columns.fixed[:, 0].astype(np.float64)
    squares, top_squares = (histograms.squares[every, :, place].astype(np.float64) for place in (0, 1))
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


def _rows(figures: Mapping[str, SingleArray], names: Mapping[str, object], shape: tuple[int, int]) -> SingleArray:
    """Return figures as rows of a table ``(F, *shape)`` in the order of names."""
    table = np.empty((len(names), *shape), dtype=SINGLE)
    for row, name in zip(table, names, strict=True):
        row[...] = figures[name]
    return table
