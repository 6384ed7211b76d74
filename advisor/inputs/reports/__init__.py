"""Tallies of the reports that users sent: for most protocols, the number of reports that support each category.

What a row holds:

=================  ============================================================================================
protocol           one report
=================  ============================================================================================
grr                the reported category; categories that no report names have to be given by `domain` or `k`
rappor, oue, the   k columns of 0 and 1, in the order of the domain or with its labels as the header; or one
                   column with a string of k characters 0 and 1. (A first line "0,1" is a report, not the names
                   of two categories, unless `header` says so)
she                k columns of numbers, in the order of the domain or with its labels as the header; or one column
                   with k numbers and blanks, ";", "|" or "," between them
ss                 the reported categories: one per column, or all in one cell with blanks, ";", "|" or "," between
                   them. Needs `domain` or `k`, on which their number omega depends
blh, olh           the seed of the hash function, from 0 to 2^32 - 1, and the symbol, from 0 to g - 1, in columns
                   of these names or in the first two. Categories are hashed as their places 0 to k - 1 in the
                   domain. Needs `domain` or `k`
pgr, hr,           the number of the symbol, as the protocol's `perturb` gives it. Needs `domain` or `k`
sw, haar_hrr
tree, tree_half    the height that was drawn, from 0 (the leaves) on, and the report about its nodes, in columns
                   "height" and "node" or in the first two. If a height has fewer than 3 e^eps + 2 nodes, the
                   number of a node, from 0; otherwise one character 0 or 1 per node. Needs `domain` or `k`
=================  ============================================================================================
"""

from __future__ import annotations

import glob
import hashlib
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, cast

from advisor.errors import InputError, printable, reason
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.head import DETECTED, Expected, FileLayout
from advisor.inputs.labels import plural
from advisor.inputs.numbers import is_finite
from advisor.inputs.reports.categories import (
    check_labels,
    count_sets,
    count_values,
    domain_of_labels,
    labels_have_header,
)
from advisor.inputs.reports.counted import count_counts
from advisor.inputs.reports.counting import Counted, CountedFile, Counting, check_bad
from advisor.inputs.reports.plausibility import implausible
from advisor.inputs.reports.settings import ReportSettings, place_names
from advisor.inputs.reports.symbols import count_hashes, count_nodes, count_symbols
from advisor.inputs.reports.tallies import Counts, ReportFile, difference, is_tally, merge_tallies
from advisor.inputs.reports.vectors import bits_have_header, cells_have_header, count_vectors, real_sums
from advisor.inputs.source import opened
from advisor.inputs.table import opened_rows
from knowledge.making.workers import Workers
from simulator import Tally

ALONE = Workers()  # this process

_COUNTINGS: dict[str, Callable[[Rows, ReportSettings], Counting]] = {
    "value": count_values,
    "bits": count_vectors,
    "subset": count_sets,
    "hash": count_hashes,
    "symbol": count_symbols,
    "cells": count_vectors,
    "node": count_nodes,
}
"""Counter for each kind of report in `READABLE`."""


@dataclass(frozen=True)
class RawReports:
    """Categories and tally of the reports, with assumptions and warnings."""

    labels: tuple[str, ...]  # the k categories
    tally: Tally  # of the protocol: for most, the ``(k,)`` reports that support each category (users)
    assumptions: tuple[str, ...]  # what was decided for the user, one sentence each
    warnings: tuple[str, ...]  # what the user should look at, one sentence each
    plausible: bool = True  # whether the protocol can have made these reports; if not, the first warning says why


def count_reports(
    paths: Sequence[str],
    settings: ReportSettings,
    *,
    layout: FileLayout = DETECTED,
    stdin: BinaryIO | None = None,
    workers: Workers = ALONE,
    digests: bool = False,
) -> Counts:
    """Count reports in CSV, TSV, plain text, gzip of these, or Parquet, one report per row.

    Rows are streamed: memory grows with the domain, not with the number of reports. The module docstring describes a
    row. The counts do not depend on the order of the files or on the workers.

    Parameters
    ----------
    paths : sequence of str
        Files and patterns of their names, "-" for standard input.
    settings : ReportSettings
        How the reports were made and written. Without a domain the categories are 0 to k - 1; for grr and ss also 1 to
        k or other labels, if the reports hold these.
    layout : FileLayout
        What the user says about the layout.
    stdin : binary file, or None
        What "-" reads.
    workers, digests : Workers and bool
        Workers that count; whether to digest the files, so that `tally_text` can identify them.

    Raises
    ------
    InputError
        If the options or a file are wrong; a single line says what is wrong, where, and how to fix it.
    WorkersError
        If there are no workers, or all have left.
    """
    settings = replace(settings.checked(), domain_given=settings.domain is not None)
    paths, twice = named_files(paths)
    several = len(paths) > 1
    if several and settings.counts is not None and settings.n is not None:
        raise InputError("--counts with --n is for one file: write a --tally of each, and add them up with --merge")
    reading = _Reading(settings, layout, several)
    names = ["standard input" if path == "-" else printable(path) for path in paths]
    with ExitStack() as stack:
        if (digests or several) and "-" in paths:  # standard input is read twice: for its digest, and for its reports
            typed = stack.enter_context(stack.enter_context(opened("-", stdin)).rereadable())
            stdin = typed.binary()
        sha256 = [_digest_of(path, stdin) if digests or several else "" for path in paths]
        for path, name in zip(paths, names, strict=True):
            if path != "-" and is_tally(path):
                raise InputError(f"{name}: is a tally, no reports; ldp-advise reports --merge FILES adds tallies up")
        inline = workers.jobs == 1 and workers.backend != "dask"
        tasks = reading.tasks(paths, stdin, whole_files=inline or settings.counts is not None)
        reports, total = [0] * len(paths), reading.total
        # In order, so that the error names the first problem.
        for at, counted in workers.results(_count, tasks, ordered=True):
            total.add(counted, "these files" if several else names[at])
            reports[at] += counted.n
    gone, bad = total.missing, total.bad
    check_bad(bad, total.n + gone + len(bad))
    if not total.n:
        raise InputError(f"{names[0]}: holds no report{f': all {gone:,} are missing' if gone else ''}")
    settings = reading.countings[0].settings
    if isinstance(total.counts, Counter):
        check_labels(settings, total.counts, "these files" if several else names[0])
    files = tuple(map(ReportFile, names, sha256, reports))
    copies = _copies(names, sha256) if several else ()
    note = [f"reports of {len(paths)} files added up"] if several else []
    note += ["--drop-missing left out no report: none is missing"] if settings.missing.usual and not gone else []
    note += ["--skip-bad left out no row: all are reports"] if settings.skip_bad and not bad else []
    left = [f"{plural(gone, 'report was', 'reports were')} left out: the value is missing"] if gone else []
    shown = "; ".join([*filter(None, bad)][:3])
    left += [f"{plural(len(bad), 'row is no report', 'rows are no reports')}, left out: {shown}"] if bad else []
    warnings = (*left, *twice, *reading.warnings, *copies, *reading.doubts)
    return Counts(settings, total, files, (*note, *reading.assumptions), warnings)


def _count(counting: Counting | CountedFile, blocks: Iterable[Block], at: int) -> tuple[int, Counted]:
    """Count blocks of a file; workers call this."""
    return at, counting.count(blocks)


@dataclass
class _Reading:
    """Files of reports while they are read: their counters, and assumptions and warnings (each text once)."""

    settings: ReportSettings
    layout: FileLayout
    several: bool  # whether there are several files
    countings: list[Counting | CountedFile] = field(default_factory=list)
    total: Counted = field(default_factory=Counted)
    assumptions: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)

    def tasks(
        self, paths: Sequence[str], stdin: BinaryIO | None, *, whole_files: bool
    ) -> Iterator[tuple[Counting | CountedFile, Iterable[Block], int]]:
        """Yield counting tasks with the number of the file; a task is a whole file, streamed, or a single block.

        Raises InputError for a file that cannot be read, or whose reports differ in kind from those of the first file.
        """
        settings, kind = self.settings, self.settings.kind
        # "New York" on a line is one label if labels may have several words.
        blanks = kind != "value" and not any(len(label.split()) > 1 for label in settings.domain or ())
        lists = kind in ("bits", "subset", "cells", "node")
        named = (settings.column, settings.counts)
        expected = Expected("reports", self.layout, named, self._names_columns, blanks=blanks, lists=lists)
        expected = replace(expected, ragged=settings.skip_bad)
        for at, path in enumerate(paths):
            with opened_rows(path, expected, stdin) as rows:
                rows.bad = self.total.bad if settings.skip_bad else None
                count = _COUNTINGS[kind] if settings.counts is None else count_counts
                counting: Counting | CountedFile = count(rows, settings)
                for first in self.countings[:1]:
                    why = difference(first.settings, counting.settings)
                    if why is not None:
                        raise InputError(
                            f"{first.table.source} and {rows.table.source} are not of one collection: {why}"
                        )
                self.countings.append(counting)
                self.assumptions.update(dict.fromkeys((*rows.assumptions, *counting.notes)))
                blocks = rows.blocks(counting.columns, even=counting.even) if isinstance(counting, Counting) else ()
                for piece in [blocks] if whole_files else ([block] for block in blocks):
                    yield counting, piece, at
                before = f"{rows.table.source}: " if self.several else ""
                if settings.missing and rows.table.width == 1:
                    self.total.missing += rows.take_blank_lines()
                self.warnings.update(dict.fromkeys(before + text for text in rows.warnings()))
                if kind == "value":
                    self.doubts.update(dict.fromkeys(before + text for text in rows.doubts))

    def _names_columns(self, first: Sequence[str], _rest: Sequence[Sequence[str]], usual: bool) -> bool:
        kind = self.settings.kind
        if self.settings.counts is not None:
            return not all(map(is_finite, first)) if kind == "bits" else usual
        if kind in ("value", "subset"):
            return labels_have_header(first, usual, self.settings)
        if kind == "cells":
            return cells_have_header(first)
        return bits_have_header(first, usual, self.settings) if kind == "bits" else usual  # a header has no number


def merge_reports(paths: Sequence[str]) -> Counts:
    """Return the sum of tallies made by `tally_text`; it equals the tally of all reports, in any order.

    paths: files and patterns of their names.

    Raises InputError for a file that is not a tally, for tallies of different collections, and for reports that are
    in two tallies.
    """
    names, twice = named_files(paths)
    if "-" in names:
        raise InputError("--merge needs the names of files, got -")
    if twice:
        raise InputError(f"--merge: {twice[0].partition(':')[0]}; leave one of them out")
    return merge_tallies(names)


def with_categories(counts: Counts) -> RawReports:
    """Return the tally of counts with its categories.

    Raises InputError if the labels do not form a domain.
    """
    settings, cells = counts.settings, counts.counted.counts
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    if isinstance(cells, Counter):
        built = domain_of_labels(settings, cells, counts.name)
        labels, tally, notes, warnings = built.labels, Tally(built.counts, counts.n), built.assumptions, built.warnings
    else:
        sums = real_sums(cells, settings.steps) if settings.kind == "cells" else cells
        labels, tally = settings.domain or place_names(settings.k or 0), Tally(sums, counts.n)
    odd = implausible(tally, settings.oracle(len(labels)))
    return RawReports(
        labels, tally, (*counts.assumptions, *notes), (*odd, *counts.warnings, *warnings), plausible=not odd
    )


def named_files(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files that match names and patterns, each once and sorted by name, and warnings.

    A name of an existing file is not a pattern, whatever characters it holds. Standard input, "-", comes last.

    Raises InputError for a pattern without a matching file.
    """
    paths_found: list[str] = []
    for name in names:
        if name == "-" or not glob.has_magic(name) or Path(name).exists():
            paths_found.append(name)
            continue
        fitting = [path for path in glob.glob(name, recursive=True) if not Path(path).is_dir()]  # noqa: PTH207
        if not fitting:
            raise InputError(f"{printable(name)}: no file fits this pattern")
        paths_found += fitting
    kept: dict[object, str] = {}
    twice: dict[str, None] = {}
    for name in sorted(paths_found, key=lambda name: (name == "-", name)):
        if (own := _identity(name)) in kept:
            twice[f"{printable(name)} is named twice, or under two names: its reports are counted once"] = None
        kept.setdefault(own, name)
    return tuple(kept.values()), tuple(twice)


def _identity(name: str) -> object:
    """Return the identity of a file, which is equal for two names of the same file."""
    with suppress(OSError, ValueError):
        state = os.stat(name)  # noqa: PTH116 - also of "-"
        return state.st_dev, state.st_ino
    return name


def total_bytes(names: Sequence[str]) -> int:
    """Return the total size of files in bytes, as far as it is known before reading."""
    sizes = 0
    for name in named_files(names)[0]:
        with suppress(OSError, ValueError):
            sizes += Path(name).stat().st_size
    return sizes


def _digest_of(name: str, stdin: BinaryIO | None) -> str:
    """Return the SHA-256 of the bytes of a file, or for "-" of standard input, which can be read again.

    Raises InputError if it cannot be read.
    """
    with opened(name, stdin) as source:
        try:
            digest = hashlib.file_digest(cast(io.BufferedReader, source.binary()), "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{source.name}: cannot be read ({reason(error)})") from None
        if stdin is not None:
            source.binary()  # rewinds for the next reader
        return digest


def _copies(names: Sequence[str], digests: Sequence[str]) -> tuple[str, ...]:
    """Return a warning for each pair of files with identical bytes."""
    first = dict(zip(reversed(digests), reversed(names), strict=True))
    return tuple(
        f"{first[digest]} and {name} hold the very same bytes and both are counted: if one is a copy of the other, "
        "leave it out"
        for name, digest in zip(names, digests, strict=True)
        if first[digest] != name
    )
