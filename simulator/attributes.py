"""Several attributes of each user: collection methods, their guarantees and their accuracy.

``spl``: each attribute is reported, the budget split. ``smp``: a random attribute is named and reported. ``rsfd``: a
random attribute is reported and the others are faked, without naming it (random sampling plus fake data: Arcolezi,
Couchot, Al Bouna, Xiao, CIKM 2021). ``rsrfd``: the same with fakes of realistic values, drawn from a prior (Arcolezi,
Gambs, Couchot, Palamidessi, VLDB 2023).

A promise holds between any two users (``tuple``), or only between users who differ in a single attribute
(``attribute``).

Columns may also differ in how much of the users or of the budget they get: `sampling_shares` and `split_budgets` keep
the mean over the columns of the mean squared error of a category low.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from simulator._types import FloatArray
from simulator.protocols import FrequencyOracle

SOLUTIONS = ("spl", "smp", "rsfd", "rsrfd")
PROMISES = ("tuple", "attribute")
HALVINGS = 100
PARTS = 64  # into which a budget is divided


def published_budget(epsilon: float, attributes: int) -> float:
    """Return the budget ``ln(d (e^epsilon - 1) + 1)`` at which RS+FD was published to report the sampled attribute.

    It guarantees epsilon between users who differ in a single attribute (a little more with the fakes ``"r"``), but
    users who differ in all attributes lose the whole of this budget. Li, Qardaji, Su, 2012; Arcolezi, Couchot, Al
    Bouna, Xiao, "Random sampling plus fake data", CIKM 2021.

    >>> round(published_budget(1.0, 1), 12), round(published_budget(1.0, 2), 3)
    (1.0, 1.49)
    """
    return math.log1p(attributes * math.expm1(epsilon))


def loss_of_one(sizes: Mapping[int, int], epsilon: float, fake: str | None, priors: Mapping[int, FloatArray]) -> float:
    """Return the largest privacy loss of RS+FD with this budget per report, for users who differ in one attribute.

    sizes: how many attributes have so many values.
    priors: of RS+RFD, by size: frequencies ``(k,)`` of the values that fakes are made of, all above 0; none if even.

    The likelihood of all reports is a mean over attributes: each report's likelihood under the true value, relative to
    a fake. An attribute that does not differ hides least if its report is least likely: a report that supports only
    other values. With the fakes ``"r"`` it supports all of them, which is rarer than a vector of zeros.
    """
    ends = {k: _extremes(k, epsilon, fake, priors.get(k)) for k in sizes}
    every = sum(number * ends[k][0] for k, number in sizes.items())
    hides = min((every - least) / most for least, most in ends.values())
    return math.log((math.exp(epsilon) + hides) / (1 + hides))


def _extremes(k: int, epsilon: float, fake: str | None, prior: FloatArray | None) -> tuple[float, float]:
    """Return how likely a report under a value it does not support can be at least, and at most, relative to a fake.

    At least: where all values but the rarest are supported, or it is a fake of the commonest. At most: where the rarest
    alone is supported.
    """
    more = math.expm1(epsilon)
    rarest, commonest = (1 / k, 1 / k) if prior is None else (float(prior.min()), float(prior.max()))
    if fake == "r":
        return 1 / (1 + more * (1 - rarest)), 1 / (1 + more * rarest)
    return (1.0, 1.0) if fake == "z" else (1 / (commonest * (k + more)), 1 / (rarest * (k + more)))


def losses(solution: str, k: int, epsilon: float, attributes: int, fake: str | None = None) -> tuple[float, float]:
    """Return the largest privacy losses: between any two users, and between users who differ in one attribute.

    With realistic fakes the second depends on the prior, and nears the first where that has rare values: it is the
    first here. All attributes have k values.
    """
    if solution == "spl":
        return attributes * epsilon, epsilon
    return epsilon, loss_of_one({k: attributes}, epsilon, fake, {}) if solution == "rsfd" else epsilon


def report_budget(
    solution: str, k: int, epsilon: float, attributes: int, fake: str | None = None, promise: str = "tuple"
) -> float:
    """Return the budget per report that satisfies a guarantee."""
    if solution == "spl":
        return epsilon / attributes if promise == "tuple" else epsilon
    if solution != "rsfd" or promise == "tuple":
        return epsilon
    low, high = epsilon, published_budget(epsilon, attributes)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if loss_of_one({k: attributes}, middle, fake, {}) <= epsilon else (low, middle)
    return low


def fake_support(oracle: FrequencyOracle, fake: str | None, prior: FloatArray | None = None) -> FloatArray:
    """Return how likely the fake report of an attribute supports each value, ``(k,)``.

    fake: None: a value of the prior as it is (GRR); ``"r"``: the report of a random value; ``"z"``: that of no value.
    prior: ``(k,)`` frequencies of the values; even by default.
    """
    p, q = oracle.probabilities
    values = np.full(oracle.k, 1 / oracle.k) if prior is None else prior
    if fake is None:
        return values
    return q + (p - q) * (values if fake == "r" else np.zeros(oracle.k))


def hidden_variance(
    oracle: FrequencyOracle, frequency: FloatArray, n: int, attributes: int, fakes: FloatArray
) -> FloatArray:
    """Return the variances of the unbiased estimates of RS+FD or RS+RFD ``(k,)`` at frequencies ``(k,)`` of n users.

    The estimate of support counts s is ``(attributes s / n - q - (attributes - 1) fakes) / (p - q)``, with the fakes of
    `fake_support`.

    As published the variance is that of users drawn from a population: larger by ``f (1 - f) / n``.
    """
    p, q = oracle.probabilities
    holders, others = ((chance + (attributes - 1) * fakes) / attributes for chance in (p, q))
    mixed = frequency * holders * (1 - holders) + (1 - frequency) * others * (1 - others)
    return attributes**2 * mixed / (n * (p - q) ** 2)


def sampling_shares(single: FloatArray, spread: FloatArray) -> FloatArray:
    """Return the share of the users that reports each column, ``(d,)``.

    single: mean variance of the estimates of a category from a report at the whole budget, ``(d,)``.
    spread: mean of ``f (1 - f)``, ``(d,)``: the users who report a column are a sample of all users.

    A column with share s has the error ``(single + spread) / (s n) - spread / n``. By the inequality of Cauchy and
    Schwarz the sum of errors is lowest if s is proportional to the square root of the numerator.
    """
    roots = np.sqrt(single + spread)
    return roots / roots.sum()


def sampling_errors(single: FloatArray, spread: FloatArray, shares: FloatArray, n: int) -> FloatArray:
    """Return the mean squared error of a category of each column, ``(d,)``."""
    return ((single + spread) / shares - spread) / n


def split_budgets(error: Sequence[Callable[[float], float]], epsilon: float) -> FloatArray:
    """Return the budgets ``(d,)`` of all columns that make the sum of their errors lowest, in parts of epsilon.

    error: of each column at a budget, falling and convex. Then the greedy choice is best: each part goes to the column
    with the largest gain.

    Raises
    ------
    ValueError
        If there are more columns than parts.
    """
    d = len(error)
    if d > PARTS:
        raise ValueError(f"a budget has {PARTS} parts, got {d} columns")
    parts = np.ones(d, dtype=np.int64)
    now = np.array([one(epsilon / PARTS) for one in error])
    after = np.array([one(2 * epsilon / PARTS) for one in error])
    for _ in range(PARTS - d):
        most = int(np.argmax(now - after))
        parts[most] += 1
        now[most], after[most] = after[most], error[most]((parts[most] + 1) * epsilon / PARTS)
    return parts * epsilon / PARTS
