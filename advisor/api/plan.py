"""``advisor.plan``: how many users, or which ε, as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from advisor.answers.plan.answer import make_plan
from advisor.answers.plan.result import PlanResult
from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown
from advisor.question.central import CentralPromise
from advisor.question.cleaning import Cleaning
from advisor.question.plan import plan_question
from advisor.question.question import Question
from advisor.question.rules import check_plan
from advisor.question.settings import Named, Shape, Simulation
from advisor.show.plan import plan_document


class Plan(Shown, PlanResult):
    """How many users, or which ε; its attributes are those of `advisor.answers.plan.result.PlanResult`."""

    _document = plan_document


@keyword_errors()
def plan(
    *,
    target: float | None = None,
    detect: float | None = None,
    eps: float | None = None,
    n: int | None = None,
    k: int | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    metric: str | None = None,
    protocol: Named | Sequence[Named] | None = None,
    method: Named | Sequence[Named] | None = None,
    ordered: bool | None = None,
    instant: bool = False,
    shape: float | str | Shape | None = None,
    promise: CentralPromise | None = None,
    cleaning: Cleaning | None = None,
    simulation: Simulation | None = None,
) -> Plan:
    """Say how many users, or which ε, an error takes; or how many to detect a small frequency.

    Parameters
    ----------
    target
        Mean error to be reached, in the unit of the metric.
    detect
        Instead of a target: a frequency that the raw estimate must detect with power 0.8, at level 0.05 over all k
        categories.
    eps, n
        Budget of one report, or users who report. The omitted argument is the unknown.
    k, sample, sample_counts, ordered, shape, cleaning
        What is assumed of the frequencies, as in `advisor.advise`.
    metric
        Error metric; l1 unless it is named. A detection has none.
    protocol, method
        Restrict the menu; pairs that are named in full are all settled.
    instant
        Predict the answer instead of simulating; a detection is by formula, and never simulated.
    promise
        Instead of a budget: what all shuffled reports together promise; the number of users is then the unknown.
    simulation
        As in `advisor.advise`; max_repetitions: simulated collections for one pair at one place, at most (2000).

    Raises
    ------
    InputError
        If the question is wrong: see `advisor.question.rules.check_plan`.

    Examples
    --------
    >>> answer = plan(target=0.1, eps=1.0, k=64, instant=True)
    >>> answer.question.unknown, answer.value > 100_000
    ('n', True)
    """
    question = Question.of(locals())  # the keywords, as they were given
    check_plan(question)
    return Plan.of(make_plan(plan_question(question), instant=instant))
