"""Several attributes and several rounds: what one report may spend, who sends it, and what a user spends in all."""

from __future__ import annotations

from typing import NamedTuple

from advisor.question.solutions import Solution


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


def total_text(plan: Plan | None, *, each: bool = False) -> str:
    """Return what a user spends in all rounds, as a sentence behind others; nothing for one round.

    each: whether it is said of several budgets.
    """
    if plan is None or plan.rounds == 1:
        return ""
    if each:
        return f" Each user spends {plan.rounds:,} times as much in all {plan.rounds:,} rounds."
    return f" Each user spends ε = {plan.epsilon_total:g} in all {plan.rounds:,} rounds."


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
            "(fresh noise each time, sequential composition; ldp-advise rounds --eps-forever compares with devices "
            "that remember)."
            if plan.rounds > 1
            else ", and no more in all."
        )
    )
    return lines
