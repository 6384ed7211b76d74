"""Features of levels that many categories share: few distinct frequencies, or nearly so, that noise leaves apart.

Empirical Bayes finds such levels, and then errs by little more than the means of them: far less than the Bayes risk of
frequencies that are spread out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from knowledge.describe.histograms import Histograms
from knowledge.describe.noises import MEAN_ABSOLUTE, Noises
from knowledge.describe.normal import SINGLE
from simulator._types import FloatArray, SingleArray

APART = 2.0  # sd between neighbours that are of different levels
# Features: what is added to a figure before its logarithm is taken, as of those that values decide.
LEVEL_FEATURES: dict[str, float | None] = {
    "log_levels": 0.0,
    "log_level_l1": 1e-4,
    "log_level_l2": 1e-6,
    "log_level_kl": 1e-6,
    "log_distinct": 0.0,  # different frequencies, as a share of the categories
}
FEW, SHARED = 8.5, 3.0  # different frequencies that are few, where on average so many categories share each


def level_figures(
    histograms: Histograms, noises: Noises, raw_l1: SingleArray, total: SingleArray, raw_kl: SingleArray
) -> dict[str, SingleArray]:
    """Return the number of levels, and the errors of who knows to which level each category belongs, ``(U, P)``.

    Of each level its mean is estimated, and the categories are shrunk towards it by how much they differ.

    raw_l1, total, raw_kl: errors of the raw estimate, which those are relative to.
    """
    values, weights, spreads = histograms.levels, histograms.level_weights, histograms.level_spreads
    variance = noises.variance(values)
    number, l1, l2, kl, size, first, second = np.zeros((7, *variance.shape[:-1]), dtype=SINGLE)
    start = np.broadcast_to(values[..., 0], size.shape)
    last = values.shape[-1] - 1
    for at in range(last + 1):
        own = variance[..., at]
        offset = values[..., at] - start
        size = size + weights[..., at]
        first = first + weights[..., at] * offset
        second = second + weights[..., at] * (offset * offset + spreads[..., at])
        ends = np.broadcast_to(at == last, size.shape)
        if at < last:
            ends = values[..., at] - values[..., at + 1] > APART * np.sqrt(own)
        mean = first / size
        spread = np.maximum(second / size - mean * mean, SINGLE(0))
        shrunk = spread * own / (spread + own)
        number += ends
        l1 += ends * MEAN_ABSOLUTE * (size * np.sqrt(shrunk) + np.sqrt(size * own))
        l2 += ends * (size * shrunk + own)
        kl += ends * (size * shrunk + own) / (2 * (start + mean + np.sqrt(own)))
        if at < last:
            size, first, second = (np.where(ends, SINGLE(0), of) for of in (size, first, second))
            start = np.where(ends, values[..., at + 1], start)
    return {
        "log_levels": number,
        "log_level_l1": l1 / raw_l1,
        "log_level_l2": l2 / total,
        "log_level_kl": kl / raw_kl,
        "log_distinct": histograms.value_figures["distinct"] / SINGLE(histograms.k),
    }


def has_few(log_k: FloatArray, log_distinct: FloatArray) -> NDArray[np.bool_]:
    """Tell where few frequencies are shared by many categories: errors are predicted less well there."""
    return (log_k + log_distinct <= np.log(FEW)) & (log_distinct <= -np.log(SHARED))
