"""The guarantee of shuffled reports: the budget that each protocol may spend on a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import real, share
from advisor.errors import InputError
from advisor.figures import users
from advisor.question.option import Settings, option
from advisor.question.settings import N_MAX
from simulator import PROTOCOLS
from simulator.protocols import EPSILON_MAX, EPSILON_MIN
from simulator.protocols.protocol import Blanket
from simulator.shuffler import Shuffler

USUAL = "oue"  # the baseline of all answers
CENTRAL_MIN = 1e-9  # minimum of a central budget: the local budget may be much larger


@dataclass(frozen=True, kw_only=True)
class CentralPromise(Settings):
    """The required guarantee of shuffled reports, instead of the budget of one report."""

    panel: ClassVar[str] = "Question"

    central_epsilon: float | None = option(
        "--central-eps",
        read=real(CENTRAL_MIN, EPSILON_MAX),
        metavar="ε",
        help="with a shuffler, instead of --eps: what all reports together promise",
    )
    delta: float | None = option("--delta", read=share, metavar="δ", help="goes with --central-eps, for example 1e-8")

    def check(self) -> None:
        """Raise InputError if only half of the guarantee is given."""
        if self.delta is not None and self.central_epsilon is None:
            raise InputError("--delta goes with --central-eps: give both, for example --central-eps 1 --delta 1e-8")
        if self.central_epsilon is not None and self.delta is None:
            raise InputError("--central-eps needs --delta: far below 1/n, for example --delta 1e-8")

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee, if it is required."""
        given = self.central_epsilon is not None and self.delta is not None
        return Guarantee(self.central_epsilon or 0.0, self.delta or 0.0) if given else None


@dataclass(frozen=True)
class Guarantee:
    """What all shuffled reports together promise."""

    epsilon: float
    delta: float

    @property
    def text(self) -> str:
        """The promise in a few words."""
        return f"central ε = {self.epsilon:g} and δ = {self.delta:g} with a shuffler"


@dataclass(frozen=True)
class Central(Guarantee):
    """A central guarantee, and the local budgets that satisfy it."""

    n: int  # users who report
    local: Mapping[str, float]  # budget of one report, by protocol
    anyone: float  # the same for a protocol of which only the budget is known
    generic: tuple[str, ...]  # protocols of which only the budget is known

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons why the guarantee is weak."""
        if self.delta * self.n < 1:
            return ()
        return (
            f"delta {self.delta:g} is not below 1/n = {1 / self.n:.2g}: such a promise may give single users away; "
            f"give --delta {float(f'{0.01 / self.n:.0e}'):g} or less",
        )

    @property
    def promise(self) -> str:
        """The guarantee of the shuffled reports, as the end of a sentence."""
        return f"they keep ε = {self.epsilon:g} and δ = {self.delta:g}"

    @property
    def data(self) -> dict[str, float | dict[str, float] | list[str]]:
        """The promise as plain data."""
        return {"eps": self.epsilon, "delta": self.delta, "local": dict(self.local), "generic": list(self.generic)}


def central_budgets(promise: CentralPromise, protocols: Iterable[str], k: int, n: int) -> Central | None:
    """Return the largest budgets that satisfy a central guarantee for n users; None if none is requested.

    Raises InputError if no budget satisfies it; the message gives the number of users that would be enough.
    """
    if promise.guarantee is None:
        return None
    epsilon, delta = promise.guarantee.epsilon, promise.guarantee.delta
    menu = {name: PROTOCOLS[name] for name in dict.fromkeys([*protocols, USUAL])}
    try:
        budgets = Shuffler(n, delta).local(epsilon, menu, k)
    except ValueError:
        raise InputError(
            f"central-eps {epsilon:g} at delta {delta:g} is kept by no reports of {n:,} users, not even of "
            f"eps {EPSILON_MIN:g}: {_enough(epsilon, delta)}"
        ) from None
    generic = tuple(name for name, kind in menu.items() if kind(k, budgets[name]).blanket is None)
    return Central(epsilon, delta, n, budgets, min(budgets.values()), generic)


def _enough(epsilon: float, delta: float) -> str:
    """Return the required number of users, as a request."""

    def kept(n: float) -> bool:
        return Shuffler(math.ceil(n), delta).keeps(epsilon, Blanket.generic(EPSILON_MIN))

    if not kept(N_MAX):
        return f"give a larger one, no number of users up to {N_MAX:g} is enough"
    low, high = 1.0, float(N_MAX)
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if kept(middle) else (middle, high)
    return f"give a larger one, or --n {users(high)}"
