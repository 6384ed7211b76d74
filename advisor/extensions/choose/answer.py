"""From a few plain answers to a budget, or to the advice not to collect.

Without a file everything is predicted; with one, what decides is simulated. One decision is behind all of it: a change
of the answers is suggested only if with it the same decision is to collect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from advisor.answers.budgets import Budgets, Priced
from advisor.answers.plan.result import Progress
from advisor.answers.rank.result import Recommendation
from advisor.answers.rank.verdict import ENOUGH
from advisor.extensions.choose.case import METRIC, NOTHING_ASKED, REACHED, Case
from advisor.extensions.choose.changes import Changes, changes_of
from advisor.extensions.choose.decision import Decision, predicted
from advisor.extensions.choose.question import Wishes, limit_of, rounded
from advisor.extensions.choose.simulation import simulated
from advisor.question.frequencies import Frequencies
from advisor.question.rules import USERS_LOW
from advisor.question.settings import Categories

EXAMPLES = (0.5, 1.0, 2.0, 4.0)
SIMULATED = 256  # possible answers of a file up to which simulations take seconds
SHOWN = 0.999  # so that an error that is shown as half of that without data is no more than half of it
OPEN = 0.01  # stands for an accuracy that is not yet known


@dataclass(frozen=True, eq=False)
class Choice:
    """What the answers lead to."""

    case: Case
    sensitive: str
    times: int
    decision: Decision
    budgets: Budgets  # what some budgets buy, among them that of the decision, or the limit; none if not covered
    changes: Changes  # what would be enough instead
    data_words: tuple[str, ...]  # words of a command line that name the data; none where a skew is assumed
    open_accuracy: bool  # whether the accuracy was left open: then it is what makes a collection worth it
    instant: bool  # whether predictions were asked for where a file could be simulated

    @property
    def reason(self) -> str:
        """Why to collect or not: `REACHED`, or another reason of `advisor.extensions.choose.case`."""
        return self.decision.reason

    @property
    def epsilon(self) -> float | None:
        """The budget to collect with; None where collecting is no good."""
        return self.decision.epsilon

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
        return self.case.without

    @property
    def priced(self) -> tuple[Priced, ...]:
        """What each budget buys."""
        return self.budgets.priced(METRIC) if self.budgets.epsilons else ()

    @property
    def there(self) -> Priced:
        """What the budget to collect with buys, or else the limit, or the nearest budget that is covered."""
        nearest = self.case.nearest
        at = nearest.limit if self.epsilon is None else self.epsilon
        return self.decision.at(at) or nearest.priced(at)

    @property
    def best(self) -> Recommendation:
        """The pair to use there, and its error."""
        return self.there.ranking.best


def choose(
    wishes: Wishes,
    frequencies: Frequencies | None = None,
    data_words: tuple[str, ...] = (),
    *,
    instant: bool = False,
    progress: Progress | None = None,
) -> Choice:
    """Return the budget that the answers lead to, or why there is none.

    frequencies, data_words: of published or pilot data, and the words of a command line that name them.
    instant: predict for such data too instead of simulating. An accuracy that is left open is what makes a collection
    worth it.
    """
    people, answers, times = wishes.people or 1, wishes.answers or 2, wishes.times or 1
    sensitive, within = wishes.sensitive or "high", wishes.within
    share = OPEN if within is None else float(f"{within / 100:.12g}")  # 2.2 points are 0.022
    case = Case(people, Categories(k=answers, ordered=wishes.ordered), share, limit_of(sensitive, times), frequencies)
    if within is None and case.without > 0:
        case = replace(case, within=rounded(SHOWN * ENOUGH * case.without, up=False))
    decision = _decision(case, instant=instant, progress=progress)
    refused = decision.reason not in (REACHED, NOTHING_ASKED)
    changes = Changes()
    if refused:
        at_limit = decision.at(case.limit) or case.nearest.at_limit
        changes = changes_of(case, sensitive, times, people=decision.people, budget=decision.budget, at_limit=at_limit)
    return Choice(
        case, sensitive, times, decision, _prices(case, decision), changes, data_words,
        open_accuracy=within is None, instant=instant,
    )  # fmt: skip


def _decision(case: Case, *, instant: bool, progress: Progress | None) -> Decision:
    if case.frequencies is None or instant or case.answers > SIMULATED or case.people < USERS_LOW:
        return predicted(case)

    return simulated(case, case.frequencies, _silence if progress is None else progress)


def _silence(words: str) -> None:
    """Show nothing of what is being done."""


def _prices(case: Case, decision: Decision) -> Budgets:
    """Return what some budgets buy: simulated where that was done, else predicted."""
    if decision.reason == NOTHING_ASKED or (case.gaps and not decision.simulated):
        return Budgets((), ())
    own = {case.limit} if decision.epsilon is None else {case.limit, decision.epsilon}
    # Beside figures that are simulated, predicted ones would seem to be of their kind.
    others = () if case.gaps or decision.simulated else (one for one in EXAMPLES if one < case.limit)
    epsilons = tuple(sorted(own.union(others)))
    known = dict(decision.simulated)
    return Budgets(epsilons, tuple(known.get(one) or case.answer(one) for one in epsilons))
