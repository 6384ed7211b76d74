"""What an ε means, alone and once reports are shuffled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import budget, whole
from advisor.errors import InputError
from advisor.members.names import resolve
from advisor.question.central import CentralPromise
from advisor.question.option import Settings, like, option
from knowledge.deployments import KnownDeployment, nearest
from simulator import PROTOCOLS
from simulator.protocols.protocol import Blanket
from simulator.shuffler import Shuffler, clones_2021, clones_2023


@dataclass(frozen=True)
class Meaning:
    """The meaning of an ε."""

    epsilon: float
    # k, protocol: number of categories and protocol, if known
    k: int | None
    protocol: str | None
    odds: float  # e^ε: the largest factor by which a report can change the odds between two values
    # best_guess, prior: largest probability that a guess from a report is right, for any protocol, and the probability
    # without a report (all values equally likely): e^ε / (e^ε + k − 1) and 1/k
    best_guess: float
    prior: float
    protocol_guess: float | None  # best_guess for the given protocol
    flip_probability: float  # probability of flipping a yes/no answer at the same ε: 1 / (1 + e^ε)
    deployments: tuple[KnownDeployment, ...]  # the two nearest known deployments


def meaning(epsilon: float, k: int | None = None, protocol: str | None = None, guess: float | None = None) -> Meaning:
    """Return the meaning of an ε; without `k`, for a yes/no question.

    `guess` is the success of the best guess if the protocol has other parameters than this tool would choose for ε.

    Raises InputError if epsilon, k or the protocol is invalid.

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


@dataclass(frozen=True, kw_only=True)
class Shuffling(Settings):
    """Whether a shuffler stands between users and server."""

    panel: ClassVar[str] = "With a shuffler"

    shuffle: bool = option("--shuffle", help="what reports of --eps promise once --n of them are shuffled")
    delta: float | None = like(CentralPromise, "delta", help="of that promise, far below 1/n, for example 1e-8")

    def check(self) -> None:
        """Raise InputError if only half of the options is given."""
        if self.shuffle and self.delta is None:
            raise InputError("--shuffle needs --delta: far below 1/n, for example --delta 1e-8")
        if self.delta is not None and not self.shuffle:
            raise InputError("--delta goes with --shuffle, for example --shuffle --n 1e6 --delta 1e-8")


@dataclass(frozen=True)
class Shuffled:
    """The promise of shuffled reports."""

    # local, n, delta: budget of one report, users, and delta of the promise
    local: float
    n: int
    delta: float
    # protocol, k: None if only the budget is known
    protocol: str | None
    k: int | None
    central: float  # ε of the shuffled reports: for the named protocol, otherwise for any protocol
    anyone: float  # ε for any protocol with this budget
    # closed_2021, closed_2023: the same by closed forms; None if there are too few users for them
    closed_2021: float | None
    closed_2023: float | None


def shuffled(local: float, n: int, delta: float, protocol: str | None, k: int | None) -> Shuffled:
    """Return the privacy guarantee of n shuffled reports with a given local budget."""
    shuffler = Shuffler(n, delta)
    anyone = central = shuffler.central(Blanket.generic(local))
    if protocol is not None and k is not None:
        blanket = PROTOCOLS[protocol](k, local).blanket
        central = anyone if blanket is None else min(anyone, shuffler.central(blanket))
    else:
        protocol, k = None, None
    return Shuffled(
        local, n, delta, protocol, k, central, anyone, clones_2021(local, n, delta), clones_2023(local, n, delta)
    )
