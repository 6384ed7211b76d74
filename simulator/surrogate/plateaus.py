"""Populations for ordered domains: the posterior of plateaus, flat pieces of any height with jumps between them."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import Posterior, gaussian_variance

BLOCKS = 512  # domains are compared on no more blocks of neighbours than this
PIECES = (1.0, 4.0, 16.0, 64.0, 256.0)  # numbers of jumps to expect; the evidence weighs the choices
SPREADS = (0.3, 1.0, 4.0, 16.0, 64.0)  # sd of a height around equal frequencies, in equal frequencies
FAR = 6.0  # sd below 0 from which a Gaussian's tail above 0 has no use of its own
EMPTY = 0.2  # share of plateaus that hold nobody


def plateau_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations that are constant between jumps.

    Boxes, steps, single peaks on a flat ground and clusters among nobody are all of this kind. Jumps come with one
    probability at every place, heights one by one from a wide mixture of 0 and of Gaussians cut off at 0. The posterior
    over all places of jumps is exact (Fearnhead, "Exact and efficient Bayesian inference for multiple changepoint
    problems", 2006).
    """
    k = len(estimate)
    ends = np.linspace(0, k, min(k, BLOCKS) + 1).round().astype(np.int64)
    sizes = np.diff(ends).astype(np.float64)
    places = len(sizes)
    seen = np.add.reduceat(estimate, ends[:-1])
    variance = np.add.reduceat(gaussian_variance(estimate, noise), ends[:-1])
    segments = _Segments(seen, variance, sizes / k)
    jumps = np.unique(np.minimum(np.array(PIECES) / places, 0.5))
    log_odds, log_none = np.log(jumps / (1 - jumps)), (places - 1) * np.log1p(-jumps)
    sums = np.zeros((places + 1, len(jumps)))  # log of the summed likelihoods of all ways to cut what is before a place
    sums[0] = -log_odds
    for end in range(1, places + 1):
        logs = sums[:end] + log_odds + segments.logs[:end, end, None]
        top = logs.max(axis=0)
        sums[end] = top + np.log(np.exp(logs - top).sum(axis=0))
    likelihoods = sums[-1] + log_none
    weights = np.exp(likelihoods - likelihoods.max())
    rows = np.zeros((draws, places))
    for row, chosen in zip(rows, rng.choice(len(jumps), size=draws, p=weights / weights.sum()), strict=True):
        end = places
        while end:
            logs = sums[:end, chosen] + segments.logs[:end, end]
            odd = np.cumsum(np.exp(logs - logs.max()))
            start = int(np.searchsorted(odd, rng.random() * odd[-1], side="right"))
            row[start:end] = segments.height(start, end, rng) * sizes[start:end]
            end = start
    populations = np.repeat(rows / sizes, np.diff(ends), axis=1) / k
    # High estimates have more noise than they would as one of equal frequencies, which evidence is relative to.
    equal = sizes * (noise.variance_at_zero + noise.variance_slope / k)
    wider = (seen - sizes / k) ** 2 / 2 * (1 / equal - 1 / variance) - np.log(variance / equal) / 2
    return Posterior(populations, float(np.log(weights.mean()) + likelihoods.max() + wider.sum()))


class _Segments:
    """How likely every piece of an estimate is at one height, over how likely it is at equal frequencies."""

    def __init__(self, estimate: FloatArray, variance: FloatArray, share: FloatArray) -> None:
        # With height h, in equal frequencies, a block's estimate is around h times its share: the log-likelihood over
        # that of h = 1 is ``(h - 1) force - (h - 1)^2 precision / 2``, sums over the piece.
        self.force = np.concatenate([[0.0], np.cumsum(share * (estimate - share) / variance)])
        self.precision = np.concatenate([[0.0], np.cumsum(share**2 / variance)])
        force = self.force[None, :] - self.force[:, None]
        precision = np.maximum(self.precision[None, :] - self.precision[:, None], 0.0)
        self.logs = np.logaddexp.reduce(self._components(force, precision), axis=0)

    @staticmethod
    def _components(force: FloatArray, precision: FloatArray) -> FloatArray:
        """Return the log-likelihood of each kind of height, with its prior, ``(kinds, ...)``."""
        from scipy.special import log_ndtr  # imported when used

        kinds = [np.log(EMPTY) - force - precision / 2]
        for spread in SPREADS:
            total = precision + spread**-2
            above = log_ndtr((1 + force / total) * np.sqrt(total)) - log_ndtr(1 / spread)
            kinds.append(
                np.log((1 - EMPTY) / len(SPREADS)) - np.log(spread**2 * total) / 2 + force**2 / (2 * total) + above
            )
        return np.stack(kinds)

    def height(self, start: int, end: int, rng: np.random.Generator) -> float:
        """Draw the height of a piece, in equal frequencies."""
        from scipy.special import ndtr, ndtri  # imported when used

        force, precision = self.force[end] - self.force[start], self.precision[end] - self.precision[start]
        logs = self._components(np.array(force), np.array(precision))
        odd = np.cumsum(np.exp(logs - logs.max()))
        kind = int(np.searchsorted(odd, rng.random() * odd[-1], side="right"))
        if kind == 0:
            return 0.0
        total = precision + SPREADS[kind - 1] ** -2
        mean, sd = 1 + force / total, total**-0.5
        if mean < -FAR * sd:  # what is left above 0 is as good as exponential
            return float(rng.standard_exponential() * sd**2 / -mean)
        return float(max(mean - sd * ndtri(ndtr(mean / sd) * rng.random()), 0.0))
