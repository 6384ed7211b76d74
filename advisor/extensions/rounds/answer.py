"""Rounds with the same users, devices that remember or fresh noise: the question, and its answer in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, listed
from advisor.question.option import refuse
from advisor.question.question import Question
from advisor.question.rules import check_data, require_budget_and_data
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Memoisation, Menu
from knowledge.describe.assumption import USERS
from simulator import frequency_oracles
from simulator.memoisation import MEMOISED, Changes, DBitFlipPM, Repeated
from simulator.protocols import EPSILON_MIN

CHANGES = 0.05  # default share of users whose value changes in a round
CLOSE = 1.05  # ratio of errors per round that does not justify a higher budget
FOREVER = "the budget of all reports of a value, for example --eps-forever 2"
ROUNDS = "the number of collections, for example --rounds 30"
MEMOISED_NOISE, SAME_ROUND, SAME_TOTAL = "memoised", "fresh, same round", "fresh, same total"


def check_rounds(question: Question, memoisation: Memoisation) -> None:
    """Refuse what is missing, and what does not go together, before anything is read.

    Raises InputError if a budget, the rounds or the data are missing, or the budgets or the protocols do not fit.
    """
    require_budget_and_data(
        question,
        ("--eps-forever", memoisation.epsilon_forever, FOREVER),
        ("--rounds", question.plurality.rounds, ROUNDS),
    )
    memoisation.check_budgets(question.terms.epsilon)
    if strangers := [name for name in question.menu.protocol if name not in MEMOISED]:
        raise InputError(f"--eps-forever: give --protocol one of {listed(MEMOISED)}, got {listed(strangers)}")
    ranked = question.given(
        "terms:metric",
        "menu:method",
        "limits",
        "instant",
        "plurality:attributes,solution",
        "simulation:repetitions,max_repetitions",
    )
    refuse(ranked, "does not go with --eps-forever, which compares raw estimates in closed form")
    check_data(question)


@dataclass(frozen=True, eq=False)  # holds an array, which does not compare to one truth
class RoundsQuestion:
    """A complete question: whether noise is to be remembered, or fresh in each round."""

    epsilon: float  # budget of one report
    epsilon_forever: float  # budget of all reports of a value
    n: int  # number of users, who report in all rounds
    changes: Changes  # frequencies, rounds, and how often values change
    menu: tuple[str, ...]  # protocols that were named; none: all
    bits: int  # categories of a device of dbitflip
    sample: str  # what the frequencies are called
    data_words: tuple[str, ...]  # of a command line, which name the data
    # what was decided for the user, and what they should worry about
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def k(self) -> int:
        """Domain size."""
        return len(self.changes.frequencies)

    @property
    def rounds(self) -> int:
        """Number of collections."""
        return self.changes.rounds


def rounds_question(question: Question, memoisation: Memoisation) -> RoundsQuestion:
    """Join a question and its data.

    Raises InputError if the data are wrong, more users are to change their value than can, or a device is to report
    on more categories than there are.
    """
    frequencies = simulated_frequencies(question)
    weights = np.asarray(frequencies.weights, dtype=np.float64)
    shares, assumed = weights / weights.sum(), list(frequencies.assumptions)
    n = question.terms.n or frequencies.users or USERS
    if question.terms.n is None:
        assumed.append(f"n = {n:,} users report in every round (--n says otherwise)")
    rounds, share = question.plurality.rounds or 1, memoisation.changes
    try:
        changes = Changes(shares, rounds, share or 0.0)
    except ValueError as error:
        raise InputError(str(error)) from None
    if share is None:
        changes = Changes(shares, rounds, min(CHANGES, changes.most))
        assumed.append(f"in each round the value of {100 * changes.share:.3g} % of the users changes (--changes)")
    bits = memoisation.bits or 1
    if bits > len(shares):
        raise InputError(f"device-bits must be at most k={len(shares):,}, got {bits:,}")
    return RoundsQuestion(
        epsilon=question.terms.epsilon or 0.0,
        epsilon_forever=memoisation.epsilon_forever or 0.0,
        n=n,
        changes=changes,
        menu=question.menu.protocol,
        bits=bits,
        sample=frequencies.name,
        data_words=replace(question, menu=Menu()).data_words or ("DATA",),  # which is in memory
        assumptions=tuple(assumed),
        warnings=frequencies.warnings,
    )


class Approach(NamedTuple):
    """An approach to collect in all rounds.

    Attributes
    ----------
    noise
        ``"memoised"``; ``"fresh, same round"``: fresh noise at the budget of a report in every round; ``"fresh, same
        total"``: fresh noise that spends in all what a user of the recommended memoised protocol does on average, at
        most the budget of a report in a round.
    protocol
        Key in the table, or ``"dbitflip"``.
    epsilon_round
        Privacy loss bound of a report.
    error_round, error_average
        Mean absolute error of the raw estimate of a category in a round, and of its average over all rounds
        (frequency).
    spent_most, spent_mean
        Budgets that a user has spent after all rounds, at most and on average: the different values, symbols or states
        that a device had a memo for times the permanent budget; fresh noise adds up.
    revealed
        Privacy loss of all reports of a user whose value never changes: the loss through averaging.
    report_bits
        Size of one report.
    """

    noise: str
    protocol: str
    epsilon_round: float
    error_round: float
    error_average: float
    spent_most: float
    spent_mean: float
    revealed: float
    report_bits: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """The answer: all approaches, and the recommended approach."""

    question: RoundsQuestion
    memoised: tuple[Approach, ...]  # by error of a round
    fresh: tuple[Approach, ...]  # with the same error per round, and with the same spending if possible

    @cached_property
    def memory(self) -> Approach:
        """The recommended memoised protocol: the lowest spending among those with about the lowest error per round."""
        return thriftiest(self.memoised)

    @property
    def same_round(self) -> Approach:
        """Fresh noise at the budget of a report."""
        return self.fresh[0]

    @property
    def memoise(self) -> bool:
        """Whether a user spends less on average with memoisation than with fresh noise at the budget of a report."""
        return self.memory.spent_mean < self.same_round.spent_mean

    @property
    def best(self) -> Approach:
        """The recommended approach."""
        return self.memory if self.memoise else self.same_round


def thriftiest(approaches: tuple[Approach, ...]) -> Approach:
    """Return the approach with the lowest mean spending among those with about the lowest error per round."""
    lowest = min(row.error_round for row in approaches)
    close = [row for row in approaches if row.error_round <= CLOSE * lowest]
    return min(close, key=lambda row: (row.spent_mean, row.error_round))


def compare(question: RoundsQuestion) -> Comparison:
    """Return memoised protocols and fresh noise at the same promises."""
    epsilon, forever, k = question.epsilon, question.epsilon_forever, question.k
    members: list[Repeated] = [MEMOISED[name](k, forever, epsilon) for name in question.menu or MEMOISED]
    if not question.menu:
        members.append(DBitFlipPM(k, epsilon, epsilon, bits=question.bits))
    memoised = tuple(sorted((_memoised(question, member) for member in members), key=lambda row: row.error_round))
    fresh = [_fresh(question, epsilon, SAME_ROUND)]
    each = min(epsilon, thriftiest(memoised).spent_mean / question.rounds)
    if EPSILON_MIN <= each < epsilon:
        fresh.append(_fresh(question, each, SAME_TOTAL))
    return Comparison(question, memoised, tuple(fresh))


def _memoised(question: RoundsQuestion, member: Repeated) -> Approach:
    changes, n = question.changes, question.n
    most = min(changes.rounds if changes.share else 1, member.most_memos)
    return Approach(
        noise=MEMOISED_NOISE,
        protocol=member.key,
        epsilon_round=member.epsilon,
        error_round=_absolute(changes.round_variance(member.moments, n)),
        error_average=_absolute(changes.average_variance(member.moments, n)),
        spent_most=most * member.epsilon_forever,
        spent_mean=member.mean_memos(changes) * member.epsilon_forever,
        revealed=member.loss(changes.rounds),
        report_bits=member.report_bits,
    )


def _fresh(question: RoundsQuestion, epsilon: float, noise: str) -> Approach:
    """Return fresh noise with the protocol that has the lowest error at this budget."""
    kinds = frequency_oracles()
    oracles = [kinds[name](question.k, epsilon) for name in question.menu or kinds]
    errors = [_absolute(oracle.variance(question.changes.frequencies, question.n)) for oracle in oracles]
    error, best = min(zip(errors, oracles, strict=True), key=itemgetter(0))
    spent = question.rounds * epsilon
    return Approach(
        noise=noise,
        protocol=best.key,
        epsilon_round=epsilon,
        error_round=error,
        error_average=error / math.sqrt(question.rounds),
        spent_most=spent,
        spent_mean=spent,
        revealed=spent,
        report_bits=best.report_bits,
    )


def _absolute(variances: NDArray[np.float64]) -> float:
    """Return the mean absolute error of nearly normal estimates with these variances."""
    return math.sqrt(2 / math.pi) * float(np.sqrt(variances).mean())
