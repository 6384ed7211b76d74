"""The combination of methods that competes beside them, where the truth is known only through an estimate."""

from __future__ import annotations

from advisor.question.request import Request
from advisor.rank.result import Ranking, Recommendation
from simulator.benchmark import Experiment, Runs
from simulator.blending import best_combination
from simulator.methods.blend import is_combination
from simulator.ranking import Pair


def menus(request: Request, runs: Runs, used: str) -> dict[str, list[str]]:
    """Return for each metric the methods that compete for what was collected."""
    return {
        metric: [method for protocol, method in runs.of(metric) if protocol == used and method in request.methods]
        for metric in request.metrics
    }


def best_combinations(request: Request, experiment: Experiment, runs: Runs) -> tuple[Runs, dict[str, Pair]]:
    """Return for each metric what beats every method alone, if anything does, and the runs without the others."""
    if request.collected is None or not request.combinations:
        return runs, {}
    used = request.collected.protocol
    found = {
        metric: best_combination(experiment, runs, used, metric, menu)
        for metric, menu in menus(request, runs, used).items()
    }
    best = {metric: pair for metric, pair in found.items() if pair is not None}
    kept = {
        pair: errors for pair, errors in runs.errors.items() if not is_combination(pair[1]) or pair in best.values()
    }
    return Runs(runs.experiment_id, runs.metrics, runs.first, kept), best


def best_alone(ranking: Ranking) -> Recommendation | None:
    """Return the first row that is no combination, if there is one."""
    return next((row for row in ranking.recommendations if not is_combination(row.method)), None)
