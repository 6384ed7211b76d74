"""The decision on a case by predictions, which take no time."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.answers.budgets import Priced
from advisor.answers.rank.result import Answer
from advisor.extensions.choose.case import METRIC, NOTHING_ASKED, REACHED, Case
from advisor.extensions.choose.changes import Need, between, predicted_budget, predicted_people

LEAST = 0.1  # budgets below are no advice: what is as private costs the same trouble


@dataclass(frozen=True, eq=False)
class Decision:
    """Whether to collect, the budget to collect with, and what it would take if not."""

    reason: str
    epsilon: float | None = None  # None where collecting is no good
    budget: Need | None = None  # which ε the accuracy takes, where it is not to be collected
    people: Need | None = None  # how many people it takes within the limit, where it is not to be collected
    simulated: tuple[tuple[float, Answer], ...] = ()  # the answers at budgets that were simulated, not predicted

    def at(self, epsilon: float) -> Priced | None:
        """Return what a budget buys by simulation; None where that was not simulated."""
        for budget, answer in self.simulated:
            if budget == epsilon:
                return Priced(epsilon, next(one for one in answer.rankings if one.metric == METRIC))
        return None


def predicted(case: Case) -> Decision:
    """Return the decision by predictions."""
    reason = case.reason
    if reason == NOTHING_ASKED:
        return Decision(reason)
    if reason != REACHED:
        return Decision(reason, budget=predicted_budget(case), people=predicted_people(case))
    return Decision(reason, least_budget(case))


def least_budget(case: Case) -> float:
    """Return the least budget, two digits, with which the decision is still to collect."""
    first = min(LEAST, case.limit)
    if case.collects(limit=first):
        return first
    return between(lambda epsilon: case.collects(limit=epsilon), first, case.limit)
