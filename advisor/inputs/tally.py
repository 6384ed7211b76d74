"""Add up users by label while a file streams by, and settle what is missing at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.bins import Bins
from advisor.inputs.numbers import LARGEST_TOTAL, MISSING_SPELLINGS, MOST_LABELS, all_numbers, is_missing, whole_count

_WORTH_FINDING = MISSING_SPELLINGS | {""}
LONGEST_SHOWN = 60  # characters of a label in a message


@dataclass(frozen=True)
class Tallied:
    """Labels in order of first appearance, their users, and what to tell the user about the reading."""

    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    warnings: tuple[str, ...]
    bins: Bins | None = None  # the bins that the labels are, None for labels as they were


class Tally:
    """Users per label of one input.

    Parameters
    ----------
    source : str
        The name for messages.
    unit : str
        What a place in the input is called: "line" or "row".
    decimal_comma : bool
        Whether "," may be a decimal sign in this file.
    """

    def __init__(self, source: str, *, unit: str = "line", decimal_comma: bool = False) -> None:
        self.source = source
        self.unit = unit
        self.decimal_comma = decimal_comma
        self.users: Counter[str] = Counter()
        self._missing_at: dict[str, int] = {}
        self._repeated: dict[str, int] = {}
        self._total = 0

    def add_block(self, users: Mapping[str, int], place_of: Callable[[str], int]) -> None:
        """Count users per stripped value; `place_of` gives the first place of a value."""
        for label, number in users.items():
            self.users[label] += number
        self._check_size()
        for word in _WORTH_FINDING & users.keys() if len(users) > len(_WORTH_FINDING) else users:
            if word in _WORTH_FINDING and word not in self._missing_at:
                self._missing_at[word] = place_of(word)

    def _add(self, label: str, users: int, place: int) -> None:
        if label in _WORTH_FINDING and label not in self._missing_at:
            self._missing_at[label] = place
        self.users[label] += users
        self._check_size()

    def add_counts(self, rows: Iterable[tuple[str, str, int]]) -> None:
        """Add rows of a histogram: stripped label, stripped count, line."""
        for label, cell, place in rows:
            users = whole_count(cell, decimal_comma=self.decimal_comma)
            if isinstance(users, str):
                raise bad_count(self.source, f"{self.unit} {place}", cell, users)
            self._total += users
            if self._total > LARGEST_TOTAL:
                raise InputError(
                    f"{self.source}: {self.unit} {place}: the counts add up to more than "
                    f"{LARGEST_TOTAL} (2^53) users; a histogram may hold at most that many"
                )
            if label in self.users:
                self._repeated.setdefault(label, place)
            self._add(label, users, place)

    def result(self, *, drop_missing: bool) -> Tallied:
        """Return labels and counts, without the missing values if they may be dropped.

        Raises InputError if values are missing and may not be dropped, or if no user is left.
        """
        warnings = [self._describe_repeated()] if self._repeated else []
        missing = self._missing_labels()
        warnings += self._leave_out(missing, allowed=drop_missing)
        if sum(self.users.values()) < 1:
            why = "every value is missing" if missing else "all counts are 0"
            raise InputError(f"{self.source}: holds no user ({why}); at least one is needed")
        counts = np.fromiter(self.users.values(), dtype=np.int64, count=len(self.users))
        return Tallied(tuple(self.users), counts, tuple(warnings))

    def _missing_labels(self) -> list[str]:
        """Return the labels that stand for no value: "NA" does only where all that is known is numbers."""
        known = [label for label in self.users if not is_missing(label)]
        if all_numbers(known):
            return [label for label in self.users if is_missing(label)]
        return [""] if "" in self.users else []

    def _leave_out(self, missing: Sequence[str], *, allowed: bool) -> list[str]:
        """Take out users without a value and say so; raises InputError where they may not be dropped."""
        if not missing:
            return []
        if not allowed:
            self._report_missing(missing)
        dropped = sum(self.users.pop(label) for label in missing)
        return [plural(dropped, "user was", "users were") + " left out: the value is missing"]

    def _report_missing(self, missing: Sequence[str]) -> None:
        label = min(missing, key=lambda word: self._missing_at[word])
        what = repr(label) if label else "an empty cell"
        place = f"{self.unit} {self._missing_at[label]}"
        raise InputError(
            f"{self.source}: {place}: the value is missing ({what}); fill it in, or leave out the users "
            "without a value with --drop-missing"
        )

    def _describe_repeated(self) -> str:
        label, place = next(iter(self._repeated.items()))
        shown = shortened(label)
        more = f" and {len(self._repeated) - 1} more" if len(self._repeated) > 1 else ""
        return (
            f"label {shown} ({self.unit} {place}){more} appeared before; the counts of a label were added up "
            "(if each line is one user, give the column of labels alone)"
        )

    def _check_size(self) -> None:
        if len(self.users) > MOST_LABELS:
            raise InputError(
                f"{self.source}: more than {MOST_LABELS} distinct values, which looks like an identifier "
                "column, not a category (--keep-top does not help); choose another --column, or cut numbers into bins "
                "with --bins"
            )


def bad_count(source: str, place: str, cell: str, reason: str, column: str = "") -> InputError:
    """Word the error for a number of users that is none, in a column that was only taken for that of the counts."""
    got = f" {shortened(cell)}" if cell else ""
    what = f"{place}: the count{got} {reason}"
    if column:
        what = f"column {column} holds{got or ' an empty cell'} on {place}, which is no count: it {reason}"
    return InputError(
        f'{source}: {what}; a count is a whole number of users, 0 or more, e.g. 12, 12.0, 1e6 or "1,000"; '
        "a raw estimate is for ldp-advise estimate"
    )


def shortened(label: str) -> str:
    """Quote a label for a message, and cut it if it is long."""
    return repr(label if len(label) <= LONGEST_SHOWN else label[:LONGEST_SHOWN] + "…")


def plural(number: int, one: str, many: str) -> str:
    """Return the number with the right form of the noun (and its verb).

    >>> plural(1, "line was", "lines were"), plural(2, "line was", "lines were")
    ('1 line was', '2 lines were')
    """
    return f"{number} {one if number == 1 else many}"
