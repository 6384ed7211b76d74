"""Number of users per label, or per bin of numbers, from a file or standard input, in bounded memory."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, listed
from advisor.inputs.bins import Bins, Cut, edge_text
from advisor.inputs.blocks import Block, Rows, whole_counts
from advisor.inputs.columns import InputTable, choose_columns, find_column
from advisor.inputs.head import DETECTED, Expected, FileLayout, is_year
from advisor.inputs.labels import missing_doubts, missing_labels, plural, shortened
from advisor.inputs.numbers import (
    EMPTY,
    MISSING,
    MOST_LABELS,
    NO_CODES,
    NO_NUMBER,
    NOT_FINITE,
    TWO_WAYS,
    MissingCodes,
    all_numbers,
    is_missing,
    looks_numeric,
    real_number,
    unit_doubt,
)
from advisor.inputs.table import opened_rows
from advisor.inputs.totals import CountedRow, counted_shares, names_total, share_column, shares_sum, total_of


@dataclass(frozen=True)
class RawHistogram:
    """Users per label, and the assumptions made while reading."""

    labels: tuple[str, ...]  # the distinct labels without surrounding whitespace, in order of first appearance
    counts: NDArray[np.int64]  # ``(len(labels),)`` users per label; 0 is possible
    from_histogram: bool  # True if the file held labels with their counts, False if it held one row per user
    assumptions: tuple[str, ...] = ()  # decisions made for the user, one sentence each
    warnings: tuple[str, ...] = ()  # what the user should check, one sentence each
    bins: Bins | None = None  # the bins that the labels stand for; None if the labels are not bins
    column: str = ""  # name of the column with the labels
    categories: tuple[str, ...] = ()  # all that the type of the column names, in its order; () if it names none
    ordered: bool | None = None  # whether that order means something; None: the data do not say

    def over_categories(self) -> RawHistogram:
        """Return the histogram over all of its categories, including those without users, with a note."""
        distinct = set(self.labels)
        if not self.categories or len(distinct) < len(self.labels) or not distinct <= set(self.categories):
            return replace(self, ordered=None)
        users = dict(zip(self.labels, self.counts.tolist(), strict=True))
        counts = np.array([users.get(label, 0) for label in self.categories], dtype=np.int64)
        order = " and their order" if self.ordered else ""
        note = f"{len(counts)} categories{order} taken from the categorical type of the column"
        assumptions = (*self.assumptions, note)
        return replace(self, labels=self.categories, counts=counts, from_histogram=True, assumptions=assumptions)


def read_histogram(
    path: str,
    *,
    column: str | None = None,
    counts: str | None = None,
    layout: FileLayout = DETECTED,
    missing: MissingCodes = NO_CODES,
    cut: Cut | None = None,
    n: int | None = None,
) -> RawHistogram:
    r"""Count the users per label in CSV, TSV, plain text (one value per line), gzip of these, or Parquet.

    Memory grows with the number of distinct labels only.

    Parameters
    ----------
    path : str
        The file, "-" for standard input.
    column : str or None
        The column with the labels, by header or by number from 1.
    counts : str or None
        The column with the number of users; makes the file a histogram.
    layout : FileLayout
        What the user says about the layout.
    missing : MissingCodes
        The cells without a value: their users are left out. Without any, such a file is refused.
    cut : Cut or None
        How numbers become bins, None for labels as they are.
    n : int or None
        Number of users, if the file holds their shares.

    Raises
    ------
    InputError
        If the file cannot be read; a single line says what is wrong, where, and how to fix it.
    """
    names_columns = None if cut is None else names_numbers
    counted = column is None and cut is None
    expected = Expected("users", layout, (column, counts), names_columns, counted=counted, missing=missing)
    with opened_rows(path, expected) as rows:
        table = rows.table
        label, count = _columns(table, column, counts, n)
        tally = LabelTally(table) if cut is None else NumberTally(table, label, cut)
        if count is not None and shares_sum(table, count) is not None:
            block, doubts = counted_shares(rows, label, count, n)
            tally.add(block, 0, 1)
        else:
            doubts = [] if count is None else list(rows.without_second_header())
            for block in rows.blocks([label] if count is None else [label, count]):
                tally.add(block, label, count)
        tallied = _histogram(rows, label, tally)
    name = table.names[label] if table.names else ""
    if count is None and name and name in tallied.labels:
        doubts.append(f"the name of the column, {shortened(name)}, is one of its values: a second header?")
    if count is not None and table.names:
        doubts += filter(None, [unit_doubt(table.names[count]).removeprefix("; ")])
    if count is None and cut is None:
        doubts += _published(table, label, tallied)
    if count is None and table.second_header:
        doubts.append(f"line {table.places[0]} stands like a second header above numbers, and was counted as a user")
    notes = table.row_numbers_note if table.row_numbers not in (label, count) else ()
    if count is not None:
        notes += (f"counts in column {table.called(count)}, labels in {table.called(label)}",)
    elif table.width > 1:
        notes += (f"column {table.called(label)} read as values, one row a user",)
    return replace(
        tallied,
        assumptions=(*rows.assumptions[count is not None and table.names is not None :], *notes),
        warnings=(*rows.warnings(), *rows.doubts, *doubts, *tallied.warnings),
        column=name,
    )


def _published(table: InputTable, label: int, tallied: RawHistogram) -> list[str]:
    """Return a warning for distinct values beside numbers that are no years: a published table, not its users."""
    numbers = [at for at in table.values if at != label and all(map(looks_numeric, table.cells(at)))]
    numbers = [at for at in numbers if not all(map(is_year, table.cells(at)))]
    if len(tallied.labels) < 3 or tallied.counts.max() > 1 or not numbers or all_numbers(tallied.labels):
        return []
    option = f"--counts {shlex.quote(table.reference(numbers[-1]))}"
    return [f"each row has a value of its own: if numbers of users stand beside them, name their column, as {option}"]


def _histogram(rows: Rows, label: int, tally: LabelTally) -> RawHistogram:
    """Return what was tallied of a column, with what its cells and its type say of the labels."""
    tallied, (categories, ordered) = tally.result(), rows.categories(label)
    warnings = (*tallied.warnings, *_odd_labels(rows, tallied.labels))
    return replace(tallied, warnings=warnings, categories=categories, ordered=ordered)


def _columns(table: InputTable, column: str | None, counts: str | None, n: int | None) -> tuple[int, int | None]:
    """Return the columns of the labels and of the counts, which may be shares; see `choose_columns`."""
    try:
        return choose_columns(table, column, counts)
    except InputError:
        label = None if column is None else find_column(table, column, "--column")
        shares = None if counts else share_column(table, label)
        if shares is None:
            raise
        others = [at for at in table.values if at not in (shares, label)]
        if n is not None and len(others) + (label is not None) == 1:
            return others[0] if label is None else label, shares
        raise InputError(
            f"{table.source}: column {table.called(shares)} holds shares that sum to {shares_sum(table, shares)}: read "
            f"them with --counts {shlex.quote(table.reference(shares))} and --n, the number of users",
            ("--n", "--counts"),
        ) from None


def read_head(path: str, *, layout: FileLayout = DETECTED, cut: Cut | None = None) -> InputTable:
    """Return the columns and the first rows of a file with the columns of `read_histogram`."""
    names_columns = None if cut is None else names_numbers
    with opened_rows(path, Expected("users", layout, (), names_columns)) as rows:
        return rows.table


def read_columns(
    path: str, columns: Sequence[str], *, layout: FileLayout = DETECTED, missing: MissingCodes = NO_CODES
) -> tuple[RawHistogram, ...]:
    """Count the users per label of several columns in one pass over a file with a row per user.

    See `read_histogram`.
    """
    with opened_rows(path, Expected("users", layout, columns, missing=missing)) as rows:
        table = rows.table
        places = [find_column(table, name, "--column") for name in columns]
        twice = [place for at, place in enumerate(places) if place in places[:at]]
        if twice:
            raise InputError(f"{table.source}: --column names column {table.called(twice[0])} twice: leave one out")
        tallies = [LabelTally(table) for _ in places]
        for block in rows.blocks(places):
            for place, tally in zip(places, tallies, strict=True):
                tally.add(block, place, None)
        shared = (*rows.warnings(), *rows.doubts)
        result: list[RawHistogram] = []
        for place, tally in zip(places, tallies, strict=True):
            tallied = _histogram(rows, place, tally)
            own = tuple(f"column {table.called(place)}: {warning}" for warning in tallied.warnings)
            warnings = own if result else (*shared, *own)
            named = replace(tallied, column=table.reference(place))
            result.append(replace(named, assumptions=rows.assumptions, warnings=warnings))
    return tuple(result)


def _odd_labels(rows: Rows, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return a warning if quotation marks were kept as text, or if they joined lines."""
    if rows.quoted:
        odd = [label for label in labels if "\n" in label or "\r" in label]
        one, many = "label goes", "labels go"
        what = f"over several lines ({shortened(odd[0])}); a quotation mark too many joins lines" if odd else ""
    else:
        odd = [label for label in labels if len(label) > 1 and label[0] == '"']
        one, many = "label begins", "labels begin"
        what = f"with a quotation mark ({shortened(odd[0])}), which was kept as part of it" if odd else ""
    return (f"{plural(len(odd), one, many)} {what}",) if odd else ()


class LabelTally:
    """Users per label of a table, whose codes stand for no value."""

    def __init__(self, table: InputTable) -> None:
        self.table = table
        self.users: Counter[str] = Counter()
        self._places: dict[str, int] = {}  # of the labels of a histogram, otherwise of those that may be missing
        self._repeated: dict[str, int] = {}
        self._total = 0
        self._counted = False  # whether it is a histogram
        self._unknown: list[str] = []  # labels whose count is missing

    def add(self, block: Block, label: int, count: int | None) -> None:
        """Count the users of a block of rows.

        label, count: the columns with the labels and with the counts; without counts, each row is a user.

        Raises InputError for a cell that is not a count, and for too many users.
        """
        places = block.places
        if count is None:
            self.add_users(block.tallied(label), lambda word: places[block.cells(label).index(word)])
            return
        users: Counter[str] = Counter()
        counts = whole_counts(block, self.table, count, self._total, self.table.codes)
        for name, number, place in zip(block.cells(label), counts, places, strict=True):
            if number is None:
                self._unknown.append(name)
                continue
            if name in self._places:
                self._repeated.setdefault(name, place)
            self._places.setdefault(name, place)
            users[name] += number
        self._counted = self._counted or bool(users)
        self._total += users.total()
        self.add_users(users, self._places.__getitem__)

    def add_users(self, users: Mapping[str, int], place_of: Callable[[str], int]) -> None:
        """Count users per stripped value; `place_of` returns the first place of a value, or 0 if it has no place.

        Raises InputError for more values than a domain may have.
        """
        self.users.update(users)
        if len(self.users) > MOST_LABELS:
            raise InputError(
                f"{self.table.source}: more than {MOST_LABELS} distinct values, which looks like an identifier "
                "column, not a category (--keep-top does not help); choose another --column, or cut numbers into bins "
                "with --bins"
            )
        for word in filter(is_missing, users):
            if word not in self._places:  # finding its place means searching all cells
                self._places[word] = place_of(word)

    def result(self) -> RawHistogram:
        """Return labels and counts, without the missing values if they may be dropped, and without a total.

        Raises InputError if values are missing and may not be dropped, if no user is left, or if a row may be the total
        of the others.
        """
        warnings = self._warnings_of_counts()
        missing = missing_labels(self.users, self.table.codes)
        warnings += self._leave_out(missing)
        if sum(self.users.values()) < 1:
            why = "every value is missing" if missing else "all counts are 0"
            raise InputError(f"{self.table.source}: holds no user ({why}); at least one is needed")
        counts = np.fromiter(self.users.values(), dtype=np.int64, count=len(self.users))
        warnings += missing_doubts(self.users)
        return RawHistogram(tuple(self.users), counts, self._counted, warnings=tuple(warnings))

    def _warnings_of_counts(self) -> list[str]:
        """Return the warnings for a histogram, and leave out the total of its rows, and labels without a count.

        Raises InputError for a row that may be the total of the others.
        """
        warnings = self._warnings_of_unknown() + self._without_total()
        if not self._repeated:
            return warnings
        label, place = next(iter(self._repeated.items()))
        more = f" and {len(self._repeated) - 1} more" if len(self._repeated) > 1 else ""
        warnings.append(
            f"label {shortened(label)} ({self.table.unit} {place}){more} appeared before; the counts of a label were "
            "added up (if each line is one user, give the column of labels alone)"
        )
        return warnings

    def _warnings_of_unknown(self) -> list[str]:
        if not self._unknown:
            return []
        those = f"{len(self._unknown)} of {len(self._places) + len(self._unknown)} categories"
        names = listed(map(shortened, self._unknown), most=3)
        return [f"{those} left out, as counts are missing: {names} (write 0 where nobody is)"]

    def _without_total(self) -> list[str]:
        """Leave out a row that is the total of the others; raise InputError for a row that may be one."""
        if twice := next(filter(names_total, self._repeated), None):
            what = f"{shortened(twice)} stands like a subtotal among the rows, and is there again; remove these rows"
            raise self.table.bad(self._repeated[twice], what)
        known = (name for name in self._places if name not in self.table.codes)
        rows = [CountedRow(name, self.users[name], self._places[name]) for name in known]
        try:
            at, warnings = total_of(rows if self._counted else [], self.table.unit, unknown=bool(self._unknown))
        except InputError as error:
            raise InputError(f"{self.table.source}: {error}", ("--missing",)) from None
        if at is not None:
            del self.users[rows[at].label]
        return warnings

    def _leave_out(self, missing: Sequence[str]) -> list[str]:
        """Remove users without a value and return notes about it; raise InputError if they may not be dropped."""
        if not missing:
            dropping = self.table.codes.usual and not self._unknown
            return ["no value is missing: --drop-missing left nobody out"] if dropping else []
        if not self.table.codes:
            label = min(missing, key=self._places.__getitem__)
            raise self.table.bad(
                self._places[label],
                f"the value is missing ({repr(label) if label else 'an empty cell'}); fill it in, or leave out the "
                "users without a value with --drop-missing",
            )
        dropped = sum(self.users.pop(label) for label in missing)
        codes = [repr(label) for label in missing if label]
        which = f" ({listed(codes, most=4)})" if codes else ""
        what = plural(dropped, "user was", "users were")
        if self._counted:
            what = plural(len(missing), "category", "categories") + f" of {plural(dropped, 'user', 'users')}"
        return [f"{what} left out: the value is missing{which}"]


MOST_NUMBERS = 10_000_000
"""Maximum of distinct numbers kept if the edges depend on them; each takes 16 bytes."""


class NumberTally(LabelTally):
    """Users per bin of a table.

    If the edges are given, numbers are placed in bins while the table is read; otherwise after it is read.

    table, label: the table, and its column with the numbers.
    cut: how numbers become bins.
    """

    def __init__(self, table: InputTable, label: int, cut: Cut) -> None:
        super().__init__(table)
        self._cut, self._column = cut, table.names[label] if table.names else None
        self._bins = cut.bins(self._column)
        self._sign = table.decimal_sign(label)
        self._numbers: list[NDArray[np.float64]] = []
        self._weights: list[NDArray[np.int64]] = []
        self._kept = 0  # how many of the numbers are known to be distinct
        self._placed = np.zeros(1 if self._bins is None else self._bins.k + 2, dtype=np.int64)
        self._low, self._high, self._whole = math.inf, -math.inf, True

    def add_users(self, users: Mapping[str, int], place_of: Callable[[str], int]) -> None:
        """Count users per stripped value.

        Raises InputError for a value that is neither a number nor missing.
        """
        numbers: dict[float, int] = {}
        codes = self.table.codes
        for label, count in users.items():
            value = EMPTY if label in codes else self._sign.number(label)
            if isinstance(value, float):
                numbers[value] = numbers.get(value, 0) + count
            elif value in {EMPTY, MISSING, NOT_FINITE}:
                self._places.setdefault(label, place_of(label))
                self.users[label] += count
            else:
                raise self._refusal(label, place_of(label), value)
        if numbers:
            self._place(np.fromiter(numbers, np.float64), np.fromiter(numbers.values(), np.int64))

    def _place(self, numbers: NDArray[np.float64], weights: NDArray[np.int64]) -> None:
        """Place numbers in bins, or keep them if the edges depend on them."""
        self._low, self._high = min(self._low, float(numbers.min())), max(self._high, float(numbers.max()))
        self._whole = self._whole and bool((numbers == np.rint(numbers)).all())
        if self._bins is not None:
            self._placed += np.bincount(self._bins.place(numbers) + 1, weights, self._bins.k + 2).astype(np.int64)
            return
        self._numbers.append(numbers)
        self._weights.append(weights)
        if sum(map(len, self._numbers)) > 2 * max(self._kept, 1 << 18):
            self._merge()

    def result(self) -> RawHistogram:
        """Return the users per bin; users whose number is missing or infinite are left out if they may be dropped.

        Raises InputError if numbers are missing and may not be dropped, if numbers lie outside the edges, or if no
        user is left.
        """
        warnings = self._warnings_of_unknown() + self._leave_out(list(self.users))
        if not any(weights.any() for weights in self._weights) and not self._placed.any():
            raise InputError(f"{self.table.source}: holds no user with a number; at least one is needed")
        bins = self._bins
        if bins is None:
            self._merge()
            bins = self._own_bins()
            warnings.append(_own_range(bins))
            self._placed = np.bincount(bins.place(self._numbers[0]) + 1, self._weights[0], bins.k + 2).astype(np.int64)
        counts = self._placed[1:-1]
        if outside := int(self._placed[0] + self._placed[-1]):
            if not self._cut.clamp:
                raise self._outside(bins)
            counts[0] += self._placed[0]
            counts[-1] += self._placed[-1]
            lie, share = plural(outside, "user lies", "users lie"), f"{outside / counts.sum():.2%} of all"
            warnings.append(f"{lie} outside of the edges ({share}), counted in the first or last bin")
        if self._whole and bins.width is not None and not bins.width.is_integer():
            what = "some stay empty" if bins.width < 1 else "they do not hold equally many of them"
            warnings.append(
                f"all numbers are whole, and bins of width {edge_text(bins.width)} are not: {what}; a whole "
                "--bin-width avoids that"
            )
        return RawHistogram(bins.labels, counts, self._counted, warnings=tuple(warnings), bins=bins)

    def _refusal(self, label: str, place: int, reason: str) -> InputError:
        what = "holds" if self._column is None else f"column {shortened(self._column)} holds"
        where = f" on {self.table.unit} {place}" if place else ""
        way_out = "; bins need numbers (dates as years or days): correct it, or choose another --column"
        way_out = "" if reason == TWO_WAYS else way_out
        return InputError(f"{self.table.source}: {what} {shortened(label)}{where}, which {reason}{way_out}")

    def _merge(self) -> None:
        """Sum the users of equal numbers."""
        numbers, where = np.unique(np.concatenate(self._numbers), return_inverse=True)
        weights = np.bincount(where, np.concatenate(self._weights)).astype(np.int64)
        self._numbers, self._weights, self._kept = [numbers], [weights], len(numbers)
        if self._kept > MOST_NUMBERS:
            raise InputError(
                f"{self.table.source}: more than {MOST_NUMBERS:,} distinct numbers, too many to keep until their range "
                "is known; give the range with --edges, for example --edges 0,100000"
            )

    def _own_bins(self) -> Bins:
        """Return bins over the range of the sample."""
        bins = None if self._low == self._high else self._cut.between(self._low, self._high, column=self._column)
        if bins is None or bins.k < 2:
            least = math.floor(self._low)
            raise InputError(
                f"{self.table.source}: all numbers lie in one bin, from {edge_text(self._low)} to "
                f"{edge_text(self._high)}, and a domain needs at least 2; give the range with --edges, for example "
                f"--edges {edge_text(least)},{edge_text(least + 1)}, or a smaller --bin-width"
            )
        return bins

    def _outside(self, bins: Bins) -> InputError:
        below, above = int(self._placed[0]), int(self._placed[-1])
        parts = [f"{below:,} below (down to {edge_text(self._low)})"] if below else []
        parts += [f"{above:,} above (up to {edge_text(self._high)})"] if above else []
        low, high = min(bins.edges[0], self._low), max(bins.edges[-1], self._high)
        share = f"{below + above:,} of {int(self._placed.sum()):,}"
        return InputError(
            f"{self.table.source}: {share} users lie outside of the edges {bins.span}: {' and '.join(parts)}; let the "
            f"edges reach from {edge_text(low)} to {edge_text(high)}, or count these users in the first and last bin "
            "with --clamp"
        )


def binned(name: str, column: str, users: Mapping[str, int], cut: Cut) -> RawHistogram:
    """Return the users per bin of numbers in memory.

    name, column: names of the sample and of the numbers ("" without a name).

    Raises the same InputErrors as for a file with these numbers.
    """
    tally = NumberTally(InputTable(name, (column,) if column else None, 1, (), ()), 0, cut)
    tally.add_users(users, lambda _: 0)
    return tally.result()


def names_numbers(first: Sequence[str], rest: Sequence[Sequence[str]], usual: bool) -> bool:
    """Return whether the first row is a header above numbers: a word over a column that mostly holds numbers."""
    if any(map(looks_numeric, first)):
        return usual
    words = (at for at, cell in enumerate(first) if real_number(cell, comma=False) == NO_NUMBER)
    return usual or any(2 * sum(looks_numeric(row[at]) for row in rest) >= max(len(rest), 1) for at in words)


def _own_range(bins: Bins) -> str:
    example = f"{edge_text(bins.edges[0])},{edge_text(bins.edges[-1])}"
    return (
        f"the range of the bins, {bins.span}, comes from the sample's own smallest and largest number; a collection "
        f"needs one that is fixed beforehand and reveals no user: give it, for example --edges {example}"
    )
