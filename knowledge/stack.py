"""Several histograms of one domain size side by side, so that all are described in one go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from knowledge.profile import Profile
from simulator._types import FloatArray


class Histograms(NamedTuple):
    """Profiles of one domain size, stacked: each array of a `Profile` as ``(S, 1, ...)``, counts as ``(S, B, V)``.

    What only the domain size decides is there once: the weights of values, and where blocks end.
    """

    k: int
    values: FloatArray
    weights: FloatArray
    few_values: FloatArray
    few_weights: FloatArray
    atoms: FloatArray
    atom_weights: FloatArray
    points: FloatArray
    counts: FloatArray | None
    ends: FloatArray
    cumulated: FloatArray
    details: tuple[tuple[FloatArray, FloatArray], ...]
    place_values: FloatArray
    paths: FloatArray
    top_paths: FloatArray
    energies: FloatArray
    parts: FloatArray
    top_parts: FloatArray

    def by_block(self, values: FloatArray) -> FloatArray:
        """Sum what each of the points has, ``(S, P, V)``, over the categories of each block, ``(S, P, B)``."""
        return values if self.counts is None else values @ self.counts.transpose(0, 2, 1)

    def over_domain(self, values: FloatArray) -> FloatArray:
        """Sum what holds at the end of each block, ``(S, P, B)``, over all categories, ``(S, P)``."""
        return values.sum(axis=-1) if self.counts is None else values.mean(axis=-1) * self.k


def stacked(profiles: Sequence[Profile]) -> Histograms:
    """Stack profiles.

    Raises
    ------
    ValueError
        If they are not all of one domain size.
    """
    if len({profile.k for profile in profiles}) != 1:
        raise ValueError("histograms that are described together need one domain size")
    first = profiles[0]

    def stack(name: str) -> FloatArray:
        return np.stack([getattr(profile, name) for profile in profiles])[:, None]

    return Histograms(
        k=first.k,
        values=stack("values"),
        weights=first.weights,
        few_values=stack("few_values"),
        few_weights=first.few_weights,
        atoms=stack("atoms"),
        atom_weights=first.atom_weights,
        points=stack("points"),
        counts=None if first.counts is None else stack("counts")[:, 0],
        ends=first.ends,
        cumulated=stack("cumulated"),
        details=tuple(
            (np.stack([profile.details[level][0] for profile in profiles])[:, None], weights)
            for level, (_, weights) in enumerate(first.details)
        ),
        place_values=stack("place_values"),
        paths=stack("paths"),
        top_paths=stack("top_paths"),
        energies=stack("energies"),
        parts=stack("parts"),
        top_parts=stack("top_parts"),
    )
