"""From a few plain answers to a budget, or to the advice not to collect."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from itertools import count, takewhile
from typing import Any, ClassVar

from advisor.answers.budgets import Priced
from advisor.answers.plan.answer import make_plan
from advisor.answers.plan.result import PlanRow
from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Ranking, Recommendation
from advisor.answers.rank.simulate import simulated_answer
from advisor.answers.rank.verdict import ENOUGH, MORE_THAN_HALF, USELESS
from advisor.answers.rank.worth_it import first_need
from advisor.checks import choice, real, whole
from advisor.figures import rounded
from advisor.question.frequencies import Frequencies, assumed_frequencies
from advisor.question.option import Settings, like, option
from advisor.question.plan import plan_question
from advisor.question.question import Question
from advisor.question.ranking import ranking_request
from advisor.question.rules import USERS_LOW
from advisor.question.settings import ROUNDS_MAX, Categories, Goal, Instant, Terms
from knowledge.menu import EPSILON, USERS
from knowledge.ranking import range_warnings
from simulator.progress import Progress, part, silent

LIMITS = {"low": 4.0, "medium": 2.0, "high": 1.0}
"""Largest total budget of a person's reports, by sensitivity of the answers.

No law fixes a budget. At ε = 1 the best guess between two answers is right in at most 73 % of cases, at 2 in 88 %, at
4 in 98 %. Apple's emoji statistics spend 4 per event.
"""

EXAMPLES = (0.5, 1.0, 2.0, 4.0)
SIMULATED = 256  # possible answers of a file up to which simulations take seconds
SHOWN = 0.999  # so that an error that is shown as half of that without data is no more than half of it
OPEN = 0.01  # placeholder for an accuracy that is not yet known
STEPS = 8  # simulations at most: the limit, a plan, budgets; or the limit, two plans, and numbers of people
TRIES = 3  # simulations of a number of people, or of a raised budget, that is to be enough
STEP = 1.03  # by which a budget is raised, at least, that a plan calls enough and whose own simulation does not
METRIC = "mae"  # error of the share of an answer, averaged over the answers
LEAST = 0.1  # smaller budgets are not advised: more privacy would cost the same effort
NINE_IN_TEN = 1.2816 / 1.96  # part of the upper half of a 95 % interval, on a log scale, that bounds nine cases of ten
GROWTH = 4.0  # factor by which an insufficient figure is raised


def points(name: str, value: object) -> float:
    """Return percentage points, given with or without "%"; raise InputError if they are not between 0 and 100."""
    text = value.strip().rstrip("%").strip() if isinstance(value, str) else value
    return real(above=0, below=100)(name, text)


def level(name: str, value: object) -> str:
    """Return the sensitivity level of answers, given by its first letters; raise InputError for an unknown level."""
    text = str(value).strip().lower()
    full = next((word for word in LIMITS if text and word.startswith(text)), text)
    return choice(LIMITS)(name, full)


@dataclass(frozen=True, kw_only=True)
class Wishes(Settings):
    """Requirements of a collection in terms that need no knowledge of ε."""

    panel: ClassVar[str] = "The questions"

    people: int | None = like(Terms, "n", help="how many people will answer")
    answers: int | None = like(Categories, "k", help="how many possible answers the question has")
    within: float | None = option(
        "--within", read=points, metavar="POINTS", help="how far off a share may be, in percentage points on average"
    )
    sensitive: str | None = option("--sensitive", read=level, metavar="LEVEL", help="low, medium or high")
    times: int | None = option(
        "--times", read=whole(1, ROUNDS_MAX), metavar="N", help="how often the same people are asked; 1: once"
    )
    ordered: bool | None = like(Categories, "ordered", help="the answers have an order, as age bands have")

    @property
    def domain(self) -> Categories:
        """The answers as categories."""
        return Categories(k=self.answers, ordered=self.ordered)

    def asked_of(self, question: Question) -> Question:
        """Return a question about data, with the answers as its categories and the people as its users."""
        return replace(question, domain=self.domain, terms=replace(question.terms, n=self.people))


def limit_of(sensitive: str, times: int) -> float:
    """Return the largest budget of one report, two digits."""
    return two_digits(LIMITS[sensitive] / times, up=False)


def two_digits(value: float, *, up: bool) -> float:
    """Return a value with two digits, rounded up or down.

    >>> two_digits(2.341, up=True), two_digits(0.66666, up=False), two_digits(4.0, up=True)
    (2.4, 0.66, 4.0)
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    steps = round(value / step, 6)
    return float(f"{(math.ceil(steps) if up else math.floor(steps)) * step:.2g}")


class Reason(StrEnum):
    """Reason to collect (the first) or not to collect (the others)."""

    REACHED = "reached"
    NOTHING_ASKED = "nothing_asked"
    JUST_ENOUGH = "just_enough"
    JUST_SHORT = "just_short"
    OUT_OF_REACH = "out_of_reach"
    UNSURE = "unsure"
    NOT_COVERED = "not_covered"


@dataclass(frozen=True)
class Need:
    """A figure that is approximately enough, with its 95 % interval."""

    value: float
    low: float
    high: float
    simulated: bool = False  # whether it was settled by simulation, as `ldp-advise plan` does it


@dataclass(frozen=True)
class Alternatives:
    """Alternative figures for each answer, each of which leads to a collection; None without such a figure."""

    people: Need | None = None
    within: Need | None = None
    answers: int | None = None  # this number of answers works, and all smaller numbers that were tried
    times: int | None = None
    # The budget of one report that reaches the accuracy: above the limit, and so no advice
    epsilon: Need | None = None


def sure(row: Recommendation) -> float:
    """Return an upper bound of a pair's error: predicted, for nine of ten cases; simulated, the end of its interval."""
    if row.origin is None or not row.error:
        return row.error_high
    return float(row.error * (row.error_high / row.error) ** NINE_IN_TEN)


def reason_of(ranking: Ranking, within: float) -> Reason:
    """Return whether the best pair of a ranking is accurate enough: `REACHED`, or why it is not."""
    best, useless = ranking.best, ranking.verdict == USELESS
    if rounded(best.error, 3) > within:
        return Reason.JUST_SHORT if rounded(best.error_low, 3) <= within and not useless else Reason.OUT_OF_REACH
    if useless:
        return Reason.UNSURE
    return Reason.REACHED if rounded(sure(best), 3) <= within else Reason.JUST_ENOUGH


@dataclass(frozen=True, eq=False)
class Case:
    """Basis of the decision: people, question, target accuracy, and largest budget of one report."""

    people: int
    domain: Categories
    within: float  # largest accepted error of a share, as a share
    sensitive: str
    times: int  # number of times the same people are asked
    limit: float  # total budget of all their reports, divided by `times`
    frequencies: Frequencies | None = None  # from published or pilot data; None: a skew is assumed

    @property
    def answers(self) -> int:
        """Number of possible answers."""
        return self.at_limit.request.k

    @property
    def without(self) -> float:
        """The error of the better of two guesses without data."""
        return self.at_limit.error_without_data or 0.0

    @property
    def worthwhile(self) -> float:
        """The accuracy that makes a collection worth it."""
        return two_digits(ENOUGH * self.without, up=False)

    @property
    def at_limit(self) -> Ranking:
        """The predicted ranking at the limit."""
        return self.predicted(self.limit)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Parts of the case that predictions do not cover."""
        warnings = range_warnings(self.answers, self.limit, self.people)
        return tuple(str(warning).rpartition(":")[0].removeprefix("predictions cover ") for warning in warnings)

    @property
    def nearest(self) -> Case:
        """The nearest case that predictions cover, if this case has too few people or too small a budget for them.

        More people or a larger budget only lower the error: a target out of reach there is out of reach here.
        """
        return replace(self, people=max(self.people, USERS[0]), limit=max(self.limit, EPSILON[0]))

    @property
    def reason(self) -> Reason:
        """Reason of the predictions to collect at the limit (`REACHED`) or not."""
        if self.within >= self.without > 0:
            return Reason.NOTHING_ASKED
        if not self.gaps:
            return reason_of(self.at_limit, self.within)
        nearest = self.nearest
        certain = not nearest.gaps and rounded(nearest.at_limit.best.error_low, 3) > self.within
        return Reason.OUT_OF_REACH if certain else Reason.NOT_COVERED

    def collects(self, **changes: Any) -> bool:
        """Return whether predictions say to collect after the changes."""
        return replace(self, **changes).reason == Reason.REACHED

    def predicted(self, epsilon: float) -> Ranking:
        """Return the predicted ranking at a budget."""
        return _predicted(epsilon, self.people, self.domain, self.frequencies)

    def least_budget(self) -> float:
        """Return the approximate least budget, two digits, that is predicted to be enough, if the limit is enough."""
        least = min(LEAST, self.limit)
        if self.collects(limit=least):
            return least
        return _between(lambda epsilon: self.collects(limit=epsilon), least, self.limit)

    def needed(self, *, n: bool) -> Need | None:
        """Return the number of people, or the ε, predicted to be enough, by the first answer of a plan."""
        nearest = self.nearest
        if nearest.limit != self.limit if n else nearest.people != self.people:
            return None
        limit = nearest.at_limit
        row = first_need(limit.request, limit.metric, limit.best.error, self.within, n=n)
        if n:
            return _need(row, lambda people: self.collects(people=int(people)), float(nearest.people), USERS[1])
        need = _need(row, lambda epsilon: self.collects(limit=epsilon), nearest.limit, EPSILON[1])
        # The least budget that is predicted is not the least that is enough.
        return None if need is not None and self.limit < need.value == nearest.limit else need


@lru_cache(maxsize=8)  # a decision uses the same ranking several times
def _predicted(epsilon: float, people: int, domain: Categories, frequencies: Frequencies | None) -> Ranking:
    terms = Terms(epsilon=epsilon, n=people, metric=(METRIC,))
    question = Question(terms=terms, domain=domain, instant=Instant(instant=True))
    if frequencies is None:
        frequencies = assumed_frequencies(question, question.terms.metrics, simulated=False)
    return look_up(ranking_request(question, frequencies))[0]


def changes_of(case: Case, people: Need | None, at_limit: Ranking) -> Alternatives:
    """Return the smallest change of each answer that makes the decision to collect.

    people: number of users that the accuracy requires. at_limit: the ranking at the limit.
    """
    often = min(case.times - 1, int(LIMITS[case.sensitive] / EPSILON[0]))  # smaller budgets are not covered
    less_often = next(
        (times for times in _falling(often) if case.collects(limit=limit_of(case.sensitive, times))), None
    )
    return Alternatives(
        people=people,
        within=_coarser(case, at_limit),
        answers=None if case.frequencies is not None else _fewer(case),
        times=less_often,
        epsilon=case.needed(n=False),
    )


def _need(row: PlanRow | None, works: Callable[[float], bool], least: float, most: float) -> Need | None:
    """Return the need of a plan, two digits, raised until the decision is to collect."""
    first = least if row is None or row.value is None else min(most, max(least, two_digits(row.value, up=True)))
    value = _least(works, first, most)
    if value is None:
        return None
    low, high = (value, value) if row is None or row.low is None or row.high is None else (row.low, row.high)
    high = min(high, most)
    return Need(value, min(value, two_digits(low, up=False)), max(value, two_digits(high, up=True)))


def _coarser(case: Case, at_limit: Ranking) -> Need | None:
    """Return the accuracy reached at the limit, if it makes a collection worth it."""
    simulated = at_limit.repetitions > 0
    if at_limit.verdict == USELESS or MORE_THAN_HALF in at_limit.reasons or (case.gaps and not simulated):
        return None
    best = at_limit.best
    value = two_digits(rounded(sure(best), 3), up=True)
    if not case.within < value < case.without:
        return None
    return Need(value, best.error_low, best.error_high, simulated)


def _fewer(case: Case) -> int | None:
    """Return the maximum of answers for which the decision is to collect, also for all smaller numbers tried.

    The need does not fall steadily with the number of answers. A number that is enough by chance, above numbers that
    are not enough, is not advised.
    """
    tried = [k for k in _falling(case.answers - 1) if k >= 2]
    enough = list(takewhile(lambda k: case.collects(domain=replace(case.domain, k=k)), reversed(tried)))
    return enough[-1] if enough else None


def _falling(value: int) -> Iterator[int]:
    """Yield whole numbers down to 1, each a tenth lower: the finest step of the advice."""
    while value >= 1:
        yield value
        value -= max(1, value // 10)


def _least(works: Callable[[float], bool], start: float, most: float) -> float | None:
    """Return the approximate least value >= `start` that works, two digits; None if no value up to `most` works."""
    low = high = start
    while not works(high):
        if high >= most:
            return None
        low, high = high, min(float(most), two_digits(high * GROWTH, up=True))
    return _between(works, low, high) if low < high else high


def _between(works: Callable[[float], bool], low: float, high: float) -> float:
    """Return the approximate least value above `low` that works, two digits; `high` works."""
    # Rounded up alone, a middle just below a power of ten would pass over the values below it.
    for up in (True, False):
        if low < (middle := two_digits(math.sqrt(low * high), up=up)) < high:
            return _between(works, *((low, middle) if works(middle) else (middle, high)))
    return high


@dataclass(frozen=True, eq=False)
class Choice:
    """What the answers lead to."""

    case: Case
    reason: Reason
    epsilon: float | None = None  # the budget to collect with; None if collecting is not advised
    simulations: Mapping[float, Ranking] = field(default_factory=dict)  # what some budgets buy, where not predicted
    changes: Alternatives = Alternatives()  # what would be enough instead
    prices: tuple[Priced, ...] = ()  # what some budgets buy, `epsilon` or the limit among them; none if not covered
    question: Question = Question()  # the data, and whether they are to be simulated
    open_accuracy: bool = False  # whether the accuracy was left open: then it is what makes a collection worth it

    @property
    def there(self) -> Ranking:
        """What the budget to collect with buys, or else the limit, or the nearest budget that is covered."""
        nearest = self.case.nearest
        at = nearest.limit if self.epsilon is None else self.epsilon
        return self.simulations.get(at) or nearest.predicted(at)

    @property
    def best(self) -> Recommendation:
        """The pair to use there, and its error."""
        return self.there.best

    @property
    def data_words(self) -> tuple[str, ...]:
        """Words of a command line that name the data."""
        return self.question.data_words or ("--sample", "DATA")  # which is in memory


def make_choice(
    wishes: Wishes,
    frequencies: Frequencies | None = None,
    question: Question | None = None,
    progress: Progress = silent,
) -> Choice:
    """Return the budget that the answers lead to, or why there is none.

    frequencies, question: of published or pilot data, and where they are from. An accuracy that is left open is what
    makes a collection worth it.
    """
    question = replace(question or Question(), domain=wishes.domain)
    sensitive, times, within = wishes.sensitive or "high", wishes.times or 1, wishes.within
    case = Case(
        people=wishes.people or 1,
        domain=wishes.domain,
        within=OPEN if within is None else float(f"{within / 100:.12g}"),  # 2.2 points are 0.022
        sensitive=sensitive,
        times=times,
        limit=limit_of(sensitive, times),
        frequencies=frequencies,
    )
    if within is None and case.without > 0:
        case = replace(case, within=two_digits(SHOWN * ENOUGH * case.without, up=False))
    if case.reason == Reason.NOTHING_ASKED:
        choice = Choice(case, Reason.NOTHING_ASKED)
    elif frequencies is None or question.instant.instant or case.answers > SIMULATED or case.people < USERS_LOW:
        choice = _by_prediction(case)
    else:
        choice = _simulated(case, frequencies, progress)
        progress("decided", 1, 1)
    return replace(choice, prices=_prices(choice), question=question, open_accuracy=within is None)


def _by_prediction(case: Case) -> Choice:
    """Return the decision by predictions, which take no time."""
    if case.reason == Reason.REACHED:
        return Choice(case, case.reason, case.least_budget())
    if case.reason == Reason.NOT_COVERED:  # what is enough where predictions begin is no edge of what is enough
        return Choice(case, case.reason)
    return Choice(case, case.reason, changes=changes_of(case, case.needed(n=True), case.nearest.at_limit))


@dataclass(frozen=True, eq=False)
class _Simulation:
    """What the commands that are suggested answer for a case with data of earlier years."""

    case: Case
    frequencies: Frequencies
    progress: Progress
    rankings: dict[float, Ranking] = field(default_factory=dict)
    steps: count[int] = field(default_factory=count)  # numbers of the rankings and plans that are made

    def at(self, epsilon: float) -> Ranking:
        """Return what the main command answers at a budget."""
        if epsilon not in self.rankings:
            question = Question(terms=Terms(epsilon=epsilon, n=self.case.people, metric=(METRIC,)))
            progress = self.next(f"ε = {epsilon:g}")
            self.rankings[epsilon] = simulated_answer(
                ranking_request(question, self.frequencies), progress=progress
            ).first
        return self.rankings[epsilon]

    def reason(self, epsilon: float) -> Reason:
        """Return whether a budget is enough, or why it is not."""
        return reason_of(self.at(epsilon), self.case.within)

    def plan(self, *, epsilon: float | None = None, n: int | None = None) -> PlanRow:
        """Return the best row of ``ldp-advise plan`` for the accuracy, at a budget or a number of people."""
        terms = Terms(epsilon=epsilon, n=n, metric=(METRIC,))
        question = plan_question(Question(terms=terms, goal=Goal(target=self.case.within)), self.frequencies)
        return make_plan(question, progress=self.next("least " + question.sign)).best

    def enough_people(self, needed: float) -> int:
        """Return how many people are enough at the limit, given for how many the mean error just is.

        The whole interval of a simulation there has to be below the accuracy, and errors fall as n^-½ at most.
        """
        at_limit = self.at(self.case.limit).best
        people = math.ceil(needed * (sure(at_limit) / at_limit.error) ** 2)
        for _ in range(TRIES):
            there = replace(self, case=replace(self.case, people=people), rankings={})
            if there.reason(self.case.limit) == Reason.REACHED:
                break
            people = math.ceil(STEP**2 * people)
        return people

    def next(self, name: str) -> Progress:
        """Return the progress of the next ranking or plan."""
        return part(self.progress, next(self.steps), STEPS, name)

    def least_budget(self) -> float:
        """Return the least budget that is enough, if the limit is enough.

        A plan's budget, raised by what its whole interval is above the accuracy, each time twice as far on a log scale.
        """
        case, needed = self.case, self.plan(n=self.case.people).value
        budget = case.limit if needed is None else max(min(LEAST, case.limit), two_digits(needed, up=True))
        for place in range(1 + TRIES):
            if budget >= case.limit or self.reason(budget) == Reason.REACHED:
                return min(budget, case.limit)
            missing = max(1.0, sure(self.at(budget).best) / case.within)
            budget = two_digits(budget * (STEP * missing) ** 2**place, up=True)
        return case.limit


def _simulated(case: Case, frequencies: Frequencies, progress: Progress) -> Choice:
    """Return the decision by simulations, with the figures that the suggested commands give too."""
    simulation = _Simulation(case, frequencies, progress)
    at_limit, reason, people = simulation.at(case.limit), simulation.reason(case.limit), None
    if reason == Reason.REACHED:
        epsilon = simulation.least_budget()
        return Choice(case, reason, epsilon, {epsilon: simulation.at(epsilon), case.limit: at_limit})
    if reason != Reason.JUST_ENOUGH:
        row = simulation.plan(epsilon=case.limit)
        if row.value is not None and row.value > case.people:
            value = simulation.enough_people(row.high or row.value)
            people = Need(value, value, value, simulated=True)
    return Choice(case, reason, None, {case.limit: at_limit}, changes_of(case, people, at_limit))


def _prices(choice: Choice) -> tuple[Priced, ...]:
    """Return what some budgets buy: simulated where that was done, else predicted."""
    case, simulations = choice.case, choice.simulations
    if choice.reason == Reason.NOTHING_ASKED or (case.gaps and not simulations):
        return ()
    budgets = {case.limit, choice.epsilon or case.limit}
    # Beside figures that are simulated, predicted ones would seem to be of their kind.
    others = () if case.gaps or simulations else (budget for budget in EXAMPLES if budget < case.limit)
    return tuple(
        Priced(budget, simulations.get(budget) or case.predicted(budget)) for budget in sorted(budgets.union(others))
    )
