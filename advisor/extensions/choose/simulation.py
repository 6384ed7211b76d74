"""The decision on a case with data of earlier years: simulated as the main command and a plan do it."""

from __future__ import annotations

from advisor.answers.plan.answer import make_plan
from advisor.answers.plan.result import PlanResult, Progress
from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import simulated_answer
from advisor.answers.rank.verdict import USELESS, WORTH_IT
from advisor.extensions.choose.case import (
    JUST_ENOUGH,
    JUST_SHORT,
    METRIC,
    NOTHING_ASKED,
    OUT_OF_REACH,
    REACHED,
    UNSURE,
    Case,
    shown,
    sure,
)
from advisor.extensions.choose.changes import Need, predicted_budget
from advisor.extensions.choose.decision import LEAST, Decision
from advisor.extensions.choose.question import rounded
from advisor.question.frequencies import Frequencies
from advisor.question.plan import plan_question
from advisor.question.question import Question
from advisor.question.ranking import ranking_request
from advisor.question.settings import Goal, Terms

STEP = 1.03  # by which a budget is raised that a plan calls enough and whose own simulation is just above the accuracy


def simulated(case: Case, frequencies: Frequencies, progress: Progress) -> Decision:
    """Return the decision by simulations, with the figures that the suggested commands give too."""
    if case.reason == NOTHING_ASKED:
        return Decision(NOTHING_ASKED)
    guess = case.at_limit
    if not case.gaps and guess.verdict == WORTH_IT and guess.ranking.best.error_high <= case.within:
        return _least(case, None, frequencies, progress)
    at_limit = _answer(case, case.limit, frequencies, progress)
    best, verdict = at_limit.first.best, at_limit.first.verdict
    short = shown(best.error) > case.within
    if not short and verdict != USELESS:
        if shown(sure(best)) <= case.within:
            return _least(case, at_limit, frequencies, progress)
        return Decision(JUST_ENOUGH, budget=predicted_budget(case), simulated=((case.limit, at_limit),))
    close = shown(best.error_low) <= case.within and verdict != USELESS
    people = _users(_plan(case, Terms(epsilon=case.limit, metric=(METRIC,)), frequencies, progress))
    return Decision(
        (JUST_SHORT if close else OUT_OF_REACH) if short else UNSURE,
        budget=predicted_budget(case),
        people=None if people is None or people.value <= case.people else people,
        simulated=((case.limit, at_limit),),
    )


def _least(case: Case, at_limit: Answer | None, frequencies: Frequencies, progress: Progress) -> Decision:
    """Return the decision to collect, with the least budget that is enough.

    at_limit: what the limit buys, where that was simulated because predictions did not settle it.
    """
    plan = _plan(case, Terms(n=case.people, metric=(METRIC,)), frequencies, progress)
    epsilon = case.limit if plan.value is None else max(min(LEAST, case.limit), rounded(plan.value, up=True))
    for _ in range(2):
        if epsilon >= case.limit:
            break
        answer = _answer(case, epsilon, frequencies, progress)
        if shown(sure(answer.first.best)) <= case.within and answer.first.verdict != USELESS:
            known = () if at_limit is None else ((case.limit, at_limit),)
            return Decision(REACHED, epsilon, simulated=((epsilon, answer), *known))
        epsilon = rounded(STEP * epsilon, up=True)
    at_limit = at_limit or _answer(case, case.limit, frequencies, progress)
    if shown(sure(at_limit.first.best)) > case.within:
        return Decision(JUST_ENOUGH, budget=predicted_budget(case), simulated=((case.limit, at_limit),))
    return Decision(REACHED, case.limit, simulated=((case.limit, at_limit),))


def _answer(case: Case, epsilon: float, frequencies: Frequencies, progress: Progress) -> Answer:
    """Return what the main command answers at a budget."""
    progress(f"simulating {case.people:,} people at epsilon = {epsilon:g}")
    question = Question(terms=Terms(epsilon=epsilon, n=case.people, metric=(METRIC,)))
    return simulated_answer(ranking_request(question, frequencies))


def _plan(case: Case, terms: Terms, frequencies: Frequencies, progress: Progress) -> PlanResult:
    """Return what ``ldp-advise plan`` answers for the accuracy."""
    question = Question(terms=terms, goal=Goal(target=case.within))
    return make_plan(plan_question(question, frequencies), progress=progress)


def _users(plan: PlanResult) -> Need | None:
    row = plan.best
    if row.value is None:
        return None
    return Need(row.value, row.low or row.value, row.high or row.value, simulated=True)
