"""Add up users by label while a file streams by, and settle what is missing at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.bins import Bins
from advisor.inputs.columns import Table, bad_count, refuse_total
from advisor.inputs.labels import missing_labels, plural, shortened
from advisor.inputs.numbers import LARGEST_TOTAL, MISSING_SPELLINGS, MOST_LABELS, whole_count

_WORTH_FINDING = MISSING_SPELLINGS | {""}


@dataclass(frozen=True)
class RawHistogram:
    """What was read, and what was decided on the way."""

    labels: tuple[str, ...]  # the distinct labels without surrounding whitespace, in order of first appearance
    counts: NDArray[np.int64]  # ``(len(labels),)`` users per label; 0 is possible
    from_histogram: bool  # True if the file held labels with their counts, False if it held one row a user
    assumptions: tuple[str, ...] = ()  # what was decided for the user, one sentence each
    warnings: tuple[str, ...] = ()  # what the user should look at, one sentence each
    bins: Bins | None = None  # the bins that the labels are, None for labels as they were
    column: str = ""  # what the file calls the labels


class Tally:
    """Users per label of one table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.users: Counter[str] = Counter()
        self._missing_at: dict[str, int] = {}
        self._repeated: dict[str, int] = {}
        self._total = 0
        self._last: tuple[str, str, int] | None = None  # label, count and place of the last row of a histogram

    def add_block(self, users: Mapping[str, int], place_of: Callable[[str], int]) -> None:
        """Count users per stripped value; `place_of` gives the first place of a value."""
        for label, number in users.items():
            self.users[label] += number
        if len(self.users) > MOST_LABELS:
            raise InputError(
                f"{self.table.source}: more than {MOST_LABELS} distinct values, which looks like an identifier "
                "column, not a category (--keep-top does not help); choose another --column, or cut numbers into bins "
                "with --bins"
            )
        for word in _WORTH_FINDING & users.keys():
            self._missing_at.setdefault(word, place_of(word))

    def add_counts(self, labels: Sequence[str], cells: Sequence[str], places: Sequence[int]) -> None:
        """Add rows of a histogram: stripped labels, stripped counts, and where they stand.

        Raises InputError for what is no count, and for too many users.
        """
        table = self.table
        users: dict[str, int] = {}
        for label, cell, place in zip(labels, cells, places, strict=True):
            count = whole_count(cell, decimal_comma=table.decimal_comma)
            if isinstance(count, str):
                raise bad_count(table, place, cell, count)
            self._total += count
            if self._total > LARGEST_TOTAL:
                raise table.bad(
                    place,
                    f"the counts add up to more than {LARGEST_TOTAL} (2^53) users; a histogram may hold at most that "
                    "many",
                )
            if label in users or label in self.users:
                self._repeated.setdefault(label, place)
            users[label] = users.get(label, 0) + count
        self.add_block(users, lambda word: places[labels.index(word)])
        self._last = labels[-1], cells[-1], places[-1]

    def result(self, *, drop_missing: bool) -> RawHistogram:
        """Return labels and counts, without the missing values if they may be dropped.

        Raises InputError if values are missing and may not be dropped, if no user is left, or if the last row adds up
        all others.
        """
        warnings = self._warnings_of_counts()
        missing = missing_labels(self.users)
        warnings += self._leave_out(missing, allowed=drop_missing)
        if sum(self.users.values()) < 1:
            why = "every value is missing" if missing else "all counts are 0"
            raise InputError(f"{self.table.source}: holds no user ({why}); at least one is needed")
        counts = np.fromiter(self.users.values(), dtype=np.int64, count=len(self.users))
        return RawHistogram(tuple(self.users), counts, self._last is not None, warnings=tuple(warnings))

    def _warnings_of_counts(self) -> list[str]:
        """Return what is said of a histogram; raise InputError if its last row adds up all others."""
        if self._last is not None:
            label, cell, place = self._last
            refuse_total(self.table, label, cell, place, self._total - 2 * self.users[label], rows=len(self.users))
        if not self._repeated:
            return []
        label, place = next(iter(self._repeated.items()))
        more = f" and {len(self._repeated) - 1} more" if len(self._repeated) > 1 else ""
        return [
            f"label {shortened(label)} ({self.table.unit} {place}){more} appeared before; the counts of a label were "
            "added up (if each line is one user, give the column of labels alone)"
        ]

    def _leave_out(self, missing: Sequence[str], *, allowed: bool) -> list[str]:
        """Take out users without a value and say so; raises InputError where they may not be dropped."""
        if not missing:
            return []
        if not allowed:
            label = min(missing, key=lambda word: self._missing_at[word])
            raise self.table.bad(
                self._missing_at[label],
                f"the value is missing ({repr(label) if label else 'an empty cell'}); fill it in, or leave out the "
                "users without a value with --drop-missing",
            )
        dropped = sum(self.users.pop(label) for label in missing)
        return [plural(dropped, "user was", "users were") + " left out: the value is missing"]
