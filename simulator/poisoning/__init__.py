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
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from simulator._types import IntArray
from simulator.foreign import attempt
from simulator.methods import PostProcessor
from simulator.methods.observed import Observed, observe
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol, Tally
from simulator.ranking import Pair
from simulator.seeding import rng_for

RANDOM = "random_value"
ATTACKS = (RANDOM, "maximal_gain")
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

    Returns for each pair a gain (unit: frequency) for each of `ATTACKS`; None where there is no
    such draw, or where what reports may claim has no bound, as without support sets. Raises
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
        measure = partial(
            _gains_of, oracles[key], {name: methods[name] for name in names}, honest_counts, fakes, targets,
            repetitions=repetitions, seed=seed,
        )  # fmt: skip
        measured = attempt(key, measure, lambda _: None) or {name: dict.fromkeys(ATTACKS) for name in names}
        result |= {(key, name): measured[name] for name in names}
    return result


def _gains_of(
    protocol: Protocol,
    methods: Mapping[str, PostProcessor],
    honest_counts: IntArray,
    fakes: int,
    targets: IntArray,
    *,
    repetitions: int,
    seed: int,
) -> dict[str, dict[str, float | None]]:
    """Return the gains of each attack on one protocol, by method."""
    needs = frozenset[str]().union(*(method.needs for method in methods.values()))
    streams = (rng_for(seed, "poisoning", "honest", protocol.key, repetition) for repetition in range(repetitions))
    honest = [protocol.sample_tally(honest_counts, rng) for rng in streams]
    poisoned = {attack: _poisoned(protocol, attack, honest, fakes, targets, seed) for attack in ATTACKS}
    before = observe(protocol, Tally.stack(honest), needs=needs)
    after = {
        attack: None if tally is None else observe(protocol, tally, needs=needs) for attack, tally in poisoned.items()
    }
    return {
        name: {
            attack: None
            if observed is None
            else attempt(name, partial(_gain, method, before, observed, targets), _fault_of_gain)
            for attack, observed in after.items()
        }
        for name, method in methods.items()
    }


def _gain(method: PostProcessor, before: Observed, after: Observed, targets: IntArray) -> float:
    """Return the mean rise of the targets together."""
    without, poisoned = (method.apply(observed)[:, targets].sum(axis=1) for observed in (before, after))
    return float((poisoned - without).mean())


def _fault_of_gain(gain: float) -> str | None:
    return None if math.isfinite(gain) else "it returns NaN or infinity"


def _poisoned(
    protocol: Protocol, attack: str, honest: Sequence[Tally], fakes: int, targets: IntArray, seed: int
) -> Tally | None:
    """Add the fake reports to each of the honest collections."""
    rows = []
    for repetition, tally in enumerate(honest):
        rng = rng_for(seed, "poisoning", attack, protocol.key, repetition)
        added = protocol.random_fakes(fakes, rng) if attack == RANDOM else protocol.crafted(targets, fakes, rng)
        if added is None:
            return None
        rows.append(tally + added)
    return Tally.stack(rows)


__all__ = ["ATTACKS", "TARGETS", "draw_targets", "gains"]
