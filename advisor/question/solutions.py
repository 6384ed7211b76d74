"""Ways to collect several attributes, each with its best protocol, at the same promise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator import PROTOCOLS, FrequencyOracle
from simulator.attributes import PROMISES, SOLUTIONS, fake_support, hidden_variance, losses, report_budget
from simulator.protocols import EPSILON_MAX, EPSILON_MIN


class Solution(NamedTuple):
    """One way to collect, with the protocol whose raw estimates are the most exact."""

    promise: str  # ``"tuple"``: between any two users; ``"attribute"``: between users who differ in one attribute
    solution: str
    protocol: str
    fake: str | None  # how fakes are made: None where there are none, or they are values
    epsilon_report: float  # budget of one report
    # epsilon_tuple, epsilon_attribute: most that is lost against any other user, and one who differs in one attribute
    epsilon_tuple: float
    epsilon_attribute: float
    error: float  # root mean squared error of a raw estimate (frequency), against all users
    ratio: float  # over the lowest of the same promise


def ranked_solutions(
    attributes: int, epsilon: float, protocols: Iterable[str], frequencies: NDArray[np.float64], n: int
) -> tuple[Solution, ...]:
    """Return all ways to collect by rising error, for each promise.

    frequencies: ``(k,)`` of one attribute; the others are taken to have as many values. They are also the prior of
    realistic fakes.
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
    """Return the ways to fake reports, one that is none where nothing is faked."""
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
    """Yield the mean squared error of the raw estimates; nothing for a protocol that has none."""
    oracle = PROTOCOLS[protocol](len(frequencies), budget)
    if solution in ("rsfd", "rsrfd"):
        if isinstance(oracle, FrequencyOracle):
            fakes = fake_support(oracle, fake, frequencies if solution == "rsrfd" else None)
            yield float(hidden_variance(oracle, frequencies, n, attributes, fakes).mean())
    elif oracle.linear is not None:
        share = attributes if solution == "smp" else 1
        # Who reports an attribute is a sample of all users.
        sampled = float((frequencies * (1 - frequencies)).mean()) * (share - 1) / n
        yield float(oracle.linear.covariance(max(1, n // share)).entry(frequencies).mean()) + sampled
