"""Populations behind a collection whose noise has more than one scale, or that is seen by its likelihood alone."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.methods import POSTPROCESSORS, Observed, observe
from simulator.methods.smooth import drawn_curves
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol, Tally

CENTRE = "tree_eb"  # the method that the bootstrap is made with


def bootstrap_populations(
    protocol: Protocol, observed: Observed, n: int, *, rng: np.random.Generator, draws: int
) -> FloatArray:
    """Return frequencies ``(draws, k)`` that may be behind what was observed of n users; rows sum to 1.

    A parametric bootstrap (Efron, Tibshirani, "An introduction to the bootstrap", 1993, section 6.5): the first row is
    the best-founded estimate of ours; each other row is the same estimate of a collection that is simulated from the
    first. All rows are as smooth as that estimate is, which favours its method.
    """
    method = POSTPROCESSORS[CENTRE]
    centre = method.apply(observed)
    users = apportion(centre, n)
    tallies = [protocol.sample_tally(users, rng) for _ in range(draws - 1)]
    if not tallies:
        return centre[None, :]
    again = method.apply(observe(protocol, Tally.stack(tallies), observed.domain, needs=method.needs))
    return np.concatenate([centre[None, :], again])


def curve_populations(observed: Observed, *, rng: np.random.Generator, draws: int) -> FloatArray:
    """Return the same where there is no estimate but a likelihood: `drawn_curves`.

    Raises ValueError if there is none.
    """
    if observed.likelihood is None or observed.tally is None:
        raise ValueError("curves need a likelihood and a tally, and there is none")
    return drawn_curves(observed.likelihood, np.asarray(observed.tally.counts, dtype=np.float64), draws, rng)
