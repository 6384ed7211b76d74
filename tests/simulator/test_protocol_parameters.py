"""p, q and the budget of every protocol, the choice of omega, what is refused, and what a report costs."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from simulator.protocols import PROTOCOLS
from simulator.protocols.equations import points
from simulator.protocols.grr import GRR
from simulator.protocols.local_hashing import BLH, OLH
from simulator.protocols.oracle import bits_for
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.unary import OUE, RAPPOR

EPSILONS = [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 16.0, 20.0]
SIZES = [2, 3, 4, 5, 12, 100, 1000]
GRID = [(k, epsilon) for k in SIZES for epsilon in EPSILONS]
ROUNDING = 2.0**-52


def likelihood_ratio(oracle) -> float:
    """Largest ratio of the probabilities of one report under two true values, from p, q and the report's law."""
    p, q, k = oracle.p, oracle.q, oracle.k
    if oracle.key == "grr":
        return p / q
    if oracle.key in {"rappor", "oue", "the"}:
        return p * (1 - q) / (q * (1 - p))
    if oracle.key in {"blh", "olh"}:
        return p / ((1 - p) / (oracle.g - 1))
    if oracle.key in {"hr", "pgr"}:
        symbols = oracle.blocks * oracle.block_size if oracle.key == "hr" else oracle.symbols
        supporting = oracle.block_size // 2 if oracle.key == "hr" else points(oracle.dimension - 1, oracle.order)
        return (p / (1 - p)) * float(Fraction(symbols - supporting, supporting))
    w = oracle.omega
    return (p / (1 - p)) * float(Fraction(comb(k - 1, w), comb(k - 1, w - 1)))


# The exceptions, the bits of `the` and the real numbers of `she`, are in test_more_protocols.
@pytest.mark.parametrize("key", [key for key in PROTOCOLS if key not in {"the", "she"}])
@pytest.mark.parametrize(("k", "epsilon"), GRID)
def test_a_report_spends_the_whole_budget_and_no_more(key, k, epsilon):
    oracle = PROTOCOLS[key](k, epsilon)
    # 1e-9, and what the rounding of p and q to float64 leaves of 1 - p and 1 - q
    tolerance = 1e-9 + 2 * ROUNDING / (1 - oracle.p)
    assert abs(math.log(likelihood_ratio(oracle)) - epsilon) <= tolerance
    assert tolerance < 1e-6


@pytest.mark.parametrize(("k", "epsilon"), GRID)
def test_p_and_q_are_those_of_the_literature(k, epsilon):
    e, half = math.exp(epsilon), math.exp(epsilon / 2)
    close = {"rel": 1e-13}  # a few roundings of 1e-16 each, in numbers between 0 and 1
    grr = GRR(k, epsilon)
    assert (grr.p, grr.q) == pytest.approx((e / (e + k - 1), 1 / (e + k - 1)), **close)
    assert (RAPPOR(k, epsilon).p, RAPPOR(k, epsilon).q) == pytest.approx((half / (half + 1), 1 / (half + 1)), **close)
    assert (OUE(k, epsilon).p, OUE(k, epsilon).q) == pytest.approx((0.5, 1 / (e + 1)), **close)
    assert (BLH(k, epsilon).p, BLH(k, epsilon).q) == pytest.approx((e / (e + 1), 0.5), **close)
    g = round(e) + 1
    assert OLH(k, epsilon).g == g
    assert (OLH(k, epsilon).p, OLH(k, epsilon).q) == pytest.approx((e / (e + g - 1), 1 / g), **close)
    ss = SubsetSelection(k, epsilon)
    w = ss.omega
    p = w * e / (w * e + k - w)
    # q by (1 - p) loses digits as p nears 1: compare with its value plus the rounding of p
    assert ss.p == pytest.approx(p, **close)
    assert ss.q == pytest.approx(p * (w - 1) / (k - 1) + (1 - p) * w / (k - 1), rel=1e-13, abs=4 * ROUNDING)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 12, 50, 101, 1000])
@pytest.mark.parametrize("epsilon", np.linspace(0.05, 8, 18).round(3).tolist())
def test_omega_is_the_better_of_floor_and_ceiling(k, epsilon):
    e = math.exp(epsilon)

    def variance(w):
        p = w * e / (w * e + k - w)
        q = p * (w - 1) / (k - 1) + (1 - p) * w / (k - 1)
        return q * (1 - q) / (p - q) ** 2

    candidates = {max(1, math.floor(k / (e + 1))), max(1, math.ceil(k / (e + 1)))}
    chosen = SubsetSelection(k, epsilon).omega
    assert chosen in candidates
    assert variance(chosen) <= min(map(variance, candidates)) * (1 + 1e-12)  # 1e-12: ties up to rounding
    # ... and that is within reach of the best of all sizes: brute force
    if k > 2:
        best = min(range(1, k), key=variance)
        assert abs(best - k / (e + 1)) <= 1 or best == 1
        assert variance(chosen) <= variance(best) * (1 + 1e-9)


def test_omega_is_not_simply_the_ceiling():
    # The ceiling costs up to 1.8 times the variance at small k (k = 3, epsilon = 1.9: 1 value, not 2 or more).
    assert any(
        SubsetSelection(k, epsilon).omega != math.ceil(k / (math.exp(epsilon) + 1))
        for k, epsilon in [(3, 0.6), (5, 1.2), (12, 2.1), (12, 1.6)]
    )


@pytest.mark.parametrize("key", PROTOCOLS)
@pytest.mark.parametrize("epsilon", [0, 0.0, -1.0, math.nan, math.inf, -math.inf, 33, 32.0001, 1e-7])
def test_a_budget_out_of_range_is_refused_by_name_and_value(key, epsilon):
    with pytest.raises(ValueError, match=rf"epsilon must be between .*got epsilon={epsilon}"):
        PROTOCOLS[key](4, epsilon)


@pytest.mark.parametrize("key", PROTOCOLS)
@pytest.mark.parametrize("k", [1, 0, -3])
def test_a_domain_that_is_too_small_is_refused_by_name_and_value(key, k):
    with pytest.raises(ValueError, match=rf"k must be a whole number of at least 2, got k={k}"):
        PROTOCOLS[key](k, 1.0)


@pytest.mark.parametrize("key", PROTOCOLS)
@pytest.mark.parametrize("epsilon", [1e-6, 32.0])
@pytest.mark.parametrize("k", [2, 1000])
def test_the_ends_of_the_range_work(key, epsilon, k):
    oracle = PROTOCOLS[key](k, epsilon)
    noise = oracle.noise(1000)
    if key == "she":
        assert oracle.p is oracle.q is None
    else:
        assert 0 < oracle.q < oracle.p <= 1
    assert 0 < noise.sd < math.inf
    counts = np.zeros(k, dtype=np.int64)
    counts[0] = 1000
    assert np.isfinite(oracle.estimate(oracle.sample_support(counts, np.random.default_rng(0)), 1000)).all()


@pytest.mark.parametrize("key", PROTOCOLS)
def test_nobody_reporting_is_refused(key):
    oracle = PROTOCOLS[key](4, 1.0)
    for n in (0, -5):
        with pytest.raises(ValueError, match=rf"n must be at least 1, got n={n}"):
            oracle.noise(n)
        with pytest.raises(ValueError, match=rf"n must be at least 1, got n={n}"):
            oracle.variance(0.1, n)
        with pytest.raises(ValueError, match=rf"n must be at least 1, got n={n}"):
            oracle.estimate(np.zeros(4, dtype=np.int64), n)


@pytest.mark.parametrize("key", ["blh", "olh"])
def test_an_unknown_hash_is_refused(key):
    with pytest.raises(ValueError, match="hash must be one of mix64, xxh32, got hash='md5'"):
        PROTOCOLS[key](4, 1.0, hash="md5")


def test_bits_of_a_report():
    assert [bits_for(m) for m in (2, 3, 4, 5, 1024, 1025)] == [1, 2, 2, 3, 10, 11]
    for k in (2, 3, 64, 65, 1000):
        assert GRR(k, 1.0).report_bits == math.ceil(math.log2(k))
        assert RAPPOR(k, 1.0).report_bits == OUE(k, 1.0).report_bits == k
        assert BLH(k, 1.0).report_bits == 32 + 1
        assert OLH(k, 3.0).report_bits == 32 + math.ceil(math.log2(round(math.exp(3.0)) + 1))
        ss = SubsetSelection(k, 0.5)
        assert ss.report_bits == min(k, ss.omega * math.ceil(math.log2(k)))


def test_table_keys_are_the_members_own():
    assert list(PROTOCOLS) == ["grr", "rappor", "oue", "blh", "olh", "ss", "the", "she", "hr", "pgr"]
    assert all(PROTOCOLS[key].key == key for key in PROTOCOLS)


@pytest.mark.parametrize("k", [2.5, float("nan"), float("inf"), "4"])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_k_must_be_a_whole_number(name: str, k: object) -> None:
    with pytest.raises(ValueError, match="k must be a whole number"):
        PROTOCOLS[name](k, 1.0)  # type: ignore[arg-type]
