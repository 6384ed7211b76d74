"""From an LDP estimate and its known noise to synthetic populations that may be behind it.

Wang et al., "Locally differentially private frequency estimation with consistency", NDSS 2020, Section V-D, choose a
post-processing method by making the estimate consistent (with Norm-Sub), taking the result for the truth, and
simulating from it. One consistent estimate is too sharp or too smooth to be the truth, and hides how little is known;
the ensemble here draws several populations from a posterior instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from simulator._types import FloatArray
from simulator.methods import POSTPROCESSORS
from simulator.protocols.oracle import Noise
from simulator.surrogate.bootstrap import bootstrap_populations, curve_populations
from simulator.surrogate.curves import curve_posterior, rough_curve_posterior
from simulator.surrogate.gaussian_process import gaussian_process_posterior
from simulator.surrogate.levels import level_posterior
from simulator.surrogate.mixture import mixture_posterior
from simulator.surrogate.plateaus import plateau_posterior
from simulator.surrogate.plausibility import by_plausibility
from simulator.surrogate.posterior import Posterior, resampled
from simulator.surrogate.sample import sample_posterior
from simulator.surrogate.spreads import spread_posterior
from simulator.surrogate.wavelet import order_evidence, wavelet_posterior

__all__ = [
    "DEFAULT",
    "DRAWS",
    "SURROGATES",
    "Posterior",
    "Surrogate",
    "bootstrap_populations",
    "curve_populations",
    "drawn_from_models",
    "draws_of",
    "sample_posterior",
    "surrogate_populations",
]

DRAWS, FEWEST_DRAWS = 60, 8
ALL_DRAWS_DOMAIN = 4096  # above it draws fall as 1/k
FROM_EACH = 40  # draws of each model, no more than are wanted in all
# Of free frequencies, a distribution of few parameters, a curve with peaks, a curve of few parameters, a rough one,
# plateaus, plateaus that share few heights, and a smooth curve of any form
PRIOR_ODDS = np.array([0.3, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0, 1.0])
# Where the order shows nothing, odds of the distribution of few parameters; they go back by a factor e per so many nats
WITHOUT_ORDER, ORDER_NATS = 4.0, 4.0
TEMPER = 8.0  # log-likelihoods of models that are all wrong count as if there were an eighth of the estimates


@dataclass(frozen=True)
class Surrogate:
    """A way from an estimate to populations."""

    # name, title: key in the table, and what it does in words
    name: str
    title: str
    # ``function(estimate (k,), noise, ordered, draws, rng) -> (draws or 1, k)``
    function: Callable[[FloatArray, Noise, bool, int, np.random.Generator], FloatArray]
    _: KW_ONLY
    reference: str  # where it comes from
    ordered_only: bool = False  # whether it uses the order of the categories


def _consistent(method: str) -> Callable[[FloatArray, Noise, bool, int, np.random.Generator], FloatArray]:
    """Return the surrogate that is the result of a post-processing method."""

    def surrogate(
        estimate: FloatArray, noise: Noise, ordered: bool, draws: int, rng: np.random.Generator
    ) -> FloatArray:
        del ordered, draws, rng
        return POSTPROCESSORS[method](estimate[None, :], noise)

    return surrogate


def _ensemble(estimate: FloatArray, noise: Noise, ordered: bool, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw from the posteriors of all models, and of these draws again by what they count."""
    drawn, logs = drawn_from_models(estimate, noise, ordered=ordered, each=min(FROM_EACH, draws), rng=rng)
    if ordered:
        logs = by_plausibility(logs, drawn, estimate, noise)
    return drawn[resampled(logs, draws, rng)]


def drawn_from_models(
    estimate: FloatArray, noise: Noise, *, ordered: bool, each: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return populations from the posteriors of all models, as frequencies, and the logarithms of what each counts.

    Models share by their tempered likelihoods; six of them need an order. The less the estimate shows of one, the
    more counts the distribution of few parameters, which has none.

    each: draws of each model.
    """
    models = [mixture_posterior, spread_posterior]
    if ordered:
        models += [wavelet_posterior, curve_posterior, rough_curve_posterior, plateau_posterior, level_posterior]
        models += [gaussian_process_posterior]
    found = [model(estimate, noise, each, rng) for model in models]
    odds = PRIOR_ODDS[: len(found)].copy()
    if ordered:
        odds[1] += (WITHOUT_ORDER - odds[1]) * np.exp(-order_evidence(estimate, noise, rng) / ORDER_NATS)
    logs = np.array([one.evidence for one in found]) / TEMPER + np.log(odds)
    return _frequencies(np.concatenate([one.populations for one in found])), np.repeat(logs, each)


def _frequencies(drawn: FloatArray) -> FloatArray:
    """Return draws without negative values, divided by their sums."""
    kept = np.maximum(drawn, 0.0)
    totals = kept.sum(axis=1, keepdims=True)
    return np.divide(kept, totals, out=np.full_like(kept, 1 / kept.shape[1]), where=totals > 0)


_WANG = "Wang et al., NDSS 2020, Section V-D"
_ALL = [
    Surrogate("ensemble", "posterior draws of eight models of frequencies", _ensemble, reference="this project"),
    Surrogate("norm_sub", "the estimate made consistent by Norm-Sub", _consistent("norm_sub"), reference=_WANG),
    Surrogate("power_ns", "the estimate made consistent by PowerNS", _consistent("power_ns"), reference="this project"),
    Surrogate(
        "eb_ns", "the estimate made consistent by empirical Bayes", _consistent("eb_ns"), reference="this project"
    ),
    Surrogate(
        "wavelet_eb",
        "the estimate made consistent by wavelets",
        _consistent("wavelet_eb"),
        reference="this project",
        ordered_only=True,
    ),
]

SURROGATES: dict[str, Surrogate] = {surrogate.name: surrogate for surrogate in _ALL}
DEFAULT = "ensemble"


def draws_of(k: int) -> int:
    """Return how many populations are drawn from an estimate of k categories.

    >>> draws_of(1024), draws_of(40_000)
    (60, 8)
    """
    return DRAWS if k <= ALL_DRAWS_DOMAIN else max(FEWEST_DRAWS, DRAWS * ALL_DRAWS_DOMAIN // k)


def surrogate_populations(
    name: str,
    estimate: FloatArray,
    noise: Noise,
    *,
    ordered: bool,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> FloatArray:
    """Return synthetic true frequencies ``(draws, k)`` (one row for a consistent estimate); rows sum to 1.

    name: one of `SURROGATES`.
    estimate: ``(k,)`` raw frequency estimates, as the protocol gave them: negative ones included.
    noise: the noise in them.
    ordered: whether the categories have an order.
    draws: populations to draw; some may be drawn several times.

    Raises ValueError if the name is unknown, the surrogate needs an order and there is none, or the estimate is not
    ``(k,)`` finite numbers.
    """
    if name not in SURROGATES:
        raise ValueError(f"surrogate must be one of {', '.join(SURROGATES)}, got {name!r}")
    surrogate = SURROGATES[name]
    if surrogate.ordered_only and not ordered:
        raise ValueError(f"surrogate {name} needs an ordered domain")
    raw = np.asarray(estimate, dtype=np.float64)
    if raw.ndim != 1 or len(raw) < 2 or not np.isfinite(raw).all():
        raise ValueError(f"an estimate must be at least 2 finite numbers (k,), got shape {raw.shape}")
    return _frequencies(surrogate.function(raw, noise, ordered, draws, rng))
