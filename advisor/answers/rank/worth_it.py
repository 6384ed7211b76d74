"""What would make a collection worth it: how many users, or which ε, by the first answer of a plan."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from advisor.answers.plan.prediction import first_answers
from advisor.answers.plan.result import PlanRow
from advisor.answers.rank.prediction import frequencies_of
from advisor.answers.rank.verdict import ENOUGH
from advisor.question.central import CentralPromise
from advisor.question.frequencies import Frequencies
from advisor.question.metric_settings import MetricSettings
from advisor.question.option import Settings
from advisor.question.plan import PlanQuestion
from advisor.question.request import Request
from advisor.question.settings import Categories, Goal, Limits, Simulation, Terms
from simulator import METRICS
from simulator.protocols import EPSILON_MIN
from simulator.ranking import SQUARED

# An error without data below it (squared: its square) is 0 but for the rounding of users, or one that the truth has by
# chance, as a mean in the middle of its domain.
LUCK = 1e-8


@dataclass(frozen=True)
class WorthIt:
    """What would be worth it, all else being equal."""

    target: float  # half of the error without data, in the metric's unit
    # n, epsilon: users at the same ε, or ε with the same users, that are predicted to reach it; None if none does
    n: int | None
    epsilon: float | None
    predicted: bool  # whether predictions cover the question, and agree that the target is not reached here
    command: str  # what settles the number of users by simulation; "" for an estimate, which no plan takes


def worth_it_with(request: Request, metric: str, error: float, without: float) -> WorthIt | None:
    """Return what would be worth it; None if the error is low enough and only uncertain.

    error, without: the error of an answer, and that without data.

    None also where users have several attributes: a plan is about one; and under a threat: what fake users add does not
    fall with the number of users. None for places: a plan knows no distances.
    """
    target = float(f"{ENOUGH * without:.3g}")
    if (
        without < LUCK ** (2 if METRICS[metric].unit == SQUARED else 1)
        or error <= target
        or request.plan is not None
        or request.threat is not None
    ):
        return None
    if request.ground is not None:
        return None
    if request.metric_values.may_be_infinite(metric):  # no plan reaches what is infinite with some probability
        return None
    users, users_predicted = _needed(request, metric, error, target, n=True)
    # With a shuffler it is the central budget that a plan is given.
    epsilon, epsilon_predicted = (None, True) if request.central else _needed(request, metric, error, target, n=False)
    return WorthIt(
        target,
        None if users is None or users.value is None else round(users.value),
        None if epsilon is None else epsilon.value,
        users_predicted and epsilon_predicted,
        "" if request.collected is not None else _command(request, metric, target),
    )


def first_need(request: Request, metric: str, error: float, target: float, *, n: bool) -> PlanRow | None:
    """Return what the choice of a plan is predicted to need for a target: users if `n`, else ε.

    error: that of the answer to the request.

    None if no value is predicted to reach the target, or if predictions do not cover the case.
    """
    return _needed(request, metric, error, target, n=n, interval=True)[0]


def _needed(
    request: Request, metric: str, error: float, target: float, *, n: bool, interval: bool = False
) -> tuple[PlanRow | None, bool]:
    """Return `first_need`, and whether predictions cover the question and do not contradict the answer.

    They do where the data leave more open than a prediction takes into account. Errors fall with the square root of n
    (with n, where a shuffler lets the budget of a report grow), and not faster than 1 / ε while ε is small: what takes
    no more than a root of that is a contradiction.
    """
    central = request.central
    if central is not None and central.epsilon < EPSILON_MIN:
        return None, False
    frequencies = Frequencies(request.counts, request.labels, request.ordered, request.sample, None, (), ())
    question = PlanQuestion(
        frequencies=frequencies,
        metric=metric,
        target=target,
        epsilon=request.epsilon if n and central is None else None,
        n=None if n else request.n,
        protocols=request.protocols,
        methods=request.methods,
        metric_values=request.metric_values,
        simulation=Simulation(seed=request.seed),
        shuffled=central,
    )
    assumed = None if request.skew is None else frequencies_of(request)
    here, short = request.n if n else request.epsilon, max(error / target, 1.0)
    contradiction = here * short ** (1.0 if n and central is None else 0.5)
    prediction = first_answers(question, assumed, least=None if interval else contradiction)
    row = next((row for row in prediction.rows if row.pair == prediction.choice), None)
    if row is None or row.value is None:
        return None, bool(prediction.rows)
    return (None, False) if row.value <= contradiction else (row, True)


def _command(request: Request, metric: str, target: float) -> str:
    central, value = request.central, request.metric_values.of(metric)
    usual = value == MetricSettings().resolved(request.k).of(metric)
    setting = "" if usual else f":{value}" if isinstance(value, str) else f":{value:.12g}"
    measured = () if metric == "l1" else (f"{metric}{setting}",)
    groups: list[Settings] = [Goal(target=target), Terms(epsilon=request.epsilon, metric=measured)]
    if central is not None:
        promise = CentralPromise(central_epsilon=central.epsilon, delta=central.delta)
        groups[1:] = [promise, Terms(metric=measured)]
    # Of the constraints a plan knows this one.
    groups.append(Limits(deployable=any(removal.constraint == "deployable" for removal in request.removals)))
    data = request.data_words or Categories(k=request.k, ordered=request.ordered or None).typed()
    return shlex.join(["ldp-advise", "plan", *(word for group in groups for word in group.typed()), *data])
