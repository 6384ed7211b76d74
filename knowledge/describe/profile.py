"""The profile of a histogram: all that its description under any noise needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from knowledge.describe.haar import haar_squares, mean_squares_by_depth, residual_squares, shifted_haar, squares_above
from knowledge.describe.log_density import Smoothness, smoothness_of
from simulator._types import FloatArray, IntArray
from simulator.metrics import TOP_SHARE
from simulator.populations import apportion

FULL = 256  # maximum number of values; larger domains are grouped
FEW, ATOMS = 64, 16  # values that are enough to find a level, and to find a Bayes risk
DETAILS = 64  # maximum number of wavelet coefficients per level
SINGLY = 64  # domains up to this size are processed category by category along the order; larger domains in blocks
BLOCKS, BINS = 256, 48  # stretches of a large domain, and bins of frequency in each
LEAST_BIN = 1e-6  # of the largest frequency: all lower frequencies share a bin
PLACES, TOP_PLACES = 256, 64  # number of places for the wavelet coefficients above them
HEAD = 1024  # terms of a sum over ranks that are added up; the rest is integrated
RANK_LOGS = np.log(np.arange(1, HEAD + 1, dtype=np.float64))
EXACT_USERS = 100  # users per category from which rounding to whole users is ignored
SKEW_MAX = 8.0
TINY = 1e-12


class Groups(NamedTuple):
    """Values in falling order: mean and variance of each group, and how many values it has, each ``(G,)``."""

    means: FloatArray
    sizes: FloatArray
    variances: FloatArray


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays, whose comparison is not a single truth value
class Profile:
    """A histogram, prepared for any number of noise settings."""

    k: int  # domain size
    frequencies: FloatArray  # ``(k,)``
    skew: float  # Zipf-equivalent exponent; see `zipf_skew`
    entropy_gap: float  # ln k less the entropy (nats): 0 for equal frequencies
    participation: float  # ``1 / (k sum f^2)``: share of the domain that is effectively in use
    zeros: float  # share of categories that do not occur
    top: float  # largest frequency
    neighbours: float  # correlation of neighbours along the order
    variation: float  # half the sum of absolute differences of neighbours (frequency)
    displacement: float  # earth mover's distance to equal frequencies, as a share of the domain
    # values, few, atoms: frequencies in falling order, in at most 256, 64 and 16 groups
    values: Groups
    few: Groups
    atoms: Groups
    levels: Groups  # the same in at most 16 groups whose values differ most
    distinct: float  # how many of the frequencies are different
    points: FloatArray  # frequencies ``(V,)`` that the categories of a block have
    # Categories of each block with each of these frequencies ``(B, V)``; None where every category is a block
    counts: FloatArray | None
    ends: FloatArray  # number of categories up to the end of each block ``(B,)``
    cumulated: FloatArray  # frequency up to the end of each block ``(B,)``
    details: Groups  # squared coefficients of the Haar transform, finest level first
    finest: int  # how many of these groups are of the finest level
    # The same for the differences after average interpolation from the neighbours of each node
    residuals: Groups
    depths: FloatArray  # mean squared coefficient of the finest level, and of three thirds of the others ``(4,)``
    # How many of the places of `paths` are spread evenly over the domain; the others are those of top values
    spread_places: int
    place_values: FloatArray  # frequencies at these places
    paths: FloatArray  # squared coefficients above each place, ``(places, levels)``
    # Mean squared coefficient of each level of the Haar transform at every shift, mirrored at the ends
    energies: FloatArray
    parts: FloatArray  # contribution of each of these levels to the values at the same places ``(places, levels)``

    @cached_property
    def smoothness(self) -> Smoothness:
        """How smooth the logarithm of the density is; asked for on ordered domains only."""
        return smoothness_of(self.frequencies)


def profile_of(weights: FloatArray | IntArray, n: int | None = None) -> Profile:
    """Prepare a histogram ``(k,)`` of weights; with fewer than `n` = 100 users per category, as whole users hold it.

    Raises ValueError if there are fewer than 2 categories, or the weights are not at least 0 with a positive sum.
    """
    raw = np.asarray(weights, dtype=np.float64)
    total = float(raw.sum())
    if raw.ndim != 1 or len(raw) < 2 or not (math.isfinite(total) and total > 0 and raw.min() >= 0):
        raise ValueError("a histogram needs at least 2 categories, none below 0 and some above")
    k = len(raw)
    f = raw / total
    if n is not None and n < EXACT_USERS * k:
        f = apportion(f, n) / n
    falling = -np.sort(-f)
    occurring = falling[falling > 0]
    centred = f - 1 / k
    spread = float((centred**2).sum())
    values = _grouped(falling, FULL)
    haar = haar_squares(f)
    top = _top(f, falling, max(1, round(TOP_SHARE * k)))
    points, counts, ends = _blocks(f)
    spread_places = _spaced(k, PLACES)
    places = np.append(spread_places, top[_spaced(len(top), TOP_PLACES)])
    energies, parts = shifted_haar(f, places)
    return Profile(
        k=k,
        frequencies=f,
        skew=zipf_skew(f),
        entropy_gap=max(0.0, math.log(k) + float((occurring * np.log(occurring)).sum())),
        participation=1 / (k * float((f**2).sum())),
        zeros=1 - len(occurring) / k,
        top=float(falling[0]),
        neighbours=float((centred[1:] * centred[:-1]).sum()) / spread if spread > TINY**2 else 1.0,
        variation=float(np.abs(np.diff(f)).sum()) / 2,
        displacement=float(np.abs(np.cumsum(centred)).sum()) / k,
        values=values,
        few=_grouped(falling, FEW),
        atoms=_grouped(falling, ATOMS),
        levels=_clustered(values, ATOMS),
        distinct=1.0 + np.count_nonzero(np.diff(falling)),
        points=points,
        counts=counts,
        ends=ends,
        cumulated=np.cumsum(f)[ends.astype(np.int64) - 1],
        details=_grouped_levels(haar),
        finest=min(len(haar[0]), DETAILS),
        residuals=_grouped_levels(residual_squares(f)),
        depths=mean_squares_by_depth(haar),
        spread_places=len(spread_places),
        place_values=f[places],
        paths=squares_above(haar, places),
        energies=energies,
        parts=parts,
    )


def zipf_skew(frequencies: FloatArray) -> float:
    """Return the exponent s of the Zipf distribution ``x^-s`` on the same domain with the same sum of squares.

    0 for equal frequencies; at most 8.

    >>> round(zipf_skew(np.array([6.0, 3.0, 2.0])), 3)
    1.0
    """
    k = len(frequencies)
    f = frequencies / frequencies.sum()
    target = float((f**2).sum())
    low, high = 0.0, SKEW_MAX
    for _ in range(30):
        s = (low + high) / 2
        low, high = (s, high) if rank_sum(k, 2 * s) / rank_sum(k, s) ** 2 < target else (low, s)
    return (low + high) / 2


def rank_sum(k: int, power: float) -> float:
    """Return the sum of ``x^-power`` over x = 1..k; beyond the first 1024 by the midpoint rule."""
    head = float(np.exp(-power * RANK_LOGS[:k]).sum())
    if k <= HEAD:
        return head
    a, b = HEAD + 0.5, k + 0.5
    grown = (1 - power) * math.log(b / a)
    return head + a ** (1 - power) * math.log(b / a) * (math.expm1(grown) / grown if grown else 1.0)


def _grouped(falling: FloatArray, most: int) -> Groups:
    """Return at most `most` groups: of equal values where these are few enough.

    Else half of them are the largest values, the rest groups that grow, and all that are 0. How many groups there are
    depends on the number of values only: the last may be there several times, of size 0.
    """
    if len(falling) <= most:
        return Groups(falling, np.ones_like(falling), np.zeros_like(falling))
    steps = np.flatnonzero(np.diff(falling)) + 1
    if len(steps) < most:
        edges = np.concatenate([[0], steps, [len(falling)]])
    else:
        positive = int((falling > 0).sum())
        room = most - (positive < len(falling))
        single = min(positive, room // 2 if positive > room else room)
        rising = np.rint(np.geomspace(max(single, 1), max(positive, 1), room - single + 1)).astype(np.int64)
        ends = np.concatenate([np.arange(single + 1), rising, [len(falling)]])
        edges = ends[np.diff(ends, prepend=-1) > 0]  # in order already; np.unique would import numpy's masked arrays
    sizes = np.diff(edges).astype(np.float64)
    means, squares = (np.add.reduceat(of, edges[:-1]) / sizes for of in (falling, falling**2))
    variances = np.where(sizes > 1, np.maximum(squares - means**2, 0.0), 0.0)
    missing = most - len(sizes)
    sizes, variances = (np.pad(of, (0, missing)) for of in (sizes, variances))
    return Groups(np.pad(means, (0, missing), mode="edge"), sizes, variances)


def _grouped_levels(levels: list[FloatArray]) -> Groups:
    """Return the groups of each level, in sequence."""
    groups = [_grouped(-np.sort(-squares), DETAILS) for squares in levels]
    return Groups(*(np.concatenate(figures) for figures in zip(*groups, strict=True)))


def _clustered(groups: Groups, most: int) -> Groups:
    """Return at most `most` groups of groups in falling order, split where the roots of the values differ most.

    Each split in turn is chosen to reduce the sum of squares within groups the most. So levels that many categories
    share, or nearly share, become separate groups. Missing groups have size 0.
    """
    values, sizes, variances = groups
    roots = np.sqrt(values)
    sums = [np.concatenate([[0.0], np.cumsum(sizes * roots**power)]) for power in (0, 1, 2)]

    def within(start: IntArray | int, end: IntArray | int) -> FloatArray:
        number, first, second = (of[end] - of[start] for of in sums)
        return np.asarray(second - first**2 / np.maximum(number, TINY))

    def split(start: int, end: int) -> tuple[float, int, int, int]:
        inner = np.arange(start + 1, end)
        if not len(inner):
            return 0.0, start, start, end
        gains = within(start, end) - within(start, inner) - within(inner, end)
        best = int(gains.argmax())
        return float(gains[best]), int(inner[best]), start, end

    segments = [split(0, int(np.count_nonzero(sizes)))]
    while len(segments) < most and (best := max(segments))[0] > TINY:
        segments.remove(best)
        _, middle, start, end = best
        segments += [split(start, middle), split(middle, end)]
    edges = np.sort([start for _, _, start, _ in segments])
    number = np.add.reduceat(sizes, edges)
    means = np.add.reduceat(sizes * values, edges) / number
    squares = np.add.reduceat(sizes * (values**2 + variances), edges) / number
    missing = min(most, len(values)) - len(edges)
    return Groups(
        np.pad(means, (0, missing), mode="edge"),
        np.pad(number, (0, missing)),
        np.pad(np.maximum(squares - means**2, 0.0), (0, missing)),
    )


def _top(f: FloatArray, falling: FloatArray, size: int) -> IntArray:
    """Return the places of the largest values, falling, the earlier of equal ones first; `falling` is f sorted."""
    least = falling[size - 1]
    above = np.flatnonzero(f > least)
    # With few users in a large domain nearly all values equal the minimum, so sorting them is wasteful.
    return np.append(above[np.argsort(-f[above], kind="stable")], np.flatnonzero(f == least)[: size - len(above)])


def _spaced(size: int, most: int) -> IntArray:
    """Return at most `most` places, evenly spread over ``0 .. size - 1``."""
    if size <= most:
        return np.arange(size)
    return np.floor((np.arange(most) + 0.5) * size / most).astype(np.int64)


def _blocks(f: FloatArray) -> tuple[FloatArray, FloatArray | None, FloatArray]:
    """Return points, counts and ends: categories themselves, or bins of frequency in stretches of the domain."""
    k = len(f)
    if k <= SINGLY:
        return f, None, np.arange(1, k + 1, dtype=np.float64)
    top = float(f.max())
    least = max(float(f[f > 0].min()), LEAST_BIN * top)
    with np.errstate(divide="ignore"):
        heights = np.log(f / least) / max(math.log(top / least), TINY) * (BINS - 1)
    bins = np.clip(heights + 1, 0, BINS - 1).astype(np.int64)
    sums, sizes = np.bincount(bins, f, BINS), np.bincount(bins, minlength=BINS)
    blocks = min(k, BLOCKS)
    block = np.arange(k) * blocks // k
    counts = np.bincount(block * BINS + bins, minlength=blocks * BINS).reshape(blocks, BINS).astype(np.float64)
    ends = np.cumsum(counts.sum(axis=1))
    return sums / np.maximum(sizes, 1), counts, ends
