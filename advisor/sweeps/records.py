"""Finished cells in a file: a sweep that was stopped goes on from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from advisor.errors import InputError
from advisor.sweeps.question import Place
from advisor.sweeps.result import Cell, Winner
from knowledge.making.store import Store

LONGEST_PLAN = 1_000_000  # bytes of a first line that is still read


class WinnerRecord(TypedDict):
    """A winner as it stands in the file."""

    pair: list[str]
    error: float
    standard_error: float
    win_share: float
    runner_up: list[str] | None
    margin: list[float | None]


class CellRecord(TypedDict):
    """A cell as it stands in the file."""

    index: int
    place: list[float]
    winner: WinnerRecord
    by_protocol: list[WinnerRecord]
    errors: list[tuple[str, str, float]]


class CellFile:
    """The finished cells of one sweep: each is on disk when `add` returns.

    Raises InputError if the file holds anything else than cells of this sweep (it is not changed then), or cannot be
    used.
    """

    def __init__(self, path: Path, plan: Mapping[str, object]) -> None:
        self._path = path
        try:
            check_cell_file(path, plan)
            self._store: Store[CellRecord] = Store(path, plan)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise _foreign(path, "the cells of another sweep") from None
        except OSError as error:
            raise InputError(f"--resume {path}: cannot be used ({error.strerror or error})") from None

    def cells(self) -> dict[Place, Cell]:
        """Return the finished cells by their places; a line that is none of them is passed over."""
        cells = {}
        for record in self._store.records().values():
            try:
                cell = cell_of(record)
            except (KeyError, TypeError, ValueError):
                continue
            cells[cell.place] = cell
        return cells

    def add(self, cell: Cell) -> None:
        """Append a finished cell."""
        self._store.add(record_of(cell))


def check_cell_file(path: Path, plan: Mapping[str, object] | None = None) -> None:
    """Refuse a file that does not hold cells of a sweep, or of another one than `plan`; it is only looked at.

    Raises InputError if it is another file.
    """
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    if not path.is_file():
        raise InputError(f"--resume {path}: this is not a file; name a file, or one that does not exist yet")
    with path.open("rb") as file:
        line = file.readline(LONGEST_PLAN)
    if not line.endswith(b"\n"):
        # A kill may have cut the very first line short: what is there must be the beginning of what is written there.
        beginning = b'{"plan":{"sweep":' if plan is None else _first_line(plan)
        if not (beginning.startswith(line) or (plan is None and line.startswith(beginning))):
            raise _foreign(path, "no cells of a sweep")
        return
    try:
        head = json.loads(line)
    except ValueError:
        head = None
    held = head.get("plan") if isinstance(head, dict) else None
    if not isinstance(held, dict) or "sweep" not in held:
        raise _foreign(path, "no cells of a sweep")
    if plan is not None and held != json.loads(json.dumps(plan)):
        raise _foreign(path, "the cells of another sweep")


def _first_line(plan: Mapping[str, object]) -> bytes:
    return json.dumps({"plan": plan}, separators=(",", ":")).encode()


def _foreign(path: Path, what: str) -> InputError:
    return InputError(f"--resume {path}: this file holds {what}; name another file, or one that does not exist yet")


def number_of(place: Place) -> int:
    """Return the number under which a cell is kept: a digest of its place, the same in every sweep.

    >>> number_of((1.0, 1000, 8)) == number_of((1.0, 1000, 8)), number_of((1.0, 1000, 8)) == number_of((2.0, 1000, 8))
    (True, False)
    """
    return int.from_bytes(hashlib.blake2b(repr(place).encode(), digest_size=6).digest(), "big")


def record_of(cell: Cell) -> CellRecord:
    """Return a cell in JSON types."""
    return {
        "index": number_of(cell.place),
        "place": list(cell.place),
        "winner": _winner_record(cell.winner),
        "by_protocol": [_winner_record(winner) for winner in cell.by_protocol],
        "errors": [(protocol, method, error) for (protocol, method), error in cell.errors.items()],
    }


def _winner_record(winner: Winner) -> WinnerRecord:
    return {
        "pair": [winner.protocol, winner.method],
        "error": winner.error,
        "standard_error": winner.standard_error,
        "win_share": winner.win_share,
        "runner_up": None if winner.runner_up is None else list(winner.runner_up),
        "margin": [winner.margin, winner.margin_low, winner.margin_high],
    }


def cell_of(record: CellRecord) -> Cell:
    """Return a cell that was kept."""
    epsilon, n, k = record["place"]
    return Cell(
        epsilon=float(epsilon),
        n=int(n),
        k=int(k),
        winner=_winner_of(record["winner"]),
        by_protocol=tuple(_winner_of(one) for one in record["by_protocol"]),
        errors={(protocol, method): float(error) for protocol, method, error in record["errors"]},
    )


def _winner_of(record: WinnerRecord) -> Winner:
    runner_up, (protocol, method) = record["runner_up"], record["pair"]
    margin, low, high = record["margin"]
    return Winner(
        protocol=protocol,
        method=method,
        error=record["error"],
        standard_error=record["standard_error"],
        win_share=record["win_share"],
        margin=margin,
        margin_low=low,
        margin_high=high,
        runner_up=None if runner_up is None else (runner_up[0], runner_up[1]),
    )
