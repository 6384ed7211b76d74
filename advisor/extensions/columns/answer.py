"""One plan for several columns: who reports which, at which budget, with which protocol and method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Ranking
from advisor.answers.rank.simulate import simulated_answer
from advisor.extensions.columns.question import ColumnsQuestion
from advisor.question.fitting import fitting_protocols
from advisor.question.frequencies import Frequencies
from advisor.question.plurality import raw_error
from advisor.question.ranking import ranking_request
from advisor.question.settings import SOLUTIONS
from simulator.attributes import sampling_errors, sampling_shares, split_budgets

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ColumnPlan:
    """What becomes of one column."""

    name: str
    k: int
    share: float  # of the users who report it
    reports: int
    epsilon: float  # budget of one report
    error: float  # root mean squared error of a raw estimate, against all users
    ranking: Ranking  # of protocols and methods, for so many reports of that budget


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
    epsilon, columns, n = question.core.epsilon, question.columns, question.n
    d = len(columns)
    truths = [np.asarray(one.weights, dtype=np.float64) / one.weights.sum() for one in columns]
    errors = [
        partial(_single, fitting_protocols(question.core.menu, one.ordered, instant=question.core.is_predicted), truth)
        for one, truth in zip(columns, truths, strict=True)
    ]
    single = np.array([error(epsilon) for error in errors])
    spread = np.array([float((truth * (1 - truth)).mean()) for truth in truths])
    shares, budgets = sampling_shares(single, spread), split_budgets(errors, epsilon)
    squares = {
        "smp": sampling_errors(single, spread, shares, n),
        "spl": np.array([error(budget) for error, budget in zip(errors, budgets.tolist(), strict=True)]) / n,
    }
    means = {name: float(square.mean()) for name, square in squares.items()}
    solution = min(SOLUTIONS, key=means.__getitem__)
    if solution == "smp":
        budgets = np.full(d, epsilon)
    else:
        shares = np.ones(d)
    plans = []
    for place, (column, share, budget, square) in enumerate(
        zip(columns, shares.tolist(), budgets.tolist(), squares[solution].tolist(), strict=True)
    ):
        shown = None if progress is None else partial(_of_all, progress, place, d)
        reports = max(1, round(share * n))
        ranking = _ranking(question, column, budget, reports, shown)
        plans.append(ColumnPlan(column.name, column.k, share, reports, budget, math.sqrt(square), ranking))
    other = "spl" if solution == "smp" else "smp"
    return JointPlan(
        question, solution, tuple(plans), math.sqrt(means[solution]), math.sqrt(means[other] / means[solution])
    )


def _single(protocols: tuple[str, ...], truth: NDArray[np.float64], epsilon: float) -> float:
    """Return the mean variance of the best estimate of a category from one report."""
    return raw_error(protocols, epsilon, 1, truth)


def _of_all(progress: Progress, place: int, columns: int, done: int, total: int) -> None:
    progress(place * total + done, columns * total)


def _ranking(
    question: ColumnsQuestion, column: Frequencies, epsilon: float, reports: int, progress: Progress | None
) -> Ranking:
    core = replace(question.core, terms=replace(question.core.terms, epsilon=epsilon, n=reports))
    request = ranking_request(core, column)
    if core.is_predicted:
        return look_up(request)[0]
    return simulated_answer(request, jobs=core.simulation.jobs, progress=progress).first
