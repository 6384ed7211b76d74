"""Populations behind a tally of a tree, whose noise is that of differences of halves, on a scale for each level."""

from __future__ import annotations

import math

import numpy as np

from simulator._types import FloatArray
from simulator.methods import POSTPROCESSORS, Observed, observe
from simulator.methods.smooth import normalised
from simulator.methods.tree import drawn_trees
from simulator.populations import apportion
from simulator.protocols.dyadic import differences, divided, merged, nodes_at
from simulator.protocols.protocol import Protocol, Tally

CENTRE = "tree_eb"  # the method that the bootstrap is made with
INFORMATIVE = 20.0  # gain of that method over equal frequencies (nats) by which a bootstrap is most of the populations
ROUGH = np.array([0.0, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0])  # departures of categories from a population, in its heights
SMOOTH = 0.1  # prior probability of no departure
TEMPER = 4.0  # the estimate that departures are of was fitted to the same data: log-likelihoods count a quarter


def bootstrap_populations(
    protocol: Protocol, observed: Observed, n: int, *, rng: np.random.Generator, draws: int
) -> FloatArray:
    """Return frequencies ``(draws, k)`` that may have produced the observation of n users; rows sum to 1.

    Most are a parametric bootstrap (Efron, Tibshirani, "An introduction to the bootstrap", 1993, section 6.5): the
    best-founded estimate of ours, and the same estimate of collections that are simulated from it. They are as smooth
    as that estimate is, which favours its method. Where the reports say little it is even, and says that nothing is
    uncertain: there the rest are draws from the posterior. All are made rough: see `roughened`.
    """
    method = POSTPROCESSORS[CENTRE]
    centre = method.apply(observed)
    drawn, gain = drawn_trees(observed, draws, rng)
    again = round(draws * -math.expm1(-max(gain, 0.0) / INFORMATIVE))
    rows = [centre[None, :], drawn[: draws - max(again, 1)]]
    if again > 1:
        users = apportion(centre, n)
        tallies = Tally.stack([protocol.sample_tally(users, rng) for _ in range(again - 1)])
        rows.append(method.apply(observe(protocol, tallies, observed.domain, needs=method.needs)))
    return roughened(rng.permutation(np.concatenate(rows)), centre, observed, rng)


def roughened(populations: FloatArray, centre: FloatArray, observed: Observed, rng: np.random.Generator) -> FloatArray:
    """Return populations ``(draws, k)`` whose categories depart from them independently, as far as the data allow.

    Columns of numbers are rougher than any curve, and noise hides it. How rough they are is drawn by the likelihood of
    the observed differences around the centre ``(k,)``; the departures of each draw are then from their posterior, as
    if differences were independent, whose variance is that of their values together.
    """
    assert observed.covariance is not None  # noqa: S101 - every estimate has one
    variances = [variance[None, :] for variance in observed.covariance.haar(len(centre))]
    details = differences(observed.raw[None, :])
    squares = _squares(centre[None, :])
    gaps = [detail - mean for detail, mean in zip(details, differences(centre[None, :]), strict=True)]
    rough = rng.choice(ROUGH, size=len(populations), p=roughness_weights(gaps, variances, squares))[:, None]
    result = np.ones((len(populations), 1))
    levels = zip(details, differences(populations), variances, _squares(populations), strict=True)
    for height, (detail, own, variance, square) in reversed(list(enumerate(levels))):
        departure = rough**2 * square
        share = np.divide(departure, departure + variance, out=np.zeros_like(own), where=variance > 0)
        drawn = own + share * (detail - own) + np.sqrt(share * variance) * rng.standard_normal(own.shape)
        result = divided(result, np.clip(drawn, -result, result), nodes_at(populations.shape[1], height))
    result = np.maximum(result, 0.0)  # below 0 by rounding
    return result / result.sum(axis=1, keepdims=True)


def roughness_weights(gaps: list[FloatArray], variances: list[FloatArray], squares: list[FloatArray]) -> FloatArray:
    """Return the probability of each of `ROUGH`, given how far differences are from those of the centre.

    gaps, variances, squares: for each level ``(1, nodes)``, noise variances (0: no difference), and sums of squared
        frequencies.
    """
    logs = np.log(np.append(SMOOTH, np.full(len(ROUGH) - 1, (1 - SMOOTH) / (len(ROUGH) - 1))))
    for gap, variance, square in zip(gaps, variances, squares, strict=True):
        both = variance[0] > 0
        total = variance[0, both] + ROUGH[:, None] ** 2 * square[0, both]
        logs -= (gap[0, both] ** 2 / total + np.log(total)).sum(axis=1) / 2 / TEMPER
    return normalised(logs)


def _squares(frequencies: FloatArray) -> list[FloatArray]:
    """Return the sums of squared frequencies at each node that has two halves, the lowest level first."""
    result = [merged(frequencies**2)]
    while result[-1].shape[-1] > 1:
        result.append(merged(result[-1]))
    return result
