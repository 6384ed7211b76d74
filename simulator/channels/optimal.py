"""The d-private mechanism with the least expected distance under a prior, by linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator._types import FloatArray
from simulator.channels.channel import Channel

MOST_PLACES = 100  # a solution has their square of unknowns; at 100 it takes up to minutes
ON_THE_WAY = 1e-12  # relative: a place that lies on a shortest way between two others, despite rounding
MOST_LOG_RATIO = 30.0  # a larger one binds nothing but the solver


def optimal(distances: FloatArray, epsilon: float, prior: FloatArray) -> Channel:
    """Return the mechanism whose reports are nearest to the truth on average, of all that are d-private.

    Bordenabe, Chatzikokolakis, Palamidessi, "Optimal geo-indistinguishable mechanisms for location privacy", CCS 2014,
    without their spanner: of two places with a third one on a shortest way between them, the constraint follows from
    those of its two parts, and is left out. What the solver's tolerance leaves of a broken constraint is repaired by a
    little uniform noise.

    distances: ``(k, k)``, of a metric.
    epsilon: per unit of distance.
    prior: ``(k,)`` frequencies under which the mean is taken. Whoever knows the mechanism may learn them.

    Raises ValueError if there are more than 100 places, or the solver does not reach the optimum.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    k = len(prior)
    if k > MOST_PLACES:
        raise ValueError(f"the optimal mechanism takes at most {MOST_PLACES} places, got {k}")
    ways = distances[:, :, None] + distances[None, :, :]
    ways[np.arange(k), np.arange(k)] = ways[:, np.arange(k), np.arange(k)] = np.inf
    one, other = np.nonzero((ways.min(axis=1) > distances * (1 + ON_THE_WAY)) & ~np.eye(k, dtype=bool))
    ratio = np.exp(np.minimum(epsilon * distances[one, other], MOST_LOG_RATIO))
    rows = np.arange(len(one))
    values, columns = np.concatenate([ratio**-0.5, -(ratio**0.5)]), np.concatenate([one, other])
    bounds = sparse.csr_array((values, (np.concatenate([rows, rows]), columns)), (len(one), k))
    each: Any = sparse.kron(bounds, sparse.eye_array(k), format="csr")
    sums: Any = sparse.kron(sparse.eye_array(k), np.ones((1, k)), format="csr")
    cost = (prior[:, None] * distances).ravel()
    solution: Any = linprog(
        cost, A_ub=each, b_ub=np.zeros(len(one) * k), A_eq=sums, b_eq=np.ones(k), method="highs-ipm"
    )
    if solution.status != 0:
        raise ValueError(f"the linear programme of the optimal mechanism failed: {solution.message}")
    matrix = np.maximum(solution.x.reshape(k, k), 0.0)
    matrix /= matrix.sum(axis=1, keepdims=True)
    excess = (matrix[one] - ratio[:, None] * matrix[other]).max(axis=1)
    uniform = 1.01 * max(0.0, float((excess * k / (ratio - 1)).max()))
    matrix = (matrix + uniform / k) / (1 + uniform)
    return Channel("optimal", "optimal d-private", matrix, reference="Bordenabe et al., CCS 2014")
