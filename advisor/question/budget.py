"""Several attributes and several rounds: what one report may spend, who sends it, and what a user spends in all."""

from __future__ import annotations

from typing import NamedTuple

from advisor.question.solutions import Solution


class BudgetUse(NamedTuple):
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
    solutions
        All ways to collect several attributes at the same promise.
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
    solutions: tuple[Solution, ...] = ()
