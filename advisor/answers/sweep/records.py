"""Finished cells in a file, from which a stopped sweep continues."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from numpy.typing import ArrayLike

from advisor.answers.sweep.result import Cell
from advisor.errors import InputError
from advisor.inputs.saved import BUDGET, CATEGORIES, USERS, Number, checked
from advisor.question.sweep import Place, SweepQuestion
from knowledge.making.store import Store
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.ranking import Pair

Errors: TypeAlias = Mapping[Pair, ArrayLike]  # ``(repetitions,)`` errors of each pair

LONGEST_PLAN = 1_000_000  # maximum of bytes read from a first line
NAMED = 3  # maximum of protocols or methods named in an error
LEAST = 2  # repetitions
CELL_START = b'{"index":'
FLAGS = {
    "metrics": "--metric",
    "protocols": "--protocol",
    "methods": "--method",
    "repetitions": "--reps",
    "max_repetitions": "--max-reps",
    "seed": "--seed",
    "ordered": "ordered",
    "top_values": "--metric topk:N or hotspots:N",
    "set_share": "--metric set:X",
    "mix": "--metric kl:X",
    "version": "the version of ldp-advise",
    "sweep": "the version of the file",
}


class CellFile:
    """The errors of the finished cells of a sweep, by place and metric; they are on disk when `add` returns.

    Raises InputError if the file cannot be used, or holds other content than cells of this sweep; then it stays
    unchanged.
    """

    def __init__(self, path: Path, question: SweepQuestion) -> None:
        self._question = question
        try:
            check_cell_file(path, question.plan)
            self.errors = dict(self._read(path))
            self._store: Store[dict[str, object]] = Store(path, question.plan)
        except OSError as error:
            raise InputError(f"--resume {path}: cannot be used ({error.strerror or error})") from None

    def add(self, cells: Sequence[Cell]) -> None:
        """Append the finished cells of a place."""
        epsilon, n, k = place = cells[0].place
        head = {"index": number_of(place), "population": self._question.population(k), "epsilon": epsilon}
        runs = {cell.metric: [(*pair, *errors) for pair, errors in cell.runs.items()] for cell in cells}
        self._store.add({**head, "n": n, "k": k, "errors": runs})

    def _read(self, path: Path) -> Iterator[tuple[Place, Mapping[str, Errors]]]:
        """Yield the finished places; then remove an incomplete one at the end, which a killed process leaves.

        Raises InputError if a line is not of a place, or of other frequencies.
        """
        lines = path.read_bytes().splitlines(keepends=True)[1:] if path.exists() else []
        for number, line in enumerate(lines, start=2):
            if not line.strip():
                continue
            try:
                place, population, errors = errors_of(json.loads(line), self._question.metrics)
            except (ValueError, RecursionError):
                if number > len(lines) and _is_half(line):
                    os.truncate(path, path.stat().st_size - len(line))
                    return
                raise InputError(
                    f"--resume {path}: line {number} is damaged and holds no cell; delete that line, and its cell is "
                    "simulated again"
                ) from None
            k = place[2]
            if k in self._question.sizes and population != self._question.population(k):
                raise _foreign(
                    path, f"the cells of another sweep: other frequencies of the k = {k:,} values on line {number}"
                )
            yield place, errors


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


def _errors(name: str, value: object) -> tuple[Pair, list[float]]:
    protocol, method, *errors = checked([lambda _, item: item], value, name)
    protocol, method = checked([str], [protocol, method], name)
    if protocol not in PROTOCOLS or method not in POSTPROCESSORS or len(errors) < LEAST:
        raise ValueError("no errors of a pair")
    return (protocol, method), checked([Number(0)], errors, name)


_CELLS = {
    **{"index": Number(0, 1 << 48, whole=True), "population": str, "epsilon": BUDGET, "n": USERS, "k": CATEGORIES},
    "errors": {...: [_errors]},
}


def errors_of(content: object, metrics: Sequence[str]) -> tuple[Place, str, Mapping[str, Errors]]:
    """Return the errors of a place from its record, and the digest that tells its frequencies from others.

    Raises ValueError if the record is not of a place, or lacks a metric.
    """
    index, population, epsilon, n, k, errors = checked(_CELLS, content).values()
    if index != number_of((epsilon, n, k)) or not all(errors.get(metric) for metric in metrics):
        raise ValueError("an index of another place, or a metric without errors")
    return (epsilon, n, k), population, {metric: dict(errors[metric]) for metric in metrics}
