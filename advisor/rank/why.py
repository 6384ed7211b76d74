"""Why a look-up answers as it does: the questions that lead there, and what would change the answer."""

from __future__ import annotations

from advisor.rank.advice import Advice, Change, Why
from advisor.rank.look_up import asked_by, stays
from knowledge import grid
from knowledge.assumed import AssumedSkew
from knowledge.changes import nearest_changes
from knowledge.why import why

WORDS = {"epsilon": "ε", "n": "n", "skew": "skew"}


def explain(advice: Advice) -> Why:
    """Explain an advice from the grid: the path through the tree, and the nearest changes of the answer."""
    request = advice.request
    asked = asked_by(request)
    noises = grid.noises_of(request.k, request.epsilon, request.n, request.protocols)
    found = grid.look_up_noises(
        asked,
        noises,
        advice.metric,
        epsilon=request.epsilon,
        n=request.n,
        ordered=request.ordered,
        methods=request.methods,
    )
    reason = why(found, grid.first_of(asked), noises)
    changes = nearest_changes(
        asked,
        request.epsilon,
        request.n,
        advice.metric,
        of_skew=None if request.skew is None else lambda skew: AssumedSkew(request.k, skew),
        ordered=request.ordered,
        protocols=request.protocols,
        methods=request.methods,
        choose=stays(advice.best.pair),
    )
    return Why(
        steps=tuple(str(step) for step in reason.explanation.steps),
        method=reason.explanation.method,
        agrees=reason.agrees,
        ratio=reason.ratio,
        changes=tuple(Change(WORDS[one.what], one.value, one.protocol, one.method) for one in changes),
    )
