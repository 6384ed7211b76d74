"""Algorithm 2: the same value collected again and again with fresh noise, and the averaging attack on it."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.audit.attack import of_largest
from simulator.audit.closed_form import Probabilities, evenly_confused
from simulator.audit.run import Subject
from simulator.protocols import FrequencyOracle
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.unary import UnaryEncoding


def rounds_subject(oracle: FrequencyOracle, rounds: int, values: tuple[int, int] = (0, 1)) -> Subject:
    """Return `rounds` collections of the same value, attacked together: the value with the most support is named.

    Arcolezi and Gambs, Algorithm 2; between values of equal support the attacker chooses evenly (the source takes the
    first), so that one round is the attack of Algorithm 1. For protocols without support sets the reports are added up.
    The promise is that of sequential composition, ``rounds * epsilon``.

    What a user sends in all rounds is drawn together from the law of the aggregate of that many users who hold the
    same value. Local hashing is taken with a fully random hash.

    Raises
    ------
    ValueError
        If `rounds` is below 1.
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")

    def sample(held: int, trials: int, rng: np.random.Generator) -> FloatArray:
        return of_largest(_added_up(oracle, held, trials, rounds, rng), oracle.k, values).chances("guess")

    # Subset selection has no law of the aggregate that is quick for few users: its users report one by one.
    cells = oracle.k * (rounds if isinstance(oracle, SubsetSelection) else 1)
    return Subject(
        protocol=oracle.key,
        epsilon=oracle.epsilon,
        k=oracle.k,
        sampler=sample,
        guaranteed=rounds * oracle.epsilon,
        known=most_supported(oracle, rounds),
        values=values,
        cells=cells,
        rounds=rounds,
    )


def _added_up(oracle: FrequencyOracle, held: int, trials: int, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Return the support ``(trials, k)`` that the reports of all rounds give each value."""
    if not isinstance(oracle, SubsetSelection):
        counts = np.zeros((trials, oracle.k), dtype=np.int64)
        counts[:, held] = rounds
        return oracle.sample_support(counts, rng).astype(np.float64)
    result = np.zeros((trials, oracle.k))
    users = np.arange(trials)[:, None]
    for _ in range(rounds):
        result[users, oracle.perturb(np.full(trials, held), rng)] += 1  # the values of one report are distinct
    return result


def most_supported(oracle: FrequencyOracle, rounds: int) -> Probabilities | None:
    """Return both probabilities of the averaging attack in closed form, where reports support values independently.

    With Z ~ Bin(rounds, p) the own count and F the distribution function, f the mass of the others' Bin(rounds, q),
    the own value is named with probability ``E[(F(Z)^k - F(Z-1)^k) / (k f(Z))]``, ties broken evenly: the integral of
    ``u^(k-1)`` from F(Z-1) to F(Z), over f(Z).
    """
    if not isinstance(oracle, UnaryEncoding | LocalHashing):
        return None
    from scipy.stats import binom

    z = np.arange(rounds + 1)
    below, upto = binom.cdf(z - 1, rounds, oracle.q), binom.cdf(z, rounds, oracle.q)
    step = upto - below
    # Where f is lost in rounding the mean of u^(k-1) over no stretch at all is the integrand itself.
    mean = np.where(
        step > 1e-9, (upto**oracle.k - below**oracle.k) / (oracle.k * np.maximum(step, 1e-300)), upto ** (oracle.k - 1)
    )
    return evenly_confused(float(binom.pmf(z, rounds, oracle.p) @ mean), oracle.k)
