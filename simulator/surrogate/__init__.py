"""From an LDP estimate and its known noise to synthetic populations that may have produced it.

Wang et al., "Locally differentially private frequency estimation with consistency", NDSS 2020, Section V-D, choose a
post-processing method by making the estimate consistent (with Norm-Sub), taking the result for the truth, and
simulating from it. A single consistent estimate is sharper or smoother than the truth, and hides the uncertainty; the
ensemble here draws several populations from a posterior instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from simulator._types import FloatArray
from simulator.methods import POSTPROCESSORS, Observed
from simulator.methods.processor import POSTERIOR_MEAN, POSTERIOR_MEDIAN, proper
from simulator.methods.simplex import shares
from simulator.methods.smooth import drawn_curves
from simulator.protocols.oracle import Noise
from simulator.seeding import rng_for
from simulator.surrogate.curves import curve_posterior, rough_curve_posterior
from simulator.surrogate.families import family_posterior
from simulator.surrogate.levels import level_posterior
from simulator.surrogate.mixture import mixture_posterior
from simulator.surrogate.particles import few_populations, share_of_few
from simulator.surrogate.plausibility import by_plausibility
from simulator.surrogate.posterior import resampled
from simulator.surrogate.sample import sample_posterior
from simulator.surrogate.trees import bootstrap_populations
from simulator.surrogate.wavelet import wavelet_posterior

__all__ = [
    "DEFAULT",
    "SURROGATES",
    "bootstrap_populations",
    "curve_populations",
    "drawn_from_models",
    "draws_of",
    "known_frequencies",
    "sample_posterior",
    "surrogate_populations",
]

DRAWS, FEWEST_DRAWS = 240, 16
ALL_DRAWS_DOMAIN = 4096  # above it draws fall as 1/k
FROM_EACH = 60  # draws of each model, no more than are wanted in all
# Prior odds of each model: a distribution fitted to the estimates, a distribution of few parameters; with an order, a
# smooth curve with peaks, curves of few parameters, rough ones, and few heights as well
MODELS = {mixture_posterior: 1.0, family_posterior: 1.0}
ORDERED_MODELS = {
    mixture_posterior: 0.3,
    family_posterior: 1.0,
    wavelet_posterior: 2.0,
    curve_posterior: 2.0,
    rough_curve_posterior: 2.0,
    level_posterior: 2.0,
}
# Odds of equal frequencies, of those of all models together; a histogram that noise hides is hardly ever so even
EVEN, ORDERED_EVEN = 0.3, 0.03
SEEN = 4.0  # sd of the noise above which a frequency stands out of it
FAR = 6.0  # sd of the mean square of the noise, beyond which a draw cannot be behind an estimate, if others can
TEMPER = 8.0  # log-likelihoods of models that are all wrong count as if there were an eighth of the estimates


def _ensemble(estimate: FloatArray, noise: Noise, ordered: bool, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw from the posterior of few categories, of all models by their weights, or of both."""
    few = round(draws * share_of_few(len(estimate)))
    parts = []
    if few:
        parts.append(few_populations(estimate, noise, ordered=ordered, draws=few, rng=rng))
    if few < draws:
        drawn, logs = drawn_from_models(estimate, noise, ordered=ordered, each=min(FROM_EACH, draws), rng=rng)
        if ordered:
            logs = by_plausibility(logs, drawn, estimate, noise)
        misfit = ((drawn - estimate) ** 2 / noise.entry(drawn)).mean(axis=1)
        near = misfit < 1 + FAR * math.sqrt(2 / len(estimate))
        logs = np.where(near | ~near.any(), logs, -np.inf)
        parts.append(drawn[resampled(logs, draws - few, rng)])
    return rng.permutation(np.concatenate(parts))


def drawn_from_models(
    estimate: FloatArray, noise: Noise, *, ordered: bool, each: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return populations from the posteriors of all models, as frequencies, and the logarithms of their weights.

    Models share by their tempered likelihoods. That all frequencies are equal is no model that is a little wrong: it
    counts by its likelihood as it is, and not at all if another model is much likelier.

    each: draws of each model.
    """
    models = ORDERED_MODELS if ordered else MODELS
    posteriors = [model(estimate, noise, each, rng) for model in models]
    odds = [*models.values()]
    evidence = np.array([posterior.evidence for posterior in posteriors])
    logs = evidence / TEMPER + np.log(odds)
    best = max(float(evidence.max()), 0.0)
    even = math.log((ORDERED_EVEN if ordered else EVEN) * sum(odds)) + best / TEMPER - best
    drawn = [*(posterior.populations for posterior in posteriors), np.full((each, len(estimate)), 1 / len(estimate))]
    return _summing_to_one(np.concatenate(drawn), noise.sd), np.repeat([*logs, even], each)


def _summing_to_one(drawn: FloatArray, sd: float) -> FloatArray:
    """Return draws as frequencies: categories hidden by the noise get the missing mass, as far as possible.

    Categories above the noise are known without scaling; scaling them would move them by more than their uncertainty.
    """
    kept = np.maximum(drawn, 0.0)
    seen = kept > SEEN * sd
    clear = np.where(seen, kept, 0.0).sum(axis=1, keepdims=True)
    hidden = kept.sum(axis=1, keepdims=True) - clear
    scale = np.divide(np.maximum(1 - clear, 0.0), hidden, out=np.ones_like(hidden), where=hidden > 0)
    return shares(np.where(seen, kept, scale * kept))


@dataclass(frozen=True)
class Surrogate:
    """A way from an estimate to populations: draws (`DEFAULT`), or the result of the method of this name."""

    title: str
    ordered_only: bool = False  # whether it uses the order of the categories


DEFAULT = "ensemble"
SURROGATES = {
    DEFAULT: Surrogate("draws from what is known of the frequencies"),
    "norm_sub": Surrogate("the estimate made consistent by Norm-Sub, as in the source"),
    "power_ns": Surrogate("the estimate made consistent by PowerNS"),
    "eb_ns": Surrogate("the estimate made consistent by empirical Bayes"),
    "wavelet_eb": Surrogate("the estimate made consistent by wavelets", ordered_only=True),
}


def draws_of(k: int) -> int:
    """Return how many populations are drawn from an estimate of k categories.

    >>> draws_of(1024), draws_of(40_000)
    (240, 24)
    """
    return DRAWS if k <= ALL_DRAWS_DOMAIN else max(FEWEST_DRAWS, DRAWS * ALL_DRAWS_DOMAIN // k)


def known_frequencies(estimate: FloatArray, noise: Noise, *, ordered: bool, seed: int) -> FloatArray:
    """Return `surrogate_populations` of the usual surrogate and number of draws; the last ones drawn are kept."""
    return _drawn(np.asarray(estimate, dtype=np.float64).tobytes(), noise, ordered, seed)


@lru_cache(maxsize=2)  # the mean, the median and their evaluation use the same draws
def _drawn(estimate: bytes, noise: Noise, ordered: bool, seed: int) -> FloatArray:
    raw = np.frombuffer(estimate)
    result = surrogate_populations(
        DEFAULT, raw, noise, ordered=ordered, rng=rng_for(seed, "surrogate", DEFAULT), draws=draws_of(len(raw))
    )
    result.flags.writeable = False
    return result


def mean_of(draws: FloatArray) -> FloatArray:
    """Return the mean ``(k,)`` of draws ``(draws, k)`` that sum to 1: no other result has less expected squared error.

    Nor less expected Kullback-Leibler divergence.
    """
    return draws.mean(axis=0)


def median_of(draws: FloatArray) -> FloatArray:
    """Return the median of each frequency ``(k,)``, divided by their sum; the mean where all medians are 0.

    Of all shapes that may be there, the mean has a little of each; the median has the features of most of them.
    """
    middle = np.median(draws, axis=0)
    return middle / middle.sum() if middle.any() else mean_of(draws)


def _summarised(name: str, summary: Callable[[FloatArray], FloatArray], observed: Observed) -> FloatArray:
    """Return a summary ``(..., k)`` of populations that may have produced the estimates, drawn with seed 0.

    Drawing takes from some hundredths of a second to a few seconds for each estimate.

    Raises ValueError if there is no estimate.
    """
    if observed.estimate is None:
        raise ValueError(f"{name} needs an estimate, and there is none")
    rows, ordered = observed.estimate.reshape(-1, observed.estimate.shape[-1]), observed.domain.ordered
    summaries = [summary(known_frequencies(row, observed.noise, ordered=ordered, seed=0)) for row in rows]
    return np.reshape(summaries, observed.estimate.shape)


METHODS = {
    name: proper(name, title, partial(_summarised, name, summary), reference="this project", keeps_order=False)
    for name, title, summary in (
        (POSTERIOR_MEAN, "Posterior mean", mean_of),
        (POSTERIOR_MEDIAN, "Posterior median", median_of),
    )
}
"""The summaries as methods, by name."""


def surrogate_populations(
    name: str, estimate: FloatArray, noise: Noise, *, ordered: bool, rng: np.random.Generator, draws: int = DRAWS
) -> FloatArray:
    """Return synthetic true frequencies ``(draws, k)`` (a single row for a consistent estimate); rows sum to 1.

    name: a member of `SURROGATES`.
    estimate: ``(k,)`` raw frequency estimates, as the protocol gave them: negative ones included.
    noise: the noise in them.
    ordered: whether the categories have an order.
    draws: populations to draw; some may be drawn several times.

    Raises ValueError if the name is unknown, the surrogate needs an order and there is none, or the estimate is not
    ``(k,)`` finite numbers.
    """
    if name not in SURROGATES:
        raise ValueError(f"surrogate must be one of {', '.join(SURROGATES)}, got {name!r}")
    if SURROGATES[name].ordered_only and not ordered:
        raise ValueError(f"surrogate {name} needs an ordered domain")
    raw = np.asarray(estimate, dtype=np.float64)
    if raw.ndim != 1 or len(raw) < 2 or not np.isfinite(raw).all():
        raise ValueError(f"an estimate must be at least 2 finite numbers (k,), got shape {raw.shape}")
    if name == DEFAULT:
        return shares(np.maximum(_ensemble(raw, noise, ordered, draws, rng), 0.0))
    return shares(POSTPROCESSORS[name](raw[None, :], noise))


def curve_populations(observed: Observed, *, rng: np.random.Generator, draws: int) -> FloatArray:
    """Return the same where there is no estimate but a likelihood: `drawn_curves`.

    Raises ValueError if there is none.
    """
    if observed.likelihood is None or observed.tally is None:
        raise ValueError("curves need a likelihood and a tally, and there is none")
    return drawn_curves(observed.likelihood, np.asarray(observed.tally.counts, dtype=np.float64), draws, rng)
