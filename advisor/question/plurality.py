"""Budget use for several attributes and rounds: which of two solutions has the lower error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.question.settings import PLAIN_SOLUTIONS, Plurality
from simulator import PROTOCOLS, FrequencyOracle, frequency_oracles
from simulator.attributes import PROMISES, SOLUTIONS, fake_support, hidden_variance, losses, report_budget
from simulator.protocols import EPSILON_MAX, EPSILON_MIN


class Solution(NamedTuple):
    """A solution for the collection, with the protocol whose raw estimates are the most exact."""

    promise: str  # ``"tuple"``: between any two users; ``"attribute"``: between users who differ in one attribute
    solution: str
    protocol: str
    fake: str | None  # how fakes are generated; None without fakes, or if fakes are values
    epsilon_report: float  # budget of one report
    # epsilon_tuple, epsilon_attribute: largest loss against any other user, and against a user who differs in one
    # attribute
    epsilon_tuple: float
    epsilon_attribute: float
    error: float  # root mean squared error of a raw estimate (frequency), against all users
    ratio: float  # error divided by the lowest error with the same promise


def ranked_solutions(
    attributes: int, epsilon: float, protocols: Iterable[str], frequencies: NDArray[np.float64], n: int
) -> tuple[Solution, ...]:
    """Return all solutions by rising error, for each promise.

    frequencies: ``(k,)`` of one attribute; the other attributes are assumed to have the same number of values. They
    are also the prior of realistic fakes.
    """
    k, menu = len(frequencies), tuple(protocols)
    rows: list[Solution] = []
    for promise in PROMISES:
        solutions = []
        for solution in SOLUTIONS:
            options = [
                (math.sqrt(square), name, fake, budget)
                for name in menu
                for fake in _fakes(solution, name)
                for budget in [report_budget(solution, k, epsilon, attributes, fake, promise)]
                if EPSILON_MIN <= budget <= EPSILON_MAX
                for square in _square(solution, name, fake, budget, attributes, frequencies, n)
            ]
            if options:
                error, name, fake, budget = min(options, key=lambda option: option[0])
                whole, one_attribute = losses(solution, k, budget, attributes, fake)
                solutions.append(Solution(promise, solution, name, fake, budget, whole, one_attribute, error, 0.0))
        lowest = min((row.error for row in solutions), default=0.0)
        ranked = sorted(solutions, key=lambda row: row.error)
        rows += [row._replace(ratio=row.error / lowest if lowest else 1.0) for row in ranked]
    return tuple(rows)


def _fakes(solution: str, protocol: str) -> tuple[str | None, ...]:
    """Return the ways to generate fake reports; a single None if a solution has no fakes."""
    if solution not in ("rsfd", "rsrfd"):
        return (None,)
    fakes = PROTOCOLS[protocol].fakes
    return fakes if solution == "rsfd" else tuple(fake for fake in fakes if fake != "z")


def _square(
    solution: str,
    protocol: str,
    fake: str | None,
    budget: float,
    attributes: int,
    frequencies: NDArray[np.float64],
    n: int,
) -> Iterator[float]:
    """Yield the mean squared error of the raw estimates; nothing for a protocol without raw estimates."""
    oracle = PROTOCOLS[protocol](len(frequencies), budget)
    if solution in ("rsfd", "rsrfd"):
        if isinstance(oracle, FrequencyOracle):
            fakes = fake_support(oracle, fake, frequencies if solution == "rsrfd" else None)
            yield float(hidden_variance(oracle, frequencies, n, attributes, fakes).mean())
    elif oracle.linear is not None:
        share = attributes if solution == "smp" else 1
        # The users who report an attribute are a sample of all users.
        sampled = float((frequencies * (1 - frequencies)).mean()) * (share - 1) / n
        yield float(oracle.linear.covariance(max(1, n // share)).entry(frequencies).mean()) + sampled


class BudgetUse(NamedTuple):
    """Use of a user's budget.

    Attributes
    ----------
    attributes, rounds
        Attributes per user; and collections of the same attributes, each with fresh noise.
    solution
        ``"smp"``: a user reports one attribute, drawn at random, with the whole budget of a round; ``"spl"``: a user
        reports all attributes, with the budget split evenly; None for one attribute.
    epsilon_round, epsilon_report, epsilon_total
        Budgets of a user in one round, of one report, and in all rounds (sequential composition).
    users, reports
        Users, and reports of one attribute in one round.
    advantage
        Root mean squared error of the other solution divided by that of this solution, for the best protocol of each;
        None for one attribute.
    solutions
        All ways to collect several attributes with the same promise.
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


def make_plan(
    plurality: Plurality, epsilon: float, protocols: Iterable[str], frequencies: NDArray[np.float64], n: int
) -> BudgetUse | None:
    """Return the use of the budget, or None for one attribute and one round.

    The better solution has the lower mean squared error of the raw estimates. It is the variance, and for sampling
    also the cost of seeing the attribute of n/d users only, ``f (1 - f) (d - 1) / n``.

    Parameters
    ----------
    plurality
        Attributes, rounds and the requested solution.
    epsilon
        Budget of a user per round.
    protocols
        The protocols on the menu; the best protocol decides.
    frequencies
        ``(k,)`` frequencies of the attribute in question.
    n
        Number of users.

    Raises
    ------
    InputError
        If a report is left without a budget, or an attribute without users.
    """
    d, rounds = plurality.attributes or 1, plurality.rounds or 1
    check_attributes(plurality, epsilon, n)
    if d == 1:
        if rounds == 1:
            return None
        return BudgetUse(1, rounds, None, epsilon, epsilon, rounds * epsilon, n, n, None)
    protocols = tuple(protocols)
    squares = {
        "smp": raw_error(protocols, epsilon, n // d, frequencies)
        + float((frequencies * (1 - frequencies)).mean()) * (d - 1) / n,
        "spl": raw_error(protocols, epsilon / d, n, frequencies),
    }
    solution = plurality.solution or min(PLAIN_SOLUTIONS, key=squares.__getitem__)
    other = "spl" if solution == "smp" else "smp"
    return BudgetUse(
        attributes=d,
        rounds=rounds,
        solution=solution,
        epsilon_round=epsilon,
        epsilon_report=epsilon if solution == "smp" else epsilon / d,
        epsilon_total=rounds * epsilon,
        users=n,
        reports=n // d if solution == "smp" else n,
        advantage=(squares[other] / squares[solution]) ** 0.5,
        solutions=ranked_solutions(d, epsilon, protocols, frequencies, n),
    )


def check_attributes(plurality: Plurality, epsilon: float, n: int) -> None:
    """Check that users and budget suffice for the attributes.

    Raises InputError if a report is left without a budget, or an attribute without users.
    """
    d = plurality.attributes or 1
    if n < d:
        raise InputError(f"attributes must be at most the number of users, n = {n:,}, got {d:,}")
    if d > 1 and epsilon / d < EPSILON_MIN:
        raise InputError(f"attributes: eps {epsilon:g} split by {d:,} is below {EPSILON_MIN:g}")


def raw_error(protocols: Iterable[str], epsilon: float, n: int, frequencies: NDArray[np.float64]) -> float:
    """Return the mean squared error per category of the best raw estimate from n users."""
    k = len(frequencies)
    linear = [PROTOCOLS[name](k, epsilon).linear for name in protocols]
    # If no protocol has an unbiased estimate, protocols that have one replace them: the noise falls in the same way.
    able = [law for law in linear if law is not None] or [
        kind(k, epsilon).linear for kind in frequency_oracles().values()
    ]
    return min(float(law.covariance(n).entry(frequencies).mean()) for law in able)
