"""Several histograms of the same domain size, and several noises, side by side in single precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from knowledge.describe.profile import Groups, Profile
from simulator import Noise
from simulator._types import FloatArray, IntArray, SingleArray
from simulator.methods.simplex import FALSE_POSITIVES
from simulator.metrics import TOP_SHARE

SINGLE = np.float32  # the precision of the features that the model was fitted to
MEAN_ABSOLUTE = SINGLE(math.sqrt(2 / math.pi))  # of a standard normal variable
LEAST_VARIANCE = 1e-3  # of that at f = 0: where a negative slope would leave none
LEAST_GROWTH = -0.9  # of the variance, as a share of that at f = 0
VALUE_FIGURES = ("entropy_gap", "participation", "zeros", "top", "skew", "distinct")
ORDER_FIGURES = ("neighbours", "variation", "displacement")


class Histograms(NamedTuple):
    """Profiles of the same domain size as arrays: those that depend on the order of categories ``(S, 1, ...)``.

    Arrays that depend only on the set of values are stored once per set, ``(U, 1, ...)``: a distribution in order and
    without order share it. Arrays that depend only on the domain size are stored once.
    """

    # k, top_size: domain size, and the number of top values of the metric `topk`
    k: int
    top_size: int
    which: IntArray  # the set of values of each histogram, ``(S,)``
    # values, weights: means and sizes of the `values` of a `Profile`; sizes once for all categories, and once for the
    # top ones, ``(U, V, 2)``
    values: SingleArray
    weights: SingleArray
    # masses, shares: mass of the values up to each, and share of the categories, ``(U, V + 1)``
    masses: SingleArray
    shares: SingleArray
    tails: SingleArray  # mass of the values after each, smallest first: ``(U, V)``
    squares: SingleArray  # sum of squared frequencies of all categories and of the top ones, ``(U, 1, 2)``
    # few, atoms, levels: as in a `Profile`: means, sizes and variances of groups, ``(3, U, 1, G)``
    few: SingleArray
    atoms: SingleArray
    levels: SingleArray
    atom_weights: SingleArray  # sizes of the atoms as `weights`, ``(U, A, 2)``
    # points, ends, cumulated: as in a `Profile`
    points: SingleArray
    ends: SingleArray
    cumulated: SingleArray
    # sizes, block_sizes: categories that have each of the points, ``(S, 1, V)``, and that are in each block, ``(B,)``
    sizes: SingleArray
    block_sizes: SingleArray
    # How many categories up to the end of each block have each of the points, ``(S, V, B)``; None where every category
    # is a block
    running: SingleArray | None
    # details, detail_weights: squared coefficients of the Haar transform, and how many each stands for: of all levels
    # and of the finest, ``(S, D, 2)``
    details: SingleArray
    detail_weights: SingleArray
    depths: SingleArray  # mean squared coefficient at four depths ``(S, 1, 4)``
    # place_values, paths, energies, parts: as in a `Profile`, with the levels before the places
    place_values: SingleArray
    paths: SingleArray
    energies: SingleArray
    parts: SingleArray
    halves: SingleArray  # 1 / number of categories below a coefficient, by level, ``(L,)``
    # To average over the places that are spread evenly, and over those of top values, ``(places, 2)``
    place_weights: SingleArray
    cut: np.float32  # threshold of `base_cut` in noise sd
    # value_figures, order_figures: figures of the histograms themselves, ``(U, 1)`` and ``(S, 1)``
    value_figures: dict[str, SingleArray]
    order_figures: dict[str, SingleArray]

    def up_to_blocks(self, values: SingleArray) -> SingleArray:
        """Sum the entries of the points, ``(..., S, P, V)``, up to the end of each block, ``(..., S, P, B)``."""
        return np.cumsum(values, axis=-1) if self.running is None else values @ self.running

    def over_domain(self, values: SingleArray) -> SingleArray:
        """Sum the entries at the end of each block, ``(..., B)``, over all categories, ``(...)``."""
        return values @ self.block_sizes


@lru_cache(maxsize=4)  # the search for changes evaluates the same histograms under a hundred noises
def histograms_of(profiles: tuple[Profile, ...]) -> Histograms:
    """Put profiles side by side, in single precision.

    Raises ValueError if they are not all of the same domain size.
    """
    if len({profile.k for profile in profiles}) != 1:
        raise ValueError("histograms that are described together need one domain size")
    distinct: list[Profile] = []
    which = [_place(profile, distinct) for profile in profiles]

    column = partial(_column, profiles)
    first, k = profiles[0], profiles[0].k
    top_size = max(1, round(TOP_SHARE * k))
    values = _groups([profile.values for profile in distinct])[0]
    weights = np.stack([_with_top(profile.values.sizes, top_size) for profile in distinct])
    sizes = weights[..., 0]
    points = column("points")
    details, detail_sizes, _ = _groups([profile.details for profile in profiles])
    counts = None if first.counts is None else _by_level(column("counts")[:, 0])
    return Histograms(
        k=k,
        top_size=top_size,
        which=np.array(which),
        values=values,
        weights=weights,
        masses=_up_to(values[:, 0] * sizes),
        shares=_up_to(sizes) / SINGLE(k),
        tails=_up_to((values[:, 0] * sizes)[:, ::-1])[:, :-1],
        squares=np.matmul(values * values, weights, dtype=SINGLE),
        few=_groups([profile.few for profile in distinct]),
        atoms=_groups([profile.atoms for profile in distinct]),
        levels=_groups([profile.levels for profile in distinct]),
        atom_weights=np.stack([_with_top(profile.atoms.sizes, top_size) for profile in distinct]),
        points=points,
        ends=first.ends.astype(SINGLE),
        cumulated=column("cumulated"),
        sizes=np.ones_like(points) if counts is None else counts.sum(axis=-1)[:, None],
        block_sizes=np.diff(first.ends, prepend=0.0).astype(SINGLE),
        running=None if counts is None else np.cumsum(counts, axis=-1),
        details=details,
        detail_weights=_of_all_and_first(detail_sizes[:, 0], first.finest),
        depths=column("depths"),
        place_values=column("place_values"),
        paths=_by_level(column("paths")),
        energies=column("energies")[:, 0],
        parts=_by_level(column("parts"))[:, 0],
        halves=(0.5 ** np.arange(1, first.paths.shape[-1] + 1)).astype(SINGLE),
        place_weights=_spread_weights(len(first.place_values), first.spread_places),
        cut=SINGLE(NormalDist().inv_cdf(1 - FALSE_POSITIVES / k) if k > 2 * FALSE_POSITIVES else 0.0),
        value_figures={name: _column(distinct, name) for name in VALUE_FIGURES},
        order_figures={name: column(name) for name in ORDER_FIGURES},
    )


def _column(profiles: Sequence[Profile], name: str) -> SingleArray:
    """Return an attribute of profiles, ``(S, 1, ...)``."""
    return np.stack([getattr(profile, name) for profile in profiles]).astype(SINGLE)[:, None]


def _groups(parts: Sequence[Groups]) -> SingleArray:
    """Return means, sizes and variances ``(3, S, 1, G)``."""
    return np.stack([np.stack(groups) for groups in parts], axis=1).astype(SINGLE)[:, :, None]


def _by_level(places: SingleArray) -> SingleArray:
    """Return ``(..., places, levels)`` with the levels first."""
    return np.ascontiguousarray(np.swapaxes(places, -1, -2))


def _of_all_and_first(weights: SingleArray, first: int) -> SingleArray:
    """Return weights ``(S, D)`` of all, and of the first only, ``(S, D, 2)``."""
    kept = np.arange(weights.shape[-1]) < first
    return weights[..., None] * np.stack([np.ones_like(kept), kept], axis=1)


def _up_to(values: SingleArray) -> SingleArray:
    """Return the sums of the first values, of none to all: ``(U, V)`` to ``(U, V + 1)``."""
    return np.pad(np.cumsum(values, axis=-1), ((0, 0), (1, 0)))


def _spread_weights(size: int, spread: int) -> SingleArray:
    """Return weights that average over the first `spread` of places, and over the others, ``(places, 2)``."""
    first = np.arange(size) < spread
    return np.stack([first / first.sum(), ~first / (~first).sum()], axis=1).astype(SINGLE)


def _place(profile: Profile, among: list[Profile]) -> int:
    """Return the place of the first profile with the same values, up to rounding; put it there if there is none."""
    for place, other in enumerate(among):
        if np.allclose(profile.values.means, other.values.means, rtol=1e-9, atol=0.0):
            return place
    among.append(profile)
    return len(among) - 1


def _with_top(weights: FloatArray, size: int) -> SingleArray:
    """Return weights of falling values ``(V,)``, and how many of the `size` top categories each has: ``(V, 2)``."""
    before = np.cumsum(weights) - weights
    return np.stack([weights, np.clip(size - before, 0.0, weights)], axis=1).astype(SINGLE)


class Noises(NamedTuple):
    """Several noises as columns ``(P, 1)``."""

    # at_zero, slope: variance at frequency 0, and how it grows with the frequency
    at_zero: SingleArray
    slope: SingleArray
    users: SingleArray  # number of users
    fixed: SingleArray  # result of `_cancelling`
    shift: SingleArray  # result of `_shift`

    def variance(self, frequency: SingleArray) -> SingleArray:
        """Return the variance at frequencies ``(..., V)``: ``(..., P, V)``."""
        result = self.slope * frequency
        result += self.at_zero
        return np.maximum(result, LEAST_VARIANCE * self.at_zero, out=result)

    def growth(self, frequency: SingleArray | float) -> SingleArray:
        """Return the relative excess of the variance at a frequency over that at 0, at least -0.9, ``(P,)``."""
        return np.maximum(self.slope[:, 0] / self.at_zero[:, 0] * frequency, LEAST_GROWTH)


def columns_of(noises: Sequence[Noise]) -> Noises:
    """Return noises as columns."""
    rows = [
        (noise.variance_at_zero, noise.variance_slope, noise.n, _cancelling(noise), _shift(noise)) for noise in noises
    ]
    return Noises(*np.array(rows, dtype=SINGLE).reshape(-1, 5).T[:, :, None])  # there may be none


def _cancelling(noise: Noise) -> float:
    """Return the share of the variances of all estimates that cancels in their sum; see `Noise.cancels`."""
    return float(noise.sums_to_one) if noise.cancels is None else noise.cancels


def _shift(noise: Noise) -> float:
    """Return the constant that randomised response adds to all frequencies; it decides where IBU sets values to 0."""
    if noise.p is None or noise.q is None:
        return 1.0
    return noise.q / (noise.p - noise.q)
