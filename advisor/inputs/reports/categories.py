"""Reports that name categories: one each (randomised response), or a set of omega (subset selection)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import chain

import numpy as np

from advisor.errors import InputError, listed, near_miss
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.domain import build_domain
from advisor.inputs.labels import value_of
from advisor.inputs.numbers import MOST_LABELS, all_numbers, is_missing, number
from advisor.inputs.reports.settings import Collected, Settings, column_note, named_column, no_such_column, place_names
from advisor.inputs.tally import plural, shortened
from simulator import Tally
from simulator.protocols.subset import SubsetSelection

_SEPARATORS = {";": "semicolons", "|": "vertical bars", ",": "commas", None: "blanks"}


def labels_have_header(first: Sequence[str], usual: bool, settings: Settings) -> bool:
    """Tell a header from a report; a cell that holds categories of the domain, or numbers, is a report."""
    known = set(settings.domain or ())
    marks: tuple[str | None, ...] = () if settings.kind == "value" else tuple(_SEPARATORS)
    for cell in first:
        parts = {part for mark in marks for part in _split(cell, mark)} | {cell.strip()}
        if parts & known or any(number(part) is not None for part in parts):
            return False
    return usual


class _Labels:
    """How many reports hold each label, and where each was first seen."""

    def __init__(self, rows: Rows, settings: Settings, *, one_spelling: bool) -> None:
        self.rows = rows
        self.settings = settings
        self.users: Counter[str] = Counter()
        self.first_seen: dict[str, int] = {}
        self._one_spelling = one_spelling
        self._spelled: dict[str | Decimal, str] = {}
        self._known = set(settings.domain or ())
        self._values = (
            set(map(value_of, settings.domain)) if settings.domain and all_numbers(settings.domain) else set()
        )

    def add(self, users: Mapping[str, int], first_places: Callable[[], Mapping[str, int]]) -> None:
        """Count stripped labels; `first_places` gives the first place of each."""
        new = users.keys() - self.users.keys()
        for label, held in users.items():
            self.users[label] += held
        if new:
            places = first_places()
            for label in users:
                if label in new:
                    self.first_seen[label] = places[label]
                    self._check_new(label, places[label])

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
        domain, k = self.settings.domain, self.settings.k
        if domain is not None and label not in self._known and key not in self._values:
            raise self.rows.bad(place, f"{shortened(label)} is not in the domain{self._hint(label, place)}")
        if k is not None and len(self._spelled) > k:
            raise self.rows.bad(
                place, f"{shortened(label)} is different category number {k + 1}, but k is {k}; k may be wrong"
            )
        if len(self.users) > MOST_LABELS:
            raise InputError(
                f"{self.rows.table.source}: more than {MOST_LABELS} different reports, which do not look like "
                "categories; choose another --column"
            )

    def _hint(self, label: str, place: int) -> str:
        table, domain = self.rows.table, self.settings.domain or ()
        if table.names is None and table.places and place == table.places[0]:
            return f"; it has {listed(domain, most=6)}; if the line names the columns, say --header"
        return near_miss(label, domain) or f"; it has {listed(domain, most=6)}"

    def collected(self, n: int, notes: tuple[str, ...]) -> Collected:
        """Put the labels in order, with those that nobody reported."""
        self._refuse_missing()
        domain, ordered = self.settings.domain, None
        if domain is None and self.settings.k is not None:
            domain = _numbered(list(self.users), self.settings.k)
            if domain is not None:
                notes = (*notes, f"reports are numbers: the categories are {domain[0]} to {domain[-1]}")
        if domain is not None:
            ordered = False  # keep the order given
        counts = np.fromiter(self.users.values(), dtype=np.int64, count=len(self.users))
        try:
            built = build_domain(
                tuple(self.users), counts, from_histogram=False, k=self.settings.k, domain=domain, ordered=ordered
            )
        except InputError as error:
            raise InputError(f"{self.rows.table.source}: {error}") from None
        said = built.assumptions if domain is None or self.settings.domain is not None else ()
        return Collected(built.labels, Tally(built.counts, n), (*notes, *said), built.warnings)

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


def _first_places(labels: Sequence[str], places: Sequence[int]) -> dict[str, int]:
    return dict(zip(reversed(labels), reversed(places), strict=True))


def collect_values(rows: Rows, settings: Settings) -> Collected:
    """Count the values of generalised randomised response.

    Raises InputError for a missing value and one that is not in the domain.
    """
    at = named_column(rows.table, settings.column)
    if at is None:
        raise no_such_column(rows.table, f"a report of {settings.protocol} is one value")
    labels = _Labels(rows, settings, one_spelling=False)
    n = 0
    for block in rows.blocks([at]):

        def first_places(block: Block = block) -> dict[str, int]:
            return _first_places(block.cells(at), block.places)

        labels.add(block.tallied(at), first_places)
        n += len(block)
    found = labels.collected(n, column_note(rows.table, at))
    if settings.k is not None:
        return found
    k = len(found.labels)
    assumed = f"k={k}, the categories reported: p and q depend on it, and categories that nobody reported are missed"
    warnings = found.warnings
    if once := int(np.count_nonzero(found.tally.counts == 1)):
        warnings = (
            *warnings,
            f"{once} of {k} categories {'was' if once == 1 else 'were'} reported only once, so that others may not "
            "have been reported at all, and k is larger; give it with --k, or all categories with --domain FILE",
        )
    return Collected(found.labels, found.tally, (*found.assumptions, assumed), warnings)


def collect_sets(rows: Rows, settings: Settings) -> Collected:
    """Count the reports that hold each category, for subset selection.

    Raises InputError for a set that does not have omega different members, or one that is not in the domain.
    """
    table, k = rows.table, settings.k or 0
    oracle = settings.oracle(k)
    if not isinstance(oracle, SubsetSelection):
        raise TypeError(f"{settings.protocol} is no subset selection")
    omega = oracle.omega
    size = f"{settings} and k={k} has sets of omega={omega}"
    at = named_column(table, settings.column)
    separator: str | None = None
    if at is None:
        notes: tuple[str, ...] = ("each column read as one member of the set",)
    else:
        separator = _separator(table.cells(at), set(settings.domain or ()))
        separated = f"members of a set separated by {_SEPARATORS[separator]}"
        notes = (*column_note(table, at), separated) if omega > 1 else column_note(table, at)
    labels = _Labels(rows, settings, one_spelling=True)
    n = 0
    for block in rows.blocks(None if at is None else [at], even=at is not None):
        if at is None:
            sets = block.rows()
        else:
            sets = [[cell] if omega == 1 else _split(cell, separator) for cell in block.cells(at)]
        for each, place in zip(sets, block.places, strict=True):
            if not len(each) == len(set(each)) == omega or "" in each:
                hint = "" if at is not None else "; if one column holds the sets, name it with --column"
                raise rows.bad(place, _wrong_set(each, omega, size) + hint)
        members = list(chain.from_iterable(sets))

        def first_places(members: list[str] = members, block: Block = block) -> dict[str, int]:
            return _first_places(members, np.repeat(block.places, omega).tolist())

        labels.add(Counter(members), first_places)
        n += len(sets)
    return labels.collected(n, notes)


def _wrong_set(members: Sequence[str], omega: int, size: str) -> str:
    if not any(members):  # an empty cell splits into [] or [""]
        return "the report is missing (an empty cell); fill it in, or remove the row"
    if len(members) != omega:
        got = f"the set has {plural(len(members), 'member', 'members')} ({listed(members, most=4)})"
        return f"{got}, but {size}; k or eps may be wrong, or they have another size: --subset-size {len(members)}"
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
