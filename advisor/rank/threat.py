"""What a poisoning attacker gains, for every row of an advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from advisor.rank.result import Ranking
from simulator.benchmark import Experiment
from simulator.poisoning import draw_targets, gains
from simulator.ranking import Pair

REPETITIONS = 20
Gains: TypeAlias = Mapping[Pair, Mapping[str, float | None]]


def with_gains(advices: tuple[Ranking, ...], experiment: Experiment) -> tuple[Ranking, ...]:
    """Return the advices, and those for the next round, with the gains of the attacks that their request fears."""
    request = advices[0].request
    tables = [table for advice in advices for table in (advice, advice.next_round) if table is not None]
    measured = gains(
        request.counts,
        experiment.oracles,
        experiment.methods,
        dict.fromkeys(row.pair for table in tables for row in table.recommendations),
        share=request.threat or 0.0,
        targets=draw_targets(request.k, request.seed),
        repetitions=REPETITIONS,
        seed=request.seed,
    )

    return tuple(_filled(advice, measured) for advice in advices)


def _filled(advice: Ranking, measured: Gains) -> Ranking:
    rows, compared = (
        tuple(
            row._replace(
                gain_random_value=measured[row.pair]["random_value"], gain_maximal=measured[row.pair]["maximal_gain"]
            )
            for row in table
        )
        for table in (advice.recommendations, advice.compared)
    )
    later = None if advice.next_round is None else _filled(advice.next_round, measured)
    return replace(advice, recommendations=rows, compared=compared, next_round=later)
