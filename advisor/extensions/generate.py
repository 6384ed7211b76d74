"""``ldp-advise generate``: a data set of known frequencies, as a file that the other commands read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from advisor.checks import real
from advisor.cli.options import Only
from advisor.cli.run import Job, Output, run
from advisor.errors import InputError, listed
from advisor.question import settings
from advisor.question.frequencies import assumed_frequencies
from advisor.question.option import Settings, like, option, require
from advisor.question.question import Question
from advisor.show.model import Document, Records
from simulator._types import FloatArray
from simulator.populations import apportion, drawn, normal, one_per_user

ROWS_MAX = 10_000_000  # of values: they are held in memory
SUFFIXES = ("", ".csv", ".txt", ".dat")


@dataclass(frozen=True, kw_only=True)
class DataSet(Settings):
    """Frequencies and form of a data set."""

    panel: ClassVar[str] = "Data set"

    shape: str | None = like(settings.Shape, "shape", help="a named shape, such as zipf:1.2 or gaussian:0.1")
    mean: float | None = option(
        "--mean", read=real(), metavar="M", help="instead of --shape: whole numbers, normal around M"
    )
    spread: float | None = option("--spread", read=real(above=0), metavar="S", help="with --mean: standard deviation")
    k: int | None = like(settings.Categories, "k", help="number of values: 0 to N-1")
    n: int | None = like(settings.Terms, "n")
    apportioned: bool = option("--apportioned", help="expected counts, rounded to a sum of --n; not drawn")
    histogram: bool = option("--histogram", help="rows value,count instead of one row per user")
    seed: int = like(settings.Simulation, "seed", default=0)

    def check(self) -> None:
        """Raise InputError if the frequencies are given twice or in part, and for too many rows."""
        if self.shape is not None and (self.mean is not None or self.spread is not None):
            raise InputError("give either --shape, or --mean and --spread")
        if (self.mean is None) != (self.spread is None):
            raise InputError("--mean and --spread go together, for example --mean 50 --spread 10")
        if self.n is not None and self.n > ROWS_MAX and not self.histogram:
            raise InputError(f"n must be at most {ROWS_MAX:,} rows, got {self.n:,}: add --histogram for more users")


@dataclass(frozen=True, kw_only=True)
class DataFile(Output):
    """The file of a data set."""

    output: str | None = like(Output, "output", help="write here, not to standard output: .csv, .txt, .dat")

    @property
    def chosen_format(self) -> str:
        """The value, which is the data set."""
        if (suffix := Path(self.output or "").suffix.lower()) not in SUFFIXES:
            raise InputError(f"--output {self.output}: the suffix must be {listed(SUFFIXES[1:])}, got {suffix!r}")
        return "value"


def generate_command(*, data_set: DataSet, output: Annotated[DataFile, Only("output", "force")]) -> None:
    """Write a data set of a known shape: values, or a histogram.

    It is read as any other: as ordered numbers, without rare values that nobody has. --unordered and --k say otherwise.

    Examples: ldp-advise generate --shape zipf:1.5 --k 1024 --n 1M -o zipf.csv
              ldp-advise generate --mean 50 --spread 10 --k 100 --n 10k | ldp-advise --eps 1 -
    """
    require(
        ("--shape", data_set.shape or data_set.mean, "the frequencies: --shape zipf:1.2, or --mean 50 --spread 10"),
        ("--k", data_set.k, "the number of values, for example --k 64"),
        ("--n", data_set.n, "the number of users, for example --n 100k"),
    )
    run(Job.of(lambda: _document(data_set)), output)


def _document(data_set: DataSet) -> Document:
    n = data_set.n or 0
    frequencies = _frequencies(data_set, data_set.k or 0)
    counts = apportion(frequencies, n) if data_set.apportioned else drawn(frequencies, n, seed=data_set.seed)
    lines: Iterable[object] = ("value,count", *(f"{value},{count}" for value, count in enumerate(counts.tolist())))
    if not data_set.histogram:
        lines = one_per_user(counts, seed=data_set.seed).tolist()
    return Document("data set", None, (), {}, Records((), ()), "\n".join(map(str, lines)))


def _frequencies(data_set: DataSet, k: int) -> FloatArray:
    if data_set.mean is None or data_set.spread is None:
        domain, simulation = settings.Categories(k=k), settings.Simulation(seed=data_set.seed)
        question = Question(domain=domain, shape=settings.Shape(shape=data_set.shape), simulation=simulation)
        return np.asarray(assumed_frequencies(question).weights, np.float64)
    try:
        return normal(k, data_set.mean, data_set.spread)
    except ValueError as error:
        raise InputError(str(error)) from None
