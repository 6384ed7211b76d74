"""Reports of local hashing: the seed of a hash function and the symbol it gave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.columns import Table
from advisor.inputs.report_formats import Asked, Collected, place_names
from advisor.inputs.rows import Block, Rows
from advisor.inputs.tally import shortened
from simulator.hashing import SEED_BITS
from simulator.protocols.local_hashing import LocalHashing

_SEED_NAMES = frozenset({"seed", "seeds", "hashseed"})
_SYMBOL_NAMES = frozenset({"symbol", "symbols", "hash", "hashed", "report", "value", "response"})
_LONGEST = 15  # digits of a number that is looked at more closely than "too large"


def collect_hashes(rows: Rows, asked: Asked) -> Collected:
    """Count the categories that each report's hash function sends to its symbol.

    Raises
    ------
    InputError
        For a seed or symbol that is none.
    """
    table = rows.table
    k = asked.k or 0
    oracle = asked.oracle(k)
    if not isinstance(oracle, LocalHashing):
        raise TypeError(f"{asked.protocol} is no local hashing")
    seed_at, symbol_at = _columns(table)
    allowed = {
        "seed": (2**SEED_BITS, f"a seed is a whole number from 0 to {2**SEED_BITS - 1}"),
        "symbol": (oracle.g, f"{asked.setting} has g={oracle.g} symbols, from 0 to {oracle.g - 1}"),
    }
    support = np.zeros(k, dtype=np.int64)
    n = 0
    for block in rows.blocks():
        seeds = _numbers(rows, block, seed_at, "seed", *allowed["seed"])
        symbols = _numbers(rows, block, symbol_at, "symbol", *allowed["symbol"])
        support += oracle.support(np.stack([seeds, symbols], axis=1))
        n += len(seeds)
    notes = (
        f"column {table.called(seed_at)} read as seeds, column {table.called(symbol_at)} as symbols",
        f"categories hashed with {oracle.hash} as the numbers 0 to {k - 1}, their places in the domain",
    )
    return Collected(asked.domain or place_names(k), support, n, notes)


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


def _numbers(rows: Rows, block: Block, at: int, what: str, below: int, allowed: str) -> NDArray[np.int64]:
    cells = block.column(at)
    joined = "".join(cells)
    # int() takes "1_0", " 7" and other digits than ours as well.
    if "" not in cells and joined.isascii() and joined.isdecimal() and max(map(len, cells)) <= _LONGEST:
        numbers = np.array(list(map(int, cells)), dtype=np.int64)
        if numbers.max() < below:
            return numbers
    values = [_number(rows, place, cell, what, below, allowed) for place, cell in zip(block.places, cells, strict=True)]
    return np.array(values, dtype=np.int64)


def _number(rows: Rows, place: int, cell: str, what: str, below: int, allowed: str) -> int:
    """Read one number; "7.0" is what a table of floats makes of 7, "4.1e9" has lost digits of a seed."""
    if not cell:
        raise rows.bad(place, f"the {what} is missing (an empty cell); fill it in, or remove the row")
    digits, _, zeros = cell.partition(".")
    if not (digits.isascii() and digits.isdecimal()) or zeros.strip("0"):
        raise rows.bad(place, f"the {what} {shortened(cell)} is not a whole number written with digits; {allowed}")
    digits = digits.lstrip("0") or "0"
    if len(digits) > _LONGEST or int(digits) >= below:
        raise rows.bad(place, f"the {what} {shortened(cell)} is too large; {allowed}")
    return int(digits)
