"""Populations for ordered domains: the posterior of a smooth curve of any form, a Gaussian process."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import Posterior, even_sd

WAVES = 512  # cosines at most; shorter waves are left to the other models
LENGTHS = 14  # numbers of waves that a curve may be made of, from 2 to half of all
AMPLITUDES = np.geomspace(0.1, 1e6, 36)  # variances of the longest waves, over that of their noise


def gaussian_process_posterior(estimate: FloatArray, noise: Noise, draws: int, rng: np.random.Generator) -> Posterior:
    """Draw populations that are a smooth curve, with as many hills as it takes.

    A Gaussian process around equal frequencies (Rasmussen, Williams, "Gaussian processes for machine learning", 2006,
    sections 4.2 and 5.4.1), stationary but for its mirrors at both ends, so that cosines are independent in it. Their
    variances fall as those of one of three processes do: the smoothest (squared exponential), one that has bends
    (Matérn), and one that has edges (Ornstein, Uhlenbeck). Which, how fast and from what height is weighed by
    likelihood; given these, the posterior is exact, where the noise is that of equal frequencies.
    """
    from scipy.fft import dct, idct  # imported when used

    k = len(estimate)
    count = min(k - 1, WAVES)
    sd = even_sd(noise, k)
    seen = dct(estimate - 1 / k, norm="ortho")[1 : 1 + count] / sd
    priors = _priors(count)
    logs = _log_likelihoods(seen, priors)
    weights = np.exp(logs - logs.max())
    chosen = rng.choice(logs.size, size=draws, p=weights.ravel() / weights.sum())
    amplitude, form = np.unravel_index(chosen, logs.shape)
    variance = AMPLITUDES[amplitude, None] * priors[form]
    kept = variance / (1 + variance)
    waves = np.zeros((draws, k))
    waves[:, 1 : 1 + count] = (kept * seen + np.sqrt(kept) * rng.standard_normal((draws, count))) * sd
    return Posterior(1 / k + idct(waves, norm="ortho", axis=1), float(np.log(weights.mean()) + logs.max()))


def _priors(count: int) -> FloatArray:
    """Return the variance of each wave over that of the longest ones, ``(forms, waves)``."""
    lengths = np.geomspace(2, max(count / 2, 2), LENGTHS)
    squares = (np.arange(1, 1 + count) / lengths[:, None]) ** 2
    return np.concatenate([np.exp(-squares / 2), (1 + squares) ** -2.0, 1 / (1 + squares)])


def _log_likelihoods(seen: FloatArray, priors: FloatArray) -> FloatArray:
    """Return how likely waves are for each amplitude and form, ``(amplitudes, forms)``, over no curve at all."""
    logs = np.empty((len(AMPLITUDES), len(priors)))
    for row, amplitude in zip(logs, AMPLITUDES, strict=True):
        variance = amplitude * priors
        row[:] = (seen**2 / 2 * variance / (1 + variance) - np.log1p(variance) / 2).sum(axis=1)
    return logs
