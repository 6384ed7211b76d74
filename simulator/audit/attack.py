"""Distinguishability attacks: how likely each report makes the attacker name the value v1.

What an attack makes of a report is the protocol's to say, `simulator.protocols.protocol.Protocol.chances`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.protocol import Protocol

ATTACKS = ("guess", "pair")

Sampler = Callable[[int, int, np.random.Generator], FloatArray]
"""``(held, trials, rng)``: let users who hold `held` report, and return ``(trials,)`` chances that v1 is named."""


def protocol_sampler(protocol: Protocol, values: tuple[int, int], attack: str) -> Sampler:
    """Return the sampler that runs a protocol's own client."""

    def sample(held: int, trials: int, rng: np.random.Generator) -> FloatArray:
        return protocol.chances(protocol.perturb(np.full(trials, held), rng), values, attack)

    return sample
