"""Populations for ordered domains: the posterior of a few heights that pieces of the domain share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray
from simulator.methods.smooth import normalised
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import Posterior, gaussian_variance

BLOCKS = 256  # domains are compared on no more blocks of neighbours than this: with 512, populations are no nearer
NUMBERS = (2, 3, 4)  # of heights; the evidence weighs the choices
MOST = max(NUMBERS)
CANDIDATES = 200  # chains to begin with, for each number of heights
STEPS = 14  # of Gibbs sampling, of those that are likely
TEMPER = 2.0  # of the weights by which chains and numbers of heights are chosen
EMPTY = 0.3  # how often a height that may as well be 0 is 0


@dataclass(frozen=True)
class _Chains:
    """Chains, each a row: which heights there are, and how often they change along the domain."""

    heights: FloatArray  # ``(rows, MOST)``
    present: NDArray[np.bool_]  # ``(rows, MOST)``: whether there is such a height
    jump: FloatArray  # ``(rows,)``: probability that a place takes a height afresh, and not its neighbour's
    shares: FloatArray  # ``(rows, MOST)``: probability of each height then

    def at(self, rows: IntArray) -> _Chains:
        """Return some of the chains."""
        return _Chains(self.heights[rows], self.present[rows], self.jump[rows], self.shares[rows])


def level_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations whose categories have two to four heights, mostly the same as their neighbour.

    A box on a flat ground has the same ground on both sides. With free heights, a level splits in two within the
    uncertainty of the noise, and methods that merge equal frequencies look worse than they are. A hidden Markov chain
    along the domain, drawn by Gibbs sampling with forward filtering and backward sampling (Scott, "Bayesian methods for
    hidden Markov models", 2002); the evidence is the highest likelihood met, less half the logarithm of the number of
    places for each free number (Schwarz, "Estimating the dimension of a model", 1978).
    """
    k = len(estimate)
    ends = np.linspace(0, k, min(k, BLOCKS) + 1).round().astype(np.int64)
    sizes = np.diff(ends).astype(np.float64)
    seen = np.add.reduceat(estimate, ends[:-1]) / sizes
    variance = np.add.reduceat(gaussian_variance(np.maximum(estimate, 1 / k), noise), ends[:-1]) / sizes**2
    chains = _likely(seen, variance, draws, rng)
    best = np.full(len(NUMBERS), -np.inf)
    for _ in range(STEPS):
        logs, filtered = _filter(chains, seen, variance)
        best = np.maximum(best, logs.reshape(len(NUMBERS), draws).max(axis=1))
        states, fresh = _sampled_states(chains, filtered, rng)
        chains = _sampled_chains(chains, states, fresh, seen, variance, rng)
    equal = noise.mean_variance(k)
    flat = float(((seen - 1 / k) ** 2 * sizes / equal + np.log(equal / sizes)).sum()) / 2
    evidence = best + flat - np.array(NUMBERS) * math.log(len(sizes))
    weights = normalised(np.repeat(evidence / TEMPER, draws))
    chosen = rng.choice(len(weights), size=draws, p=weights)
    populations = np.take_along_axis(chains.heights, states, axis=1)[chosen]
    mean = float(np.log(np.exp(evidence - evidence.max()).mean()) + evidence.max())
    return Posterior(np.repeat(populations, np.diff(ends), axis=1), mean)


def _likely(seen: FloatArray, variance: FloatArray, draws: int, rng: np.random.Generator) -> _Chains:
    """Return as many chains for each number of heights as there are draws, likely ones of random candidates."""
    places, rows = len(seen), CANDIDATES * len(NUMBERS)
    present = np.arange(MOST) < np.repeat(NUMBERS, CANDIDATES)[:, None]
    heights = np.maximum(np.quantile(seen, rng.random((rows, MOST))), 0.0)
    heights += 0.2 * math.sqrt(float(np.median(variance))) * np.abs(rng.standard_normal((rows, MOST)))
    shares = rng.standard_exponential((rows, MOST)) * present
    jump = (1 + (places - 1) * rng.random(rows) ** 2) / places
    candidates = _Chains(heights, present, jump, shares / shares.sum(axis=1, keepdims=True))
    logs, _ = _filter(candidates, seen, variance)
    blocks = np.split(np.arange(rows), len(NUMBERS))
    chosen = [rng.choice(block, size=draws, p=normalised(logs[block] / TEMPER)) for block in blocks]
    return candidates.at(np.concatenate(chosen))


def _filter(chains: _Chains, seen: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log-likelihood of each chain, and of each place the odds of its height given those up to it.

    The odds are ``(places, rows, MOST)``; of log-likelihoods, the constant of the Gaussian is omitted.
    """
    distance = (seen[:, None, None] - chains.heights) ** 2 / (2 * variance[:, None, None])
    distance[:, ~chains.present] = np.inf
    nearest = distance.min(axis=2, keepdims=True)
    likelihoods = np.exp(nearest - distance)
    afresh, stay = chains.jump[:, None] * chains.shares, 1 - chains.jump[:, None]
    filtered = np.empty_like(likelihoods)
    totals = np.empty(likelihoods.shape[:2])
    expected = chains.shares
    for likely, odds, total in zip(likelihoods, filtered, totals, strict=True):
        np.multiply(expected, likely, out=odds)
        np.add.reduce(odds, axis=1, out=total)
        odds /= total[:, None] + 1e-300
        expected = stay * odds
        expected += afresh
    logs = np.log(totals + 1e-300).sum(axis=0) - nearest[:, :, 0].sum(axis=0) - np.log(variance).sum() / 2
    return logs, filtered


def _sampled_states(
    chains: _Chains, filtered: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Draw the height of each place ``(rows, places)``, and whether it was drawn anew."""
    places, rows, _ = filtered.shape
    first = MOST * np.arange(rows)  # where the heights of each row begin, row after row
    states, fresh = np.empty((places, rows), dtype=np.int64), np.ones((rows, places), dtype=np.bool_)
    uniform = rng.random((2, places, rows))
    afresh, stay = chains.jump[:, None] * chains.shares, 1 - chains.jump
    odds = filtered[-1]
    for place in range(places - 1, -1, -1):
        sums = np.add.accumulate(odds, axis=1)
        state = np.add.reduce(sums <= uniform[0, place, :, None] * sums[:, -1:], axis=1, out=states[place])
        np.minimum(state, MOST - 1, out=state)
        if place:
            before, chosen = filtered[place - 1], first + state
            odds = before * afresh.take(chosen)[:, None]
            odds.reshape(-1)[chosen] += before.take(chosen) * stay
    states = states.T
    same = states[:, 1:] == states[:, :-1]
    again = np.take_along_axis(afresh, states[:, 1:], axis=1)
    fresh[:, 1:] = ~same | (uniform[1, 1:].T * (again + 1 - chains.jump[:, None]) < again)
    return states, fresh


def _sampled_chains(
    chains: _Chains,
    states: IntArray,
    fresh: NDArray[np.bool_],
    seen: FloatArray,
    variance: FloatArray,
    rng: np.random.Generator,
) -> _Chains:
    """Draw heights, how often they change and their shares, given which height each place has."""
    places = len(seen)
    has = states[:, :, None] == np.arange(MOST)
    precision = (has / variance[:, None]).sum(axis=1)
    force = (has * (seen / variance)[:, None]).sum(axis=1)
    used = precision > 0
    mean = np.divide(force, precision, out=chains.heights.copy(), where=used)
    sd = np.where(used, 1 / np.sqrt(np.where(used, precision, 1.0)), EMPTY * chains.heights)
    heights = np.abs(mean + sd * rng.standard_normal(mean.shape))
    heights = np.where((mean < sd) & (rng.random(mean.shape) < EMPTY), 0.0, heights)
    jumps = fresh[:, 1:].sum(axis=1)
    jump = np.clip(rng.beta(0.5 + jumps, places - 0.5 - jumps), EMPTY / places, 0.9)
    shares = rng.standard_gamma(1.0 + (has & fresh[:, :, None]).sum(axis=1)) * chains.present
    return replace(chains, heights=heights, jump=jump, shares=shares / shares.sum(axis=1, keepdims=True))
