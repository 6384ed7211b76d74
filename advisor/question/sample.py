"""A sample: its frequencies, from a file or from memory, and the request that it is for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.errors import InputError, printable
from advisor.inputs.domain import build_domain, read_domain
from advisor.inputs.held import remembered
from advisor.inputs.histogram import read_histogram
from advisor.inputs.memory import sample_in_memory
from advisor.inputs.numbers import all_numbers
from advisor.inputs.tally import RawHistogram, binned
from advisor.question.central import central_budgets
from advisor.question.cleaning import Cleaning
from advisor.question.constraints import bounded, constrained
from advisor.question.fitting import (
    checked_threat,
    fitting_methods,
    fitting_metrics,
    fitting_protocols,
    known_targets,
)
from advisor.question.frequencies import Frequencies
from advisor.question.option import refuse
from advisor.question.plurality import make_plan
from advisor.question.request import FULL_RACE_DOMAIN, RankSettings, Request
from advisor.question.settings import Categories, Columns, Shape
from knowledge.model import predicted_metrics
from simulator.populations import apportion
from simulator.seeding import rng_for
from simulator.surrogate import sample_posterior

MOST_DISTINCT, NEARLY_ALL = 60, 0.8  # different values, and share of the rows, from which a sample is hardly one
FAR_SMALLER = 10  # a sample this many times smaller than n is not taken for the truth


def from_memory(
    sample: Iterable[Any] | None,
    sample_counts: ArrayLike | Mapping[Any, int] | None,
    domain: Categories,
    cleaning: Cleaning | None = None,
) -> Frequencies:
    """Return the frequencies of a sample in memory: one value per user, or one count per category.

    Raises InputError if both are given, or what is given is no sample.
    """
    cleaning = Cleaning() if cleaning is None else cleaning
    refuse_beside_bins(domain, cleaning)
    read = sample_in_memory(sample, sample_counts)
    name = getattr(sample, "name", None)  # of a pandas series
    column = name if isinstance(name, str) else ""
    histogram = RawHistogram(tuple(read.labels), read.counts, read.in_order, read.assumptions, (), column=column)
    if cleaning.cut is not None:
        users = {label: count for label, count in zip(read.labels, read.counts.tolist(), strict=True) if count}
        cut = binned(read.name, column, users, cleaning.cut)
        histogram = replace(cut, from_histogram=read.in_order, column=column)
    if domain.ordered is None and cleaning.cut is None:
        domain = replace(domain, ordered=read.ordered)
    return over_domain(histogram, read.name, domain, cleaning)


def from_file(path: str, domain: Categories, columns: Columns, cleaning: Cleaning) -> Frequencies:
    """Return the frequencies of a sample file.

    Raises InputError if the file cannot be read as a sample, or is none over the domain.
    """
    refuse_beside_bins(domain, cleaning)
    histogram = read_sample(path, columns, cleaning)
    if cleaning.domain is None and not cleaning.transactions:
        histogram = doubted(histogram)
    return over_domain(histogram, sample_name(path), domain, cleaning)


def doubted(histogram: RawHistogram, name: str | None = None) -> RawHistogram:
    """Return what was read one row a user, with a warning where nearly every row has a value of its own.

    name: of the column, where there are several. Numbers that differ are for bins.
    """
    distinct, rows = len(histogram.labels), int(histogram.counts.sum())
    plain = histogram.from_histogram or histogram.bins is not None
    if plain or distinct <= MOST_DISTINCT or distinct < NEARLY_ALL * rows or all_numbers(histogram.labels):
        return histogram
    where = "" if name is None else f"column {name}: "
    warning = f"{where}{distinct:,} different values in {rows:,} rows: is this the right file, and the right column?"
    return replace(histogram, warnings=(*histogram.warnings, warning))


def sample_name(path: str) -> str:
    """Return what a file is called in an answer."""
    return "standard input" if path == "-" else printable(path)


def read_sample(path: str, columns: Columns, cleaning: Cleaning) -> RawHistogram:
    """Read a sample file.

    Raises InputError if it cannot be read as a sample.
    """
    read = partial(
        read_histogram,
        path,
        column=columns.label,
        counts=columns.counts,
        header=columns.header,
        keep_top=cleaning.keep_top,
        drop_missing=cleaning.drop_missing,
        transactions=cleaning.transactions,
        cut=cleaning.cut,
    )
    return remembered(path, (columns, cleaning), read)


def refuse_beside_bins(domain: Categories, cleaning: Cleaning) -> None:
    """Refuse what bins decide: which categories there are, and their order.

    Raises InputError if it was asked for too.
    """
    if cleaning.cut is not None:
        flags = [*domain.given("k"), *cleaning.given("domain", "keep_top", "other", "transactions")]
        refuse(flags, "does not go with bins: they are the categories, k is their number, and they hold numbers")
        if domain.ordered is False:
            raise InputError("--unordered does not go with bins: numbers have an order")


def over_domain(histogram: RawHistogram, name: str, domain: Categories, cleaning: Cleaning) -> Frequencies:
    """Return the frequencies of a sample over its domain; `name` is what the sample is called.

    Raises InputError if the sample does not fit the domain.
    """
    if histogram.bins is not None:
        return Frequencies(
            weights=histogram.counts,
            labels=histogram.labels,
            ordered=True,
            name=name,
            users=int(histogram.counts.sum()),
            assumptions=(*histogram.assumptions, histogram.bins.sentence),
            warnings=histogram.warnings,
            bins=histogram.bins,
            column=histogram.column,
        )
    built = build_domain(
        histogram.labels,
        histogram.counts,
        from_histogram=histogram.from_histogram,
        k=domain.k,
        domain=None if cleaning.domain is None else read_domain(cleaning.domain),
        keep_top=cleaning.keep_top,
        other=cleaning.other,
        ordered=domain.ordered,
        transactions=cleaning.transactions,
    )
    return Frequencies(
        weights=built.counts,
        labels=built.labels,
        ordered=built.ordered,
        name=name,
        users=int(built.counts.sum()),
        assumptions=(*histogram.assumptions, *built.assumptions),
        warnings=(*histogram.warnings, *built.warnings),
        column=histogram.column,
    )


def refuse_mixed(sample: str | None, shape: Shape, *reading: Columns | Cleaning) -> None:
    """Refuse options about a file where there is none, and an assumed shape where there is one.

    Raises InputError if there are any.
    """
    if sample is None:
        refuse((flag for group in reading for flag in group.given()), "needs a file, and none is given")
    else:
        refuse(shape.given(), f"is for a question without a file: the frequencies are those of {sample}")


def refuse_both(shape: Shape, sample: object, sample_counts: object) -> bool:
    """Return whether there is a sample in memory; refuse an assumed shape beside it.

    Raises InputError if both are given.
    """
    has_sample = sample is not None or sample_counts is not None
    if has_sample and shape.given():
        raise InputError("give a sample, or skew or shape, not both")
    return has_sample


def sample_request(
    sample: str, settings: RankSettings, domain: Categories, columns: Columns, cleaning: Cleaning, *, instant: bool
) -> Request:
    """Read a sample file and build the request that it is for.

    Raises InputError if the file, or what is asked of it, is wrong.
    """
    return build_request(settings, from_file(sample, domain, columns, cleaning), instant=instant)


def memory_request(
    settings: RankSettings,
    domain: Categories,
    sample: Iterable[Any] | None,
    sample_counts: ArrayLike | Mapping[Any, int] | None,
    cleaning: Cleaning,
    *,
    instant: bool,
) -> Request:
    """Return the request for a sample in memory: one value per user, or one count per category.

    Raises InputError if it is no sample, or what is asked of it is wrong.
    """
    return build_request(settings, from_memory(sample, sample_counts, domain, cleaning), instant=instant)


def build_request(settings: RankSettings, frequencies: Frequencies, *, instant: bool = False) -> Request:
    """Join checked settings and a sample over its domain.

    Raises InputError if a metric or method that was asked for does not fit the domain.
    """
    counts = np.asarray(frequencies.weights, dtype=np.int64)
    k, users, ordered = frequencies.k, int(counts.sum()), frequencies.ordered
    question, seed = settings.question, settings.simulation.seed
    everyone = users if question.n is None else question.n
    menu = fitting_protocols(settings.menu, ordered, instant=instant)
    central = central_budgets(settings.promise, menu, k, everyone)
    epsilon = settings.epsilon if central is None else central.anyone
    plan = make_plan(settings.plurality, epsilon, settings.menu.protocols, counts / users, everyone)
    n = everyone if plan is None else plan.reports
    small = users * FAR_SMALLER <= n and not instant
    metrics, notes = fitting_metrics(question, ordered, predictable=_predictable(ordered, instant=instant))
    values = settings.metric_settings.resolved(k)
    size_notes, worries = _about_size(frequencies, users, everyone, named=question.n is not None, small=small, n=n)
    first, most = settings.repetitions
    assumed = [*frequencies.assumptions, *notes, *values.assumptions(metrics), *size_notes]
    if not instant and settings.simulation.max_repetitions is None and k > FULL_RACE_DOMAIN:
        most = max(first, most * FULL_RACE_DOMAIN // k)
        assumed.append(f"at most {most} repetitions, because k is large (--max-reps says otherwise)")
    request = Request(
        epsilon=epsilon if plan is None else plan.epsilon_report,
        k=k,
        n=n,
        metrics=metrics,
        protocols=menu,
        methods=fitting_methods(settings.menu, metrics, ordered, settings.threat),
        ordered=ordered,
        labels=frequencies.labels,
        counts=apportion(counts, n),
        sample=frequencies.name,
        sample_users=users,
        seed=seed,
        repetitions=0 if instant else first,
        max_repetitions=0 if instant else most,
        metric_values=values,
        assumptions=tuple(assumed),
        warnings=(*frequencies.warnings, *worries, *(() if central is None else central.warnings)),
        source="grid" if instant else "surrogate" if small else "simulation",
        surrogate="dirichlet" if small else None,
        populations=_behind_the_sample(counts, n, most, seed, ordered=ordered) if small else None,
        threat=checked_threat(settings.threat, n, instant=instant),
        targets=known_targets(settings.threat, frequencies.labels),
        plan=plan,
        bins=frequencies.bins,
        central=central,
        column=frequencies.column,
    )
    return bounded(constrained(request, settings.limits))


def _about_size(
    frequencies: Frequencies, users: int, everyone: int, *, named: bool, small: bool, n: int
) -> tuple[list[str], tuple[str, ...]]:
    """Return what is assumed of the number of users, and what is worrying about a sample that is smaller."""
    if not named:
        return [f"n = {everyone:,} users will report: the size of the sample (--n says otherwise)"], ()
    if n == users:
        return [], ()
    assumed = [f"the frequencies of the sample's {users:,} users stand for those of n = {n:,}"]
    if small:
        return assumed, (
            f"the sample ({users:,} users) is far smaller than n = {n:,}: what it leaves open is simulated too, with "
            "populations drawn from its Dirichlet posterior",
        )
    return assumed, frequencies.too_few_for(n)


def _predictable(ordered: bool, *, instant: bool) -> tuple[str, ...] | None:
    if not instant:
        return None

    return predicted_metrics(ordered=ordered)


def _behind_the_sample(counts: NDArray[np.int64], n: int, draws: int, seed: int, *, ordered: bool) -> NDArray[np.int64]:
    """Return one population of n users for each repetition, drawn from the posterior of a small sample."""
    frequencies = sample_posterior(counts, draws, rng_for(seed, "surrogate", "dirichlet"), ordered=ordered)
    return np.stack([apportion(row, n) for row in frequencies])
