"""Why a look-up answers as it does: the questions that lead there, and what would change the answer."""

from __future__ import annotations

from advisor.look_up import profiles_of, stays
from advisor.result import Advice, Change, Why
from knowledge import grid
from knowledge.assumed import assumed_profiles
from knowledge.changes import nearest_changes
from knowledge.why import why

WORDS = {"epsilon": "ε", "n": "n", "skew": "skew"}


def explain(advice: Advice) -> Why:
    """Explain an advice from the grid: the path through the tree, and the nearest changes of the answer."""
    request = advice.request
    profiles = profiles_of(request)
    noises = grid.noises_of(request.k, request.epsilon, request.n, request.protocols)
    found = grid.look_up_noises(
        profiles,
        noises,
        advice.metric,
        epsilon=request.epsilon,
        n=request.n,
        ordered=request.ordered,
        methods=request.methods,
    )
    reason = why(found, profiles[0], noises)
    changes = nearest_changes(
        profiles,
        request.epsilon,
        request.n,
        advice.metric,
        of_skew=None if request.skew is None else lambda skew: assumed_profiles(request.k, request.n, skew=skew),
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
