"""Iterative Bayesian update (IBU): the maximum of the likelihood over the simplex, in closed form."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise


def closed_form(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the frequencies under which the support counts are likeliest, if a report supports one value.

    The channel sends x to y with probability ``q + (p - q) [x = y]``, and the update ``f <- sum_y o_y f_x A_xy /
    sum_z f_z A_zy`` converges to the maximum of ``sum_y o_y ln(q + (p - q) f_y)``. Its Karush-Kuhn-Tucker conditions
    give ``f_y = max(o_y / level - r, 0)`` with ``r = q / (p - q)``: one sort instead of thousands of iterations, so
    there is nothing to accelerate and no stopping rule. o are the shares of the supports, clipped at 0. Exact for
    randomised response (Pinzon et al., AAAI 2026); for protocols whose reports support several values the same formula
    maximises a pseudo-likelihood, and goes by the name `ibu_pseudo`.

    Raises ValueError if the noise has no p and q.
    """
    if noise.p is None or noise.q is None:
        raise ValueError("ibu needs a protocol with support probabilities p and q")
    gain = noise.p - noise.q
    observed = np.maximum(estimate * gain + noise.q, 0.0)
    total = observed.sum(axis=-1, keepdims=True)
    uniform = np.full_like(observed, 1 / estimate.shape[-1])
    observed = np.divide(observed, total, out=uniform, where=total > 0)
    r = noise.q / gain
    falling = -np.sort(-observed, axis=-1)
    members = np.arange(1, estimate.shape[-1] + 1)
    # On the m largest the shares must sum to level * (1 + m r); as in the projection, those that hold are a prefix.
    levels = np.cumsum(falling, axis=-1) / (1 + members * r)
    last = np.maximum((falling > levels * r).sum(axis=-1, keepdims=True), 1) - 1
    level = np.take_along_axis(levels, last, axis=-1)
    result: FloatArray = np.maximum(observed / level - r, 0.0)
    return result
