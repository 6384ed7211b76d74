"""What shrinkage could do at best: Bayes risks under the true distribution of values, which no method knows."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray

# Gauss-Hermite quadrature of a standard normal variable, 7 nodes: exact up to the 13th power.
_OUTER = np.array([3.750439717725742, 2.366759410734541, 1.154405394739968])
_THEIRS = np.array([0.000548268855972, 0.030757123967586, 0.240123178605013])
NODES = np.concatenate([-_OUTER, [0.0], _OUTER[::-1]])
SHARES = np.concatenate([_THEIRS, [16 / 35], _THEIRS[::-1]])


def bayes_risk(atoms: FloatArray, weights: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean squared and mean absolute error of the posterior mean at each atom, ``(..., A)``.

    The prior is the distribution of the values themselves: what a nonparametric empirical Bayes method estimates
    (Robbins, "An empirical Bayes approach to statistics", 1956). No method that treats each value alone does better on
    average.

    Parameters
    ----------
    atoms
        The values ``(..., A)``.
    weights
        How many categories have each ``(A,)``.
    variance
        Of the noise at each ``(..., A)``.
    """
    sd = np.sqrt(variance)
    seen = atoms[..., None] + sd[..., None] * NODES  # (..., A, nodes)
    distance = seen[..., None] - atoms[..., None, None, :]
    distance *= distance
    distance *= (-0.5 / variance)[..., None, None, :]
    np.exp(distance, out=distance)  # at least exp(-7.1) for the atom itself, so that no sum is 0
    heights = np.stack([weights / sd, weights / sd * atoms], axis=-1)
    sums = distance.reshape(*sd.shape[:-1], -1, atoms.shape[-1]) @ heights
    error = np.abs((sums[..., 1] / sums[..., 0]).reshape(seen.shape) - atoms[..., None])
    return error**2 @ SHARES, error @ SHARES


def smoothing_risk(parts: FloatArray, energies: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the squared error that smoothing leaves at places, ``(S, P, places)``.

    The coefficients of the Haar transform at every shift are multiplied by what is signal in the mean square of their
    level, the posterior mean under one Gaussian prior. The noise that is left is taken to be that of a transform at one
    shift, which is a little more.

    Parameters
    ----------
    parts
        What each level brings to the value at a place ``(S, places, L)``, finest first.
    energies
        Mean square of each level, of coefficients of length 1, ``(S, L)``.
    variance
        Of the noise of an estimate ``(S, P)``.
    """
    lost = variance[..., None] / (variance[..., None] + energies[:, None])
    noise = (1 - lost) ** 2 @ 0.5 ** np.arange(1, parts.shape[-1] + 1) * variance
    return (lost @ parts.transpose(0, 2, 1)) ** 2 + noise[..., None]
