"""What is said of a histogram under a noise: the coordinates in which the grid is interpolated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from knowledge.ideal import bayes_risk, smoothing_risk
from knowledge.profile import TINY, Profile, profile_of, zipf_skew
from knowledge.stack import Histograms, stacked
from simulator import Noise
from simulator._normal import normal_quantile
from simulator._types import FloatArray
from simulator.metrics import SET_SHARE, TOP_SHARE
from simulator.postprocess.simple import FALSE_POSITIVES

__all__ = ["NAMES", "Description", "Profile", "describe", "profile_of", "zipf_skew"]

THRESHOLDS = (0.5, 1.0, 2.0, 4.0, 8.0)  # in noise sd
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)  # of a standard normal variable
FIGURES = ("entropy_gap", "participation", "zeros", "top", "skew", "neighbours", "variation", "displacement")
STEPS = 12  # halvings of the interval of the level of the projection
ROUNDING = 1e-9  # the sum of what is kept stays at 1 for a stretch where values and noise lie apart
LEAST_VARIANCE = 1e-3  # of that at f = 0: where a negative slope would leave none

NAMES = (
    "log_k",
    "log_noise",  # noise-to-uniform ratio: k times the sd at f = 0
    "log_slope",
    "log_slope_top",
    "sums_to_one",
    "log_users",
    "log_noise_users",
    "log_shift",
    "entropy_gap",
    "log_concentration",
    "zeros",
    "log_top",
    "skew",
    "neighbours",
    "log_variation",
    "log_displacement",
    *(f"mass_above_{c:g}" for c in THRESHOLDS),
    *(f"share_above_{c:g}" for c in THRESHOLDS),
    "log_ideal_l1",
    "log_ideal_l2",
    "log_raw_l1",
    "log_raw_l2",
    "log_raw_kl",
    "log_raw_top",
    "log_ideal_top",
    "log_top_share",
    "log_ideal_haar",
    "log_haar_finest",
    "log_haar_fine",
    "log_haar_middle",
    "log_haar_coarse",
    "log_ideal_haar_finest",
    "log_raw_emd",
    "log_flattened",
    "log_projected",
    "log_flattened_ratio",
    "level",
    "log_zeroed",
    "log_shrunk_l1",
    "log_shrunk_emd",
    "log_local_l1",
    "log_local_top",
    "log_local_kl",
    "centre",
    "log_lost",
    "log_cut_emd",
    "cut_level",
    "log_norm_cut_emd",
    "log_bayes_l1",
    "log_bayes_l2",
    "log_bayes_kl",
    "log_bayes_top",
    "log_smooth_l1",
    "log_smooth_kl",
    "log_smooth_top",
)


class Description(NamedTuple):
    """Features and reference errors of S histograms under P noise settings.

    Attributes
    ----------
    features
        ``(S, P, len(NAMES))``.
    raw
        For each metric ``(S, P)``: about the error of the raw estimate.
    cap
        For each metric about the largest error a method that keeps to frequencies makes: a number or ``(S, 1)``.
    """

    features: FloatArray
    raw: dict[str, FloatArray]
    cap: dict[str, FloatArray | float]


class _Noises(NamedTuple):
    """Several noises as columns ``(P, 1)``."""

    at_zero: FloatArray
    slope: FloatArray
    users: FloatArray
    fixed: FloatArray
    shift: FloatArray

    def variance(self, frequency: FloatArray) -> FloatArray:
        return np.maximum(self.at_zero + self.slope * frequency, LEAST_VARIANCE * self.at_zero)


def _columns(noises: Sequence[Noise]) -> _Noises:
    rows = [
        (noise.variance_at_zero, noise.variance_slope, noise.n, cancelling(noise), _shift(noise)) for noise in noises
    ]
    return _Noises(*np.array(rows, dtype=np.float64).T[:, :, None])


def cancelling(noise: Noise) -> float:
    """Return the share of the variances of all estimates that cancels in their sum; see `Noise.cancels`."""
    return float(noise.sums_to_one) if noise.cancels is None else noise.cancels


def _shift(noise: Noise) -> float:
    """Return what randomised response adds to all frequencies alike; it decides where the IBU sets values to 0."""
    if noise.p is None or noise.q is None:
        return 1.0
    return noise.q / (noise.p - noise.q)


def describe(profiles: Sequence[Profile], noises: Sequence[Noise]) -> Description:
    """Return the features and reference errors of histograms of one domain size under each of the noises.

    Raises
    ------
    ValueError
        If the histograms are not all of one domain size.
    """
    columns, seen = _columns(noises), stacked(profiles)
    k, value, weight = seen.k, seen.values, seen.weights
    sd = np.sqrt(columns.at_zero)
    variance = columns.variance(value)
    root = np.sqrt(variance)
    total = variance @ weight
    ideal = np.minimum(value**2, variance)
    squares = value**2 @ weight
    masses, shares = (np.cumsum(of, axis=-1) for of in (weight * value[:, 0], weight / k))
    masses, shares = (np.append(np.zeros_like(of[..., :1]), of, axis=-1) for of in (masses, shares))
    cuts = -(np.array(THRESHOLDS) * sd)
    above = np.stack([np.searchsorted(-of, cuts) for of in value[:, 0]])
    raw_l1 = MEAN_ABSOLUTE * (root @ weight)
    raw_kl = (variance / (value + root)) @ weight / 2
    size = max(1, round(TOP_SHARE * k))
    leading = np.clip(size - k * shares[:-1], 0.0, weight)
    top_squares = value**2 @ leading / size
    raw_top, ideal_top = variance @ leading / size, ideal @ leading / size
    mean_variance = total / k
    haar, finest, energies = _against_details(seen, mean_variance)
    local_l1, local_top, local_kl, smooth_l1, smooth_top, smooth_kl = _local_risk(seen, mean_variance)
    bayes_l1, bayes_l2, bayes_top, bayes_kl = _bayes(seen, columns, size)
    level, cut_level = _levels(seen, columns)
    raw_emd, flattened, projected, lost = _against_order(seen, columns)
    zeroed, shrunk_l1, shrunk_emd, cut_emd, norm_cut_emd = _moved(seen, columns, level, cut_level)
    at_zero, slope, users, fixed, shift, deviation = (column[:, 0] for column in (*columns, sd))
    figures = {name: np.array([[getattr(profile, name)] for profile in profiles]) for name in FIGURES}
    features = [
        math.log(k),
        np.log(k * deviation),
        np.log1p(np.maximum(slope / at_zero / k, -0.9)),
        np.log1p(np.maximum(slope / at_zero * figures["top"], -0.9)),
        fixed,
        np.log(users / k),
        np.log(users * deviation),
        np.clip(np.log(k * shift + TINY), -20, 20),
        figures["entropy_gap"],
        -np.log(figures["participation"]),
        figures["zeros"],
        np.log(k * figures["top"]),
        figures["skew"],
        figures["neighbours"],
        np.log(figures["variation"] + 1e-4),
        np.log(figures["displacement"] + 1e-4),
        *np.moveaxis(masses[np.arange(len(profiles))[:, None, None], above], -1, 0),
        *np.moveaxis(shares[above], -1, 0),
        np.log(np.minimum(value, root) @ weight + TINY),
        np.log(ideal @ weight / total + TINY),
        np.log(raw_l1),
        np.log(total / squares) / 2,
        np.log(raw_kl),
        np.log(raw_top / top_squares),
        np.log(ideal_top / top_squares + TINY),
        np.log(size * top_squares / squares),
        np.log(haar + TINY),
        *np.log1p(energies),
        np.log(finest + TINY),
        np.log(raw_emd),
        np.log(flattened + 1e-6),
        np.log(projected + 1e-6),
        np.log(flattened / raw_emd + 1e-3),
        np.arcsinh(level[..., 0] / deviation),
        np.log(zeroed + 1e-6),
        np.log(shrunk_l1 + 1e-6),
        np.log(shrunk_emd + 1e-6),
        np.log(local_l1 / raw_l1 + 1e-6),
        np.log(local_top / top_squares + TINY),
        np.log(local_kl + 1e-9),
        seen.over_domain(seen.cumulated) / k,
        np.log(lost + 1e-6),
        np.log(cut_emd + 1e-6),
        np.arcsinh(cut_level[..., 0] / deviation),
        np.log(norm_cut_emd + 1e-6),
        np.log(bayes_l1 / raw_l1 + 1e-6),
        np.log(bayes_l2 / total + 1e-6),
        np.log(bayes_kl / raw_kl + 1e-6),
        np.log(bayes_top / raw_top + 1e-6),
        np.log(smooth_l1 / raw_l1 + 1e-6),
        np.log(smooth_kl / raw_kl + 1e-6),
        np.log(smooth_top / raw_top + 1e-6),
    ]
    table = np.empty((len(profiles), len(noises), len(features)))
    for place, feature in enumerate(features):
        table[..., place] = feature
    return Description(
        table,
        {
            "l1": raw_l1,
            "mse": mean_variance,
            "l2": np.sqrt(total),
            "kl": raw_kl,
            "js": raw_kl / 4,
            "emd": raw_emd * k,
            "topk": raw_top,
            "set": _set_error(k, total, (1 - fixed) * total),
            "range": raw_emd * 1.2,
        },
        {
            "l1": 1.0,
            "mse": squares / k,
            "l2": np.sqrt(squares),
            "kl": 1.0,
            "js": 0.5,
            "emd": k / 4,
            "topk": top_squares,
            "set": _set_error(k, squares, np.ones_like(squares)),
            "range": 0.25,
        },
    )


def _set_error(k: int, squares: FloatArray, squared_total: FloatArray) -> FloatArray:
    """Return the mean squared error of a random subset from the sum of squared errors and their squared sum."""
    size = min(k, max(1, round(SET_SHARE * k)))
    pairs = (size - 1) / (k - 1)
    return size / k * ((1 - pairs) * squares + pairs * squared_total)


def _against_details(seen: Histograms, variance: FloatArray) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Return the ideal risk of wavelet shrinkage over the noise, that of the finest level, and energies by depth."""
    depth = len(seen.details)
    ideal = np.zeros_like(variance)
    finest = np.zeros_like(variance)
    parts = [(np.zeros_like(variance), 0.0) for _ in range(4)]
    for level, (squares, weights) in enumerate(seen.details):
        count = float(weights.sum())
        risk = np.minimum(squares, variance[..., None]) @ weights
        ideal = ideal + risk
        if level == 0:
            finest = risk / (count * variance)
        place = 0 if level == 0 else min(3, 1 + 3 * (level - 1) // max(1, depth - 1))
        energy, number = parts[place]
        parts[place] = (energy + squares @ weights / variance, number + count)
    return ideal / (seen.k * variance), finest, [energy / max(number, 1.0) for energy, number in parts]


def _local_risk(seen: Histograms, variance: FloatArray) -> tuple[FloatArray, ...]:
    """Return what wavelet shrinkage leaves at the single values: as l1, as square of the top ones, and as kl.

    First what it must leave if it knew every coefficient, then what it leaves if it knows the mean squares of levels.
    """
    halves = 0.5 ** np.arange(1, seen.paths.shape[-1] + 1)
    best, best_top = (np.minimum(paths, variance[..., None, None]) @ halves for paths in (seen.paths, seen.top_paths))
    plain, plain_top = (
        smoothing_risk(parts[:, 0], seen.energies[:, 0], variance) for parts in (seen.parts, seen.top_parts)
    )
    results: list[FloatArray] = []
    for local, top in ((best, best_top), (plain, plain_top)):
        root = np.sqrt(local)
        divergence = local / (seen.place_values + root + TINY)
        results += [root.mean(axis=-1) * seen.k, top.mean(axis=-1), divergence.mean(axis=-1) * seen.k / 2]
    return tuple(results)


def _bayes(seen: Histograms, noises: _Noises, size: int) -> tuple[FloatArray, ...]:
    """Return the Bayes risk as l1, as l2 squared, of the `size` top values, and as kl."""
    atoms, weights = seen.atoms, seen.atom_weights
    squared, absolute = bayes_risk(atoms, weights, noises.variance(atoms))
    leading = np.clip(size - (np.cumsum(weights) - weights), 0.0, weights)
    divergence = squared / (atoms + np.sqrt(squared) + TINY)
    return absolute @ weights, squared @ weights, squared @ leading / size, divergence @ weights / 2


def _normal(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the normal distribution function, to 2e-4, and the density."""
    density = x * x
    below = density * -0.07056
    below -= 1.5976
    below *= x
    with np.errstate(over="ignore"):  # far below the mean: 1 over infinity is right
        np.exp(below, out=below)
    below += 1
    np.reciprocal(below, out=below)
    density /= -2
    np.exp(density, out=density)
    density /= math.sqrt(2 * math.pi)
    return below, density


def _levels(seen: Histograms, noises: _Noises) -> tuple[FloatArray, FloatArray]:
    """Return what `norm_sub` takes off, and the threshold of `norm_cut`, for each noise ``(S, P, 1)``.

    The first is t with ``sum E max(f + noise - t, 0) = 1``, the second the smallest t of at least 0 with
    ``sum E (f + noise) [f + noise > t] = 1``. At t = 0 both sums are at least 1.
    """
    value, weight = seen.few_values, seen.few_weights
    sd = np.sqrt(noises.variance(value))
    # Where the sums are 1, few of k normal variables are above.
    top = value.max(axis=-1, keepdims=True) + sd.max(axis=-1, keepdims=True) * (1 + math.sqrt(2 * math.log(seen.k)))
    high = np.stack([top, top])
    low = np.zeros_like(high)
    for _ in range(STEPS):
        middle = (low + high) / 2
        kept = value - middle
        below, terms = _normal(kept / sd)
        terms *= sd
        kept[1] = value
        kept *= below
        terms += kept
        above = (terms @ weight > 1 + ROUNDING)[..., None]
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    level = (low + high) / 2
    return level[0], level[1]


def _against_order(seen: Histograms, noises: _Noises) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return distances along the order, in shares of the domain.

    Of the raw estimate; of flattening what lies below the noise; of keeping only what lies above it, and scaling it to
    1; and of leaving out what lies below.
    """
    k, ends, cumulated = seen.k, seen.ends, seen.cumulated
    running = np.maximum(noises.at_zero * ends + noises.slope * cumulated, LEAST_VARIANCE * noises.at_zero)
    tied = running * np.maximum(1 - noises.fixed * running / running[..., -1:], 0.0)
    raw = MEAN_ABSOLUTE * seen.over_domain(np.sqrt(tied))
    hidden = np.cumsum(seen.by_block(np.minimum(seen.points, np.sqrt(noises.at_zero))), axis=-1)
    flattened = seen.over_domain(np.abs(hidden - hidden[..., -1:] / k * ends))
    kept = cumulated - hidden
    left = kept[..., -1:]
    scaled = np.where(left > TINY, kept / np.maximum(left, TINY), ends / k)
    projected = seen.over_domain(np.abs(scaled - cumulated))
    return raw / k, flattened / k, projected / k, seen.over_domain(hidden) / k


def _moved(seen: Histograms, noises: _Noises, level: FloatArray, cut_level: FloatArray) -> tuple[FloatArray, ...]:
    """Return what three methods do to the mean estimate.

    The mass of values that `norm_sub` sets to 0, and how far it moves the mean estimate, as l1 and along the order in
    shares of the domain; and the last for `base_cut` and `norm_cut`.
    """
    k, f = seen.k, seen.points
    size = np.ones_like(f) if seen.counts is None else seen.counts.sum(axis=1)[:, None]
    sd = np.sqrt(noises.variance(f))
    quantile = normal_quantile(1 - FALSE_POSITIVES / k) if k > 2 * FALSE_POSITIVES else 0.0
    cut = np.broadcast_to(quantile * np.sqrt(noises.at_zero), level.shape)
    shifted = f - np.stack([level, cut, cut_level])
    shifted /= sd
    below, moved = _normal(shifted)
    moved *= sd
    moved[0] -= level * below[0]
    below -= 1
    below *= f
    moved += below
    distance = [seen.over_domain(np.abs(np.cumsum(seen.by_block(one), axis=-1))) / k for one in moved]
    return -(below[0] * size).sum(axis=-1), (np.abs(moved[0]) * size).sum(axis=-1), *distance
