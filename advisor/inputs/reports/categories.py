"""Reports that name categories: one each (randomised response), or a set of omega (subset selection)."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain

import numpy as np

from advisor.errors import InputError, listed, near_miss
from advisor.inputs.blocks import Block, Rows, Where
from advisor.inputs.domain import build_domain
from advisor.inputs.labels import value_of
from advisor.inputs.numbers import MOST_LABELS, all_numbers, is_missing, number
from advisor.inputs.reports.counting import Counting, LabelCounts
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


@dataclass(frozen=True)
class LabelCounting(Counting):
    """Counts the labels of reports that name categories; looks at each label that is new where it is met first."""

    at: int | None  # the column of the reports; None where each member of a set has its own

    @property
    def columns(self) -> list[int] | None:
        """The columns that are read; None for all."""
        return None if self.at is None else [self.at]

    def count(self, blocks: Iterable[Block]) -> LabelCounts:
        """Count at least one block of reports; raise InputError for the first one that is none."""
        n = 0
        users: Counter[str] = Counter()
        seen: dict[str, str] = {}
        for block in blocks:
            held, first_places = self.labels(block)
            n += len(block)
            new = held.keys() - users.keys()
            users.update(held)
            if new:
                places = first_places()
                for label in held:
                    if label in new:
                        self._check_new(label, places[label])
                        seen[label] = self.where.at(places[label])
            if len(users) > MOST_LABELS:
                raise too_many(self.where.table.source)
        return LabelCounts(n, users, seen)

    @abstractmethod
    def labels(self, block: Block) -> tuple[Mapping[str, int], Callable[[], Mapping[str, int]]]:
        """Return how many reports of a block hold each label, and what finds the first place of each."""

    @cached_property
    def _known(self) -> frozenset[str | Decimal]:
        domain = self.settings.domain or ()
        return frozenset(domain) | frozenset(map(value_of, domain) if domain and all_numbers(domain) else ())

    def _check_new(self, label: str, place: int) -> None:
        if not label:
            raise self.where.bad(place, "the report is missing (an empty cell); fill it in, or remove the row")
        if self.settings.domain is not None and not {label, number(label)} & self._known:
            raise self.where.bad(place, f"{shortened(label)} is not in the domain{self._hint(label, place)}")

    def _hint(self, label: str, place: int) -> str:
        table, domain = self.where.table, self.settings.domain or ()
        if table.names is None and table.places and place == table.places[0]:
            return f"; it has {listed(domain, most=6)}; if the line names the columns, say --header"
        return near_miss(label, domain) or f"; it has {listed(domain, most=6)}"


def too_many(source: str) -> InputError:
    """Refuse what does not look like categories."""
    return InputError(
        f"{source}: more than {MOST_LABELS} different reports, which do not look like categories; choose another "
        "--column"
    )


class ValueCounting(LabelCounting):
    """Counts the values of generalised randomised response."""

    def labels(self, block: Block) -> tuple[Mapping[str, int], Callable[[], Mapping[str, int]]]:
        """Return how many reports of a block are each label, and what finds the first place of each."""
        at = self.at or 0
        return block.tallied(at), lambda: _first_places(block.cells(at), block.places)


@dataclass(frozen=True)
class SetCounting(LabelCounting):
    """Counts the reports that hold each category, for subset selection."""

    separator: str | None  # between the members of a set in one cell; None for blanks

    @property
    def even(self) -> bool:
        """Whether all rows have the same number of cells."""
        return self.at is not None

    def labels(self, block: Block) -> tuple[Mapping[str, int], Callable[[], Mapping[str, int]]]:
        """Return how many reports of a block hold each label, and what finds the first place of each.

        Raises InputError for a set that does not have omega different members.
        """
        omega, at = _omega(self.settings), self.at
        if at is None:
            sets = block.rows()
        else:
            sets = [[cell] if omega == 1 else _split(cell, self.separator) for cell in block.cells(at)]
        for each, place in zip(sets, block.places, strict=True):
            if not len(each) == len(set(each)) == omega or "" in each:
                hint = "" if at is not None else "; if one column holds the sets, name it with --column"
                raise self.where.bad(place, _wrong_set(each, omega, _size(self.settings)) + hint)
        members = list(chain.from_iterable(sets))
        return Counter(members), lambda: _first_places(members, np.repeat(block.places, omega).tolist())


def _omega(settings: Settings) -> int:
    oracle = settings.oracle(settings.k or 0)
    if not isinstance(oracle, SubsetSelection):
        raise TypeError(f"{settings.protocol} is no subset selection")
    return oracle.omega


def _size(settings: Settings) -> str:
    return f"{settings} and k={settings.k} has sets of omega={_omega(settings)}"


def joined(settings: Settings, total: LabelCounts, part: LabelCounts, source: str) -> LabelCounts:
    """Add up, in the order of the files: what is wrong is said of the first report that is.

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
                f"{settings.k}; k may be wrong"
            )
    if len(result.users) > MOST_LABELS:
        raise too_many(source)
    return result


def of_labels(settings: Settings, counted: LabelCounts, source: str) -> Collected:
    """Put the labels in order, with those that nobody reported; the order of the reports never matters.

    Raises InputError where they do not make a domain.
    """
    _refuse_missing(settings, counted)
    domain, ordered = settings.domain, None
    notes: tuple[str, ...] = ()
    users = dict(sorted(counted.users.items()))
    if domain is None and settings.k is not None:
        domain = _numbered(list(users), settings.k)
        if domain is not None:
            notes = (f"reports are numbers: the categories are {domain[0]} to {domain[-1]}",)
    if domain is not None:
        ordered = False  # keep the order given
    counts = np.fromiter(users.values(), dtype=np.int64, count=len(users))
    try:
        built = build_domain(tuple(users), counts, from_histogram=False, k=settings.k, domain=domain, ordered=ordered)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    said = built.assumptions if domain is None or settings.domain is not None else ()
    found = Collected(built.labels, Tally(built.counts, counted.n), (*notes, *said), built.warnings)
    return found if settings.k is not None else _of_unknown_size(found)


def _of_unknown_size(found: Collected) -> Collected:
    """Say what it means that k is not known."""
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


def _refuse_missing(settings: Settings, counted: LabelCounts) -> None:
    """Refuse "NA" where it can only be a missing value: all else is numbers."""
    known = set(settings.domain or ())
    missing = [label for label in counted.users if is_missing(label) and label not in known]
    if missing and all_numbers([label for label in counted.users if not is_missing(label)]):
        label = next(label for label in counted.seen if label in missing)
        raise InputError(f"{counted.seen[label]}: the report is missing ({label!r}); fill it in, or remove the row")


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


def count_values(rows: Rows, settings: Settings) -> ValueCounting:
    """Return how the values of generalised randomised response are counted.

    Raises InputError where nobody can tell which column holds them.
    """
    at = named_column(rows.table, settings.column)
    if at is None:
        raise no_such_column(rows.table, f"a report of {settings.protocol} is one value")
    return ValueCounting(Where(rows.table).without_rows(), settings, column_note(rows.table, at), at)


def count_sets(rows: Rows, settings: Settings) -> SetCounting:
    """Return how the reports that hold each category are counted, for subset selection."""
    table = rows.table
    at = named_column(table, settings.column)
    separator: str | None = None
    if at is None:
        notes: tuple[str, ...] = ("each column read as one member of the set",)
    else:
        separator = _separator(table.cells(at), set(settings.domain or ()))
        separated = f"members of a set separated by {_SEPARATORS[separator]}"
        notes = (*column_note(table, at), separated) if _omega(settings) > 1 else column_note(table, at)
    return SetCounting(Where(table).without_rows(), settings, notes, at, separator)


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
