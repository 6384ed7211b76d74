"""Populations behind a collection whose noise has more than one scale: a parametric bootstrap."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.methods import POSTPROCESSORS, Observed, observe
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol, Tally


def best_founded(observed: Observed) -> str:
    """Return the method that populations are made with."""
    return "em_stopped" if observed.estimate is None else "tree_eb"


def bootstrap_populations(
    protocol: Protocol, observed: Observed, n: int, *, rng: np.random.Generator, draws: int
) -> FloatArray:
    """Return frequencies ``(draws, k)`` that may be behind what was observed of n users; rows sum to 1.

    The first row is the best-founded estimate of ours; each other row is the same estimate of a collection that is
    simulated from the first. Efron, Tibshirani, "An introduction to the bootstrap", 1993, section 6.5. All rows are as
    smooth as that estimate is, which favours its method.
    """
    method = POSTPROCESSORS[best_founded(observed)]
    centre = method.apply(observed)
    users = apportion(centre, n)
    tallies = [protocol.sample_tally(users, rng) for _ in range(draws - 1)]
    if not tallies:
        return centre[None, :]
    again = method.apply(observe(protocol, Tally.stack(tallies), observed.domain, needs=method.needs))
    return np.concatenate([centre[None, :], again])
