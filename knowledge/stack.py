"""Several histograms of one domain size side by side, so that all are described in one go."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from knowledge.profile import Profile
from simulator._normal import normal_quantile
from simulator._types import FloatArray, IntArray, SingleArray
from simulator.metrics import TOP_SHARE
from simulator.postprocess.simple import FALSE_POSITIVES

SINGLE = np.float32  # half the time of double precision; what is described is known to a percent


class Histograms(NamedTuple):
    """Profiles of one domain size as arrays: those that depend on the order of categories ``(S, 1, ...)``.

    What only the set of values decides is there once for each such set, ``(U, 1, ...)``: a distribution in order and
    without order have the same. What only the domain size decides is there once.

    Attributes
    ----------
    k, top_size
        Domain size, and the number of top values of the metric `topk`.
    which
        The set of values of each histogram, ``(S,)``.
    values, weights
        As in a `Profile`; ``weights`` once for all categories and once for the top ones, ``(U, V, 2)``.
    value_squares, falling
        Squares of the values, and what they are below 0, ``(U, V)``, to search in.
    masses, shares
        Mass of the values up to each, and share of the categories, ``(U, V + 1)``.
    tails
        Mass of the values after each, smallest first: ``(U, V)``.
    squares
        Sum of squared frequencies of all categories and of the top ones, ``(U, 1, 2)``.
    few_values, few_weights, atoms, atom_spreads, atom_weights
        As in a `Profile`; the last as `weights`.
    points, ends, cumulated
        As in a `Profile`.
    sizes, block_sizes
        Categories that have each of the points, ``(S, 1, V)``, and that are in each block, ``(B,)``.
    running
        How many categories up to the end of each block have each of the points, ``(S, V, B)``; None where every
        category is a block.
    details, detail_weights
        Squared coefficients of the Haar transform, and how many each stands for: of all levels and of the finest,
        ``(S, D, 2)``.
    depths
        Mean squared coefficient at four depths ``(S, 1, 4)``.
    place_values, paths, energies, parts
        As in a `Profile`, with the levels before the places.
    halves
        One over the number of categories below a coefficient, by level, ``(L,)``.
    place_weights
        To average over the places that are spread evenly, and over those of top values, ``(places, 2)``.
    cut
        Threshold of `base_cut` in noise sd.
    by_value, by_order
        Figures of the histograms themselves, ``(U, 1)`` and ``(S, 1)``.
    """

    k: int
    top_size: int
    which: IntArray
    values: SingleArray
    weights: SingleArray
    value_squares: SingleArray
    falling: SingleArray
    masses: SingleArray
    shares: SingleArray
    tails: SingleArray
    squares: SingleArray
    few_values: SingleArray
    few_weights: SingleArray
    atoms: SingleArray
    atom_spreads: SingleArray
    atom_weights: SingleArray
    points: SingleArray
    ends: SingleArray
    cumulated: SingleArray
    sizes: SingleArray
    block_sizes: SingleArray
    running: SingleArray | None
    details: SingleArray
    detail_weights: SingleArray
    depths: SingleArray
    place_values: SingleArray
    paths: SingleArray
    energies: SingleArray
    parts: SingleArray
    halves: SingleArray
    place_weights: SingleArray
    cut: np.float32
    by_value: dict[str, SingleArray]
    by_order: dict[str, SingleArray]

    def up_to_blocks(self, values: SingleArray) -> SingleArray:
        """Sum what each of the points has, ``(..., S, P, V)``, up to the end of each block, ``(..., S, P, B)``."""
        return np.cumsum(values, axis=-1) if self.running is None else values @ self.running

    def over_domain(self, values: SingleArray) -> SingleArray:
        """Sum what holds at the end of each block, ``(..., B)``, over all categories, ``(...)``."""
        return values @ self.block_sizes


@lru_cache(maxsize=16)
def stacked(profiles: tuple[Profile, ...]) -> Histograms:
    """Stack profiles, in single precision; those of the last few questions are remembered.

    Raises
    ------
    ValueError
        If they are not all of one domain size.
    """
    if len({profile.k for profile in profiles}) != 1:
        raise ValueError("histograms that are described together need one domain size")
    k = profiles[0].k
    distinct: list[Profile] = []
    which = [_place(profile, distinct) for profile in profiles]

    def stack(name: str, of: Any = profiles) -> SingleArray:
        return np.stack([getattr(profile, name) for profile in of]).astype(SINGLE)[:, None]

    def by_level(name: str) -> SingleArray:
        return np.ascontiguousarray(np.swapaxes(stack(name), -1, -2))

    first = profiles[0]
    top_size = max(1, round(TOP_SHARE * k))
    values = stack("values", distinct)
    weights, atom_weights = (
        np.stack([_with_top(getattr(profile, name), top_size) for profile in distinct])
        for name in ("weights", "atom_weights")
    )
    masses, shares = np.cumsum(values * weights[..., 0][:, None], axis=-1), np.cumsum(weights[..., 0][:, None], axis=-1)
    detail_weights = stack("detail_weights")[:, 0, :, None]
    spread = np.arange(len(first.place_values)) < first.spread_places
    finest = np.arange(len(first.details)) < first.finest
    points = stack("points")
    counts = None if first.counts is None else stack("counts")[:, 0].transpose(0, 2, 1)
    return Histograms(
        k=k,
        top_size=top_size,
        which=np.array(which),
        values=values,
        weights=weights,
        value_squares=values * values,
        falling=-values[:, 0],
        masses=np.pad(masses[:, 0], ((0, 0), (1, 0))),
        shares=np.pad(shares[:, 0], ((0, 0), (1, 0))) / SINGLE(k),
        tails=np.cumsum((values[:, 0] * weights[..., 0])[:, ::-1], axis=-1) - (values[:, 0] * weights[..., 0])[:, ::-1],
        squares=np.matmul(values * values, weights, dtype=SINGLE),
        few_values=stack("few_values", distinct),
        few_weights=stack("few_weights", distinct),
        atoms=stack("atoms", distinct),
        atom_spreads=stack("atom_spreads", distinct),
        atom_weights=atom_weights,
        points=points,
        ends=first.ends.astype(SINGLE),
        cumulated=stack("cumulated"),
        sizes=np.ones_like(points) if counts is None else counts.sum(axis=-1)[:, None],
        block_sizes=np.diff(first.ends, prepend=0.0).astype(SINGLE),
        running=None if counts is None else np.ascontiguousarray(np.cumsum(counts, axis=-1)),
        details=stack("details"),
        detail_weights=detail_weights * np.stack([np.ones_like(finest), finest], axis=1),
        depths=stack("depths"),
        place_values=stack("place_values"),
        paths=by_level("paths"),
        energies=stack("energies")[:, 0],
        parts=by_level("parts")[:, 0],
        halves=(0.5 ** np.arange(1, first.paths.shape[-1] + 1)).astype(SINGLE),
        place_weights=np.stack([spread / spread.sum(), ~spread / (~spread).sum()], axis=1).astype(SINGLE),
        cut=SINGLE(normal_quantile(1 - FALSE_POSITIVES / k) if k > 2 * FALSE_POSITIVES else 0.0),
        by_value={name: stack(name, distinct) for name in ("entropy_gap", "participation", "zeros", "top", "skew")},
        by_order={name: stack(name) for name in ("neighbours", "variation", "displacement")},
    )


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
