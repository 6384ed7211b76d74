"""What would be enough instead: the answers to change, each of them alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from advisor.answers.budgets import Priced
from advisor.answers.plan.result import PlanRow
from advisor.answers.rank.verdict import USELESS
from advisor.answers.rank.worth_it import first_need
from advisor.extensions.choose.case import Case, shown, sure
from advisor.extensions.choose.question import LIMITS, limit_of, rounded
from knowledge.menu import EPSILON, USERS

GROWTH = 4.0  # by which a figure is raised that is not enough


@dataclass(frozen=True)
class Need:
    """A figure that is about enough, with its 95 % interval."""

    value: float
    low: float
    high: float
    simulated: bool = False  # whether it was settled by simulation, as `ldp-advise plan` does it


@dataclass(frozen=True)
class Changes:
    """Figures of which each alone, in place of the answer, leads to a collection; None where there is none."""

    people: Need | None = None
    within: Need | None = None
    answers: int | None = None  # so many, and every smaller number that was tried
    times: int | None = None
    # The budget of one report that reaches the accuracy: above the limit, and so no advice
    epsilon: Need | None = None
    once: Changes | None = None  # where asking less often is not enough: what is, besides asking once


def changes_of(
    case: Case, sensitive: str, times: int, *, people: Need | None, budget: Need | None, at_limit: Priced
) -> Changes:
    """Return the smallest change of each answer with which the decision is to collect.

    people, budget: the users, and the ε, that the accuracy takes. at_limit: what the limit buys.
    """
    often = min(times - 1, int(LIMITS[sensitive] / EPSILON[0]))  # smaller budgets are not covered
    less_often = next((one for one in _falling(often) if case.collects(limit=limit_of(sensitive, one))), None)
    once = None
    if times > 1 and less_often is None:
        alone = replace(case, limit=LIMITS[sensitive])
        once = Changes(people=predicted_people(alone), within=_coarser(alone, alone.at_limit))
    return Changes(
        people=people,
        within=_coarser(case, at_limit),
        answers=None if case.frequencies is not None else _fewer(case),
        times=less_often,
        epsilon=budget,
        once=once,
    )


def predicted_people(case: Case) -> Need | None:
    """Return how many people are predicted to be enough, by the first answer of a plan."""
    if case.nearest.limit != case.limit:
        return None
    row = _first_need(case, n=True)
    least = float(max(case.people, USERS[0]))
    return _need(row, lambda people: case.collects(people=int(people)), least, USERS[1])


def predicted_budget(case: Case) -> Need | None:
    """Return which ε is predicted to be enough, by the first answer of a plan."""
    if case.nearest.people != case.people:
        return None
    row = _first_need(case, n=False)
    return _need(row, lambda epsilon: case.collects(limit=epsilon), case.nearest.limit, EPSILON[1])


def _first_need(case: Case, *, n: bool) -> PlanRow | None:
    ranking = case.nearest.at_limit.ranking
    return first_need(ranking.request, ranking.metric, ranking.best.error, case.within, n=n)


def _need(row: PlanRow | None, works: Callable[[float], bool], least: float, most: float) -> Need | None:
    """Return what a plan needs, two digits, raised where the decision there is not yet to collect."""
    first = least if row is None or row.value is None else min(most, max(least, rounded(row.value, up=True)))
    value = first if works(first) else _above(works, first, most)
    if value is None:
        return None
    low, high = (value, value) if row is None or row.low is None or row.high is None else (row.low, row.high)
    high = min(high, most)
    return Need(value, min(value, rounded(low, up=False)), max(value, rounded(high, up=True)))


def _coarser(case: Case, at_limit: Priced) -> Need | None:
    """Return the accuracy that the limit reaches, where that is better than no data."""
    simulated = at_limit.ranking.repetitions > 0
    if at_limit.verdict == USELESS or (case.gaps and not simulated):
        return None
    best = at_limit.ranking.best
    reached = shown(sure(best))
    nearest = float(f"{reached:.2g}")
    value = nearest if reached <= nearest else rounded(reached, up=True)
    if not case.within < value < case.without:
        return None
    return Need(value, best.error_low, best.error_high, simulated)


def _fewer(case: Case) -> int | None:
    """Return the most possible answers with which the decision is to collect, as it is with every smaller number tried.

    What it takes does not fall steadily with the number of answers: one that happens to be enough, above others that
    are not, is no advice.
    """
    most = None
    for answers in reversed(list(_falling(case.answers - 1))):
        if answers < 2:
            continue
        if not case.collects(domain=replace(case.domain, k=answers)):
            break
        most = answers
    return most


def _falling(value: int) -> Iterator[int]:
    """Yield whole numbers down to 1, a tenth lower each: nothing is said to be finer than that."""
    while value >= 1:
        yield value
        value -= max(1, value // 10)


def _above(works: Callable[[float], bool], start: float, most: float) -> float | None:
    """Return about the least value above `start`, two digits, that works; None if none does up to `most`."""
    low = high = float(start)
    while high < most:
        low, high = high, min(float(most), rounded(high * GROWTH, up=True))
        if works(high):
            return between(works, low, high)
    return None


def between(works: Callable[[float], bool], low: float, high: float) -> float:
    """Return about the least value above `low`, two digits, that works; `high` does."""
    while low < (middle := rounded(math.sqrt(low * high), up=True)) < high:
        low, high = (low, middle) if works(middle) else (middle, high)
    return high
