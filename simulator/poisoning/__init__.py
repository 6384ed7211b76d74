"""What an attacker gains who controls a share of the users: the rise of target frequencies, after post-processing.

Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX Security 2021.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from simulator._types import IntArray
from simulator.methods import PostProcessor
from simulator.methods.observed import Observed, observe
from simulator.poisoning.fakes import maximal_gain, random_value
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol, Tally
from simulator.ranking import Pair
from simulator.seeding import rng_for

ATTACKS = {"random_value": random_value, "maximal_gain": maximal_gain}
TARGETS = 10  # values an attacker promotes, as in the source; in small domains every tenth, at least one


def draw_targets(k: int, seed: int, targets: int | None = None) -> IntArray:
    """Return the values that the attacker promotes, ``(targets,)``: an even draw."""
    wanted = max(1, min(TARGETS, k // 10)) if targets is None else targets
    return np.sort(rng_for(seed, "poisoning", "targets", k).choice(k, size=wanted, replace=False))


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
) -> dict[Pair, dict[str, float | None]]:
    """Return for each pair and attack the mean gain: by how much the estimates of the targets rise, added up.

    Of the n users, ``share * n`` (rounded, at least 1) are the attacker's. The gain is the post-processed estimate from
    all reports less that from the reports of the honest users alone, who are the same in both.

    counts: ``(k,)`` users who hold each value, n in all.
    share: share of the users that the attacker controls, between 0 and 1.
    repetitions: collections that are simulated.

    Returns for each pair a gain (unit: frequency) for each of `ATTACKS`; None where reports have no bound. Raises
    ValueError if no honest user is left.
    """
    n = int(counts.sum())
    fakes = max(1, round(share * n))
    if not 0 < share < 1 or fakes >= n:
        raise ValueError(f"a share of {share:g} of n={n} users leaves no honest one")
    honest_counts = apportion(counts, n - fakes)
    result: dict[Pair, dict[str, float | None]] = {}
    wanted: dict[str, list[str]] = {}
    for protocol, method in pairs:
        wanted.setdefault(protocol, []).append(method)
    for key, names in wanted.items():
        collector, needs = oracles[key], frozenset[str]().union(*(methods[name].needs for name in names))
        streams = (rng_for(seed, "poisoning", "honest", key, repetition) for repetition in range(repetitions))
        honest = [collector.sample_tally(honest_counts, rng) for rng in streams]
        poisoned = {attack: _poisoned(collector, attack, honest, fakes, targets, seed) for attack in ATTACKS}
        before = observe(collector, Tally.stack(honest), needs=needs)
        after = {
            attack: None if tally is None else observe(collector, tally, needs=needs)
            for attack, tally in poisoned.items()
        }
        for name in names:
            result[key, name] = {attack: _gain(methods[name], before, one, targets) for attack, one in after.items()}
    return result


def _gain(method: PostProcessor, before: Observed, after: Observed | None, targets: IntArray) -> float | None:
    """Return the mean rise of the targets together."""
    if after is None:
        return None
    without, poisoned = (method.apply(observed)[:, targets].sum(axis=1) for observed in (before, after))
    return float((poisoned - without).mean())


def _poisoned(
    protocol: Protocol, attack: str, honest: Sequence[Tally], fakes: int, targets: IntArray, seed: int
) -> Tally | None:
    """Add the fake reports to each of the honest collections."""
    rows = []
    for repetition, tally in enumerate(honest):
        added = ATTACKS[attack](protocol, targets, fakes, rng_for(seed, "poisoning", attack, protocol.key, repetition))
        if added is None:
            return None
        rows.append(tally + added)
    return Tally.stack(rows)


__all__ = ["ATTACKS", "TARGETS", "draw_targets", "gains"]
