"""Gain of a poisoning attacker: the rise of target frequencies, after post-processing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, simulate
from simulator.metrics import Metric
from simulator.poisoning import ATTACKS, NOBODY
from simulator.populations import apportion
from simulator.ranking import Pair

PROMOTED = "promoted"


def gains(
    experiment: Experiment, pairs: Iterable[Pair], *, repetitions: int, jobs: int = 1
) -> dict[Pair, dict[str, float | None]]:
    """Return for each pair and attack the mean gain: by how much the estimates of the targets rise, added up.

    Of the n users, ``share * n`` (rounded, at least 1) are the attacker's. The gain is the post-processed estimate from
    all reports less that from the reports of the honest users alone, who are the same in both.

    Parameters
    ----------
    experiment
        With a single population, and an attack: its share and its targets count, and all of `ATTACKS` are tried. Its
        metrics do not matter.
    pairs
        Of the experiment.
    repetitions, jobs
        As in `simulate`.

    Returns
    -------
    For each pair a gain (unit: frequency) for each of `ATTACKS`; None where a member of another package fails.

    Raises
    ------
    ValueError
        If the experiment has no attack, no honest user remains, or the reports of a protocol are unbounded, as without
        support sets.
    """
    attack = experiment.attack
    if attack is None:
        raise ValueError("gains need an experiment with an attack, got none")
    chosen = tuple(pairs)
    promoted = partial(_promoted, targets=np.array(attack.targets))
    metric = Metric(PROMOTED, "estimates of the targets, added up", promoted, unit="frequency", clipped=promoted)

    def estimates(kind: str, counts: IntArray) -> dict[Pair, FloatArray]:
        attacked = replace(
            experiment, counts=counts, metrics={PROMOTED: metric}, pairs=chosen, attack=replace(attack, kind=kind)
        )
        runs = simulate(attacked, 0, repetitions, jobs=jobs)
        return {pair: runs.column(pair, PROMOTED) for pair in chosen}

    honest = estimates(NOBODY, apportion(experiment.counts, experiment.n - attack.fakes(experiment.n)))
    attacked = {kind: estimates(kind, experiment.counts) for kind in ATTACKS}
    rises = {pair: {kind: float((attacked[kind][pair] - honest[pair]).mean()) for kind in ATTACKS} for pair in chosen}
    return {pair: {kind: None if math.isnan(rise) else rise for kind, rise in of.items()} for pair, of in rises.items()}


def _promoted(estimate: FloatArray, truth: FloatArray, targets: IntArray) -> FloatArray:
    return estimate[..., targets].sum(axis=-1)
