"""Many steps of expectation maximisation (EM) at once."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.protocols.protocol import Likelihood

MARGIN = 1.2  # on how fast the logarithms may answer, which is exact where the tally is as expected
FARTHEST = 20.0  # largest change of a logarithm in one extrapolation
LEAST = 1e-300  # keeps logarithms and quotients finite where frequencies have become 0
RANGE = 200.0  # of the logarithm of a factor, on either side: keeps powers and their sums finite
CELL = 5.0  # values of a cell at most
WINDOW = 48  # cells at least that a report may come from: fewer know too little of its edges
MANY, NARROW = 512, 36  # so many values take long: so few cells then, where otherwise there would be none


class LineCells:
    """So many places cut into so many cells, which lie about their middle: the first and the last take what is left.

    size: of a cell in places, which need not be a whole number: a place is then shared by two cells.
    """

    def __init__(self, places: int, cells: int, size: float) -> None:
        first = (places - cells * size) / 2
        edges = first + size * np.arange(cells + 1)
        edges[[0, -1]] = 0, places
        self._cut = np.minimum(edges.astype(np.int64), places - 1)  # the place in which a cell begins
        self._former = edges - self._cut  # the share of it that is the former cell's
        self._former[-1] = 0  # of which there is no place left
        middles = np.clip((np.arange(places) + 0.5 - first) / size - 0.5, 0, cells - 1)
        self._before = np.minimum(middles.astype(np.int64), cells - 2)
        self._beyond = middles - self._before

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums ``(rows, cells)`` of the values ``(rows, places)`` in each cell."""
        result = np.add.reduceat(values, self._cut[:-1], axis=1)
        former = values.take(self._cut, axis=1)
        former *= self._former
        result += former[:, 1:]
        result -= former[:, :-1]
        return result

    def spread(self, values: FloatArray) -> FloatArray:
        """Return for each place ``(rows, places)`` what lies on the lines between the values ``(rows, cells)``."""
        result = np.diff(values, axis=1).take(self._before, axis=1)
        result *= self._beyond
        result += values.take(self._before, axis=1)
        return result


def averages(frequencies: FloatArray, size: float = 1.0) -> FloatArray:
    """Return averages of neighbours by weights of 1, 2, 1 (at the ends 2, 1), before the division by their sum.

    size: of cells in place of values. As much goes from one to the next as between the values where they meet.
    """
    flow = np.diff(frequencies, axis=-1)
    flow /= 4 * size**2
    result = frequencies.copy()
    result[..., :-1] += flow
    result[..., 1:] -= flow
    narrower = 1 / (4 * size - 1)  # for the rule at the ends, the first and the last value count 3/4
    result[..., 0] += narrower * flow[..., 0]
    result[..., -1] -= narrower * flow[..., -1]
    return result


def ends(k: int) -> FloatArray:
    """Return frequencies ``(2, k)`` of the first value alone, and of the last."""
    result = np.zeros((2, k))
    result[0, 0] = result[1, -1] = 1.0
    return result


@dataclass(frozen=True)
class Path:
    """Where steps of EM lead, given the shares ``(rows, outputs)`` of the outputs.

    A step is taken for a unit of time in a differential equation of the logarithms of the frequencies. What all of
    these have in common means nothing and is let go.

    smooth: whether neighbours are averaged after each step.
    size: how many values are a cell, where the k of this likelihood are cells.
    """

    likelihood: Likelihood
    shares: FloatArray
    smooth: bool
    size: float = 1.0

    @cached_property
    def rate(self) -> float:
        """How fast the fastest part of the logarithms goes where the steps lead.

        Smoothing takes the difference of neighbouring values away at once, that of cells more slowly. Without it, the
        rate is what the channel keeps of the chi-square divergence of two inputs, at most that of two values
        (Ordentlich, Polyanskiy, "Strong data processing constant is achieved by binary inputs", IEEE Trans. Inf.
        Theory 2022).
        """
        first, last = self.likelihood.forward(ends(self.likelihood.shape[0]))
        both = np.maximum(first + last, LEAST)
        channel = MARGIN * float(((first - last) ** 2 / both).sum()) / 2
        return min(1.0, channel + self.smooth / self.size**2)

    def change(self, logarithms: FloatArray) -> FloatArray:
        """Return what a step adds to the logarithms ``(rows, k)`` of frequencies that are divided by their sum."""
        frequencies = np.maximum(logarithms, math.log(LEAST))
        np.minimum(frequencies, FARTHEST, out=frequencies)
        np.exp(frequencies, out=frequencies)
        frequencies /= frequencies.sum(axis=1, keepdims=True)
        likely = self.likelihood.forward(frequencies)
        likely += LEAST
        factors = self.likelihood.backward(np.divide(self.shares, likely, out=likely))
        if self.smooth:
            factors *= frequencies
            factors = averages(factors, self.size)
            frequencies += LEAST
            factors /= frequencies
        factors += LEAST
        return np.log(factors, out=factors)

    def followed(
        self, first: FloatArray, change: FloatArray, lag: FloatArray, steps: FloatArray, most: int
    ) -> FloatArray:
        """Return the logarithms that so many steps ``(rows, 1)``, at most `most`, reach from the first ``(rows, k)``.

        change: of the first step; lag: what is added to every later one.

        Followed to second order, with as many evaluations as the square root of twice the steps times the rate (Meyer,
        Balsara, Aslam, "A stabilized Runge-Kutta-Legendre method for explicit super-time-stepping of parabolic and
        mixed equations", J. Comput. Phys. 2014). With smoothing, one more: what goes away at once is met better.
        """
        stages = max(3, math.ceil((math.sqrt(9 + 8 * most * self.rate) - 1) / 2) + self.smooth)
        share = 4 / (stages**2 + stages - 2)
        parts = [1 / 3, 1 / 3, *((j**2 + j - 2) / (2 * j * (j + 1)) for j in range(2, stages + 1))]
        room = np.empty_like(first)
        former, latter = np.zeros_like(first), parts[1] * share * steps * change  # from the first ones on
        for j in range(2, stages + 1):
            own, other = (2 - 1 / j) * parts[j] / parts[j - 1], (1 / j - 1) * parts[j] / parts[j - 2]
            further = self.change(np.add(first, latter, out=room))
            further += lag
            further -= np.multiply(change, 1 - parts[j - 1], out=room)
            further *= own * share * steps
            for weight, each in ((own, latter), (other, former)):
                further += np.multiply(each, weight, out=room)
            former, latter = latter, further
        return first + latter


@dataclass(frozen=True)
class Iterate:
    """Where a leap starts: frequencies ``(rows, k)`` after a number of steps, and how the next step changes them.

    logarithms, change: of cells, or of values where there are no cells.
    lag: by how much more cells change than they would if there were nothing but cells.
    detail: change of the logarithms of values, where the place in a cell matters.
    """

    steps: int
    frequencies: FloatArray
    logarithms: FloatArray
    change: FloatArray
    lag: FloatArray
    detail: FloatArray | None

    def of(self, rows: IntArray) -> Iterate:
        """Return the same of some rows alone."""
        detail = None if self.detail is None else self.detail[rows]
        parts = (self.frequencies[rows], self.logarithms[rows], self.change[rows], self.lag[rows])
        return Iterate(self.steps, *parts, detail)


class Leaps:
    """Leaps along the path of EM: followed by cells of neighbouring values where the likelihood has a coarser one.

    Outputs tell cells apart, and neighbours hardly: within a cell, logarithms move on nearly straight lines.
    """

    def __init__(self, likelihood: Likelihood, shares: FloatArray, *, smooth: bool) -> None:
        coarser = likelihood.coarser(CELL, WINDOW)
        if coarser is None and likelihood.shape[0] >= MANY:
            coarser = likelihood.coarser(CELL, NARROW)
        self._cells, self._path = None, Path(likelihood, shares, smooth)
        if coarser is not None:
            (k, outputs), (cells, groups) = likelihood.shape, coarser.shape
            self._cells = LineCells(k, cells, k / cells)
            self._path = Path(coarser, LineCells(outputs, groups, k / cells).sums(shares), smooth, k / cells)

    def of(self, rows: IntArray) -> Leaps:
        """Return the same of some rows alone."""
        result = copy(self)
        result._path = replace(self._path, shares=self._path.shares[rows])
        return result

    def point(self, steps: int, frequencies: FloatArray, following: FloatArray) -> Iterate:
        """Return where a leap starts after so many steps, given also the frequencies after the next."""
        if self._cells is None:
            first = _logarithms(frequencies)
            return Iterate(steps, frequencies, first, _logarithms(following) - first, np.zeros((len(first), 1)), None)
        first = _logarithms(self._cells.sums(frequencies))
        change = _logarithms(self._cells.sums(following)) - first
        lag = change - self._path.change(first)
        # Smoothing keeps no detail.
        detail = None if self._path.smooth else _logarithms(following / np.maximum(frequencies, LEAST))
        return Iterate(steps, frequencies, first, change, lag, detail)

    def reached(self, point: Iterate, former: Iterate | None, steps: FloatArray, most: int) -> FloatArray:
        """Return about the frequencies that so many steps ``(rows, 1)`` from a point reach, at most `most`.

        former: where the former leap started, if there was one.
        """
        weight = 0 * steps if former is None else _weight(point.steps, former.steps, steps)
        former = former or point
        end = self._path.followed(
            point.logarithms, point.change, point.lag + weight * (point.lag - former.lag), steps, most
        )
        if self._cells is None:
            result = np.exp(np.clip(end, math.log(LEAST), FARTHEST))
            return result / result.sum(axis=1, keepdims=True)
        start, first = point.frequencies, point.logarithms
        if point.detail is not None and former.detail is not None:
            detail = point.detail - former.detail
            detail *= weight
            detail += point.detail
            detail *= steps
            start = start * _factors(detail)
            first = _logarithms(self._cells.sums(start))
        result = self._cells.spread(_factors(end - first))
        result *= start
        result /= result.sum(axis=1, keepdims=True)
        return result


def _weight(at: int, before: int, steps: FloatArray) -> FloatArray:
    """Return what times its difference to the former one a change is more on average in so many steps ``(rows, 1)``.

    For what is the sum of a constant and of something that falls as one over the number of steps.
    """
    ahead = np.maximum(steps / at, 1e-9)
    return (ahead - np.log1p(ahead)) / ahead / (at / before - 1)


def _logarithms(values: FloatArray) -> FloatArray:
    result = np.maximum(values, LEAST)
    return np.log(result, out=result)


def _factors(logarithms: FloatArray) -> FloatArray:
    """Return the factors with these logarithms, in their place."""
    np.clip(logarithms, -RANGE, RANGE, out=logarithms)
    return np.exp(logarithms, out=logarithms)
