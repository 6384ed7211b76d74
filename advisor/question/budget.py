"""Several attributes and several rounds: what one report may spend, who sends it, and what a user spends in all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from advisor.errors import InputError, listed, near_miss
from simulator import PROTOCOLS
from simulator.protocols import EPSILON_MIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOLUTIONS = ("smp", "spl")
ATTRIBUTES_MAX, ROUNDS_MAX = 10_000, 1_000_000


class Plan(NamedTuple):
    """How a user's budget is used.

    Attributes
    ----------
    attributes, rounds
        Of a user; and collections of the same attributes, with fresh noise in each.
    solution
        ``"smp"``: a user reports one attribute, drawn at random, with the whole budget of a round; ``"spl"``: all of
        them, the budget split evenly; None for one attribute.
    epsilon_round, epsilon_report, epsilon_total
        Budgets of a user in one round, of one report, and in all rounds (sequential composition).
    users, reports
        Users, and reports of one attribute in one round.
    advantage
        Root mean squared error of the other solution over that of this one, for the best protocol of each; None for
        one attribute.
    """

    attributes: int
    rounds: int
    solution: str | None
    epsilon_round: float
    epsilon_report: float
    epsilon_total: float
    users: int
    reports: int
    advantage: float | None


def make_plan(settings: dict[str, Any], frequencies: NDArray[np.float64], n: int) -> Plan | None:
    """Return how the budget is used, or None where there is one attribute and one round.

    Which solution is better is told from the mean squared error of the raw estimates: variance, and for sampling what
    it costs to see the attribute of n/d users alone, ``f (1 - f) (d - 1) / n``.

    Parameters
    ----------
    settings
        As checked by `advisor.question.request.check_settings`.
    frequencies
        ``(k,)`` frequencies of the attribute that is asked about.
    n
        Users.

    Raises
    ------
    InputError
        If a report is left without a budget, or an attribute without users.
    """
    d, rounds, epsilon = settings["attributes"] or 1, settings["rounds"] or 1, settings["epsilon"]
    if d == 1:
        if settings["solution"] is not None:
            raise InputError("solution goes with attributes, at least 2 of them")
        if rounds == 1:
            return None
        return Plan(1, rounds, None, epsilon, epsilon, rounds * epsilon, n, n, None)
    if n < d:
        raise InputError(f"attributes must be at most the number of users, n = {n:,}, got {d:,}")
    if epsilon / d < EPSILON_MIN:
        raise InputError(f"attributes: eps {epsilon:g} split by {d:,} is below {EPSILON_MIN:g}")
    protocols = settings["protocols"]
    squares = {
        "smp": _error(protocols, epsilon, n // d, frequencies)
        + float((frequencies * (1 - frequencies)).mean()) * (d - 1) / n,
        "spl": _error(protocols, epsilon / d, n, frequencies),
    }
    chosen = settings["solution"] or min(SOLUTIONS, key=squares.__getitem__)
    other = "spl" if chosen == "smp" else "smp"
    return Plan(
        attributes=d,
        rounds=rounds,
        solution=chosen,
        epsilon_round=epsilon,
        epsilon_report=epsilon if chosen == "smp" else epsilon / d,
        epsilon_total=rounds * epsilon,
        users=n,
        reports=n // d if chosen == "smp" else n,
        advantage=(squares[other] / squares[chosen]) ** 0.5,
    )


def _error(protocols: Iterable[str], epsilon: float, n: int, frequencies: NDArray[np.float64]) -> float:
    k = len(frequencies)
    return min(float(PROTOCOLS[name](k, epsilon).variance(frequencies, n).mean()) for name in protocols)


def check_solution(name: str | None) -> str | None:
    """Return the name of a solution.

    Raises
    ------
    InputError
        If it is none.
    """
    if name is None:
        return None
    if name.lower() not in SOLUTIONS:
        raise InputError(f"solution must be one of {listed(SOLUTIONS)}, got {name!r}{near_miss(name, SOLUTIONS)}")
    return name.lower()


def plan_sentences(plan: Plan) -> list[str]:
    """Return which way the budget is used, and what a user spends in all."""
    lines = []
    if plan.solution is not None and plan.advantage is not None:
        better = (
            f"splitting the budget would have {plan.advantage:.2f}×"
            if plan.solution == "smp"
            else f"sampling one attribute would have {plan.advantage:.2f}×"
        )
        how = (
            f"each user reports one of them, drawn at random, at the whole ε = {plan.epsilon_round:g} (sampling, SMP): "
            f"{plan.reports:,} reports of each attribute"
            if plan.solution == "smp"
            else f"each user reports all of them, each at ε = {plan.epsilon_report:g} (splitting, SPL): "
            f"{plan.reports:,} reports of each attribute"
        )
        lines.append(f"{plan.attributes} attributes: {how}; {better} the root mean squared error of the raw estimate.")
        if plan.solution == "smp":
            lines.append(
                "The errors above are against the frequencies among those who report the attribute; that they are a "
                "sample of all users comes on top."
            )
    lines.append(
        f"Budget: a user spends ε = {plan.epsilon_round:g} in a round"
        + (
            f", and {plan.rounds:,} × {plan.epsilon_round:g} = {plan.epsilon_total:g} in all {plan.rounds:,} rounds "
            "(fresh noise each time, sequential composition)."
            if plan.rounds > 1
            else ", and no more in all."
        )
    )
    return lines
