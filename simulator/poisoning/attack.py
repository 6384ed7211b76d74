"""An attack on a collection: the honest reports, the fake reports, and the reports that a search would find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from simulator._types import IntArray
from simulator.methods.observed import Suspects
from simulator.poisoning.screening import Screened, screened
from simulator.populations import apportion
from simulator.protocols.oracle import FrequencyOracle
from simulator.protocols.protocol import Protocol, Tally
from simulator.seeding import rng_for

RANDOM, MAXIMAL, NOBODY = "random_value", "maximal_gain", "nobody"
ATTACKS = (RANDOM, MAXIMAL)
TARGETS = 10  # values an attacker promotes, as in the source; in small domains a tenth of the values, at least 1
SMALLEST_SET = 2  # support for a single value, as in all reports, does not make a report stand out


def draw_targets(k: int, seed: int) -> IntArray:
    """Return the values that the attacker promotes, ``(targets,)``: a uniform draw."""
    targets = max(1, min(TARGETS, k // 10))
    return np.sort(rng_for(seed, "poisoning", "targets", k).choice(k, size=targets, replace=False))


class PoisonedCollection(NamedTuple):
    """Collection from honest users and fakes: the tally, and the reports that support all targets."""

    tally: Tally
    suspects: Suspects | None  # None where reports do not support values independently, or there is a single target


@dataclass(frozen=True)
class Attack:
    """Attack by a share of the users.

    Attributes
    ----------
    kind
        One of `ATTACKS`, or ``"nobody"``: all users are honest.
    share
        Share of the users that the attackers are, between 0 and 1.
    targets
        The values that they promote.
    """

    kind: str
    share: float
    targets: tuple[int, ...]

    def fakes(self, n: int) -> int:
        """Return how many of n users are fake.

        Raises
        ------
        ValueError
            If none is honest.
        """
        fakes = max(1, round(self.share * n))
        if not 0 < self.share < 1 or fakes >= n:
            raise ValueError(f"a share of {self.share:g} of n={n} users leaves no honest one")
        return 0 if self.kind == NOBODY else fakes

    def collect(
        self, protocol: Protocol, counts: IntArray, honest: np.random.Generator, fake: np.random.Generator
    ) -> PoisonedCollection | None:
        """Draw a collection; None if fake reports are unbounded.

        counts: ``(k,)`` users who hold each value; a number of them, the fakes, send false reports instead.
        honest, fake: streams of the two groups, so that the honest reports are the same in all attacks.
        """
        fakes, targets = self.fakes(int(counts.sum())), np.array(self.targets)
        true = apportion(counts, int(counts.sum()) - fakes) if fakes else counts
        searched = protocol.offers("suspects") and len(targets) >= SMALLEST_SET
        if not searched or not isinstance(protocol, FrequencyOracle) or protocol.p is None or protocol.q is None:
            tally = protocol.sample_tally(true, honest)
            added = self._added(protocol, fakes, fake)
            return None if added is None else PoisonedCollection(tally + added if fakes else tally, None)
        parts = [screened(true, targets, protocol.p, protocol.q, honest)]
        if self.kind == RANDOM:
            even = protocol.random_rate
            parts.append(screened(apportion(np.ones(protocol.k), fakes), targets, even, even, fake))
        elif fakes:
            added = protocol.crafted(targets, fakes, fake)
            if added is None:
                return None
            parts.append(Screened(added.counts.astype(np.int64), fakes, added.counts.astype(np.int64)))
        return _collection(parts, targets, int(counts.sum()))

    def _added(self, protocol: Protocol, fakes: int, rng: np.random.Generator) -> Tally | None:
        if self.kind == NOBODY:
            return Tally(np.zeros(1, dtype=np.int64), 0)
        if self.kind == RANDOM:
            return protocol.random_fakes(fakes, rng)
        return protocol.crafted(np.array(self.targets), fakes, rng)


def _collection(parts: list[Screened], targets: IntArray, n: int) -> PoisonedCollection:
    counts = np.sum([part.counts for part in parts], axis=0)
    suspects = np.sum([part.suspect_counts for part in parts], axis=0)
    users = np.array(sum(part.suspects for part in parts))
    return PoisonedCollection(Tally(counts, n), Suspects(targets, users, suspects))


def stacked(rows: list[PoisonedCollection]) -> PoisonedCollection:
    """Stack collections with equal numbers of users as rows."""
    tally = Tally.stack([row.tally for row in rows])
    suspects = [row.suspects for row in rows if row.suspects is not None]
    if len(suspects) < len(rows):
        return PoisonedCollection(tally, None)
    users, counts = (np.stack(part) for part in zip(*((one.users, one.counts) for one in suspects), strict=True))
    return PoisonedCollection(tally, Suspects(suspects[0].values, users, counts))
