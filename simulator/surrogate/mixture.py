"""Populations for categories without neighbours: the posterior under a fitted distribution of frequencies."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.methods.empirical_bayes import BIN, HIGHEST, LOWEST, fit_weights, mix, mixture_model
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import (
    RAREST,
    Posterior,
    drawn_columns,
    gaussian_draws,
    gaussian_variance,
    log_free_prior,
)


def mixture_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations whose frequencies come independently from a distribution fitted to the estimates.

    The model of `eb_ns`, and atoms nearer 0: weights fitted by the EM algorithm, estimates far above the noise free.
    Each draw refits the weights to re-weighted estimates (Rubin, "The Bayesian bootstrap", 1981), so that the draws
    include the uncertainty of the fit.
    """
    k, sd = len(estimate), noise.sd
    centres, atoms, kernel = mixture_model(k, noise.variance_at_zero, noise.variance_slope, least=RAREST / k)
    low = estimate <= HIGHEST * sd
    bins = np.rint(np.clip((estimate / sd - LOWEST) / BIN - 0.5, 0, len(centres) - 1)).astype(np.int64)
    weights = np.full((draws, len(atoms)), 1 / len(atoms))
    if low.any():
        mass = max(1.0 - estimate[~low].sum(), 0.0) / low.sum() / sd
        trials = rng.standard_exponential((draws, low.sum()))
        tallies = [np.bincount(bins[low], weights=trial, minlength=len(kernel)) / trial.sum() for trial in trials]
        weights = fit_weights(np.array(tallies, dtype=np.float64), kernel, atoms / sd, np.full(draws, mass))
    likeliest, equal = _log_likelihoods(centres, atoms, noise), _log_likelihoods(centres, np.array([1 / k]), noise)
    gain = (np.log(mix(weights, kernel.T)) + likeliest - equal)[:, bins[low]].sum(axis=1)
    populations, variance = np.empty((draws, k)), gaussian_variance(estimate, noise)
    for population, row in zip(populations, weights, strict=True):
        drawn = drawn_columns(np.cumsum(kernel * row, axis=1)[bins], rng)
        population[:] = np.where(low, atoms[drawn], gaussian_draws(estimate, variance, rng))
    far = (estimate[~low] - 1 / k) ** 2 / (2 * noise.mean_variance(k))
    return Posterior(populations, float(gain.mean() + far.sum() + log_free_prior(estimate[~low], k, sd, HIGHEST * sd)))


def _log_likelihoods(centres: FloatArray, atoms: FloatArray, noise: Noise) -> FloatArray:
    """Return for each bin the log-likelihood of the likeliest atom, which the kernel is relative to."""
    variance = noise.variance_at_zero + noise.variance_slope * atoms
    logs: FloatArray = -((centres[:, None] - atoms) ** 2) / (2 * variance) - np.log(variance) / 2
    return logs.max(axis=1)
