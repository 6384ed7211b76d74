"""Count the reports of several files: block by block, by whoever works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from advisor.errors import InputError, printable
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.head import Expected
from advisor.inputs.reports.bits import bits_have_header, count_bits
from advisor.inputs.reports.categories import count_sets, count_values, labels_have_header
from advisor.inputs.reports.cells import cells_have_header, count_cells
from advisor.inputs.reports.counting import Counted, Counting
from advisor.inputs.reports.files import alike, digest_of
from advisor.inputs.reports.nodes import count_nodes
from advisor.inputs.reports.settings import Settings
from advisor.inputs.reports.symbols import count_hashes, count_symbols
from advisor.inputs.reports.tallies import Part, ReportFile, added, difference, is_tally
from advisor.inputs.source import opened
from advisor.inputs.table import opened_rows
from knowledge.making.workers import Workers, WorkersError

_COUNTINGS: dict[str, Callable[[Rows, Settings], Counting]] = {
    "value": count_values,
    "bits": count_bits,
    "subset": count_sets,
    "hash": count_hashes,
    "symbol": count_symbols,
    "cells": count_cells,
    "node": count_nodes,
}
"""What decides how reports of each kind in `READABLE` are counted."""


@dataclass(frozen=True)
class Counts:
    """What was counted, and what was decided on the way."""

    part: Part  # as it is written, and added to others
    assumptions: tuple[str, ...]  # what was decided for the user, one sentence each
    warnings: tuple[str, ...]  # what the user should look at, one sentence each


@dataclass
class _Heads:
    """What is decided and said of files while they are read."""

    settings: Settings  # what the user says of the reports
    several: bool  # whether there is more than one file
    countings: list[Counting] = field(default_factory=list)
    assumptions: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)

    def begin(self, rows: Rows) -> Counting:
        """Decide how a file is counted; raise InputError if its reports are not like those of the first one."""
        counting = _COUNTINGS[self.settings.kind](rows, self.settings)
        for first in self.countings[:1]:
            why = difference(first.settings, counting.settings)
            if why is not None:
                raise InputError(f"{first.table.source} and {rows.table.source} are not of one collection: {why}")
        self.countings.append(counting)
        self.assumptions.update(dict.fromkeys((*rows.assumptions, *counting.notes)))
        return counting

    def end(self, rows: Rows) -> None:
        """Keep the warnings collected while a file was read."""
        before = f"{rows.table.source}: " if self.several else ""
        self.warnings.update(dict.fromkeys(before + text for text in rows.warnings()))
        if self.settings.kind == "value":
            self.doubts.update(dict.fromkeys(before + text for text in rows.doubts))


def gather(
    paths: Sequence[str],
    settings: Settings,
    *,
    header: bool | None = None,
    stdin: BinaryIO | None = None,
    workers: Workers | None = None,
    digests: bool = False,
) -> Counts:
    """Count the reports of files.

    header: whether the first line names the columns; None: find out.
    stdin: what "-" reads, None for the standard input of the process.
    workers: who counts; None: this process.
    digests: whether it matters later which files they were; with several files it does.

    Raises InputError for what is wrong with a file, or with the workers.
    """
    several = len(paths) > 1
    heads = _Heads(settings, several)
    with ExitStack() as stack:
        if (digests or several) and "-" in paths:  # which is read twice: for its digest, and for its reports
            typed = stack.enter_context(stack.enter_context(opened("-", stdin)).rereadable())
            stdin = typed.binary()
        names = ["standard input" if path == "-" else printable(path) for path in paths]
        sha256 = [digest_of(path, stdin) if digests or several else "" for path in paths]
        for path, name in zip(paths, names, strict=True):
            if path != "-" and is_tally(path):
                raise InputError(f"{name}: is a tally, no reports; ldp-advise reports --merge FILES adds tallies up")
        open_rows = partial(_opened, settings=settings, header=header, stdin=stdin)
        inline = workers is None or (workers.jobs == 1 and workers.backend != "dask")
        reports, total = [0] * len(paths), None
        try:
            # In order: the first thing that is wrong is what is said.
            tasks = _tasks(heads, paths, open_rows, whole_files=inline)
            for at, counted in (workers or Workers()).results(_count, tasks, ordered=True):
                source = "these files" if several else names[at]
                total = added(heads.countings[0].settings, total, counted, source)
                reports[at] += counted.n
        except WorkersError as error:
            raise InputError(f"--backend dask: {error}") from None
    if total is None:
        raise TypeError("nothing is counted")
    files = tuple(map(ReportFile, names, sha256, reports))
    copies = alike(list(zip(names, sha256, strict=True))) if several else ()
    warnings = (*heads.warnings, *copies, *heads.doubts)
    return Counts(Part(heads.countings[0].settings, total, files), tuple(heads.assumptions), warnings)


def _count(counting: Counting, blocks: Iterable[Block], at: int) -> tuple[int, Counted]:
    """Count a piece of a file: what a worker runs."""
    return at, counting.count(blocks)


def _tasks(
    heads: _Heads, paths: Sequence[str], open_rows: Callable[[str], AbstractContextManager[Rows]], *, whole_files: bool
) -> Iterator[tuple[Counting, Iterable[Block], int]]:
    """Yield what is to be counted, with the number of its file: whole files as they are read, or single blocks."""
    for at, path in enumerate(paths):
        with open_rows(path) as rows:
            counting = heads.begin(rows)
            blocks = rows.blocks(counting.columns, even=counting.even)
            for piece in [blocks] if whole_files else ([block] for block in blocks):
                yield counting, piece, at
            heads.end(rows)


def _opened(path: str, settings: Settings, header: bool | None, stdin: BinaryIO | None) -> AbstractContextManager[Rows]:
    kind = settings.kind

    def names_columns(first: Sequence[str], _rest: Sequence[Sequence[str]], usual: bool) -> bool:
        if kind in ("value", "subset"):
            return labels_have_header(first, usual, settings)
        if kind == "cells":
            return cells_have_header(first)
        return bits_have_header(first, usual, settings) if kind == "bits" else usual  # a header has no number

    # "New York" on a line is one label, where labels may have several words.
    blanks = kind != "value" and not any(len(label.split()) > 1 for label in settings.domain or ())
    expected = Expected(
        "reports",
        header,
        (settings.column,),
        names_columns,
        blanks=blanks,
        lists=kind in ("bits", "subset", "cells", "node"),
    )
    return opened_rows(path, expected, stdin)
