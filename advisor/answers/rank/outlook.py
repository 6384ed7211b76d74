"""What to expect of an answer at other budgets and numbers of users: figures for a page whose reader turns dials."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from advisor.answers.rank.prediction import frequencies_of, stays
from advisor.answers.rank.result import Ranking
from advisor.answers.rank.verdict import reasons_of
from advisor.question.request import Request
from knowledge import predict, ranking
from knowledge.menu import EPSILON, USERS
from simulator import Protocol
from simulator.detection import detectable

EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
STOPS = 9  # number of budgets: the budget of the question and its neighbours
FACTORS = (0.01, 0.1, 1 / 3, 1.0, 3.0, 10.0, 100.0)  # of the number of users
LARGE_DOMAIN = 4096  # above it a prediction takes so long that there are half as many stops and users

Stops: TypeAlias = tuple[tuple[float, ...], ...]  # values of ε, and of n


@dataclass(frozen=True)
class Expectation:
    """What is expected at one budget and number of users."""

    epsilon: float
    n: int
    # protocol, method: the pair to use there
    protocol: str
    method: str
    # error, low, high, raw: of the metric, and of the raw estimate of the same protocol
    error: float
    low: float
    high: float
    raw: float | None
    per_category: float | None
    ranges: bool  # whether low and high are the range of a prediction

    def times(self, factor: float) -> Expectation:
        """Return the point with all errors multiplied."""
        return replace(
            self,
            error=self.error * factor,
            low=self.low * factor,
            high=self.high * factor,
            raw=None if self.raw is None else self.raw * factor,
            per_category=None if self.per_category is None else self.per_category * factor,
        )

    def smallest(self, protocol: Protocol) -> float | None:
        """Return the smallest frequency that the protocol detects in any of its categories; None if there is none."""
        least = detectable(protocol, self.n)
        return None if least is None or least > 1 else least

    def reasons(self, without_data: float) -> tuple[str, ...]:
        """Return why collecting there is no better than it is: see `advisor.answers.rank.verdict`."""
        return reasons_of(self.error, without_data, below=self.high < without_data)


@dataclass(frozen=True)
class Outlook:
    """What is expected at other budgets and numbers of users."""

    ranking: Ranking
    points: tuple[tuple[Expectation, ...], ...]  # by budget, then by users; at least the point of the question
    at: tuple[int, int]  # indices of the question among them
    factor: float  # simulated over predicted error of the question, by which the predictions are multiplied
    covered: bool  # whether the model behind predictions covers the question


def outlook(ranking: Ranking, stops: Stops | None = None) -> Outlook | None:
    """Return the figures of an answer, and where its question can be predicted, those of others.

    None without any pair, and under a threat: predictions know no fake users.

    stops: the values of ε and of n, which hold those of the question; by default, those around it.
    """
    request = ranking.request
    if not ranking.recommendations or request.threat is not None:
        return None
    best = ranking.best
    here = Expectation(
        request.budget(best.protocol),
        request.n,
        best.protocol,
        best.method,
        best.error,
        best.error_low,
        best.error_high,
        best.error_without_postprocessing,
        best.mean_absolute_error,
        ranking.over_populations,
    )
    budgets, users = stops or _stops(request)
    points = _predicted(ranking, budgets, users)
    if points is None or request.metric_values.may_be_infinite(ranking.metric):
        return Outlook(ranking, ((here,),), (0, 0), 1.0, covered=False)
    first, second = at = budgets.index(request.epsilon), users.index(request.n)
    predicted = points[first][second].error
    factor = here.error / predicted if predicted > 0 else 1.0
    points = [[point.times(factor) for point in row] for row in points]
    points[first][second] = here
    return Outlook(ranking, tuple(map(tuple, points)), at, factor, covered=True)


def _predicted(advice: Ranking, budgets: tuple[float, ...], users: tuple[float, ...]) -> list[list[Expectation]] | None:
    """Return the predictions of the model, by budget and number of users; None if it does not cover the question.

    A question about what was collected has no other budget, and a pair of other packages no prediction; with a shuffler
    each protocol has a budget of its own, which depends on the number of users.
    """
    request, choose = advice.request, stays(advice.best.pair)
    if request.collected is not None or request.central is not None:
        return None

    def point(epsilon: float, n: int) -> Expectation:
        prediction = predict.predicted(frequencies, epsilon, n, request.protocols, ordered=request.ordered)
        answer = ranking.rank(prediction, advice.metric, request.methods)
        is_question = (epsilon, n) == (request.epsilon, request.n)
        pair = advice.best.pair if is_question else choose(answer)
        row = next(row for row in answer.rows if row.pair == pair)
        return Expectation(
            epsilon, n, *pair, row.error, row.low, row.high, row.raw_error, row.per_category, ranges=True
        )

    try:
        frequencies = frequencies_of(request)
        return [[point(epsilon, int(n)) for n in users] for epsilon in budgets]
    except (ValueError, StopIteration):
        return None


def _stops(request: Request) -> Stops:
    large = request.k > LARGE_DOMAIN
    stops, factors = (STOPS // 2, FACTORS[1::2]) if large else (STOPS, FACTORS)
    return _budgets(request.epsilon, stops), _users(request.n, factors)


def _budgets(budget: float, stops: int) -> tuple[float, ...]:
    near = sorted(
        {*EPSILONS} - {budget},
        key=lambda epsilon: abs(epsilon / budget - 1) if epsilon > budget else abs(budget / epsilon - 1),
    )
    covered = [epsilon for epsilon in near if EPSILON[0] <= epsilon <= EPSILON[1]]
    return tuple(sorted([budget, *covered[: stops - 1]]))


def _users(users: int, factors: tuple[float, ...]) -> tuple[float, ...]:
    others = (int(float(f"{users * factor:.2g}")) for factor in factors if factor != 1)
    return tuple(sorted({users, *(n for n in others if USERS[0] <= n <= USERS[1])}))
