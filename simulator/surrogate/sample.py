"""Populations behind a small raw sample: its multinomial noise, and nothing else, is in the way."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray, IntArray

CONCENTRATIONS = np.geomspace(1e-4, 1e2, 61)  # pseudo-users per category


def sample_posterior(counts: IntArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw true frequencies ``(draws, k)`` given a sample's counts ``(k,)``.

    The posterior under a symmetric Dirichlet prior (the Polya-Eggenberger or Dirichlet-multinomial model; Minka,
    "Estimating a Dirichlet distribution", 2000). Each draw draws its concentration as well, in proportion to marginal
    likelihood and a wide prior around one pseudo-user per category: a small sample tells little about it.

    Raises ValueError if the sample holds no users.
    """
    if counts.sum() < 1:
        raise ValueError(f"a sample must hold at least 1 user, got {int(counts.sum())}")
    concentrations = rng.choice(CONCENTRATIONS, size=(draws, 1), p=concentration_weights(counts))
    gammas = rng.standard_gamma(counts + concentrations)
    result: FloatArray = gammas / gammas.sum(axis=1, keepdims=True)
    return result


def concentration_weights(counts: IntArray) -> FloatArray:
    """Return the posterior weight of each of `CONCENTRATIONS`, under the prior density 1/(1 + alpha)^2."""
    from scipy.special import gammaln  # imported when used: advice from a large sample needs no scipy here

    k, users = len(counts), int(counts.sum())
    values, times = np.unique(counts, return_counts=True)
    alpha = CONCENTRATIONS
    seen = ((gammaln(values[:, None] + alpha) - gammaln(alpha)) * times[:, None]).sum(axis=0)
    # The grid is even in log(alpha), so the density comes with a factor alpha.
    logs = gammaln(k * alpha) - gammaln(users + k * alpha) + seen + np.log(alpha) - 2 * np.log1p(alpha)
    weights = np.exp(logs - logs.max())
    result: FloatArray = weights / weights.sum()
    return result
