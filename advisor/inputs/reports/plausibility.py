"""Plausibility of reports: results that a protocol almost never gives, for any values of the users."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from simulator import FrequencyOracle, Protocol, Tally
from simulator.methods import observe
from simulator.methods.smooth import em_stopped
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.tree import Tree
from simulator.protocols.unary import SHE

REACH, MORE = 6, 12
"""Six standard deviations; by Bernstein's inequality 12 more keep false alarms below 1 in 10^7 for any n, p and q."""
UNREACHED = 1e-3  # of X² a report: what an EM that is stopped may leave of sharp frequencies


class _Total(NamedTuple):
    """The total of n reports, with mean and variance of a single report, for any values of the users."""

    what: str
    total: float
    n: int
    mean: float
    variance: float
    culprits: str  # what may be wrong beside the protocol


def implausible(tally: Tally, protocol: Protocol) -> tuple[str, ...]:
    """Return a warning if the reports are unlikely to come from a protocol.

    Two things are not checked: the size of a set is fixed and was checked during reading, and the supports of an
    oracle's symbols are not independent.
    """
    if isinstance(protocol, Tree):
        totals = _of_tree(tally, protocol)
    elif not isinstance(protocol, FrequencyOracle):
        return _unlikely(tally, protocol)
    elif protocol.report_kind in ("bits", "hash"):
        totals = _of_supports(tally, protocol)
    elif isinstance(protocol, SHE):
        totals = _of_numbers(tally, protocol)
    else:
        return ()
    unit = protocol.scale if isinstance(protocol, SHE) else 1.0  # approximate error of a single number
    for what, total, n, mean, variance, culprits in totals:
        if abs(total - n * mean) > REACH * math.sqrt(n * variance) + MORE * unit:
            return (
                f"{_hardly(protocol)}: {total / n:.3g} {what}, {mean:.3g} expected whatever users hold; the protocol, "
                f"{culprits} may be wrong",
            )
    return ()


def _hardly(protocol: Protocol) -> str:
    return f"these are hardly {protocol.key} reports at eps = {protocol.epsilon:g}, k = {protocol.k}"


def _of_supports(tally: Tally, oracle: FrequencyOracle) -> Iterator[_Total]:
    """Yield the total of supports over all values.

    Each report supports the user's value with probability p and each of the k - 1 others with q, so the total has mean
    ``n (p + (k-1) q)`` and, supports being independent (local hashing: nearly so), variance
    ``n (p (1-p) + (k-1) q (1-q))``.
    """
    p, q, others = oracle.p, oracle.q, oracle.k - 1
    if p is not None and q is not None:
        bits = oracle.report_kind == "bits"
        yield _Total(
            f"{'bits set' if bits else 'categories supported'} on average",
            float(tally.counts.sum()),
            tally.n,
            p + others * q,
            p * (1 - p) + others * q * (1 - q),
            "eps or k" if bits else "eps, k or hash",
        )


def _of_numbers(tally: Tally, protocol: SHE) -> Iterator[_Total]:
    """Yield the sum of all numbers: 1 for the user's value, and Laplace noise of variance ``2 scale^2`` for all k."""
    variance = protocol.k * 2 * protocol.scale**2
    yield _Total(
        "is the sum of a report on average", float(tally.counts.sum()), tally.n, 1.0, variance, "eps or --steps"
    )


def _of_tree(tally: Tally, tree: Tree) -> Iterator[_Total]:
    """Yield the number of reports per height, and the bits of heights with a bit for each node."""
    *parts, users = np.split(tally.counts, np.cumsum([oracle.k for oracle in tree.inner]))
    for height, (oracle, bits, own) in enumerate(zip(tree.inner, parts, users.tolist(), strict=True)):
        share = float(tree.chances_of_heights[height])
        yield _Total(f"of them at height {height}", own, tally.n, share, share * (1 - share), "eps or k")
        if own and oracle.report_kind == "bits":
            at_height = f"bits set on average at height {height}"
            yield from (doubt._replace(what=at_height) for doubt in _of_supports(Tally(bits, own), oracle))


def _unlikely(tally: Tally, protocol: Protocol) -> tuple[str, ...]:
    """Return a warning if no frequencies make the reports likely: by Pearson's X², at approximately the best fit.

    At the true frequencies, X² of m outputs has mean m - 1 and a known variance; it is lower for frequencies fitted to
    the same reports. For HaarHRR only heights and rows are checked, which do not depend on the frequencies.
    """
    n, counts, observed = tally.n, np.asarray(tally.counts, dtype=np.float64), observe(protocol, tally)
    if isinstance(protocol, HaarHadamard):
        counts = counts[0::2] + counts[1::2]
        rows = np.array(protocol.rows)
        chances = np.repeat(1 / (len(rows) * rows), rows)
    elif observed.likelihood is not None:
        chances = observed.likelihood.forward(em_stopped(observed))
        comes = chances > 0
        counts, chances = counts[comes], chances[comes]
    else:
        return ()
    m = len(counts)
    squares = float(((counts - n * chances) ** 2 / (n * chances)).sum())
    variance = 2 * (m - 1) + (float((1 / chances).sum()) - m**2 - 2 * m + 2) / n
    if squares <= m - 1 + REACH * math.sqrt(variance) + MORE + UNREACHED * n:
        return ()
    return (
        f"{_hardly(protocol)}: no frequencies make these symbols likely (Pearson's X² {squares:.3g}, {m - 1} "
        "expected); the protocol, eps or k may be wrong",
    )
