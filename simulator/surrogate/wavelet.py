"""Populations for ordered domains: the posterior of a smooth curve with a few peaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.wavelet import (
    COARSEST,
    SCALES,
    TOP,
    TOTAL,
    Priors,
    bin_places,
    fit_priors,
    half_differences,
    level_sd,
    level_sizes,
)
from simulator.populations import apportion
from simulator.protocols.dyadic import differences, divided
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import (
    Posterior,
    drawn_columns,
    even_sd,
    gaussian_draws,
    gaussian_variance,
    log_free_prior,
)

PEAKS = (0, 1, 2, 4, 8, 16, 32)  # categories set aside from the curve; the evidence weighs the choices
PEAK_SD = 4.0  # only estimates this many noise sd above 0 can be peaks
TEMPER = 4.0  # log-likelihoods of models that are all wrong count as if there were a quarter of the estimates


@dataclass(frozen=True)
class _Curve:
    """A curve through all categories, those of the peaks bridged, with the priors of its coefficients."""

    peaks: IntArray
    estimate: FloatArray
    priors: Priors
    evidence: float


def wavelet_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations that are a smooth curve with 0 to 32 peaks.

    The model of `wavelet_eb`: Haar coefficients with a separate prior on each level, fitted by marginal likelihood. The
    transform begins at another place in each draw, so that its blocks stand nowhere. The highest estimates may be set
    aside as peaks that the curve need not follow; the numbers of peaks share the draws in proportion to their
    likelihoods, tempered.
    """
    centred, curves = _curves(estimate, noise)
    evidence = _together(curves)
    weights = np.exp([(curve.evidence - evidence) / TEMPER for curve in curves])
    sd = even_sd(noise, len(estimate))
    populations = [_draw(curve, sd, count, rng) for curve, count in zip(curves, apportion(weights, draws), strict=True)]
    variance = gaussian_variance(centred, noise)
    for curve, population in zip(curves, populations, strict=True):
        peaks = np.broadcast_to(centred[curve.peaks], (len(population), len(curve.peaks)))
        population[:, curve.peaks] = gaussian_draws(peaks, variance[curve.peaks], rng)
    return Posterior(np.concatenate(populations), evidence)


def _curves(estimate: FloatArray, noise: Noise) -> tuple[FloatArray, list[_Curve]]:
    """Return the estimate made to sum to 1, and a curve for each number of peaks that it may have."""
    k = len(estimate)
    centred = estimate + (1 - estimate.sum()) / k
    highest = np.argsort(-centred, kind="stable")
    strong = min(int((centred > PEAK_SD * noise.sd).sum()), k // 4)
    sd = even_sd(noise, k)
    return centred, [_curve(centred, sd, np.sort(highest[:number])) for number in PEAKS if number <= strong]


def _together(curves: list[_Curve]) -> float:
    """Return the joint evidence of all curves, tempered."""
    return float(TEMPER * np.logaddexp.reduce([curve.evidence / TEMPER for curve in curves]))


def _curve(estimate: FloatArray, sd: float, peaks: IntArray) -> _Curve:
    k = len(estimate)
    others = np.delete(np.arange(k), peaks)
    bridged = estimate.copy()
    bridged[peaks] = np.interp(peaks, others, estimate[others])
    details, last = half_differences(np.concatenate([bridged, bridged[::-1]])[None, :])
    sizes = level_sizes(k, len(details))
    places = [bin_places(detail, level_sd(sd, level)) for level, detail in enumerate(details)]
    priors = fit_priors(places, sizes)
    above = sum(
        size * _beyond_the_bins(detail / level_sd(sd, level))
        for level, (detail, size) in enumerate(zip(details, sizes, strict=True))
    )
    # Block means of the last level are all the same only where twice k is a power of 2.
    left = float(np.var(last)) / level_sd(sd, len(details) - 1) ** 2
    above += k / 2 ** len(details) * float(left - np.log1p(left)) / 2
    explained = float(((estimate - 1 / k) ** 2).sum() - ((bridged - bridged.mean()) ** 2).sum()) / (2 * sd**2)
    cost = log_free_prior(estimate[peaks], k, sd, PEAK_SD * sd)
    return _Curve(peaks, bridged, priors, explained + cost + float(priors.gain[0, 0]) + above)


def _beyond_the_bins(coefficients: FloatArray) -> float:
    """Return the mean log-likelihood that coefficients above the last bin gain and the bins do not count.

    Such a coefficient is modelled by a Gaussian of individual width.
    """
    squares = coefficients[np.abs(coefficients) > TOP] ** 2
    gains = squares / 2 - np.log(1 + squares) / 2
    counted = TOP**2 / 2 * (1 - 1 / (1 + TOP**2)) - np.log(1 + TOP**2) / 2
    return float(np.maximum(gains - counted, 0.0).sum() / coefficients.size)


def _draw(curve: _Curve, sd: float, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw curves ``(draws, k)`` from their posterior."""
    k = len(curve.estimate)
    mirrored = np.concatenate([curve.estimate, curve.estimate[::-1]])
    window = 1 << (2 * k - 1).bit_length()
    result = np.empty((draws, k))
    for row in result:
        shift = int(rng.integers(2 * k))
        signal = bool(rng.random() < curve.priors.signal[0, 0])
        details = differences(mirrored[(np.arange(window) + shift) % (2 * k)])
        sums = np.array([window * curve.estimate.mean()])
        for level, detail in reversed(list(enumerate(details))):
            weights = curve.priors.weights[min(level, len(curve.priors.weights) - 1)][0]
            size = 2 ** (level + 1)  # of a block; coefficients are halves of differences of means
            free = signal and k / size < COARSEST
            kept = _posterior_coefficients(detail / size, level_sd(sd, level), weights, rng, free=free)
            sums = divided(sums, size * kept, 2 * len(sums))
        row[:] = sums[(np.arange(k) - shift) % (2 * k)]
    return result


def _posterior_coefficients(
    detail: FloatArray, sd: float, weights: FloatArray, rng: np.random.Generator, *, free: bool
) -> FloatArray:
    """Draw coefficients given their noisy values; `free` ones have a flat prior."""
    gauss = rng.standard_normal(len(detail))
    if free:
        return detail + sd * gauss
    logs = np.log(np.maximum(weights, 1e-300)) - np.log(TOTAL) / 2 - (detail[:, None] / sd) ** 2 / (2 * TOTAL)
    component = drawn_columns(np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1), rng)
    kept = (SCALES**2 / TOTAL)[component]
    return kept * detail + np.sqrt(kept) * sd * gauss
