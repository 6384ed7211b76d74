"""Algorithm 2: the same value collected again and again with fresh noise, and the averaging attack on it."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.audit.closed_form import most_supported
from simulator.audit.run import Subject
from simulator.protocols import FrequencyOracle
from simulator.supports import of_largest


def rounds_subject(oracle: FrequencyOracle, rounds: int, values: tuple[int, int] = (0, 1)) -> Subject:
    """Return `rounds` collections of the same value, attacked together: the value with the most support is named.

    Arcolezi and Gambs, Algorithm 2; between values of equal support the attacker chooses evenly (the source takes the
    first), so that one round is the attack of Algorithm 1. For protocols without support sets the reports are added up.
    The promise is that of sequential composition, ``rounds * epsilon``.

    What a user sends in all rounds is drawn together from the law of the aggregate of that many users who hold the
    same value. Local hashing is taken with a fully random hash.

    Raises ValueError if `rounds` is below 1.
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")

    def sample(held: int, trials: int, rng: np.random.Generator) -> FloatArray:
        support = oracle.sample_rounds(held, rounds, trials, rng)
        return of_largest(support.astype(np.float64), oracle.k, values).chances("guess")

    return Subject(
        protocol=oracle.key,
        epsilon=oracle.epsilon,
        k=oracle.k,
        sampler=sample,
        epsilon_guaranteed=rounds * oracle.epsilon,
        probabilities=most_supported(oracle, rounds),
        values=values,
        cells=oracle.rounds_cells(rounds),
        rounds=rounds,
    )
