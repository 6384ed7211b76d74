"""The one way into every file: its rows in blocks, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from advisor.inputs.blocks import Rows
from advisor.inputs.header import HeaderRule, IsHeader
from advisor.inputs.parquet import opened_parquet
from advisor.inputs.source import opened
from advisor.inputs.text import text_rows


@contextmanager
def opened_rows(
    path: str,
    what: str,
    *,
    header: bool | None = None,
    asked: Sequence[str | None] = (),
    names_columns: IsHeader | None = None,
    decimals: bool = False,
    blanks: bool = False,
    single: bool = False,
    lists: bool = False,
    stdin: BinaryIO | None = None,
) -> Iterator[Rows]:
    """Open CSV, TSV, columns with blanks between them, plain text, gzip of these, or Parquet.

    path: the file, "-" for standard input.
    what: what the rows are, for messages ("reports").
    header: whether the first line names the columns, None to find out.
    asked: the columns the user named.
    names_columns: what finds out, None for the rules that samples follow.
    decimals: whether a column holds decimals, so that "," beside ";" is more likely their sign than a separator.
    blanks: whether blanks may separate columns, rather than the words of one label.
    single: whether there is one column, whatever the lines hold.
    lists: whether a cell of a Parquet file may hold a list.
    stdin: what "-" reads, None for the standard input of the process.

    Raises InputError if the file cannot be opened or read, is empty, or holds nothing but a header.
    """
    with opened(path, stdin) as source:
        if source.is_parquet:
            with opened_parquet(source, lists=lists) as rows:
                yield rows
            return
        yield text_rows(
            source, HeaderRule(what, header, asked, names_columns), decimals=decimals, blanks=blanks, single=single
        )
