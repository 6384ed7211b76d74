"""Reports that are whole numbers below a bound: the symbol of a protocol, or a hash seed and its symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows, Where
from advisor.inputs.columns import Table
from advisor.inputs.reports.counting import CellCounting, Cells
from advisor.inputs.reports.settings import Settings, column_note, named_column, no_such_column
from advisor.inputs.tally import shortened
from simulator.hashing import LONGEST_SEEDS
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.square_wave import SquareWave

_SEED_NAMES = frozenset({"seed", "seeds", "hashseed"})
_SYMBOL_NAMES = frozenset({"symbol", "symbols", "hash", "hashed", "report", "value", "response"})
_FLOAT_DIGITS = 15  # digits of a whole number that a table of floats always keeps


class Column(NamedTuple):
    """Where numbers are, what they are called, what they must be below, and what is allowed in words."""

    at: int
    what: str
    below: int
    allowed: str


@dataclass(frozen=True)
class NumberCounting(CellCounting):
    """Tallies reports that are one whole number each, or two."""

    numbers: tuple[Column, ...]

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return [column.at for column in self.numbers]

    def cells(self, block: Block) -> Cells:
        """Return the tally of one block."""
        reports = numbers_of(self.where, block, self.numbers)
        oracle = self.settings.oracle(self.settings.k or 0)
        return oracle.tally(reports if len(self.numbers) > 1 else reports[:, 0]).counts


def count_hashes(rows: Rows, settings: Settings) -> NumberCounting:
    """Return how the categories that each report's hash function sends to its symbol are counted.

    Raises InputError for a table of one column, or of which nobody can tell what is in which.
    """
    table, k = rows.table, settings.k or 0
    oracle = settings.oracle(k)
    if not isinstance(oracle, LocalHashing):
        raise TypeError(f"{settings.protocol} is no local hashing")
    seed_at, symbol_at = _columns(table)
    bits = LONGEST_SEEDS[oracle.hash]
    columns = (
        Column(seed_at, "seed", 2**bits, f"a seed is a whole number from 0 to {2**bits - 1}"),
        Column(
            symbol_at,
            "symbol",
            oracle.g,
            f"{settings} has g={oracle.g} symbols, from 0 to {oracle.g - 1}; another g: --hash-range",
        ),
    )
    notes = (
        f"column {table.called(seed_at)} read as seeds, column {table.called(symbol_at)} as symbols",
        f"categories hashed with {oracle.hash} as the numbers 0 to {k - 1}, their places in the domain",
    )
    return NumberCounting(Where(table).without_rows(), replace(settings, hash=oracle.hash), notes, columns)


def count_symbols(rows: Rows, settings: Settings) -> NumberCounting:
    """Return how symbols, or the categories that each of them supports, are counted.

    Raises InputError where nobody can tell which column holds them.
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
    note = (
        f"symbols of {settings.protocol} for the categories in order of the domain, which it numbers from 0 to {k - 1}"
        f"{more}"
    )
    columns = (Column(at, "symbol", symbols, allowed),)
    return NumberCounting(Where(table).without_rows(), settings, (*column_note(table, at), note), columns)


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


def numbers_of(where: Where, block: Block, columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return columns of whole numbers below their bounds, ``(rows, columns)``.

    Raises InputError for the first cell that is none.
    """
    numbers = block.whole([column.at for column in columns])
    below = [column.below for column in columns]
    if numbers is not None and bool(((numbers >= 0) & (numbers < below)).all()):
        return numbers
    cells = [block.cells(column.at) for column in columns]
    values = [
        [number_of(where, place, cell, column) for cell, column in zip(row, columns, strict=True)]
        for place, *row in zip(block.places, *cells, strict=True)
    ]
    return np.array(values, dtype=np.int64)


def number_of(where: Where, place: int, cell: str, column: Column) -> int:
    """Read one number; "7.0" is what a table of floats makes of 7, "4.1e9" has lost digits of a seed."""
    what, allowed = column.what, column.allowed
    if not cell:
        raise where.bad(place, f"the {what} is missing (an empty cell); fill it in, or remove the row")
    digits, _, zeros = cell.partition(".")
    if not (digits.isascii() and digits.isdecimal()) or zeros.strip("0"):
        raise where.bad(place, f"the {what} {shortened(cell)} is not a whole number written with digits; {allowed}")
    digits = digits.lstrip("0") or "0"
    if len(digits) > len(str(column.below)) or int(digits) >= column.below:
        short = what == "seed" and column.below == 2 ** LONGEST_SEEDS["mix64"]
        hint = "; if clients hash with xxHash, whose seeds may be longer: --hash xxh32" if short else ""
        raise where.bad(place, f"the {what} {shortened(cell)} is too large; {allowed}{hint}")
    if zeros and len(digits) > _FLOAT_DIGITS:
        raise where.bad(place, f"the {what} {shortened(cell)} has lost its last digits as a float; write whole numbers")
    return int(digits)
