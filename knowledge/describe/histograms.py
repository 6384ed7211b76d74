"""Several histograms of one domain size side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from knowledge.describe.normal import SINGLE
from knowledge.describe.profile import Profile
from simulator._types import FloatArray, IntArray, SingleArray
from simulator.methods.simplex import FALSE_POSITIVES
from simulator.metrics import TOP_SHARE

VALUE_FIGURES = ("entropy_gap", "participation", "zeros", "top", "skew", "distinct")
ORDER_FIGURES = ("neighbours", "variation", "displacement")


class Histograms(NamedTuple):
    """Profiles of one domain size as arrays: those that depend on the order of categories ``(S, 1, ...)``.

    What only the set of values decides is there once for each such set, ``(U, 1, ...)``: a distribution in order and
    without order have the same. What only the domain size decides is there once.
    """

    # k, top_size: domain size, and the number of top values of the metric `topk`
    k: int
    top_size: int
    which: IntArray  # the set of values of each histogram, ``(S,)``
    # values, weights: as in a `Profile`; ``weights`` once for all categories and once for the top ones, ``(U, V, 2)``
    values: SingleArray
    weights: SingleArray
    # value_squares, falling: squares of the values, and what they are below 0, ``(U, V)``, to search in
    value_squares: SingleArray
    falling: SingleArray
    # masses, shares: mass of the values up to each, and share of the categories, ``(U, V + 1)``
    masses: SingleArray
    shares: SingleArray
    tails: SingleArray  # mass of the values after each, smallest first: ``(U, V)``
    squares: SingleArray  # sum of squared frequencies of all categories and of the top ones, ``(U, 1, 2)``
    # few_values, few_weights, atoms, atom_spreads, atom_weights: as in a `Profile`; the last as `weights`
    few_values: SingleArray
    few_weights: SingleArray
    atoms: SingleArray
    atom_spreads: SingleArray
    atom_weights: SingleArray
    # levels, level_weights, level_spreads: as in a `Profile`
    levels: SingleArray
    level_weights: SingleArray
    level_spreads: SingleArray
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
    halves: SingleArray  # one over the number of categories below a coefficient, by level, ``(L,)``
    # To average over the places that are spread evenly, and over those of top values, ``(places, 2)``
    place_weights: SingleArray
    cut: np.float32  # threshold of `base_cut` in noise sd
    # value_figures, order_figures: figures of the histograms themselves, ``(U, 1)`` and ``(S, 1)``
    value_figures: dict[str, SingleArray]
    order_figures: dict[str, SingleArray]

    def up_to_blocks(self, values: SingleArray) -> SingleArray:
        """Sum what each of the points has, ``(..., S, P, V)``, up to the end of each block, ``(..., S, P, B)``."""
        return np.cumsum(values, axis=-1) if self.running is None else values @ self.running

    def over_domain(self, values: SingleArray) -> SingleArray:
        """Sum what holds at the end of each block, ``(..., B)``, over all categories, ``(...)``."""
        return values @ self.block_sizes


@lru_cache(maxsize=4)  # what would change an answer is looked up for the same histograms under a hundred noises
def histograms_of(profiles: tuple[Profile, ...]) -> Histograms:
    """Put profiles side by side, in single precision.

    Raises ValueError if they are not all of one domain size.
    """
    if len({profile.k for profile in profiles}) != 1:
        raise ValueError("histograms that are described together need one domain size")
    distinct: list[Profile] = []
    which = [_place(profile, distinct) for profile in profiles]

    column, of_values = partial(_column, profiles), partial(_column, distinct)
    first, k = profiles[0], profiles[0].k
    top_size = max(1, round(TOP_SHARE * k))
    values = of_values("values")
    weights, atom_weights = (
        np.stack([_with_top(getattr(profile, name), top_size) for profile in distinct])
        for name in ("weights", "atom_weights")
    )
    sizes = weights[..., 0]
    points = column("points")
    counts = None if first.counts is None else _by_level(column("counts")[:, 0])
    return Histograms(
        k=k,
        top_size=top_size,
        which=np.array(which),
        values=values,
        weights=weights,
        value_squares=values * values,
        falling=-values[:, 0],
        masses=_up_to(values[:, 0] * sizes),
        shares=_up_to(sizes) / SINGLE(k),
        tails=_up_to((values[:, 0] * sizes)[:, ::-1])[:, :-1],
        squares=np.matmul(values * values, weights, dtype=SINGLE),
        few_values=of_values("few_values"),
        few_weights=of_values("few_weights"),
        atoms=of_values("atoms"),
        atom_spreads=of_values("atom_spreads"),
        atom_weights=atom_weights,
        levels=of_values("levels"),
        level_weights=of_values("level_weights"),
        level_spreads=of_values("level_spreads"),
        points=points,
        ends=first.ends.astype(SINGLE),
        cumulated=column("cumulated"),
        sizes=np.ones_like(points) if counts is None else counts.sum(axis=-1)[:, None],
        block_sizes=np.diff(first.ends, prepend=0.0).astype(SINGLE),
        running=None if counts is None else np.cumsum(counts, axis=-1),
        details=column("details"),
        detail_weights=_of_all_and_first(column("detail_weights")[:, 0], first.finest),
        depths=column("depths"),
        place_values=column("place_values"),
        paths=_by_level(column("paths")),
        energies=column("energies")[:, 0],
        parts=_by_level(column("parts"))[:, 0],
        halves=(0.5 ** np.arange(1, first.paths.shape[-1] + 1)).astype(SINGLE),
        place_weights=_spread_weights(len(first.place_values), first.spread_places),
        cut=SINGLE(NormalDist().inv_cdf(1 - FALSE_POSITIVES / k) if k > 2 * FALSE_POSITIVES else 0.0),
        value_figures={name: of_values(name) for name in VALUE_FIGURES},
        order_figures={name: column(name) for name in ORDER_FIGURES},
    )


def _column(profiles: Sequence[Profile], name: str) -> SingleArray:
    """Return an attribute of profiles, ``(S, 1, ...)``."""
    return np.stack([getattr(profile, name) for profile in profiles]).astype(SINGLE)[:, None]


def _by_level(places: SingleArray) -> SingleArray:
    """Return ``(..., places, levels)`` with the levels first."""
    return np.ascontiguousarray(np.swapaxes(places, -1, -2))


def _of_all_and_first(weights: SingleArray, first: int) -> SingleArray:
    """Return weights ``(S, D)`` of all, and of the first alone, ``(S, D, 2)``."""
    kept = np.arange(weights.shape[-1]) < first
    return weights[..., None] * np.stack([np.ones_like(kept), kept], axis=1)


def _up_to(values: SingleArray) -> SingleArray:
    """Return the sums of the first values, of none to all: ``(U, V)`` to ``(U, V + 1)``."""
    return np.pad(np.cumsum(values, axis=-1), ((0, 0), (1, 0)))


def _spread_weights(size: int, spread: int) -> SingleArray:
    """Return what averages over the first `spread` of places, and over the others, ``(places, 2)``."""
    first = np.arange(size) < spread
    return np.stack([first / first.sum(), ~first / (~first).sum()], axis=1).astype(SINGLE)


def _place(profile: Profile, among: list[Profile]) -> int:
    """Return the place of the first profile with the same values, up to rounding; put it there if there is none."""
    for place, other in enumerate(among):
        if np.allclose(profile.values, other.values, rtol=1e-9, atol=0.0):
            return place
    among.append(profile)
    return len(among) - 1


def _with_top(weights: FloatArray, size: int) -> SingleArray:
    """Return weights of falling values ``(V,)``, and how many of the `size` top categories each has: ``(V, 2)``."""
    before = np.cumsum(weights) - weights
    return np.stack([weights, np.clip(size - before, 0.0, weights)], axis=1).astype(SINGLE)
