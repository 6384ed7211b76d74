"""Histograms to judge choices on: files, named shapes and families, and the half of the study each belongs to."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from common import stored

from simulator._types import FloatArray, IntArray
from simulator.populations import SHAPES, frequencies
from simulator.seeding import rng_for

SHAPE_DOMAINS, NAMED = (64, 256), "named shapes"
SMALLEST, SIZES = 16, 3

HALVES = ("tuning", "judging")  # constants are chosen on the one, figures are of the other


@dataclass(frozen=True)
class Truth:
    """A population to judge on."""

    name: str
    ordered: bool
    frequencies: FloatArray
    family: str = ""


def half_of(name: str) -> str:
    """Return the half that a family or a file belongs to, whatever its size."""
    return HALVES[zlib.crc32(name.encode()) % 2]


def family(name: str, k: int, member: int = 0) -> FloatArray:
    """Return frequencies ``(k,)`` of a member of one of `FAMILIES`, each drawn on its own; they sum to 1."""
    own = (member,) if member else ()
    weights = FAMILIES[name][1]((np.arange(k) + 0.5) / k, rng_for(0, "family", name, k, *own))
    return weights / weights.sum()


def truths(files: Iterable[str], members: int = 1) -> Iterator[Truth]:
    """Yield the histograms at several sizes, the named shapes, and as many members of each family as told.

    An ordered histogram is made coarser by adding up neighbours, another one by keeping the most frequent categories.
    An ordered one is there once more, as if its order meant nothing.
    """
    for path in files:
        domain = stored(path)
        for halvings in range(SIZES):
            counts = _coarser(domain.counts, 2**halvings, ordered=domain.ordered)
            if halvings == 0 or len(counts) >= SMALLEST:
                name, shares = Path(path).name, counts / counts.sum()
                yield Truth(f"{name} k={len(counts)}", domain.ordered, shares, name)
                if domain.ordered:
                    yield Truth(f"{name} without its order k={len(counts)}", False, shares, name)
    for name, k in product(SHAPES, SHAPE_DOMAINS):
        yield Truth(f"{name} k={k}", SHAPES[name].ordered, frequencies(name, k), name)
    for name, k, member in product(FAMILIES, SHAPE_DOMAINS, range(members)):
        own = f"{name} k={k}" + (f" member {member}" if member else "")
        yield Truth(own, FAMILIES[name][0], family(name, k, member), name)


def populations(files: Iterable[str], domains: Iterable[int] = ()) -> Iterator[Truth]:
    """Yield the histograms at their own size, a family for each folder, and the named shapes in these sizes."""
    for path in files:
        domain, place = stored(path), Path(path)
        shares = domain.counts / domain.counts.sum()
        yield Truth(place.stem, domain.ordered, shares, place.absolute().parent.name)
    for name, k in product(SHAPES, domains):
        yield Truth(f"{name} {k}", SHAPES[name].ordered, frequencies(name, k), NAMED)


def _coarser(counts: IntArray, factor: int, *, ordered: bool) -> IntArray:
    if not ordered:
        return np.sort(counts)[::-1][: len(counts) // factor]
    padded = np.append(counts, np.zeros(-len(counts) % factor, dtype=counts.dtype))
    return padded.reshape(-1, factor).sum(axis=1)


def _box(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    start = rng.uniform(0.1, 0.7)
    return np.where((x > start) & (x < start + 0.16), 8.0, 1.0)


def _plateaus(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    heights = rng.lognormal(0, 1.2, 7)
    return heights[np.searchsorted(np.sort(rng.random(6)), x)]


def _spikes_on_a_bell(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    bell = np.exp(-(((x - 0.4) / 0.2) ** 2) / 2) + 0.1
    bell[rng.choice(len(x), max(3, len(x) // 25), replace=False)] *= rng.uniform(3, 12)
    return bell


def _clusters(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    bells = np.exp(-(((x - rng.random((4, 1))) / 0.015) ** 2) / 2)
    return 0.02 + (rng.uniform(0.3, 2, (4, 1)) * bells).sum(axis=0)


def _cascade(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    values = np.ones(1)
    while len(values) < len(x):
        change = rng.normal(0, 0.5, len(values))
        values = np.stack([values * np.exp(change), values * np.exp(-change)], axis=1).ravel()
    return values[: len(x)]


def _no_use_of_order(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.permutation(1 / np.arange(1, len(x) + 1))


def _lognormal_one_by_one(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.lognormal(0, 1, len(x))


def _two_levels(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.permutation(np.where(np.arange(len(x)) < max(1, len(x) // 8), 6.0, 1.0))


# Whether the order of the categories means something, and ``weights(places, rng)``.
FAMILIES: dict[str, tuple[bool, Callable[[FloatArray, np.random.Generator], FloatArray]]] = {
    "box": (True, _box),
    "plateaus": (True, _plateaus),
    "spikes on a bell": (True, _spikes_on_a_bell),
    "clusters": (True, _clusters),
    "cascade": (True, _cascade),
    "no use of order": (True, _no_use_of_order),
    "lognormal one by one": (False, _lognormal_one_by_one),
    "two levels": (False, _two_levels),
}
