"""Single reports for audits: one per line, in the same formats as for counting, without a header."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from advisor.errors import InputError
from advisor.inputs.reports.vectors import split_numbers
from advisor.inputs.source import opened
from simulator.protocols import PROTOCOLS
from simulator.protocols.grr import GRR
from simulator.protocols.protocol import StandardProtocol
from simulator.protocols.tree import Tree


def lines_of(path: str) -> list[str]:
    """Return the lines of a text or its gzip, without blank lines.

    Raises InputError if it cannot be read, or has no line.
    """
    with opened(path) as source:
        lines = list(filter(None, map(str.strip, "".join(source.pieces()).split("\n"))))
        if not lines:
            raise InputError(f"{source.name}: is empty; an audit needs the reports of one true value in each file")
        return lines


def reports_of(lines: Iterable[str], protocol: str, k: int, epsilon: float) -> list[Any]:
    """Return the reports of a protocol as audits take them from a client; a line that is none stays as it is."""
    member = PROTOCOLS[protocol](k, epsilon)
    return [_report(line, member) for line in lines]


def _report(line: str, member: StandardProtocol) -> Any:
    kind, cells = member.report_kind, split_numbers(line)
    try:
        if kind == "bits":
            return [int(bit) for bit in (cells if len(cells) > 1 else line)]
        if kind == "hash":
            seed, symbol = map(int, cells)
            return symbol, seed
        if kind == "cells":
            return [float(cell) for cell in cells]
        if isinstance(member, Tree):
            height, nodes = int(cells[0]), cells[1]
            inner = member.inner[height]
            one = isinstance(inner, GRR)
            bits = [int(place == int(nodes)) for place in range(inner.k)] if one else [int(bit) for bit in nodes]
            return [height, *bits, *[0] * (member.k - len(bits))]
        numbers = [int(cell) for cell in cells]
        return numbers if kind == "subset" else numbers[0] if len(numbers) == 1 else line
    except (ValueError, IndexError):
        return line
