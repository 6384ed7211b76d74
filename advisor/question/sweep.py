"""What is asked of a sweep: checked, complete and frozen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, listed
from advisor.question.fitting import fitting_methods, fitting_metrics, fitting_protocols
from advisor.question.frequencies import Frequencies, from_shape
from advisor.question.metric_settings import MetricSettings
from advisor.question.option import require
from advisor.question.settings import Grid, Menu, Question, Shape, Simulation
from simulator import __version__
from simulator.foreign import REGISTERED

REPETITIONS = 20
MOST_CELLS = 10_000
MOST_CATEGORIES = 10_000_000  # of all domains together: they are in memory at once

Place = tuple[float, int, int]  # (epsilon, n, k)


@dataclass(frozen=True)
class SweepSettings:
    """The options of a sweep that are not about its frequencies."""

    grid: Grid
    question: Question = field(default_factory=Question)  # the metric alone
    metric_settings: MetricSettings = field(default_factory=MetricSettings)
    menu: Menu = field(default_factory=Menu)
    simulation: Simulation = field(default_factory=Simulation)

    @property
    def metric(self) -> str:
        """The metric of the error."""
        return self.question.one_metric("sweep")

    @property
    def registered(self) -> tuple[str, ...]:
        """The members that were named, and that the caller brought."""
        named = (*self.menu.protocol, *self.menu.method, self.metric)
        return tuple(REGISTERED[name] for name in named if name in REGISTERED)

    def check(self, *, has_sample: bool, resumes: bool = False) -> None:
        """Refuse what is missing, and what cannot be answered; a sample brings its own n and k.

        Raises InputError for all that is missing, or the first that does not fit.
        """
        grid = self.grid
        needs: list[tuple[str, object, str]] = [
            ("--eps", grid.epsilons, "one or more budgets, for example --eps 0.5,1,2,4")
        ]
        if not has_sample:
            needs += [
                ("--n", grid.users, "numbers of users, for example --n 1e4,1M (a sample brings its own)"),
                ("--k", grid.sizes, "domain sizes, for example --k 64,1024 (a sample brings its own)"),
            ]
        require(*needs)
        if resumes and self.registered:
            raise InputError(
                f"--resume does not go with {listed(self.registered)}: whether it is as it was, a file of cells cannot "
                "tell; leave --resume out"
            )
        self.metric_settings.refuse_unused(self.question, self.metric)
        cells = len(grid.epsilons) * max(1, len(grid.users)) * max(1, len(grid.sizes))
        if cells > MOST_CELLS:
            raise InputError(f"a sweep has at most {MOST_CELLS:,} cells, got {cells:,}: give fewer values")
        if sum(grid.sizes) > MOST_CATEGORIES:
            raise InputError(
                f"the values of --k add up to at most {MOST_CATEGORIES:,} in one sweep, got {sum(grid.sizes):,}: give "
                "fewer at once, and keep what is done with --resume"
            )


@dataclass(frozen=True, eq=False)  # `frequencies` hold arrays
class SweepQuestion:
    """What is swept over, and with what."""

    # epsilons, users, sizes: values of ε, n and k
    epsilons: tuple[float, ...]
    users: tuple[int, ...]
    sizes: tuple[int, ...]
    frequencies: tuple[Frequencies, ...]  # the frequencies for each k
    # metric, protocols, methods, repetitions, seed, metric_settings: as everywhere
    metric: str
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    repetitions: int
    seed: int
    metric_settings: MetricSettings

    @property
    def first(self) -> Frequencies:
        """The frequencies for the first k."""
        return self.frequencies[0]

    @property
    def places(self) -> tuple[Place, ...]:
        """All cells, in the order of the output: by k, then ε, then n."""
        return tuple((epsilon, n, k) for k, epsilon, n in product(self.sizes, self.epsilons, self.users))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was decided for the user."""
        values = self.metric_settings.resolved(self.sizes[0])
        by_k = self.metric == "topk" and self.metric_settings.top_values is None  # another number for each k
        return (*self.first.assumptions, *(() if by_k else values.assumptions((self.metric,))))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should worry about."""
        said = [text for one in self.frequencies for text in one.warnings]
        said += [
            f"{text}; ldp-advise with one --eps and --n simulates what a small sample leaves open"
            for text in self.first.too_few_for(max(self.users))
        ]
        return tuple(dict.fromkeys(said))

    @property
    def plan(self) -> dict[str, object]:
        """What decides the numbers of a cell besides its place; cells of the same plan can be kept in one file.

        Of a sample that is the users of the values that occur: those that do not, another k adds.
        """
        values: dict[str, object] = {**self.metric_settings.resolved(self.sizes[0]).plain()}
        if self.metric_settings.top_values is None:
            del values["top_values"]
        weights = self.first.weights
        return {
            "sweep": 4,
            "version": __version__,
            "metric": self.metric,
            "protocols": list(self.protocols),
            "methods": list(self.methods),
            "repetitions": self.repetitions,
            "seed": self.seed,
            "frequencies": self.first.name if self.first.users is None else _digest(weights[weights > 0]),
            "ordered": self.first.ordered,
            **values,
        }

    def population(self, k: int) -> str:
        """Return what tells the frequencies over k categories from others of the same sample: where the zeros are."""
        return "" if self.first.users is None else _digest(self.at(k).weights)

    def at(self, k: int) -> Frequencies:
        """Return the frequencies over k categories."""
        return self.frequencies[self.sizes.index(k)]


def _digest(weights: NDArray[np.int64] | NDArray[np.float64]) -> str:
    return hashlib.blake2b(np.asarray(weights, dtype="<i8").tobytes(), digest_size=16).hexdigest()


def shape_frequencies(settings: SweepSettings, shape: Shape, *, ordered: bool | None) -> tuple[Frequencies, ...]:
    """Return the frequencies of a shape, for each k.

    Raises InputError if the shape is wrong.
    """
    seed, metrics = settings.simulation.seed, (settings.metric,)
    return tuple(
        from_shape(k, shape, ordered=ordered, metrics=metrics, seed=seed) for k in settings.grid.sizes
    )  # fmt: skip


def build_question(settings: SweepSettings, frequencies: tuple[Frequencies, ...]) -> SweepQuestion:
    """Join checked settings and the frequencies over each domain.

    Raises InputError if the metric or a method that was named does not fit the domains.
    """
    first, repetitions = frequencies[0], settings.simulation.repetitions
    (metric,), _ = fitting_metrics(settings.question, first.ordered)
    for one in frequencies:
        settings.metric_settings.resolved(one.k)
    return SweepQuestion(
        epsilons=settings.grid.epsilons,
        users=settings.grid.users or (int(first.users or 0),),
        sizes=tuple(one.k for one in frequencies),
        frequencies=frequencies,
        metric=metric,
        protocols=fitting_protocols(settings.menu, first.ordered),
        methods=fitting_methods(settings.menu, (metric,), first.ordered),
        repetitions=REPETITIONS if repetitions is None else repetitions,
        seed=settings.simulation.seed,
        metric_settings=settings.metric_settings,
    )
