"""Features of a histogram under a noise that depend on the order of its categories."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from knowledge.describe.arrays import LEAST_VARIANCE, MEAN_ABSOLUTE, SINGLE, Histograms, Noises
from knowledge.describe.profile import TINY
from knowledge.describe.thresholds import normal
from knowledge.describe.value_features import ValueFigures
from simulator._types import RealArray, SingleArray

LEAST_MASS = SINGLE(1e-4)  # far above the rounding of a sum of frequencies

# As `knowledge.describe.value_features.VALUE_FEATURES`.
ORDER_FEATURES: dict[str, float | None] = {
    "neighbours": None,
    "log_variation": 1e-4,
    "log_displacement": 1e-4,
    "log_ideal_haar": TINY,
    "log_haar_finest": 1.0,
    "log_haar_fine": 1.0,
    "log_haar_middle": 1.0,
    "log_haar_coarse": 1.0,
    "log_ideal_haar_finest": TINY,
    "log_raw_emd": 0.0,
    "log_flattened": 1e-6,
    "log_projected": 1e-6,
    "log_flattened_ratio": 1e-3,
    "log_zeroed": 1e-6,
    "log_shrunk_l1": 1e-6,
    "log_shrunk_emd": 1e-6,
    "log_local_l1": 1e-6,
    "log_local_top": TINY,
    "log_local_kl": 1e-9,
    "centre": None,
    "log_lost": 1e-6,
    "log_cut_emd": 1e-6,
    "log_norm_cut_emd": 1e-6,
    "log_smooth_l1": 1e-6,
    "log_smooth_kl": 1e-6,
    "log_smooth_top": 1e-6,
}


class OrderFigures(NamedTuple):
    """Figures of S histograms under P noises, each ``(S, P)`` or to be broadcast to it."""

    figures: dict[str, SingleArray]  # by the names of `ORDER_FEATURES`
    raw_emd: SingleArray  # of the raw estimate, as a share of the domain


def order_figures(histograms: Histograms, noises: Noises, values: ValueFigures) -> OrderFigures:
    """Return the features that depend on the order of histograms and the noises, given those of their values."""
    which = histograms.which
    variance = values.total[which] / SINGLE(histograms.k)
    haar, finest, depths = _against_details(histograms, variance)
    local_l1, local_top, local_kl, smooth_l1, smooth_top, smooth_kl = _local_risk(histograms, variance)
    raw_emd, flattened, projected, lost = _against_order(histograms, noises)
    zeroed, shrunk_l1, shrunk_emd, cut_emd, norm_cut_emd = _moved(histograms, noises, values.thresholds[:, which])
    raw_l1, raw_kl, raw_top = values.raw_l1[which], values.raw_kl[which], values.raw_top[which]
    top_squares = histograms.squares[which, :, 1] / SINGLE(histograms.top_size)
    profile = histograms.order_figures
    figures = {
        "neighbours": profile["neighbours"],
        "log_variation": profile["variation"],
        "log_displacement": profile["displacement"],
        "log_ideal_haar": haar,
        "log_haar_finest": depths[..., 0],
        "log_haar_fine": depths[..., 1],
        "log_haar_middle": depths[..., 2],
        "log_haar_coarse": depths[..., 3],
        "log_ideal_haar_finest": finest,
        "log_raw_emd": raw_emd,
        "log_flattened": flattened,
        "log_projected": projected,
        "log_flattened_ratio": flattened / raw_emd,
        "log_zeroed": zeroed,
        "log_shrunk_l1": shrunk_l1,
        "log_shrunk_emd": shrunk_emd,
        "log_local_l1": local_l1 / raw_l1,
        "log_local_top": local_top / top_squares,
        "log_local_kl": local_kl,
        "centre": histograms.over_domain(histograms.cumulated) / SINGLE(histograms.k),
        "log_lost": lost,
        "log_cut_emd": cut_emd,
        "log_norm_cut_emd": norm_cut_emd,
        "log_smooth_l1": smooth_l1 / raw_l1,
        "log_smooth_kl": smooth_kl / raw_kl,
        "log_smooth_top": smooth_top / raw_top,
    }
    return OrderFigures(figures, raw_emd)


def _against_details(histograms: Histograms, variance: SingleArray) -> tuple[SingleArray, SingleArray, SingleArray]:
    """Return the ideal risk of wavelet shrinkage over the noise, that of the finest level, and energies by depth."""
    risk = np.minimum(histograms.details, variance[..., None]) @ histograms.detail_weights
    finest = risk[..., 1] / (histograms.detail_weights[..., 1].sum(axis=-1, keepdims=True) * variance)
    return risk[..., 0] / (SINGLE(histograms.k) * variance), finest, histograms.depths / variance[..., None]


def _local_risk(histograms: Histograms, variance: SingleArray) -> list[SingleArray]:
    """Return the error of wavelet shrinkage at the single values: as l1, as square of the top values, and as kl.

    First the ideal error if it knew each coefficient, then the error if it knows the mean squares of levels.
    """
    k = SINGLE(histograms.k)
    spread, top = histograms.place_weights.T
    best = histograms.halves @ np.minimum(histograms.paths, variance[..., None, None])
    results: list[SingleArray] = []
    for risk in (best, smoothing_risk(histograms.parts, histograms.energies, variance)):
        root = np.sqrt(risk)
        l1, of_top = root @ spread, risk @ top
        root += histograms.place_values
        root += SINGLE(TINY)
        risk /= root
        results += [l1 * k, of_top, risk @ spread * (k / 2)]
    return results


def _against_order(histograms: Histograms, noises: Noises) -> tuple[SingleArray, SingleArray, SingleArray, SingleArray]:
    """Return distances along the order, in shares of the domain.

    Of the raw estimate; of flattening what lies below the noise; of keeping only what lies above it, and scaling it to
    1; and of omitting what lies below.
    """
    k, ends, cumulated = SINGLE(histograms.k), histograms.ends, histograms.cumulated
    running = np.maximum(noises.at_zero * ends + noises.slope * cumulated, SINGLE(LEAST_VARIANCE) * noises.at_zero)
    tied = running * np.maximum(1 - noises.fixed * running / running[..., -1:], 0)
    raw = MEAN_ABSOLUTE * histograms.over_domain(np.sqrt(tied))
    hidden = histograms.up_to_blocks(np.minimum(histograms.points, np.sqrt(noises.at_zero)))
    flattened = histograms.over_domain(np.abs(hidden - hidden[..., -1:] / k * ends))
    left_over = cumulated - hidden
    mass = left_over[..., -1:]
    scaled = np.where(mass > LEAST_MASS, left_over / np.maximum(mass, LEAST_MASS), ends / k)
    projected = histograms.over_domain(np.abs(scaled - cumulated))
    return raw / k, flattened / k, projected / k, histograms.over_domain(hidden) / k


def _moved(histograms: Histograms, noises: Noises, levels: SingleArray) -> tuple[SingleArray, ...]:
    """Return the effects of three methods on the mean estimate.

    The mass of values that `norm_sub` sets to 0, and how far it moves the mean estimate, as l1 and along the order in
    shares of the domain; and the last for `base_cut` and `norm_cut`.
    """
    f = histograms.points
    sd = np.sqrt(noises.variance(f))
    level, cut_level = levels
    shifted = np.empty((3, *sd.shape), dtype=SINGLE)
    for place, threshold in enumerate((level, histograms.cut * np.sqrt(noises.at_zero), cut_level)):
        np.subtract(f, threshold, out=shifted[place])
    shifted /= sd
    below, moved = normal(shifted)
    moved *= sd
    moved[0] -= level * below[0]
    below -= 1
    below *= f
    moved += below
    distance = histograms.over_domain(np.abs(histograms.up_to_blocks(moved))) / SINGLE(histograms.k)
    return -np.vecdot(below[0], histograms.sizes), np.vecdot(np.abs(moved[0]), histograms.sizes), *distance


def smoothing_risk(parts: RealArray, energies: RealArray, variance: RealArray) -> RealArray:
    """Return the squared error that smoothing leaves at places, ``(S, P, places)``.

    The coefficients of the Haar transform at every shift are multiplied by the signal share of the mean square of their
    level, the posterior mean under a Gaussian prior. The remaining noise is approximated by that of a transform at a
    single shift, which is a little more.

    parts: contribution of each level to the value at a place ``(S, L, places)``, finest first.
    energies: mean square of each level, of coefficients of length 1, ``(S, L)``.
    variance: of the noise of an estimate ``(S, P)``.
    """
    lost = variance[..., None] / (variance[..., None] + energies[:, None])
    halves = (0.5 ** np.arange(1, energies.shape[-1] + 1)).astype(variance.dtype)
    noise = (1 - lost) ** 2 @ halves * variance
    risk = lost @ parts
    risk *= risk
    risk += noise[..., None]
    return risk
