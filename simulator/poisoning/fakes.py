"""Reports that an attacker sends: what they add to the support counts.

Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX Security 2021.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray
from simulator.audit.symbols import supporting
from simulator.hashing import HASHES, SEED_BITS
from simulator.protocols import FrequencyOracle
from simulator.protocols.grr import GRR
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.unary import UnaryEncoding

HASHES_TRIED = 1000  # hash functions among which a fake user looks for the one that helps most (as in the source)
GROUPS = 20  # fake users of one group send the same
TRIED = 1000  # reports that are tried for a protocol of another package


def random_value(oracle: FrequencyOracle, targets: IntArray, fakes: int, rng: np.random.Generator) -> IntArray | None:
    """Let every fake user send an even draw of all possible reports: support counts ``(k,)``; None where there is none.

    The "random perturbed-value attack" of the source (Section 3.2.1); it does not use the `targets`.
    """
    del targets
    if oracle.p is None:
        return None
    if isinstance(oracle, UnaryEncoding):
        return rng.binomial(fakes, 0.5, size=oracle.k)
    if isinstance(oracle, LocalHashing):  # a symbol that does not look at any value supports each with 1/g
        return rng.binomial(fakes, 1 / oracle.g, size=oracle.k)
    if isinstance(oracle, HadamardResponse | ProjectiveGeometry):
        symbols = len(supporting(oracle, 0))
        return oracle.decode(rng.multinomial(fakes, np.full(symbols, 1 / symbols)))
    # Reports of users whose values are drawn evenly are even draws for randomised response and subset selection; for
    # members of other packages they are the nearest thing that is known.
    values = rng.multinomial(fakes, np.full(oracle.k, 1 / oracle.k))
    return oracle.sample_support(values, rng).astype(np.int64)


def maximal_gain(oracle: FrequencyOracle, targets: IntArray, fakes: int, rng: np.random.Generator) -> IntArray | None:
    """Let every fake user send a report that supports as many targets as one can: support counts ``(k,)``.

    The "maximal gain attack" of the source (Section 3.2.3). None for protocols without support sets: what a report may
    claim there has no bound. Where a report has to look like others, it also supports values that are no targets: as
    many as are usual for a unary encoding, the whole subset for subset selection, what the hash happens to send there.
    """
    if oracle.p is None:
        return None
    for kind, craft in _CRAFTS:
        if isinstance(oracle, kind):
            return craft(oracle, targets, fakes, rng)
    return _tried(oracle, targets, fakes, rng)


def _of_grr(oracle: GRR, targets: IntArray, fakes: int, rng: np.random.Generator) -> IntArray:
    return _spread(oracle.k, targets, fakes, rng)


def _of_unary(oracle: UnaryEncoding, targets: IntArray, fakes: int, rng: np.random.Generator) -> IntArray:
    usual = oracle.p + (oracle.k - 1) * oracle.q
    return _all_and_others(oracle.k, targets, fakes, max(0, round(usual) - len(targets)), rng)


def _of_subsets(oracle: SubsetSelection, targets: IntArray, fakes: int, rng: np.random.Generator) -> IntArray:
    if oracle.omega <= len(targets):
        return _spread(oracle.k, targets, fakes * oracle.omega, rng)
    return _all_and_others(oracle.k, targets, fakes, oracle.omega - len(targets), rng)


def _of_hashes(oracle: LocalHashing, targets: IntArray, fakes: int, rng: np.random.Generator) -> IntArray:
    result = np.zeros(oracle.k, dtype=np.int64)
    hashed, domain = HASHES[oracle.hash], np.arange(oracle.k)
    for size in _groups(fakes, GROUPS):
        seeds = rng.integers(0, 2**SEED_BITS, size=HASHES_TRIED)
        sent = np.sort(hashed(targets, seeds[:, None], oracle.g), axis=1)
        # Most frequent symbol of each sorted row: the symbol at the end of the longest stretch of equal ones.
        run = np.ones(len(sent), dtype=np.int64)
        longest, symbol = run.copy(), sent[:, 0].copy()
        for column in range(1, sent.shape[1]):
            run = np.where(sent[:, column] == sent[:, column - 1], run + 1, 1)
            symbol = np.where(run > longest, sent[:, column], symbol)
            longest = np.maximum(longest, run)
        best = int(longest.argmax())
        result += size * (hashed(domain, seeds[best : best + 1], oracle.g) == symbol[best])
    return result


def _of_symbols(
    oracle: HadamardResponse | ProjectiveGeometry, targets: IntArray, fakes: int, rng: np.random.Generator
) -> IntArray:
    helped = np.sum([_signs(oracle, int(target)) for target in targets], axis=0)
    best = rng.permutation(np.flatnonzero(helped == helped.max()))[:GROUPS]
    histogram = np.zeros(len(helped), dtype=np.int64)
    histogram[best] = _groups(fakes, len(best), keep_empty=True)
    return oracle.decode(histogram)


def _signs(oracle: HadamardResponse | ProjectiveGeometry, value: int) -> IntArray:
    """Return what each symbol adds to the support of a value: 1, 0, or for Hadamard response also -1."""
    supports = supporting(oracle, value).astype(np.int64)
    if isinstance(oracle, HadamardResponse):
        blocks = np.arange(len(supports)) // oracle.block_size
        supports -= (blocks == value % oracle.blocks) & (supports == 0)
    return supports


def _tried(oracle: FrequencyOracle, targets: IntArray, fakes: int, rng: np.random.Generator) -> IntArray:
    """Send the best for the targets of many honest reports of theirs: for protocols that are known by their base."""
    reports = oracle.perturb(rng.choice(targets, size=TRIED), rng)
    each = [oracle.support(reports[row : row + 1]) for row in range(TRIED)]
    best = max(each, key=lambda support: int(support[targets].sum()))
    return (best * fakes).astype(np.int64)


_CRAFTS: tuple[tuple[type[FrequencyOracle], Callable[..., IntArray]], ...] = (
    (GRR, _of_grr),
    (UnaryEncoding, _of_unary),
    (SubsetSelection, _of_subsets),
    (LocalHashing, _of_hashes),
    (HadamardResponse, _of_symbols),
    (ProjectiveGeometry, _of_symbols),
)


def _groups(fakes: int, groups: int, *, keep_empty: bool = False) -> IntArray:
    """Split fake users into groups of nearly equal size."""
    sizes = np.full(groups, fakes // groups)
    sizes[: fakes % groups] += 1
    return sizes if keep_empty else sizes[sizes > 0]


def _spread(k: int, values: IntArray, supports: int, rng: np.random.Generator) -> IntArray:
    """Spread so many supports over some values as evenly as can be."""
    result = np.zeros(k, dtype=np.int64)
    if len(values):
        result[rng.permutation(values)] = _groups(supports, len(values), keep_empty=True)
    return result


def _all_and_others(k: int, targets: IntArray, fakes: int, others: int, rng: np.random.Generator) -> IntArray:
    """Support every target with every report, and with each report some other values."""
    free: NDArray[np.int64] = np.setdiff1d(np.arange(k), targets)
    result = _spread(k, free, fakes * min(others, len(free)), rng)
    result[targets] = fakes
    return result
