"""What some budgets would buy, for someone who has given none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from advisor.answers.budgets import Budgets
from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Answer
from advisor.answers.rank.verdict import against_nothing
from advisor.errors import InputError
from advisor.figures import number, percent, users
from advisor.question.question import BUDGET, Question
from advisor.question.ranking import ranking_requests
from advisor.question.settings import Instant
from advisor.show.budgets import priced_data
from advisor.show.model import Json

EPSILONS = (0.5, 1.0, 2.0)
LARGEST = 5_000_000  # bytes of a file that is read for an example: it has to come at once
CHOOSE = "ldp-advise choose asks a few questions, and says which ε to use, if any."


class MissingBudgetError(InputError):
    """Error for a missing budget, with predicted results at some budgets if available."""

    def __init__(self, examples: Sequence[Mapping[str, Json]], lines: Sequence[str]) -> None:
        super().__init__(f"--eps is missing: give {BUDGET}")
        self.examples = list(examples)
        self.lines = tuple(lines)


def missing_budget(question: Question) -> MissingBudgetError:
    """Return the error that no budget is given, priced by what is predicted for the question at some budgets.

    If that fails, the error has no prices.
    """
    if question.path and not _is_small(question.path):
        return MissingBudgetError([], [CHOOSE])
    try:
        at_each = replace(question, grid=replace(question.grid, epsilons=EPSILONS), instant=Instant(instant=True))
        examples = ranking_requests(at_each)
        budgets = Budgets(EPSILONS, tuple(Answer(look_up(request)) for request in examples))
        rows = budgets.priced(budgets.metrics[0])
        request, metric = examples[0], budgets.metrics[0]
        lines = [f"Predicted for {request.sample} (k = {request.k:,}, n = {request.n:,}), with the best pair:"]
        for row in rows:
            best, verdict = row.ranking.best, against_nothing(row.ranking.reasons)
            off = "" if row.off is None else f", each category off by about {users(row.off)} users"
            lines.append(
                f"  --eps {row.epsilon:<4g} {metric} error {number(best.error, 3)}, {verdict} than without data{off}; "
                f"the best guess from one report is right in {percent(best.attack_success)} of cases"
            )
        return MissingBudgetError([priced_data(row) for row in rows], [*lines, CHOOSE] if rows else [CHOOSE])
    except (ValueError, ArithmeticError, LookupError, OSError, MemoryError):  # a courtesy, which hides no error
        return MissingBudgetError([], [CHOOSE])


def _is_small(sample: str) -> bool:
    """Return whether a sample is a file that is read in a moment."""
    try:
        return sample != "-" and Path(sample).is_file() and Path(sample).stat().st_size <= LARGEST
    except (OSError, ValueError):
        return False
