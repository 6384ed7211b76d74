"""Finished cells in a file, from which a stopped sweep continues."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from advisor.answers.sweep.result import Cell, PairError, Winner
from advisor.errors import InputError
from advisor.inputs.saved import BUDGET, CATEGORIES, USERS, Maybe, Number, checked
from advisor.question.sweep import Place, SweepQuestion
from knowledge.making.store import Store
from simulator.ranking import Pair

LONGEST_PLAN = 1_000_000  # maximum of bytes read from a first line
NAMED = 3  # maximum of protocols or methods named in an error
CELL_START = b'{"index":'
FLAGS = {
    "metric": "--metric",
    "protocols": "--protocol",
    "methods": "--method",
    "repetitions": "--reps",
    "seed": "--seed",
    "ordered": "ordered",
    "top_values": "--metric topk:N or hotspots:N",
    "set_share": "--metric set:X",
    "mix": "--metric kl:X",
    "version": "the version of ldp-advise",
    "sweep": "the version of the file",
}


class CellFile:
    """The finished cells of a sweep; a cell is on disk when `add` returns.

    Raises InputError if the file cannot be used, or holds other content than cells of this sweep; then it stays
    unchanged.
    """

    def __init__(self, path: Path, question: SweepQuestion) -> None:
        self._question = question
        try:
            check_cell_file(path, question.plan)
            self.cells = {cell.place: cell for cell in self._read(path)}
            self._store: Store[dict[str, object]] = Store(path, question.plan)
        except OSError as error:
            raise InputError(f"--resume {path}: cannot be used ({error.strerror or error})") from None

    def add(self, cell: Cell) -> None:
        """Append a finished cell."""
        content = {"index": number_of(cell.place), "population": self._question.population(cell.k), **asdict(cell)}
        pairs = [(*pair, *figures) for pair, figures in cell.pairs.items()]
        self._store.add({**content, "pairs": pairs})

    def _read(self, path: Path) -> Iterator[Cell]:
        """Yield the finished cells; then remove an incomplete cell at the end, which a killed process leaves.

        Raises InputError if a line is not a cell, or is a cell of other frequencies.
        """
        lines = path.read_bytes().splitlines(keepends=True)[1:] if path.exists() else []
        for number, line in enumerate(lines, start=2):
            if not line.strip():
                continue
            try:
                cell, population = cell_of(json.loads(line))
            except (ValueError, RecursionError):
                if number > len(lines) and _is_half(line):
                    os.truncate(path, path.stat().st_size - len(line))
                    return
                raise InputError(
                    f"--resume {path}: line {number} is damaged and holds no cell; delete that line, and its cell is "
                    "simulated again"
                ) from None
            if cell.k in self._question.sizes and population != self._question.population(cell.k):
                raise _foreign(
                    path, f"the cells of another sweep: other frequencies of the k = {cell.k:,} values on line {number}"
                )
            yield cell


def _is_half(line: bytes) -> bool:
    """Return whether a line may be the beginning of a cell."""
    return not line.endswith(b"\n") and line.startswith(CELL_START[: len(line)])


def check_cell_file(path: Path, plan: Mapping[str, object] | None = None) -> None:
    """Check that a file holds cells of a sweep, and of the sweep `plan` if given; the file is only read.

    Raises InputError for any other file.
    """
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    if not path.is_file():
        raise InputError(f"--resume {path}: this is not a file; name a file, or one that does not exist yet")
    with path.open("rb") as file:
        line = file.readline(LONGEST_PLAN)
    if not line.endswith(b"\n"):
        # A killed process may leave an incomplete first line: it must be the beginning of the expected line.
        beginning = b'{"plan":{"sweep":' if plan is None else _first_line(plan)
        if not (beginning.startswith(line) or (plan is None and line.startswith(beginning))):
            raise _foreign(path, "no cells of a sweep")
        return
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        head = None
    there = head.get("plan") if isinstance(head, dict) else None
    if not isinstance(there, dict) or "sweep" not in there:
        raise _foreign(path, "no cells of a sweep")
    here = None if plan is None else json.loads(json.dumps(plan))
    if here is not None and there != here:
        raise _foreign(path, f"the cells of another sweep: {'; '.join(_differences(there, here))}")


def _differences(there: Mapping[str, object], here: Mapping[str, object]) -> Iterator[str]:
    """Yield the differences between two plans, in terms of the user's settings."""
    for name in {**here, **there}:
        then, now = there.get(name), here.get(name)
        if then == now:
            continue
        if name == "frequencies":
            shapes = all(str(population).startswith(("skew", "shape")) for population in (then, now))
            yield f"{then} there, {now} here" if shapes else "another sample"
        else:
            yield f"{FLAGS.get(name, name)} is {_setting(then)} there, {_setting(now)} here"


def _setting(value: object) -> str:
    if isinstance(value, list):
        return f"{len(value)} names" if len(value) > NAMED else f"{' and '.join(map(str, value)):.90}"
    return "not given" if value is None else f"{str(value).lower():.90}"


def _first_line(plan: Mapping[str, object]) -> bytes:
    return json.dumps({"plan": plan}, separators=(",", ":")).encode()


def _foreign(path: Path, what: str) -> InputError:
    return InputError(f"--resume {path}: this file holds {what}; name another file, or one that does not exist yet")


def number_of(place: Place) -> int:
    """Return the number of a cell in the file: a digest of its place, the same in all sweeps.

    >>> number_of((1.0, 1000, 8)) == number_of((1.0, 1000, 8)), number_of((1.0, 1000, 8)) == number_of((2.0, 1000, 8))
    (True, False)
    """
    return int.from_bytes(hashlib.blake2b(repr(place).encode(), digest_size=6).digest(), "big")


_SHARE, _ERROR = Number(0, 1), Number(0)
_FIGURES = (_ERROR, _ERROR, _SHARE, *[Maybe(_ERROR)] * 3)  # of a `PairError`


def _pair(name: str, value: object) -> tuple[Pair, PairError]:
    protocol, method, *figures = checked([lambda _, item: item], value, name)
    read = (checked(shape, item, name) for shape, item in zip(_FIGURES, figures, strict=True))
    return (checked(str, protocol, name), checked(str, method, name)), PairError(*read)


def _names(name: str, value: object) -> Pair:
    protocol, method = checked([str], value, name)
    return protocol, method


_SHAPE = {
    **{"protocol": str, "method": str, "error": _ERROR, "standard_error": _ERROR, "win_share": _SHARE},
    **dict.fromkeys(("margin", "margin_low", "margin_high"), Maybe(Number())),
    "runner_up": Maybe(_names),
}


def _winner(name: str, value: object) -> Winner:
    return Winner(**checked(_SHAPE, value, name))


_CELL = {
    **{"epsilon": BUDGET, "n": USERS, "k": CATEGORIES, "winner": _winner, "by_protocol": [_winner], "pairs": [_pair]},
    **{"index": Number(0, 1 << 48, whole=True), "population": str},
}


def cell_of(content: object) -> tuple[Cell, str]:
    """Return a cell from its record, and the digest that distinguishes its frequencies from others of the same size.

    Raises ValueError if the record is not a cell.
    """
    epsilon, n, k, winner, winners, pairs, index, population = checked(_CELL, content).values()
    cell = Cell(epsilon, n, k, winner, tuple(winners), dict(pairs))
    named = {(one.protocol, one.method) for one in (winner, *winners)}
    if index != number_of(cell.place) or not named <= cell.pairs.keys():
        raise ValueError("an index or a winner of another cell")
    return cell, str(population)
