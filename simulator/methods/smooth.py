"""EM stopped early: it begins at a smooth curve, and goes on only as far as the tally asks it to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.expectation import Climb, in_blocks, squared
from simulator.methods.leaps import LEAST
from simulator.methods.observed import Observed
from simulator.protocols.protocol import Likelihood

PILOT_STEPS = 16  # of EM from equal frequencies, where the curve begins
# Waves over the places, and over places stretched where the mass is: for each prior its order, and how many waves.
EVEN = ((2, 24),)
STRETCHED = ((1, 48), (2, 32))
MASS = 0.8  # how far places are stretched: the share of the mass in the distance between neighbours
PILOT_CELLS, CELLS = 96, 192  # of about the same distance, which the information takes to be even
PRECISIONS = np.exp(np.arange(-14.0, 9.0))  # of the first wave: which, is weighed by likelihood
ROUNDS, MOVE = 4, 0.1  # of Newton's, and the root mean square change of the logarithm that ends them
MOST_MOVE = 3.0  # largest change of a logarithm in one round
OUT = 0.05  # share of the weight below which a prior is let go
FOLLOWED = 50  # rounds of EM that follow at most

Prior: TypeAlias = tuple[int, int]
# Where cells begin, and what `Likelihood.in_cells` says of them.
_Cells: TypeAlias = tuple[IntArray, Callable[[FloatArray], FloatArray], IntArray]


def em_stopped(observed: Observed) -> FloatArray:
    """Return frequencies ``(..., k)`` from accelerated EM that begins at a smooth curve and is stopped early.

    The curve is about the posterior mean where the logarithm of the density is a sum of cosines whose coefficients
    fall with their number, or with its square: a random walk, and one that is summed once more. The cosines run over
    the places, or over places that are stretched where a few steps of EM have their mass, so that spikes and edges may
    be sharp. How rough each may be, and how much each counts, is decided for each row by its marginal likelihood, by
    Laplace's method in every Newton step (Gu, "Cross-validating non-Gaussian data", J. Comput. Graph. Statist. 1992,
    for this order of things).

    EM goes on from there until the score is no larger than it would be on average if the frequencies were the truth.
    A last step goes from the curve to the users that were drawn from it.
    """
    return in_blocks(observed, _stopped)


def smooth_curve(likelihood: Likelihood, counts: IntArray) -> FloatArray:
    """Return the curve ``(k,)`` alone, given how often each output was seen ``(outputs,)``, from even frequencies on.

    As `em_stopped` says, without the EM that follows what such curves cannot say. It is above 0 everywhere.
    """
    k, row = likelihood.shape[0], _Row(likelihood, counts.astype(np.float64))
    places = (np.arange(k) + 0.5) / k
    even = _Basis.over(places, EVEN)
    begun = row.approached(np.zeros(k), (even,), _edges(np.ones(k), PILOT_CELLS))
    return np.maximum(_curve(row, places, even, begun), LEAST)


@dataclass(frozen=True, eq=False)
class _Basis:
    """Cosines ``(waves, k)``, and the priors on their coefficients."""

    waves: FloatArray
    priors: tuple[Prior, ...]

    @classmethod
    def over(cls, places: FloatArray, priors: tuple[Prior, ...]) -> _Basis:
        """Return it for places ``(k,)`` in 0 … 1."""
        most = len(places) - 1
        own = tuple((order, min(number, most)) for order, number in priors)
        return cls(cosines(places, max(number for _, number in own)), own)

    def of(self, priors: tuple[Prior, ...]) -> _Basis:
        """Return the same for some of the priors."""
        return _Basis(self.waves[: max(number for _, number in priors)], priors)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """What a tally says of one prior: for each precision the mean, and how likely that precision is."""

    basis: _Basis
    prior: Prior
    directions: FloatArray  # columns: coefficients ``(waves, waves)``
    along: FloatArray  # the means in these directions ``(precisions, waves)``
    likely: FloatArray  # log marginal likelihood ``(precisions,)``, but for what all posteriors have in common

    @classmethod
    def of(cls, basis: _Basis, prior: Prior, information: FloatArray, slope: FloatArray) -> _Posterior:
        """Return it where the log-likelihood is of second order in the coefficients of the basis."""
        order, number = prior
        sd = np.arange(1.0, number + 1) ** -order
        values, vectors = np.linalg.eigh(sd[:, None] * information[:number, :number] * sd)
        turned = (sd * slope[:number]) @ vectors
        sums = np.maximum(values, 0.0) + PRECISIONS[:, None]
        along = turned / sums
        likely = (along @ turned - np.log(sums / PRECISIONS[:, None]).sum(axis=1)) / 2
        return cls(basis, prior, sd[:, None] * vectors, along, likely)

    def mean(self, weights: FloatArray) -> FloatArray:
        """Return the mean logarithm ``(k,)`` over precisions, times the sum of their weights."""
        result: FloatArray = (self.directions @ (weights @ self.along)) @ self.basis.waves[: self.prior[1]]
        return result


@dataclass(frozen=True, eq=False)
class _Row:
    """One tally ``(outputs,)``, and Newton steps towards the posterior of a logarithm ``(k,)``."""

    likelihood: Likelihood
    counts: FloatArray

    def approached(
        self, logarithm: FloatArray, bases: tuple[_Basis, ...], edges: IntArray, rounds: int = ROUNDS
    ) -> FloatArray:
        """Return a logarithm after so many steps, or fewer where one is small.

        Frequencies count as even between the edges ``(cells + 1,)`` of cells, as far as the information goes.
        """
        cells = edges[:-1], *self.likelihood.in_cells(edges)
        for _ in range(rounds):
            frequencies = normalised(logarithm)
            posteriors = self._posteriors(logarithm, frequencies, bases, cells)
            likely = np.array([one.likely for one in posteriors])
            weights = np.exp(likely - likely.max())
            weights /= weights.sum()
            change = sum(one.mean(own) for one, own in zip(posteriors, weights, strict=True)) - logarithm
            change -= frequencies @ change
            logarithm = logarithm + min(1.0, MOST_MOVE / max(float(np.abs(change).max()), LEAST)) * change
            if math.sqrt(float(frequencies @ change**2)) < MOVE:
                break
            count = {
                (id(one.basis), one.prior) for one, own in zip(posteriors, weights, strict=True) if own.sum() > OUT
            }
            left = ((one, tuple(prior for prior in one.priors if (id(one), prior) in count)) for one in bases)
            bases = tuple(basis.of(priors) for basis, priors in left if priors)
        return logarithm

    def _posteriors(
        self, logarithm: FloatArray, frequencies: FloatArray, bases: tuple[_Basis, ...], cells: _Cells
    ) -> list[_Posterior]:
        """Take the log-likelihood for its second order here: then all posteriors are known.

        The slope is exact, the information that of cells.
        """
        users = self.counts.sum()
        score = self.likelihood.backward(self.counts / (self.likelihood.forward(frequencies) + LEAST)) - users
        score *= frequencies
        starts, forward, lengths = cells
        sums = np.add.reduceat(np.stack([frequencies, frequencies * logarithm], axis=1), starts)
        likely, turned = forward(sums).T
        likely = likely + LEAST
        scale = np.sqrt(users * lengths / likely)
        shown = (turned - sums[:, 1].sum() * likely) * scale
        result = []
        for basis in bases:
            waves = np.ascontiguousarray(np.add.reduceat(basis.waves * frequencies, starts, axis=1).T)
            seen = forward(waves)
            seen -= np.outer(likely, waves.sum(axis=0))
            seen *= scale[:, None]
            information, slope = seen.T @ seen, shown @ seen + basis.waves @ score
            result += [_Posterior.of(basis, prior, information, slope) for prior in basis.priors]
        return result


def _stopped(climb: Climb) -> FloatArray:
    k = climb.likelihood.shape[0]
    places = (np.arange(k) + 0.5) / k
    even, current = _Basis.over(places, EVEN), np.full((len(climb.counts), k), 1 / k)
    for _ in range(PILOT_STEPS):
        current = climb.step(current)[0]
    curves = [
        _curve(_Row(climb.likelihood, counts), places, even, start)
        for counts, start in zip(climb.counts, np.log(current + LEAST), strict=True)
    ]
    return climb.step(_followed(climb, np.stack(curves)))[0]


def _curve(row: _Row, places: FloatArray, even: _Basis, start: FloatArray) -> FloatArray:
    """Return frequencies ``(k,)``."""
    pilot = row.approached(start, (even,), _edges(np.ones_like(places), PILOT_CELLS), 1)
    distances = MASS * normalised(pilot) + (1 - MASS) / len(places)
    stretched = _Basis.over(np.cumsum(distances) - distances / 2, STRETCHED)
    return normalised(row.approached(pilot, (even, stretched), _edges(distances, CELLS)))


def _edges(distances: FloatArray, cells: int) -> IntArray:
    """Return the edges of at most so many cells of at least one value each, about the same distance each."""
    ends = np.cumsum(distances)
    inner = np.searchsorted(ends, ends[-1] * np.arange(1, cells) / cells) + 1
    edges = np.concatenate([[0], np.minimum(inner, len(ends)), [len(ends)]])  # in order: np.unique would take longer
    return edges[np.diff(edges, prepend=-1) > 0]


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
    the frequencies and counted in units of one user's.
    """
    users = climb.counts.sum(axis=1)
    likely = climb.likelihood.forward(frequencies) + LEAST
    score = climb.likelihood.backward(climb.counts / likely) / users[:, None] - 1
    expected = climb.likelihood.backward_squares(1 / likely) - 1
    result: FloatArray = (frequencies * (users[:, None] * score**2 - expected)).sum(axis=1)
    return result


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
    """Return frequencies ``(k,)`` with these logarithms, but for a constant."""
    result = np.exp(logarithm - logarithm.max())
    return result / result.sum()
