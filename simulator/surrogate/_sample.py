"""Populations behind a small raw sample: its multinomial noise, and nothing else, is in the way."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray, IntArray

CONCENTRATIONS = np.geomspace(1e-4, 1e2, 61)  # pseudo-users per category


def sample_posterior(counts: IntArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw true frequencies ``(draws, k)`` given a sample's counts ``(k,)``.

    The posterior under a symmetric Dirichlet prior (the Polya-Eggenberger or Dirichlet-multinomial model; Minka,
    "Estimating a Dirichlet distribution", 2000) whose concentration has the largest marginal likelihood.

    Raises
    ------
    ValueError
        If the sample holds no users.
    """
    if counts.sum() < 1:
        raise ValueError(f"a sample must hold at least 1 user, got {int(counts.sum())}")
    gammas = rng.standard_gamma(np.broadcast_to(counts + _concentration(counts), (draws, len(counts))))
    result: FloatArray = gammas / gammas.sum(axis=1, keepdims=True)
    return result


def _concentration(counts: IntArray) -> float:
    """Return the concentration of the symmetric Dirichlet prior with the largest marginal likelihood."""
    from scipy.special import gammaln  # imported when used: advice from a large sample needs no scipy here

    k, users = len(counts), int(counts.sum())
    values, times = np.unique(counts, return_counts=True)
    alpha = CONCENTRATIONS
    seen = ((gammaln(values[:, None] + alpha) - gammaln(alpha)) * times[:, None]).sum(axis=0)
    return float(alpha[np.argmax(gammaln(k * alpha) - gammaln(users + k * alpha) + seen)])
