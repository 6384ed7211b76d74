"""What a poisoning attacker gains, what the error is where nobody attacks, and what the choice is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from advisor.answers.rank.assemble import Contest
from advisor.answers.rank.result import Defence, Ranking, Recommendation
from simulator import POSTPROCESSORS
from simulator.benchmark import Experiment, Runs, simulate
from simulator.gains import gains
from simulator.poisoning import NOBODY
from simulator.progress import Progress, part, silent
from simulator.race import race
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
    if request.collected is None:
        runs = race(
            calm,
            request.metrics,
            menu=_without_remedies(pairs),
            alongside=[ranking.best.pair for ranking in rankings],
            repetitions=request.repetitions,
            max_repetitions=request.max_repetitions,
            jobs=jobs,
            progress=part(progress, 0, 1, "nobody attacks"),
        )
    else:  # several populations behind what was collected are shown equally often
        steps = partial(progress, "nobody attacks")
        runs = simulate(calm, 0, len(experiment.populations), pairs=pairs, jobs=jobs, progress=steps)
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
    rows = {row.pair: row for row in map(filled, ranking.recommendations)}
    defence = None
    if menu := tuple(_without_remedies(contest.menu)):
        usual = rows[replace(contest, runs=runs, menu=menu).standings[0].pair]
        best = rows[ranking.best.pair]
        figures = [errors[usual.pair], usual.error, errors[best.pair], best.error]
        defence = Defence(*usual.pair, *figures)
    return replace(
        ranking,
        recommendations=tuple(rows.values()),
        defence=defence,
        next_round=None if following is None else _filled(following, (later[0],), measured, runs),
    )


def _without_remedies(pairs: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in pairs if not POSTPROCESSORS[pair[1]].is_remedy]
