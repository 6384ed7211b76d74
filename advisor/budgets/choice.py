"""From five plain answers to a budget, or to the advice not to collect.

Everything is predicted. One decision is behind all of it: a change of the answers is suggested only if with it the same
decision is to collect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from advisor.budgets.result import Budgets, Priced
from advisor.checks import choice, real, whole
from advisor.question.frequencies import Frequencies
from advisor.question.option import Settings, like, option
from advisor.question.request import RankSettings
from advisor.question.sample import build_request
from advisor.question.settings import ROUNDS_MAX, Categories, Question, Shape
from advisor.question.shape_request import shape_request
from advisor.rank.look_up import look_up
from advisor.rank.result import Answer
from advisor.rank.verdict import USELESS
from knowledge.menu import EPSILON, USERS
from knowledge.ranking import range_warnings

METRIC = "mae"  # how far the share of an answer is off, on average over the answers
LIMITS = {"low": 4.0, "medium": 2.0, "high": 1.0}
"""Largest budget of all reports of a person together, by how sensitive the answers are.

No law fixes one. At ε = 1 the best guess between two answers is right in at most 73 % of cases, at 2 in 88 %, at 4 in
98 %; 4 is what Apple's emoji statistics spend on one event.
"""
EXAMPLES = (0.5, 1.0, 2.0, 4.0)
LEAST = 0.1  # budgets below are no advice: what is as private costs the same trouble
GROWTH = 4.0  # by which a figure is raised that is not enough
REACHED, NOTHING_ASKED, OUT_OF_REACH, UNSURE = "reached", "nothing_asked", "out_of_reach", "unsure"
NOT_COVERED = "not_covered"


def points(name: str, value: object) -> float:
    """Return percentage points, with or without their sign; raises InputError if they are not between 0 and 100."""
    text = value.strip().rstrip("%").strip() if isinstance(value, str) else value
    return real(above=0, below=100)(name, text)


def level(name: str, value: object) -> str:
    """Return how sensitive answers are, from its first letters on; raises InputError if it is no level."""
    text = str(value).strip().lower()
    full = next((word for word in LIMITS if text and word.startswith(text)), text)
    return choice(LIMITS)(name, full)


@dataclass(frozen=True)
class Wishes(Settings):
    """What somebody who does not know ε can say of a collection."""

    panel: ClassVar[str] = "The five questions"

    people: int | None = like(Question, "n", help="how many people will answer")
    answers: int | None = like(Categories, "k", help="how many possible answers the question has")
    within: float | None = option(
        "--within", read=points, metavar="POINTS",
        help="how far off a share may be, in percentage points on average",
    )  # fmt: skip
    sensitive: str | None = option("--sensitive", read=level, metavar="LEVEL", help="low, medium or high")
    times: int | None = option(
        "--times", read=whole(1, ROUNDS_MAX), metavar="N", help="how often the same people are asked; 1: once"
    )
    ordered: bool | None = like(Categories, "ordered", help="the answers have an order, as age bands have")


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
    def at_limit(self) -> Priced:
        """What the limit buys."""
        return self.priced(self.limit)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What predictions do not cover."""
        warnings = range_warnings(self.answers, self.limit, self.people)
        return tuple(str(one).rpartition(":")[0].removeprefix("predictions cover ") for one in warnings)

    @property
    def reason(self) -> str:
        """Why to collect (`REACHED`) or not, with the limit."""
        row, gaps = self.at_limit, self.gaps
        without = row.ranking.error_without_data
        if without is not None and self.within >= without:
            return NOTHING_ASKED
        if gaps:
            return NOT_COVERED
        if row.ranking.best.error > self.within:
            return OUT_OF_REACH
        return UNSURE if row.verdict == USELESS else REACHED

    def collects(self, **changes: Any) -> bool:
        """Return the decision once something is changed."""
        return replace(self, **changes).reason == REACHED

    def budgets(self, epsilons: list[float]) -> Budgets:
        """Return what budgets buy."""
        return Budgets(tuple(epsilons), tuple(self._answer(epsilon) for epsilon in epsilons))

    def priced(self, epsilon: float) -> Priced:
        """Return what a budget buys."""
        (row,) = self.budgets([epsilon]).priced(METRIC)
        return row

    def _answer(self, epsilon: float) -> Answer:
        return _answer(epsilon, self.people, self.domain, self.frequencies)


@lru_cache(maxsize=8)  # a decision looks at one answer several times
def _answer(epsilon: float, people: int, domain: Categories, frequencies: Frequencies | None) -> Answer:
    settings = RankSettings(Question(epsilon=epsilon, n=people, metric=(METRIC,)))
    if frequencies is None:
        return Answer(look_up(shape_request(settings, domain, Shape())))
    return Answer(look_up(build_request(settings, frequencies, instant=True)))


@dataclass(frozen=True)
class Changes:
    """Figures of which each alone, in place of the answer, leads to a collection; None where there is none."""

    people: int | None = None
    within: float | None = None
    answers: int | None = None
    epsilon: float | None = None
    times: int | None = None


@dataclass(frozen=True, eq=False)
class Choice:
    """What the answers lead to."""

    case: Case
    sensitive: str
    times: int
    reason: str  # why to collect or not: `REACHED`, `NOTHING_ASKED`, `OUT_OF_REACH`, `UNSURE` or `NOT_COVERED`
    epsilon: float | None  # the budget to collect with; None where collecting is no good
    budgets: Budgets  # what some budgets buy, among them `epsilon`, or the limit; none if that is not covered
    changes: Changes  # what would be enough instead
    data_words: tuple[str, ...]  # words of a command line that name the data; none where a skew is assumed

    @property
    def people(self) -> int:
        """How many people answer."""
        return self.case.people

    @property
    def answers(self) -> int:
        """How many possible answers there are."""
        return self.case.answers

    @property
    def within(self) -> float:
        """How far off a share may be, as a share."""
        return self.case.within

    @property
    def limit(self) -> float:
        """The largest budget of one report."""
        return self.case.limit

    @property
    def ordered(self) -> bool:
        """Whether the answers have an order."""
        return self.case.at_limit.ranking.request.ordered

    @property
    def without(self) -> float:
        """The error of the better of two guesses without data."""
        return self.case.at_limit.ranking.error_without_data or 0.0

    @property
    def priced(self) -> tuple[Priced, ...]:
        """What each budget buys."""
        return self.budgets.priced(METRIC) if self.budgets.epsilons else ()

    @property
    def there(self) -> Priced:
        """What the budget to collect with buys, or else the limit."""
        return self.case.priced(self.limit if self.epsilon is None else self.epsilon)


def choose(wishes: Wishes, frequencies: Frequencies | None = None, data_words: tuple[str, ...] = ()) -> Choice:
    """Return the budget that five answers lead to, or why there is none.

    frequencies, data_words: of published or pilot data, and the words of a command line that name them.
    """
    people, answers, times = wishes.people or 1, wishes.answers or 2, wishes.times or 1
    sensitive, within = wishes.sensitive or "medium", (wishes.within or 1.0) / 100
    case = Case(people, Categories(answers, wishes.ordered), within, limit_of(sensitive, times), frequencies)
    reason = case.reason
    epsilon = _least_budget(case) if reason == REACHED else None
    changes = Changes() if reason in (REACHED, NOTHING_ASKED) else _changes(case, sensitive, times)
    shown = {case.limit, *(one for one in EXAMPLES if one < case.limit), *([] if epsilon is None else [epsilon])}
    prices = case.budgets([] if case.gaps else sorted(shown))
    return Choice(case, sensitive, times, reason, epsilon, prices, changes, data_words)


def limit_of(sensitive: str, times: int) -> float:
    """Return the largest budget of one report, two digits."""
    return rounded(LIMITS[sensitive] / times, up=False)


def _least_budget(case: Case) -> float:
    """Return the least budget, two digits, with which the decision is still to collect."""
    first = min(LEAST, case.limit)
    if case.collects(limit=first):
        return first
    return _between(lambda epsilon: case.collects(limit=epsilon), first, case.limit)


def _changes(case: Case, sensitive: str, times: int) -> Changes:
    """Return the smallest change of each answer with which the decision is to collect."""
    needed = _above(lambda epsilon: case.collects(limit=epsilon), max(case.limit, LEAST), EPSILON[1])
    people = _above(lambda n: case.collects(people=int(n)), max(case.people, USERS[0]), USERS[1])
    coarser = rounded(case.at_limit.ranking.best.error, up=True)
    less_often = None if needed is None else next(
        (one for one in _falling(min(times - 1, int(LIMITS[sensitive] / needed)))
         if case.collects(limit=limit_of(sensitive, one))), None
    )  # fmt: skip
    return Changes(
        people=None if people is None else int(people),
        within=coarser if case.within < coarser < 1 and case.collects(within=coarser) else None,
        answers=None if case.frequencies is not None else _fewer(case),
        epsilon=needed,
        times=less_often,
    )


def _fewer(case: Case) -> int | None:
    """Return about the most possible answers with which the decision is to collect."""

    def works(k: int) -> bool:
        return case.collects(domain=replace(case.domain, k=k))

    high = case.answers
    low = next((k for k in _halves(high) if works(k)), None)
    if low is None:
        return None
    high = min(2 * low + 1, high)
    while high - low > max(1, low // 10):  # a tenth more or fewer answers is no other question
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low


def _halves(value: int) -> Iterator[int]:
    """Yield the halves of a number of answers, down to the least there may be."""
    while value > 2:
        value = max(2, value // 2)
        yield value


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
            return _between(works, low, high)
    return None


def _between(works: Callable[[float], bool], low: float, high: float) -> float:
    """Return about the least value above `low`, two digits, that works; `high` does."""
    while low < (middle := rounded(math.sqrt(low * high), up=True)) < high:
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def rounded(value: float, *, up: bool) -> float:
    """Return a value with two digits, rounded up or down.

    >>> rounded(2.341, up=True), rounded(0.66666, up=False), rounded(4.0, up=True)
    (2.4, 0.66, 4.0)
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    steps = round(value / step, 6)
    return float(f"{(math.ceil(steps) if up else math.floor(steps)) * step:.2g}")
