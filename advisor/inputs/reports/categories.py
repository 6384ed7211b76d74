"""Reports that name categories: one each (randomised response), or a set of omega (subset selection)."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import chain, permutations
from typing import TypeAlias, cast

import numpy as np

from advisor.errors import InputError, listed, near_miss
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import HEADERS, InputTable
from advisor.inputs.domain import LabelDomain, build_domain
from advisor.inputs.histogram import RawHistogram
from advisor.inputs.labels import missing_doubts, missing_labels, plural, shortened, value_of
from advisor.inputs.numbers import MOST_LABELS, all_numbers, number, whole_count
from advisor.inputs.reports.settings import (
    Counting,
    LabelCounts,
    ReportSettings,
    column_note,
    named_column,
    no_such_column,
    place_names,
)
from advisor.inputs.reports.skipping import Tolerance, counts_of
from simulator.protocols.subset import SubsetSelection

_SEPARATORS = {";": "semicolons", "|": "vertical bars", ",": "commas", None: "blanks"}

Labels: TypeAlias = tuple[Mapping[str, int], Callable[[], Mapping[str, int]]]
"""How many reports of a block hold each label, and what finds the first place of each."""


def labels_have_header(first: Sequence[str], usual: bool, settings: ReportSettings) -> bool:
    """Tell a header from a report; a cell that holds categories of the domain, or numbers, is a report."""
    domain = set(settings.domain or ())
    marks: tuple[str | None, ...] = () if settings.kind == "value" else tuple(_SEPARATORS)
    for cell in first:
        parts = {part for mark in marks for part in _split(cell, mark)} | {cell.strip()}
        if parts & domain or any(number(part) is not None for part in parts):
            return False
    return usual


def count_labels(
    table: InputTable, domain: tuple[str, ...] | None, labels: Callable[[Block], Labels], blocks: Iterable[Block]
) -> LabelCounts:
    """Count the labels of reports; look at each label that is new where it is met first.

    Raises InputError for the first report that is none.
    """
    allowed = frozenset(domain or ()) | frozenset(map(value_of, domain) if domain and all_numbers(domain) else ())
    n = 0
    users: Counter[str] = Counter()
    labels_of: dict[str, str] = {}

    def checked(block: Block) -> tuple[int, Mapping[str, int]]:
        users_of_block, first_places = labels(block)
        new = users_of_block.keys() - users.keys()
        places = first_places() if new else {}
        for label in users_of_block:
            if label in new:
                outside = domain is not None and not {label, number(label)} & allowed
                if not label or outside or (isinstance(blocks, Tolerance) and blocks.drops(label)):
                    raise _no_category(table, label, places[label], domain or ())
                labels_of[label] = table.at(places[label])
        return len(block), users_of_block

    for rows, users_of_block in counts_of(blocks, checked):
        n += rows
        users.update(users_of_block)
        if len(users) > MOST_LABELS:
            raise _too_many(table.source)
    return LabelCounts(n, users, labels_of)


def _no_category(table: InputTable, label: str, place: int, domain: Sequence[str]) -> InputError:
    if not label:
        return table.bad(place, "the report is missing (an empty cell); --drop-missing leaves out such rows")
    hint = f"; it has {listed(domain, most=6)}"
    if table.names is None and table.places and place == table.places[0]:
        hint += "; if the line names the columns, say --header"
    else:
        hint = near_miss(label, domain) or hint
    return table.bad(place, f"{shortened(label)} is not in the domain{hint}")


def _too_many(source: str) -> InputError:
    return InputError(
        f"{source}: more than {MOST_LABELS} different reports, which do not look like categories; choose another "
        "--column"
    )


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
    count = partial(count_labels, table, settings.domain, partial(values_of, at))
    return Counting(table, settings, column_note(table, at), [at], count)


def _counts_beside(table: InputTable, values: int | None) -> int | None:
    """Return which of two columns holds whole numbers beside distinct values, if `values` is not that one.

    Numbers from 0 or 1 on, one by one, are those of the rows, unless a count is what their column is called.
    """
    found, named = [], HEADERS["count_alone"] | HEADERS["counted"]
    for one, other in permutations(table.values, 2) if len(table.values) == 2 else ():
        counts, labels, called = table.cells(one), table.cells(other), table.plain_names[one : one + 1]
        numbered = tuple(counts) in (place_names(len(counts)), place_names(len(counts) + 1)[1:])
        tally = len(set(labels)) == len(labels) > 1 and all(isinstance(whole_count(cell), int) for cell in counts)
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
    size = f"{settings} and k={settings.k} has sets of omega={oracle.omega}"
    count = partial(count_labels, table, settings.domain, partial(_sets, table, at, separator, oracle.omega, size))
    return Counting(table, settings, notes, None if at is None else [at], count, even=at is not None)


def values_of(at: int, block: Block) -> Labels:
    """Return the values in a column of a block."""
    return block.tallied(at), lambda: first_places(block.cells(at), block.places)


def _sets(table: InputTable, at: int | None, separator: str | None, omega: int, size: str, block: Block) -> Labels:
    """Return the members of the sets of a block.

    Raises InputError for a set that does not have omega different members.
    """
    if at is None:
        sets = block.rows()
    else:
        sets = [[cell] if omega == 1 else _split(cell, separator) for cell in block.cells(at)]
    for each, place in zip(sets, block.places, strict=True):
        if not len(each) == len(set(each)) == omega or "" in each:
            hint = "" if at is not None else "; if one column holds the sets, name it with --column"
            raise table.bad(place, _wrong_set(each, omega, size) + hint)
    members = list(chain.from_iterable(sets))
    return Counter(members), lambda: first_places(members, np.repeat(block.places, omega).tolist())


def first_places(labels: Sequence[str], places: Sequence[int]) -> dict[str, int]:
    """Return the first place of each label."""
    return dict(zip(reversed(labels), reversed(places), strict=True))


def joined(settings: ReportSettings, total: LabelCounts, part: LabelCounts, source: str) -> LabelCounts:
    """Add up in the order of the files, so that an error names the first invalid report.

    Raises InputError where a set is written in two ways, or there are more categories than there can be.
    """
    new = [label for label in part.users if label not in total.users]
    result = total + part
    if not new:
        return result
    kinds: dict[str | Decimal, str] = {}
    for label in (*total.users, *new):
        value = number(label)
        key: str | Decimal = label if value is None else value
        if key in kinds and settings.kind == "subset":
            raise InputError(
                f"{result.seen[label]}: {shortened(label)} and {shortened(kinds[key])} are the same number; write it "
                "in one way"
            )
        kinds[key] = label
        if settings.k is not None and len(kinds) > settings.k:
            raise InputError(
                f"{result.seen[label]}: {shortened(label)} is different category number {settings.k + 1}, but k is "
                f"{settings.k}; k may be wrong{', and --skip-bad needs --domain FILE' if settings.skip_bad else ''}"
            )
    if len(result.users) > MOST_LABELS:
        raise _too_many(source)
    return result


def domain_of_labels(settings: ReportSettings, counted: LabelCounts, source: str) -> LabelDomain:
    """Put the labels in order, with those that nobody reported; the order of the reports never matters.

    Raises InputError where they do not make a domain.
    """
    domain = settings.domain
    # "NA" can only be a missing value where all else is numbers.
    missing = [label for label in missing_labels(counted.seen) if label not in (domain or ())]
    if missing:
        raise InputError(
            f"{counted.seen[missing[0]]}: the report is missing ({missing[0]!r}); --drop-missing leaves out such rows"
        )
    users = dict(sorted(counted.users.items()))
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


def _wrong_set(members: Sequence[str], omega: int, size: str) -> str:
    if not any(members):  # an empty cell splits into [] or [""]
        return "the report is missing (an empty cell); --drop-missing leaves out such rows"
    if len(members) != omega:
        got = f"the set has {plural(len(members), 'member', 'members')} ({listed(members, most=4)})"
        return f"{got}, but {size}; k or eps may be wrong, or they have another size: --subset-size {len(members)}"
    if "" in members:
        return f"the set holds an empty member ({listed(map(shortened, members), most=4)}); {size} categories"
    twice = next(label for label, times in Counter(members).items() if times > 1)
    return f"the set holds {shortened(twice)} twice, but {size} different categories"


def _separator(cells: Sequence[str], domain: set[str]) -> str | None:
    """Return the separator that is in most cells; blanks only if there is none of the others."""
    best = max(";|,", key=lambda mark: sum(mark in cell for cell in cells))
    return best if any(best in cell and cell not in domain for cell in cells) else None


def _split(cell: str, separator: str | None) -> list[str]:
    return cell.split() if separator is None else [part.strip() for part in cell.split(separator)]
