"""What is said of a histogram under a noise: the coordinates in which the grid is interpolated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.profile import TINY, Profile, profile_of, zipf_skew
from simulator import Noise
from simulator._normal import normal_quantile
from simulator._types import FloatArray
from simulator.metrics import SET_SHARE, TOP_SHARE
from simulator.postprocess.simple import FALSE_POSITIVES

__all__ = ["NAMES", "Description", "Profile", "describe", "profile_of", "zipf_skew"]

THRESHOLDS = (0.5, 1.0, 2.0, 4.0, 8.0)  # in noise sd
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)  # of a standard normal variable
STEPS = 12  # halvings of the interval of the level of the projection
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
)


@dataclass(frozen=True)
class Description:
    """Features and reference errors of P noise settings.

    Attributes
    ----------
    features
        ``(P, len(NAMES))``.
    raw
        For each metric ``(P,)``: about the error of the raw estimate.
    cap
        For each metric: about the largest error a method that keeps to frequencies makes.
    """

    features: FloatArray
    raw: dict[str, FloatArray]
    cap: dict[str, float]


@dataclass(frozen=True)
class _Noises:
    """Several noises as columns ``(P, 1)``."""

    at_zero: FloatArray
    slope: FloatArray
    users: FloatArray
    fixed: FloatArray
    shift: FloatArray

    def variance(self, frequency: FloatArray) -> FloatArray:
        return np.maximum(self.at_zero + self.slope * frequency, LEAST_VARIANCE * self.at_zero)


def _columns(noises: Sequence[Noise]) -> _Noises:
    rows = [(noise.variance_at_zero, noise.variance_slope, noise.n, _cancels(noise), _shift(noise)) for noise in noises]
    return _Noises(*np.array(rows, dtype=np.float64).T[:, :, None])


def _cancels(noise: Noise) -> float:
    return float(noise.sums_to_one) if noise.cancels is None else noise.cancels


def _shift(noise: Noise) -> float:
    """Return what randomised response adds to all frequencies alike; it decides where the IBU sets values to 0."""
    if noise.p is None or noise.q is None:
        return 1.0
    return noise.q / (noise.p - noise.q)


def describe(profile: Profile, noises: Sequence[Noise]) -> Description:
    """Return the features and reference errors of a histogram under each of the noises."""
    columns = _columns(noises)
    k, value, weight = profile.k, profile.values, profile.weights
    sd = np.sqrt(columns.at_zero)
    variance = columns.variance(value)
    root = np.sqrt(variance)
    total = variance @ weight
    ideal = np.minimum(value**2, variance)
    squares = float((weight * value**2).sum())
    masses = np.concatenate([[0.0], np.cumsum(weight * value)])
    shares = np.concatenate([[0.0], np.cumsum(weight)]) / k
    above = np.searchsorted(-value, -(np.array(THRESHOLDS) * sd))
    raw_l1 = MEAN_ABSOLUTE * (root @ weight)
    raw_kl = (variance / (value + root)) @ weight / 2
    size = max(1, round(TOP_SHARE * k))
    leading = np.clip(size - k * shares[:-1], 0.0, weight)
    top_squares = float((leading * value**2).sum()) / size
    raw_top, ideal_top = variance @ leading / size, ideal @ leading / size
    mean_variance = total / k
    haar, finest, energies = _against_details(profile, mean_variance)
    local_l1, local_top, local_kl = _local_risk(profile, mean_variance)
    level, cut_level = _levels(profile, columns)
    raw_emd, flattened, projected, lost = _against_order(profile, columns)
    zeroed, shrunk_l1, shrunk_emd, cut_emd, norm_cut_emd = _moved(profile, columns, level, cut_level)
    one = np.ones(len(noises))
    flat = [column[:, 0] for column in (columns.at_zero, columns.slope, columns.users, columns.fixed, columns.shift)]
    at_zero, slope, users, fixed, shift = flat
    features = [
        math.log(k) * one,
        np.log(k * sd[:, 0]),
        np.log1p(np.maximum(slope / at_zero / k, -0.9)),
        np.log1p(np.maximum(slope / at_zero * profile.top, -0.9)),
        fixed,
        np.log(users / k),
        np.log(users * sd[:, 0]),
        np.clip(np.log(k * shift + TINY), -20, 20),
        profile.entropy_gap * one,
        -math.log(profile.participation) * one,
        profile.zeros * one,
        math.log(k * profile.top) * one,
        profile.skew * one,
        profile.neighbours * one,
        math.log(profile.variation + 1e-4) * one,
        math.log(profile.displacement + 1e-4) * one,
        *masses[above].T,
        *shares[above].T,
        np.log(np.minimum(value, root) @ weight + TINY),
        np.log(ideal @ weight / total + TINY),
        np.log(raw_l1),
        np.log(total / squares) / 2,
        np.log(raw_kl),
        np.log(raw_top / top_squares),
        np.log(ideal_top / top_squares + TINY),
        math.log(size * top_squares / squares) * one,
        np.log(haar + TINY),
        *np.log1p(energies),
        np.log(finest + TINY),
        np.log(raw_emd),
        np.log(flattened + 1e-6),
        np.log(projected + 1e-6),
        np.log(flattened / raw_emd + 1e-3),
        np.arcsinh(level / sd)[:, 0],
        np.log(zeroed + 1e-6),
        np.log(shrunk_l1 + 1e-6),
        np.log(shrunk_emd + 1e-6),
        np.log(local_l1 / raw_l1 + 1e-6),
        np.log(local_top / top_squares + TINY),
        np.log(local_kl + 1e-9),
        float(profile.over_domain(profile.cumulated)) / k * one,
        np.log(lost + 1e-6),
        np.log(cut_emd + 1e-6),
        np.arcsinh(cut_level / sd)[:, 0],
        np.log(norm_cut_emd + 1e-6),
    ]
    return Description(
        np.stack(features, axis=1),
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
            "l2": math.sqrt(squares),
            "kl": 1.0,
            "js": 0.5,
            "emd": k / 4,
            "topk": top_squares,
            "set": float(_set_error(k, np.array(squares), np.array(1.0))),
            "range": 0.25,
        },
    )


def _set_error(k: int, squares: FloatArray, squared_total: FloatArray) -> FloatArray:
    """Return the mean squared error of a random subset from the sum of squared errors and their squared sum."""
    size = min(k, max(1, round(SET_SHARE * k)))
    pairs = (size - 1) / (k - 1)
    return size / k * ((1 - pairs) * squares + pairs * squared_total)


def _against_details(profile: Profile, variance: FloatArray) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Return the ideal risk of wavelet shrinkage over the noise, that of the finest level, and energies by depth."""
    depth = len(profile.details)
    ideal = np.zeros_like(variance)
    finest = np.zeros_like(variance)
    parts = [(np.zeros_like(variance), 0.0) for _ in range(4)]
    for level, (squares, weights) in enumerate(profile.details):
        count = float(weights.sum())
        risk = np.minimum(squares, variance[:, None]) @ weights
        ideal = ideal + risk
        if level == 0:
            finest = risk / (count * variance)
        place = 0 if level == 0 else min(3, 1 + 3 * (level - 1) // max(1, depth - 1))
        energy, number = parts[place]
        parts[place] = (energy + float((squares * weights).sum()) / variance, number + count)
    return ideal / (profile.k * variance), finest, [energy / max(number, 1.0) for energy, number in parts]


def _local_risk(profile: Profile, variance: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what wavelet shrinkage must leave at the single values: as l1, as square of the top ones, and as kl."""
    halves = 0.5 ** np.arange(1, profile.paths.shape[1] + 1)
    local, top = (np.minimum(paths, variance[:, None, None]) @ halves for paths in (profile.paths, profile.top_paths))
    root = np.sqrt(local)
    divergence = local / (profile.place_values + root + TINY)
    return root.mean(axis=1) * profile.k, top.mean(axis=1), divergence.mean(axis=1) * profile.k / 2


def _normal(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the normal distribution function, to 2e-4, and the density."""
    squared = x * x
    below = 1 / (1 + np.exp(np.minimum(x * (-1.5976 - 0.07056 * squared), 80.0)))
    return below, np.exp(squared / -2) / math.sqrt(2 * math.pi)


def _levels(profile: Profile, noises: _Noises) -> tuple[FloatArray, FloatArray]:
    """Return what `norm_sub` takes off, and the threshold of `norm_cut`, for each noise ``(P, 1)``.

    The first is t with ``sum E max(f + noise - t, 0) = 1``, the second the smallest t of at least 0 with
    ``sum E (f + noise) [f + noise > t] = 1``. At t = 0 both sums are at least 1.
    """
    value, weight = profile.few_values, profile.few_weights
    sd = np.sqrt(noises.variance(value))
    low = np.zeros((2, *noises.at_zero.shape))
    # Where the sums are 1, few of k normal variables are above.
    top = value.max() + sd.max(axis=1, keepdims=True) * (1 + math.sqrt(2 * math.log(profile.k)))
    high = np.stack([top, top])
    for _ in range(STEPS):
        middle = (low + high) / 2
        x = (value - middle) / sd
        below, density = _normal(x)
        terms = sd * density
        terms[0] += (value - middle[0]) * below[0]
        terms[1] += value * below[1]
        above = (terms @ weight > 1)[:, :, None]
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    level = (low + high) / 2
    return level[0], level[1]


def _against_order(profile: Profile, noises: _Noises) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return distances along the order, in shares of the domain.

    Of the raw estimate; of flattening what lies below the noise; of keeping only what lies above it, and scaling it to
    1; and of leaving out what lies below.
    """
    k, ends, cumulated = profile.k, profile.ends, profile.cumulated
    running = np.maximum(noises.at_zero * ends + noises.slope * cumulated, LEAST_VARIANCE * noises.at_zero)
    tied = running * np.maximum(1 - noises.fixed * running / running[:, -1:], 0.0)
    raw = MEAN_ABSOLUTE * profile.over_domain(np.sqrt(tied))
    hidden = np.cumsum(profile.by_block(np.minimum(profile.points, np.sqrt(noises.at_zero))), axis=1)
    flattened = profile.over_domain(np.abs(hidden - hidden[:, -1:] / k * ends))
    kept = cumulated - hidden
    left = kept[:, -1:]
    scaled = np.where(left > TINY, kept / np.maximum(left, TINY), ends / k)
    projected = profile.over_domain(np.abs(scaled - cumulated))
    return raw / k, flattened / k, projected / k, profile.over_domain(hidden) / k


def _moved(profile: Profile, noises: _Noises, level: FloatArray, cut_level: FloatArray) -> tuple[FloatArray, ...]:
    """Return what three methods do to the mean estimate.

    The mass of values that `norm_sub` sets to 0, and how far it moves the mean estimate, as l1 and along the order in
    shares of the domain; and the last for `base_cut` and `norm_cut`.
    """
    k, f = profile.k, profile.points
    size = np.ones_like(f) if profile.counts is None else profile.counts.sum(axis=0)
    sd = np.sqrt(noises.variance(f))
    quantile = normal_quantile(1 - FALSE_POSITIVES / k) if k > 2 * FALSE_POSITIVES else 0.0
    cut = quantile * np.sqrt(noises.at_zero)
    below, density = _normal((f - np.stack([level, cut, cut_level])) / sd)
    moved = sd * density - f + f * below
    moved[0] -= level * below[0]
    distance = [profile.over_domain(np.abs(np.cumsum(profile.by_block(one), axis=1))) / k for one in moved]
    return (1 - below[0]) @ (f * size), np.abs(moved[0]) @ size, *distance
