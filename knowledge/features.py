"""What is said of a histogram under a noise: the coordinates in which the grid is interpolated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knowledge.by_order import BY_ORDER, by_order
from knowledge.by_value import BY_VALUE, by_value
from knowledge.noise_columns import columns_of
from knowledge.profile import Profile, profile_of, zipf_skew
from knowledge.stack import SINGLE, stacked
from knowledge.yardstick import Description, referred
from simulator import Noise
from simulator._types import SingleArray

__all__ = ["NAMES", "Description", "Profile", "describe", "profile_of", "zipf_skew"]

NAMES = (*BY_VALUE, *BY_ORDER)
ADDED = [*BY_VALUE.values(), *BY_ORDER.values()]
LOGS = np.array([place for place, added in enumerate(ADDED) if added is not None])
OFFSETS = np.array([added for added in ADDED if added is not None], dtype=SINGLE)[:, None, None]


def describe(profiles: Sequence[Profile], noises: Sequence[Noise]) -> Description:
    """Return the features and reference errors of histograms of one domain size under each of the noises.

    In single precision inside; the features differ by about a millionth when described together with others.

    Raises
    ------
    ValueError
        If the histograms are not all of one domain size.
    """
    columns, seen = columns_of(noises), stacked(tuple(profiles))
    values = by_value(seen, columns)
    order = by_order(seen, columns, values)
    table = np.concatenate(
        [
            _rows(values.figures, BY_VALUE, (len(seen.values), len(noises)))[:, seen.which],
            _rows(order.figures, BY_ORDER, (len(profiles), len(noises))),
        ]
    )
    table[LOGS] = np.log(table[LOGS] + OFFSETS)
    total, raw_l1, raw_kl, raw_top = (
        of[seen.which].astype(np.float64) for of in (values.total, values.raw_l1, values.raw_kl, values.raw_top)
    )
    squares, top_squares = (seen.squares[seen.which, :, place].astype(np.float64) for place in (0, 1))
    return referred(
        table.transpose(1, 2, 0).astype(np.float64),
        seen.k,
        total=total,
        raw_l1=raw_l1,
        raw_kl=raw_kl,
        raw_top=raw_top,
        raw_emd=order.raw_emd.astype(np.float64),
        fixed=columns.fixed[:, 0].astype(np.float64),
        squares=squares,
        top_square=top_squares / seen.top_size,
    )


def _rows(figures: Mapping[str, SingleArray], names: Mapping[str, object], shape: tuple[int, int]) -> SingleArray:
    """Return figures as rows of a table ``(F, *shape)`` in the order of names."""
    table = np.empty((len(names), *shape), dtype=SINGLE)
    for row, name in zip(table, names, strict=True):
        row[...] = figures[name]
    return table
