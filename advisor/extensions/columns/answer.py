"""One plan for several columns: who reports which, at which budget, with which protocol and method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Ranking
from advisor.answers.rank.simulate import simulated_answer
from advisor.extensions.columns.question import ColumnsQuestion
from advisor.question.fitting import fitting_protocols
from advisor.question.frequencies import Frequencies
from advisor.question.plurality import raw_error
from advisor.question.question import Question
from advisor.question.ranking import ranking_request
from simulator.attributes import sampling_errors, sampling_shares, split_budgets

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ColumnPlan:
    """What becomes of one column."""

    name: str
    share: float  # of the users who report it
    error: float  # root mean squared error of a raw estimate, against all users
    ranking: Ranking  # of protocols and methods, for so many reports and their budget


@dataclass(frozen=True)
class JointPlan:
    """What becomes of all columns."""

    question: ColumnsQuestion
    solution: str  # ``"smp"`` or ``"spl"``
    columns: tuple[ColumnPlan, ...]
    error: float  # root of the mean over the columns of their mean squared errors
    advantage: float  # that of the other solution over this one's

    @property
    def metric(self) -> str:
        """The metric of the rankings."""
        return self.columns[0].ranking.metric


def joint_plan(question: ColumnsQuestion, progress: Progress | None = None) -> JointPlan:
    """Return the plan whose columns have the lowest mean squared error on average."""
    core, columns, n, d = question.core, question.columns, question.n, len(question.columns)
    truths = [np.asarray(of_column.weights, dtype=np.float64) / of_column.weights.sum() for of_column in columns]
    protocols = [fitting_protocols(core.menu, of_column.ordered, instant=core.is_predicted) for of_column in columns]
    # For each column the mean variance of the best estimate of a category from one report, by its budget
    errors = [partial(raw_error, names, n=1, frequencies=truth) for names, truth in zip(protocols, truths, strict=True)]
    single = np.array([error(core.epsilon) for error in errors])
    spread = np.array([float((truth * (1 - truth)).mean()) for truth in truths])
    shares, budgets = sampling_shares(single, spread), split_budgets(errors, core.epsilon)
    split = [error(budget) / n for error, budget in zip(errors, budgets.tolist(), strict=True)]
    # Of each column the share of the users who report it, the budget of a report, and the mean squared error
    solutions = {
        "smp": (shares, np.full(d, core.epsilon), sampling_errors(single, spread, shares, n)),
        "spl": (np.ones(d), budgets, np.array(split)),
    }
    means = {name: float(squares.mean()) for name, (_, _, squares) in solutions.items()}
    solution, other = sorted(means, key=means.__getitem__)
    rows = zip(columns, *(figures.tolist() for figures in solutions[solution]), strict=True)
    plans = []
    for place, (column, share, budget, square) in enumerate(rows):
        shown = None if progress is None else partial(_of_all, progress, place, d)
        ranking = _ranking(core, column, budget, max(1, round(share * n)), shown)
        plans.append(ColumnPlan(column.name, share, math.sqrt(square), ranking))
    advantage = math.sqrt(means[other] / means[solution])
    return JointPlan(question, solution, tuple(plans), math.sqrt(means[solution]), advantage)


def _of_all(progress: Progress, place: int, columns: int, done: int, total: int) -> None:
    progress(place * total + done, columns * total)


def _ranking(core: Question, column: Frequencies, epsilon: float, reports: int, progress: Progress | None) -> Ranking:
    core = replace(core, terms=replace(core.terms, epsilon=epsilon, n=reports))
    request = ranking_request(core, column)
    if core.is_predicted:
        return look_up(request)[0]
    return simulated_answer(request, jobs=core.simulation.jobs, progress=progress).first
