"""EM stopped early: it begins at a smooth curve, and goes on only as far as the tally asks it to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.expectation import LEAST, Climb, in_blocks, squared
from simulator.methods.observed import Observed
from simulator.protocols.protocol import Likelihood

CELL = 5.0  # values of a cell at most, of the line on which the pilot steps are made
WINDOW = 48  # cells at least that a report may come from: fewer know too little of its edges
PILOT_STEPS = 16  # of EM from equal frequencies, where the curve begins
# Waves over the places, and over places stretched where the mass is: for each prior its order, and how many waves.
EVEN = ((2, 24),)
STRETCHED = ((1, 48), (2, 32))
MASS = 0.8  # how far places are stretched: the share of the mass in the distance between neighbours
PILOT_CELLS, CELLS = 96, 192  # of the line; smaller domains have a cell per value
POINTS = np.array([[0.0], [0.5], [1.0]])  # of a cell, through which a parabola runs
PRECISIONS = np.exp(np.arange(-14.0, 9.0))  # of the first wave: which, is weighed by likelihood
ROUNDS, MOVE = 4, 0.1  # of Newton's, and the root mean square change of the logarithm that ends them
MOST_MOVE = 3.0  # largest change of a logarithm in one round
OUT = 0.05  # share of the weight below which a prior is let go
FOLLOWED = 50  # rounds of EM that follow at most


def em_stopped(observed: Observed) -> FloatArray:
    """Return frequencies ``(..., k)`` from accelerated EM that begins at a smooth curve and is stopped early.

    The curve is about the posterior mean where the logarithm of the density is a sum of cosines whose coefficients fall
    with their number, or with its square: a random walk, and a random walk that is summed again. The cosines run over
    the places, or over places that are stretched where a few steps of EM have their mass, so that spikes and edges may
    be sharp. The roughness and weight of each prior are set for each row by its marginal likelihood, by Laplace's
    method in every Newton step (Gu, "Cross-validating non-Gaussian data", J. Comput. Graph. Statist. 1992, for this
    order of things). Cosines are approximated by parabolas, with a parabola in each cell of the stretched line.

    EM goes on from there until the score is no larger than it would be on average if the frequencies were the truth.
    A last step goes from the curve to the users that were drawn from it.
    """
    return in_blocks(observed, _stopped)


def smooth_curve(likelihood: Likelihood, counts: IntArray) -> FloatArray:
    """Return only the curve ``(k,)``, given counts of the outputs ``(outputs,)``, starting from equal frequencies.

    As in `em_stopped`, without the EM steps that fit the rest after the curve. It is above 0 everywhere.
    """
    row, even = _Row(likelihood, counts.astype(np.float64)), _even(likelihood)
    logarithm, _ = _fitted(row, even, row.approached(np.zeros(likelihood.shape[0]), even))
    return np.maximum(normalised(logarithm), LEAST)


def drawn_curves(likelihood: Likelihood, counts: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw frequencies ``(draws, k)`` that may have produced a tally, given counts of the outputs ``(outputs,)``.

    From the posterior of the curve, by Laplace's method: a prior and a precision in proportion to their marginal
    likelihood, then coefficients. EM continues from each draw as in `em_stopped`, so that all draws have features that
    no curve can express.
    """
    climb = Climb(likelihood, counts[None, :])
    row = _Row(likelihood, climb.counts[0])
    logarithm, basis = _fitted(row, _even(likelihood), _begun(climb)[0])
    posteriors = row._posteriors(logarithm, normalised(logarithm), basis)
    likely = np.stack([posterior.likely for posterior in posteriors])
    chosen = rng.choice(likely.size, size=draws, p=normalised(likely).ravel())
    curves = []
    for prior, precision in zip(*np.unravel_index(chosen, likely.shape), strict=True):
        posterior = posteriors[prior]
        coefficients = np.zeros(basis.parabolas.shape[2])
        coefficients[posterior.prior.waves] = posterior.drawn(int(precision), rng)
        curves.append(normalised(basis.curve(coefficients)))
    return _followed(Climb(likelihood, np.repeat(climb.counts, draws, axis=0)), np.stack(curves))


class LineCells:
    """A line of places cut into cells of equal size around its middle; the first and last cell take the rest.

    size: places of a cell. Where it is no whole number, two cells share a place.
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
        """Return values of places ``(rows, places)`` by linear interpolation of those of cells ``(rows, cells)``."""
        result = np.diff(values, axis=1).take(self._before, axis=1)
        result *= self._beyond
        result += values.take(self._before, axis=1)
        return result


class _Prior(NamedTuple):
    """Prior of coefficients that fall with a power of their number, for a range of waves."""

    order: int
    number: int
    first: int

    @property
    def waves(self) -> slice:
        return slice(self.first, self.first + self.number)


@dataclass(frozen=True, eq=False)
class _Basis:
    """Waves over the values, and the priors on their coefficients.

    The values lie in cells of a stretched line. In a cell each wave is a parabola: sums over its values that are
    weighted by the powers of their places are all that it takes.
    """

    parabolas: FloatArray  # their coefficients ``(3, cells, waves)``
    powers: FloatArray  # 0 to 2 of where a value is in its cell, from -1 to 1 ``(3, k)``
    cell: IntArray  # of each value ``(k,)``
    starts: IntArray  # the first value of each cell
    forward: Callable[[FloatArray], FloatArray]  # from sums in cells to outputs: see `Likelihood.in_cells`
    lengths: IntArray  # for how many outputs each of these stands
    priors: tuple[_Prior, ...]

    @classmethod
    def over(cls, likelihood: Likelihood, ends: FloatArray, cells: int) -> _Basis:
        """Return it for values that end at places ``(k,)`` of a line from 0 to 1, no nearer than ``(1 - MASS) / k``."""
        k = len(ends)
        if k <= cells:
            cells = math.ceil(k / (1 - MASS))
        places = (ends - np.diff(ends, prepend=0.0) / 2) * cells
        cell = np.minimum(places.astype(np.int64), cells - 1)
        begins = np.diff(cell, prepend=-1) > 0
        starts = np.flatnonzero(begins)
        used = cell[starts]
        powers = np.stack([np.ones(k), 2 * (places - cell) - 1, np.empty(k)])
        np.square(powers[1], out=powers[2])
        even, stretched = (min(max(number for _, number in orders), k - 1) for orders in (EVEN, STRETCHED))
        points = np.interp(((used + POINTS) / cells).ravel(), np.append(0.0, ends), np.arange(k + 1) / k)
        parabolas = np.concatenate([_parabolas(points, even), _even_parabolas(cells, stretched)[:, used]], axis=2)
        lines = ((0, EVEN), (even, STRETCHED))
        priors = tuple(_Prior(order, min(most, k - 1), first) for first, orders in lines for order, most in orders)
        forward, lengths = likelihood.in_cells(np.append(starts, k))
        return cls(parabolas, powers, np.cumsum(begins) - 1, starts, forward, lengths, priors)

    def of(self, priors: tuple[_Prior, ...]) -> _Basis:
        """Return the same for some of the priors, without the waves before and after theirs."""
        if priors == self.priors:
            return self
        first, end = min(prior.first for prior in priors), max(prior.waves.stop for prior in priors)
        shifted = tuple(prior._replace(first=prior.first - first) for prior in priors)
        return replace(self, parabolas=np.ascontiguousarray(self.parabolas[..., first:end]), priors=shifted)

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sums in each cell ``(3, cells)`` of weights ``(k,)`` times the powers of the places."""
        return np.add.reduceat(self.powers * weights, self.starts, axis=1)

    def curve(self, coefficients: FloatArray) -> FloatArray:
        """Return the sum of the waves with such coefficients at each value ``(k,)``."""
        logarithms = (self.parabolas @ coefficients).take(self.cell, axis=1)
        logarithms *= self.powers
        return logarithms.sum(axis=0)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Posterior under a given prior: for each precision the mean, and the probability of that precision."""

    prior: _Prior
    directions: FloatArray  # columns: coefficients ``(waves, waves)``
    along: FloatArray  # the means in these directions ``(precisions, waves)``
    sums: FloatArray  # 1 / variance of the waves ``(precisions, waves)``
    likely: FloatArray  # log marginal likelihood ``(precisions,)``, up to a constant common to all posteriors

    @classmethod
    def of(cls, prior: _Prior, information: FloatArray, slope: FloatArray) -> _Posterior:
        """Return it where the log-likelihood is of second order in the coefficients of all waves."""
        band, sd = prior.waves, np.arange(1.0, prior.number + 1) ** -prior.order
        values, vectors = np.linalg.eigh(sd[:, None] * information[band, band] * sd)
        turned = (sd * slope[band]) @ vectors
        sums = np.maximum(values, 0.0) + PRECISIONS[:, None]
        along = turned / sums
        likely = (along @ turned - np.log(sums / PRECISIONS[:, None]).sum(axis=1)) / 2
        return cls(prior, sd[:, None] * vectors, along, sums, likely)

    def mean(self, weights: FloatArray) -> FloatArray:
        """Return the mean coefficients of the prior's waves over precisions, times the sum of their weights."""
        return self.directions @ (weights @ self.along)

    def drawn(self, precision: int, rng: np.random.Generator) -> FloatArray:
        """Draw coefficients of the prior's waves under a random precision."""
        noise = rng.standard_normal(self.along.shape[1]) / np.sqrt(self.sums[precision])
        return self.directions @ (self.along[precision] + noise)


@dataclass(frozen=True, eq=False)
class _Row:
    """A tally ``(outputs,)``, and Newton steps towards the posterior of a logarithm ``(k,)``."""

    likelihood: Likelihood
    counts: FloatArray

    def approached(self, logarithm: FloatArray, basis: _Basis, rounds: int = ROUNDS) -> FloatArray:
        """Return a logarithm after the given number of steps, or earlier when a step is small."""
        for _ in range(rounds):
            frequencies = normalised(logarithm)
            posteriors = self._posteriors(logarithm, frequencies, basis)
            weights = normalised(np.array([one.likely for one in posteriors]))
            coefficients = np.zeros(basis.parabolas.shape[2])
            for posterior, weight in zip(posteriors, weights, strict=True):
                coefficients[posterior.prior.waves] += posterior.mean(weight)
            change = basis.curve(coefficients) - logarithm
            change -= frequencies @ change
            logarithm = logarithm + min(1.0, MOST_MOVE / max(float(np.abs(change).max()), LEAST)) * change
            if math.sqrt(float(frequencies @ change**2)) < MOVE:
                break
            shares = weights.sum(axis=1)
            basis = basis.of(tuple(one for one, share in zip(basis.priors, shares, strict=True) if share > OUT))
        return logarithm

    def _posteriors(self, logarithm: FloatArray, frequencies: FloatArray, basis: _Basis) -> list[_Posterior]:
        """Approximate the log-likelihood to second order here: then all posteriors have a closed form.

        The slope is exact, the information that of frequencies that are even within cells.
        """
        users, parabolas = self.counts.sum(), basis.parabolas
        score = self.likelihood.backward(self.counts / (self.likelihood.forward(frequencies) + LEAST)) - users
        score *= frequencies
        masses, *moments = basis.sums(frequencies)
        # Of each cell its mass, and how the mass changes with the logarithm, and with each coefficient.
        sums = np.empty((len(masses), 2 + parabolas.shape[2]))
        sums[:, 0] = masses
        sums[:, 1] = np.add.reduceat(frequencies * (logarithm - frequencies @ logarithm), basis.starts)
        waves = np.multiply(parabolas[0], masses[:, None], out=sums[:, 2:])
        for parts, moment in zip(parabolas[1:], moments, strict=True):
            waves += parts * moment[:, None]
        waves -= np.outer(masses, waves.sum(axis=0))
        outputs = basis.forward(sums)
        seen = outputs[:, 1:]
        seen *= np.sqrt(users * basis.lengths / (outputs[:, 0] + LEAST))[:, None]
        products = seen.T @ seen
        slope = products[0, 1:] + basis.sums(score).ravel() @ parabolas.reshape(-1, parabolas.shape[2])
        return [_Posterior.of(prior, products[1:, 1:], slope) for prior in basis.priors]


def _stopped(climb: Climb) -> FloatArray:
    even, starts = _even(climb.likelihood), zip(climb.counts, _begun(climb), strict=True)
    curves = [normalised(_fitted(_Row(climb.likelihood, counts), even, start)[0]) for counts, start in starts]
    return climb.step(_followed(climb, np.stack(curves)))[0]


def _even(likelihood: Likelihood) -> _Basis:
    """Return only the waves over the unstretched places."""
    k = likelihood.shape[0]
    basis = _Basis.over(likelihood, np.arange(1, k + 1) / k, PILOT_CELLS)
    return basis.of(basis.priors[: len(EVEN)])


def _begun(climb: Climb) -> FloatArray:
    """Return the logarithms ``(rows, k)`` after some steps of EM, on cells if the likelihood has a coarser form."""
    (k, outputs), coarser = climb.likelihood.shape, climb.likelihood.coarser(CELL, WINDOW)
    if coarser is not None:
        (cells, groups), counts = coarser.shape, climb.counts
        climb = Climb(coarser, LineCells(outputs, groups, k / cells).sums(counts))
    number = climb.likelihood.shape[0]
    current = np.full((len(climb.counts), number), 1 / number)
    for _ in range(PILOT_STEPS):
        current = climb.step(current)[0]
    logarithms = np.log(current + LEAST)
    return logarithms if coarser is None else LineCells(k, number, k / number).spread(logarithms)


def _fitted(row: _Row, even: _Basis, start: FloatArray) -> tuple[FloatArray, _Basis]:
    """Return the logarithm of the curve ``(k,)``, and the waves that it is made of."""
    pilot = row.approached(start, even, 1)
    ends = np.cumsum(MASS * normalised(pilot) + (1 - MASS) / len(start))
    basis = _Basis.over(row.likelihood, ends, CELLS)
    return row.approached(pilot, basis), basis


@lru_cache(maxsize=16)
def _even_parabolas(cells: int, number: int) -> FloatArray:
    """Return those of cosines that run over the line itself ``(3, cells, number)``."""
    return _parabolas(((np.arange(cells) + POINTS) / cells).ravel(), number)


def _parabolas(points: FloatArray, number: int) -> FloatArray:
    """Return the parabolas through cosines at the starts, middles and ends of cells, in sequence ``(3 cells,)``.

    Their coefficients ``(3, cells, number)`` are those of the powers of the place in a cell, from -1 to 1.
    """
    start, middle, end = cosines(points, number).reshape(number, 3, -1).transpose(1, 2, 0)
    return np.stack([middle, (end - start) / 2, (start + end) / 2 - middle])


def _followed(climb: Climb, current: FloatArray) -> FloatArray:
    """Go on by accelerated EM while the score is larger than on average if the frequencies were the truth."""
    result, rows = current.copy(), np.arange(len(current))
    for _ in range(FOLLOWED):
        going = np.flatnonzero(excess(climb, current) > 0)
        rows, climb, current = rows[going], climb.of(going), current[going]
        if not len(rows):
            break
        following, likely = climb.step(current)
        current = squared(climb, current, following, likely)
        result[rows] = current
    return result


def excess(climb: Climb, frequencies: FloatArray) -> FloatArray:
    """Return by how much the squares of the score exceed their mean under frequencies ``(rows, k)``: ``(rows,)``.

    The score of a value is the relative change that a step of EM makes to its frequency; the squares are weighted by
    the frequencies and divided by those of a single user.
    """
    users = climb.counts.sum(axis=1)
    likely = climb.likelihood.forward(frequencies) + LEAST
    score = climb.likelihood.backward(climb.counts / likely) / users[:, None] - 1
    expected = climb.likelihood.backward_squares(1 / likely) - 1
    return (frequencies * (users[:, None] * score**2 - expected)).sum(axis=1)


def cosines(places: FloatArray, number: int) -> FloatArray:
    """Return ``sqrt(2) cos(pi j x)`` for j = 1 … number at places ``(k,)``: ``(number, k)``.

    Of the numbers up to j come those up to 2j: 2 cos a cos b = cos(a + b) + cos(a - b).
    """
    table = np.empty((number + 1, len(places)))
    table[0], table[1] = 1.0, np.cos(np.pi * places)
    done = 1
    while done < number:
        more = min(done, number - done)
        table[done + 1 : done + more + 1] = 2 * table[done] * table[1 : more + 1] - table[done - more : done][::-1]
        done += more
    table *= math.sqrt(2)
    return table[1:]


def normalised(logarithm: FloatArray) -> FloatArray:
    """Return frequencies, or other shares of 1, with these logarithms but for a constant."""
    result = np.exp(logarithm - logarithm.max())
    return result / result.sum()
