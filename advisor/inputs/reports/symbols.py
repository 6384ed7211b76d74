"""Reports that are whole numbers below a bound: a symbol, a hash seed and its symbol, or a height and its node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, ColumnBlock, Rows
from advisor.inputs.columns import HEADERS, InputTable
from advisor.inputs.labels import shortened
from advisor.inputs.reports.settings import (
    Cells,
    Counting,
    ReportSettings,
    column_note,
    named_column,
    no_such_column,
    summed,
)
from advisor.inputs.reports.vectors import sums_of_strings
from simulator import Protocol
from simulator.hashing import LONGEST_SEEDS
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import Tree

_FLOAT_DIGITS = 15  # digits of a whole number that a table of floats always keeps


class NumberColumn(NamedTuple):
    """A column of numbers: its place and name, the upper bound, and the allowed values in words."""

    at: int
    what: str
    below: int
    allowed: str


def count_hashes(rows: Rows, settings: ReportSettings) -> Counting:
    """Return the counter of the categories that each report's hash function maps to its symbol.

    Raises InputError for a table with a single column, or if the meaning of the columns is unclear.
    """
    table, k = rows.table, settings.k or 0
    oracle = cast(LocalHashing, settings.oracle(k))
    seed_at, symbol_at = _two_columns(table, settings, "seed", "symbol")
    bits = LONGEST_SEEDS[oracle.hash]
    symbols = f"{settings} has g={oracle.g} symbols, from 0 to {oracle.g - 1}; another g: --hash-range"
    columns = (
        NumberColumn(seed_at, "seed", 2**bits, f"a seed is a whole number from 0 to {2**bits - 1}"),
        NumberColumn(symbol_at, "symbol", oracle.g, symbols),
    )
    notes = (
        f"column {table.called(seed_at)} read as seeds, column {table.called(symbol_at)} as symbols",
        f"categories hashed with {oracle.hash} as the numbers 0 to {k - 1}, their places in the domain",
    )
    return _counting(table, replace(settings, hash=oracle.hash), notes, columns, oracle)


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
    allowed = f"{settings} and k={k} has {symbols} symbols, from 0 to {symbols - 1}; k or eps may be wrong"
    more = ""
    if isinstance(oracle, HadamardResponse):
        more = f", {oracle.blocks} blocks of {oracle.block_size} symbols (--blocks; pure-ldp has 1 up to eps = 1)"
    if isinstance(oracle, SquareWave):
        more = f"; symbol v + {oracle.reach} is the place of category v"
    note = (
        f"symbols of {settings.protocol} for the categories in order of the domain, which it numbers from 0 to {k - 1}"
        f"{more}"
    )
    columns = (NumberColumn(at, "symbol", symbols, allowed),)
    return _counting(table, settings, (*column_note(table, at), note), columns, oracle)


def _counting(
    table: InputTable,
    settings: ReportSettings,
    notes: tuple[str, ...],
    columns: tuple[NumberColumn, ...],
    oracle: Protocol,
) -> Counting:
    """Return the counter of reports that consist of one or two whole numbers."""
    cells = partial(_tally, table, columns, oracle)
    return Counting(table, settings, notes, [column.at for column in columns], partial(summed, cells))


def _tally(table: InputTable, columns: tuple[NumberColumn, ...], oracle: Protocol, block: Block) -> Cells:
    reports = numbers_of(table, block, columns)
    return oracle.tally(reports if len(columns) > 1 else reports[:, 0]).counts


def _two_columns(table: InputTable, settings: ReportSettings, one: str, other: str) -> tuple[int, int]:
    """Return the columns of the two numbers of a report, by name, otherwise by position.

    one, other: the expected names of the two columns.

    Raises InputError for a table with a single column, or if the meaning of the columns is unclear.
    """
    if table.width < 2:
        raise InputError(
            f"{table.source}: has 1 column; a report of {settings.protocol} is {one} and {other}, in two columns"
        )
    names = table.plain_names
    first = [at for at, name in enumerate(names) if name in HEADERS[one]]
    second = [at for at, name in enumerate(names) if name in HEADERS[other]]
    second = [at for at in second if names[at] == other] or second
    if len(first) == 1 and (len(second) == 1 or table.width == 2):
        return first[0], second[0] if len(second) == 1 else 1 - first[0]
    if first or names[:1] == [other]:
        raise InputError(
            f"{table.source}: cannot tell which columns hold {one} and {other} among {table.columns()}; "
            f"name one {one} and one {other}"
        )
    return 0, 1


def numbers_of(table: InputTable, block: Block, columns: Sequence[NumberColumn]) -> NDArray[np.int64]:
    """Return columns of whole numbers below their bounds, ``(rows, columns)``.

    Raises InputError for the first cell without such a number.
    """
    numbers = block.whole([column.at for column in columns])
    below = [column.below for column in columns]
    if numbers is not None and bool(((numbers >= 0) & (numbers < below)).all()):
        return numbers
    cells = [block.cells(column.at) for column in columns]
    values = [
        [_number_of(table, place, cell, column) for cell, column in zip(row, columns, strict=True)]
        for place, *row in zip(block.places, *cells, strict=True)
    ]
    return np.array(values, dtype=np.int64)


def _number_of(table: InputTable, place: int, cell: str, column: NumberColumn) -> int:
    """Return the number in a cell; a table of floats writes 7 as "7.0", and "4.1e9" has lost digits of a seed."""
    what, allowed = column.what, column.allowed
    if not cell:
        raise table.bad(place, f"the {what} is missing (an empty cell); --drop-missing leaves out such rows")
    digits, _, zeros = cell.partition(".")
    if not (digits.isascii() and digits.isdecimal()) or zeros.strip("0"):
        raise table.bad(place, f"the {what} {shortened(cell)} is not a whole number written with digits; {allowed}")
    digits = digits.lstrip("0") or "0"
    if len(digits) > len(str(column.below)) or int(digits) >= column.below:
        short = what == "seed" and column.below == 2 ** LONGEST_SEEDS["mix64"]
        hint = "; if clients hash with xxHash, whose seeds may be longer: --hash xxh32" if short else ""
        raise table.bad(place, f"the {what} {shortened(cell)} is too large; {allowed}{hint}")
    if zeros and len(digits) > _FLOAT_DIGITS:
        raise table.bad(place, f"the {what} {shortened(cell)} has lost its last digits as a float; write whole numbers")
    return int(digits)


def count_nodes(rows: Rows, settings: ReportSettings) -> Counting:
    """Return the counter of the nodes of all heights.

    Raises InputError for a table with a single column, or if the meaning of the columns is unclear.
    """
    table, tree = rows.table, cast(Tree, settings.oracle(settings.k or 0))
    height_at, node_at = _two_columns(table, settings, "height", "node")
    top = len(tree.inner)
    allowed = f"{settings} and k={tree.k} has the heights 0 (the leaves) to {top - 1}; k may be wrong"
    note = (
        f"column {table.called(height_at)} read as heights, from 0 for the leaves, column {table.called(node_at)} as "
        "what is said of the nodes there"
    )
    cells = partial(_tally_nodes, table, NumberColumn(height_at, "height", top, allowed), node_at, tree)
    return Counting(table, settings, (note,), [height_at, node_at], partial(summed, cells))


def _tally_nodes(table: InputTable, height: NumberColumn, node_at: int, tree: Tree, block: Block) -> Cells:
    """Return the tally of the nodes of all heights, equal to `Tree.tally` without reports of k numbers each."""
    heights = numbers_of(table, block, [height])[:, 0]
    cells, places = np.array(block.cells(node_at), dtype=object), np.asarray(block.places)
    parts: list[Cells] = []
    for at, oracle in enumerate(tree.inner):
        own, nodes = heights == at, oracle.k
        reports = ColumnBlock({0: cells[own].tolist()}, 1, places[own].tolist())
        if not len(reports):
            parts.append(np.zeros(nodes, dtype=np.int64))
        elif oracle.report_kind == "bits":
            whose = f"height {at} has {nodes} nodes; k or eps may be wrong"
            parts.append(sums_of_strings(table, 0, nodes, whose, reports))
        else:
            allowed = (
                f"at height {at} {tree.key} with eps={tree.epsilon:g} and k={tree.k} reports one of {nodes} nodes by "
                f"its number, from 0 to {nodes - 1}; k or eps may be wrong"
            )
            numbers = numbers_of(table, reports, [NumberColumn(0, "node", nodes, allowed)])
            parts.append(np.bincount(numbers[:, 0], minlength=nodes))
    return np.concatenate([*parts, np.bincount(heights, minlength=len(tree.inner))])
