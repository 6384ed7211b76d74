"""Count the reports of several files: block by block, by whoever works, and from where an earlier run was stopped."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias

from advisor.errors import InputError, printable, reason
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import Table
from advisor.inputs.reports.bits import bits_have_header, count_bits
from advisor.inputs.reports.categories import count_sets, count_values, labels_have_header
from advisor.inputs.reports.cells import cells_have_header, count_cells
from advisor.inputs.reports.counting import Counted, Counting
from advisor.inputs.reports.files import Digested, alike, digest_of
from advisor.inputs.reports.nodes import count_nodes
from advisor.inputs.reports.settings import Settings
from advisor.inputs.reports.symbols import count_hashes, count_symbols
from advisor.inputs.reports.tallies import Part, ReportFile, added, difference, is_tally, read_tally, tally_text
from advisor.inputs.rows import opened_rows
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

MOST_BLOCKS, MOST_HASHES = 16, 1 << 27
"""Blocks of rows, and hashes, that are one piece of work: under a second of one core, which a killed run loses."""


Place: TypeAlias = tuple[int, int]
"""The number of a file, and that of a piece in it."""


@dataclass
class Gathering:
    """The counts of several files as they come in."""

    given: Settings  # what the user says of the reports
    files: list[ReportFile]
    kept: Settings | None = None  # of what an earlier run has counted
    counted: Counted | None = None
    sizes: dict[int, int] = field(default_factory=dict)  # pieces of the files that are read to their end
    heads: list[Counting] = field(default_factory=list)  # of the files that were begun
    assumptions: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)

    @property
    def part(self) -> Part:
        """The counts by now."""
        if self.counted is None:
            raise TypeError("nothing is counted")
        return Part(self.heads[0].settings, self.counted, tuple(self.files))

    def begin(self, rows: Rows) -> Counting:
        """Decide how a file is counted; raise InputError if its reports are not like those of the first one."""
        source = rows.table.source
        head = _COUNTINGS[self.given.kind](rows, self.given)
        others = [(one.settings, one.where.table.source) for one in self.heads[:1]]
        others += [] if self.kept is None else [(self.kept, "what --resume holds")]
        for other, name in others:
            why = difference(other, head.settings)
            if why is not None:
                raise InputError(f"{name} and {source} are not of one collection: {why}")
        self.heads.append(head)
        self.assumptions.update(dict.fromkeys((*rows.assumptions, *head.notes)))
        return head

    def size(self, at: int, pieces: int) -> None:
        """Take how many pieces a file has."""
        self.sizes[at] = pieces
        self._settle(at)

    def end(self, rows: Rows) -> None:
        """Take what is to be said of a file once it is read."""
        before = f"{rows.table.source}: " if len(self.files) > 1 else ""
        self.warnings.update(dict.fromkeys(before + text for text in rows.warnings()))
        if self.given.kind == "value":
            self.doubts.update(dict.fromkeys(before + text for text in rows.doubts))

    def add(self, at: int, piece: int, counted: Counted) -> None:
        """Add the counts of a piece of a file; pieces come in any order."""
        file = self.files[at]
        source = "these files" if len(self.files) > 1 else file.name
        self.counted = added(self.heads[0].settings, self.counted, counted, source)
        pieces = (*file.pieces, (piece, counted.n))
        self.files[at] = replace(file, reports=file.reports + counted.n, pieces=pieces)
        self._settle(at)

    def _settle(self, at: int) -> None:
        """Call a file whole once all of its pieces are counted."""
        if self.sizes.get(at) == len(self.files[at].pieces):
            self.files[at] = replace(self.files[at], whole=True, pieces=())


@dataclass(frozen=True)
class Source:
    """Where reports are read, and how."""

    paths: tuple[str, ...]
    header: bool | None = None  # whether the first line names the columns; None: find out
    stdin: BinaryIO | None = None  # what "-" reads, None for the standard input of the process


def gather(
    source: Source,
    settings: Settings,
    *,
    workers: Workers | None = None,
    resume: str | None = None,
    digests: bool = False,
) -> Gathering:
    """Count the reports of files.

    workers: who counts; None: this process.
    resume: a file in which the counts are kept, piece by piece, and from which they go on.
    digests: whether it matters later which files they were; with several files, or `resume`, it does.

    Raises InputError for what is wrong with a file, with what is kept, or with the workers.
    """
    if "-" in source.paths and resume is not None:
        raise InputError("--resume needs files: standard input cannot be read a second time")
    keep = digests or resume is not None or len(source.paths) > 1
    files = [ReportFile(_name(path), digest_of(path) if keep and path != "-" else "") for path in source.paths]
    stdin = source.stdin
    for path in source.paths:
        if path != "-" and is_tally(path):
            raise InputError(f"{_name(path)}: is a tally, no reports; ldp-advise reports --merge FILES adds tallies up")
    typed = Digested(sys.stdin.buffer if stdin is None else stdin) if keep and "-" in source.paths else None
    gathering = Gathering(settings, files)
    if resume is not None:
        _go_on(gathering, Path(resume))
    opened = replace(source, stdin=stdin if typed is None else typed.buffered())
    inline = (workers is None or (workers.jobs == 1 and workers.backend != "dask")) and resume is None
    tasks = _tasks(gathering, opened, whole_files=inline)
    try:
        # In order, the first thing that is wrong is what is said; in any order, what is counted is kept at once.
        for place, counted in (workers or Workers()).results(_count, tasks, ordered=resume is None):
            gathering.add(*place, counted)
            if resume is not None:
                _keep(gathering.part, Path(resume))
    except WorkersError as error:
        raise InputError(f"--backend dask: {error}" + _kept(gathering, resume)) from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*filter(None, [_kept(gathering, resume).removeprefix("; ")])) from None
    if typed is not None:
        gathering.files[-1] = replace(gathering.files[-1], sha256=typed.sha256)
    if len(files) > 1:
        gathering.warnings.update(dict.fromkeys(alike([(file.name, file.sha256) for file in gathering.files])))
    return gathering


def _name(path: str) -> str:
    return "standard input" if path == "-" else printable(path)


def _count(head: Counting, blocks: Iterable[Block], place: Place) -> tuple[Place, Counted]:
    """Count a piece of a file: what a worker runs."""
    return place, head.count(blocks)


def _tasks(
    gathering: Gathering, source: Source, *, whole_files: bool
) -> Iterator[tuple[Counting, Iterable[Block], Place]]:
    """Yield the pieces that are not counted yet."""
    for at, path in enumerate(source.paths):
        done = dict(gathering.files[at].pieces)
        with _opened(source, path, gathering.given) as rows:
            head = gathering.begin(rows)
            if not gathering.files[at].whole:
                blocks = rows.blocks(head.columns, even=head.even)
                if whole_files:
                    gathering.size(at, 1)
                    yield head, blocks, (at, 0)
                else:
                    yield from _left(gathering, at, rows, _pieces(blocks, head.settings), done)
                gathering.end(rows)


def _left(
    gathering: Gathering, at: int, rows: Rows, pieces: Iterable[tuple[list[Block], bool]], done: Mapping[int, int]
) -> Iterator[tuple[Counting, Iterable[Block], Place]]:
    """Yield the pieces of a file that an earlier run has not counted: `done` has the reports of those that it has."""
    for number, (piece, last) in enumerate(pieces):
        if last:
            gathering.size(at, number + 1)
        if number not in done:
            yield gathering.heads[-1], piece, (at, number)
        elif done[number] != sum(map(len, piece)):
            raise InputError(
                f"{rows.table.source}: what was counted of it does not end where a block of this version does; remove "
                "the file of --resume and begin again"
            )


def _opened(source: Source, path: str, settings: Settings) -> AbstractContextManager[Rows]:
    kind = settings.kind

    def names_columns(first: Sequence[str], _rest: Sequence[Sequence[str]], _table: Table, usual: bool) -> bool:
        if kind in ("value", "subset"):
            return labels_have_header(first, usual, settings)
        if kind == "cells":
            return cells_have_header(first)
        return bits_have_header(first, usual, settings) if kind == "bits" else usual  # a header has no number

    # "New York" on a line is one label, where labels may have several words.
    blanks = kind != "value" and not any(len(label.split()) > 1 for label in settings.domain or ())
    return opened_rows(
        path,
        "reports",
        header=source.header,
        asked=(settings.column,),
        names_columns=names_columns,
        blanks=blanks,
        lists=kind in ("bits", "subset", "cells", "node"),
        stdin=source.stdin,
    )


def _pieces(blocks: Iterable[Block], settings: Settings) -> Iterator[tuple[list[Block], bool]]:
    """Yield blocks in pieces of work, each with whether it is the last one."""
    rows = MOST_HASHES // (settings.k or 1) if settings.kind == "hash" else sys.maxsize
    piece: list[Block] = []
    for block in blocks:
        if piece and (len(piece) >= MOST_BLOCKS or sum(map(len, piece)) >= rows):
            yield piece, False
            piece = []
        piece.append(block)
    if piece:
        yield piece, True


def _go_on(gathering: Gathering, path: Path) -> None:
    """Take what an earlier run has kept, if there is anything.

    Raises InputError if that is of other files, or of another collection.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    part = read_tally(str(path))
    before = [(file.name, file.sha256) for file in part.files]
    if before != [(file.name, file.sha256) for file in gathering.files]:
        raise InputError(
            f"--resume {printable(str(path))}: is of other files, or they have changed since; name the same ones, or "
            "another file for --resume"
        )
    gathering.kept, gathering.counted, gathering.files[:] = part.settings, part.counted, part.files


def _keep(part: Part, path: Path) -> None:
    """Write the counts by now; whenever the process ends, those of all pieces that have come in are there."""
    try:
        handle, name = tempfile.mkstemp(prefix=".ldp-advise-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(tally_text(part))
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise InputError(f"--resume {printable(str(path))}: cannot be written ({reason(error)})") from None


def _kept(gathering: Gathering, resume: str | None) -> str:
    if resume is None or gathering.counted is None:
        return ""
    return f"; {gathering.counted.n:,} reports are counted in {printable(resume)}; the same command goes on"
