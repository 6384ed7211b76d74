"""Read places: rows and columns of a grid, or longitudes and latitudes, into users per cell."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.columns import Table, find_column, is_header
from advisor.inputs.format import bad_quotes, blank, find_format, head_records, take_head
from advisor.inputs.numbers import LARGEST_TOTAL, whole_count
from advisor.inputs.opening import opened
from advisor.inputs.tally import bad_count, shortened
from simulator.places import Places

COUNT_NAMES = ("count", "counts", "cnt", "freq", "frequency")
MOST_CELLS = 4096  # a channel is a matrix of cells by cells
KM_PER_DEGREE = 40_007.863 / 360  # along a meridian (WGS 84)
BLOCK = 10_000


@dataclass(frozen=True)
class PlacesRead:
    """Users per cell ``(k,)``, the grid they are in, the unit of its distances, and what was decided on the way."""

    places: Places
    counts: NDArray[np.int64]
    unit: str
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]


def parse_grid(text: str) -> tuple[int, int]:
    """Return rows and columns of ``ROWSxCOLS``.

    Raises
    ------
    InputError
        If it is not two whole numbers, or the grid has fewer than 2 rows or columns, or more than 4,096 cells.

    Examples
    --------
    >>> parse_grid("32x16")
    (32, 16)
    """
    found = re.fullmatch(r"\s*(\d{1,6})\s*[x×X]\s*(\d{1,6})\s*", text)
    if found is None:
        raise InputError(f"--grid must be ROWSxCOLS, for example 32x32, got {text!r}")
    rows, columns = int(found[1]), int(found[2])
    if min(rows, columns) < 2 or rows * columns > MOST_CELLS:
        raise InputError(
            f"--grid must have at least 2 rows and 2 columns and at most {MOST_CELLS:,} cells, got {rows}x{columns}"
        )
    return rows, columns


def parse_columns(text: str) -> tuple[str, str]:
    """Return the two names of ``FIRST,SECOND``.

    Raises
    ------
    InputError
        If there are not two.
    """
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise InputError(
            "--columns must name two columns: row,col (with --grid), or longitude,latitude (with --cell-km), got "
            f"{text!r}"
        )
    return names[0], names[1]


def read_places(
    path: str,
    *,
    columns: str,
    grid: str | None = None,
    cell_km: float | None = None,
    ground: str = "euclidean",
    counts: str | None = None,
    header: bool | None = None,
    stdin: BinaryIO | None = None,
) -> PlacesRead:
    r"""Count users per cell of a CSV or TSV with two columns of coordinates, and perhaps one of counts.

    With `grid` alone the coordinates are rows 0..ROWS-1 and columns 0..COLS-1. With `cell_km` they are longitude and
    latitude in degrees, cut into cells of that size: as many as they reach over, or `grid`, centred on them. The first
    row is then the northernmost.

    Parameters
    ----------
    path
        The file, "-" for standard input.
    columns
        The two columns, by header or by number from 1, joined by a comma.
    grid
        ``ROWSxCOLS``.
    cell_km
        Side of a cell.
    ground
        Ground distance of the places.
    counts
        The column with the number of users; None: one called count, if there is one, else a row is a user.
    header
        Whether the first line names the columns, None to find out.

    Raises
    ------
    InputError
        One line that says what is wrong with the file, where, and the way out.

    Examples
    --------
    >>> import io
    >>> read = read_places("-", columns="row,col", grid="2x2", stdin=io.BytesIO(b"row,col\n0,1\n1,1\n0,1\n"))
    >>> read.counts.tolist()
    [0, 2, 0, 1]
    """
    if grid is None and cell_km is None:
        raise InputError("--columns needs --grid ROWSxCOLS (rows and columns), or --cell-km (longitude and latitude)")
    if cell_km is not None and not (math.isfinite(cell_km) and cell_km > 0):
        raise InputError(f"--cell-km must be a number above 0, got {cell_km:g}")
    size = None if grid is None else parse_grid(grid)
    first, second, users, assumed, lines = _read(path, parse_columns(columns), counts, header, stdin)
    if users.sum() < 1:
        raise InputError(f"{path}: holds no user; at least one is needed")
    if cell_km is None:
        assert size is not None  # noqa: S101 - for the type checker: one of the two is given
        rows, cols = _whole(first, size[0], "row", path, lines), _whole(second, size[1], "column", path, lines)
        places, unit = Places(*size, ground), "cells"
    else:
        rows, cols, size, note = _cut(first, second, cell_km, size, path, lines)
        places, unit = Places(*size, ground, cell_km, cell_km), "km"
        assumed.append(note)
    table = np.zeros(places.k, dtype=np.int64)
    np.add.at(table, rows * places.columns + cols, users)
    return PlacesRead(places, table, unit, tuple(assumed), ())


def _read(
    path: str, names: tuple[str, str], counts: str | None, header: bool | None, stdin: BinaryIO | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], list[str], NDArray[np.int64]]:
    with opened(path, stdin) as source:
        if source.is_parquet:
            raise InputError(f"{source.name}: is Parquet; places are read from text, give CSV")
        with source.text() as text:
            head = take_head(text)
            form = find_format(source.name, source.suffix, head)
            if form.delimiter is None:
                raise InputError(f"{source.name}: has one column; places need two, separated by commas or tabs")
            records = head_records(source.name, form, head)
            rest = [row for _, row in records[1:]]
            asked = (*names, counts)
            named = is_header(records[0][1], rest, asked, table=form.table) if header is None else header
            titles = tuple(cell.strip() for cell in records[0][1]) if named else None
            table = Table(source.name, titles, len(records[0][1]), rest, [place for place, _ in records[1:]])
            at = [find_column(table, name, "--columns") for name in names]
            if at[0] == at[1]:
                raise InputError(f"{source.name}: --columns names column {table.called(at[0])} twice")
            count = _count_column(table, counts)
            if count is not None:
                at.append(count)
            said = f"columns {table.called(at[0])} and {table.called(at[1])} read as coordinates"
            said += ", one row a user" if count is None else f", column {table.called(count)} as counts"
            blocks = [
                _block(source.name, block, at, len(records[0][1]))
                for block in _blocks(source.name, form.records(chain(head.lines, text)), skip_first=named)
            ]
    if not blocks:
        raise InputError(f"{source.name}: holds no user; at least one is needed")
    first, second, users, lines = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    if float(users.sum(dtype=np.float64)) > LARGEST_TOTAL:
        raise InputError(f"{source.name}: the counts add up to more than {LARGEST_TOTAL} (2^53) users")
    return first, second, users, [said], lines


def _count_column(table: Table, counts: str | None) -> int | None:
    if counts is not None:
        return find_column(table, counts, "--counts")
    return next((at for at, name in enumerate(table.names or ()) if name.casefold() in COUNT_NAMES), None)


def _blocks(source: str, reader: Iterator[list[str]], *, skip_first: bool) -> Iterator[list[tuple[int, list[str]]]]:
    """Yield the rows that are not blank, each with the line it ends on."""

    def numbered() -> Iterator[tuple[int, list[str]]]:
        for row in reader:
            if not blank(row):
                yield reader.line_num, row  # type: ignore[attr-defined] # csv readers know their line

    rows = numbered()
    try:
        if skip_first:
            next(rows, None)
        while block := list(islice(rows, BLOCK)):
            yield block
    except csv.Error as error:
        raise bad_quotes(source, reader.line_num, str(error)) from None  # type: ignore[attr-defined]


def _block(
    source: str, block: Sequence[tuple[int, list[str]]], at: Sequence[int], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    coordinates = np.empty((2, len(block)))
    users = np.ones(len(block), dtype=np.int64)
    for place, (line, row) in enumerate(block):
        if len(row) != width:
            raise InputError(f"{source}: line {line} has {len(row)} fields, the first line has {width}")
        for which in (0, 1):
            cell = row[at[which]].strip()
            try:
                coordinates[which, place] = float(cell)
            except ValueError:
                coordinates[which, place] = math.nan
            if not math.isfinite(coordinates[which, place]):
                raise InputError(f"{source}: line {line}: the coordinate {shortened(cell)} is not a number")
        if len(at) == 3:
            cell = row[at[2]].strip()
            number = whole_count(cell)
            if isinstance(number, str):
                raise bad_count(source, f"line {line}", cell, number)
            users[place] = number
    return coordinates[0], coordinates[1], users, np.array([line for line, _ in block])


def _whole(values: NDArray[np.float64], size: int, what: str, path: str, lines: NDArray[np.int64]) -> NDArray[np.int64]:
    wrong = (values != np.floor(values)) | (values < 0) | (values >= size)
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(
            f"{path}: line {lines[place]}: the {what} must be a whole number from 0 to {size - 1}, got "
            f"{values[place]:g} (for longitude and latitude give --cell-km)"
        )
    return values.astype(np.int64)


def _cut(
    longitude: NDArray[np.float64],
    latitude: NDArray[np.float64],
    cell_km: float,
    size: tuple[int, int] | None,
    path: str,
    lines: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[int, int], str]:
    """Cut degrees into cells: a plane that is true at the middle latitude, which serves a town or a region."""
    for name, values, most in (("longitude", longitude, 180), ("latitude", latitude, 90)):
        if (np.abs(values) > most).any():
            place = int((np.abs(values) > most).argmax())
            raise InputError(
                f"{path}: line {lines[place]}: the {name} must be between -{most} and {most}, got {values[place]:g} "
                "(--columns longitude,latitude: in this order)"
            )
    middle = (latitude.min() + latitude.max()) / 2
    east = (longitude - longitude.min()) * KM_PER_DEGREE * math.cos(math.radians(middle))
    south = (latitude.max() - latitude) * KM_PER_DEGREE
    needed = (int(south.max() // cell_km) + 1, int(east.max() // cell_km) + 1)
    wanted = (max(needed[0], 2), max(needed[1], 2)) if size is None else size
    if wanted[0] < needed[0] or wanted[1] < needed[1] or wanted[0] * wanted[1] > MOST_CELLS:
        allowed = f"at most {MOST_CELLS:,} cells" if size is None else f"--grid {size[0]}x{size[1]}"
        raise InputError(
            f"{path}: the places reach over {needed[0]:,} rows and {needed[1]:,} columns of {cell_km:g} km, allowed: "
            f"{allowed}; take larger cells, or leave out far-off places"
        )
    shifted = [
        np.minimum(((values + (cells * cell_km - values.max()) / 2) // cell_km).astype(np.int64), cells - 1)
        for values, cells in ((south, wanted[0]), (east, wanted[1]))
    ]
    note = (
        f"{wanted[0]}x{wanted[1]} cells of {cell_km:g} km around latitude {middle:.3f}, longitude "
        f"{(longitude.min() + longitude.max()) / 2:.3f}; the first row is the northernmost"
    )
    return shifted[0], shifted[1], wanted, note


def busiest_block(counts: NDArray[np.int64], places: Places, rows: int, columns: int) -> tuple[int, int]:
    """Return the first row and column of the block of so many cells that holds the most users.

    Raises
    ------
    InputError
        If the block is larger than the grid.
    """
    if not (1 <= rows <= places.rows and 1 <= columns <= places.columns):
        raise InputError(f"a block must fit into the {places.rows}x{places.columns} grid, got {rows}x{columns}")
    table = counts.reshape(places.rows, places.columns)
    sums = np.lib.stride_tricks.sliding_window_view(table, (rows, columns)).sum(axis=(2, 3))
    row, column = np.unravel_index(int(sums.argmax()), sums.shape)
    return int(row), int(column)
