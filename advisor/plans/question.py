"""What is asked of a plan, and what comes out: frozen, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from advisor.errors import InputError
from advisor.question.frequencies import Known
from advisor.question.request import N_MAX, check_settings
from simulator.protocols import EPSILON_MAX
from simulator.ranking import Pair

EPSILON_LOW, USERS_LOW = 0.001, 10
LEVEL, POWER = 0.05, 0.8
ROUNDING = 1e-9  # users: 0.07 times 100 is not 7 to the last digit
DETECTION = "detection"
RANGES = {"n": (float(USERS_LOW), float(N_MAX)), "epsilon": (EPSILON_LOW, EPSILON_MAX)}
SIGNS = {"n": "n", "epsilon": "ε"}
# A floor is told from a falling error by the end of the range: a decade of n, a doubling of ε, by which noise falls as
# exp(-ε/2). An error that keeps so much over it is at its floor.
LAST = {"n": 10.0, "epsilon": 2.0}
FLAT = 0.95


@dataclass(frozen=True, eq=False)  # `known` holds an array
class Question:
    """A plan that can be made.

    Attributes
    ----------
    known
        The frequencies of the collection to come.
    metric, target
        Error that is to be reached. For a detection the metric is ``"detection"`` and the target the frequency.
    epsilon, n
        Budget of one report and number of users; None for the one that is asked for.
    protocols, methods
        The menu, in table order; methods are none for a detection.
    named
        The pairs that were named, protocol by protocol, or none where a part of the pair was left open.
    restricted
        Whether the menu was cut down at all.
    seed, precision, max_repetitions
        Of the simulation: relative standard error of the mean error at the answer, and most repetitions.
    metric_options
        Settings of the metric.
    """

    known: Known
    metric: str
    target: float
    epsilon: float | None
    n: int | None
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    named: tuple[Pair, ...]
    restricted: bool
    seed: int
    precision: float
    max_repetitions: int
    metric_options: dict[str, Any]

    @property
    def unknown(self) -> str:
        """``"n"`` or ``"epsilon"``."""
        return "n" if self.n is None else "epsilon"

    @property
    def range(self) -> tuple[float, float]:
        """Values of the unknown that are looked at."""
        return RANGES[self.unknown]

    def at(self, x: float) -> tuple[float, int]:
        """Return (epsilon, n) with the unknown at x."""
        return (self.epsilon or x, round(x)) if self.n is None else (x, self.n)


@dataclass(frozen=True)
class PlanRow:
    """What one pair needs.

    Attributes
    ----------
    protocol, method
        The pair; the method is None for a detection, which is by the raw estimate.
    value, low, high
        The unknown and its 95 % interval; None where no value in the range reaches the target.
    error, error_low, error_high
        Mean error there (for a detection, the power); where the target is not reached, the error at the end of the
        range: the floor of the pair. None for what was only looked up and does not reach it.
    repetitions
        Simulated collections behind the error; 0 where nothing was simulated.
    source
        ``"simulation"``, ``"grid"`` or ``"formula"``.
    met_at_once
        Whether the target is met at the lower end of the range already.
    """

    protocol: str
    method: str | None
    value: float | None
    low: float | None
    high: float | None
    error: float | None
    error_low: float | None
    error_high: float | None
    repetitions: int
    source: str
    met_at_once: bool = False

    @property
    def pair(self) -> Pair:
        """(protocol, method)."""
        return self.protocol, self.method or "none"


@dataclass(frozen=True, eq=False)
class Plan:
    """The answer: how many users, or which ε.

    Attributes
    ----------
    question
        What was asked.
    first
        The first answer, from the grid or by formula, before anything was simulated; None where it knows none.
    rows
        What each pair needs, least first; pairs that do not reach the target last.
    instead
        Where no pair that was asked for reaches the target: the best one of the whole menu that does.
    error_without_data
        The lower error of two answers that use no data: all categories equally frequent, and 0 for all; None for a
        detection.
    curve
        (x, error, whether simulated) of the best pair, by x.
    warnings
        What the reader should worry about.
    """

    question: Question
    first: float | None
    rows: tuple[PlanRow, ...]
    instead: PlanRow | None
    error_without_data: float | None
    curve: tuple[tuple[float, float, bool], ...]
    warnings: tuple[str, ...]

    @property
    def best(self) -> PlanRow:
        """What needs least."""
        return self.rows[0]

    @property
    def value(self) -> float | None:
        """The answer: users, or ε; None if the target is out of reach."""
        return self.best.value

    @property
    def falls(self) -> bool:
        """Whether the simulated error of the best pair still falls at the end of the range."""
        start = self.question.range[1] / LAST[self.question.unknown]
        last = [error for x, error, simulated in self.curve if simulated and x >= start * (1 - ROUNDING)]
        return len(last) > 1 and last[-1] < FLAT * last[0]

    def to_json(self) -> str:
        """Return the plan as one JSON object."""
        from advisor.plans.document import to_json

        return to_json(self)


def check_question(
    *,
    metric: str | Sequence[str] | None,
    target: float | None,
    detect: float | None,
    epsilon: float | None,
    n: float | None,
    **settings: Any,
) -> dict[str, Any]:
    """Return the settings of a plan, checked before a sample is read.

    Raises
    ------
    InputError
        For the first that is wrong: no unknown left, more than one, a target that is not above 0, more than one metric.
    """
    metrics = [metric] if isinstance(metric, str) else list(metric or [])
    if len(metrics) > 1:
        raise InputError(f"plan answers for one metric at a time, got {', '.join(metrics)}")
    if (target is None) == (detect is None):
        raise InputError(
            "give either --target with the error to reach, or --detect with the frequency to be told from 0"
            + ("" if target is None else ", not both")
        )
    if epsilon is not None and n is not None:
        raise InputError("no unknown left: --eps and --n are both given; leave out the one that is asked for")
    if epsilon is None and n is None:
        raise InputError("more than one unknown: give --eps to be told the users, or --n to be told ε")
    if target is not None and not 0 < target < float("inf"):
        raise InputError(f"target must be a number above 0, got {target:g}")
    if detect is not None and not 0 < detect < 1:
        raise InputError(f"detect must be a frequency between 0 and 1, got {detect:g}")
    if n is not None and float(n) < USERS_LOW:
        raise InputError(f"n must be at least {USERS_LOW}, got {n:g}")
    if detect is not None and metrics:
        raise InputError("--metric goes with --target: a detection is by the raw estimate of one value")
    checked = check_settings(epsilon=1.0 if epsilon is None else epsilon, metrics=metrics or ["l1"], n=n, **settings)
    if checked["every_metric"]:
        raise InputError("metric must be one metric, got 'all': make one plan for each")
    if detect is not None and checked["methods_named"]:
        raise InputError("--method goes with --target: a detection is by the raw estimate")
    if detect is not None and checked["n"] is not None and detect * checked["n"] < 1 - ROUNDING:
        raise InputError(f"a frequency of {detect:g} is less than one of {checked['n']:,} users")
    return checked | {
        "unknown_epsilon": epsilon is None,
        "target": target if detect is None else detect,
        "detects": detect is not None,
    }
