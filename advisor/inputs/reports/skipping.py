"""Rows that are left out and counted: reports that are missing, and rows that are no reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from advisor.errors import InputError
from advisor.inputs.blocks import Block
from advisor.inputs.numbers import MissingCodes

PIECE = 256  # rows that are counted together in a block with a bad one
MOST, FEW = 0.01, 10_000  # largest share of bad rows, and how many end the reading as soon as they are more than it
T = TypeVar("T")


@dataclass
class Tolerance:
    """Blocks of rows, of which some may be left out."""

    blocks: Iterable[Block]
    columns: Sequence[int] | None  # that are read; None for all
    domain: Sequence[str]
    # codes, skip_bad: which rows are left out
    codes: MissingCodes
    skip_bad: bool
    # missing, bad: rows that were left out, with what is wrong with the first bad ones
    missing: int = 0
    bad: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def drops(self, cell: str) -> bool:
        """Return whether a cell is a missing report that is to be left out."""
        return cell in self.codes and cell not in self.domain

    def each(self, count: Callable[[Block], T]) -> Iterator[T]:
        """Yield what `count` returns for blocks without the rows that it refuses."""
        rows = 0
        for block in self.blocks:
            rows += len(block)
            parts = [block]
            while parts:
                part = parts.pop()
                try:
                    yield count(part)
                except InputError as error:
                    if error.place is None or not (self.codes or self.skip_bad):
                        raise
                    parts += self._without(part, error)
                    if len(self.bad) > FEW:
                        check_bad(self.bad, rows)

    def _without(self, block: Block, error: InputError) -> Iterable[Block]:
        """Return the parts of a block without the refused row, the last first; of a large one, smaller ones."""
        if len(block) > PIECE:
            block = block.part(slice(None))
            return [block.part(slice(start, start + PIECE)) for start in reversed(range(0, len(block), PIECE))]
        at = block.places.index(error.place)
        (row,) = block.part(slice(at, at + 1)).rows()
        if any(self.drops(cell) for column, cell in enumerate(row) if column in (self.columns or (column,))):
            self.missing += 1
        elif self.skip_bad:
            self.bad.append("" if self.bad[2:] else str(error))
        else:
            raise error
        return [block.part(rows) for rows in (slice(at + 1, None), slice(at)) if block.places[rows]]


def check_bad(bad: Sequence[str], rows: int) -> None:
    """Raise InputError if so many rows are bad that it is another file, or another protocol."""
    if len(bad) > MOST * rows:
        more = f"{len(bad):,} of {rows:,} rows are no reports, and only 1 % may be left out"
        raise InputError(f"{next(filter(None, bad))} ({more})")


def counts_of(blocks: Iterable[Block], count: Callable[[Block], T]) -> Iterator[T]:
    """Yield what `count` returns for each block, or for what is left of it."""
    return blocks.each(count) if isinstance(blocks, Tolerance) else map(count, blocks)
