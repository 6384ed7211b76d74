"""From a few plain answers to a budget, or to the advice not to collect.

Without a file everything is predicted; with one, what decides is simulated. One decision is behind all of it: a change
of the answers is suggested only if with it the same decision is to collect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from advisor.answers.budgets import Priced
from advisor.answers.plan.answer import make_plan
from advisor.answers.plan.result import PlanRow
from advisor.answers.rank.result import Ranking, Recommendation
from advisor.answers.rank.simulate import simulated_answer
from advisor.answers.rank.verdict import ENOUGH, WORTH_IT
from advisor.extensions.choose.case import (
    LEAST,
    METRIC,
    Alternatives,
    Case,
    Need,
    Reason,
    Wishes,
    changes_of,
    limit_of,
    reason_of,
    rounded,
)
from advisor.question.frequencies import Frequencies
from advisor.question.plan import plan_question
from advisor.question.question import Question
from advisor.question.ranking import ranking_request
from advisor.question.rules import USERS_LOW
from advisor.question.settings import Categories, Goal, Terms
from simulator.progress import Progress, part, silent

EXAMPLES = (0.5, 1.0, 2.0, 4.0)
SIMULATED = 256  # possible answers of a file up to which simulations take seconds
SHOWN = 0.999  # so that an error that is shown as half of that without data is no more than half of it
OPEN = 0.01  # placeholder for an accuracy that is not yet known
STEPS = 5  # simulations at most: the limit, a plan, two budgets, and a plan at the limit
STEP = 1.03  # by which a budget is raised that a plan calls enough and whose own simulation is just above the accuracy


@dataclass(frozen=True, eq=False)
class Choice:
    """What the answers lead to."""

    case: Case
    reason: Reason
    epsilon: float | None = None  # the budget to collect with; None if collecting is not advised
    simulations: Mapping[float, Ranking] = field(default_factory=dict)  # what some budgets buy, where not predicted
    changes: Alternatives = Alternatives()  # what would be enough instead
    prices: tuple[Priced, ...] = ()  # what some budgets buy, `epsilon` or the limit among them; none if not covered
    data_words: tuple[str, ...] = ()  # words of a command line that name the data; empty for an assumed skew
    open_accuracy: bool = False  # whether the accuracy was left open: then it is what makes a collection worth it
    instant: bool = False  # whether predictions were asked for where a file could be simulated

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


def choose(
    wishes: Wishes,
    frequencies: Frequencies | None = None,
    data_words: tuple[str, ...] = (),
    *,
    instant: bool = False,
    progress: Progress = silent,
) -> Choice:
    """Return the budget that the answers lead to, or why there is none.

    frequencies, data_words: of published or pilot data, and the words of a command line that name them.
    instant: predict for such data too instead of simulating. An accuracy that is left open is what makes a collection
    worth it.
    """
    sensitive, times, within = wishes.sensitive or "high", wishes.times or 1, wishes.within
    case = Case(
        people=wishes.people or 1,
        domain=Categories(k=wishes.answers or 2, ordered=wishes.ordered),
        within=OPEN if within is None else float(f"{within / 100:.12g}"),  # 2.2 points are 0.022
        sensitive=sensitive,
        times=times,
        limit=limit_of(sensitive, times),
        frequencies=frequencies,
    )
    if within is None and case.without > 0:
        case = replace(case, within=rounded(SHOWN * ENOUGH * case.without, up=False))
    if case.reason == Reason.NOTHING_ASKED:
        choice = Choice(case, Reason.NOTHING_ASKED)
    elif frequencies is None or instant or case.answers > SIMULATED or case.people < USERS_LOW:
        choice = _predicted(case)
    else:
        choice = _simulated(case, frequencies, progress)
        progress("decided", 1, 1)
    return replace(choice, prices=_prices(choice), data_words=data_words, open_accuracy=within is None, instant=instant)


def _predicted(case: Case) -> Choice:
    """Return the decision by predictions, which take no time."""
    if case.reason == Reason.REACHED:
        return Choice(case, case.reason, case.least_budget())
    return Choice(case, case.reason, changes=changes_of(case, case.people_needed(), case.nearest.at_limit))


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

    def next(self, name: str) -> Progress:
        """Return the progress of the next ranking or plan."""
        return part(self.progress, next(self.steps), STEPS, name)

    def least_budget(self) -> float | None:
        """Return the least budget that is enough; None if the limit is not enough."""
        case, needed = self.case, self.plan(n=self.case.people).value
        first = case.limit if needed is None else max(min(LEAST, case.limit), rounded(needed, up=True))
        below = [budget for budget in (first, rounded(STEP * first, up=True)) if budget < case.limit]
        return next((budget for budget in (*below, case.limit) if self.reason(budget) == Reason.REACHED), None)


def _simulated(case: Case, frequencies: Frequencies, progress: Progress) -> Choice:
    """Return the decision by simulations, with the figures that the suggested commands give too."""
    simulation, guess = _Simulation(case, frequencies, progress), case.at_limit
    # Where predictions leave no doubt, the limit itself need not be simulated.
    clear = not case.gaps and guess.verdict == WORTH_IT and guess.best.error_high <= case.within
    if clear or simulation.reason(case.limit) == Reason.REACHED:
        epsilon = simulation.least_budget()
        if epsilon is not None:
            rankings = simulation.rankings
            simulated = {budget: rankings[budget] for budget in (epsilon, case.limit) if budget in rankings}
            return Choice(case, Reason.REACHED, epsilon, simulated)
    at_limit, people = simulation.at(case.limit), None
    reason = simulation.reason(case.limit)
    if reason != Reason.JUST_ENOUGH:
        row = simulation.plan(epsilon=case.limit)
        if row.value is not None and row.value > case.people:
            people = Need(row.value, row.low or row.value, row.high or row.value, simulated=True)
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
