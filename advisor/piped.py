"""Advice for a pipe or a file: the very text that rich would write there, without the time that rich takes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TextIO

from advisor.answer_parts import Sentence, answer_parts
from advisor.rank.advice import Advice
from advisor.rank.table import TOP, columns_of, header_of, table_lines

TERMINALS = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")  # make rich take any stream for a terminal


def is_pipe(stream: TextIO) -> bool:
    """Tell whether a stream is surely no terminal to rich, and can take the characters of its tables."""
    named = any(os.environ.get(name) for name in TERMINALS)
    encoding = getattr(stream, "encoding", None) or ""
    return not named and not stream.isatty() and encoding.lower().startswith("utf")


def piped_lines(advices: tuple[Advice, ...], *, top: int | None = TOP, quiet: bool = False) -> Iterator[str]:
    """Yield the lines of an answer."""
    for part in answer_parts(advices, top=top, quiet=quiet):
        if isinstance(part, Sentence):
            yield part.text + "\n"
        else:
            yield from (f" {line} \n" for line in _table(part, top))


def _table(advice: Advice, top: int | None) -> Iterator[str]:
    from rich.cells import cell_len

    lines, columns = table_lines(advice, top), columns_of(advice)
    header = [header_of(column, advice) for column in columns]
    rows = [line.cells_of(columns) for line in lines]
    widths = [max(map(cell_len, cells)) for cells in zip(header, *rows, strict=True)]

    def joined(cells: list[str]) -> str:
        return "  ".join(
            " " * (width - cell_len(cell)) * column.right + cell + " " * (width - cell_len(cell)) * (not column.right)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        )

    wide = sum(widths) + 2 * (len(widths) - 1)
    yield " " * wide
    yield joined(header)
    yield "─" * wide
    for line, row in zip(lines, rows, strict=True):
        if line.gap_before:
            yield " " * wide
        yield joined(row)
    yield " " * wide
