"""Reports that name categories: one each (randomised response), or a set of omega (subset selection)."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain, permutations
from typing import cast

import numpy as np

from advisor.errors import InputError, listed
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import HEADERS, InputTable, numbers_rows
from advisor.inputs.domain import build_domain
from advisor.inputs.histogram import RawHistogram
from advisor.inputs.labels import missing_doubts, missing_labels, shortened, value_of
from advisor.inputs.numbers import all_numbers, number, whole_count
from advisor.inputs.reports.counting import Counting
from advisor.inputs.reports.settings import ReportSettings, column_note, named_column, no_such_column, place_names
from simulator.protocols.subset import SubsetSelection

_SEPARATORS = {";": "semicolons", "|": "vertical bars", ",": "commas", None: "blanks"}


def labels_have_header(first: Sequence[str], usual: bool, settings: ReportSettings) -> bool:
    """Tell a header from a report; a cell that holds categories of the domain, or numbers, is a report."""
    domain = set(settings.domain or ())
    marks: tuple[str | None, ...] = () if settings.kind == "value" else tuple(_SEPARATORS)
    for cell in first:
        parts = {part for mark in marks for part in _split(cell, mark)} | {cell.strip()}
        if parts & domain or any(number(part) is not None for part in parts):
            return False
    return usual


def says_value(settings: ReportSettings) -> str:
    """Return what a report of one category is."""
    domain = settings.domain
    return f"a report is one of the domain: {listed(domain, most=6)}" if domain else "a report is one value"


@dataclass(frozen=True)
class Labels:
    """Reports of omega different categories each, in a column for each of them, or all in one."""

    settings: ReportSettings
    at: int | None  # the one column
    separator: str | None = None  # of several categories in a cell; None: blanks
    omega: int = 1

    @cached_property
    def known(self) -> frozenset[str | Decimal]:
        """The labels of the domain, and their values if all are numbers."""
        domain = self.settings.domain or ()
        return frozenset(domain) | frozenset(map(value_of, domain) if all_numbers(domain) else ())

    def is_category(self, label: str) -> bool:
        """Return whether a label may be a category."""
        given = self.settings.domain is None or bool(self.known & {label, number(label)})
        return bool(label) and given and not self.settings.drops(label)

    def _members(self, cells: list[str]) -> list[str]:
        return cells if self.at is None or self.omega == 1 else _split(cells[0], self.separator)

    def counts(self, block: Block) -> Counter[str] | None:
        """Return how many reports hold each label; None if one of them is none."""
        if self.omega == 1 and self.at is not None:
            users, right = Counter(block.tallied(self.at)), True
        else:
            sets = block.rows() if self.at is None else [self._members([cell]) for cell in block.cells(self.at)]
            users = Counter(chain.from_iterable(sets))
            right = all(len(members) == len(set(members)) == self.omega for members in sets)
        return users if right and all(map(self.is_category, users)) else None

    def plain(self, cells: list[str]) -> list[str | None]:
        """Return the cells of a report."""
        members = self._members(cells)
        right = len(members) == len(set(members)) == self.omega and all(map(self.is_category, members))
        return [cell if right else None for cell in cells]


def count_values(rows: Rows, settings: ReportSettings) -> Counting:
    """Return how the values of generalised randomised response are counted.

    Raises InputError where nobody can tell which column holds them.
    """
    table = rows.table
    at = named_column(table, settings.column)
    counts = _counts_beside(table, at)
    if counts is not None:
        name = shlex.quote(table.names[counts] or f"{counts + 1}") if table.names else f"{counts + 1}"
        raise InputError(
            f"{table.source}: column {table.called(counts)} holds a whole number beside each value; if it is the "
            f"number of reports with that value say --counts {name}, if each row is one report give that column alone"
        )
    if at is None:
        raise no_such_column(table, f"a report of {settings.protocol} is one value")
    return Counting(table, settings, column_note(table, at), [at], Labels(settings, at), says_value(settings))


def _counts_beside(table: InputTable, values: int | None) -> int | None:
    """Return which of two columns holds whole numbers beside distinct values, if `values` is not that one.

    Numbers from 0 or 1 on, one by one, are those of the rows, unless a count is what their column is called.
    """
    found, named = [], HEADERS["count_alone"] | HEADERS["counted"]
    for one, other in permutations(table.values, 2) if len(table.values) == 2 else ():
        counts, labels, called = table.cells(one), table.cells(other), table.plain_names[one : one + 1]
        tally = len(set(labels)) == len(labels) > 1 and all(isinstance(whole_count(cell), int) for cell in counts)
        numbered = numbers_rows(counts)
        if values != one and tally and set(counts) != {"1"} and (not numbered or named.intersection(called)):
            found.append((not named.intersection(called), one))
    return min(found)[1] if len({unnamed for unnamed, _ in found}) == len(found) > 0 else None


def count_sets(rows: Rows, settings: ReportSettings) -> Counting:
    """Return how the reports that hold each category are counted, for subset selection."""
    table = rows.table
    at = named_column(table, settings.column)
    oracle = cast(SubsetSelection, settings.oracle(settings.k or 0))
    separator = None if at is None else _separator(table.cells(at), set(settings.domain or ()))
    notes: tuple[str, ...] = ("each column read as one member of the set",)
    if at is not None:
        separated = f"members of a set separated by {_SEPARATORS[separator]}"
        notes = (*column_note(table, at), *([separated] if oracle.omega > 1 else []))
    says = f"a report is {oracle.omega} different categories ({settings}, k={settings.k}; others: --subset-size)"
    if at is None:
        says += ", one a column; if one column holds the sets, name it with --column"
    form = Labels(settings, at, separator, oracle.omega)
    return Counting(table, settings, notes, None if at is None else [at], form, says, even=at is not None)


def check_labels(settings: ReportSettings, users: Mapping[str, int], source: str) -> None:
    """Raise InputError where a set is written in two ways, or there are more categories than there can be."""
    kinds: dict[str | Decimal, str] = {}
    for label in users:
        value = number(label)
        key: str | Decimal = label if value is None else value
        if key in kinds and settings.kind == "subset":
            raise InputError(
                f"{source}: {shortened(label)} and {shortened(kinds[key])} are the same number; write it in one way"
            )
        kinds[key] = label
        if settings.k is not None and len(kinds) > settings.k:
            raise InputError(
                f"{source}: {shortened(label)} is different category number {settings.k + 1}, but k is "
                f"{settings.k}; k may be wrong{', and --skip-bad needs --domain FILE' if settings.skip_bad else ''}"
            )


def domain_of_labels(settings: ReportSettings, reported: Mapping[str, int], source: str) -> RawHistogram:
    """Put the labels in order, with those that nobody reported; the order of the reports never matters.

    Raises InputError where they do not make a domain.
    """
    domain = settings.domain
    # "NA" can only be a missing value where all else is numbers.
    missing = [label for label in missing_labels(reported) if label not in (domain or ())]
    if missing:
        raise InputError(f"{source}: reports are missing ({missing[0]!r}); --drop-missing leaves out such rows")
    users = dict(sorted(reported.items()))
    if domain is None and settings.k is not None and all_numbers(users):
        values, k = set(map(value_of, users)), settings.k
        domain = next((place_names(k + 1)[at:][:k] for at in (0, 1) if values <= set(range(at, at + k))), None)
    counts = np.fromiter(users.values(), dtype=np.int64, count=len(users))
    ordered = None if domain is None else False  # keep the order given
    try:
        built = build_domain(RawHistogram(tuple(users), counts, False), k=settings.k, domain=domain, ordered=ordered)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    if domain is not None and settings.domain is None:
        return replace(built, assumptions=(f"reports are numbers: the categories are {domain[0]} to {domain[-1]}",))
    if settings.k is not None:
        return built
    k = len(built.labels)
    note = f"k={k}, the categories reported: p and q depend on it, and categories that nobody reported are missed"
    warnings = (*built.warnings, *(() if settings.domain else missing_doubts(users)))
    if once := int(np.count_nonzero(built.counts == 1)):
        warnings += (
            f"{once} of {k} categories {'was' if once == 1 else 'were'} reported only once, so that others may not "
            "have been reported at all, and k is larger; give it with --k, or all categories with --domain FILE",
        )
    return replace(built, assumptions=(*built.assumptions, note), warnings=warnings)


def _separator(cells: Sequence[str], domain: set[str]) -> str | None:
    """Return the separator that is in most cells; blanks only if there is none of the others."""
    best = max(";|,", key=lambda mark: sum(mark in cell for cell in cells))
    return best if any(best in cell and cell not in domain for cell in cells) else None


def _split(cell: str, separator: str | None) -> list[str]:
    return cell.split() if separator is None else [part.strip() for part in cell.split(separator)]
