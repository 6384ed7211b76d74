"""The laws of reports by the definitions of the protocols, and the test that reports have them."""

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
from scipy.stats import chi2

from simulator import PROTOCOLS
from simulator.protocols.grr import GRR
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.oracle import SymbolOracle
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import Tree


def law_of(key, k, epsilon, value):
    """Return the probabilities of all reports by the definition of the protocol, whatever its client does."""
    protocol = PROTOCOLS[key](k, epsilon)
    if isinstance(protocol, SymbolOracle):
        own = protocol.supporting(value)
        chances = np.where(own, protocol.p / own.sum(), 0.0)
        return dict(enumerate(np.where(own, chances, chances.max() * math.exp(-epsilon)).tolist()))
    if isinstance(protocol, SquareWave):
        near = range(value, value + protocol.width)
        return {place: protocol.p if place in near else protocol.q for place in range(protocol.symbols)}
    if isinstance(protocol, Tree):
        result = {}
        for height, (inner, chance) in enumerate(zip(protocol.inner, protocol.chances_of_heights, strict=True)):
            for bits, each in bits_law(inner.k, inner.p, inner.q, value >> height, one=isinstance(inner, GRR)).items():
                result[(height, *bits, *[0] * (k - inner.k))] = float(chance * each)
        return result
    if isinstance(protocol, HaarHadamard):
        result = {}
        for at, rows in enumerate(protocol.rows):
            for row in range(rows):
                node, right = value >> at + 1, value >> at & 1
                plus = (-1) ** ((row & node).bit_count() + right) > 0
                start = int(protocol.starts[at]) + 2 * row
                for bit in (0, 1):
                    kept = protocol.kept if (bit == 1) == plus else 1 - protocol.kept
                    result[start + bit] = kept / (len(protocol.rows) * rows)
        return result
    if key == "grr":
        return {other: protocol.p if other == value else protocol.q for other in range(k)}
    if key == "ss":
        omega, p = protocol.omega, protocol.p
        with_own, without = math.comb(k - 1, omega - 1), math.comb(k - 1, omega)
        return {s: p / with_own if value in s else (1 - p) / without for s in combinations(range(k), omega)}
    return dict(bits_law(k, protocol.p, protocol.q, value, one=False))


def bits_law(k, p, q, value, *, one):
    if one:
        return {tuple(int(v == at) for v in range(k)): p if at == value else q for at in range(k)}
    chances = [p if v == value else q for v in range(k)]
    return {
        bits: math.prod(c if bit else 1 - c for bit, c in zip(bits, chances, strict=True))
        for bits in product((0, 1), repeat=k)
    }


def surprise(seen, law):
    """Return the p-value of the chi-square test of a law; reports that are expected fewer than 8 times are merged."""
    counts = Counter(seen)
    n = sum(counts.values())
    assert counts.keys() <= law.keys()
    assert math.isclose(sum(law.values()), 1, rel_tol=1e-9)
    rare = [report for report, chance in law.items() if n * chance < 8]
    cells = [(counts[report], n * chance) for report, chance in law.items() if n * chance >= 8]
    if rare and (expected := n * sum(law[report] for report in rare)) >= 8:
        cells.append((sum(counts[report] for report in rare), expected))
    statistic = sum((observed - expected) ** 2 / expected for observed, expected in cells)
    return float(chi2.sf(statistic, len(cells) - 1))
