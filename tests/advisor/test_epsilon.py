import math
import re
from itertools import combinations, product

import pytest

from advisor.answers.epsilon import meaning
from advisor.errors import InputError
from advisor.question.statement import Statement, convert
from advisor.show.sentences import meaning_sentences
from knowledge.deployments import DEPLOYMENTS, nearest
from simulator import PROTOCOLS
from tests.cells import over

GRID = [(2, 0.3), (2, 4.4), (17, 1.0), (469, 9.1), (2925, 14.0)]


@over(GRID)
def test_conversions_invert_the_protocols_own_probabilities(k, epsilon):
    grr, rappor, oue = (PROTOCOLS[name](k, epsilon) for name in ("grr", "rappor", "oue"))
    assert convert(Statement(flip_prob=1 - grr.p), protocol="grr", k=k).epsilon == pytest.approx(epsilon, rel=1e-6)
    assert convert(Statement(random_prob=k * grr.q), k=k).epsilon == pytest.approx(epsilon, rel=1e-9)
    assert convert(Statement(flip_prob=rappor.q), protocol="SUE").epsilon == pytest.approx(epsilon)
    assert convert(Statement(flip_prob=oue.q), protocol="oue").epsilon == pytest.approx(epsilon)
    assert convert(Statement(p=rappor.p, q=rappor.q)).epsilon == pytest.approx(epsilon)
    assert convert(Statement(odds=math.exp(epsilon))).epsilon == pytest.approx(epsilon)


def largest_ratio(one, other):
    return max(abs(math.log(one[report] / other[report])) for report in one)


def bit_reports(p, q, ones, k):
    """Probability of every report of k independent bits, for a vector whose first `ones` bits are 1."""
    chances = [p if bit < ones else q for bit in range(k)]
    return {
        report: math.prod(c if report >> bit & 1 else 1 - c for bit, c in enumerate(chances)) for report in range(2**k)
    }


def test_replacement_and_removal_are_the_largest_ratios_over_all_reports():
    for p, q in [(0.75, 0.25), (0.5, 0.2), (0.9, 0.3)]:
        own, none = bit_reports(p, q, 1, 4), bit_reports(p, q, 0, 4)
        # another value: the 1 stands in the second bit
        other = {report: own[(report & 0b1100) | (report & 1) << 1 | (report >> 1) & 1] for report in own}
        found = convert(Statement(p=p, q=q))
        assert found.epsilon == pytest.approx(largest_ratio(own, other))
        assert found.removal == pytest.approx(largest_ratio(own, none))


def subset_reports(p, size, k):
    """Probability of every set of `size` of k values, for each value: within the set with probability p."""
    sets = list(combinations(range(k), size))
    return [
        {one: p / math.comb(k - 1, size - 1) if value in one else (1 - p) / math.comb(k - 1, size) for one in sets}
        for value in range(k)
    ]


def hash_reports(p, g, k):
    """Probability of every function of k values into g symbols, drawn evenly, and symbol: the own one's with p."""
    functions = list(product(range(g), repeat=k))
    return [
        {
            (function, symbol): (p if function[value] == symbol else (1 - p) / (g - 1)) / len(functions)
            for function in functions
            for symbol in range(g)
        }
        for value in range(k)
    ]


@over(
    [
        ("grr", 2, 0.75, 0.25, subset_reports(0.75, 1, 2)),
        ("grr", 5, 0.6, 0.1, subset_reports(0.6, 1, 5)),
        ("ss", 5, 0.7, 0.325, subset_reports(0.7, 2, 5)),
        ("ss", 6, 0.8, 0.44, subset_reports(0.8, 3, 6)),
        ("olh", 4, 0.75, 0.25, hash_reports(0.75, 4, 4)),
        ("olh", 4, 0.6, 1 / 3, hash_reports(0.6, 3, 4)),
        ("blh", 3, 0.7, 0.5, hash_reports(0.7, 2, 3)),
        ("rappor", 4, 0.7, 0.3, [bit_reports(0.7, 0.3, 1, 4)]),
        ("oue", 4, 0.5, 0.2, [bit_reports(0.5, 0.2, 1, 4)]),
        ("the", 4, 0.6, 0.2, [bit_reports(0.6, 0.2, 1, 4)]),
    ]
)
def test_p_and_q_of_a_protocol_give_the_largest_ratio_over_all_its_reports(protocol, k, p, q, laws):
    if len(laws) == 1:  # bits: for another value the first two change places
        laws = [*laws, {(one & ~3) | (one & 1) << 1 | (one >> 1) & 1: chance for one, chance in laws[0].items()}]
    result = convert(Statement(p=p, q=q), protocol=protocol, k=k)
    assert result.epsilon == pytest.approx(max(largest_ratio(one, laws[0]) for one in laws[1:]), rel=1e-12)
    if protocol not in ("rappor", "oue", "the"):
        evenly = dict.fromkeys(laws[0], 1 / len(laws[0]))
        assert result.removal == pytest.approx(largest_ratio(laws[0], evenly), rel=1e-12)
    success = sum(max(law[report] for law in laws) for report in laws[0]) / k if len(laws) == k else None
    assert success is None or result.guess == pytest.approx(success, rel=1e-12)


@over(product(GRID, ["grr", "rappor", "oue", "olh", "blh", "ss"]))
def test_p_and_q_of_our_own_protocols_give_their_budget_back(setting, protocol):
    k, epsilon = setting
    oracle = PROTOCOLS[protocol](k, epsilon)
    result = convert(Statement(p=oracle.p, q=oracle.q), protocol=protocol, k=k)
    assert result.epsilon == pytest.approx(epsilon, rel=1e-6)
    assert result.guess == pytest.approx(oracle.attack_success)


@over([1e-17, 1e-300, 5e-324])
def test_the_smallest_probabilities_lose_no_digit(probability):
    with pytest.raises(InputError, match=re.escape(f"states ε = {-2 * math.log(probability):.3g},")):
        convert(Statement(flip_prob=probability), protocol="rappor")
    for statement in (Statement(flip_prob=probability), Statement(random_prob=probability)):
        with pytest.raises(InputError, match="states ε = "):
            convert(statement, protocol="grr", k=10)
    close = convert(Statement(flip_prob=1e-13), protocol="grr", k=2).epsilon
    assert close == pytest.approx(math.log(1e13), abs=1e-12)


def test_published_noise_of_deployments_gives_their_epsilon():
    """Attribution reporting: 0.24 % of 2,925 outputs and 0.00025 % of 3 are random at ε = 14; Topics: 5 % at 9.1."""
    for share, k, epsilon in ((0.0024, 2925, 14), (0.0000025, 3, 14), (0.05, 469, 9.1)):
        assert convert(Statement(random_prob=share), k=k).epsilon == pytest.approx(epsilon, abs=0.02)


def test_words_bound_every_protocol():
    for k, epsilon in GRID[:3]:
        for name in PROTOCOLS:
            words = meaning(epsilon, k, name)
            assert words.prior - 1e-9 <= (words.protocol_guess or 0) <= words.best_guess + 1e-12
    assert meaning(1.0, 2, "grr").protocol_guess == pytest.approx(meaning(1.0, 2).best_guess)
    with pytest.raises(InputError, match="above 0"):
        meaning(-1)


def test_nearest_deployments_are_the_nearest_by_ratio():
    for epsilon in (0.1, 1.0, 3.0, 9.15, 20.0):
        found = nearest(epsilon)
        worst = max(max(one.epsilon / epsilon, epsilon / one.epsilon) for one in found)
        others = [one for one in DEPLOYMENTS if one not in found]
        assert all(max(one.epsilon / epsilon, epsilon / one.epsilon) >= worst for one in others)
        assert all(one.unit for one in found)
        assert any(found[0].unit in line for line in meaning_sentences(meaning(epsilon)))
