from __future__ import annotations

import json
import math
import re
from itertools import combinations, product

import pytest

from advisor.answers.epsilon import Statement, convert
from advisor.answers.rank.meaning import meaning
from advisor.errors import InputError
from advisor.show.sentences import meaning_sentences
from knowledge.deployments import DEPLOYMENTS, nearest
from simulator import PROTOCOLS
from tests.advisor.conftest import Run
from tests.cells import failures

GRID = [(2, 0.3), (2, 4.4), (17, 1.0), (469, 9.1), (2925, 14.0)]


def test_conversions_invert_the_protocols_own_probabilities() -> None:
    def check(cell: tuple[int, float]) -> None:
        k, epsilon = cell
        grr, rappor, oue = (PROTOCOLS[name](k, epsilon) for name in ("grr", "rappor", "oue"))
        assert convert(Statement(flip_prob=1 - grr.p), protocol="grr", k=k).epsilon == pytest.approx(epsilon, rel=1e-6)
        assert convert(Statement(random_prob=k * grr.q), k=k).epsilon == pytest.approx(epsilon, rel=1e-9)
        assert convert(Statement(flip_prob=rappor.q), protocol="SUE").epsilon == pytest.approx(epsilon)
        assert convert(Statement(flip_prob=oue.q), protocol="oue").epsilon == pytest.approx(epsilon)
        assert convert(Statement(p=rappor.p, q=rappor.q)).epsilon == pytest.approx(epsilon)
        assert convert(Statement(odds=math.exp(epsilon))).epsilon == pytest.approx(epsilon)

    assert failures(GRID, check) == {}


def largest_ratio(one: dict[object, float], other: dict[object, float]) -> float:
    return max(abs(math.log(one[report] / other[report])) for report in one)


def bit_reports(p: float, q: float, ones: int, k: int) -> dict[object, float]:
    """Probability of every report of k independent bits, for a vector whose first `ones` bits are 1."""
    chances = [p if bit < ones else q for bit in range(k)]
    return {
        report: math.prod(c if report >> bit & 1 else 1 - c for bit, c in enumerate(chances)) for report in range(2**k)
    }


def test_replacement_and_removal_are_the_largest_ratios_over_all_reports() -> None:
    for p, q in [(0.75, 0.25), (0.5, 0.2), (0.9, 0.3)]:
        own, none = bit_reports(p, q, 1, 4), bit_reports(p, q, 0, 4)
        # another value: the 1 stands in the second bit
        other = {report: own[(report & 0b1100) | (report & 1) << 1 | (report >> 1) & 1] for report in own}
        found = convert(Statement(p=p, q=q))
        assert found.epsilon == pytest.approx(largest_ratio(own, other))
        assert found.removal == pytest.approx(largest_ratio(own, none))
    for k, x in [(5, 0.3), (3, 0.6)]:
        own = {v: 1 - x if v == 0 else x / (k - 1) for v in range(k)}
        other = {v: 1 - x if v == 1 else x / (k - 1) for v in range(k)}
        found = convert(Statement(flip_prob=x), protocol="grr", k=k)
        assert found.epsilon == pytest.approx(largest_ratio(own, other))
        assert found.removal == pytest.approx(largest_ratio(own, dict.fromkeys(range(k), 1 / k)))


def subset_reports(p: float, size: int, k: int) -> list[dict[object, float]]:
    """Probability of every set of `size` of k values, for each value: within the set with probability p."""
    sets = list(combinations(range(k), size))
    return [
        {one: p / math.comb(k - 1, size - 1) if value in one else (1 - p) / math.comb(k - 1, size) for one in sets}
        for value in range(k)
    ]


def hash_reports(p: float, g: int, k: int) -> list[dict[object, float]]:
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


def test_p_and_q_of_a_protocol_give_the_largest_ratio_over_all_its_reports() -> None:
    cells = [
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

    def check(cell: tuple[str, int, float, float, list[dict[object, float]]]) -> None:
        protocol, k, p, q, laws = cell
        if len(laws) == 1:  # bits: for another value the first two change places
            laws = [*laws, {(one & ~3) | (one & 1) << 1 | (one >> 1) & 1: chance for one, chance in laws[0].items()}]
        result = convert(Statement(p=p, q=q), protocol=protocol, k=k)
        assert result.epsilon == pytest.approx(max(largest_ratio(one, laws[0]) for one in laws[1:]), rel=1e-12)
        if protocol not in ("rappor", "oue", "the"):
            evenly = dict.fromkeys(laws[0], 1 / len(laws[0]))
            assert result.removal == pytest.approx(largest_ratio(laws[0], evenly), rel=1e-12)
        success = sum(max(law[report] for law in laws) for report in laws[0]) / k if len(laws) == k else None
        assert success is None or result.guess == pytest.approx(success, rel=1e-12)

    assert failures(cells, check) == {}


def test_p_and_q_of_our_own_protocols_give_their_budget_back() -> None:
    def check(cell: tuple[int, float, str]) -> None:
        (k, epsilon), protocol = cell
        oracle = PROTOCOLS[protocol](k, epsilon)
        result = convert(Statement(p=oracle.p, q=oracle.q), protocol=protocol, k=k)
        assert result.epsilon == pytest.approx(epsilon, rel=1e-6)
        assert result.guess == pytest.approx(oracle.attack_success)

    assert failures(product(GRID, ["grr", "rappor", "oue", "olh", "blh", "ss"]), check) == {}


def test_the_smallest_probabilities_lose_no_digit() -> None:
    def check(probability: float) -> None:
        with pytest.raises(InputError, match=re.escape(f"states ε = {-2 * math.log(probability):.3g},")):
            convert(Statement(flip_prob=probability), protocol="rappor")
        for statement in (Statement(flip_prob=probability), Statement(random_prob=probability)):
            with pytest.raises(InputError, match="states ε = "):
                convert(statement, protocol="grr", k=10)
        close = convert(Statement(flip_prob=1e-13), protocol="grr", k=2).epsilon
        assert close == pytest.approx(math.log(1e13), abs=1e-12)

    assert failures([1e-17, 1e-300, 5e-324], check) == {}


def test_published_noise_of_deployments_gives_their_epsilon() -> None:
    # Attribution reporting states the share of random answers: 0.24 % of 2,925 outputs, 0.00025 % of 3, for ε = 14
    assert convert(Statement(random_prob=0.0024), k=2925).epsilon == pytest.approx(14, abs=0.02)
    assert convert(Statement(random_prob=0.0000025), k=3).epsilon == pytest.approx(14, abs=0.02)
    assert convert(Statement(random_prob=0.05), k=469).epsilon == pytest.approx(
        9.1, abs=0.02
    )  # Topics: 5 % random topics


def test_words_bound_every_protocol() -> None:
    for k, epsilon in GRID[:3]:
        for name in PROTOCOLS:
            words = meaning(epsilon, k, name)
            assert words.prior - 1e-9 <= (words.protocol_guess or 0) <= words.best_guess + 1e-12
    assert meaning(1.0, 2, "grr").protocol_guess == pytest.approx(meaning(1.0, 2).best_guess)


def test_nearest_deployments_are_the_nearest_by_ratio() -> None:
    for epsilon in (0.1, 1.0, 3.0, 9.15, 20.0):
        found = nearest(epsilon)
        worst = max(max(one.epsilon / epsilon, epsilon / one.epsilon) for one in found)
        others = [one for one in DEPLOYMENTS if one not in found]
        assert all(max(one.epsilon / epsilon, epsilon / one.epsilon) >= worst for one in others)
        assert all(one.unit for one in found)
        assert any(found[0].unit in line for line in meaning_sentences(meaning(epsilon)))


def test_command(run: Run) -> None:
    code, out, _ = run("epsilon", "--flip-prob", "0.25", "--protocol", "rappor")
    assert code == 0
    assert "ε = 2.197 by replacement" in out
    assert "ε = 1.099 by removal" in out
    assert run("epsilon", "--flip-prob", "0.25", "--protocol", "rappor", "--format", "value")[1] == "2.19722\n"
    data = json.loads(run("epsilon", "--eps", "1", "--k", "10", "--protocol", "grr", "--format", "json")[1])
    assert data["in_words"]["protocol_guess"] == pytest.approx(PROTOCOLS["grr"](10, 1.0).p)
    assert len(data["in_words"]["deployments"]) == 2


def test_the_protocol_decides_what_p_and_q_mean(run: Run) -> None:
    code, out, _ = run("epsilon", "--p", "0.75", "--q", "0.25", "-p", "grr", "--k", "2")
    assert code == 0
    assert "ε = 1.099 by replacement" in out
    assert "With GRR (generalised randomised response, k-RR) the best guess is right in 75.0 % of cases." in out


def test_small_shares_are_not_said_to_be_nothing(run: Run) -> None:
    out = run("epsilon", "--eps", "1e-6", "--k", "400000")[1]
    assert "in at most 0.00025 % of cases; without it in 0.00025 %" in out


def test_verbose_advice_says_what_epsilon_means(run: Run, states: str) -> None:
    words = ("--eps", "2", "--max-reps", "20", "-p", "grr", states)
    out = run("--verbose", *words)[1]
    for sentence in meaning_sentences(meaning(2.0, 4, "grr")):
        assert sentence in out
    assert "Apple Health types (ε = 2 per event)" in out
    assert "Nearest known deployments" not in run(*words)[1]


def test_bad_input_gets_one_line(run: Run) -> None:
    cells = [
        ((), "give --eps, for example --eps 1 (known deployments have 1.67, Windows telemetry, to 14, "),
        (("--eps", "1", "--odds", "3"), "give one of"),
        (("--eps", "0"), "above 0"),
        (("--flip-prob", "0.25"), "needs the protocol"),
        (("--flip-prob", "0.25", "--protocol", "olh"), "one of grr, rappor, oue"),
        (("--flip-prob", "0.6", "--protocol", "rappor"), "below 0.5"),
        (("--flip-prob", "0.25", "--protocol", "grr"), "needs --k"),
        (("--random-prob", "0.1", "--protocol", "oue", "--k", "4"), "is for grr"),
        (("--p", "0.2", "--q", "0.3"), "p must be above q"),
        (("--p", "0.2"), "go together"),
        (("--p", "0.75", "--q", "0.25", "-p", "grr"), "p and q of grr needs --k"),
        (("--p", "0.75", "--q", "0.25", "-p", "grr", "--k", "4"), "p + (k − 1) q is 1 in grr; got 1.5"),
        (("--p", "0.75", "--q", "0.25", "-p", "ss", "--k", "4"), "p + (k − 1) q is the number of values"),
        (("--p", "0.9", "--q", "0.7", "-p", "ss", "--k", "2"), "a whole number below k"),
        (("--p", "0.75", "--q", "0.25", "-p", "blh"), "q is 1/g in blh, g being 2; got 0.25"),
        (("--p", "0.75", "--q", "0.4", "-p", "olh"), "q is 1/g in olh"),
        (("--p", "0.75", "--q", "0.25", "-p", "oue"), "p is 1/2 in oue; leave --protocol out for other bits; got 0.75"),
        (("--p", "0.75", "--q", "0.3", "-p", "rappor"), "p is 1 − q in rappor"),
        (("--p", "0.75", "--q", "0.25", "-p", "hr", "--k", "4"), "p and q alone do not decide the ε of hr"),
        (("--eps", "1", "-p", "grr"), "--protocol grr goes with --k here"),
        (("--odds", "3", "-p", "grr"), "--protocol grr goes with --k here"),
        (("--flip-prob", "1e-17", "-p", "rappor"), "this states ε = 78.3, outside of 1e-06 to 32"),
        (("--random-prob", "1e-320", "-p", "grr", "--k", "10"), "this states ε = 739, outside of"),
        (("--odds", "1"), "above 1"),
        (("--eps", "x"), "must be a number"),
    ]

    def check(cell: tuple[tuple[str, ...], str]) -> None:
        arguments, says = cell
        code, _, err = run("epsilon", *arguments)
        assert code == 2
        assert says in err
        assert err.count("\n") == 1

    assert failures(cells, check) == {}


def test_python_raises_the_same() -> None:
    with pytest.raises(InputError, match="above 0"):
        meaning(-1)


def test_a_budget_without_its_option_is_told_the_command(run: Run) -> None:
    code, _, err = run("epsilon", "1")
    assert code == 2
    assert "ldp-advise epsilon --eps 1" in err
