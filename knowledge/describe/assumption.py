"""The histogram that is assumed when none is known: a Zipf distribution of some skew, or a named shape."""

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
NARROWEST, WIDEST = 0.6, 1.5  # of a bell: in bins, and as a share of the domain
LEAST_GAMMA, MOST_GAMMA = 0.02, 50.0  # concentration of a Dirichlet draw
LEAST_LOG, LOGS = -700.0, 20_001  # where the logarithms of a gamma variable begin, and how many are added up


def parse_shape(text: str) -> tuple[str, float | None]:
    """Return name and parameter of ``NAME[:PARAM]``; None for the shape's own parameter.

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
    """A skew between 0 and 8 of which nothing else is known: it stands for several histograms; see `assumed_profiles`.

    Two categories have no bell: what is symmetric is exactly even there, and has no skew.
    """

    k: int
    skew: float = SKEW

    def profiles(self, n: int) -> tuple[Profile, ...]:
        """Return the histograms, as `n` users hold them."""
        return _profiles(self, min(n, EXACT_USERS * self.k))

    def histograms(self, n: int) -> tuple[FloatArray, ...]:
        """Return the frequencies ``(k,)`` of each of them."""
        zipf = frequencies("zipf", self.k, float(self.skew))
        return tuple(one / one.sum() for one in (zipf, *_others(zipf, self.profiles(n)[0])))

    @property
    def shapes(self) -> str:
        """How many histograms there are, and what they are called."""
        number, bell = ("four", ", a bell") if has_bell(self.k) else ("three", "")
        return f"{number} shapes of this skew are averaged: Zipf in order and without{bell}, a typical Dirichlet draw"


@lru_cache(maxsize=8)  # what would change an answer is looked up for one skew under a hundred noises
def _profiles(of: AssumedSkew, n: int) -> tuple[Profile, ...]:
    return assumed_profiles(of.k, n, skew=of.skew)


def assumed_profiles(k: int, n: int = USERS, *, skew: float = SKEW) -> tuple[Profile, ...]:
    """Return histograms of one skew, when nothing else is known: averaging over them is safer than any one.

    Zipf in order, the same without order, a bell (of more than two categories), and a typical draw from a Dirichlet
    distribution, the last two with about the same sum of squares. The first has exactly the skew. Nothing is random.

    Raises ValueError if `k` is below 2 or the skew is not between 0 and 8.
    """
    if not 0 <= skew <= SKEW_MAX:
        raise ValueError(f"skew must be between 0 and {SKEW_MAX:g}, got skew={skew:g}")
    zipf = frequencies("zipf", k, float(skew))
    first = profile_of(zipf, n)
    return first, *(profile_of(one, n) for one in _others(zipf, first))


def has_bell(k: int) -> bool:
    """Tell whether a bell in the middle of a domain is skewed at all."""
    return k > 2


def _others(zipf: FloatArray, first: Profile) -> tuple[FloatArray, ...]:
    """Return the other histograms ``(k,)`` that go with a Zipf distribution and its profile."""
    k = first.k
    concentration = 1 / first.participation  # k times the sum of squares: 1 for equal frequencies
    width = min(max(1 / (concentration * 2 * math.sqrt(math.pi)), NARROWEST / k), WIDEST)
    gamma = min(max(1 / max(concentration - 1, 1e-2), LEAST_GAMMA), MOST_GAMMA)
    order = patternless(k)
    bell = (frequencies("gaussian", k, width),) if has_bell(k) else ()
    return zipf[order], *bell, gamma_quantiles(gamma, k)[order]


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
