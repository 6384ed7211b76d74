"""A joint plan for several columns: share of users, budget, protocol and method of each column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from advisor.answers.rank.result import Ranking
from advisor.answers.rank.simulate import ranking_answer
from advisor.errors import InputError
from advisor.inputs.histogram import read_columns
from advisor.question.cleaning import Cleaning
from advisor.question.constraints import allowed
from advisor.question.fitting import fitting_protocols
from advisor.question.frequencies import Frequencies
from advisor.question.option import refuse
from advisor.question.plurality import raw_error
from advisor.question.question import Question
from advisor.question.ranking import ranking_request
from advisor.question.sample import doubted, over_domain, sample_name
from simulator.attributes import PARTS, sampling_errors, sampling_shares, split_budgets
from simulator.progress import Progress, part, silent
from simulator.protocols import EPSILON_MIN


@dataclass(frozen=True, eq=False)  # holds arrays
class ColumnsQuestion:
    """Several columns, with a value per user in each column."""

    core: Question  # the question for each column
    sample: str
    columns: tuple[Frequencies, ...]  # with the names of the columns
    n: int  # users

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the reader."""
        return tuple(dict.fromkeys(warning for column in self.columns for warning in column.warnings))


def check_columns(question: Question) -> None:
    """Check the options for several columns, before any input is read.

    Raises InputError for an option that is only for a single column, or if the budget is too small for the columns.
    """
    flags = [
        flag
        for flag in question.given("domain:k", "columns:counts", "cleaning")
        if flag not in ("--drop-missing", "--missing")
    ]
    refuse(flags, "is about one column: leave it out, or ask ldp-advise for one --column")
    refuse(question.given("plurality"), "does not go with several columns: they are the attributes, each reported once")
    question.terms.one_metric("a plan for several columns")
    number, epsilon = len(question.columns.column), question.epsilon
    if number > PARTS or epsilon / PARTS < EPSILON_MIN:
        raise InputError(
            f"several columns: at most {PARTS}, at --eps {PARTS * EPSILON_MIN:g} or more, got {number} at {epsilon:g}"
        )


def columns_question(question: Question) -> ColumnsQuestion:
    """Read the columns of a sample file in one pass.

    Raises InputError if the file cannot be read, or a column is missing.
    """
    sample, columns = question.path, question.columns
    read = read_columns(sample, columns.column, layout=columns.layout, missing=question.cleaning.missing_codes)
    frequencies = tuple(
        replace(over_domain(doubted(column, name), sample_name(sample), question.domain, Cleaning()), name=name)
        for column in read
        for name in [column.column or ""]
    )
    n = question.terms.n or max(column.users or 0 for column in frequencies)
    if n < len(frequencies):
        raise InputError(f"n must be at least the number of columns, {len(frequencies)}, got {n:,}")
    return ColumnsQuestion(question, sample_name(sample), frequencies, n)


@dataclass(frozen=True)
class ColumnPlan:
    """The plan of a column."""

    name: str
    share: float  # share of the users who report it
    error: float  # root mean squared error of a raw estimate, against all users
    ranking: Ranking  # protocols and methods, for this number of reports and their budget


@dataclass(frozen=True)
class JointPlan:
    """The plan of all columns."""

    question: ColumnsQuestion
    solution: str  # ``"smp"`` or ``"spl"``
    columns: tuple[ColumnPlan, ...]
    error: float  # root of the mean over the columns of their mean squared errors
    advantage: float  # error of the other solution divided by this error

    @property
    def metric(self) -> str:
        """The metric of the rankings."""
        return self.columns[0].ranking.metric


def joint_plan(question: ColumnsQuestion, progress: Progress = silent) -> JointPlan:
    """Return the plan with the lowest mean squared error, averaged over columns."""
    core, columns, n, d = question.core, question.columns, question.n, len(question.columns)
    truths = [np.asarray(of_column.weights, dtype=np.float64) / of_column.weights.sum() for of_column in columns]
    protocols = []
    for column in columns:
        with _naming(column.name):
            fitting = fitting_protocols(core.menu, column.ordered, instant=core.is_predicted)
            protocols.append(allowed(fitting, core.limits, column.k, core.epsilon, n))
    # For each column the mean variance of the best estimate of a category from one report, by its budget
    errors = [partial(raw_error, names, n=1, frequencies=truth) for names, truth in zip(protocols, truths, strict=True)]
    single = np.array([error(core.epsilon) for error in errors])
    spread = np.array([float((truth * (1 - truth)).mean()) for truth in truths])
    shares, budgets = sampling_shares(single, spread), split_budgets(errors, core.epsilon)
    split = [error(budget) / n for error, budget in zip(errors, budgets.tolist(), strict=True)]
    # For each column: share of the users who report it, budget of a report, and mean squared error
    solutions = {
        "smp": (shares, np.full(d, core.epsilon), sampling_errors(single, spread, shares, n)),
        "spl": (np.ones(d), budgets, np.array(split)),
    }
    means = {name: float(squares.mean()) for name, (_, _, squares) in solutions.items()}
    solution, other = sorted(means, key=means.__getitem__)
    rows = zip(columns, *(figures.tolist() for figures in solutions[solution]), strict=True)
    asked = []
    for column, share, budget, square in rows:
        alone = replace(core, terms=replace(core.terms, epsilon=budget, n=max(1, round(share * n))))
        with _naming(column.name):
            request = replace(ranking_request(alone, column), everyone=n)
        asked.append((column.name, share, math.sqrt(square), alone, request))
    plans = [
        ColumnPlan(name, share, error, ranking_answer(alone, request, part(progress, place, d, name)).first)
        for place, (name, share, error, alone, request) in enumerate(asked)
    ]
    advantage = math.sqrt(means[other] / means[solution])
    return JointPlan(question, solution, tuple(plans), math.sqrt(means[solution]), advantage)


@contextmanager
def _naming(column: str) -> Iterator[None]:
    """Name the column that an option does not go with."""
    try:
        yield
    except InputError as error:
        raise InputError(f"column {column}: {error}", error.fields) from error
