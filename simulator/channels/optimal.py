"""The d-private mechanism with the least expected distance under a prior, by linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator._types import FloatArray
from simulator.channels.channel import FixedChannel
from simulator.places import checked_metric

MOST_PLACES = 100  # a solution has their square of unknowns; 100 take minutes
ON_THE_WAY = 1e-12  # relative: a place that lies on a shortest way between two others, despite rounding
GAP = 1e-6  # of the largest distance: how far from the least expected distance a solution may be
MOST_LOG_RATIO = 16.0  # of one constraint: larger coefficients spoil the solution


def optimal(distances: FloatArray, epsilon: float, prior: FloatArray) -> FixedChannel:
    """Return the mechanism whose reports are nearest to the truth on average, of all that are d-private.

    Bordenabe, Chatzikokolakis, Palamidessi, "Optimal geo-indistinguishable mechanisms for location privacy", CCS 2014,
    without their spanner: of two places with a third one on a shortest way between them, the constraint follows from
    those of its two parts, and is left out. What the tolerance of the solver leaves of a broken constraint is repaired
    by a little uniform noise, and that no other mechanism is nearer is proven by its dual.

    distances: ``(k, k)``, of a metric.
    epsilon: per unit of distance.
    prior: ``(k,)`` frequencies under which the mean is taken. Whoever knows the mechanism may learn them.

    A constraint that would allow a ratio above e^16 allows e^16, to stay solvable: that costs at most k e^-16 times the
    largest distance.

    Raises ValueError if there are more than 100 places, epsilon is not positive, the distances are not those of a
    metric, or the optimum is not reached.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    k = len(prior)
    if k > MOST_PLACES or not epsilon > 0:
        raise ValueError(f"optimal takes at most {MOST_PLACES} places and an epsilon above 0, got {k} and {epsilon:g}")
    distances = checked_metric(distances, k)
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
    for method in ("highs-ipm", "highs-ds"):  # the first is faster, and now and then wrong
        solution: Any = linprog(cost, A_ub=each, b_ub=np.zeros(len(one) * k), A_eq=sums, b_eq=np.ones(k), method=method)
        if solution.status != 0:
            continue
        matrix = np.maximum(solution.x.reshape(k, k), 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
        excess = (matrix[one] - ratio[:, None] * matrix[other]).max(axis=1)
        uniform = 1.01 * max(0.0, float((excess * k / (ratio - 1)).max()))
        matrix = (matrix + uniform / k) / (1 + uniform)
        # Any weights of the constraints prove that no mechanism has less than this.
        proven = (cost - each.T @ np.minimum(solution.ineqlin.marginals, 0.0)).reshape(k, k).min(axis=1).sum()
        if cost @ matrix.ravel() - proven <= GAP * distances.max():
            return FixedChannel("optimal", "optimal d-private", matrix, reference="Bordenabe et al., CCS 2014")
    raise ValueError("the linear programme of the optimal mechanism was not solved to its optimum")
