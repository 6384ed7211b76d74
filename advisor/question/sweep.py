"""What is asked of a sweep: checked, complete and frozen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from advisor.errors import listed
from advisor.question.fitting import fitting_methods, fitting_metrics, fitting_protocols
from advisor.question.frequencies import Frequencies
from advisor.question.metric_settings import MetricSettings
from advisor.question.question import Question
from advisor.question.sample import frequencies_over
from simulator import __version__

REPETITIONS = 20

Place = tuple[float, int, int]  # (epsilon, n, k)


@dataclass(frozen=True, eq=False)  # `frequencies` hold arrays
class SweepQuestion:
    """What is swept over, and with what."""

    # epsilons, users, sizes: values of ε, n and k
    epsilons: tuple[float, ...]
    users: tuple[int, ...]
    sizes: tuple[int, ...]
    frequencies: tuple[Frequencies, ...]  # the frequencies for each k
    # metrics, protocols, methods, repetitions, max_repetitions, seed, metric_settings: as everywhere
    metrics: tuple[str, ...]
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    repetitions: int
    max_repetitions: int
    seed: int
    metric_settings: MetricSettings

    @property
    def metric(self) -> str:
        """The metric, or the metrics as text."""
        return listed(self.metrics)

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
        values = self.metric_settings.resolved(self.sizes[0], self.first.labels)
        by_k = ("topk", "hotspots") if self.metric_settings.top_values is None else ()  # one for each k
        metrics = tuple(name for name in self.metrics if name not in by_k)
        return (*self.first.assumptions, *values.assumptions(metrics))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should worry about."""
        texts = [text for of_size in self.frequencies for text in of_size.warnings]
        texts += [
            f"{text}; ldp-advise with one --eps and --n simulates what a small sample leaves open"
            for text in self.first.too_few_for(max(self.users))
        ]
        return tuple(dict.fromkeys(texts))

    @property
    def plan(self) -> dict[str, object]:
        """What decides the numbers of a cell besides its place; cells of the same plan can be kept in one file.

        Of a sample that is the users of the values that occur: those that do not, another k adds.
        """
        values: dict[str, object] = {**self.metric_settings.resolved(self.sizes[0], self.first.labels).plain()}
        if self.metric_settings.top_values is None:
            del values["top_values"]
        weights = self.first.weights
        return {
            "sweep": 5,
            "version": __version__,
            "metrics": list(self.metrics),
            "protocols": list(self.protocols),
            "methods": list(self.methods),
            "repetitions": self.repetitions,
            **({"max_repetitions": self.max_repetitions} if self.max_repetitions > self.repetitions else {}),
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


def sweep_question(question: Question) -> SweepQuestion:
    """Return the sweep that a question asks for.

    Raises InputError if the data are wrong, or the metric or a method that was named does not fit the domains.
    """
    grid, menu = question.grid, question.menu
    domains = [replace(question.domain, k=k) for k in grid.sizes or (None,)]
    seed = question.simulation.seed
    repetitions, most = question.simulation.race(REPETITIONS, question.simulation.repetitions or 0)
    frequencies = frequencies_over(question, domains, question.terms.metrics)
    first = frequencies[0]
    metrics, _ = fitting_metrics(question.terms, first.ordered)
    for of_size in frequencies:
        question.terms.metric_settings.resolved(of_size.k, of_size.labels)
    return SweepQuestion(
        epsilons=grid.epsilons,
        users=grid.users or (int(first.users or 0),),
        sizes=tuple(of_size.k for of_size in frequencies),
        frequencies=frequencies,
        metrics=metrics,
        protocols=fitting_protocols(menu, first.ordered),
        methods=fitting_methods(menu, metrics, first.ordered, k=max(one.k for one in frequencies)),
        repetitions=repetitions,
        max_repetitions=most,
        seed=seed,
        metric_settings=question.terms.metric_settings,
    )
