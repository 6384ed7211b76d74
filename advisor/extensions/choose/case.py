"""One decision: whether to collect, from who is asked what, how accurate it is to be, and what the limit is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from advisor.answers.budgets import Priced
from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Answer, Recommendation
from advisor.answers.rank.verdict import USELESS
from advisor.question.frequencies import Frequencies
from advisor.question.question import Question
from advisor.question.ranking import looked_up_frequencies, ranking_request
from advisor.question.settings import Categories, Instant, Terms
from knowledge.menu import EPSILON, USERS
from knowledge.ranking import range_warnings

METRIC = "mae"  # how far the share of an answer is off, on average over the answers
REACHED, NOTHING_ASKED, JUST_ENOUGH, JUST_SHORT = "reached", "nothing_asked", "just_enough", "just_short"
OUT_OF_REACH, UNSURE, NOT_COVERED = "out_of_reach", "unsure", "not_covered"
NINE_IN_TEN = 1.2816 / 1.96  # of the upper half of a 95 % interval, on a log scale: below it lie nine of ten


def shown(error: float) -> float:
    """Return an error with the three digits that are shown of it: by these it is compared."""
    return float(f"{error:.3g}")


def sure(row: Recommendation) -> float:
    """Return the error a pair keeps to: predicted, in nine of ten cases; simulated, the end of its interval."""
    if row.origin is None or not row.error:
        return row.error_high
    return float(row.error * (row.error_high / row.error) ** NINE_IN_TEN)


@dataclass(frozen=True, eq=False)
class Case:
    """What decides: who is asked what, how accurate it is to be, and the largest budget of one report."""

    people: int
    domain: Categories
    within: float
    limit: float
    frequencies: Frequencies | None = None  # of published or pilot data; None: a skew is assumed

    @property
    def answers(self) -> int:
        """Number of possible answers."""
        return self.at_limit.ranking.request.k

    @property
    def without(self) -> float:
        """The error of the better of two guesses without data."""
        return self.at_limit.ranking.error_without_data or 0.0

    @property
    def at_limit(self) -> Priced:
        """What the limit buys."""
        return self.priced(self.limit)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What predictions do not cover."""
        warnings = range_warnings(self.answers, self.limit, self.people)
        return tuple(str(one).rpartition(":")[0].removeprefix("predictions cover ") for one in warnings)

    @property
    def nearest(self) -> Case:
        """The nearest case that predictions cover, where there are too few people for them, or too small a budget.

        More people, or a larger budget, only lower the error: what is out of reach there is out of reach here.
        """
        return replace(self, people=max(self.people, USERS[0]), limit=max(self.limit, EPSILON[0]))

    @property
    def reason(self) -> str:
        """Why to collect (`REACHED`) or not, with the limit."""
        if self.within >= self.without > 0:
            return NOTHING_ASKED
        nearest = self.nearest
        row = nearest.at_limit
        if self.gaps:
            certain = not nearest.gaps and shown(row.ranking.best.error_low) > self.within
            return OUT_OF_REACH if certain else NOT_COVERED
        if shown(row.ranking.best.error) > self.within:
            close = shown(row.ranking.best.error_low) <= self.within and row.verdict != USELESS
            return JUST_SHORT if close else OUT_OF_REACH
        if row.verdict == USELESS:
            return UNSURE
        return REACHED if shown(sure(row.ranking.best)) <= self.within else JUST_ENOUGH

    def collects(self, **changes: Any) -> bool:
        """Return the decision once something is changed."""
        return replace(self, **changes).reason == REACHED

    def priced(self, epsilon: float) -> Priced:
        """Return what a budget is predicted to buy."""
        return Priced(epsilon, self.answer(epsilon).first)

    def answer(self, epsilon: float) -> Answer:
        """Return what is predicted at a budget."""
        return _answer(epsilon, self.people, self.domain, self.frequencies)


@lru_cache(maxsize=8)  # a decision looks at one answer several times
def _answer(epsilon: float, people: int, domain: Categories, frequencies: Frequencies | None) -> Answer:
    terms = Terms(epsilon=epsilon, n=people, metric=(METRIC,))
    question = Question(terms=terms, domain=domain, instant=Instant(instant=True))
    return Answer(look_up(ranking_request(question, frequencies or looked_up_frequencies(question))))
