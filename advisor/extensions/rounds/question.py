"""What is asked of rounds with the same users: budgets, rounds, and how often values change."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from advisor.errors import InputError, listed
from advisor.question.frequencies import Frequencies
from advisor.question.memoisation import Memoisation
from advisor.question.option import require
from advisor.question.settings import Menu, Plurality, Question
from knowledge.describe.assumption import USERS
from simulator.memoisation import MEMOISED, Changes

CHANGES = 0.05  # share of users whose value changes in a round, where nothing else is said


@dataclass(frozen=True)
class RoundsSettings:
    """The options of a question about rounds that are not about its data.

    Raises InputError if a budget or the rounds are missing, or the budgets or the protocols do not fit.
    """

    question: Question
    plurality: Plurality
    memoisation: Memoisation
    menu: Menu = field(default_factory=Menu)
    data: object = None  # a sample, or the number of categories: None where neither was given

    def __post_init__(self) -> None:
        require(
            ("--eps", self.question.epsilon, "the privacy budget of one report, for example --eps 1"),
            (
                "--eps-forever",
                self.memoisation.epsilon_forever,
                "the budget of all reports of a value, for example --eps-forever 2",
            ),
            ("--rounds", self.plurality.rounds, "the number of collections, for example --rounds 30"),
            ("SAMPLE", self.data, "a file with public, synthetic or pilot data, or --k without a file"),
        )
        self.memoisation.check_budgets(self.question.epsilon)
        if strangers := [name for name in self.menu.protocol if name not in MEMOISED]:
            raise InputError(f"--memoize: give --protocol one of {listed(MEMOISED)}, got {listed(strangers)}")


@dataclass(frozen=True, eq=False)  # holds an array, which does not compare to one truth
class RoundsQuestion:
    """A complete question: whether noise is to be remembered, or fresh in each round."""

    epsilon: float  # budget of one report
    epsilon_forever: float  # budget of all reports of a value
    n: int  # users, who report in every round
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


def rounds_question(settings: RoundsSettings, frequencies: Frequencies) -> RoundsQuestion:
    """Join checked settings and the frequencies of the population.

    Raises InputError if more users are to change their value than can, or a device is to report on more categories than
    there are.
    """
    weights = np.asarray(frequencies.weights, dtype=np.float64)
    shares, memoisation, assumed = weights / weights.sum(), settings.memoisation, list(frequencies.assumptions)
    n = settings.question.n or frequencies.users or USERS
    if settings.question.n is None:
        assumed.append(f"n = {n:,} users report in every round (--n says otherwise)")
    rounds, share = settings.plurality.rounds or 1, memoisation.changes
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
        epsilon=settings.question.epsilon or 0.0,
        epsilon_forever=memoisation.epsilon_forever or 0.0,
        n=n,
        changes=changes,
        menu=settings.menu.protocol,
        bits=bits,
        sample=frequencies.name,
        assumptions=tuple(assumed),
        warnings=frequencies.warnings,
    )
