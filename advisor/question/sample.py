"""The frequencies of a sample, from a file or from memory, and of what stands for one."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from advisor.errors import InputError, printable
from advisor.inputs.columns import are_bits
from advisor.inputs.domain import build_domain, read_domain
from advisor.inputs.held import HeldFile, remembered
from advisor.inputs.histogram import RawHistogram, binned, read_histogram
from advisor.inputs.memory import sample_in_memory
from advisor.inputs.numbers import all_numbers
from advisor.inputs.transactions import read_transactions
from advisor.question.cleaning import Cleaning
from advisor.question.frequencies import Frequencies, assumed_frequencies
from advisor.question.option import refuse
from advisor.question.question import MemorySample, Question
from advisor.question.settings import Categories

MOST_DISTINCT, NEARLY_ALL = 60, 0.8  # different values, and share of the rows, from which a sample is hardly one
MOST_NUMBERS = 1000  # different numbers from which bins are suggested
USERS_OF_SHARES = 1_000_000_000  # where their number is not given


def simulated_frequencies(question: Question, metrics: tuple[str, ...] = ()) -> Frequencies:
    """Return the frequencies that are simulated: those of a sample, or of a shape.

    metrics: those for which categories of a shape have to be ordered, where the question does not say.

    Raises InputError if the sample or the shape is wrong, or neither a sample nor k is given.
    """
    (frequencies,) = frequencies_over(question, (question.domain,), metrics)
    return frequencies


def frequencies_over(
    question: Question, domains: Iterable[Categories], metrics: tuple[str, ...] = ()
) -> tuple[Frequencies, ...]:
    """Return what `simulated_frequencies` does over some domains; a sample is read once.

    Raises InputError if the sample cannot be read, or is none over a domain, or the shape is wrong.
    """
    if question.sample is None:
        return tuple(assumed_frequencies(replace(question, domain=domain), metrics) for domain in domains)
    cleaning = question.cleaning
    refuse_beside_bins(question.domain, cleaning)
    if isinstance(question.sample, MemorySample):
        histogram, name = _memory_histogram(question.sample, cleaning)
    else:
        histogram, name = _file_histogram(question), sample_name(question.path)
    return tuple(over_domain(histogram, name, domain, cleaning) for domain in domains)


def _memory_histogram(sample: MemorySample, cleaning: Cleaning) -> tuple[RawHistogram, str]:
    """Return what is in memory, and what it is called.

    Raises InputError if it is not a sample, or is to be treated as only rows of files are.
    """
    if cleaning.given("transactions", "keep", "drop_missing", "missing"):
        raise InputError(
            "transactions, keep, drop_missing and missing are for the rows of a file: clean data in memory first, "
            "for example sample=values[values != -99]"
        )
    read, name = sample_in_memory(*sample), "sample_counts" if sample.values is None else "sample"
    if cleaning.cut is None:
        return read, name
    users = {label: count for label, count in zip(read.labels, read.counts.tolist(), strict=True) if count}
    cut = binned(name, read.column, users, cleaning.cut)
    return replace(cut, from_histogram=read.from_histogram, column=read.column), name


def known_labels(question: Question, file: HeldFile) -> int | None:
    """Return how many labels a file that is held has for a question: 0 if it is refused, None if it was not read."""
    made = file.made.get((question.path, question.columns, question.cleaning))
    return None if made is None else len(made.labels) if isinstance(made, RawHistogram) else 0


def _file_histogram(question: Question) -> RawHistogram:
    path, columns, cleaning, n = question.path, question.columns, question.cleaning, question.terms.n
    if question.goal.given() or question.grid.users:  # there n is what is asked for, or has several values
        n = n or USERS_OF_SHARES
    key = (path, columns, cleaning)
    if cleaning.transactions:
        unused = columns.given("column", "counts")
        refuse(unused, "cannot be used with --transactions: there every column is an item; give a file of items alone")
        keep, keep_top = cleaning.keep or "own", cleaning.keep_top
        items = partial(read_transactions, path, keep=keep, keep_top=keep_top, layout=columns.layout)
        return remembered(path, key, items)
    read = partial(
        read_histogram,
        path,
        column=columns.label,
        counts=columns.counts,
        layout=columns.layout,
        missing=cleaning.missing_codes,
        cut=cleaning.cut,
    )
    try:
        histogram = remembered(path, key, read)
    except InputError as error:
        if n is None or "--n" not in error.fields:  # only shares depend on the number of users
            raise
        histogram = remembered(path, (*key, n), partial(read, n=n))
    if columns.label is None and cleaning.domain is None:
        _refuse_reports(path, histogram)
    return histogram if cleaning.domain is not None else doubted(histogram)


def doubted(histogram: RawHistogram, name: str | None = None) -> RawHistogram:
    """Return what was read one row a user, with a warning where nearly every row has a value of its own.

    name: of the column, where there are several; then there are no bins.
    """
    distinct, rows = len(histogram.labels), int(histogram.counts.sum())
    plain = histogram.from_histogram or histogram.bins is not None
    where = "" if name is None else f"column {name}: "
    if plain or distinct <= MOST_DISTINCT:
        return histogram
    if all_numbers(histogram.labels):
        if distinct < MOST_NUMBERS or where:
            return histogram
        warning = f"{distinct:,} different numbers are as many categories: --bins 64 makes few of them"
    elif distinct < NEARLY_ALL * rows:
        return histogram
    else:
        warning = (
            f"{where}{distinct:,} different values in {rows:,} rows: is this the right file, and the right column?"
        )
    return replace(histogram, warnings=(*histogram.warnings, warning))


def _refuse_reports(path: str, histogram: RawHistogram) -> None:
    """Raise InputError for a sample whose values are all strings of equally many bits."""
    if not histogram.from_histogram and histogram.bins is None and are_bits(histogram.labels):
        raise InputError(
            f"{sample_name(path)}: all values are strings of bits, which look like reports (if they are values, say "
            f"--column 1): for example ldp-advise reports {shlex.quote(path)} --protocol oue --eps 1"
        )


def sample_name(path: str) -> str:
    """Return what a file is called in an answer."""
    return "standard input" if path == "-" else printable(path)


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
    built = build_domain(
        histogram,
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
        ordered=bool(built.ordered),
        name=name,
        users=int(built.counts.sum()),
        assumptions=built.assumptions,
        warnings=built.warnings,
        bins=built.bins,
        column=built.column,
    )
