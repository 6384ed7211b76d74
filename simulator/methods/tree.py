"""Shrinkage from the root down: of each difference between two halves, as far as its noise and its level suggest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.empirical_bayes import sigmoid
from simulator.methods.observed import Observed
from simulator.protocols.dyadic import differences, divided, nodes_at

SCALES = np.array([0.0, 0.02, 0.05, 0.12, 0.3, 1.0])  # prior sd around the expected value, as shares of a node's mass
STEPS = 25
ZEROS, ENOUGH = 3.0, 32.0  # pseudo-count of 0 differences for a prior of 32 nodes; fewer for fewer nodes
ALIKE = 2.0  # pseudo-count of differences like those of the coarser level
INTERPOLATED = 1 / 8  # of the difference of the neighbours' masses: exact where a density is quadratic
EVIDENCE = 2.0  # log-likelihood that all levels must gain over equal frequencies to be believed half
ALIGNED = 4  # levels of more nodes than this are shifted
AT_ONCE = 32768  # numbers of a block of rows that stay in the cache together
HALF = 0.5  # pseudo-count of each component where weights are drawn (Jeffreys)
ROUNDS = 6  # of drawing weights and components in turn
LEAST = 1e-300
FARTHEST = 1e15  # of anything, in noise sd: the square of it still is a single-precision number
FAINTEST = np.float32(1e-30)  # least likelihood of a difference, relative to the likeliest component


def tree_eb(observed: Observed) -> FloatArray:
    """Return frequencies ``(..., k)`` from the root of a tree down, by posterior means of each node's difference.

    The difference of the halves of a node lies between minus and plus its mass. The prior of a level is a mixture of 0,
    of the value that the masses of both neighbours suggest (average interpolation; Donoho, "Smooth wavelet
    decompositions with blocky coefficient kernels", 1993), exactly or with an sd of 0.02 to 1 times that mass, and of
    all mass on one side; at the root all weights but the last are even, below those of a level are fitted by EM, drawn
    to 0 and to those of the level above. The noise is that of the Haar differences that the covariance states: trees of
    levels and oracles of the leaves are served alike. On all but the coarsest levels, the difference at a node comes
    from all shifts of the tree instead: there, any two adjacent blocks of equal length, of the estimate and its mirror
    image, are the halves of a node, with the prior of the level. A block has the mean mass of the two nodes that it is
    a half of. Where all levels together gain hardly any likelihood over equal frequencies, the two answers are averaged
    in proportion to their likelihoods. Non-negative with sum 1 by construction.
    """
    estimate, covariance = observed.raw, observed.covariance
    assert covariance is not None  # noqa: S101 - every estimate has one
    k = estimate.shape[-1]
    rows, variances = estimate.reshape(-1, k), covariance.haar(k)
    noise = shifted_variances(k, variances)
    step = max(1, AT_ONCE // k)
    blocks = [_frequencies(rows[start : start + step], variances, noise) for start in range(0, len(rows), step)]
    return np.concatenate([rows[:0], *blocks]).reshape(estimate.shape)


def drawn_trees(observed: Observed, draws: int, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Return frequencies ``(draws, k)`` from the posterior of a tree without shifts, and the gain of its fit.

    As `tree_eb`, with weights of components drawn instead of fitted: an estimate with hardly any information leaves
    them open, and a fit makes it even. The gain is the log-likelihood over that of equal frequencies (nats).
    """
    estimate, covariance = observed.raw, observed.covariance
    assert covariance is not None  # noqa: S101 - every estimate has one
    variances = covariance.haar(estimate.shape[-1])
    gain = float(_fitted(estimate[None, :], variances).gain[0, 0])
    drawn = np.maximum(_fitted(np.tile(estimate, (draws, 1)), variances, rng).frequencies, 0.0)  # below 0 by rounding
    return drawn / drawn.sum(axis=1, keepdims=True), gain


def _frequencies(rows: FloatArray, variances: tuple[FloatArray, ...], noise: FloatArray) -> FloatArray:
    k = rows.shape[1]
    fit = _fitted(rows, variances)
    shifted = differences(_shifted(rows, fit, noise))
    result = np.ones((len(rows), 1))
    for height, detail in reversed(list(enumerate(differences(fit.frequencies)))):
        if nodes_at(k, height + 1) > ALIGNED:
            detail = shifted[height]
        result = divided(result, np.clip(detail, -result, result), nodes_at(k, height))
    trust = sigmoid(fit.gain - EVIDENCE)
    return trust * result + (1 - trust) / k


@dataclass(frozen=True)
class _Fit:
    weights: list[FloatArray]  # for each level, the finest first, ``(rows, components)``
    frequencies: FloatArray  # ``(rows, k)`` posterior means, or draws
    gain: FloatArray  # ``(rows, 1)`` log-likelihood gained over equal frequencies


def _fitted(rows: FloatArray, variances: tuple[FloatArray, ...], rng: np.random.Generator | None = None) -> _Fit:
    """Fit the weights of all levels from the root down, each given the masses above; draw all that is, given `rng`."""
    k, details = rows.shape[1], differences(rows)
    priors: list[FloatArray] = []
    masses, gain = np.ones((len(rows), 1)), np.zeros((len(rows), 1))
    for height in reversed(range(len(details))):
        both = np.flatnonzero(variances[height])
        # Indexing would lay the result out by batch size, and sums over it would change their digits.
        beyond = np.concatenate([masses[:, :1], masses, masses[:, -1:]], axis=1)
        expected = INTERPOLATED * (beyond[:, :-2] - beyond[:, 2:])
        detail, expected, mass = (each.take(both, axis=1) for each in (details[height], expected, masses))
        level = _Level(detail, expected, mass, variances[height][both])
        weights = level.even() if not priors else level.fitted(priors[-1]) if rng is None else priors[-1]
        means = np.zeros_like(masses)
        if rng is None:
            means[:, both] = level.means(weights)
        else:
            weights, means[:, both] = level.drawn(weights, rng)
        priors.append(weights)
        gain += level.gain(weights)
        masses = divided(masses, means, nodes_at(k, height))
    return _Fit(priors[::-1], masses, gain)


class _Level:
    """Differences ``(rows, m)`` of halves of nodes of given masses, and how likely the components of a prior are.

    `expected` are the differences that the neighbours of the nodes suggest. All is in units of the noise's sd, which
    leaves 1 for its variance; components come before nodes ``(rows, components, m)``, so that arrays are run through
    along the nodes. Likelihoods are kept in single precision, which halves the time: relative to the likeliest
    component they are right to 1e-7 each, and posterior means to 1e-6 of a node's mass.
    """

    def __init__(self, details: FloatArray, expected: FloatArray, masses: FloatArray, variances: FloatArray) -> None:
        self._sd = np.sqrt(variances)
        self._details = np.clip(details / self._sd, -FARTHEST, FARTHEST)
        self._masses = np.minimum(masses / self._sd, FARTHEST)
        self._expected = np.clip(expected / self._sd, -self._masses, self._masses)
        self._beside = self._details - self._expected
        # Density of two Gaussians with weights of a half, around plus the mass and around minus the mass.
        self._side = self._details * self._masses
        prior = np.square(self._masses.astype(np.float32)[:, None] * SCALES.astype(np.float32)[:, None])
        total = prior + np.float32(1)
        self._kept = np.divide(prior, total, out=prior)
        likely = np.empty((len(details), len(SCALES) + 2, details.shape[1]), dtype=np.float32)
        likely[:, 0] = self._details**2
        np.divide((self._beside**2).astype(np.float32)[:, None], total, out=likely[:, 1:-1])
        likely[:, -1] = (np.abs(self._details) - self._masses) ** 2
        likely *= np.float32(-1 / 2)
        # Of the Gaussians the widest is the likeliest so far out that it matters.
        self._top = np.maximum(likely[:, -2], likely[:, -1])
        likely -= self._top[:, None]
        np.exp(likely, out=likely)
        likely[:, 1:-1] /= np.sqrt(total, out=total)
        likely[:, -1] *= (1 + np.exp(-2 * np.abs(self._side))) / 2
        self._likely = likely

    def even(self) -> FloatArray:
        """Return even weights ``(rows, components)``, but for all mass on one side: nothing suggests it yet."""
        rows, components, _ = self._likely.shape
        weights = np.full((rows, components), 1 / (components - 1))
        weights[:, -1] = 0.0
        return weights

    def _mixed(self, weights: FloatArray) -> FloatArray:
        return np.maximum((weights.astype(np.float32)[:, None] @ self._likely)[:, 0], FAINTEST)

    def fitted(self, coarser: FloatArray) -> FloatArray:
        """Return the weights ``(rows, components)`` after some EM steps, given those of the coarser level."""
        weights, pseudo = np.full_like(coarser, 1 / coarser.shape[1]), self._pseudo_counts(coarser)
        for _ in range(STEPS):
            weights = weights * (self._likely @ (1 / self._mixed(weights))[..., None])[..., 0] + pseudo
            weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def _pseudo_counts(self, coarser: FloatArray) -> FloatArray:
        pseudo = ALIKE * coarser
        pseudo[:, 0] += ZEROS * min(1.0, self._details.shape[1] / ENOUGH)
        return pseudo

    def drawn(self, coarser: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return weights ``(rows, components)`` and differences ``(rows, m)`` from their posterior (Gibbs sampling)."""
        pseudo, last = self._pseudo_counts(coarser) + HALF, self._likely.shape[1] - 1
        weights = rng.standard_gamma(pseudo)
        for _ in range(ROUNDS):
            running = np.cumsum(weights[:, :, None] * self._likely, axis=1)
            chosen = (running < rng.random(self._side.shape)[:, None] * running[:, -1:]).sum(axis=1)
            counts = (chosen[:, None] == np.arange(last + 1)[:, None]).sum(axis=2)
            weights = rng.standard_gamma(pseudo + counts)
        kept = np.take_along_axis(self._kept, np.clip(chosen - 1, 0, last - 2)[:, None], axis=1)[:, 0]
        around = self._expected + kept * self._beside + np.sqrt(kept) * rng.standard_normal(chosen.shape)
        side = np.where(rng.random(chosen.shape) < sigmoid(2 * self._side), self._masses, -self._masses)
        values = np.where(chosen == 0, 0.0, np.where(chosen == last, side, around))
        return weights / weights.sum(axis=1, keepdims=True), np.clip(values, -self._masses, self._masses) * self._sd

    def gain(self, weights: FloatArray) -> FloatArray:
        """Return the log-likelihood ``(rows, 1)`` gained over differences of 0."""
        gained = np.log(self._mixed(weights)) + self._top + self._details**2 / 2
        return gained.sum(axis=1, keepdims=True)

    def means(self, weights: FloatArray) -> FloatArray:
        """Return the posterior means, between minus and plus the mass."""
        own, around = weights.astype(np.float32)[:, None, 1:-1], self._likely[:, 1:-1]
        kept: FloatArray = (own @ (around * self._kept))[:, 0] * self._beside
        kept += (own @ around)[:, 0] * self._expected
        kept += self._likely[:, -1] * weights[:, -1:] * self._masses * np.tanh(self._side)
        kept /= self._mixed(weights)
        return np.clip(kept, -self._masses, self._masses) * self._sd


def _shifted(rows: FloatArray, fit: _Fit, noise: FloatArray) -> FloatArray:
    """Return posterior means ``(rows, k)`` from all shifts of the tree over the estimate and its mirror images.

    Nodes are numbered by their middle, from 0 to k. Beyond an end the estimate is its mirror image. A node has its
    middle half of its length before that of the node whose left half it is, and as far after that of the node whose
    right half it is.
    """
    k = rows.shape[1]
    running, middles = _running(rows), np.arange(k + 1)
    inner = slice(1, k)  # a node whose middle is at an end has two halves alike
    masses = means = np.empty(0)
    for level in reversed(range(len(noise))):
        if nodes_at(k, level + 1) <= ALIGNED:
            continue
        before, after = middles - (1 << level), middles + (1 << level)
        if not masses.size:
            fitted = _running(fit.frequencies)
            masses = _until(fitted, after) - _until(fitted, before)
        else:
            masses = (_mirrored(masses, means, after) + _mirrored(masses, -means, before)) / 4
        details = (2 * running - _until(running, before) - _until(running, after))[:, inner]
        means = np.zeros_like(masses)
        # The neighbours of a node are as long as it is itself.
        expected = INTERPOLATED * (_at(masses, 2 * before - middles) - _at(masses, 2 * after - middles))[:, inner]
        means[:, inner] = _Level(details, expected, masses[:, inner], noise[level]).means(fit.weights[level])
    if not masses.size:
        return fit.frequencies
    result = (masses + means)[:, 1:] + (masses - means)[:, :-1]
    return result / result.sum(axis=1, keepdims=True)


def _running(rows: FloatArray) -> FloatArray:
    """Return running sums ``(rows, k + 1)``, the empty sum first."""
    return np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)


def _until(running: FloatArray, places: IntArray) -> FloatArray:
    """Return running sums ``(rows, k + 1)`` until places between -k and 2k, of the values and their mirror images."""
    k = running.shape[1] - 1
    inside = _at(running, places)
    return np.where(places < 0, -inside, np.where(places > k, 2 * running[:, -1:] - inside, inside))


def _mirrored(masses: FloatArray, means: FloatArray, places: IntArray) -> FloatArray:
    """Return ``masses + means`` at places between -k and 2k, where in a mirror image left is right."""
    k = masses.shape[1] - 1
    turned = (places < 0) | (places > k)
    return _at(masses, places) + np.where(turned, -1.0, 1.0) * _at(means, places)


def _at(masses: FloatArray, places: IntArray) -> FloatArray:
    """Return masses at places between -k and 2k."""
    return masses.take(_reflected(places, masses.shape[1] - 1), axis=1)


def _reflected(places: IntArray, k: int) -> IntArray:
    return np.where(places > k, 2 * k - places, np.abs(places))


def shifted_variances(k: int, variances: tuple[FloatArray, ...]) -> FloatArray:
    """Return the variances ``(levels, k - 1)`` of differences of two blocks of 1, 2, 4, ... that meet at 1 to k - 1.

    Such a difference is that of three running sums, and the estimate of a running sum takes a share of a Haar
    difference at each height: that of the node it cuts. Where k is no power of 2, nearly so.
    """
    scale = float(variances[0][0]) or 1.0
    return np.maximum(scale * _relative(k, tuple((own / scale).tobytes() for own in variances)), LEAST)


@lru_cache(maxsize=8)
def _relative(k: int, variances: tuple[bytes, ...]) -> FloatArray:
    """Return the same for variances as they stand in memory: those of all protocols for categories are proportional."""
    halves = 1 << np.arange(len(variances))[:, None]
    middles = np.arange(1, k)
    ends = np.stack(np.broadcast_arrays(middles - halves, middles, middles + halves))
    signs = np.array([-1.0, 2.0, -1.0])[:, None, None] * np.where((ends < 0) | (ends > k), -1.0, 1.0)
    cuts = _reflected(ends, k)
    result = np.zeros(ends.shape[1:])
    for height, stored in enumerate(variances, start=1):
        own = np.frombuffer(stored)
        node = np.minimum(cuts >> height, len(own) - 1)
        inside = cuts & ((1 << height) - 1)
        shares = signs * np.where(cuts == k, 0.0, np.minimum(inside, (1 << height) - inside)) / (1 << height)
        for one in range(3):
            for other in range(one, 3):
                both = (node[one] == node[other]) * (1.0 if one == other else 2.0)
                result += both * own[node[one]] * shares[one] * shares[other]
    return result
