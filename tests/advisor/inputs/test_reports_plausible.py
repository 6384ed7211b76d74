import math

import numpy as np
import pytest
import xxhash

from advisor.inputs.reports.plausibility import implausible
from simulator import Tally, rng_for
from simulator.populations import apportion
from simulator.protocols import PROTOCOLS
from tests.advisor.inputs.made_reports import HASHED, TREES, UNARY, cells, lines, made, read_file
from tests.advisor.inputs.reading import parquet, read_reports


@pytest.mark.parametrize(("protocol", "epsilon"), [("rappor", 1.0), ("the", 1.0), ("oue", 1.2), ("oue", 0.8)])
def test_bits_of_another_protocol_or_budget_are_noticed(tmp_path, protocol, epsilon):
    reports, _ = made("oue", 32, 1.0, n=3000)
    data = lines(reports, "")
    assert read_file(tmp_path, "a.txt", data, "oue", 1.0).warnings == ()
    (warning,) = read_file(tmp_path, "a.txt", data, protocol, epsilon).warnings
    assert warning.startswith(f"these are hardly {protocol} reports at eps = {epsilon:g}, k = 32: ")
    assert warning.endswith("expected whatever users hold; the protocol, eps or k may be wrong")


def test_another_hash_or_domain_is_noticed(tmp_path):
    # With the wrong hash a report supports its own value with probability 1/g, not p: n (p - q) below the mean.
    reports, _ = made("olh", 16, 2.0, n=5000)
    data = lines(reports, ",")
    assert read_file(tmp_path, "a.csv", data, "olh", 2.0, k=16).warnings == ()
    assert "hash may be wrong" in read_file(tmp_path, "a.csv", data, "olh", 2.0, k=16, hash="xxh32").warnings[0]
    # Half of the domain: users who hold the other half support one of it with probability 1/g, too.
    assert "k or hash" in read_file(tmp_path, "a.csv", data, "olh", 2.0, k=8).warnings[0]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 32.0])
@pytest.mark.parametrize("n", [1, 30])
def test_few_reports_raise_no_alarm_at_any_budget(n, epsilon):
    rng = rng_for(3, "few", f"{epsilon}", f"{n}")
    for protocol in (*UNARY, *HASHED):
        oracle = PROTOCOLS[protocol](5, epsilon)
        for _ in range(50):
            support = oracle.support(oracle.perturb(rng.integers(0, 5, size=n), rng))
            assert implausible(Tally(support, n), oracle) == ()


def test_the_alarm_begins_where_it_says():
    oracle = PROTOCOLS["oue"](4, 1.0)
    p, q = 0.5, 1 / (math.e + 1)
    n = 10_000
    mean, variance = n * (p + 3 * q), n * (p * (1 - p) + 3 * q * (1 - q))
    for sign in (-1, 1):
        for share, warned in ((0.999, False), (1.001, True)):
            total = round(mean + sign * share * (6 * math.sqrt(variance) + 12))
            assert bool(implausible(Tally(np.array([total, 0, 0, 0]), n), oracle)) is warned


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_sums_of_numbers_that_are_hardly_those_of_the_protocol_are_found(tmp_path, share):
    n, k = 200, 4
    limit = 6 * math.sqrt(n * k * 2 * 2.0**2) + 12 * 2.0  # six sd of the sum, and twelve scales of the noise
    reports = np.zeros((n, k))
    reports[:, 0] = 1 + share * limit / n
    assert read_file(tmp_path, "a.csv", lines(reports), "she", 1.0).plausible == (share < 1)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.parquet"])
def test_xxhash_takes_the_lowest_32_bits_of_a_long_seed(tmp_path, name):
    seeds = rng_for(5, "long seeds").integers(2**63, size=40)
    symbols = np.arange(40) % 4
    if name == "a.parquet":
        read = read_reports(parquet(tmp_path, symbol=symbols, seed=seeds), "olh", 1.0, k=8, hash="xxh32")
    else:
        data = "symbol,seed\n" + lines(zip(symbols, seeds, strict=True), ",")
        read = read_file(tmp_path, name, data, "olh", 1.0, k=8, hash="xxh32")
    hashed = [[xxhash.xxh32(b"%d" % v, seed=int(seed) % 2**32).intdigest() % 4 for v in range(8)] for seed in seeds]
    assert read.tally.counts.tolist() == (np.array(hashed) == symbols[:, None]).sum(axis=0).tolist()


@pytest.mark.parametrize("protocol", [*TREES, "haar_hrr", pytest.param("sw", marks=pytest.mark.slow)])
def test_honest_reports_raise_no_alarm(protocol):
    """Six standard deviations: hardly ever wrong in these 108 tallies; EM is stopped far from the sharpest truths."""
    for k in (2, 17, 300):
        for epsilon in (0.1, 1.0, 10.0):
            member = PROTOCOLS[protocol](k, epsilon)
            even, ends, comb = np.ones(k), np.zeros(k), np.zeros(k)
            ends[[0, -1]] = 1.0
            comb[::3] = 1.0
            for shape, weights in enumerate((even, ends, comb, np.exp(-0.5 * (np.arange(k) / k / 0.1 - 4) ** 2))):
                for n in (1, 10**4, 10**9):
                    rng = rng_for(3, "no alarm", protocol, k, repr(epsilon), shape, n)
                    assert implausible(member.sample_tally(apportion(weights, n), rng), member) == ()


@pytest.mark.parametrize(
    ("sent", "epsilon", "protocol", "assumed", "k"),
    [
        ("tree", 1.0, "tree_half", 1.0, 64),
        ("tree", 1.0, "tree", 1.1, 64),
        ("sw", 1.0, "sw", 0.8, 64),
        ("sw", 1.0, "sw", 1.0, 80),
        ("sw", 1.0, "haar_hrr", 1.0, 64),
        ("haar_hrr", 1.0, "haar_hrr", 1.0, 80),
    ],
)
def test_reports_of_another_protocol_budget_or_domain_are_noticed(sent, epsilon, protocol, assumed, k, tmp_path):
    rows = cells(sent, 64, epsilon, made(sent, 64, epsilon, n=10_000)[0])
    (warning,) = read_file(tmp_path, "a.csv", lines(rows), protocol, assumed, k=k).warnings
    assert warning.startswith(f"these are hardly {protocol} reports at eps = {assumed:g}, k = {k}: ")
    assert warning.endswith("may be wrong")


def test_the_alarm_of_a_height_begins_where_it_says():
    """At 6 sd and 12 more of a binomial number of users, and of a number of bits with p = 1/2 and q = 1/(e + 1)."""
    tree, n = PROTOCOLS["tree"](32, 1.0), 10_000
    heights, q = 5, 1 / (np.e + 1)
    fitting = np.full(heights, n // heights)
    sizes = [32, 16, 8, 4, 2]
    mean = fitting[0] * (0.5 + 31 * q)
    sd = (fitting[0] * (0.25 + 31 * q * (1 - q))) ** 0.5
    moved = 6 * (n * 0.2 * 0.8) ** 0.5 + 12
    for share, warned in ((0.99, False), (1.01, True)):
        for shift, extra in ((share * moved, 0.0), (0.0, share * (6 * sd + 12))):
            users = fitting + np.array([0, 0, 0, round(shift), -round(shift)])
            totals = [mean + extra, fitting[1] * (0.5 + 15 * q), *users[2:]]
            counts = [np.bincount([0], [round(total)], size) for total, size in zip(totals, sizes, strict=True)]
            tally = Tally(np.concatenate([*counts, users]).astype(np.int64), n)
            assert bool(implausible(tally, tree)) is warned
