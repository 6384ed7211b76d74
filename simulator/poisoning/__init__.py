"""What an attacker gains who controls a share of the users: the rise of target frequencies, after post-processing.

Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX Security 2021.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from simulator._types import IntArray
from simulator.poisoning.fakes import maximal_gain, random_value
from simulator.populations import apportion
from simulator.postprocess import PostProcessor
from simulator.protocols import FrequencyOracle
from simulator.protocols._base import Support
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
    oracles: Mapping[str, FrequencyOracle],
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

    Parameters
    ----------
    counts
        ``(k,)`` users who hold each value, n in all.
    share
        Share of the users that the attacker controls, between 0 and 1.
    repetitions
        Collections that are simulated.

    Returns
    -------
    For each pair a gain (unit: frequency) for each of `ATTACKS`; None where reports have no bound.

    Raises
    ------
    ValueError
        If no honest user is left.
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
    for protocol, names in wanted.items():
        oracle = oracles[protocol]
        honest = np.stack(
            [
                oracle.sample_support(honest_counts, rng_for(seed, "poisoning", "honest", protocol, repetition))
                for repetition in range(repetitions)
            ]
        )
        before, noise_before = oracle.estimate(honest, n - fakes), oracle.noise(n - fakes)
        poisoned = {attack: _poisoned(oracle, attack, honest, fakes, targets, seed) for attack in ATTACKS}
        for name in names:
            without = methods[name](before, noise_before)[:, targets].sum(axis=1)
            result[protocol, name] = {
                attack: None
                if support is None
                else float(
                    (
                        methods[name](oracle.estimate(support, n), oracle.noise(n))[:, targets].sum(axis=1) - without
                    ).mean()
                )
                for attack, support in poisoned.items()
            }
    return result


def _poisoned(
    oracle: FrequencyOracle, attack: str, honest: Support, fakes: int, targets: IntArray, seed: int
) -> Support | None:
    """Add the support of fake reports to that of honest ones ``(repetitions, k)``."""
    rows = []
    for repetition, row in enumerate(honest):
        added = ATTACKS[attack](oracle, targets, fakes, rng_for(seed, "poisoning", attack, oracle.key, repetition))
        if added is None:
            return None
        rows.append(row + added)
    return np.stack(rows)


__all__ = ["ATTACKS", "TARGETS", "draw_targets", "gains"]
