"""Constants of clients that report a cell of a map: noise in whole numbers, or in double precision."""

from __future__ import annotations

import math
from fractions import Fraction

from advisor.answers.clients.parameters import NOISE_UNIT, Constant, Parameters, exact
from advisor.errors import InputError
from advisor.inputs.places import KM_PER_DEGREE
from advisor.question.option import require
from advisor.question.settings import Cells
from simulator.channels import finite_precision
from simulator.places import Places

# Of distances and angles, the rounding of logarithm, sine and cosine included; e-folds of the longest distance.
PRECISION, REACH = 2.0**-48, 95.0
LEAST_RATE, MOST_RATE = 1e-4, 20.0  # between which rounding adds less than a thousandth
FLAT = Fraction(7, 10)  # below 1/sqrt(2), the least ratio of the distance to rows and columns together


def planar_parameters(key: str, epsilon: float, cells: Cells) -> Parameters:
    """Return the constants of a mechanism for places, and what its reports spend within the radius.

    Raises InputError if cells or radius are missing, or the budget is too small or too large for these cells.
    """
    require(*cells.missing())
    channel, places = cells.channel(key, epsilon), cells.places
    radius = exact(cells.radius or 1.0) / exact(places.width)
    if radius < 1:
        raise InputError(f"--radius must be at least the side of a cell, {places.width:g}, got {cells.radius:g}")
    rate = float(exact(epsilon) / radius)
    if not LEAST_RATE <= rate <= MOST_RATE:
        raise InputError(f"--eps per cell of --radius must be from {LEAST_RATE:g} to {MOST_RATE:g}, got {rate:g}")
    constants = (
        Constant("ROWS", places.rows, "rows of cells"),
        Constant("COLUMNS", places.columns, "columns of cells"),
        *(() if cells.centre is None else _degrees(places, *cells.centre)),
    )
    if key == "planar_laplace":
        rate -= 2 * (finite_precision(rate, REACH / rate, PRECISION) - rate)  # twice what it adds, which changes slowly
        spent = finite_precision(rate, REACH / rate, PRECISION)
        constants += (Constant("RATE", rate, "noise falls by exp(-RATE) for each cell of distance"),)
        return Parameters(channel, constants, None, Fraction(spent) * radius, epsilon)
    manhattan = places.ground == "manhattan"
    fall = int(exact(epsilon) / radius * NOISE_UNIT) - (not manhattan)  # the rounding of a distance adds 1 at most
    constants += (
        Constant("FALL", fall, "probabilities fall by exp(-FALL / UNIT) for each cell of distance"),
        Constant("RATE", fall if manhattan else int(fall * FLAT), "noise of rows, and of columns: exp(-RATE / UNIT)"),
        Constant("UNIT", NOISE_UNIT, "denominator of FALL and RATE"),
    )
    return Parameters(channel, constants, None, (fall + (not manhattan)) * radius / NOISE_UNIT, epsilon)


def _degrees(places: Places, latitude: float, longitude: float) -> tuple[Constant, ...]:
    """Return where the grid is: its corner, and the size of a cell in degrees, exact at the latitude of the centre."""
    height = places.height / KM_PER_DEGREE
    width = height / math.cos(math.radians(latitude))
    north, west = latitude + height * places.rows / 2, longitude - width * places.columns / 2
    if north > 90 or 2 * latitude - north < -90 or abs(longitude) + (longitude - west) > 180:
        raise InputError(f"--centre {latitude:g},{longitude:g}: the grid reaches over a pole or the date line")
    return (
        Constant("NORTH", north, "latitude of the upper edge of the grid"),
        Constant("WEST", west, "longitude of its left edge"),
        Constant("HEIGHT", height, "degrees of latitude of a cell"),
        Constant("WIDTH", width, "degrees of longitude of a cell"),
    )
