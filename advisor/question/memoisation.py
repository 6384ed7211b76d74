"""The options of devices that remember: a permanent budget beside that of one report, and how often values change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import budget, real, whole
from advisor.errors import InputError
from advisor.question.option import Settings, option

CATEGORIES_MAX = 1_000_000  # categories of a device


@dataclass(frozen=True, kw_only=True)
class Memoisation(Settings):
    """Whether devices remember a permanent randomisation of each value, and at which budget."""

    panel: ClassVar[str] = "Devices that remember"

    memoize: bool = option("--memoize", help="with --rounds: each device keeps one randomisation of a value for ever")
    epsilon_forever: float | None = option(
        "--eps-forever", read=budget, metavar="ε", help="budget of all reports of a value, once devices remember it"
    )
    changes: float | None = option(
        "--changes", read=real(0, 1), metavar="X",
        help="with --eps-forever: share of users whose value changes in each round [default: 0.05]",
    )  # fmt: skip
    bits: int | None = option(
        "--device-bits", read=whole(1, CATEGORIES_MAX), metavar="D", advanced=True,
        help="with --eps-forever: categories that a device of dbitflip reports on [default: 1]",
    )  # fmt: skip

    def check_budgets(self, epsilon: float | None) -> None:
        """Refuse a report that may spend as much as all reports of a value.

        Raises InputError if it may.
        """
        if epsilon is not None and self.epsilon_forever is not None and epsilon >= self.epsilon_forever:
            raise InputError(
                f"--eps is the budget of one report and must be below --eps-forever, that of all reports of a value, "
                f"got --eps {epsilon:g} and --eps-forever {self.epsilon_forever:g}"
            )
