"""Reports that are whole numbers below a bound: the symbol of a protocol, or a hash seed and its symbol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import Table
from advisor.inputs.reports.settings import (
    Collected,
    Settings,
    column_note,
    named_column,
    no_such_column,
    place_names,
)
from advisor.inputs.tally import shortened
from simulator.hashing import SEED_BITS
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.square_wave import SquareWave

_SEED_NAMES = frozenset({"seed", "seeds", "hashseed"})
_SYMBOL_NAMES = frozenset({"symbol", "symbols", "hash", "hashed", "report", "value", "response"})
_LONGEST = 15  # digits of a number that is looked at more closely than "too large"


class Column(NamedTuple):
    """Where numbers are, what they are called, what they must be below, and what is allowed in words."""

    at: int
    what: str
    below: int
    allowed: str


def collect_hashes(rows: Rows, settings: Settings) -> Collected:
    """Count the categories that each report's hash function sends to its symbol.

    Raises InputError for a seed or symbol that is none.
    """
    table, k = rows.table, settings.k or 0
    oracle = settings.oracle(k)
    if not isinstance(oracle, LocalHashing):
        raise TypeError(f"{settings.protocol} is no local hashing")
    seed_at, symbol_at = _columns(table)
    columns = (
        Column(seed_at, "seed", 2**SEED_BITS, f"a seed is a whole number from 0 to {2**SEED_BITS - 1}"),
        Column(
            symbol_at,
            "symbol",
            oracle.g,
            f"{settings} has g={oracle.g} symbols, from 0 to {oracle.g - 1}; another g: --hash-range",
        ),
    )
    tally = reduce(add, (oracle.tally(numbers_of(rows, block, columns)) for block in _blocks(rows, columns)))
    notes = (
        f"column {table.called(seed_at)} read as seeds, column {table.called(symbol_at)} as symbols",
        f"categories hashed with {oracle.hash} as the numbers 0 to {k - 1}, their places in the domain",
    )
    return Collected(settings.domain or place_names(k), tally, notes)


def collect_symbols(rows: Rows, settings: Settings) -> Collected:
    """Tally the symbols, or the categories that each of them supports.

    Raises InputError for a report that is no symbol of the protocol.
    """
    table, k = rows.table, settings.k or 0
    at = named_column(table, settings.column, _SYMBOL_NAMES | {"index"})
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
    columns = (Column(at, "symbol", symbols, allowed),)
    tally = reduce(add, (oracle.tally(numbers_of(rows, block, columns)[:, 0]) for block in _blocks(rows, columns)))
    note = (
        f"symbols of {settings.protocol} for the categories in order of the domain, which it numbers from 0 to {k - 1}"
        f"{more}"
    )
    return Collected(settings.domain or place_names(k), tally, (*column_note(table, at), note))


def _blocks(rows: Rows, columns: Sequence[Column]) -> Iterator[Block]:
    return rows.blocks([column.at for column in columns])


def _columns(table: Table) -> tuple[int, int]:
    if table.width < 2:
        raise InputError(
            f"{table.source}: has 1 column; a report of local hashing is two numbers, seed and symbol, in two columns"
        )
    names = ["".join(filter(str.isalnum, name.casefold())) for name in table.names or ()]
    seeds = [at for at, name in enumerate(names) if name in _SEED_NAMES]
    symbols = [at for at, name in enumerate(names) if name in _SYMBOL_NAMES]
    exact = [at for at in symbols if names[at] == "symbol"]
    if len(seeds) == 1 and len(exact or symbols) == 1:
        return seeds[0], (exact or symbols)[0]
    if len(seeds) == 1 and table.width == 2:
        return seeds[0], 1 - seeds[0]
    if seeds:
        raise InputError(
            f"{table.source}: cannot tell which columns hold seed and symbol among {table.columns()}; "
            "name one seed and one symbol"
        )
    return 0, 1


def numbers_of(rows: Rows, block: Block, columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return columns of whole numbers below their bounds, ``(rows, columns)``.

    Raises InputError for the first cell that is none.
    """
    numbers = block.whole([column.at for column in columns])
    below = [column.below for column in columns]
    if numbers is not None and bool(((numbers >= 0) & (numbers < below)).all()):
        return numbers
    cells = [block.cells(column.at) for column in columns]
    values = [
        [number_of(rows, place, cell, column) for cell, column in zip(row, columns, strict=True)]
        for place, *row in zip(block.places, *cells, strict=True)
    ]
    return np.array(values, dtype=np.int64)


def number_of(rows: Rows, place: int, cell: str, column: Column) -> int:
    """Read one number; "7.0" is what a table of floats makes of 7, "4.1e9" has lost digits of a seed."""
    what, allowed = column.what, column.allowed
    if not cell:
        raise rows.bad(place, f"the {what} is missing (an empty cell); fill it in, or remove the row")
    digits, _, zeros = cell.partition(".")
    if not (digits.isascii() and digits.isdecimal()) or zeros.strip("0"):
        raise rows.bad(place, f"the {what} {shortened(cell)} is not a whole number written with digits; {allowed}")
    digits = digits.lstrip("0") or "0"
    if len(digits) > _LONGEST or int(digits) >= column.below:
        hint = "; xxh32 uses the lowest 32 bits of a longer seed: give it modulo 4294967296" if what == "seed" else ""
        raise rows.bad(place, f"the {what} {shortened(cell)} is too large; {allowed}{hint}")
    return int(digits)
