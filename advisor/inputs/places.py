"""Users per cell from places: rows and columns of a grid, or longitudes and latitudes."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Rows, real_numbers, whole_counts
from advisor.inputs.columns import COUNT_NAMES, HEADERS, InputTable, find_column
from advisor.inputs.head import Expected
from advisor.inputs.table import opened_rows
from simulator.places import Places

MOST_CELLS = 4096  # a channel is a matrix of cells by cells
KM_PER_DEGREE = 40_007.863 / 360  # along a meridian (WGS 84)
BLOCK = 65_536  # places that are converted to cells at once


GRID, DEGREES = ("row", "column"), ("longitude", "latitude")  # names of the two coordinates
MOST_DEGREES = {"longitude": 180, "latitude": 90}


@dataclass(frozen=True)
class PlacesRead:
    """Users per cell ``(k,)``, their grid, the unit of its distances, and assumptions."""

    places: Places
    counts: NDArray[np.int64]
    unit: str
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]


_Users: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64], Sequence[int]]
"""Coordinates ``(rows, 2)`` of a block, the number of users per row, and the places of the rows in the file."""


def parse_grid(text: str) -> tuple[int, int]:
    """Return rows and columns of ``ROWSxCOLS``.

    Raises InputError if it is not two whole numbers, or the grid has fewer than 2 rows or columns, or more than 4,096
    cells.

    >>> parse_grid("32x16")
    (32, 16)
    """
    match = re.fullmatch(r"\s*(\d{1,6})\s*[x×X]\s*(\d{1,6})\s*", text)
    if match is None:
        raise InputError(f"--grid must be ROWSxCOLS, for example 32x32, got {text!r}")
    rows, columns = int(match[1]), int(match[2])
    if min(rows, columns) < 2 or rows * columns > MOST_CELLS:
        raise InputError(
            f"--grid must have at least 2 rows and 2 columns and at most {MOST_CELLS:,} cells, got {rows}x{columns}"
        )
    return rows, columns


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
    r"""Count users per cell of a CSV or TSV with two columns of coordinates, and optionally a column of counts.

    With only `grid`, the coordinates are rows 0..ROWS-1 and columns 0..COLS-1. With `cell_km` they are longitude and
    latitude in degrees, divided into cells of that size. The cells cover all places, or are `grid`, centred on the
    places. The first row is then the northernmost.

    Parameters
    ----------
    path
        The file, "-" for standard input.
    columns
        The two columns, by header or by number from 1, joined by a comma.
    grid, cell_km, ground
        ``ROWSxCOLS``, the side of a cell, and the ground distance of the places.
    counts
        The column with the number of users; None: the column called count if it exists, else a row is a user.
    header
        Whether the first line names the columns, None to find out.

    Raises
    ------
    InputError
        If the file cannot be read; a single line says what is wrong, where, and how to fix it.

    Examples
    --------
    >>> import io
    >>> read = read_places("-", columns="row,col", grid="2x2", stdin=io.BytesIO(b"row,col\n0,1\n1,1\n0,1\n"))
    >>> read.counts.tolist()
    [0, 2, 0, 1]
    """
    names = [name.strip() for name in columns.split(",")]
    if len(names) != 2 or not all(names):
        raise InputError(
            "--columns must name two columns: row,col (with --grid), or longitude,latitude (with --cell-km), got "
            f"{columns!r}"
        )
    if grid is None and cell_km is None:
        raise InputError("--columns needs --grid ROWSxCOLS (rows and columns), or --cell-km (longitude and latitude)")
    if cell_km is not None and not (math.isfinite(cell_km) and cell_km > 0):
        raise InputError(f"--cell-km must be a number above 0, got {cell_km:g}")
    size = None if grid is None else parse_grid(grid)
    with opened_rows(path, Expected("users", header, (*names, counts), decimals=True), stdin) as rows:
        axes = GRID if cell_km is None else DEGREES
        at, count = _columns(rows.table, names, counts, axes)
        blocks = _users(rows, at, count)
        notes: tuple[str, ...] = ()
        if cell_km is not None:
            size, users, notes = _in_cells(rows.table, blocks, cell_km, size)
            places, unit = Places(*size, ground, cell_km, cell_km), "km"
        else:
            assert size is not None  # noqa: S101 - for the type checker: one of the two is given
            places, unit = Places(*size, ground), "cells"
            users = _in_grid(rows.table, blocks, size)
    if not users.any():
        raise InputError(f"{rows.table.source}: holds no user; at least one is needed")
    called = " and ".join(rows.table.called(column) for column in at)
    note = f"columns {called} read as {' and '.join(axes)}"
    note += ", one row a user" if count is None else f", column {rows.table.called(count)} as counts"
    return PlacesRead(places, users, unit, (*rows.assumptions[1:], note, *notes), rows.warnings())


def _columns(
    table: InputTable, names: Sequence[str], counts: str | None, axes: tuple[str, str]
) -> tuple[list[int], int | None]:
    """Return the columns of the coordinates, in the order of their headers, and of the counts (None without counts).

    Raises InputError if there are fewer than two columns, or if both headers name the same coordinate.
    """
    if table.width == 1:
        raise InputError(f"{table.source}: has one column; places need two, separated by commas or tabs")
    at = [find_column(table, name, "--columns") for name in names]
    if at[0] == at[1]:
        raise InputError(f"{table.source}: --columns names column {table.called(at[0])} twice")
    headers = [set(_words(table.names[column])) if table.names else set() for column in at]
    words = [HEADERS[axis] for axis in axes]
    right = [not header.isdisjoint(own) for header, own in zip(headers, words, strict=True)]
    wrong = [not header.isdisjoint(other) for header, other in zip(headers, reversed(words), strict=True)]
    if any(right) and any(wrong) and wrong != right:
        raise InputError(
            f"{table.source}: the columns {' and '.join(map(table.called, at))} are both a "
            f"{axes[right.index(True)]}; --columns takes {' and '.join(axes)}"
        )
    at = at[::-1] if any(wrong) and not any(right) else at
    if counts is not None:
        return at, find_column(table, counts, "--counts")
    return at, next((at for at, name in enumerate(table.names or ()) if name.casefold() in COUNT_NAMES), None)


def _words(header: str) -> list[str]:
    """Return the words in a header: "pickup_latitude", "pickupLatitude" and "LAT (deg)" have several words."""
    return [word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", header)]


def _users(rows: Rows, at: Sequence[int], count: int | None) -> Iterator[_Users]:
    """Yield the coordinates ``(rows, 2)`` and numbers of users of each block."""
    table, total = rows.table, 0
    signs = list(map(table.decimal_sign, at))
    for block in rows.blocks(at if count is None else [*at, count]):
        coordinates = real_numbers(block, table, at, signs, "coordinate")
        users = np.ones(len(block), dtype=np.int64)
        if count is not None:
            users = np.array(whole_counts(block, table, count, total), dtype=np.int64)
        total += int(users.sum())
        yield coordinates, users, block.places


def _in_grid(table: InputTable, blocks: Iterable[_Users], size: tuple[int, int]) -> NDArray[np.int64]:
    """Return the users of each cell; coordinates are rows and columns."""
    result = np.zeros(size[0] * size[1], dtype=np.int64)
    for values, users, places in blocks:
        wrong = (values != np.floor(values)) | (values < 0) | (values >= size)
        if wrong.any():
            at, which = divmod(int(wrong.argmax()), 2)
            raise table.bad(
                places[at],
                f"the {GRID[which]} must be a whole number from 0 to {size[which] - 1}, got "
                f"{values[at, which]:g} (for longitude and latitude give --cell-km)",
            )
        whole = values.astype(np.int64)
        result += _users_of_cells(whole[:, 0] * size[1] + whole[:, 1], users, len(result))
    return result


def _users_of_cells(cells: NDArray[np.int64], users: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    return np.bincount(cells, users, k).astype(np.int64)  # exact: floats represent all possible numbers of users


def _in_cells(
    table: InputTable, blocks: Iterable[_Users], cell_km: float, size: tuple[int, int] | None
) -> tuple[tuple[int, int], NDArray[np.int64], tuple[str, ...]]:
    """Return the users of each cell; coordinates are degrees.

    The cells depend on the extent of the places, so coordinates are kept on disk until all are read.
    """
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    with tempfile.TemporaryFile() as waiting:
        for degrees, users, places in blocks:
            wrong = np.abs(degrees) > tuple(MOST_DEGREES.values())
            if wrong.any():
                at, which = divmod(int(wrong.argmax()), 2)
                name, most = list(MOST_DEGREES.items())[which]
                raise table.bad(
                    places[at],
                    f"the {name} must be between -{most} and {most}, got {degrees[at, which]:g} "
                    "(--columns longitude,latitude: in this order, unless their headers tell which is which)",
                )
            low, high = np.minimum(low, degrees.min(axis=0)), np.maximum(high, degrees.max(axis=0))
            np.column_stack([degrees, users]).tofile(waiting)
        corner, middle = (float(low[0]), float(high[1])), float(low[1] + high[1]) / 2
        reach = _plane(np.array([[high[0], low[1]]]), *corner, middle)[0]
        cells = _cells_over(table.source, reach, cell_km, size)
        shift = (np.array(cells) * cell_km - reach) / 2
        result = np.zeros(cells[0] * cells[1], dtype=np.int64)
        waiting.seek(0)
        while len(part := np.fromfile(waiting, count=3 * BLOCK).reshape(-1, 3)):
            at = ((_plane(part[:, :2], *corner, middle) + shift) // cell_km).astype(np.int64)
            at = np.minimum(at, np.array(cells) - 1)
            result += _users_of_cells(at[:, 0] * cells[1] + at[:, 1], part[:, 2].astype(np.int64), len(result))
    note = (
        f"{cells[0]}x{cells[1]} cells of {cell_km:g} km around latitude {middle:.3f}, longitude "
        f"{(low[0] + high[0]) / 2:.3f}; the first row is the northernmost"
    )
    return cells, result, (note,)


def _plane(degrees: NDArray[np.float64], west: float, north: float, middle: float) -> NDArray[np.float64]:
    """Return the distances of places south and east of a corner ``(n, 2)`` (km), from longitudes and latitudes.

    The plane is exact at the middle latitude, which is sufficient for a town or a region.
    """
    south, east = (north - degrees[:, 1]) * KM_PER_DEGREE, (degrees[:, 0] - west) * KM_PER_DEGREE
    return np.column_stack([south, east * math.cos(math.radians(middle))])


def _cells_over(
    source: str, reach: NDArray[np.float64], cell_km: float, size: tuple[int, int] | None
) -> tuple[int, int]:
    """Return rows and columns of the cells that cover the places (km); raise InputError if there are too many."""
    needed = [side // cell_km + 1 for side in reach.tolist()]  # floats: infinite for extremely small cells
    sizes = [max(cells, 2) for cells in needed] if size is None else size
    if sizes[0] < needed[0] or sizes[1] < needed[1] or sizes[0] * sizes[1] > MOST_CELLS:
        allowed = f"at most {MOST_CELLS:,} cells" if size is None else f"--grid {size[0]}x{size[1]}"
        raise InputError(
            f"{source}: the places reach over {needed[0]:,.6g} rows and {needed[1]:,.6g} columns of {cell_km:g} km, "
            f"allowed: {allowed}; take larger cells, or leave out far-off places"
        )
    return int(sizes[0]), int(sizes[1])
