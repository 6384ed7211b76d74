"""What shrinkage could do at best: Bayes risks under the true distribution of values, which no method knows."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from simulator._types import RealArray

NODES, _WEIGHTS = hermegauss(7)  # quadrature of a standard normal variable: exact up to the 13th power
SHARES = _WEIGHTS / _WEIGHTS.sum()


def bayes_risk(atoms: RealArray, weights: RealArray, variance: RealArray) -> tuple[RealArray, RealArray]:
    """Return mean squared and mean absolute error of the posterior mean at each atom, ``(..., A)``.

    The prior is the distribution of the values themselves: what a nonparametric empirical Bayes method estimates
    (Robbins, "An empirical Bayes approach to statistics", 1956). No method that treats each value alone does better on
    average.

    atoms: the values ``(..., A)``.
    weights: how many categories have each ``(..., A)``.
    variance: of the noise at each ``(..., A)``.
    """
    nodes, shares = (of.astype(variance.dtype) for of in (NODES, SHARES))
    sd = np.sqrt(variance)
    estimates = (atoms[..., None] + sd[..., None] * nodes).reshape(*sd.shape[:-1], -1)  # (..., A times nodes)
    density = estimates[..., None, :] - atoms[..., None]
    density *= density
    density *= (-1 / (2 * variance))[..., None]
    np.exp(density, out=density)  # at least exp(-7.1) for the atom itself, so that no sum is 0
    heights = np.empty((*sd.shape[:-1], 2, sd.shape[-1]), dtype=sd.dtype)
    np.divide(weights, sd, out=heights[..., 0, :])
    np.multiply(heights[..., 0, :], atoms, out=heights[..., 1, :])
    sums = heights @ density
    error = (sums[..., 1, :] / sums[..., 0, :]).reshape(*sd.shape, -1)
    error -= atoms[..., None]
    np.abs(error, out=error)
    absolute = error @ shares
    error *= error
    return error @ shares, absolute


def smoothing_risk(parts: RealArray, energies: RealArray, variance: RealArray) -> RealArray:
    """Return the squared error that smoothing leaves at places, ``(S, P, places)``.

    The coefficients of the Haar transform at every shift are multiplied by what is signal in the mean square of their
    level, the posterior mean under one Gaussian prior. The noise that is left is taken to be that of a transform at one
    shift, which is a little more.

    parts: what each level brings to the value at a place ``(S, L, places)``, finest first.
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
