"""Counts of reports that add up, whoever counts them: blocks of a file, several files, other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeAlias

from numpy.typing import NDArray

from advisor.inputs.blocks import Block
from advisor.inputs.columns import Table
from advisor.inputs.reports.settings import Settings

Cells: TypeAlias = NDArray[Any]  # whole numbers: int64, or Python's own where sums outgrow them


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Counts of a protocol whose cells are known before the first report: of categories, symbols, nodes."""

    n: int  # reports
    cells: Cells  # ``(m,)`` whole numbers, as the tally of the protocol has them; of she, steps of `cells.STEP`

    def __add__(self, other: CellCounts) -> CellCounts:
        return CellCounts(self.n + other.n, self.cells + other.cells)


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Counts of reports that name categories, some of which may be met for the first time."""

    n: int  # reports
    users: Mapping[str, int]  # how many reports hold each label
    seen: Mapping[str, str] = field(default_factory=dict)  # where each label was met first, for messages

    def __add__(self, other: LabelCounts) -> LabelCounts:
        users = dict(self.users)
        for label, held in other.users.items():
            users[label] = users.get(label, 0) + held
        return LabelCounts(self.n + other.n, users, {**other.seen, **self.seen})


Counted: TypeAlias = CellCounts | LabelCounts


@dataclass(frozen=True)
class Counting:
    """How the blocks of one file are counted: what its head and the user have decided. It can be sent elsewhere."""

    table: Table  # for messages
    settings: Settings  # with k and the domain, as far as they are known by now
    notes: tuple[str, ...]  # what was decided for the user, one sentence each
    columns: Sequence[int] | None  # that are read; None for all
    count: Callable[[Iterable[Block]], Counted]  # counts blocks; raises InputError for the first report that is none
    even: bool = True  # whether all rows have the same number of cells


def summed(cells: Callable[[Block], Cells], blocks: Iterable[Block]) -> CellCounts:
    """Return the counts of at least one block, of which `cells` returns those ``(m,)`` of a single one."""
    return reduce(CellCounts.__add__, (CellCounts(len(block), cells(block)) for block in blocks))
