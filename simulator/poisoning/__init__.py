"""What an attacker gains who controls a share of the users: the rise of target frequencies, after post-processing.

Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX Security 2021.

Two attacks. ``random_value``: every fake user sends an even draw of all possible reports, whatever the targets are (the
"random perturbed-value attack" of the source, Section 3.2.1). ``maximal_gain``: every fake user sends a report that
supports as many targets as one can (Section 3.2.3); none raises their raw estimates more, but for members of other
packages, where it is the best of many honest reports. Where a report has to look like others, it also supports values
that are no targets: as many as are usual for a unary encoding, the whole subset for subset selection, what the hash
happens to send there (any hash function may be claimed; the source tries some).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np

from simulator._types import IntArray
from simulator.domain import UNORDERED, Domain
from simulator.foreign import attempt
from simulator.methods import PostProcessor
from simulator.methods.observed import Observed, observe
from simulator.poisoning.attack import ATTACKS, MAXIMAL, NOBODY, RANDOM, Attack, stacked
from simulator.poisoning.screening import frequent_set, suspects_of
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol
from simulator.ranking import Pair
from simulator.seeding import rng_for

TARGETS = 10  # values an attacker promotes, as in the source; in small domains every tenth, at least one


def draw_targets(k: int, seed: int) -> IntArray:
    """Return the values that the attacker promotes, ``(targets,)``: an even draw."""
    targets = max(1, min(TARGETS, k // 10))
    return np.sort(rng_for(seed, "poisoning", "targets", k).choice(k, size=targets, replace=False))


def gains(
    counts: IntArray,
    oracles: Mapping[str, Protocol],
    methods: Mapping[str, PostProcessor],
    pairs: Iterable[Pair],
    *,
    share: float,
    targets: IntArray,
    repetitions: int,
    seed: int,
    domain: Domain = UNORDERED,
) -> dict[Pair, dict[str, float | None]]:
    """Return for each pair and attack the mean gain: by how much the estimates of the targets rise, added up.

    Of the n users, ``share * n`` (rounded, at least 1) are the attacker's. The gain is the post-processed estimate from
    all reports less that from the reports of the honest users alone, who are the same in both.

    counts: ``(k,)`` users who hold each value, n in all.
    share: share of the users that the attacker controls, between 0 and 1.
    repetitions: collections that are simulated.
    domain: what methods may know of the categories, and of attackers.

    Returns for each pair a gain (unit: frequency) for each of `ATTACKS`; None where there is no
    such draw, or where what reports may claim has no bound, as without support sets. Raises
    ValueError if no honest user is left.
    """
    attacks = {kind: Attack(kind, share, tuple(targets.tolist())) for kind in (*ATTACKS, NOBODY)}
    attacks[MAXIMAL].fakes(int(counts.sum()))
    result: dict[Pair, dict[str, float | None]] = {}
    wanted: dict[str, list[str]] = {}
    for protocol, method in pairs:
        wanted.setdefault(protocol, []).append(method)
    for key, names in wanted.items():
        measure = partial(
            _gains_of,
            oracles[key],
            {name: methods[name] for name in names},
            counts,
            attacks,
            repetitions=repetitions,
            seed=seed,
            domain=domain,
        )
        measured = attempt(key, measure, lambda _: None) or {name: dict.fromkeys(ATTACKS) for name in names}
        result |= {(key, name): measured[name] for name in names}
    return result


def _gains_of(
    protocol: Protocol,
    methods: Mapping[str, PostProcessor],
    counts: IntArray,
    attacks: Mapping[str, Attack],
    *,
    repetitions: int,
    seed: int,
    domain: Domain,
) -> dict[str, dict[str, float | None]]:
    """Return the gains of each attack on one protocol, by method."""
    needs = frozenset[str]().union(*(method.needs for method in methods.values()))
    n = int(counts.sum())
    honest = apportion(counts, n - attacks[MAXIMAL].fakes(n))
    observed: dict[str, Observed] = {}  # of the attacks that have such draws
    for kind, attack in attacks.items():
        users, rows = honest if kind == NOBODY else counts, []
        for repetition in range(repetitions):
            streams = (rng_for(seed, "poisoning", who, protocol.key, repetition) for who in ("honest", kind))
            row = attack.collect(protocol, users, *streams)
            if row is None:
                break
            rows.append(row)
        if len(rows) == repetitions:
            both = stacked(rows)
            observed[kind] = observe(protocol, both.tally, domain, needs=needs, suspects=both.suspects)
    before = observed.get(NOBODY)
    return {
        name: {
            kind: None
            if after is None or before is None
            else attempt(name, partial(_gain, method, before, after, np.array(attacks[kind].targets)), _fault_of_gain)
            for kind in ATTACKS
            for after in (observed.get(kind),)
        }
        for name, method in methods.items()
    }


def _gain(method: PostProcessor, before: Observed, after: Observed, targets: IntArray) -> float:
    """Return the mean rise of the targets together."""
    without, poisoned = (method.apply(observed)[:, targets].sum(axis=1) for observed in (before, after))
    return float((poisoned - without).mean())


def _fault_of_gain(gain: float) -> str | None:
    return None if math.isfinite(gain) else "it returns NaN or infinity"


__all__ = [
    "ATTACKS",
    "MAXIMAL",
    "NOBODY",
    "RANDOM",
    "TARGETS",
    "Attack",
    "draw_targets",
    "frequent_set",
    "gains",
    "suspects_of",
]
