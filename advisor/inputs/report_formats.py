"""What the readers of the reports' formats are asked, and what they find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.columns import Table, find_column
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.local_hashing import LocalHashing

_REPORT_NAMES = frozenset(
    {"report", "reports", "reported", "response", "bits", "bitstring", "bitvector", "set", "subset"}
)


@dataclass(frozen=True)
class Asked:
    """What the user said of the reports; `k` is that of the domain if there is one."""

    protocol: str
    epsilon: float
    k: int | None
    domain: tuple[str, ...] | None
    column: str | None
    hash: str | None

    def oracle(self, k: int) -> FrequencyOracle:
        """Return the protocol for k categories."""
        kind = PROTOCOLS[self.protocol]
        if issubclass(kind, LocalHashing) and self.hash is not None:
            return kind(k, self.epsilon, self.hash)
        return kind(k, self.epsilon)

    @property
    def setting(self) -> str:
        """Name protocol and budget for people."""
        return f"{self.protocol} with eps={self.epsilon:g}"


@dataclass(frozen=True)
class Collected:
    """Categories, reports that support each, number of reports, and what to tell the user about the reading."""

    labels: tuple[str, ...]
    support: NDArray[np.int64]
    n: int
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def named_column(table: Table, column: str | None) -> int | None:
    """Return the only column, or that which is asked for or has a telling name; None if there is no such."""
    if column is not None:
        return find_column(table, column, "--column")
    if table.width == 1:
        return 0
    squashed = ["".join(filter(str.isalnum, name.casefold())) for name in table.names or ()]
    found = [at for at, name in enumerate(squashed) if name in _REPORT_NAMES]
    return found[0] if len(found) == 1 else None


def column_note(table: Table, index: int) -> tuple[str, ...]:
    """Say which column was read, if there are others."""
    return (f"column {table.called(index)} read as reports",) if table.width > 1 else ()


def no_such_column(table: Table, why: str) -> InputError:
    """Ask for the column of the reports."""
    return InputError(
        f"{table.source}: has {table.width} columns: {table.columns()}; {why}; say which one holds the reports with "
        "--column"
    )


def place_names(k: int) -> tuple[str, ...]:
    """Return the labels of a domain that is known by its size only."""
    return tuple(map(str, range(k)))
