"""Reports that name categories: one each (randomised response), or a set of omega (subset selection)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import chain

import numpy as np

from advisor.errors import InputError, listed, near_miss
from advisor.inputs.domain import build_domain
from advisor.inputs.domain_labels import value_of
from advisor.inputs.limits import MOST_LABELS
from advisor.inputs.numbers import all_numbers, is_missing, number
from advisor.inputs.report_formats import Asked, Collected, column_note, named_column, no_such_column, place_names
from advisor.inputs.rows import Rows
from advisor.inputs.tally import plural, shortened
from simulator.protocols.subset import SubsetSelection

_SEPARATORS = {";": "semicolons", "|": "vertical bars", ",": "commas", None: "blanks"}


def labels_have_header(first: Sequence[str], usual: bool, asked: Asked) -> bool:
    """Tell a header from a report; a cell that holds categories of the domain, or numbers, is a report."""
    known = set(asked.domain or ())
    marks: tuple[str | None, ...] = () if asked.protocol == "grr" else tuple(_SEPARATORS)
    for cell in first:
        parts = {part for mark in marks for part in _split(cell, mark)} | {cell.strip()}
        if parts & known or any(number(part) is not None for part in parts):
            return False
    return usual


class _Labels:
    """How many reports hold each label, and where each was first seen."""

    def __init__(self, rows: Rows, asked: Asked, *, one_spelling: bool) -> None:
        self.rows = rows
        self.asked = asked
        self.users: Counter[str] = Counter()
        self.first_seen: dict[str, int] = {}
        self._one_spelling = one_spelling
        self._spelled: dict[str | Decimal, str] = {}
        self._known = set(asked.domain or ())
        self._values = set(map(value_of, asked.domain)) if asked.domain and all_numbers(asked.domain) else set()

    def add(self, labels: Sequence[str], place_of: Callable[[int], int]) -> None:
        """Count stripped labels; place_of gives the line of one by its index."""
        known = len(self.users)
        self.users.update(labels)
        if len(self.users) == known:
            return
        for at, label in enumerate(labels):
            if label not in self.first_seen:
                self.first_seen[label] = place_of(at)
                self._check_new(label, place_of(at))

    def _check_new(self, label: str, place: int) -> None:
        if not label:
            raise self.rows.bad(place, "the report is missing (an empty cell); fill it in, or remove the row")
        value = number(label)
        key: str | Decimal = label if value is None else value
        if self._one_spelling and key in self._spelled:
            other = self._spelled[key]
            raise self.rows.bad(
                place, f"{shortened(label)} and {shortened(other)} are the same number; write it in one way"
            )
        self._spelled[key] = label
        domain, k = self.asked.domain, self.asked.k
        if domain is not None and label not in self._known and key not in self._values:
            raise self.rows.bad(place, f"{shortened(label)} is not in the domain{self._hint(label, place)}")
        if k is not None and len(self._spelled) > k:
            raise self.rows.bad(
                place, f"{shortened(label)} is the {k + 1}th different category, but k is {k}; k may be wrong"
            )
        if len(self.users) > MOST_LABELS:
            raise InputError(
                f"{self.rows.table.source}: more than {MOST_LABELS} different reports, which do not look like "
                "categories; choose another --column"
            )

    def _hint(self, label: str, place: int) -> str:
        table, domain = self.rows.table, self.asked.domain or ()
        if table.names is None and table.places and place == table.places[0]:
            return f"; it has {listed(domain, most=6)}; if the line names the columns, say --header"
        return near_miss(label, domain[:20_000]) or f"; it has {listed(domain, most=6)}"

    def collected(self, n: int, notes: tuple[str, ...]) -> Collected:
        """Put the labels in order, with those that nobody reported."""
        self._refuse_missing()
        domain, ordered = self.asked.domain, None
        if domain is None and self.asked.k is not None:
            domain = _numbered(list(self.users), self.asked.k)
            if domain is not None:
                notes = (*notes, f"reports are numbers: the categories are {domain[0]} to {domain[-1]}")
        if domain is not None:
            ordered = False  # keep the order given
        counts = np.fromiter(self.users.values(), dtype=np.int64, count=len(self.users))
        try:
            built = build_domain(
                tuple(self.users), counts, from_histogram=False, k=self.asked.k, domain=domain, ordered=ordered
            )
        except InputError as error:
            raise InputError(f"{self.rows.table.source}: {error}") from None
        said = built.assumptions if domain is None or self.asked.domain is not None else ()
        return Collected(built.labels, built.counts, n, (*notes, *said), built.warnings)

    def _refuse_missing(self) -> None:
        """Refuse "NA" where it can only be a missing value: all else is numbers."""
        missing = [label for label in self.users if is_missing(label) and label not in self._known]
        if missing and all_numbers([label for label in self.users if not is_missing(label)]):
            label = min(missing, key=self.first_seen.__getitem__)
            raise self.rows.bad(
                self.first_seen[label], f"the report is missing ({label!r}); fill it in, or remove the row"
            )


def _numbered(labels: Sequence[str], k: int) -> tuple[str, ...] | None:
    """Return 0 to k-1, or else 1 to k, if all labels are among these."""
    if not all_numbers(labels):
        return None
    values = list(map(value_of, labels))
    if min(values) < 0 or max(values) > k or any(value != value.to_integral_value() for value in values):
        return None
    if max(values) < k:
        return place_names(k)
    return tuple(map(str, range(1, k + 1))) if min(values) > 0 else None


def collect_values(rows: Rows, asked: Asked) -> Collected:
    """Count the values of generalised randomised response.

    Raises
    ------
    InputError
        For a missing value and one that is not in the domain.
    """
    at = named_column(rows.table, asked.column)
    if at is None:
        raise no_such_column(rows.table, "a report of grr is one value")
    labels = _Labels(rows, asked, one_spelling=False)
    n = 0
    for block in rows.blocks():
        labels.add(block.column(at), block.places.__getitem__)
        n += len(block.rows)
    found = labels.collected(n, column_note(rows.table, at))
    if asked.k is not None:
        return found
    k = len(found.labels)
    assumed = f"k={k}, the categories reported: p and q depend on it, and categories that nobody reported are missed"
    warnings = found.warnings
    if once := int(np.count_nonzero(found.support == 1)):
        warnings = (
            *warnings,
            f"{once} of {k} categories {'was' if once == 1 else 'were'} reported only once, so that others may not "
            "have been reported at all, and k is larger; give it with --k, or all categories with --domain FILE",
        )
    return Collected(found.labels, found.support, n, (*found.assumptions, assumed), warnings)


def collect_sets(rows: Rows, asked: Asked) -> Collected:
    """Count the reports that hold each category, for subset selection.

    Raises
    ------
    InputError
        For a set that does not have omega different members, or one that is not in the domain.
    """
    table, k = rows.table, asked.k or 0
    oracle = asked.oracle(k)
    if not isinstance(oracle, SubsetSelection):
        raise TypeError(f"{asked.protocol} is no subset selection")
    omega = oracle.omega
    size = f"{asked.setting} and k={k} has sets of omega={omega}"
    at = named_column(table, asked.column)
    separator: str | None = None
    if at is None:
        notes: tuple[str, ...] = ("each column read as one member of the set",)
    else:
        separator = _separator(table.cells(at), set(asked.domain or ()))
        separated = f"members of a set separated by {_SEPARATORS[separator]}"
        notes = (*column_note(table, at), separated) if omega > 1 else column_note(table, at)
    labels = _Labels(rows, asked, one_spelling=True)
    n = 0
    for block in rows.blocks(even=at is not None):
        if at is None:
            sets = [list(map(str.strip, row)) for row in block.rows]
        elif omega == 1:
            sets = [[cell] for cell in block.column(at)]
        else:
            sets = [_split(cell, separator) for cell in block.column(at)]
        for members, place in zip(sets, block.places, strict=True):
            if not len(members) == len(set(members)) == omega or "" in members:
                hint = "" if at is not None else "; if one column holds the sets, name it with --column"
                raise rows.bad(place, _wrong_set(members, omega, size) + hint)
        labels.add(list(chain.from_iterable(sets)), np.repeat(block.places, omega).tolist().__getitem__)
        n += len(sets)
    return labels.collected(n, notes)


def _wrong_set(members: Sequence[str], omega: int, size: str) -> str:
    if not any(members):  # an empty cell splits into [] or [""]
        return "the report is missing (an empty cell); fill it in, or remove the row"
    if len(members) != omega:
        got = f"the set has {plural(len(members), 'member', 'members')} ({listed(members, most=4)})"
        return f"{got}, but {size}; k or eps may be wrong"
    if "" in members:
        return f"the set holds an empty member ({listed(map(shortened, members), most=4)}); {size} categories"
    twice = next(label for label, times in Counter(members).items() if times > 1)
    return f"the set holds {shortened(twice)} twice, but {size} different categories"


def _separator(cells: Sequence[str], known: set[str]) -> str | None:
    """Return the separator that is in most cells; blanks only if there is none of the others."""
    best = max(";|,", key=lambda mark: sum(mark in cell for cell in cells))
    return best if any(best in cell and cell not in known for cell in cells) else None


def _split(cell: str, separator: str | None) -> list[str]:
    return cell.split() if separator is None else [part.strip() for part in cell.split(separator)]
