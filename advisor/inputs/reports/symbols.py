"""Reports that are whole numbers below a bound: a symbol, a hash seed and its symbol, or a height and its node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import InputTable
from advisor.inputs.numbers import digits_below
from advisor.inputs.reports.counting import Cells, Counting
from advisor.inputs.reports.settings import TWO_COLUMNS, ReportSettings, column_note, named_column, no_such_column
from advisor.inputs.reports.vectors import Strings
from simulator import Protocol
from simulator.hashing import LONGEST_SEEDS
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import Tree


def numbers_below(block: Block, columns: Sequence[int], below: Sequence[int]) -> NDArray[np.int64] | None:
    """Return columns of whole numbers from 0, each below its bound; None if a cell is no such number."""
    numbers = block.whole(columns)
    return numbers if numbers is not None and ((numbers >= 0) & (numbers < below)).all() else None


@dataclass(frozen=True)
class Numbers:
    """Reports of whole numbers below their bounds, from 0, in a column each."""

    columns: Sequence[int]
    below: Sequence[int]
    oracle: Protocol

    def counts(self, block: Block) -> Cells | None:
        """Return the tally of a block; None if a cell is no such number."""
        numbers = numbers_below(block, self.columns, self.below)
        if numbers is None:
            return None
        return self.oracle.tally(numbers if len(self.columns) > 1 else numbers[:, 0]).counts

    def plain(self, cells: list[str]) -> list[str | None]:
        """Return the digits of a report."""
        return [digits_below(cell, below) for cell, below in zip(cells, self.below, strict=True)]


def count_hashes(rows: Rows, settings: ReportSettings) -> Counting:
    """Return the counter of the categories that each report's hash function maps to its symbol.

    Raises InputError for a table with a single column, or if the meaning of the columns is unclear.
    """
    table, k = rows.table, settings.k or 0
    oracle = cast(LocalHashing, settings.oracle(k))
    columns = _two_columns(table, settings)
    seeds = 2 ** LONGEST_SEEDS[oracle.hash]
    longer = " (clients that hash with xxHash may have longer ones: --hash xxh32)" if oracle.hash == "mix64" else ""
    says = (
        f"a report is a seed from 0 to {seeds - 1}{longer} and a symbol from 0 to {oracle.g - 1} ({settings}; another "
        "number of symbols: --hash-range), written with all digits"
    )
    notes = (
        f"column {table.called(columns[0])} read as seeds, column {table.called(columns[1])} as symbols",
        f"categories hashed with {oracle.hash} as the numbers 0 to {k - 1}, their places in the domain",
    )
    form = Numbers(columns, (seeds, oracle.g), oracle)
    return Counting(table, replace(settings, hash=oracle.hash), notes, columns, form, says)


def count_symbols(rows: Rows, settings: ReportSettings) -> Counting:
    """Return the counter of symbols, or of the categories that each symbol supports.

    Raises InputError if the column with the symbols is unclear.
    """
    table, k = rows.table, settings.k or 0
    at = named_column(table, settings.column, "symbol_alone")
    if at is None:
        raise no_such_column(table, f"a report of {settings.protocol} is one number")
    oracle = settings.oracle(k)
    symbols = getattr(oracle, "symbols", None)
    if not isinstance(symbols, int):
        raise TypeError(f"{oracle.key} does not say how many symbols it has")
    more = ""
    if isinstance(oracle, HadamardResponse):
        more = f", {oracle.blocks} blocks of {oracle.block_size} symbols (--blocks; pure-ldp has 1 up to eps = 1)"
    if isinstance(oracle, SquareWave):
        more = f"; symbol v + {oracle.reach} is the place of category v"
    note = (
        f"symbols of {settings.protocol} for the categories in order of the domain, which it numbers from 0 to {k - 1}"
        f"{more}"
    )
    says = f"a report is a symbol from 0 to {symbols - 1} ({settings}, k={k}: one of them may be wrong)"
    return Counting(table, settings, (*column_note(table, at), note), (at,), Numbers((at,), (symbols,), oracle), says)


def _two_columns(table: InputTable, settings: ReportSettings) -> tuple[int, int]:
    """Return the columns of the two numbers of a report, by name, otherwise by position.

    Raises InputError for a table with a single column, or if the meaning of the columns is unclear.
    """
    one, other = TWO_COLUMNS[settings.kind]
    if table.width < 2:
        raise InputError(
            f"{table.source}: has 1 column; a report of {settings.protocol} is {one} and {other}, in two columns"
        )
    names, first, second = table.plain_names, table.named(one), table.named(other)
    second = [at for at in second if names[at] == other] or second
    if len(first) == 1 and (len(second) == 1 or table.width == 2):
        return first[0], second[0] if len(second) == 1 else 1 - first[0]
    if first or names[:1] == [other]:
        raise InputError(
            f"{table.source}: cannot tell which columns hold {one} and {other} among {table.columns()}; "
            f"name one {one} and one {other}"
        )
    return 0, 1


def count_nodes(rows: Rows, settings: ReportSettings) -> Counting:
    """Return the counter of the nodes of all heights.

    Raises InputError for a table with a single column, or if the meaning of the columns is unclear.
    """
    table, tree = rows.table, cast(Tree, settings.oracle(settings.k or 0))
    one, other = TWO_COLUMNS[settings.kind]
    if table.width == 1 + tree.k and len(table.named(other)) != 1:
        says = f"a report is its height, then {tree.k} columns of 0 and 1 that begin with its nodes ({settings})"
        note = "column 1 read as heights, from 0 for the leaves, the others as bits of the nodes there"
        return Counting(table, settings, (note,), None, PerturbedRows(tree), says)
    if table.width > 2 and not table.named(one):
        raise InputError(
            f"{table.source}: has {table.width} columns; a report of {settings.protocol} is {one} and {other} in two "
            f"columns with these names, or its height and {tree.k} columns of 0 and 1 (k={tree.k} may be wrong)"
        )
    columns = _two_columns(table, settings)
    note = (
        f"column {table.called(columns[0])} read as heights, from 0 for the leaves, column {table.called(columns[1])} "
        "as what is said of the nodes there"
    )
    nodes = Nodes(columns, tree)
    sizes = [f"{'a bit for each' if nodes.bits(at) else 'one'} of {one.k}" for at, one in enumerate(tree.inner)]
    says = (
        f"a report is a height from 0 to {len(sizes) - 1} and nodes, by height {', '.join(sizes)} ({settings}, "
        f"k={tree.k}: one of them may be wrong)"
    )
    return Counting(table, settings, (note,), columns, nodes, says)


@dataclass(frozen=True)
class Nodes:
    """Reports about the nodes of one height each: the number of a node, or a bit for each."""

    columns: tuple[int, int]
    tree: Tree

    def bits(self, height: int) -> bool:
        """Return whether a report about a height has a bit for each node."""
        return self.tree.inner[height].report_kind == "bits"

    def counts(self, block: Block) -> Cells | None:
        """Return the tally, equal to `Tree.tally` without reports of k numbers each; None if a report is none."""
        numbers = numbers_below(block, self.columns[:1], [len(self.tree.inner)])
        if numbers is None:
            return None
        heights, cells = numbers[:, 0], np.array(block.cells(self.columns[1]), dtype=object)
        parts: list[Cells | None] = []
        for height, oracle in enumerate(self.tree.inner):
            own = cells[heights == height].tolist()
            reports = Block({0: own}, 1, own)
            if not own:
                parts.append(np.zeros(oracle.k, np.int64))
            elif self.bits(height):
                parts.append(Strings(0, oracle.k).counts(reports))
            else:
                nodes = numbers_below(reports, [0], [oracle.k])
                parts.append(None if nodes is None else np.bincount(nodes[:, 0], minlength=oracle.k))
        known = [part for part in parts if part is not None]
        sums = np.bincount(heights, minlength=len(parts))
        return np.concatenate([*known, sums]) if len(known) == len(parts) else None

    def plain(self, cells: list[str]) -> list[str | None]:
        """Return the height and what is said of its nodes."""
        height = digits_below(cells[0], len(self.tree.inner))
        if height is None:
            return [None, cells[1]]
        k = self.tree.inner[int(height)].k
        return [height, *(Strings(0, k).plain(cells[1:]) if self.bits(int(height)) else [digits_below(cells[1], k)])]


@dataclass(frozen=True)
class PerturbedRows:
    """Reports as `Tree.perturb` gives them: the height, then a column for each category that the nodes begin."""

    tree: Tree

    def counts(self, block: Block) -> Cells | None:
        """Return the tally of a block; None if a row is no such report."""
        rows = block.whole(range(1 + self.tree.k))
        return self.tree.tally(rows).counts if rows is not None and self._are_right(rows) else None

    def _are_right(self, rows: NDArray[np.int64]) -> bool:
        return bool((rows >= 0).all() and self.tree.proper(rows).all())

    def plain(self, cells: list[str]) -> Sequence[str | None]:
        """Return the digits of a report."""
        digits = [digits_below(cell, len(self.tree.inner) if at == 0 else 2) for at, cell in enumerate(cells)]
        right = None not in digits and self._are_right(np.array([digits], dtype=np.int64))
        return digits if right else [None]
