"""Bins that numbers are cut into: their edges, and what they are called."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from advisor.checks import shown
from advisor.errors import InputError, printable
from advisor.inputs.numbers import MOST_LABELS

LARGEST = Fraction(sys.float_info.max)


@dataclass(frozen=True, eq=False)  # holds an array, which does not compare to one truth
class Bins:
    """An ordered domain of k intervals: each from its lower edge up to, but without, the next; the last with both."""

    edges: NDArray[np.float64]  # ``(k + 1,)``, rising
    width: float | None  # width of the bins; None if they differ
    name: str  # name of the numbers: their unit, their column, or a substitute
    phrase: str  # what follows a figure in that unit: "years", "in the unit of 'income'"

    def __post_init__(self) -> None:
        if not (self.edges[1:] > self.edges[:-1]).all():
            raise InputError(
                f"the bins from {self.span} are narrower than numbers of double precision can tell apart: ask for "
                "fewer or wider ones"
            )

    @property
    def k(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of each bin: its edges, with as many decimals as a hundredth of the narrowest bin has."""
        with np.errstate(over="ignore"):
            narrowest = float(np.diff(self.edges).min())
        decimals = max(0, 2 - math.floor(math.log10(narrowest)))
        names = [f"{round(edge, decimals) + 0.0:.15g}" for edge in self.edges.tolist()]
        if len(set(names)) < len(names):
            names = [repr(edge) for edge in self.edges.tolist()]
        return tuple(f"{low}–{high}" for low, high in pairwise(names))

    @property
    def span(self) -> str:
        """The lowest and the highest edge, for people."""
        return f"{edge_text(self.edges[0])} to {edge_text(self.edges[-1])}"

    @property
    def sentence(self) -> str:
        """How the numbers were cut."""
        width = "different widths" if self.width is None else f"width {edge_text(self.width)}"
        return f"numbers cut into {self.k:,} bins of {width} from {self.span}, each without its upper edge but the last"

    @property
    def data(self) -> dict[str, float | int | str | list[float] | None]:
        """The bins as answers hold them; all edges where no width gives them."""
        return {
            "k": self.k,
            "low": float(self.edges[0]),
            "high": float(self.edges[-1]),
            "width": self.width,
            "edges": self.edges.tolist() if self.width is None else None,
            "name": self.name,
        }

    def place(self, numbers: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the bin of each number: -1 below the first, k above the last."""
        places = np.searchsorted(self.edges, numbers, side="right") - 1
        places[numbers == self.edges[-1]] = self.k - 1
        return places


@dataclass(frozen=True)
class Cut:
    """How numbers become bins: so many equal ones, equal ones of a width, or between all of the edges."""

    count: int | None = None
    width: float | None = None
    edges: tuple[float, ...] = ()  # beside count or width the ends of the range; none for those of the sample
    clamp: bool = False  # whether numbers outside of the edges are counted in the first and the last bin
    unit: str | None = None

    def bins(self, column: str | None) -> Bins | None:
        """Return the bins of a column (None without a name), or None if they depend on its numbers.

        Raises InputError if there are none of that kind.
        """
        return self.between(*self.edges, column=column) if self.edges else None

    def between(self, *edges: float, column: str | None) -> Bins:
        """Return the bins between edges: those given, or the least and the largest number of the sample.

        Raises InputError if there are none of that kind.
        """
        ends = [exact(edge) for edge in edges]
        low, high = ends[0], ends[-1]
        if self.count is not None:
            step = (high - low) / self.count
            bounds = _equal(low, step, self.count)
        elif self.width is not None:
            step = exact(self.width)
            if not self.edges:  # multiples of the width, the last of them above the largest number
                low, high = low // step * step, (high // step + 1) * step
                if max(-low, high) > LARGEST:
                    raise InputError(f"--bin-width {edge_text(step)} leads beyond the largest double-precision number")
            bounds = _equal(low, step, _count(low, high, step))
        else:
            bounds = list(map(float, ends))
            steps = {after - before for before, after in pairwise(ends)}
            step = steps.pop() if len(steps) == 1 else Fraction(0)
        name = printable(self.unit or column or "the unit of the data")
        phrase = name if self.unit else "in the unit of " + (shown(column) if column else "the data")
        return Bins(np.array(bounds), float(step) or None, name, phrase)


def edge_text(number: float | Fraction) -> str:
    """Return an edge as messages and command lines have it.

    >>> edge_text(0.1), edge_text(100000.0), edge_text(1 / 3)
    ('0.1', '100000', '0.3333333333333333')
    """
    value = float(number)
    text = f"{value:.15g}"
    return text if float(text) == value else repr(value)


def exact(number: float) -> Fraction:
    """Return the decimal number that people read and write for a double: 1/10 for 0.1."""
    return Fraction(repr(float(number)))


def _count(low: Fraction, high: Fraction, step: Fraction) -> int:
    """Return how many steps lead from one edge to another."""
    width, span = edge_text(step), f"the range from {edge_text(low)} to {edge_text(high)}"
    if (high - low) % step:
        nearest = edge_text(low - (low - high) // step * step)
        raise InputError(
            f"--bin-width {width} does not divide {span}: end it at {nearest}, or give the number of bins with --bins"
        )
    count = int((high - low) / step)
    if count > MOST_LABELS:
        many = f"{count:,}" if count < 10**15 else "over 10^15"
        raise InputError(
            f"--bin-width {width} cuts {span} into {many} bins, and a domain has at most {MOST_LABELS:,}: "
            "give a larger width"
        )
    return count


def _equal(low: Fraction, step: Fraction, count: int) -> list[float]:
    """Return count + 1 edges, each rounded once."""
    scale = math.lcm(low.denominator, step.denominator)
    first, pace = int(low * scale), int(step * scale)
    return [(first + at * pace) / scale for at in range(count + 1)]
