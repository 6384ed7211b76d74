"""Constants of clients in whole numbers: of a protocol at a budget and domain size, or of a mechanism for places."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from advisor.errors import InputError
from advisor.question.settings import KM_PER_DEGREE, Cells
from simulator import PROTOCOLS
from simulator.channels import finite_precision
from simulator.places import Places
from simulator.protocols.equations import field, points, smallest_divisor
from simulator.protocols.grr import GRR
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.protocol import Protocol, StandardProtocol
from simulator.protocols.tree import Tree
from simulator.protocols.unary import THE

WORD = 2**64  # clients draw whole numbers below it
BITS = 256  # fractional bits of the lower bound of e^x
DIGITS = 40  # digits of logarithms, before they are rounded up
UP = Context(prec=22, rounding=ROUND_CEILING)  # for budgets that are shown


def exact(epsilon: float) -> Fraction:
    """Return a budget as an exact decimal fraction: 0.1 is 1/10, not the nearest float."""
    return Fraction(repr(float(epsilon)))


@lru_cache(maxsize=256)
def exp_below(x: Fraction) -> Fraction:
    """Return a fraction that is at most e^x for x >= 0; its relative error is at most 2^-200.

    The terms of the series are positive, so each partial sum is a lower bound. Truncated terms keep it a lower bound.
    """
    total, term, index = Fraction(1), Fraction(1), 1
    while term * 2**BITS > 1 or index <= x:
        term = Fraction(int(term * x / index * 2 ** (2 * BITS)), 2 ** (2 * BITS))  # truncated: fractions stay short
        total += term
        index += 1
    return Fraction(int(total * 2**BITS), 2**BITS)


def threshold(epsilon: float, true_odds: int, false_odds: int) -> int:
    """Return the largest T out of 2^64 for which true symbols are at most e^epsilon times as likely as false symbols.

    true_odds, false_odds: number of symbols that share T / 2^64 evenly, and of symbols that share the rest of 1.

    T is rounded down, so that T / true_odds is at most e^epsilon times (2^64 - T) / false_odds.
    """
    e = exp_below(exact(epsilon))
    return int(WORD * true_odds * e / (true_odds * e + false_odds))


def ratio(chance: int, own: int, other: int) -> Fraction:
    """Return the ratio of the probability of each of `own` symbols to that of each other, for a threshold `chance`."""
    return Fraction(chance * other, (WORD - chance) * own)


def log_above(number: Fraction) -> str:
    """Return the logarithm of a fraction of at least 1 as a decimal, rounded up.

    >>> log_above(Fraction(2))
    '0.6931471805599453094173'
    """
    up = Context(prec=DIGITS, rounding=ROUND_CEILING)
    above = up.divide(
        up.create_decimal(number.numerator),
        Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal(number.denominator),
    )
    # Decimal.ln rounds to the nearest, so a unit in the last place is added.
    return f"{UP.plus(up.next_plus(up.ln(above))).normalize():f}"


Number = int | float | list[int]
NOISE_UNIT = 2**40  # denominator of the rate of discrete noise
STEPS = 512  # minimum of grid steps per half a scale of the noise (for cells that hold 0 or 1)
OUT_OF = "out of 2^64: probability that the report supports the own value"


@dataclass(frozen=True)
class Constant:
    """A constant of a client, with its meaning."""

    name: str
    value: Number
    meaning: str
    word: bool = False  # whether it is compared with a draw of 64 bits, which JavaScript holds as a BigInt


@dataclass(frozen=True)
class Parameters:
    """Constants of a client."""

    protocol: Protocol
    constants: tuple[Constant, ...]
    # largest ratio of the probabilities of a report under two values; None for `she`, whose ratio is e to a fraction
    ratio: Fraction | None
    exponent: Fraction | None = None
    within: float | None = None  # the given budget, where it is promised within a radius only

    @property
    def epsilon(self) -> str:
        """The given budget."""
        return repr(float(self.within or self.protocol.epsilon)).removesuffix(".0")

    def whole(self, name: str) -> int:
        """Return a constant that is a single number."""
        (value,) = (each.value for each in self.constants if each.name == name)
        if not isinstance(value, int):
            raise TypeError(f"{name} is several numbers")
        return value

    @property
    def kept(self) -> bool:
        """Whether the exact ratio is at most e^epsilon, compared as fractions."""
        if self.ratio is None:
            return self.exponent is not None and self.exponent <= Fraction(self.epsilon)
        return self.ratio <= exp_below(exact(self.protocol.epsilon))

    @property
    def exact_epsilon(self) -> str:
        """The exact budget of a report, rounded up: at most `epsilon`."""
        if self.ratio is not None:
            return log_above(self.ratio)
        exponent = self.exponent or Fraction(0)
        return f"{UP.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)).normalize():f}"


def parameters(key: str, k: int, epsilon: float, hashing: str | None = None) -> Parameters:
    """Return the constants of a protocol of this package.

    Raises KeyError for a protocol of another package, and ValueError if `k` or `epsilon` is outside its range.
    """
    kind: Callable[..., StandardProtocol] = PROTOCOLS[key]
    values = BUILDERS[key](kind(k, epsilon) if hashing is None else kind(k, epsilon, hash=hashing))
    if not values.kept:
        raise RuntimeError(f"{key}: the probabilities of its client break the promise of epsilon = {epsilon}")
    return values


def _two_kinds(protocol: StandardProtocol, near: int, far: int, *constants: Constant) -> Parameters:
    """Return the constants of a protocol with two kinds of reports; reports of the same kind are equally likely.

    near, far: number of reports that support the user's value, and of those that do not.
    """
    own = threshold(protocol.epsilon, near, far)
    return Parameters(protocol, (*constants, Constant("OWN", own, OUT_OF, word=True)), ratio(own, near, far))


def _bits(protocol: StandardProtocol, own: int, other: int) -> Parameters:
    """Return the constants of bit vectors; two values differ in the probabilities of two bits."""
    constants = (
        Constant("OWN", own, "out of 2^64: probability that the own bit is 1", word=True),
        Constant("OTHER", other, "out of 2^64: probability that any other bit is 1", word=True),
    )
    return Parameters(protocol, constants, Fraction(own * (WORD - other), (WORD - own) * other))


def least_other(exponent: Fraction) -> int:
    """Return the smallest T with ``(2^64 - T) / T`` of at most e to the power of `exponent`."""
    return math.ceil(WORD / (exp_below(exponent) + 1))


def _rappor(protocol: StandardProtocol) -> Parameters:
    other = least_other(exact(protocol.epsilon) / 2)
    return _bits(protocol, WORD - other, other)


def _the(protocol: THE) -> Parameters:
    return _bits(protocol, math.floor(WORD * Fraction(protocol.p)), math.ceil(WORD * Fraction(protocol.q)))


def _hadamard(protocol: HadamardResponse) -> Parameters:
    half = protocol.block_size // 2
    return _two_kinds(
        protocol,
        half,
        protocol.symbols - half,
        Constant("BLOCKS", protocol.blocks, "blocks; value v is in block v mod BLOCKS"),
        Constant("BLOCK_SIZE", protocol.block_size, "symbols of a block: columns of a Hadamard matrix"),
    )


def _projective(protocol: ProjectiveGeometry) -> Parameters:
    near = points(protocol.dimension - 1, protocol.order)
    return _two_kinds(
        protocol,
        near,
        protocol.symbols - near,
        Constant("ORDER", protocol.order, "elements of the field"),
        Constant("DIMENSION", protocol.dimension, "coordinates of a point"),
        Constant("SYMBOLS", protocol.symbols, "points"),
        Constant("STRIDE", int(protocol.point_of(np.array([1]))[0]), "value v is point v STRIDE mod K"),
        *_field_constants(protocol.order),
    )


def _field_constants(order: int) -> tuple[Constant, ...]:
    """Return the extra constants of a field with `order` elements; none for integers modulo a prime."""
    prime = smallest_divisor(order)
    if prime == order:
        return ()
    powers = [1]
    # x is element number p (0 and 1 are those of the prime field); its powers are all elements but 0.
    while len(powers) < order - 1:
        powers.append(int(field(order).mul(np.array(powers[-1]), np.array(prime))))
    return (
        Constant("PRIME", prime, "characteristic: elements are added digit by digit in this base"),
        Constant("POWERS", powers, "the elements but 0 as powers of one of them: products add exponents"),
    )


def _tree(protocol: Tree) -> Parameters:
    other = least_other(exact(protocol.epsilon))
    sizes = [inner.k for inner in protocol.inner]
    own = [threshold(protocol.epsilon, 1, inner.k - 1) if isinstance(inner, GRR) else 0 for inner in protocol.inner]
    constants = (
        Constant("NODES", sizes, "nodes of each height, the leaves first"),
        Constant("OWN", own, "out of 2^64, by height: probability of the own node; 0: bits are reported", word=True),
        Constant("OTHER", other, "out of 2^64: probability that a bit of another node is 1", word=True),
        Constant("LEAVES_FIRST", int(protocol.leaf_share == 1 / 2), "1: every second report is of the leaves anyway"),
    )
    ratios = [
        ratio(each, 1, size - 1) if each else Fraction(WORD - other, other)
        for each, size in zip(own, sizes, strict=True)
    ]
    return Parameters(protocol, constants, max(ratios))


def _haar(protocol: HaarHadamard) -> Parameters:
    own = threshold(protocol.epsilon, 1, 1)
    constants = (
        Constant("ROWS", list(protocol.rows), "rows of the Hadamard matrix of each height, from 1"),
        Constant("STARTS", protocol.starts[:-1].tolist(), "first symbol of each height"),
        Constant("OWN", own, "out of 2^64: probability that the bit is reported as it is", word=True),
    )
    return Parameters(protocol, constants, ratio(own, 1, 1))


def _summation(protocol: StandardProtocol) -> Parameters:
    epsilon = exact(protocol.epsilon)
    grid = 1 << max(0, math.ceil(math.log2(STEPS * protocol.epsilon)))
    rate = int(epsilon * NOISE_UNIT / (2 * grid))
    constants = (
        Constant("GRID", grid, "a cell is a whole number of steps of 1/GRID"),
        Constant("RATE", rate, "noise of z steps has probability in proportion to exp(-|z| RATE / UNIT)"),
        Constant("UNIT", NOISE_UNIT, "denominator of RATE"),
    )
    # Two values differ in two cells, by 1 each, which is GRID steps.
    return Parameters(protocol, constants, None, Fraction(2 * grid * rate, NOISE_UNIT))


BUILDERS: dict[str, Callable[[Any], Parameters]] = {
    "grr": lambda grr: _two_kinds(grr, 1, grr.k - 1),
    "rappor": _rappor,
    "oue": lambda oue: _bits(oue, WORD // 2, least_other(exact(oue.epsilon))),
    **dict.fromkeys(
        ("blh", "olh"),
        lambda hashing: _two_kinds(hashing, 1, hashing.g - 1, Constant("G", hashing.g, "symbols of the hash")),
    ),
    "ss": lambda ss: _two_kinds(ss, ss.omega, ss.k - ss.omega, Constant("OMEGA", ss.omega, "values of a report")),
    "the": _the,
    "she": _summation,
    "hr": _hadamard,
    "pgr": _projective,
    "tree": _tree,
    "tree_half": _tree,
    "sw": lambda sw: _two_kinds(sw, sw.width, sw.k - 1, Constant("WIDTH", sw.width, "places near a value")),
    "haar_hrr": _haar,
}


# Of distances and angles, the rounding of logarithm, sine and cosine included; e-folds of the longest distance.
PRECISION, REACH = 2.0**-48, 95.0
LEAST_RATE, MOST_RATE = 1e-4, 20.0  # between which rounding adds less than a thousandth
FLAT = Fraction(7, 10)  # below 1/sqrt(2), the least ratio of the distance to rows and columns together


def planar_parameters(key: str, epsilon: float, cells: Cells) -> Parameters:
    """Return the constants of a mechanism for places, and what its reports spend within the radius.

    Raises InputError if the budget is too small or too large for these cells.
    """
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
