"""A protocol of one's own from a matrix, for ``ldp-advise --protocol examples/own_matrix.py:pairs``."""

from itertools import combinations

import numpy as np

from simulator import Channel


def pairs(k, epsilon):
    """Name two values, e^ε times likelier if one is the own: row x has the probabilities of all pairs under x."""
    holds = np.array([[value in pair for pair in combinations(range(k), 2)] for value in range(k)])
    weights = np.where(holds, np.exp(epsilon), 1.0)
    return weights / weights.sum(axis=1, keepdims=True)


TWO = Channel("two_values", pairs, title="Subset selection of two values")  # the same under a name for tables
