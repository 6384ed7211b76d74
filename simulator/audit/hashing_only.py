"""Local hashing without perturbation (LHO): what the collisions of a hash hide on their own."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.audit.closed_form import hashing_only
from simulator.audit.run import Subject
from simulator.hashing import HASHES, SEED_BITS
from simulator.supports import of_hashes


def hashing_subject(k: int, symbols: int, values: tuple[int, int] = (0, 1)) -> Subject:
    """Return the report of a hash seed and the symbol it gives, as it is; nothing is promised.

    Arcolezi and Gambs, Section 4.3.

    Raises ValueError if `k` or `symbols` is below 2.
    """
    if k < 2 or symbols < 2:
        raise ValueError(f"k and symbols must be at least 2, got k={k} and symbols={symbols}")

    def sample(held: int, trials: int, rng: np.random.Generator) -> FloatArray:
        seeds = rng.integers(0, 2**SEED_BITS, size=trials)
        sent = HASHES["mix64"](np.full(trials, held), seeds, symbols)
        return of_hashes(seeds, sent, k, values, g=symbols).chances("guess")

    return Subject(
        protocol="lho",
        epsilon=None,
        k=k,
        sampler=sample,
        probabilities=hashing_only(k, symbols),
        values=values,
        cells=k,
        symbols=symbols,
    )
