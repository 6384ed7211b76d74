"""What a budget means."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.checks import budget, whole
from advisor.names import resolve
from knowledge.deployments import KnownDeployment, nearest
from simulator import PROTOCOLS


@dataclass(frozen=True)
class Meaning:
    """What an ε means."""

    epsilon: float
    # k, protocol: number of categories and protocol, where they are known
    k: int | None
    protocol: str | None
    odds: float  # e^ε: by how much a report can at most move the odds between two values
    # best_guess, prior: largest probability with which a guess from one report is right, whatever the protocol, and the
    # probability without a report (all values equally likely): e^ε / (e^ε + k − 1) and 1/k
    best_guess: float
    prior: float
    protocol_guess: float | None  # the same for the protocol at hand
    flip_probability: float  # how often a yes/no answer would have to be flipped: 1 / (1 + e^ε)
    deployments: tuple[KnownDeployment, ...]  # the two nearest known deployments


def meaning(epsilon: float, k: int | None = None, protocol: str | None = None, guess: float | None = None) -> Meaning:
    """Return what an ε means; without `k`, for a yes/no question.

    `guess` is the success of the best guess where the protocol is not as this tool would set it up for that ε.

    Raises InputError if epsilon, k or the protocol is wrong.

    Examples
    --------
    >>> yes_no = meaning(1.0, k=2)
    >>> round(yes_no.odds, 2), round(yes_no.best_guess, 3), round(yes_no.flip_probability, 3)
    (2.72, 0.731, 0.269)
    """
    checked = budget("eps", epsilon)
    size = 2 if k is None else whole(2)("k", k)
    name = None if protocol is None else resolve("protocol", protocol)
    if guess is None and name is not None and k is not None:
        guess = PROTOCOLS[name](size, checked).attack_success
    return Meaning(
        epsilon=checked,
        k=k,
        protocol=name,
        odds=math.exp(checked),
        best_guess=1 / (1 + (size - 1) * math.exp(-checked)),
        prior=1 / size,
        protocol_guess=guess,
        flip_probability=1 / (1 + math.exp(checked)),
        deployments=nearest(checked),
    )
