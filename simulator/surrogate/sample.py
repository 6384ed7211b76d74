"""Populations behind a small raw sample: its multinomial noise, and nothing else, is in the way."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.draws import multinomial
from simulator.methods.smooth import normalised, smooth_curve
from simulator.protocols.likelihood import FlatLikelihood

CONCENTRATIONS = np.geomspace(1e-4, 1e2, 61)  # pseudo-users per category
AROUND_A_CURVE = np.geomspace(1.0, 1e7, 57)  # pseudo-users in all: from nothing but the sample to the curve itself
CURVES = 40  # that are fitted at most: the draws take turns


def sample_posterior(counts: IntArray, draws: int, rng: np.random.Generator, *, ordered: bool = False) -> FloatArray:
    """Draw true frequencies ``(draws, k)`` given a sample's counts ``(k,)``.

    The posterior under a Dirichlet prior (the Polya-Eggenberger or Dirichlet-multinomial model; Minka, "Estimating a
    Dirichlet distribution", 2000). Each draw draws its concentration as well, in proportion to marginal likelihood and
    a wide prior: a small sample has little information on it.

    Without an order the prior is symmetric. With an order its mean is a smooth curve fitted to the sample, drawn again
    for each curve as many times as it has users (Efron, "Bootstrap methods", 1979): where the sample looks smooth the
    draws are curves, and where neighbours have little in common they are as without an order.

    Raises ValueError if the sample holds no users.
    """
    users = int(counts.sum())
    if users < 1:
        raise ValueError(f"a sample must hold at least 1 user, got {users}")
    if not ordered:
        prior = rng.choice(CONCENTRATIONS, size=(draws, 1), p=concentration_weights(counts))
    else:
        likelihood = FlatLikelihood(len(counts), 1.0, 0.0)
        again = multinomial(np.full(min(draws, CURVES), users), counts / users, rng)
        curves = np.stack([smooth_curve(likelihood, row) for row in again])
        pseudo_users = [rng.choice(AROUND_A_CURVE, p=curve_weights(counts, curve)) for curve in curves]
        prior = (curves * np.array(pseudo_users)[:, None])[np.arange(draws) % len(curves)]
    gammas = rng.standard_gamma(counts + prior)
    return gammas / gammas.sum(axis=1, keepdims=True)


def concentration_weights(counts: IntArray) -> FloatArray:
    """Return the posterior weight of each of `CONCENTRATIONS`, under the prior density 1/(1 + alpha)^2."""
    from scipy.special import gammaln  # imported when used: advice from a large sample needs no scipy here

    k, users = len(counts), int(counts.sum())
    values, times = np.unique(counts, return_counts=True)
    alpha = CONCENTRATIONS
    seen = ((gammaln(values[:, None] + alpha) - gammaln(alpha)) * times[:, None]).sum(axis=0)
    # The grid is even in log(alpha), so the density comes with a factor alpha.
    logs = gammaln(k * alpha) - gammaln(users + k * alpha) + seen + np.log(alpha) - 2 * np.log1p(alpha)
    return normalised(logs)


def curve_weights(counts: IntArray, curve: FloatArray) -> FloatArray:
    """Return the posterior weight of each of `AROUND_A_CURVE`, all of which are as likely beforehand."""
    from scipy.special import gammaln  # imported when used

    seen = counts > 0
    own = AROUND_A_CURVE[:, None] * curve[seen]
    users = counts.sum()
    logs = (gammaln(counts[seen] + own) - gammaln(own)).sum(axis=1)
    return normalised(logs + gammaln(AROUND_A_CURVE) - gammaln(users + AROUND_A_CURVE))
