"""Users per cell from places: rows and columns of a grid, longitudes and latitudes, or any coordinates."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.blocks import Rows, real_numbers, whole_counts
from advisor.inputs.columns import COUNT_NAMES, MOST_DEGREES, InputTable, find_column, refuse_same
from advisor.inputs.head import DETECTED, Expected, FileLayout
from advisor.inputs.table import opened_rows
from advisor.question.settings import KM_PER_DEGREE, MOST_CELLS, parse_grid
from simulator.places import Places

BLOCK = 65_536  # places that are converted to cells at once
GRID, DEGREES, PLANE = ("row", "column"), ("longitude", "latitude"), ("x", "y")  # names of the two coordinates
ROUND_SIZES = [float(f"{digit}e{power}") for power in range(-3, 5) for digit in (1, 2, 5)]  # of cells, in km
MOST_SIDE = 32  # cells along a side of a grid that is chosen here
OUTERMOST, STRETCHED = 0.001, 3  # share of the users at an end that are left out where they stretch an extent so
EXTENT_BINS = 1 << 16
MOST_UNEQUAL = 1_000_000  # sides of a cell: beyond, their sums lose the shorter one


@dataclass(frozen=True)
class PlacesRead:
    """Users per cell ``(k,)``, their grid, the unit of its distances, and assumptions."""

    places: Places
    counts: NDArray[np.int64]
    unit: str
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


_Users: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64], Sequence[int]]
"""Coordinates ``(rows, 2)`` of a block, the number of users per row, and the places of the rows in the file."""


def read_places(
    path: str,
    *,
    columns: str | None = None,
    grid: str | None = None,
    cell_km: float | None = None,
    ground: str = "euclidean",
    counts: str | None = None,
    layout: FileLayout = DETECTED,
) -> PlacesRead:
    r"""Count users per cell of a CSV or TSV with two columns of coordinates, and optionally a column of counts.

    Without `grid` and `cell_km`, longitude and latitude get cells of a round size, at most 32 along a side. With only
    `grid`, headers say what the coordinates are: row and column are those of a cell, counted from 0;
    longitude and latitude are degrees, and the grid divides their bounding box. Under any other header they are cells
    too if all are whole numbers inside the grid, and otherwise coordinates x and y in a unit of their own, whose
    bounding box is divided. With `cell_km` they are longitude and latitude, divided into cells of that size. These
    cells cover all places, or are `grid`, centred on the places. The first row is the northernmost.

    Parameters
    ----------
    path
        The file, "-" for standard input.
    columns
        The two columns, by header or by number from 1, joined by a comma; None to find them by their headers.
    grid, cell_km, ground
        ``ROWSxCOLS``, the side of a cell, and the ground distance of the places.
    counts
        The column with the number of users; None: the column called count if it exists, else a row is a user.
    layout
        What the user says about the layout.

    Raises
    ------
    InputError
        If the file cannot be read; a single line says what is wrong, where, and how to fix it.
    """
    names = [] if columns is None else [name.strip() for name in columns.split(",")]
    if columns is not None and (len(names) != 2 or not all(names)):
        raise InputError(f"--columns must name two columns: row,col or longitude,latitude, got {columns!r}")
    if cell_km is not None and not (math.isfinite(cell_km) and cell_km > 0):
        raise InputError(f"--cell-km must be a number above 0, got {cell_km:g}")
    size = None if grid is None else parse_grid(grid)
    with opened_rows(path, Expected("users", layout, (*names, counts))) as rows:
        at, count, axes = _columns(rows.table, names, counts, (DEGREES,) if cell_km else (GRID, DEGREES, PLANE))
        if cell_km and {column for axis in GRID for column in rows.table.with_word(axis)}.issuperset(at):
            raise InputError(
                f"{rows.table.source}: --cell-km is for longitude and latitude; rows and columns are cells"
            )
        if grid is None and cell_km is None and axes != DEGREES:
            raise InputError(
                "--grid or --cell-km is missing: give cells, for example --grid 8x8, or --cell-km 1 for longitude and "
                "latitude (or --privacy metric with --radius for ordered categories)"
            )
        blocks = _users(rows, at, count)
        if axes == GRID and size is not None:
            users = _in_grid(rows.table, blocks, size)
            read, meaning = PlacesRead(Places(*size, ground), users, "cells"), "row and column"
        else:
            read, meaning = _in_cells(rows.table, blocks, axes, cell_km, size, ground)
    if not read.counts.any():
        raise InputError(f"{rows.table.source}: holds no user; at least one is needed")
    called = " and ".join(rows.table.called(column) for column in at)
    note = f"columns {called} read as {meaning}"
    note += ", one row a user" if count is None else f", column {rows.table.called(count)} as counts"
    return replace(
        read, assumptions=(*rows.assumptions[1:], note, *read.assumptions), warnings=(*rows.warnings(), *read.warnings)
    )


def _columns(
    table: InputTable, names: Sequence[str], counts: str | None, known: Sequence[tuple[str, str]]
) -> tuple[list[int], int | None, tuple[str, str] | None]:
    """Return the columns of the coordinates, in the order of their axes, that of the counts (None without), the axes.

    known: the axes that headers may name; if they name none, these are the only ones known, or None.

    Raises InputError if there are fewer than two columns, if both headers name the same coordinate, or none was asked
    for and headers name no pair.
    """
    if table.width == 1:
        raise InputError(f"{table.source}: has one column; places need two, separated by commas or tabs")
    named = {axis: table.with_word(axis) for pair in known for axis in pair}
    found = [pair for pair in known if len(named[pair[0]]) == len(named[pair[1]]) == 1]
    if not names and not found:
        raise InputError(
            f"{table.source}: --columns is missing: no headers say {' or '.join(map(' and '.join, known))}; give both, "
            f"for example --columns lon,lat; the columns are {table.columns()}"
        )
    at = [find_column(table, name, "--columns") for name in names] or [named[axis][0] for axis in found[0]]
    if at[0] == at[1]:
        raise InputError(f"{table.source}: --columns names column {table.called(at[0])} twice")
    axes = next((pair for pair in known if {*named[pair[0]], *named[pair[1]]} & set(at)), None)
    axes = axes or (known[0] if len(known) == 1 else None)
    if axes:
        first, second = (set(named[axis]) for axis in axes)
        for axis, own in zip(axes, (first - second, second - first), strict=True):
            if own.issuperset(at):
                raise InputError(
                    f"{table.source}: the columns {' and '.join(map(table.called, at))} are both a {axis}; --columns "
                    f"takes {' and '.join(axes)}"
                )
        at = at[::-1] if at[0] in second - first or at[1] in first - second else at
    if counts is not None:
        count = find_column(table, counts, "--counts")
        for place in at:
            refuse_same(table, place, count, "--columns and --counts")
        return at, count, axes
    return at, next((at for at, name in enumerate(table.names or ()) if name.casefold() in COUNT_NAMES), None), axes


def _users(rows: Rows, at: Sequence[int], count: int | None) -> Iterator[_Users]:
    """Yield the coordinates ``(rows, 2)`` and numbers of users of each block."""
    table, total = rows.table, 0
    for block in rows.blocks(at if count is None else [*at, count]):
        coordinates = real_numbers(block, table, at, "coordinate")
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
                f"{values[at, which]:g} (for longitude and latitude give --cell-km, or call the columns so)",
            )
        whole = values.astype(np.int64)
        result += _users_of_cells(whole[:, 0] * size[1] + whole[:, 1], users, len(result))
    return result


def _users_of_cells(cells: NDArray[np.int64], users: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    return np.bincount(cells, users, k).astype(np.int64)  # exact: floats represent all possible numbers of users


def _in_cells(
    table: InputTable,
    blocks: Iterable[_Users],
    axes: tuple[str, str] | None,
    cell_km: float | None,
    size: tuple[int, int] | None,
    ground: str,
) -> tuple[PlacesRead, str]:
    """Return the users of each cell, and what their coordinates were taken for: degrees, or any numbers.

    The cells depend on the extent of the places, so coordinates are kept on disk until all are read.
    """
    degrees, unit = axes == DEGREES, "km" if axes == DEGREES else "units"
    order = slice(None, None, -1 if axes == PLANE else None)  # of row and column: y, which goes down in tables, and x
    with tempfile.TemporaryFile() as waiting, np.errstate(over="ignore"):
        low, high, whole = np.full(2, np.inf), np.full(2, -np.inf), not degrees and size is not None
        nowhere = 0
        for values, users, places in blocks:
            if degrees:
                _check_degrees(table, values, places)
            cells = values[:, order]
            whole = whole and bool(((cells == np.floor(cells)) & (cells >= 0) & (cells < (size or 0))).all())
            low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
            nowhere += int(users[(values == 0).all(axis=1)].sum())
            np.column_stack([values, users]).tofile(waiting)
        unknown = degrees and nowhere and bool(((low == 0) | (high == 0)).all())  # a corner of all places
        chosen: tuple[str, ...] = ()
        if degrees and size is None and cell_km is None:
            low, high, chosen = _without_outliers(waiting, low, high)
        middle = (low + high) / 2
        scale = (KM_PER_DEGREE, KM_PER_DEGREE * math.cos(math.radians(middle[1]))) if degrees else (1.0, 1.0)
        corner = float(low[0]), float(high[1])
        reach = _plane(np.array([[high[0], low[1]]]), *corner, scale)[0]
        grid = size or (1, 1)
        if chosen and max(reach) > 0:
            cell_km = next(side for side in ROUND_SIZES if max(reach) // side < MOST_SIDE)
        if whole:
            sides = np.ones(2)
        elif cell_km is not None:
            grid, sides = _cells_over(table.source, reach, cell_km, size), np.full(2, cell_km)
        else:
            sides = reach / grid
        if not 0 < max(sides) <= MOST_UNEQUAL * min(sides) < math.inf:
            raise InputError(
                f"{table.source}: a grid over the bounding box needs places that differ in both coordinates; they "
                f"reach over {reach[0]:g} and {reach[1]:g} {unit} (at most {MOST_UNEQUAL:,} times as far in one)"
            )
        shift = (np.array(grid) * sides - reach) / 2
        result = np.zeros(grid[0] * grid[1], dtype=np.int64)
        waiting.seek(0)
        while len(part := np.fromfile(waiting, count=3 * BLOCK).reshape(-1, 3)):
            at = part[:, :2][:, order] if whole else (_plane(part[:, :2], *corner, scale) + shift) // sides
            at = np.clip(at.astype(np.int64), 0, np.array(grid) - 1)
            result += _users_of_cells(at[:, 0] * grid[1] + at[:, 1], part[:, 2].astype(np.int64), len(result))
    if whole:
        meaning = f"{'column and row' if axes == PLANE else 'row and column'}: all are whole numbers inside the grid"
        return PlacesRead(Places(*grid, ground), result, "cells"), meaning
    each = f"{cell_km:g} km" if cell_km else f"{sides[0]:.3g} x {sides[1]:.3g} {unit} over the bounding box,"
    first = "is the northernmost" if degrees else "has the largest y"
    first += "; cells do not go on beyond the date line" if degrees and high[0] - low[0] > 180 else ""
    where = f"latitude {middle[1]:.3f}, longitude {middle[0]:.3f}" if degrees else f"{middle[0]:g}, {middle[1]:g}"
    note = f"{grid[0]}x{grid[1]} cells of {each} around {where}; the first row {first}"
    meaning = "longitude and latitude" if degrees else "coordinates x and y: not all are whole numbers inside the grid"
    what = f"{nowhere:,} users are at 0, 0, which devices write for an unknown place: leave these rows out of the file"
    warnings = (what,) if unknown else ()
    return PlacesRead(Places(*grid, ground, *sides.tolist()), result, unit, (note, *chosen), warnings), meaning


def _without_outliers(
    waiting: IO[bytes], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Return the extent without the outermost users of an axis, where they stretch it more than threefold, and notes.

    To the 65,536th of the extent: the coordinates stay on disk.
    """
    users = np.zeros((2, EXTENT_BINS))
    scale = np.where(high > low, high - low, 1) / (EXTENT_BINS - 1)
    waiting.seek(0)
    while len(part := np.fromfile(waiting, count=3 * BLOCK).reshape(-1, 3)):
        for axis, bins in enumerate(((part[:, :2] - low) / scale).astype(np.int64).T):
            users[axis] += np.bincount(bins, part[:, 2], EXTENT_BINS)
    notes = [f"a round size of cells, with at most {MOST_SIDE} along a side (--cell-km or --grid say otherwise)"]
    most = OUTERMOST * users[0].sum()
    for axis, sums in enumerate(np.cumsum(users, axis=1)):
        first = int((sums <= most).sum())
        last = int((sums < sums[-1] - most).sum())
        if low[axis] < high[axis] and STRETCHED * (last + 1 - first) < EXTENT_BINS:
            low[axis], high[axis] = low[axis] + first * scale[axis], low[axis] + (last + 1) * scale[axis]
            notes.append(
                f"the outermost {OUTERMOST:.1%} of users by {DEGREES[axis]} are counted in cells at the border"
            )
    return low, high, tuple(notes)


def _check_degrees(table: InputTable, degrees: NDArray[np.float64], places: Sequence[int]) -> None:
    """Raise InputError for a longitude or a latitude that cannot be."""
    wrong = np.abs(degrees) > tuple(MOST_DEGREES.values())
    if wrong.any():
        at, which = divmod(int(wrong.argmax()), 2)
        name, most = list(MOST_DEGREES.items())[which]
        raise table.bad(
            places[at],
            f"the {name} must be between -{most} and {most}, got {degrees[at, which]:g} (--columns "
            "longitude,latitude: in this order, unless their headers tell which is which)",
        )


def _plane(points: NDArray[np.float64], west: float, north: float, scale: tuple[float, float]) -> NDArray[np.float64]:
    """Return the distances of places south and east of a corner ``(n, 2)``, from longitudes and latitudes, or x and y.

    scale: length of a unit of latitude, and of longitude: the plane is exact at the middle latitude, which is
    sufficient for a town or a region.
    """
    return np.column_stack([(north - points[:, 1]) * scale[0], (points[:, 0] - west) * scale[1]])


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
