"""How often the best guess from one report is right, of an attacker who knows how frequent the values are.

Of each report such an attacker names the value v with the largest f_v Pr[report | v]; the success is the sum of these
over all reports. Where a report supports a set of values and says no more, that is the most frequent value of the set,
or the most frequent of all where this is so much more frequent.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray
from simulator.protocols.grr import GRR
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.oracle import FrequencyOracle
from simulator.protocols.protocol import Protocol
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.summation import SHE
from simulator.protocols.symbols import SymbolOracle
from simulator.protocols.tree import Tree

MOST_SYMBOLS = 4_000  # up to which the set that each symbol supports is looked at; of more, it is as good as random
STEPS = 400  # of an integral over likelihoods
DIGITS = 4  # of the logarithms of frequencies that are taken for equal there


def informed_guess(protocol: Protocol, frequencies: FloatArray) -> float | None:
    """Return the success; None for a protocol whose likelihoods are not known here.

    frequencies: ``(k,)`` in the order of the values.
    """
    falling = -np.sort(-frequencies)
    if isinstance(protocol, Tree):
        each = [
            informed_guess(inner, np.maximum.reduceat(frequencies, np.arange(0, len(frequencies), 1 << height))) or 0.0
            for height, inner in enumerate(protocol.inner)
        ]
        return float(protocol.chances_of_heights @ each)
    if isinstance(protocol, HaarHadamard):
        few = protocol.symbols <= MOST_SYMBOLS
        return _of_signs(protocol, frequencies) if few else _of_random_sets(falling, protocol.kept, 0.5)
    if isinstance(protocol, SquareWave):
        return _of_windows(protocol, frequencies)
    if isinstance(protocol, GRR):
        others = np.append(falling[1], np.full(len(falling) - 1, falling[0]))
        return float(np.maximum(falling * protocol.p, others * protocol.q).sum())
    if isinstance(protocol, SubsetSelection):
        return _of_subsets(protocol, falling)
    if isinstance(protocol, SHE):
        return _of_sums(protocol, falling)
    if isinstance(protocol, SymbolOracle) and protocol.symbols <= MOST_SYMBOLS:
        return _of_symbols(protocol, frequencies)
    if isinstance(protocol, FrequencyOracle) and (protocol.independent_supports or isinstance(protocol, SymbolOracle)):
        p, q = protocol.p, protocol.q
        return None if p is None or q is None else _of_random_sets(falling, p, q)
    return None


def _of_random_sets(falling: FloatArray, p: float, q: float) -> float:
    """Return the success where a report supports every other value with probability q, each by itself."""
    inside, outside = p / q, (1 - p) / (1 - q)
    # The most frequent value of the set is number j with probability q (1 - q)^j, or there is none.
    first = q * np.exp(np.arange(len(falling)) * math.log1p(-q))
    best = np.maximum(inside * falling, outside * falling[0])
    best[0] = inside * falling[0]
    return float(first @ best + (1 - q) ** len(falling) * outside * falling[0])


def _of_subsets(protocol: SubsetSelection, falling: FloatArray) -> float:
    k, omega, p = protocol.k, protocol.omega, protocol.p
    # Shares of all subsets whose most frequent value is number j, as products of conditional probabilities.
    left = k - np.arange(k)
    miss = np.maximum(left - omega, 0) / left
    first = np.concatenate([[1.0], np.cumprod(miss)[:-1]]) * np.minimum(omega / left, 1.0)
    best = np.maximum(p * k / omega * falling, (1 - p) * k / (k - omega) * falling[0])
    best[0] = p * k / omega * falling[0]
    return float(first @ best)


def _of_symbols(protocol: SymbolOracle, frequencies: FloatArray) -> float:
    """Return the success by the most frequent value that each symbol supports."""
    order = np.argsort(-frequencies, kind="stable")
    top = protocol.supporting(int(order[0]))
    inside = protocol.p / int(np.count_nonzero(top))
    outside = inside * math.exp(-protocol.epsilon)
    first = _first(order, frequencies, lambda value: protocol.supporting(value))
    best = np.where(top, inside * first, np.maximum(inside * first, outside * frequencies[order[0]]))
    return float(best.sum())


def _of_signs(protocol: HaarHadamard, frequencies: FloatArray) -> float:
    order = np.argsort(-frequencies, kind="stable")
    reports = np.arange(protocol.symbols)

    def supporting(value: int) -> NDArray[np.bool_]:
        return protocol.supports(reports, (value, value)).first

    top = supporting(int(order[0]))
    first = _first(order, frequencies, supporting)
    best = np.where(
        top, protocol.kept * first, np.maximum(protocol.kept * first, (1 - protocol.kept) * frequencies[order[0]])
    )
    drawn = np.repeat(1 / (len(protocol.heights) * np.array(protocol.rows)), 2 * np.array(protocol.rows))
    return float(drawn @ best)


def _first(
    order: NDArray[np.int64], frequencies: FloatArray, supporting: Callable[[int], NDArray[np.bool_]]
) -> FloatArray:
    """Return for each report the frequency of the first value, in an order, that it supports; 0 where there is none."""
    result: FloatArray = np.full(len(supporting(int(order[0]))), -1.0)
    for value in order.tolist():
        result[(result < 0) & supporting(value)] = frequencies[value]
        if result.min() >= 0:
            break
    return np.maximum(result, 0.0)


def _of_windows(protocol: SquareWave, frequencies: FloatArray) -> float:
    from scipy.ndimage import maximum_filter1d  # only a square wave with a sample needs it

    width, k = protocol.width, len(frequencies)
    padded = np.concatenate([np.zeros(width - 1), frequencies, np.zeros(width - 1)])
    near = maximum_filter1d(padded, width, origin=-(width // 2), mode="constant")[: k + width - 1]
    return float(np.maximum(protocol.p * near, protocol.q * frequencies.max()).sum())


def _of_sums(protocol: SHE, falling: FloatArray) -> float:
    """Return the success of summation: the mean of the largest of k independent weighed likelihoods.

    The logarithm of a cell's likelihood ratio is -epsilon/2 up to 0, epsilon/2 from 1 on, and rises in between.
    """
    half = protocol.epsilon / 2
    logs, numbers = np.unique(np.round(np.log(falling[falling > 0]), DIGITS), return_counts=True)
    t = math.log(falling[0]) + np.linspace(-half, half, STEPS + 1)
    below = np.zeros(len(t))  # logarithm of the probability that all are below e^t
    for log, number in zip(logs.tolist(), numbers.tolist(), strict=True):
        place = np.clip(((t - log) / half + 1) / 2, 0.0, 1.0)
        below += np.where(t - log < half + 10**-DIGITS, number * np.log1p(-np.exp(-half * place) / 2), 0.0)
    return float(np.exp(t[0]) + np.trapezoid(-np.expm1(below) * np.exp(t), t))
