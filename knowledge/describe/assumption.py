"""The assumed histogram when none is known: a Zipf distribution of some skew, or a named shape."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from knowledge.describe.profile import EXACT_USERS, SKEW_MAX, Profile, profile_of
from simulator._types import FloatArray, IntArray
from simulator.populations import SHAPES, frequencies

SKEW = 1.0
USERS = 100_000
BELL_MIN_BINS, BELL_MAX_SHARE = 0.6, 1.5  # width of a bell: in bins, and as a share of the domain
GAMMA_MIN, GAMMA_MAX = 0.002, 50.0  # concentration of a Dirichlet draw
GAMMA_HALVINGS = 12
LEAST_LOG, LOGS = -700.0, 20_001  # where the logarithms of a gamma variable begin, and how many are added up


def parse_shape(text: str) -> tuple[str, float | None]:
    """Return name and parameter of ``NAME[:PARAM]``; None for the default parameter of the shape.

    Raises ValueError if the name is unknown or the parameter is no number.

    >>> parse_shape("gaussian:0.2")
    ('gaussian', 0.2)
    >>> parse_shape("Zipf-shuffled")
    ('zipf_shuffled', None)
    """
    name, colon, written = text.partition(":")
    key = name.strip().lower().replace("-", "_")
    if key not in SHAPES:
        raise ValueError(f"shape must be one of {', '.join(SHAPES)}, with :PARAMETER behind it if any, got {text!r}")
    if not colon:
        return key, None
    try:
        parameter = float(written)
    except ValueError:
        parameter = math.nan
    if not math.isfinite(parameter):
        raise ValueError(f"shape {key} takes a number after the colon ({SHAPES[key].meaning}), got {written!r}")
    return key, parameter


class AssumedSkew(NamedTuple):
    """A skew between 0 and 8 without further knowledge: it represents several histograms.

    Without an order, for two rank laws: Zipf, and a typical draw from a Dirichlet distribution. With an order, for two
    smooth shapes, Zipf in order and a bell, and for the rank laws in no order: columns of numbers are rougher than any
    curve. Two categories have no bell, as a symmetric shape is exactly even there. All have about the same sum of
    squares, and the first has exactly the skew. Nothing is random.
    """

    k: int
    skew: float = SKEW
    ordered: bool = False

    def profiles(self, n: int) -> tuple[Profile, ...]:
        """Return the histograms, as `n` users hold them."""
        users = min(n, EXACT_USERS * self.k)
        return assumed_profiles(self.k, users, skew=self.skew, ordered=self.ordered)

    def histograms(self, n: int) -> tuple[FloatArray, ...]:
        """Return the frequencies ``(k,)`` of each of them."""
        return tuple(profile.frequencies for profile in self.profiles(n))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the histograms."""
        if not self.ordered:
            return ("Zipf", "Dirichlet")
        return ("Zipf in order", *(("bell",) if self.k > 2 else ()), "Zipf in no order", "Dirichlet in no order")


@lru_cache(maxsize=8)  # the search for changes evaluates a skew under a hundred noises
def assumed_profiles(k: int, n: int = USERS, *, skew: float = SKEW, ordered: bool = False) -> tuple[Profile, ...]:
    """Return the histograms that a skew stands for; see `AssumedSkew`.

    Raises ValueError if `k` is below 2 or the skew is not between 0 and 8.
    """
    if not 0 <= skew <= SKEW_MAX:
        raise ValueError(f"skew must be between 0 and {SKEW_MAX:g}, got skew={skew:g}")
    zipf = frequencies("zipf", k, float(skew))
    concentration = k * float((zipf**2).sum())  # 1 for equal frequencies
    order = patternless(k)
    shapes = [zipf[order], _dirichlet(k, concentration)[order]]
    if ordered:
        width = min(max(1 / (concentration * 2 * math.sqrt(math.pi)), BELL_MIN_BINS / k), BELL_MAX_SHARE)
        bell = [frequencies("gaussian", k, width)] if k > 2 else []
        shapes = [zipf, *bell, *shapes]
    return tuple(profile_of(shape, n) for shape in shapes)


def _dirichlet(k: int, concentration: float) -> FloatArray:
    """Return a typical draw with k times its sum of squares as given, or as near as draws come; by bisection."""
    low, high = math.log(GAMMA_MIN), math.log(GAMMA_MAX)
    for _ in range(GAMMA_HALVINGS):
        middle = (low + high) / 2
        weights = gamma_quantiles(math.exp(middle), k)
        low, high = (low, middle) if k * (weights**2).sum() < concentration * weights.sum() ** 2 else (middle, high)
    return gamma_quantiles(math.exp((low + high) / 2), k)


@lru_cache(maxsize=1)
def patternless(k: int) -> IntArray:
    """Return ``0 .. k - 1`` in a fixed order without a pattern: sorted by SplitMix64 (Steele et al., OOPSLA 2014)."""
    mixed = np.arange(1, k + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")


def gamma_quantiles(shape: float, k: int) -> FloatArray:
    """Return k quantiles of a gamma distribution, of the middles of k equal shares; falling.

    From its density on a logarithmic scale, added up: to half a percent, which is less than anything that counts here.
    """
    logs = np.linspace(LEAST_LOG, math.log(shape + 10 * math.sqrt(shape) + 40), LOGS)
    density = np.exp(shape * logs - np.exp(logs) - math.lgamma(shape))
    below = math.exp(shape * LEAST_LOG - math.lgamma(shape + 1))  # mass below the first
    cumulated = below + np.append(0.0, np.cumsum((density[1:] + density[:-1]) / 2) * (logs[1] - logs[0]))
    shares = (np.arange(k)[::-1] + 0.5) / k
    result: FloatArray = np.exp(np.interp(shares, cumulated / cumulated[-1], logs))
    return result
