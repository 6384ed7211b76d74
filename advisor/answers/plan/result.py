"""What comes out of a plan: what each pair needs, least first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from advisor.question.plan import PlanQuestion
from simulator.crossing import Crossing
from simulator.ranking import Pair


class Point(NamedTuple):
    """A point of the curve of a pair."""

    x: float  # the unknown
    error: float  # mean error, or power
    simulated: bool  # whether it is simulated, not predicted
    # low, high: 95 % interval of the mean, or of the prediction; the error itself where it follows from a formula
    low: float
    high: float


Curve = tuple[Point, ...]  # by x


@dataclass(frozen=True)
class PlanRow:
    """What one pair needs."""

    # protocol, method: the pair; the method is None for a detection, which is by the raw estimate
    protocol: str
    method: str | None
    # value, low, high: the unknown and its 95 % interval; None if no value in the range reaches the target
    value: float | None
    low: float | None
    high: float | None
    # error, error_low, error_high: mean error there (for a detection, the power, which has no interval); where the
    # target is not reached, the error at the end of the range: the floor of the pair. None for what was only predicted
    # and does not reach it.
    error: float | None
    error_low: float | None
    error_high: float | None
    repetitions: int  # simulated collections behind the error; 0 where nothing was simulated
    source: str  # ``"simulation"``, ``"grid"`` or ``"formula"``
    met_at_once: bool = False  # whether the target is met at the lower end of the range already

    @property
    def pair(self) -> Pair:
        """(protocol, method)."""
        return self.protocol, self.method or "none"

    @property
    def need(self) -> tuple[bool, float]:
        """Sort key: least need first, those that do not reach the target by their floor."""
        if self.value is not None:
            return False, self.value
        return True, math.inf if self.error is None else self.error


def settled_row(protocol: str, method: str, place: Crossing) -> PlanRow:
    """Return where the simulated error of a pair crosses the target as its row."""
    reached = place.reached
    return PlanRow(
        protocol=protocol,
        method=method,
        value=place.x if reached else None,
        low=place.low if reached else None,
        high=place.high if reached else None,
        error=place.error,
        error_low=place.error_low,
        error_high=place.error_high,
        repetitions=place.repetitions,
        source="simulation",
        met_at_once=reached and not place.inside,
    )


@dataclass(frozen=True, eq=False)
class PlanResult:
    """The answer: how many users, or which ε."""

    question: PlanQuestion  # what was asked
    # The first answer, predicted or by formula, before any simulation; None without such an answer
    first: float | None
    rows: tuple[PlanRow, ...]  # what each pair needs, least first; pairs that do not reach the target last
    # Where no pair that was asked for reaches the target: the best one of the whole menu that does
    instead: PlanRow | None
    # The lower error of two answers that use no data: all categories equally frequent, and 0 for all; None for a
    # detection
    error_without_data: float | None
    curve: Curve  # of the best pair, by x
    warnings: tuple[str, ...]  # what the reader should worry about

    @property
    def best(self) -> PlanRow:
        """What needs least."""
        return self.rows[0]

    @property
    def value(self) -> float | None:
        """The answer: users, or ε; None if the target is out of reach."""
        return self.best.value

    @property
    def needs_no_data(self) -> bool:
        """Whether an answer that uses no data reaches the target."""
        return self.error_without_data is not None and self.error_without_data <= self.question.target


def value_text(question: PlanQuestion, value: float) -> str:
    """Return a value of the unknown as people read it: users, or ε."""
    if question.unknown == "epsilon":
        return f"{value:.3g}"
    digits = max(0, len(str(int(value))) - 4)
    return f"{round(value / 10**digits) * 10**digits:,}"
