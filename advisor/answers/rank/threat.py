"""What a poisoning attacker gains, what the error is where nobody attacks, and what the choice is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from advisor.answers.rank.assemble import Contest
from advisor.answers.rank.result import Ranking, Recommendation
from simulator.benchmark import Experiment, Runs, simulate
from simulator.gains import gains
from simulator.poisoning import NOBODY
from simulator.progress import Progress, silent
from simulator.ranking import Pair

REPETITIONS = 20
Gains: TypeAlias = Mapping[Pair, Mapping[str, float | None]]


def under_threat(
    rankings: tuple[Ranking, ...],
    tables: list[tuple[Contest, ...]],
    experiment: Experiment,
    *,
    jobs: int = 1,
    progress: Progress = silent,
) -> tuple[Ranking, ...]:
    """Return the rankings, and those for the next round, with gains and with errors where nobody attacks."""
    request = rankings[0].request
    pairs = dict.fromkeys(pair for table in tables for contest in table for pair in contest.menu)
    measured = gains(replace(experiment, counts=request.counts), pairs, repetitions=REPETITIONS, jobs=jobs)
    attack = experiment.attack
    calm = experiment if attack is None else replace(experiment, attack=replace(attack, kind=NOBODY))
    # Several populations behind what was collected are shown equally often.
    repetitions = REPETITIONS if request.collected is None else len(experiment.populations)
    runs = simulate(calm, 0, repetitions, pairs=pairs, jobs=jobs, progress=partial(progress, "nobody attacks"))
    return tuple(_filled(ranking, table, measured, runs) for ranking, table in zip(rankings, tables, strict=True))


def _filled(ranking: Ranking, table: tuple[Contest, ...], measured: Gains, runs: Runs) -> Ranking:
    contest, *later = table
    errors = {pair: contest.figures(runs.column(pair, contest.metric)).error for pair in contest.menu}

    def filled(row: Recommendation) -> Recommendation:
        return row._replace(
            gain_random_value=measured[row.pair]["random_value"],
            gain_maximal=measured[row.pair]["maximal_gain"],
            error_unattacked=errors[row.pair],
        )

    following = ranking.next_round
    return replace(
        ranking,
        recommendations=tuple(map(filled, ranking.recommendations)),
        next_round=None if following is None else _filled(following, (later[0],), measured, runs),
    )
