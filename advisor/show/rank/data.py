"""A ranking as plain data: the fields of its JSON object, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from advisor.answers.rank.result import Ranking, Recommendation
from advisor.answers.rank.trade_offs import compromise
from advisor.show.model import Json, Records, Scalar
from advisor.show.rank.answer import summary
from advisor.show.sentences import data_error
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.foreign import REGISTERED, SOURCES

ROW_FIELDS = (*Recommendation._fields, "data_error")


def rank_data(rankings: tuple[Ranking, ...]) -> dict[str, Json]:
    """Return the fields of the JSON object: the first metric's ranking, and under ``further_metrics`` the others'."""
    first, request, both = rankings[0], rankings[0].request, compromise(rankings)
    return {
        "request": request_data(first),
        "source": first.source,
        "surrogate": request.surrogate,
        "judged": request.judged,
        "repetitions": first.repetitions,
        "seed": request.seed,
        "experiment_id": first.experiment_id,
        "assumptions": list(request.assumptions),
        "warnings": list(first.warnings),
        "constraints": [removal._asdict() for removal in request.removals],
        "compromise": None if both is None else both._asdict() | {"ratios": dict(both.ratios)},
        **_ranking_data(first),
        "further_metrics": [{"metric": ranking.metric, **_ranking_data(ranking)} for ranking in rankings[1:]],
    }


def request_data(ranking: Ranking) -> dict[str, Json]:
    """Return what was asked."""
    request, plan = ranking.request, ranking.request.plan
    return {
        "eps": request.epsilon,
        "k": request.k,
        "n": request.n,
        "metric": ranking.metric,
        "metrics": list(request.metrics),
        "protocols": list(request.protocols),
        "methods": list(request.methods),
        "ordered": request.ordered,
        "sample": request.sample,
        "sample_users": request.sample_users,
        "collected_with": None if request.collected is None else request.collected.protocol,
        "populations": None if request.populations is None else len(request.populations),
        "repetitions": request.repetitions,
        "max_repetitions": request.max_repetitions,
        "metric_options": request.metric_values.plain(),
        "threat": request.threat,
        "targets": [request.labels[place] for place in request.targets],
        "plan": None if plan is None else {**plan._asdict(), "solutions": [row._asdict() for row in plan.solutions]},
        "central": None if request.central is None else request.central.data,
        "bins": None if request.bins is None else request.bins.data,
        "own_members": own_members(request.protocols, request.methods),
    }


def own_members(protocols: Sequence[str], methods: Sequence[str]) -> list[Json]:
    """Return what is known of members that are not of this project: who cites an answer may not have them."""
    kinds = (("protocol", PROTOCOLS, protocols), ("method", POSTPROCESSORS, methods))
    return [
        {
            "name": name,
            "kind": kind,
            "title": getattr(table[name], "title", name),
            "reference": "" if name in REGISTERED and reference == SOURCES[name] else reference,
        }
        for kind, table, names in kinds
        for name in names
        if name in SOURCES and isinstance(reference := getattr(table[name], "reference", ""), str)
    ]


def _ranking_data(ranking: Ranking) -> dict[str, Json]:
    """Return the fields of one metric's ranking."""
    why, later, single = ranking.why, ranking.next_round, ranking.single_categories
    return {
        "summary": summary(ranking),
        "unit": ranking.unit,
        "verdict": ranking.verdict,
        "reasons": list(ranking.reasons),
        "undetectable": [ranking.request.labels[place] for place in ranking.undetectable],
        "smallest_change": ranking.smallest_change,
        "worth_it_with": None if ranking.worth_it_with is None else asdict(ranking.worth_it_with),
        "beats_uniform_guess": ranking.beats_uniform_guess,
        "error_without_data": ranking.error_without_data,
        "resolved": ranking.resolved,
        "total": ranking.total,
        "moved": ranking.moved,
        "detectable_frequency": ranking.detectable_frequency,
        "defence": None if ranking.defence is None else ranking.defence._asdict(),
        "single_categories": None if single is None else single._asdict(),
        "baselines": [row._asdict() for row in ranking.baselines],
        "recommendations": [row_data(row, ranking) for row in ranking.recommendations],
        "other_users": [other._asdict() for other in ranking.other_users],
        "why": None if why is None else why._asdict() | {"changes": [change._asdict() for change in why.changes]},
        "next_round": None if later is None else _ranking_data(later),
    }


def row_data(row: Recommendation, ranking: Ranking) -> dict[str, Scalar]:
    """Return the fields of a row, and its error in the unit of the data (None where there is none)."""
    request = ranking.request
    own = {"data_error": data_error(ranking.metric, row.error, request.bins)}
    return {**row._asdict(), **own, **request.figures.get(row.protocol, {})}


def rank_records(rankings: tuple[Ranking, ...]) -> Records:
    """Return all rows of all rankings: the metric, the fields of a recommendation, whether it is for the next round."""
    rows = [
        {"metric": ranking.metric, **row_data(row, ranking), "next_round": table is not ranking}
        for ranking in rankings
        for table in (ranking, ranking.next_round)
        if table is not None
        for row in table.recommendations
    ]
    return Records.of(rows, () if rows else ("metric", *ROW_FIELDS, "next_round"))
