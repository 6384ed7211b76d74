import itertools
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from simulator import PROTOCOLS as TABLE
from simulator import frequency_oracles
from simulator.protocols.equations import points
from simulator.protocols.grr import GRR
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import BLH, OLH
from simulator.protocols.oracle import bits_for
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.unary import OUE, RAPPOR
from tests.cells import failures, over

from .law import accept, oracle_of, skewed, stream, two_sided, variance_p

PROTOCOLS = frequency_oracles()

EPSILONS = [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 16.0, 20.0]
SIZES = [2, 3, 4, 5, 12, 100, 1000]
GRID = [(k, epsilon) for k in SIZES for epsilon in EPSILONS]
ROUNDING = 2.0**-52


def likelihood_ratio(oracle):
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


@over(list(TABLE))
def test_numbers_of_numpy_make_the_same_protocol_as_plain_ones(name):
    plain, other = TABLE[name](21, 1.0), TABLE[name](np.int64(21), np.float64(1.0))
    assert (repr(other), hash(other)) == (repr(plain), hash(plain))
    assert (other.report_bits, other.attack_success) == (plain.report_bits, plain.attack_success)
    drawn = [one.sample_tally(np.arange(21), stream("numpy", name)).counts for one in (plain, other)]
    assert (drawn[0] == drawn[1]).all()
    reports = [one.perturb(np.arange(21), stream("numpy", name)) for one in (plain, other)]
    assert (reports[0] == reports[1]).all()


# The exceptions, the bits of `the` and the real numbers of `she`, are in test_more_protocols.
@over(itertools.product([key for key in PROTOCOLS if key not in {"the", "she"}], GRID))
def test_a_report_spends_the_whole_budget_and_no_more(key, setting):
    k, epsilon = setting
    oracle = PROTOCOLS[key](k, epsilon)
    # 1e-9, and what the rounding of p and q to float64 leaves of 1 - p and 1 - q
    tolerance = 1e-9 + 2 * ROUNDING / (1 - oracle.p)
    assert abs(math.log(likelihood_ratio(oracle)) - epsilon) <= tolerance
    assert tolerance < 1e-6


@pytest.mark.parametrize(("k", "epsilon"), [(5, 0.5), (12, 1.0), (100, 3.0)])
def test_any_size_of_subsets_of_hashes_and_of_blocks_spends_the_same_budget(k, epsilon):
    sizes = [SubsetSelection(k, epsilon, size) for size in (1, 2, k // 2, k - 1)]
    ranges = [OLH(k, epsilon, hash_range=g) for g in (2, 3, 50)]
    blocks = [HadamardResponse(k, epsilon, count) for count in (1, 2, 8)]
    for oracle in (*sizes, *ranges, *blocks):
        assert math.log(likelihood_ratio(oracle)) == pytest.approx(epsilon, rel=1e-12)


@over(GRID)
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


def mean_variance_of_subsets(k, epsilon, w):
    """Variance of one user's estimate, averaged over the domain, from the number of subsets of each kind."""
    e = math.exp(epsilon)
    weight = comb(k - 1, w - 1) * e + comb(k - 1, w)
    p = comb(k - 1, w - 1) * e / weight
    q = (comb(k - 2, w - 2) * e if w > 1 else 0) / weight + comb(k - 2, w - 1) / weight
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (k * (p - q) ** 2)


@over(itertools.product([2, 3, 4, 5, 7, 12, 50, 64, 101], [*np.linspace(0.05, 8, 18).round(3).tolist(), 3.45]))
def test_no_size_of_subsets_has_a_lower_mean_variance_than_omega(k, epsilon):
    chosen = mean_variance_of_subsets(k, epsilon, SubsetSelection(k, epsilon).omega)
    best = min(mean_variance_of_subsets(k, epsilon, w) for w in range(1, k))
    # Sizes may tie; 1 - p of one is lost to rounding as p nears 1.
    assert chosen <= best * (1 + 1e-9)


def test_what_cannot_be_is_refused_by_name_and_value():
    def check(cell):
        name, options, said = cell
        with pytest.raises(ValueError, match=said):
            PROTOCOLS[name](**({"k": 4, "epsilon": 1.0} | options))

    cells = [
        ("ss", {"k": 5, "subset_size": 5}, "size of subsets of k=5 values is 1 to 4, got 5"),
        ("ss", {"k": 5, "subset_size": 0}, "got 0"),
        ("olh", {"hash_range": 1}, "at least 2 symbols, got 1"),
        ("hr", {"k": 5, "block_count": 3}, "power of 2 up to 2k = 10, got 3"),
        ("hr", {"k": 5, "block_count": 16}, "got 16"),
        ("blh", {"hash": "md5"}, "hash must be one of mix64, xxh32, got hash='md5'"),
        ("olh", {"hash": "md5"}, "hash must be one of mix64, xxh32, got hash='md5'"),
    ]
    for key, epsilon in itertools.product(PROTOCOLS, [0, 0.0, -1.0, math.nan, math.inf, -math.inf, 33, 32.0001, 1e-7]):
        cells.append((key, {"epsilon": epsilon}, f"epsilon must be between .*got epsilon={epsilon}"))
    for key, k in itertools.product(PROTOCOLS, [1, 0, -3]):
        cells.append((key, {"k": k}, f"k must be a whole number of at least 2, got k={k}"))
    for key, k in itertools.product(PROTOCOLS, [2.5, math.nan, math.inf, "4"]):
        cells.append((key, {"k": k}, "k must be a whole number"))
    assert failures(cells, check) == {}


@over(itertools.product(PROTOCOLS, [0, -5]))
def test_nobody_reporting_is_refused(key, n):
    oracle = PROTOCOLS[key](4, 1.0)
    for call in (oracle.noise, lambda n: oracle.variance(0.1, n), lambda n: oracle.estimate(np.zeros(4), n)):
        with pytest.raises(ValueError, match=f"n must be at least 1, got n={n}"):
            call(n)


@over(itertools.product(PROTOCOLS, [1e-6, 32.0], [2, 1000]))
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


def test_keys_and_bits_of_a_report_are_the_members_own():
    assert [bits_for(m) for m in (2, 3, 4, 5, 1024, 1025)] == [1, 2, 2, 3, 10, 11]
    for k in (2, 3, 64, 65, 1000):
        assert GRR(k, 1.0).report_bits == math.ceil(math.log2(k))
        assert RAPPOR(k, 1.0).report_bits == OUE(k, 1.0).report_bits == k
        assert BLH(k, 1.0).report_bits == 32 + 1
        assert OLH(k, 3.0).report_bits == 32 + math.ceil(math.log2(round(math.exp(3.0)) + 1))
        ss = SubsetSelection(k, 0.5)
        assert ss.report_bits == min(k, ss.omega * math.ceil(math.log2(k)))
        assert (PROTOCOLS["the"](k, 1.0).report_bits, PROTOCOLS["she"](k, 1.0).report_bits) == (k, 64 * k)
    assert (PROTOCOLS["hr"](1000, 0.5).report_bits, PROTOCOLS["pgr"](1000, 0.5).report_bits) == (10, 11)
    assert list(PROTOCOLS) == ["grr", "rappor", "oue", "blh", "olh", "ss", "the", "she", "hr", "pgr"]
    assert list(TABLE) == [*PROTOCOLS, "tree", "tree_half", "sw", "haar_hrr"]
    assert all(member.key == key for key, member in TABLE.items())


# Estimated by (C/n - q)/(p - q), with its variance; where `she` and `hr` differ: test_more_protocols.
BY_P_AND_Q = [key for key in PROTOCOLS if key not in {"she", "hr"}]


@over(itertools.product(BY_P_AND_Q, [0.1, 1.0, 6.0]))
def test_noise_variance_and_estimate_are_those_of_p_and_q(key, epsilon):
    oracle, n = oracle_of(key, 20, epsilon), 12_345
    noise, p, q = oracle.noise(n), oracle.p, oracle.q
    f = np.linspace(0, 1, 11)
    expected = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (n * (p - q) ** 2)
    # the same formula in another order: roundings only
    np.testing.assert_allclose(oracle.variance(f, n), expected, rtol=1e-12)
    np.testing.assert_allclose(noise.variance_at_zero + noise.variance_slope * f, expected, rtol=1e-12)
    assert noise.sd == pytest.approx(np.sqrt(expected[0]), rel=1e-12)
    full = key == "pgr" and oracle.symbols == oracle.k  # a space in which every point is a value
    assert (noise.n, noise.p, noise.q, noise.sums_to_one) == (n, p, q, oracle.sums_to_one or full)
    assert oracle.variance(0.25, n).shape == ()
    truth = np.linspace(0, 0.1, 20)
    means = n * (truth * p + (1 - truth) * q)
    np.testing.assert_allclose(oracle.estimate(means, n), truth, atol=1e-14 / (p - q))  # roundings
    np.testing.assert_allclose(oracle.estimate(np.zeros(20), n), -q / (p - q), rtol=1e-12)  # and no clipping


BILLION = 10**9
WIDE = {"grr": 0.5, "ss": 0.5, "oue": 0.5, "she": 0.5, "hr": 2.0, "pgr": 0.5}


@over(
    [
        *((key, 2.0, skewed(16, BILLION), 200) for key in PROTOCOLS),
        *((key, WIDE[key], skewed(256, BILLION), 100) for key in ("ss", "pgr")),
        *((key, 0.5, skewed(16, 1000 * BILLION), 200) for key in ("she", "hr", "pgr")),
        # The exact chain of subset selection, just below its limit
        *(("ss", 0.5, np.full(k, BILLION // k) - np.eye(k, dtype=int)[0], 40) for k in (16, 64)),
    ],
    slow=[(key, epsilon, skewed(256, BILLION), 200) for key, epsilon in WIDE.items() if key not in ("ss", "pgr")],
)
def test_estimates_of_very_many_users_are_unbiased_with_the_stated_variance(key, epsilon, counts, times):
    n, oracle = counts.sum(), oracle_of(key, len(counts), epsilon)
    rng = stream("many", key, len(counts), repr(epsilon))
    truth, estimates = counts / n, oracle.estimate(oracle.sample_support(np.tile(counts, (times, 1)), rng), n)
    variance = oracle.noise(n).entry(truth) if key == "hr" else oracle.variance(truth, n)  # of blocks
    assert accept(two_sided((estimates.mean(axis=0) - truth) / np.sqrt(variance / times)))
    assert accept(variance_p(((estimates - truth) ** 2).mean(axis=0), variance, times))
    assert np.allclose(estimates.sum(axis=1), 1, rtol=0, atol=1e-9) or not oracle.sums_to_one
