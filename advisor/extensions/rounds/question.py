"""What is asked of rounds with the same users: budgets, rounds, and how often values change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from advisor.errors import InputError, listed
from advisor.question.option import refuse, require
from advisor.question.question import Question
from advisor.question.rules import BUDGET, DATA, check_data
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Memoisation
from knowledge.describe.assumption import USERS
from simulator.memoisation import MEMOISED, Changes

CHANGES = 0.05  # default share of users whose value changes in a round


def check_rounds(question: Question, memoisation: Memoisation) -> None:
    """Refuse what is missing, and what does not go together, before anything is read.

    Raises InputError if a budget, the rounds or the data are missing, or the budgets or the protocols do not fit.
    """
    require(
        ("--eps", question.terms.epsilon, BUDGET),
        (
            "--eps-forever",
            memoisation.epsilon_forever,
            "the budget of all reports of a value, for example --eps-forever 2",
        ),
        ("--rounds", question.plurality.rounds, "the number of collections, for example --rounds 30"),
        ("SAMPLE", question.sample or question.domain.k, DATA),
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
        assumptions=tuple(assumed),
        warnings=frequencies.warnings,
    )
