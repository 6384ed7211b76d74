"""Why a look-up answers as it does: the questions that lead there, and what would change the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from advisor.answers.rank.prediction import frequencies_of, stays
from advisor.answers.rank.result import Change, Ranking, Why
from knowledge import predict, ranking
from knowledge.changes import nearest_changes
from knowledge.describe.assumption import AssumedSkew

WORDS = {"epsilon": "ε", "n": "n", "skew": "skew"}


def explained(advices: tuple[Ranking, ...]) -> tuple[Ranking, ...]:
    """Return the advices for the metrics of a request, each with its explanation if there is any.

    What is predicted serves all of them. Raises ValueError if the model behind predictions does not cover them.
    """
    if not advices[0].recommendations:
        return advices
    predicted = lru_cache(maxsize=512)(predict.predicted)
    frequencies = frequencies_of(advices[0].request)
    return tuple(replace(advice, why=_explain(advice, frequencies, predicted)) for advice in advices)


def why_of(advice: Ranking) -> Why | None:
    """Return the explanation of any ranking; None without any pair, and where the model does not cover the question.

    None also under a threat, and with a shuffler: then budgets differ between protocols, and change with n.
    """
    outside = advice.request.threat is not None or advice.request.central is not None
    if advice.why is not None or not advice.recommendations or outside:
        return advice.why
    try:
        return explained((advice,))[0].why
    except ValueError:
        return None


def _explain(
    advice: Ranking, frequencies: predict.Frequencies, predicted: Callable[..., predict.PredictedErrors]
) -> Why:
    """Return the path through the tree, and the nearest changes of the answer."""
    request, best = advice.request, advice.best_alone
    if best is None:
        raise ValueError("predictions cover methods alone, and none is there")

    def look_up(of: predict.Frequencies, epsilon: float, n: int) -> ranking.LookUp:
        prediction = predicted(of, epsilon, n, request.protocols, ordered=request.ordered)
        return ranking.rank(prediction, advice.metric, request.methods)

    answer = look_up(frequencies, request.epsilon, request.n)
    if best.pair not in {row.pair for row in answer.rows}:
        raise ValueError(f"predictions do not cover {best.protocol} with {best.method}")
    reason = ranking.tree_reasons(answer, predict.first_of(frequencies).skew, best.pair)
    changes = nearest_changes(
        frequencies,
        request.epsilon,
        request.n,
        look_up,
        of_skew=None if request.skew is None else lambda skew: AssumedSkew(request.k, skew, request.ordered),
        choose=stays(best.pair),
    )
    return Why(
        steps=tuple(map(str, reason.conditions)),
        protocol=reason.leaf.protocol,
        method=reason.leaf.method,
        agrees=reason.agrees,
        ratio=reason.ratio,
        changes=tuple(Change(WORDS[change.what], change.value, change.protocol, change.method) for change in changes),
    )
