"""Finished cells in a file, from which a stopped sweep continues."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from numpy.typing import ArrayLike

from advisor.answers.sweep.result import Cell
from advisor.errors import InputError, listed
from advisor.inputs.saved import BUDGET, CATEGORIES, USERS, Number, checked
from advisor.question.sweep import Place, SweepQuestion
from knowledge.making.store import Store
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.ranking import Pair

Errors: TypeAlias = Mapping[Pair, ArrayLike]  # ``(repetitions,)`` errors of each pair

LONGEST_PLAN = 1_000_000  # maximum of bytes read from a first line
LEAST = 2  # repetitions
FLAGS = {
    "metrics": "--metric",
    "protocols": "--protocol",
    "methods": "--method",
    "repetitions": "--reps",
    "max_repetitions": "--max-reps",
    "seed": "--seed",
    "top_values": "--metric topk:N or hotspots:N",
    "set_share": "--metric set:X",
    "mix": "--metric kl:X",
    "version": "the version of ldp-advise",
    "sweep": "the version of the file",
    "frequencies": "the sample or the shape",
}


class CellFile:
    """The errors of the finished cells of a sweep, by place and metric; they are on disk when `add` returns.

    Lines that hold no cell, as a killed process or an editor leaves them, are passed over: their cells are simulated
    again.

    Raises InputError if the file cannot be used, or holds other content than cells of this sweep; then it stays
    unchanged.
    """

    def __init__(self, path: Path, question: SweepQuestion) -> None:
        self._question = question
        try:
            _check_plan(path, question.plan)
            self._store: Store[dict[str, object]] = Store(path, question.plan)
            self.errors = dict(self._read(path))
        except OSError as error:
            raise InputError(f"--resume {path}: cannot be used ({error.strerror or error})") from None

    def add(self, cells: Sequence[Cell]) -> None:
        """Append the finished cells of a place."""
        epsilon, n, k = place = cells[0].place
        head = {"index": number_of(place), "population": self._question.population(k), "epsilon": epsilon}
        runs = {cell.metric: [(*pair, *errors) for pair, errors in cell.runs.items()] for cell in cells}
        self._store.add({**head, "n": n, "k": k, "errors": runs})

    def _read(self, path: Path) -> Iterator[tuple[Place, Mapping[str, Errors]]]:
        """Yield the finished places; raises InputError for a place of other frequencies."""
        for record in self._store.records().values():
            try:
                place, population, errors = errors_of(record, self._question.metrics)
            except ValueError:
                continue
            k = place[2]
            if k in self._question.sizes and population != self._question.population(k):
                raise _foreign(path, f"the cells of another sweep: other frequencies of the k = {k:,} values")
            yield place, errors


def _check_plan(path: Path, plan: Mapping[str, object]) -> None:
    """Check that a file that exists holds cells of the sweep `plan`, or the start of its first line; it is only read.

    Raises InputError for any other file.
    """
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(f"--resume {path}: this is not a file; name a file, or one that does not exist yet")
    with path.open("rb") as file:
        line = file.readline(LONGEST_PLAN)
    here = json.dumps({"plan": plan}, separators=(",", ":")).encode() + b"\n"
    if here.startswith(line):  # whole, or as a killed process left it
        return
    there, now = {}, json.loads(here)["plan"]
    with suppress(ValueError, RecursionError, KeyError, TypeError):
        there = dict(json.loads(line)["plan"])
    if "sweep" not in there:
        raise _foreign(path, "no cells of a sweep")
    differing = [FLAGS.get(name, name) for name in {**now, **there} if there.get(name) != now.get(name)]
    raise _foreign(path, f"the cells of another sweep, with other values of {listed(differing)}")


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
