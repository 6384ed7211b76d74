"""What a local budget promises once reports are shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.errors import InputError
from advisor.question.central import CentralPromise
from advisor.question.option import Settings, like, option
from simulator import PROTOCOLS
from simulator.protocols.protocol import Blanket
from simulator.shuffler import Shuffler, clones_2021, clones_2023


@dataclass(frozen=True, kw_only=True)
class Shuffling(Settings):
    """Whether a shuffler stands between users and server."""

    panel: ClassVar[str] = "With a shuffler"

    shuffle: bool = option("--shuffle", help="what reports of --eps promise once --n of them are shuffled")
    delta: float | None = like(CentralPromise, "delta", help="of that promise, far below 1/n, for example 1e-8")

    def check(self) -> None:
        """Refuse one half of the question."""
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
    # protocol, k: None where nothing but the budget is known
    protocol: str | None
    k: int | None
    central: float  # the promise: of the protocol where one is named, else of any
    anyone: float  # of any protocol of this budget
    # closed_2021, closed_2023: the same by closed forms, None where there are too few users for them
    closed_2021: float | None
    closed_2023: float | None


def shuffled(local: float, n: int, delta: float, protocol: str | None, k: int | None) -> Shuffled:
    """Return what n shuffled reports of a budget promise."""
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
