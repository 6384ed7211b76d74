"""The question: groups of options that a command or a function sets, each option declared once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from numpy.typing import ArrayLike

from advisor.errors import InputError
from advisor.question.central import CentralPromise
from advisor.question.cleaning import Cleaning
from advisor.question.cluster import Cluster
from advisor.question.option import Bundle
from advisor.question.settings import (
    Categories,
    Columns,
    Goal,
    Grid,
    Instant,
    Limits,
    Menu,
    Plurality,
    Shape,
    Simulation,
    Terms,
    Threat,
)

BUDGET = "the privacy budget of one report, for example --eps 1"


class MemorySample(NamedTuple):
    """A sample from a Python caller: one value per user, or users by category."""

    values: Iterable[Any] | None
    counts: ArrayLike | Mapping[Any, int] | None


@dataclass(frozen=True, kw_only=True, eq=False)  # a sample in memory does not compare to a single truth value
class Question(Bundle):
    """A question; options that a command or a function does not have keep their defaults.

    sample: the name of a file, or a sample in memory; None if a shape determines the frequencies.
    """

    sample: str | MemorySample | None = None
    terms: Terms = Terms()
    grid: Grid = Grid()
    goal: Goal = Goal()
    domain: Categories = Categories()
    columns: Columns = Columns()
    cleaning: Cleaning = Cleaning()
    menu: Menu = Menu()
    limits: Limits = Limits()
    plurality: Plurality = Plurality()
    threat: Threat = Threat()
    promise: CentralPromise = CentralPromise()
    shape: Shape = Shape()
    instant: Instant = Instant()
    simulation: Simulation = Simulation()
    cluster: Cluster = Cluster()

    @classmethod
    def of(cls, given: Mapping[str, Any], **more: Any) -> Self:
        """Return the question of a Python caller, with a sample in memory if there is one.

        Raises InputError for an invalid value.
        """
        sample = MemorySample(given.get("sample"), given.get("sample_counts"))
        in_memory = sample.values is not None or sample.counts is not None
        return super().of(given, sample=sample if in_memory else None, **more)

    @property
    def epsilon(self) -> float:
        """The budget of one report.

        Raises InputError without a budget.
        """
        if self.terms.epsilon is None:
            raise InputError(f"--eps is missing: give {BUDGET}")
        return self.terms.epsilon

    @property
    def each(self) -> tuple[Self, ...]:
        """The question at each budget; this question if it has no budget."""
        if not self.grid.epsilons:
            return (self,)
        return tuple(
            replace(self, grid=replace(self.grid, epsilons=()), terms=replace(self.terms, epsilon=epsilon))
            for epsilon in self.grid.epsilons
        )

    @property
    def alone(self) -> Self:
        """The question at its only budget.

        Raises InputError for several budgets.
        """
        first, *others = self.each
        if others:
            budgets = ", ".join(f"{epsilon:g}" for epsilon in self.grid.epsilons)
            raise InputError(
                f"this is answered for one ε at a time, got {budgets}: give one --eps, and run it for each"
            )
        return first

    @property
    def is_predicted(self) -> bool:
        """Whether the answer is predicted instead of simulated."""
        simulated = self.instant.bias or "sets" in self.terms.metrics or self.menu.parametrised
        return self.instant.instant or (self.sample is None and not simulated)

    @property
    def path(self) -> str:
        """The name of the file; "" without a file."""
        return self.sample if isinstance(self.sample, str) else ""

    @property
    def files(self) -> list[str | None]:
        """The files that are read."""
        return [self.path or None, self.cleaning.domain, self.terms.metric_settings.sets]

    @property
    def data_words(self) -> tuple[str, ...]:
        """Words of a command line that name the data and the menu; none for a sample in memory."""
        if isinstance(self.sample, MemorySample):
            return ()
        groups = (self.domain, self.shape, self.columns, self.cleaning, self.menu)
        words = tuple(word for group in groups for word in group.typed())
        return (*words, self.path) if self.path else words
