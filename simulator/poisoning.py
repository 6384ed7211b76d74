"""Gain of an attacker who controls a share of the users: the rise of target frequencies, after post-processing.

Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX Security 2021.

Two attacks. ``random_value``: each fake user sends a uniform draw of all possible reports, whatever the targets (the
"random perturbed-value attack" of the source, Section 3.2.1). ``maximal_gain``: each fake user sends a report that
supports as many targets as possible (Section 3.2.3); none raises their raw estimates more, but for members of other
packages, where it is the best of many honest reports. If a report must look like others, it also supports values that
are not targets: the usual number for a unary encoding, the whole subset for subset selection, the values that the hash
maps there (any hash function may be claimed; the source tries some).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray
from simulator.draws import binomial
from simulator.methods.observed import Suspects
from simulator.methods.recovery import most_honest
from simulator.populations import apportion
from simulator.protocols.oracle import FrequencyOracle, binomial_support
from simulator.protocols.protocol import Protocol, Tally
from simulator.ranking import NOTHING
from simulator.seeding import rng_for

STARTS = 100  # pairs that stand out most, from each of which a set grows
SHARE_OF_FAKES = 0.5  # a value joins a set if this share of the reports that are too many support it


class Screened(NamedTuple):
    """The supports ``(k,)`` of all reports, how many reports support the whole set, and the supports of those."""

    counts: IntArray
    suspects: int
    suspect_counts: IntArray


def screened(counts: IntArray, values: IntArray, p: float, q: float, rng: np.random.Generator) -> Screened:
    """Draw the supports of honest reports, with separate supports of reports that support all of some values.

    For protocols whose reports support each value independently, the true value with probability p and any other with
    q. Exact, at a cost that does not depend on the number of users: the reports that support the whole set are drawn
    first; the values outside of it do not depend on that, and those inside are drawn in sequence, given that not all of
    them are supported.

    counts: ``(k,)`` users who hold each value.
    """
    r, k = len(values), len(counts)
    inside = np.zeros(k, dtype=bool)
    inside[values] = True
    chosen = binomial(counts, np.where(inside, p * q ** (r - 1), q**r), rng)
    suspects, rest = int(chosen.sum()), counts - chosen
    of_suspects = binomial_support(chosen, p, q, rng)
    of_rest = binomial_support(rest, p, q, rng)
    of_suspects[values] = suspects
    # Users who hold a value of the set are a group each; for all others its values are alike.
    own = np.full((r + 1, r), q)
    own[np.arange(r), np.arange(r)] = p
    of_rest[values] = _not_all(np.append(rest[values], rest[~inside].sum()), own, rng)
    return Screened(of_suspects + of_rest, suspects, of_suspects)


def _not_all(users: IntArray, chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw how many reports support each of r values ``(r,)``, of groups of users none of whom supports all.

    users: ``(groups,)``. chances: ``(groups, r)``, of supporting each value.
    """
    r = chances.shape[1]
    still, free = users.copy(), np.zeros_like(users)  # those who support all values so far, and those who do not
    result = np.zeros(r, dtype=np.int64)
    for place in range(r):
        later = chances[:, place + 1 :].prod(axis=1)
        chance = chances[:, place] * (1 - later) / (1 - chances[:, place] * later)
        yes = binomial(still, chance, rng)
        result[place] = yes.sum() + binomial(free, chances[:, place], rng).sum()
        free, still = free + still - yes, yes
    return result


def frequent_set(supports: NDArray[np.bool_], p: float, q: float, *, largest: int = 10) -> IntArray | None:
    """Return the values that more reports support together than honest users could; None where there are none.

    The search for frequent item sets of Cao, Jia, Gong, Section 6.2, greedily: from each of the pairs that stand out
    most a set grows by the value whose support rises most among the reports with the set, while at least half of those
    that are too many support it. (Of all reports with a pair, fakes are half only if they are many.)

    Parameters
    ----------
    supports
        ``(n, k)``: whether each report supports each value.
    p, q
        Probabilities that an honest report supports its user's value, and another one.
    largest
        Size up to which a set grows.

    Returns
    -------
    The values, rising; None where no set of two or more stands out.
    """
    n, k = supports.shape
    bits = supports.astype(np.float32)
    together = bits.T @ bits
    single = np.diag(together) / n
    # Pairs are compared with independent supports, as two values that exclude each other are not independent.
    first, second = np.triu_indices(k, 1)
    excess = (together / n - np.outer(single, single))[first, second]
    best, most = None, 0.0
    for at in np.argsort(-excess)[:STARTS]:
        grown = _growing_sets(supports, single, [int(first[at]), int(second[at])], min(largest, k))
        surplus = [
            (users - most_honest(n, k, len(chosen), p * q ** (len(chosen) - 1)), chosen) for chosen, users in grown
        ]
        last = next((one for one in reversed(surplus) if one[0] > 0), None)
        if last is not None and last[0] > most:
            most, best = last
    return None if best is None else np.array(sorted(best))


def _growing_sets(
    supports: NDArray[np.bool_], single: FloatArray, pair: list[int], largest: int
) -> Iterator[tuple[list[int], int]]:
    """Yield the sets that grow from a pair, and how many reports support all of their values."""
    chosen, with_all = pair, supports[supports[:, pair].all(axis=1)]
    while len(with_all):
        yield chosen, len(with_all)
        too_many = 1 - len(supports) * single[chosen].prod() / len(with_all)
        rise = (with_all.mean(axis=0) - single) / np.maximum(1 - single, NOTHING)
        rise[chosen] = -1.0
        following = int(np.argmax(rise))
        if len(chosen) == largest or not rise[following] > SHARE_OF_FAKES * max(too_many, 0.0):
            return
        chosen, with_all = [*chosen, following], with_all[with_all[:, following]]


def suspects_of(supports: NDArray[np.bool_], values: IntArray) -> Suspects:
    """Return the reports that support all of the given values, from ``(n, k)`` supports."""
    chosen = supports[:, values].all(axis=1)
    return Suspects(np.asarray(values), np.array(chosen.sum()), supports[chosen].sum(axis=0))


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
    ) -> PoisonedCollection:
        """Draw a collection.

        counts: ``(k,)`` users who hold each value; a number of them, the fakes, send false reports instead.
        honest, fake: streams of the two groups, so that the honest reports are the same in all attacks.

        Raises ValueError if fake reports are unbounded.
        """
        fakes, targets = self.fakes(int(counts.sum())), np.array(self.targets)
        true = apportion(counts, int(counts.sum()) - fakes) if fakes else counts
        searched = protocol.offers("suspects") and len(targets) >= SMALLEST_SET
        if not searched or not isinstance(protocol, FrequencyOracle) or protocol.p is None or protocol.q is None:
            tally = protocol.sample_tally(true, honest)
            return PoisonedCollection(tally + self._sent(protocol, fakes, fake) if fakes else tally, None)
        parts = [screened(true, targets, protocol.p, protocol.q, honest)]
        if self.kind == RANDOM:
            even = protocol.random_rate
            parts.append(screened(apportion(np.ones(protocol.k), fakes), targets, even, even, fake))
        elif fakes:
            counts_of_fakes = self._sent(protocol, fakes, fake).counts.astype(np.int64)
            parts.append(Screened(counts_of_fakes, fakes, counts_of_fakes))
        tally = Tally(np.sum([part.counts for part in parts], axis=0), int(counts.sum()))
        suspects = np.sum([part.suspect_counts for part in parts], axis=0)
        return PoisonedCollection(tally, Suspects(targets, np.array(sum(part.suspects for part in parts)), suspects))

    def _sent(self, protocol: Protocol, fakes: int, rng: np.random.Generator) -> Tally:
        """Draw the tally of the fakes."""
        random = self.kind == RANDOM
        sent = protocol.random_fakes(fakes, rng) if random else protocol.crafted(np.array(self.targets), fakes, rng)
        if sent is None:
            raise ValueError(f"nothing bounds what one fake report of {protocol.key} may claim")
        return sent


def stacked(rows: list[PoisonedCollection]) -> PoisonedCollection:
    """Stack collections with equal numbers of users as rows."""
    tally = Tally.stack([row.tally for row in rows])
    suspects = [row.suspects for row in rows if row.suspects is not None]
    if len(suspects) < len(rows):
        return PoisonedCollection(tally, None)
    users, counts = (np.stack(part) for part in zip(*((one.users, one.counts) for one in suspects), strict=True))
    return PoisonedCollection(tally, Suspects(suspects[0].values, users, counts))
