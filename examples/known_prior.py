"""An attacker who knows the frequencies, on reports of summation with histogram encoding (SHE).

ldp-advise audit --target examples/known_prior.py:send --support examples/known_prior.py:named --eps 2 --k 10
"""

import numpy as np


def prior(k: int) -> np.ndarray:
    """Return the frequencies that the attacker knows; here as 1/rank: put others in their place."""
    weights = 1 / np.arange(1, k + 1)
    return weights / weights.sum()


def send(value: int, k: int, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Add Laplace noise to each cell of a histogram with a single 1."""
    return (np.arange(k) == value) + rng.laplace(scale=2 / epsilon, size=k)


def named(report: np.ndarray, k: int, epsilon: float) -> list[int]:
    """Return the most probable value: its cell's likelihood ratio stops at e^(epsilon/2) from 1 on, and below 0."""
    scores = epsilon / 2 * np.clip(2 * report - 1, -1, 1) + np.log(prior(k))
    return [int(scores.argmax())]
