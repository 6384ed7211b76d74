"""Why a look-up answers as it does: the questions that lead there, and what would change the answer."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from advisor.answers.rank.prediction import frequencies_of, stays
from advisor.answers.rank.result import Change, Ranking, Why
from knowledge import model, ranking
from knowledge.changes import Predictions, nearest_changes
from knowledge.describe.assumption import AssumedSkew
from knowledge.why import why

WORDS = {"epsilon": "ε", "n": "n", "skew": "skew"}


def explained(advices: tuple[Ranking, ...]) -> tuple[Ranking, ...]:
    """Return the advices for the metrics of one request, each with its explanation, if there is anything to explain.

    What is predicted serves all of them.
    """
    if not advices[0].recommendations:
        return advices
    predictions = lru_cache(maxsize=512)(model.predicted)
    frequencies = frequencies_of(advices[0].request)
    return tuple(replace(advice, why=_explain(advice, frequencies, predictions)) for advice in advices)


def explain(advice: Ranking) -> Why:
    """Explain a look-up: the path through the tree, and the nearest changes of the answer.

    Raises ValueError if the model behind predictions does not cover it.
    """
    return _explain(advice, frequencies_of(advice.request), lru_cache(maxsize=512)(model.predicted))


def why_of(advice: Ranking) -> Why | None:
    """Return the explanation of any ranking; None without any pair, and where the model does not cover the question."""
    if advice.why is not None or not advice.recommendations or advice.request.threat is not None:
        return advice.why
    try:
        return explain(advice)
    except ValueError:
        return None


def _explain(advice: Ranking, frequencies: model.Frequencies, predictions: Predictions) -> Why:
    request, best = advice.request, advice.best_alone
    if best is None:
        raise ValueError("predictions cover methods alone, and none is there")
    answer = ranking.rank(
        predictions(frequencies, request.epsilon, request.n, request.protocols, ordered=request.ordered),
        advice.metric,
        epsilon=request.epsilon,
        n=request.n,
        ordered=request.ordered,
        methods=request.methods,
    )
    reason = why(answer, model.first_of(frequencies).skew, best.pair)
    changes = nearest_changes(
        frequencies,
        request.epsilon,
        request.n,
        advice.metric,
        of_skew=None if request.skew is None else lambda skew: AssumedSkew(request.k, skew, request.ordered),
        ordered=request.ordered,
        protocols=request.protocols,
        methods=request.methods,
        choose=stays(best.pair),
        predictions=predictions,
    )
    return Why(
        steps=tuple(map(str, reason.conditions)),
        protocol=reason.leaf.protocol,
        method=reason.leaf.method,
        agrees=reason.agrees,
        ratio=reason.ratio,
        changes=tuple(Change(WORDS[one.what], one.value, one.protocol, one.method) for one in changes),
    )
