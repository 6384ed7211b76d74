"""A client that is called user by user, for ``ldp-advise --protocol examples/one_by_one.py:OneByOne``."""

import math

import numpy as np


def client(value, k, epsilon, rng):
    """Device: one value in, one report out; here the value, or any with probability k / (e^ε + k - 1)."""
    return int(rng.integers(k)) if rng.random() < k / (math.expm1(epsilon) + k) else value


class OneByOne:
    """The client for n users in a row, and the server."""

    key = "one_by_one"  # its name in tables
    slow = True  # there is no quicker way than to call it for each user
    most_users = 50_000  # more are refused

    def perturb(self, values, k, epsilon, rng):
        """Call the client for ``(n,)`` values in 0..k-1."""
        return np.array([client(value, k, epsilon, rng) for value in values.tolist()], dtype=np.int64)

    def estimate(self, reports, k, epsilon):
        """Server: unbiased frequencies ``(k,)``, a mean over the reports."""
        kept = math.expm1(epsilon) / (math.expm1(epsilon) + k)
        return (np.bincount(reports, minlength=k) / len(reports) - (1 - kept) / k) / kept
